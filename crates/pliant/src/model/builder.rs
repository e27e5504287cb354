//! Builder of models.

use std::sync::Arc;

use thiserror::Error;

use super::contact::{ContactSkin, contact_of};
use super::fixed::FixedVertices;
use super::{Fixed, MatrixFree, Model, ModelBody};
use crate::contact::{Collider, ContactError, ContactParams};
use crate::damping::Damping;
use crate::force::{Elastic, Force, MaterialCount, bind_all_with};
use crate::mass::{self, MassError, MassMatrix};
use crate::material::{AnyLaw, LawError, Material, YoungPoisson};
use crate::math::Vec3;
use crate::mesh::{ControlNodes, Interpolation, VolumeMesh};
use crate::solver::{Frames, VertexFrames};
use crate::sparse::BlockPattern;

/// Body to add to a model.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Mesh of the body at rest.
    pub mesh: VolumeMesh,
    /// Material of each region; empty for a body that only other forces keep together.
    pub materials: Vec<Material>,
    /// Density \[kg/m³\] of each region; empty for a body without mass, for statics without gravity.
    pub densities: Vec<f64>,
    /// Motions that the body can make.
    pub kinematics: Kinematics,
}

/// Motions that a body can make, which determine its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Kinematics {
    /// Finite elements: the vertices of the mesh are nodes.
    #[default]
    Deformable,
    /// Affine motions `x = A X + b`: twelve coordinates, at four [control nodes](ControlNodes). With a stiff material,
    /// the body is nearly rigid.
    Affine,
}

impl Body {
    /// Creates a body of one material with a density \[kg/m³\].
    pub fn new(mesh: VolumeMesh, material: impl Into<Material>, density: f64) -> Self {
        let regions = mesh.regions().len();
        Self {
            name: "body".to_owned(),
            mesh,
            materials: vec![material.into(); regions],
            densities: vec![density; regions],
            kinematics: Kinematics::Deformable,
        }
    }

    /// Creates a nearly rigid body in affine motion `x = A X + b`, with the energy `κ V ‖AᵀA − I‖²` and a density
    /// \[kg/m³\] \[LanKaufmanLiJiangYang2022\].
    ///
    /// It is that of the St. Venant–Kirchhoff law with `μ = 4κ` and `λ = 0`. The `stiffness` `κ` \[Pa\] bounds how far
    /// the body is from rigid: stresses `σ` stretch it by about `σ/8κ`.
    pub fn nearly_rigid(mesh: VolumeMesh, stiffness: f64, density: f64) -> Result<Self, LawError> {
        let law = AnyLaw::new("stvk", YoungPoisson { young: 8.0 * stiffness, poisson: 0.0 })?;
        Ok(Self::new(mesh, law, density).affine())
    }

    /// Creates a body without elasticity, with a density \[kg/m³\]: mass only.
    pub fn without_elasticity(mesh: VolumeMesh, density: f64) -> Self {
        let densities = vec![density; mesh.regions().len()];
        Self { name: "body".to_owned(), mesh, materials: Vec::new(), densities, kinematics: Kinematics::Deformable }
    }

    /// Restricts the body to affine motions `x = A X + b`, which is a pseudo-rigid body \[CohenMuncaster1988\]. Its
    /// energy is that of its materials at the uniform deformation gradient `A`.
    #[must_use]
    pub fn affine(self) -> Self {
        Self { kinematics: Kinematics::Affine, ..self }
    }

    /// Removes the mass of the body, for statics without gravity. Natural modes and dynamics need a density.
    #[must_use]
    pub fn without_mass(self) -> Self {
        Self { densities: Vec::new(), ..self }
    }

    /// Sets the name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }
}

/// Error of building or changing a model.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ModelError {
    #[error("the model has no body")]
    Empty,
    #[error("the bodies have {vertices} vertices, more than 2³² − 1")]
    TooLarge { vertices: usize },
    #[error("body `{body}`: {source}")]
    Material { body: String, source: MaterialCount },
    #[error("body `{body}`: {source}")]
    Mass { body: String, source: MassError },
    #[error("body `{body}` is too thin for affine motions: expected a thickness of at least 10⁻⁶ of its length")]
    TooThin { body: String },
    #[error("vertex {vertex} is to be fixed, but the model has {node_count} vertices")]
    FixedVertex { vertex: u32, node_count: usize },
    #[error("{offsets} positions for {vertices} fixed vertices, expected one per vertex")]
    FixedOffsets { vertices: usize, offsets: usize },
    #[error("a load is on vertex {vertex}, but the model has {node_count} vertices")]
    LoadedVertex { vertex: u32, node_count: usize },
    #[error("{what} is {value}, expected finite numbers")]
    NotFinite { what: &'static str, value: Vec3 },
    #[error("a force is for {found} vertices, but the model has {expected}")]
    Force { found: usize, expected: usize },
    #[error("no such Dirichlet condition: it was removed")]
    UnknownFixed,
    #[error("body `{body}`: {what} needs mass, but the body has no density; give its material a density")]
    NoMass { body: String, what: &'static str },
    #[error("a force couples vertices {} and {}, which nothing else does; add it with the model builder", vertices[0], vertices[1])]
    NotCoupled { vertices: [u32; 2] },
    #[error("a force has {variables} history variables; add it with the model builder, as states contain them")]
    History { variables: usize },
    #[error("{found} rest positions are shared, expected the {expected} positions of the bodies")]
    Rest { found: usize, expected: usize },
    #[error(transparent)]
    Contact(#[from] ContactError),
    #[error("a collider was added to a model without contact; call `ModelBuilder::contact`")]
    ColliderWithoutContact,
    #[error("the damping matrix is for {found} vertices, but the model has {expected}")]
    DampingMatrix { found: usize, expected: usize },
}

/// Builder of a [`Model`].
///
/// # Examples
///
/// ```
/// use pliant::prelude::*;
///
/// // A cantilever with a load of 1 kN at its end.
/// let mesh = generate::block([1.0, 0.1, 0.1], [10, 1, 1], Cells::Hex)?;
/// let (start, end) = (mesh.vertex_sets()["x-min"].clone(), mesh.vertex_sets()["x-max"].clone());
/// let steel = AnyLaw::new("stvk", YoungPoisson { young: 2e11, poisson: 0.3 })?;
/// let mut builder = Model::builder().body(Body::new(mesh, steel, 7800.0)).fix(Fixed::new(start));
/// for &vertex in &end {
///     builder = builder.load(vertex, Vec3::new(0.0, -1000.0 / end.len() as f64, 0.0));
/// }
/// let model = builder.build()?;
/// assert_eq!(model.fixed_mask().iter().filter(|fixed| **fixed).count(), 3 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ModelBuilder {
    bodies: Vec<Body>,
    forces: Vec<Box<dyn Force>>,
    fixed: Vec<Fixed>,
    loads: Vec<(u32, Vec3)>,
    gravity: Vec3,
    damping: Damping,
    lumped: bool,
    contact: Option<ContactParams>,
    colliders: Vec<Collider>,
    skins: Vec<ContactSkin>,
    start: Option<Vec<f64>>,
    rest: Option<Arc<[Vec3]>>,
}

/// Returns the rest positions of several meshes, one after the other \[m\]; of a single mesh, the memory that it
/// shares.
pub fn rest_positions<'a>(meshes: impl IntoIterator<Item = &'a VolumeMesh>) -> Arc<[Vec3]> {
    let meshes: Vec<&VolumeMesh> = meshes.into_iter().collect();
    match meshes[..] {
        [mesh] => mesh.shared_vertices().clone(),
        _ => meshes.iter().flat_map(|mesh| mesh.vertices()).copied().collect(),
    }
}

impl ModelBuilder {
    /// Adds a body. Its vertices are numbered after those of the bodies before it.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.bodies.push(body);
        self
    }

    /// Adds a force on all vertices of the model.
    #[must_use]
    pub fn force(self, force: impl Force + 'static) -> Self {
        self.boxed_force(Box::new(force))
    }

    /// Adds a force whose type is not known.
    #[must_use]
    pub fn boxed_force(mut self, force: Box<dyn Force>) -> Self {
        self.forces.push(force);
        self
    }

    /// Adds a Dirichlet condition.
    #[must_use]
    pub fn fix(mut self, fixed: Fixed) -> Self {
        self.fixed.push(fixed);
        self
    }

    /// Adds a constant force \[N\] on a vertex.
    #[must_use]
    pub fn load(mut self, vertex: u32, force: Vec3) -> Self {
        self.loads.push((vertex, force));
        self
    }

    /// Sets the gravitational acceleration \[m/s²\].
    #[must_use]
    pub fn gravity(mut self, gravity: Vec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// Sets the damping of all bodies.
    #[must_use]
    pub fn damping(mut self, damping: Damping) -> Self {
        self.damping = damping;
        self
    }

    /// Lumps the mass at the vertices, so that the mass matrix is diagonal.
    #[must_use]
    pub fn lumped_mass(mut self) -> Self {
        self.lumped = true;
        self
    }

    /// Shares rest positions with forces that were created with them; see [`rest_positions`]. They must be those of the
    /// bodies.
    #[must_use]
    pub fn shared_rest(mut self, rest: Arc<[Vec3]>) -> Self {
        self.rest = Some(rest);
        self
    }

    /// Makes the surfaces of all bodies collide with each other, themselves and [colliders](Self::collider), by the
    /// potential of incremental potential contact. No state that an integrator accepts has an intersection. The start
    /// must not have one either, which is an error of [`build`](Self::build).
    ///
    /// ```
    /// use pliant::contact::ContactParams;
    /// use pliant::integrator::{BackwardEuler, Integrator};
    /// use pliant::material::{AnyLaw, YoungPoisson};
    /// use pliant::math::{Affine3, Vec3};
    /// use pliant::mesh::{Cells, generate};
    /// use pliant::model::{Assembly, Body, Fixed, Model};
    /// use pliant::solver::Direct;
    ///
    /// let rubber = AnyLaw::new("stable-neo-hookean", YoungPoisson { young: 1e5, poisson: 0.4 })?;
    /// let cube = generate::block([0.1; 3], [2; 3], Cells::Tet6)?;
    /// let below = cube.transformed(Affine3::from_translation(-0.101 * Vec3::Y))?;
    /// let model = Model::builder()
    ///     .body(Body::new(cube, rubber.clone(), 1000.0))
    ///     .body(Body::new(below, rubber, 1000.0))
    ///     .fix(Fixed::new((27..54).collect::<Vec<u32>>()))
    ///     .gravity(-9.81 * Vec3::Y)
    ///     .contact(ContactParams::default())
    ///     .build()?;
    /// let mut state = model.rest_state();
    /// let mut assembly = Assembly::new(model);
    /// for _ in 0..20 {
    ///     BackwardEuler::default().step(&mut assembly, &mut Direct::default(), &mut state, 0.01)?;
    /// }
    /// let lowest = assembly.model().positions(&state)[..27].iter().map(|x| x.y).fold(1.0, f64::min);
    /// assert!(-0.001 < lowest && lowest < 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn contact(mut self, params: ContactParams) -> Self {
        self.contact = Some(params);
        self
    }

    /// Adds a rigid or moving surface that bodies collide with.
    #[must_use]
    pub fn collider(mut self, collider: Collider) -> Self {
        self.colliders.push(collider);
        self
    }

    /// Makes an embedded surface of a body collide in place of the boundary of its mesh.
    #[must_use]
    pub fn contact_skin(mut self, skin: ContactSkin) -> Self {
        self.skins.push(skin);
        self
    }

    /// Sets the initial displacements of all nodes, three numbers each, at which surfaces must not meet. They are zero
    /// by default.
    ///
    /// # Panics
    /// [`build`](Self::build) panics if there are not three per node.
    #[must_use]
    pub fn contact_start(self, start: Vec<f64>) -> Self {
        Self { start: Some(start), ..self }
    }

    /// Builds the model.
    pub fn build(self) -> Result<Model, ModelError> {
        self.build_with(false)
    }

    /// Builds a model that never assembles its elasticity, for bodies whose matrix would not fit into memory.
    pub fn build_matrix_free(self) -> Result<MatrixFree, ModelError> {
        self.build_with(true).map(MatrixFree::new)
    }

    fn build_with(mut self, is_matrix_free: bool) -> Result<Model, ModelError> {
        let node_count = self.check()?;
        let bodies = placed(self.bodies, node_count)?;
        let mut loads = vec![0.0; 3 * node_count];
        for (vertex, force) in self.loads {
            for axis in 0..3 {
                loads[3 * vertex as usize + axis] += force[axis];
            }
        }
        let meshes = || bodies.iter().map(|body| &*body.node_mesh);
        let rest = match self.rest {
            None => rest_positions(meshes()),
            Some(rest) if meshes().flat_map(VolumeMesh::vertices).eq(rest.iter()) => rest,
            Some(rest) => return Err(ModelError::Rest { found: rest.len(), expected: node_count }),
        };
        let diagonal = |body: &ModelBody| {
            let [low, high] = body.mesh.bounding_box();
            (high - low).length()
        };
        let extent = bodies.iter().map(diagonal).fold(0.0, f64::max);
        if let Some(params) = self.contact {
            let contact =
                contact_of(&bodies, &self.colliders, &self.skins, params, (self.gravity, &self.fixed), node_count)?;
            let start = self.start.unwrap_or_else(|| vec![0.0; 3 * node_count]);
            contact.contact_energy().check_start(&start, 0.0)?;
            self.forces.push(Box::new(contact));
        } else if !self.colliders.is_empty() {
            return Err(ModelError::ColliderWithoutContact);
        }
        let mut bindings = Bindings { bodies, forces: self.forces, damping: self.damping, node_count };
        let pattern = bindings.bind(self.lumped, is_matrix_free);
        let mass = bindings.mass(self.lumped, is_matrix_free, &pattern)?;
        let Bindings { bodies, forces, damping, .. } = bindings;
        let node_mass = mass.row_sums();
        let mut is_used: Vec<bool> = node_mass.iter().map(|&mass| mass != 0.0).collect();
        for element in bodies.iter().filter(|body| body.densities.is_empty()).flat_map(cliques) {
            element.iter().for_each(|&vertex| is_used[vertex as usize] = true);
        }
        let unused = (0..node_count as u32).filter(|&vertex| !is_used[vertex as usize]).collect();
        let fixed = FixedVertices::new(node_count, unused, self.fixed, &pattern)?;
        let frames = (!is_matrix_free).then(|| frames_of(&bodies, node_count));
        Ok(Model {
            bodies,
            rest,
            extent,
            forces,
            mass,
            node_mass,
            damping,
            gravity: self.gravity,
            loads,
            fixed,
            pattern,
            is_assembled: !is_matrix_free,
            frames,
            revision: 0,
        })
    }
}

/// Returns the rotations of the neighborhoods of vertices.
fn frames_of(bodies: &[ModelBody], node_count: usize) -> Arc<dyn Frames> {
    let placed: Vec<(u32, &VolumeMesh)> =
        bodies.iter().map(|body| (body.nodes.start as u32, &*body.node_mesh)).collect();
    Arc::new(VertexFrames::new(node_count, &placed))
}

/// Forces to be bound to a common pattern.
struct Bindings {
    bodies: Vec<ModelBody>,
    forces: Vec<Box<dyn Force>>,
    damping: Damping,
    node_count: usize,
}

impl Bindings {
    /// Creates the pattern of all couplings, and binds all forces to it. In a matrix-free model, elasticity is not part
    /// of it.
    fn bind(&mut self, lumped: bool, is_matrix_free: bool) -> Arc<BlockPattern> {
        // The consistent mass couples the vertices of an element even where no force does.
        let mass_couples = !lumped && !is_matrix_free;
        let loose = self.bodies.iter().filter(|body| mass_couples && body.elastic.is_none());
        let loose: Vec<Vec<u32>> = loose.flat_map(cliques).collect();
        let elastic = self.bodies.iter_mut().filter_map(|body| body.elastic.as_mut()).map(|e| e as &mut dyn Force);
        let mut all: Vec<&mut dyn Force> = elastic.filter(|_| !is_matrix_free).collect();
        all.extend(self.forces.iter_mut().map(|force| &mut **force as &mut dyn Force));
        bind_all_with(self.node_count, &mut all, |add| {
            self.damping.cliques(add);
            loose.iter().for_each(|element| add(element));
        })
    }

    /// Assembles the mass matrix.
    fn mass(&self, lumped: bool, is_matrix_free: bool, pattern: &Arc<BlockPattern>) -> Result<MassMatrix, ModelError> {
        let pattern = if lumped {
            Arc::new(BlockPattern::diagonal(self.node_count))
        } else if is_matrix_free {
            let elements = |add: &mut dyn FnMut(&[u32])| self.bodies.iter().flat_map(cliques).for_each(|e| add(&e));
            bind_all_with(self.node_count, &mut [], elements)
        } else {
            pattern.clone()
        };
        mass_of(&self.bodies, lumped, pattern)
    }
}

impl Model {
    /// Includes the elasticity of bodies in the pattern.
    pub(super) fn bind(&mut self) {
        let lumped = self.mass.is_diagonal();
        let mut bindings = Bindings {
            bodies: std::mem::take(&mut self.bodies),
            forces: std::mem::take(&mut self.forces),
            damping: self.damping.clone(),
            node_count: self.rest.len(),
        };
        self.pattern = bindings.bind(lumped, false);
        (self.bodies, self.forces) = (bindings.bodies, bindings.forces);
        self.fixed.update(&self.pattern);
        self.frames = Some(frames_of(&self.bodies, self.rest.len()));
        self.is_assembled = true;
        self.revision += 1;
    }
}

impl ModelBuilder {
    /// Checks the input before anything is built. Returns the number of vertices.
    fn check(&self) -> Result<usize, ModelError> {
        let node_count: usize = self.bodies.iter().map(node_count).sum();
        if self.bodies.is_empty() {
            return Err(ModelError::Empty);
        }
        if node_count >= u32::MAX as usize {
            return Err(ModelError::TooLarge { vertices: node_count });
        }
        if !self.gravity.is_finite() {
            return Err(ModelError::NotFinite { what: "gravity", value: self.gravity });
        }
        let without_mass = self.bodies.iter().find(|body| body.densities.is_empty());
        if let Some(body) = without_mass.filter(|_| self.gravity != Vec3::ZERO) {
            return Err(ModelError::NoMass { body: body.name.clone(), what: "gravity" });
        }
        if let Some(found) = self.damping.matrix().map(|matrix| matrix.pattern().node_count())
            && found != node_count
        {
            return Err(ModelError::DampingMatrix { found, expected: node_count });
        }
        if let Some(found) = self.forces.iter().map(|force| force.node_count()).find(|&found| found != node_count) {
            return Err(ModelError::Force { found, expected: node_count });
        }
        for &(vertex, value) in &self.loads {
            if vertex as usize >= node_count {
                return Err(ModelError::LoadedVertex { vertex, node_count });
            }
            if !value.is_finite() {
                return Err(ModelError::NotFinite { what: "a load", value });
            }
        }
        Ok(node_count)
    }
}

/// Creates the nodes of the bodies, numbered consecutively.
fn placed(bodies: Vec<Body>, node_count: usize) -> Result<Vec<ModelBody>, ModelError> {
    let mut first = 0;
    let place = |body: Body| {
        let Body { name, mesh, materials, densities, kinematics } = body;
        let (node_mesh, own, mesh) = match kinematics {
            Kinematics::Deformable => {
                let mesh = Arc::new(mesh);
                (
                    mesh.clone(),
                    Interpolation::of_nodes((0..mesh.vertex_count() as u32).collect(), mesh.vertex_count()),
                    mesh,
                )
            }
            Kinematics::Affine => {
                let control = control_nodes(&name, &mesh, &densities)?;
                (Arc::new(control.mesh), control.vertices, Arc::new(mesh))
            }
        };
        let nodes = first..first + node_mesh.vertex_count();
        first = nodes.end;
        let elastic = if materials.is_empty() {
            None
        } else {
            let elastic = Elastic::among(&node_mesh, materials, nodes.start as u32, node_count);
            Some(elastic.map_err(|source| ModelError::Material { body: name.clone(), source })?)
        };
        let vertices = own.numbered_from(nodes.start as u32, node_count);
        Ok(ModelBody { name, mesh, densities, kinematics, nodes, node_mesh, vertices, elastic })
    };
    bodies.into_iter().map(place).collect()
}

/// Returns the number of nodes of a body.
fn node_count(body: &Body) -> usize {
    match body.kinematics {
        Kinematics::Deformable => body.mesh.vertex_count(),
        Kinematics::Affine => 4,
    }
}

/// Returns the control nodes of a body in affine motion. Without densities, it is taken as homogeneous.
fn control_nodes(name: &str, mesh: &VolumeMesh, densities: &[f64]) -> Result<ControlNodes, ModelError> {
    let uniform = vec![1.0; mesh.regions().len()];
    let densities = if densities.is_empty() { &uniform } else { densities };
    mass::check(mesh, densities).map_err(|source| ModelError::Mass { body: name.to_owned(), source })?;
    ControlNodes::new(mesh, densities).ok_or_else(|| ModelError::TooThin { body: name.to_owned() })
}

/// Assembles the mass of all bodies.
fn mass_of(bodies: &[ModelBody], lumped: bool, pattern: Arc<BlockPattern>) -> Result<MassMatrix, ModelError> {
    let mut mass = MassMatrix::zero(pattern);
    for body in bodies.iter().filter(|body| !body.densities.is_empty()) {
        let first = body.nodes.start as u32;
        if body.kinematics == Kinematics::Affine {
            // The consistent mass of control nodes is diagonal.
            let quarter = 0.25 * body.mesh.mass_properties(&body.densities).mass;
            mass.add_point_masses(&[quarter; 4], first);
            continue;
        }
        let added = if lumped {
            mass.add_lumped(&body.mesh, &body.densities, first)
        } else {
            mass.add_consistent(&body.mesh, &body.densities, first)
        };
        added.map_err(|source| ModelError::Mass { body: body.name.clone(), source })?;
    }
    Ok(mass)
}

/// Returns the nodes of each element of a body, by their numbers in the model.
fn cliques(body: &ModelBody) -> impl Iterator<Item = Vec<u32>> + '_ {
    let first = body.nodes.start as u32;
    body.node_mesh.elements().map(move |element| element.iter().map(|vertex| first + vertex).collect())
}
