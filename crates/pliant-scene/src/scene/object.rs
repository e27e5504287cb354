//! Bodies: `[[object]]`.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::material::RegionMaterial;
use super::quantity::{Energy, Length, Stiffness, Viscosity, dimension, vec3};
use super::select::Choice;
use super::{
    GeneratorError, Located, MaterialChoice, MaterialSettings, MeshSource, Rotation, Scene, SceneError, Selection,
    Source, Vector, bounds,
};
use pliant::files::Files;
use pliant::io::{self, Mesh};
use pliant::material::{Material, YoungPoisson};
use pliant::math::{Affine3, Vec3};
use pliant::matrix_io;
use pliant::mesh::{Embedding, HexSplit, Region, SurfaceMesh, VolumeMesh};

/// A body.
///
/// ```toml
/// [[object]]
/// name = "dropped"
/// mesh = { box = { size = [1, 0.2, 0.2], cells = [10, 2, 2] } }
/// rotate = { axis = [0, 0, 1], angle = "30 deg" }
/// translate = [0, "50 cm", 0]
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// velocity = ["2 m/s", 0, 0]
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Name; by default `object`, with a number if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Located<String>>,
    /// Mesh: the name of a file, or a shape.
    pub mesh: Located<MeshSource>,
    /// Number of uniform refinements; each splits every element into eight.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schemars(range(max = MAX_REFINEMENTS))]
    pub refine: Located<u32>,
    /// Number of tetrahedra, 5 or 6, that each hexahedron is split into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [5, 6, null]))]
    pub split: Option<Located<u8>>,
    /// Scale about the origin, applied first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Located<Scale>>,
    /// Rotation about the origin, applied after `scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Located<Rotation>>,
    /// Translation, applied last.
    #[serde(default)]
    pub translate: Vector<dimension::Length>,
    /// Material: its name, or a table. By default that of the mesh file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub material: Option<Located<MaterialChoice>>,
    /// Regions of other materials: `[[object.region]]`.
    #[serde(default, rename = "region", skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<Located<ObjectRegion>>,
    /// Mass–spring network along the edges of the elements, instead of an elastic law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Located<Network>>,
    /// Resistance to changes of edge lengths, face areas and volumes, instead of an elastic law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Located<Parts>>,
    /// Initial velocity.
    #[serde(default)]
    pub velocity: Vector<dimension::Speed>,
    /// Initial velocity of each vertex, in addition to `velocity`: a file of three columns, or a matrix of VegaFEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocities: Option<Located<String>>,
    /// Initial angular velocity about the center of mass: the axis times the angular speed.
    #[serde(default)]
    pub spin: Vector<dimension::AngularSpeed>,
    /// Initial deformation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Located<Start>>,
    /// Detailed surface that follows the body, for pictures and animations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skin: Option<Located<Skin>>,
}

fn is_zero(count: &Located<u32>) -> bool {
    count.value == 0
}

/// Factors along the axes: a number for all axes, or three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scale {
    /// Uniform factor for all axes.
    Uniform(f64),
    /// Factors along x, y and z.
    Axes([f64; 3]),
}

/// A region of an object that has another material.
///
/// ```toml
/// [[object]]
/// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
///
/// [[object.region]]
/// name = "stiff half"
/// elements = { side = { point = ["50 cm", 0, 0], normal = [1, 0, 0] } }
/// material = { young = "10 MPa", poisson = 0.4, density = 1000 }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObjectRegion {
    /// Name of a region of the mesh, or with `elements` a new name.
    pub name: Located<String>,
    /// Elements of a new region: those whose centers are selected. If regions overlap, the last one takes precedence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<Located<Selection>>,
    /// Material of the region.
    pub material: Located<MaterialChoice>,
}

/// Springs along the edges of elements, and the diagonals of hexahedra.
///
/// ```toml
/// [[object]]
/// mesh = { box = { size = [1, 0.2, 0.2], cells = [10, 2, 2] } }
/// material = { density = 1000 }
/// network = { stiffness = "500 N/m", damping = "0.1 N s/m" }
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Stiffness of each spring.
    #[schemars(transform = bounds::not_negative)]
    pub stiffness: Stiffness,
    /// Damping of each spring.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub damping: Viscosity,
}

/// Resistance to changes of edge lengths, face areas and volumes, each relative to rest.
///
/// ```toml
/// [[object]]
/// mesh = { box = { size = [1, 0.2, 0.2], cells = [10, 2, 2] } }
/// material = { density = 1000 }
/// parts = { edge = "1 J", area = "0.5 J", volume = "10 J" }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Coefficient of every edge.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub edge: Energy,
    /// Coefficient of every face.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub area: Energy,
    /// Coefficient of every tetrahedron.
    #[serde(default)]
    #[schemars(transform = bounds::not_negative)]
    pub volume: Energy,
}

/// An initial deformation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Start {
    /// Stretch about the center along x, y and z. 1 leaves an axis unchanged, 0 makes the body flat, and negative
    /// factors invert it.
    ///
    /// ```toml
    /// [[object]]
    /// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
    /// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
    /// start = { stretch = [1.5, 0.8, 0.8] }
    /// ```
    Stretch([f64; 3]),
    /// Random displacement of every vertex, within a ball around its rest position.
    ///
    /// ```toml
    /// [[object]]
    /// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
    /// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
    /// start = { scramble = { by = "5 cm", seed = 1 } }
    /// ```
    Scramble {
        /// Radius of the ball.
        #[schemars(transform = bounds::not_negative)]
        by: Length,
        /// Seed of the random numbers.
        #[serde(default)]
        seed: u32,
    },
    /// Displacements of all vertices from a file of three columns (.npy, .mtx, .txt or .csv), or a matrix of VegaFEM.
    ///
    /// ```toml
    /// [[object]]
    /// mesh = { beam = { length = "1 m", height = "10 cm", width = "10 cm" } }
    /// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
    /// start = { displacements = "bent.npy" }
    /// ```
    Displacements(String),
}

/// A surface that follows a body.
///
/// ```toml
/// [[object]]
/// mesh = { ball = { radius = "10 cm", across = 4 } }
/// material = { young = "1 MPa", poisson = 0.4, density = 1000 }
/// skin = { mesh = { ball = { radius = "9.9 cm", across = 20 } } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skin {
    /// Surface: the name of a file, or a shape whose surface is taken. It is scaled, rotated and translated with the
    /// object.
    pub mesh: Located<MeshSource>,
    /// Interpolation file of VegaFEM that embeds the surface in the mesh. By default each vertex is embedded in the
    /// element that contains it, or else the nearest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolation: Option<Located<String>>,
}

/// Material of a region of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeOf {
    /// Name of the object.
    pub object: String,
    /// Name of the region.
    pub region: String,
    /// Material as given in the scene; empty by default.
    pub given: MaterialSettings,
    /// Name of the elastic law, or `formula`. `None` if the integrator has a built-in law, or if the object is made of
    /// springs.
    pub law: Option<&'static str>,
    /// Moduli at small strains; `None` for objects made of springs.
    pub moduli: Option<YoungPoisson>,
    /// Density \[kg/m³\].
    pub density: f64,
}

/// Object that has been read, with its mesh and materials.
pub(super) struct Prepared {
    pub name: String,
    pub mesh: VolumeMesh,
    /// Elastic law of each region; empty for bodies made of springs, or if the integrator has a built-in law.
    pub materials: Vec<Material>,
    pub densities: Vec<f64>,
    /// Moduli of bodies without materials, if the integrator needs them.
    pub moduli: Vec<YoungPoisson>,
    pub skin: Option<(SurfaceMesh, Embedding)>,
    /// Initial displacements.
    pub start: Vec<Vec3>,
    /// Initial velocities of the vertices in addition to that of the body; may be empty.
    pub velocities: Vec<Vec3>,
    /// Description of the material of each region.
    pub made_of: Vec<MadeOf>,
    pub notes: Vec<String>,
}

/// Context for reading an object.
pub(super) struct Reader<'a> {
    pub scene: &'a Scene,
    pub source: &'a Source,
    pub files: &'a dyn Files,
    /// True if the integrator has a built-in law.
    pub integrator_has_law: bool,
    /// True if results depend on densities, so that they must be given.
    pub needs_mass: bool,
}

/// Material given by the scene for each region, if any.
type Choices<'a> = Vec<Option<&'a Located<MaterialChoice>>>;

/// Maximum number of refinements; each multiplies the number of elements by eight.
const MAX_REFINEMENTS: u32 = 8;
/// Maximum number of elements of a refined mesh.
const MAX_ELEMENTS: usize = 100_000_000;

/// Density \[kg/m³\] of bodies whose mass has no effect.
const UNIT_DENSITY: f64 = 1.0;

impl Reader<'_> {
    fn error(&self, span: Option<&std::ops::Range<usize>>, message: impl Into<String>) -> SceneError {
        self.source.error(span, message)
    }

    pub fn read(&self, object: &Located<Object>, name: String) -> Result<Prepared, SceneError> {
        let map = self.transform(object)?;
        let mut notes = Vec::new();
        let (mesh, carries) = self.volume(object, &mut notes)?;
        let mesh = if map == Affine3::IDENTITY {
            mesh
        } else {
            mesh.transformed(map).map_err(|error| self.error(object.span.as_ref(), error.to_string()))?
        };
        let (mesh, choices) = self.regions(object, mesh)?;
        let others = [object.network.as_ref().map(|own| &own.span), object.parts.as_ref().map(|own| &own.span)];
        if let (Some(span), Some(_)) = (others[0], others[1]) {
            return Err(self.error(span.as_ref(), "an object has a `network` or `parts`, not both"));
        }
        let own_law = others.iter().any(Option::is_some);
        let (mut materials, mut densities, mut moduli) = (Vec::new(), Vec::new(), Vec::new());
        let mut made_of = Vec::new();
        for (region, choice) in mesh.regions().iter().zip(&choices) {
            let material = self.region_material(object, &name, region, *choice, mesh.regions().len())?;
            let density = if self.needs_mass {
                material.density(self.source)?
            } else {
                material.density_if_given(self.source)?.unwrap_or_else(|| {
                    notes.push(format!(
                        "the density of {} is not given and is set to {UNIT_DENSITY} kg/m³: equilibrium without gravity does not depend on it",
                        material.region
                    ));
                    UNIT_DENSITY
                })
            };
            densities.push(density);
            let mut is_of = MadeOf {
                object: name.clone(),
                region: region.name.clone(),
                given: material.given.value.clone(),
                law: None,
                moduli: None,
                density,
            };
            if self.integrator_has_law && !own_law {
                moduli.push(material.moduli(self.source)?);
                is_of.moduli = moduli.last().copied();
            } else if own_law {
                material.allow(&[], "this object has no elastic law", self.source)?;
            } else {
                let elasticity = material.elasticity(self.source)?;
                is_of.law = Some(material.law(self.source)?.name());
                is_of.moduli = Some(material.written_moduli().unwrap_or_else(|| elasticity.moduli()));
                materials.push(elasticity);
            }
            made_of.push(is_of);
        }
        let skin = match (&object.skin, carries) {
            (Some(skin), _) => Some(self.skin(skin, &mesh, map, &name, &mut notes)?),
            (None, Some(surface)) => Some(self.has_visual(object.mesh.span.as_ref(), &mesh, &surface, map)?),
            (None, None) => None,
        };
        let start = self.start(object, &mesh)?;
        let velocities = object.velocities.as_ref();
        let velocities = velocities.map_or(Ok(Vec::new()), |file| self.vertex_vectors(file, &mesh, "velocity"))?;
        Ok(Prepared { name, mesh, materials, densities, moduli, skin, start, velocities, made_of, notes })
    }

    fn transform(&self, object: &Object) -> Result<Affine3, SceneError> {
        let scale = match &object.scale {
            None => Vec3::ONE,
            Some(scale) => {
                let factors = match scale.value {
                    Scale::Uniform(factor) => Vec3::splat(factor),
                    Scale::Axes(factors) => Vec3::from_array(factors),
                };
                if !(factors.is_finite() && factors.cmpne(Vec3::ZERO).all()) {
                    let message = format!("the scale is {factors}, expected nonzero numbers");
                    return Err(self.error(scale.span.as_ref(), message));
                }
                factors
            }
        };
        let rotation = object.rotate.as_ref().map_or(Ok(Vec3::ZERO), |rotate| rotate.vector(self.source))?;
        let rotation = glam::DQuat::from_scaled_axis(rotation);
        Ok(Affine3::from_scale_rotation_translation(scale, rotation, vec3(&object.translate)))
    }

    /// Returns the mesh of an object, and the surface that it was generated from, if any.
    fn volume(
        &self,
        object: &Object,
        notes: &mut Vec<String>,
    ) -> Result<(VolumeMesh, Option<SurfaceMesh>), SceneError> {
        let span = object.mesh.span.as_ref();
        let (mut mesh, carries) = match self.mesh(&object.mesh, notes)? {
            (Mesh::Volume(mesh), carries) => (mesh, carries),
            (Mesh::Surface(_), _) => {
                let message = "the file contains only a surface, expected tetrahedra or hexahedra; \
                               `mesh = { cage = { surface = \"…\" } }` meshes a cage around it, and `{ filled = { of = \"…\" } }` its interior";
                return Err(self.error(span, message));
            }
        };
        if let Some(split) = &object.split {
            let wrong = |message: String| self.error(split.span.as_ref(), message);
            let into = match split.value {
                5 => HexSplit::Five,
                6 => HexSplit::Six,
                other => return Err(wrong(format!("hexahedra can be split into 5 or 6 tetrahedra, not {other}"))),
            };
            mesh = mesh.split_hexes(into).map_err(|error| wrong(error.to_string()))?;
        }
        let times = object.refine.value;
        let span = object.refine.span.as_ref();
        let elements = mesh.element_count().saturating_mul(8_usize.saturating_pow(times));
        if times > MAX_REFINEMENTS || elements > MAX_ELEMENTS {
            let message = format!(
                "refining {} elements {times} times gives {elements}, expected at most {MAX_ELEMENTS}",
                mesh.element_count()
            );
            return Err(self.error(span, message));
        }
        for _ in 0..times {
            mesh = mesh.refined().map_err(|error| self.error(span, error.to_string()))?;
        }
        notes.extend(mesh.sliver_note());
        Ok((mesh, carries))
    }

    /// Reads or generates a mesh, and returns it with the surface that it was generated from, if any.
    fn mesh(
        &self,
        from: &Located<MeshSource>,
        notes: &mut Vec<String>,
    ) -> Result<(Mesh, Option<SurfaceMesh>), SceneError> {
        let wrong = |message: String| self.error(from.span.as_ref(), message);
        match &from.value {
            MeshSource::Generator(generator) => {
                let mut read = |name: &str| {
                    let loaded = io::read_from(self.files, &self.source.folder.join(name));
                    let loaded = loaded.map_err(|error| error.to_string())?;
                    notes.extend(loaded.notes);
                    Ok(loaded.mesh.into_surface())
                };
                // Errors about a surface name its file, because the scene only refers to it.
                let message = |error: GeneratorError| match error {
                    GeneratorError::Surface { file, error } => {
                        format!("{}: {error}", show(&self.source.folder.join(file)))
                    }
                    error => error.to_string(),
                };
                let generated = generator.make(&mut read).map_err(|error| wrong(message(error)))?;
                let file = generated.file.as_deref();
                notes.extend(generated.notes.into_iter().map(|note| self.with_file(file, note)));
                Ok((Mesh::Volume(generated.mesh), generated.embedded))
            }
            MeshSource::File(name) => {
                let path = self.source.folder.join(name);
                let loaded = io::read_from(self.files, &path).map_err(|error| wrong(error.to_string()))?;
                notes.extend(loaded.report.lines().into_iter().map(|note| self.with_file(Some(name), note)));
                notes.extend(loaded.notes);
                Ok((loaded.mesh, None))
            }
        }
    }

    /// Prefixes a note with the name of its file if there are several objects.
    fn with_file(&self, file: Option<&str>, note: String) -> String {
        match file {
            Some(file) if self.scene.objects.len() > 1 => format!("{file}: {note}"),
            _ => note,
        }
    }

    /// Transforms a surface with its object and embeds it in the mesh.
    fn has_visual(
        &self,
        span: Option<&std::ops::Range<usize>>,
        mesh: &VolumeMesh,
        surface: &SurfaceMesh,
        map: Affine3,
    ) -> Result<(SurfaceMesh, Embedding), SceneError> {
        let surface = surface.transformed(map).map_err(|error| self.error(span, error.to_string()))?;
        let embedding =
            Embedding::new(mesh, surface.vertices()).map_err(|error| self.error(span, error.to_string()))?;
        Ok((surface, embedding))
    }

    /// Returns the mesh with the regions of the scene, and the material that the scene gives to each.
    fn regions<'a>(&self, object: &'a Object, mesh: VolumeMesh) -> Result<(VolumeMesh, Choices<'a>), SceneError> {
        let mut choices: Choices<'a> = vec![None; mesh.regions().len()];
        if object.regions.is_empty() {
            return Ok((mesh, choices));
        }
        let centers: Vec<Vec3> = mesh.elements().map(|element| center(&mesh, element)).collect();
        let element_sets = mesh.element_sets().clone();
        let mut labels = mesh.labels();
        for region in &object.regions {
            match &region.elements {
                None => {
                    let found = labels.regions.iter().position(|own| own.name == region.name.value);
                    let number = found.ok_or_else(|| {
                        let known = labels.regions.iter().map(|own| own.name.as_str()).collect::<Vec<_>>().join(", ");
                        let message = format!(
                            "the mesh has no region `{}`, only {known}; give `elements` to make one",
                            region.name.value
                        );
                        self.error(region.name.span.as_ref(), message)
                    })?;
                    choices[number] = Some(&region.material);
                }
                Some(elements) => {
                    let chosen = elements.choose(&Choice {
                        what: "element",
                        points: &centers,
                        sets: &element_sets,
                        surface: &Vec::new,
                        file: &|name| Err(format!("`{name}` lists vertices, but elements are to be selected")),
                    });
                    let chosen = chosen.map_err(|message| self.error(elements.span.as_ref(), message))?;
                    labels.move_to_region(&region.name.value, &chosen);
                    choices.resize(labels.regions.len(), Some(&region.material));
                }
            }
        }
        let checked = mesh.with_labels(labels).map_err(|error| {
            self.error(object.regions[0].name.span.as_ref(), format!("with these regions: {error}"))
        })?;
        Ok((checked.mesh, choices))
    }

    fn region_material<'a>(
        &self,
        object: &'a Located<Object>,
        name: &str,
        region: &'a Region,
        choice: Option<&'a Located<MaterialChoice>>,
        count: usize,
    ) -> Result<RegionMaterial<'a>, SceneError>
    where
        Self: 'a,
    {
        static NOTHING: MaterialSettings = MaterialSettings {
            law: None,
            young: None,
            poisson: None,
            density: None,
            coefficients: None,
            formula: None,
            parameters: std::collections::BTreeMap::new(),
            tangent: None,
            frame: None,
            inversion: None,
            inversion_threshold: None,
            compression_resistance: None,
        };
        let given = match choice.or(object.material.as_ref()) {
            Some(choice) => self.named(choice)?,
            None => Located { value: &NOTHING, span: object.mesh.span.clone() },
        };
        let what = if count > 1 { format!("region `{}` of `{name}`", region.name) } else { format!("`{name}`") };
        Ok(RegionMaterial { given, file: region.material.as_ref(), region: what })
    }

    fn named<'a>(&self, choice: &'a Located<MaterialChoice>) -> Result<Located<&'a MaterialSettings>, SceneError>
    where
        Self: 'a,
    {
        // The materials belong to the scene, which outlives this reader.
        choice.resolve(&self.scene.materials, self.source)
    }

    fn skin(
        &self,
        skin: &Skin,
        mesh: &VolumeMesh,
        map: Affine3,
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<(SurfaceMesh, Embedding), SceneError> {
        let span = skin.mesh.span.as_ref();
        let surface = match self.mesh(&skin.mesh, notes)?.0 {
            Mesh::Surface(surface) => surface,
            Mesh::Volume(volume) => volume.boundary().surface,
        };
        let (surface, embedding) = match &skin.interpolation {
            None => self.has_visual(span, mesh, &surface, map)?,
            Some(file) => {
                let surface = surface.transformed(map).map_err(|error| self.error(span, error.to_string()))?;
                let wrong = |message: String| self.error(file.span.as_ref(), message);
                let path = self.source.folder.join(&file.value);
                let embedding =
                    io::read_interp_from(self.files, &path, mesh).map_err(|error| wrong(error.to_string()))?;
                if embedding.len() != surface.vertices().len() {
                    return Err(wrong(format!(
                        "the file embeds {} points, but the surface has {} vertices",
                        embedding.len(),
                        surface.vertices().len()
                    )));
                }
                (surface, embedding)
            }
        };
        let outside = embedding.outside().len();
        if outside > 0 {
            notes.push(format!(
                "{outside} of {} vertices of the skin of `{name}` are outside its mesh and follow the nearest element",
                embedding.len()
            ));
        }
        Ok((surface, embedding))
    }

    fn start(&self, object: &Object, mesh: &VolumeMesh) -> Result<Vec<Vec3>, SceneError> {
        let Some(start) = &object.start else { return Ok(vec![Vec3::ZERO; mesh.vertex_count()]) };
        let wrong = |message: String| self.error(start.span.as_ref(), message);
        match &start.value {
            Start::Stretch(factors) => {
                let factors = Vec3::from_array(*factors);
                if !factors.is_finite() {
                    return Err(wrong(format!("the factors are {factors}, expected finite numbers")));
                }
                let [low, high] = mesh.bounding_box();
                let middle = 0.5 * (low + high);
                Ok(mesh.vertices().iter().map(|x| (factors - Vec3::ONE) * (*x - middle)).collect())
            }
            Start::Scramble { by, seed } => {
                if !(by.si >= 0.0) {
                    return Err(wrong(format!("the radius is {} m, expected a non-negative value", by.si)));
                }
                let mut random = fastrand::Rng::with_seed(u64::from(*seed));
                let mut place = || loop {
                    let x = Vec3::from_array(std::array::from_fn(|_| 2.0 * random.f64() - 1.0));
                    if x.length_squared() <= 1.0 {
                        return by.si * x;
                    }
                };
                Ok((0..mesh.vertex_count()).map(|_| place()).collect())
            }
            Start::Displacements(file) => {
                let file = Located { value: file.clone(), span: start.span.clone() };
                self.vertex_vectors(&file, mesh, "displacement")
            }
        }
    }

    /// Reads one vector per vertex from a file.
    fn vertex_vectors(&self, file: &Located<String>, mesh: &VolumeMesh, what: &str) -> Result<Vec<Vec3>, SceneError> {
        let wrong = |message: String| self.error(file.span.as_ref(), message);
        let path = self.source.folder.join(&file.value);
        let numbers = matrix_io::read_vertex_vectors_from(self.files, &path, mesh.vertex_count())
            .map_err(|error| wrong(error.to_string()))?;
        if let Some(index) = numbers.iter().position(|x| !x.is_finite()) {
            return Err(wrong(format!("{}: vertex {} has a {what} that is not finite", show(&path), index / 3)));
        }
        Ok(numbers.as_chunks::<3>().0.iter().map(|u| Vec3::from_array(*u)).collect())
    }
}

fn center(mesh: &VolumeMesh, element: &[u32]) -> Vec3 {
    element.iter().map(|&vertex| mesh.vertices()[vertex as usize]).sum::<Vec3>() / element.len() as f64
}

fn show(path: &Path) -> String {
    path.display().to_string()
}
