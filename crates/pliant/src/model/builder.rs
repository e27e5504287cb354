//! Describing a model.

use std::sync::Arc;

use thiserror::Error;

use super::hold::Holds;
use super::matrix_free::Unassembled;
use super::{Hold, MatrixFree, Model, ModelBody};
use crate::damping::Damping;
use crate::force::{Elastic, Force, MaterialCount, bind_all_with};
use crate::mass::{MassError, MassMatrix};
use crate::material::Elasticity;
use crate::math::Vec3;
use crate::mesh::VolumeMesh;
use crate::solver::{Operator, VertexFrames};
use crate::sparse::{BlockMatrix, BlockPattern};

/// A body to be part of a model.
#[derive(Debug, Clone)]
pub struct Body {
    /// What to call it.
    pub name: String,
    /// The body at rest.
    pub mesh: VolumeMesh,
    /// One for each region, or none at all for a body that other forces hold together.
    pub materials: Vec<Elasticity>,
    /// Density [kg/m³] of each region; empty for a body without mass, which serves for statics without gravity.
    pub densities: Vec<f64>,
}

impl Body {
    /// A body of one material.
    pub fn new(mesh: VolumeMesh, material: impl Into<Elasticity>, density: f64) -> Self {
        let regions = mesh.regions().len();
        Self {
            name: "body".to_owned(),
            mesh,
            materials: vec![material.into(); regions],
            densities: vec![density; regions],
        }
    }

    /// A body without elasticity of its own: mass only.
    pub fn without_elasticity(mesh: VolumeMesh, density: f64) -> Self {
        let densities = vec![density; mesh.regions().len()];
        Self { name: "body".to_owned(), mesh, materials: Vec::new(), densities }
    }

    /// The same body without mass, for statics without gravity: natural modes and motion need a density.
    #[must_use]
    pub fn without_mass(self) -> Self {
        Self { densities: Vec::new(), ..self }
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }
}

/// Why a model could not be built or changed.
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
    #[error("vertex {vertex} is to be held, but the model has {vertex_count} vertices")]
    HeldVertex { vertex: u32, vertex_count: usize },
    #[error("{vertices} vertices are to be held at {offsets} places")]
    HoldOffsets { vertices: usize, offsets: usize },
    #[error("a load is on vertex {vertex}, but the model has {vertex_count} vertices")]
    LoadedVertex { vertex: u32, vertex_count: usize },
    #[error("{what} is {value}, expected finite numbers")]
    NotFinite { what: &'static str, value: Vec3 },
    #[error("a force is for {found} vertices, but the bodies of the model have {expected} together")]
    Force { found: usize, expected: usize },
    #[error("there is no such hold: it was taken away")]
    NoHold,
    #[error("body `{body}`: {what} needs mass, but the body has no density; give its material a density")]
    NoMass { body: String, what: &'static str },
    #[error("a force couples vertices {} and {}, which nothing else does; give it to the builder of the model", vertices[0], vertices[1])]
    NotCoupled { vertices: [u32; 2] },
    #[error("the damping matrix is for {found} vertices, but the model has {expected}")]
    DampingMatrix { found: usize, expected: usize },
}

/// Describes a model, part by part.
#[derive(Debug, Clone, Default)]
pub struct ModelBuilder {
    bodies: Vec<Body>,
    forces: Vec<Box<dyn Force>>,
    holds: Vec<Hold>,
    loads: Vec<(u32, Vec3)>,
    gravity: Vec3,
    damping: Damping,
    lumped: bool,
}

impl ModelBuilder {
    /// Add a body. Its vertices have the numbers after those of the bodies before it.
    #[must_use]
    pub fn body(mut self, body: Body) -> Self {
        self.bodies.push(body);
        self
    }

    /// Add a force. It is for all vertices of the model.
    #[must_use]
    pub fn force(mut self, force: impl Force + 'static) -> Self {
        self.forces.push(Box::new(force));
        self
    }

    /// Hold vertices.
    #[must_use]
    pub fn hold(mut self, hold: Hold) -> Self {
        self.holds.push(hold);
        self
    }

    /// Add a force on a vertex that does not change by itself, in N.
    #[must_use]
    pub fn load(mut self, vertex: u32, force: Vec3) -> Self {
        self.loads.push((vertex, force));
        self
    }

    /// Acceleration by gravity, in m/s².
    #[must_use]
    pub fn gravity(mut self, gravity: Vec3) -> Self {
        self.gravity = gravity;
        self
    }

    /// Damping of all bodies.
    #[must_use]
    pub fn damping(mut self, damping: Damping) -> Self {
        self.damping = damping;
        self
    }

    /// Put all mass at the vertices, so that the mass matrix is diagonal.
    #[must_use]
    pub fn lumped_mass(mut self) -> Self {
        self.lumped = true;
        self
    }

    /// The model.
    pub fn build(self) -> Result<Model, ModelError> {
        self.build_with(false)
    }

    /// The model, its elasticity never assembled: for bodies whose matrix would not fit into memory.
    pub fn build_matrix_free(self) -> Result<MatrixFree, ModelError> {
        self.build_with(true).map(MatrixFree::new)
    }

    fn build_with(self, is_matrix_free: bool) -> Result<Model, ModelError> {
        let vertex_count = self.check()?;
        let mut bodies = placed(self.bodies, vertex_count)?;
        let mut forces = self.forces;
        // The consistent mass couples vertices of an element also where no force does.
        let mass_couples = !self.lumped && !is_matrix_free;
        let loose = bodies.iter().filter(|body| mass_couples && body.elastic.is_none());
        let loose: Vec<Vec<u32>> = loose.flat_map(cliques).collect();
        let pattern = {
            let elastic = bodies.iter_mut().filter_map(|body| body.elastic.as_mut()).map(|e| e as &mut dyn Force);
            let mut all: Vec<&mut dyn Force> = elastic.filter(|_| !is_matrix_free).collect();
            all.extend(forces.iter_mut().map(|force| &mut **force as &mut dyn Force));
            bind_all_with(vertex_count, &mut all, |add| {
                self.damping.cliques(add);
                loose.iter().for_each(|element| add(element));
            })
        };
        let mass = mass_of(
            &bodies,
            self.lumped,
            if self.lumped {
                Arc::new(BlockPattern::diagonal(vertex_count))
            } else if is_matrix_free {
                bind_all_with(vertex_count, &mut [], |add| bodies.iter().flat_map(cliques).for_each(|e| add(&e)))
            } else {
                pattern.clone()
            },
        )?;
        let vertex_mass = mass.row_sums();
        let mut is_used: Vec<bool> = vertex_mass.iter().map(|&mass| mass != 0.0).collect();
        for element in bodies.iter().filter(|body| body.densities.is_empty()).flat_map(cliques) {
            element.iter().for_each(|&vertex| is_used[vertex as usize] = true);
        }
        let unused = (0..vertex_count as u32).filter(|&vertex| !is_used[vertex as usize]).collect();
        let holds = Holds::new(vertex_count, unused, self.holds, &pattern)?;
        let mut loads = vec![0.0; 3 * vertex_count];
        for (vertex, force) in self.loads {
            for axis in 0..3 {
                loads[3 * vertex as usize + axis] += force[axis];
            }
        }
        let rest = bodies.iter().flat_map(|body| body.mesh.vertices()).copied().collect();
        let diagonal = |body: &ModelBody| {
            let [low, high] = body.mesh.bounding_box();
            (high - low).length()
        };
        let extent = bodies.iter().map(diagonal).fold(0.0, f64::max);
        let stiffness = BlockMatrix::zero(pattern);
        let mut operator = Operator::new(stiffness.clone());
        if is_matrix_free {
            operator.u = Vec::new();
        } else {
            let placed: Vec<(u32, &VolumeMesh)> =
                bodies.iter().map(|body| (body.vertices.start as u32, &body.mesh)).collect();
            operator.frames = Some(Arc::new(VertexFrames::new(vertex_count, &placed)));
        }
        forces.iter_mut().for_each(|force| force.set_time(0.0));
        Ok(Model {
            bodies,
            rest,
            extent,
            forces,
            mass,
            vertex_mass,
            damping: self.damping,
            gravity: self.gravity,
            loads,
            load_factor: 1.0,
            holds,
            time: 0.0,
            operator,
            product: vec![0.0; 3 * vertex_count],
            force_scale: 0.0,
            stiffness,
            friction: None,
            unassembled: is_matrix_free.then(|| Unassembled::new(vertex_count)),
            revision: 0,
        })
    }
}

impl ModelBuilder {
    /// Check what can be checked before anything is made. Returns how many vertices there are.
    fn check(&self) -> Result<usize, ModelError> {
        let vertex_count: usize = self.bodies.iter().map(|body| body.mesh.vertex_count()).sum();
        if self.bodies.is_empty() {
            return Err(ModelError::Empty);
        }
        if vertex_count >= u32::MAX as usize {
            return Err(ModelError::TooLarge { vertices: vertex_count });
        }
        if !self.gravity.is_finite() {
            return Err(ModelError::NotFinite { what: "gravity", value: self.gravity });
        }
        let without_mass = self.bodies.iter().find(|body| body.densities.is_empty());
        if let Some(body) = without_mass.filter(|_| self.gravity != Vec3::ZERO) {
            return Err(ModelError::NoMass { body: body.name.clone(), what: "gravity" });
        }
        if let Some(found) = self.damping.matrix().map(|matrix| matrix.pattern().vertex_count())
            && found != vertex_count
        {
            return Err(ModelError::DampingMatrix { found, expected: vertex_count });
        }
        if let Some(found) = self.forces.iter().map(|force| force.vertex_count()).find(|&found| found != vertex_count) {
            return Err(ModelError::Force { found, expected: vertex_count });
        }
        for &(vertex, value) in &self.loads {
            if vertex as usize >= vertex_count {
                return Err(ModelError::LoadedVertex { vertex, vertex_count });
            }
            if !value.is_finite() {
                return Err(ModelError::NotFinite { what: "a load", value });
            }
        }
        Ok(vertex_count)
    }
}

/// The bodies, with their numbers one after the other.
fn placed(bodies: Vec<Body>, vertex_count: usize) -> Result<Vec<ModelBody>, ModelError> {
    let mut first = 0;
    let place = |body: Body| {
        let vertices = first..first + body.mesh.vertex_count();
        first = vertices.end;
        let Body { name, mesh, materials, densities } = body;
        let elastic = if materials.is_empty() {
            None
        } else {
            let elastic = Elastic::among(&mesh, materials, vertices.start as u32, vertex_count);
            Some(elastic.map_err(|source| ModelError::Material { body: name.clone(), source })?)
        };
        Ok(ModelBody { name, mesh, densities, vertices, elastic })
    };
    bodies.into_iter().map(place).collect()
}

/// The mass of all bodies.
fn mass_of(bodies: &[ModelBody], lumped: bool, pattern: Arc<BlockPattern>) -> Result<MassMatrix, ModelError> {
    let mut mass = MassMatrix::zero(pattern);
    for body in bodies.iter().filter(|body| !body.densities.is_empty()) {
        let first = body.vertices.start as u32;
        let added = if lumped {
            mass.add_lumped(&body.mesh, &body.densities, first)
        } else {
            mass.add_consistent(&body.mesh, &body.densities, first)
        };
        added.map_err(|source| ModelError::Mass { body: body.name.clone(), source })?;
    }
    Ok(mass)
}

/// The vertices of each element of a body, by their numbers in the model.
fn cliques(body: &ModelBody) -> impl Iterator<Item = Vec<u32>> + '_ {
    let first = body.vertices.start as u32;
    body.mesh.elements().map(move |element| element.iter().map(|vertex| first + vertex).collect())
}
