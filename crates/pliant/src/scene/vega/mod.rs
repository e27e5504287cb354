//! Scenes of VegaFEM: the `.config` files of its interactive deformable simulator, as they are.
//!
//! ```text
//! *volumetricMeshFilename
//! turtle.veg
//! *solver
//! implicitBackwardEuler
//! *deformableObjectMethod
//! StVK
//! *timestep
//! 0.01
//! *dampingMassCoef
//! 0.0
//! *dampingStiffnessCoef
//! 0.01
//! ```
//!
//! What a key means is what VegaFEM 4.0 does with it; `docs/migrating-from-vegafem.md` lists all of them. What is left out, or differs, is said
//! in the notes of the [`SceneFile`].

mod entries;
mod keys;
mod springs;
mod steps;

use std::io::ErrorKind;

use super::quantity::{Pressure, Rate, Time, vector};
use super::{
    At, Damping, EARTH, Hold, Inverted, Load, Material, MaterialChoice, MaterialTangent, MeshSource, Object,
    ObjectRegion, Scene, SceneError, SceneFile, Scheme, Selection, Skin, Source, Start, Where,
};
use crate::io::{self, Files, Mesh, ReadError};
use crate::math::Vec3;
use crate::mesh::Moduli;
use entries::Entries;
use steps::Steps;

pub use keys::{keys, spring_keys};

/// For how long to simulate: VegaFEM goes on until its window is closed.
const DURATION: f64 = 5.0;

/// Which forces hold a body together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Stvk,
    Corotational,
    Linear,
    Invertible,
}

const METHODS: &[(&str, Method)] = &[
    ("StVK", Method::Stvk),
    ("CLFEM", Method::Corotational),
    ("LinearFEM", Method::Linear),
    ("InvertibleFEM", Method::Invertible),
];

/// The laws of `invertibleMaterial`, and what they are called here.
const LAWS: &[(&str, &str)] = &[("StVK", "stvk"), ("neoHookean", "neo-hookean"), ("MooneyRivlin", "mooney-rivlin")];

/// VegaFEM's `compressionResistance` if none is given.
const COMPRESSION_RESISTANCE: f64 = 500.0;

/// What goes from a `.config` file into a scene.
struct Translation<'a> {
    files: &'a dyn Files,
    source: &'a Source,
    entries: Entries<'a>,
    notes: Vec<String>,
}

/// Understand the text of a `.config` file, with the files that it names.
pub(super) fn read(files: &dyn Files, source: Source) -> Result<SceneFile, SceneError> {
    let entries = Entries::read(&source, &keys().collect::<Vec<_>>())?;
    let (scene, notes) = Translation { files, source: &source, entries, notes: Vec::new() }.scene()?;
    Ok(SceneFile { scene, source, notes })
}

impl Translation<'_> {
    fn scene(mut self) -> Result<(Scene, Vec<String>), SceneError> {
        let scaling = self.entries.number_or("frequencyScaling", 1.0)?;
        if scaling.value <= 0.0 {
            let message = format!("the frequencies are scaled by {}, expected a positive number", scaling.value);
            return Err(self.source.error(scaling.span.as_ref(), message));
        }
        // Frequencies grow with the root of the stiffness.
        let factor = scaling.value * scaling.value;
        let springs = self.springs(factor)?;
        let method = if springs.is_some() {
            None
        } else {
            Some(self.entries.choice("deformableObjectMethod", METHODS)?.unwrap_or(At::new(Method::Stvk)))
        };
        let steps = self.steps(springs.is_some())?;
        let gravity = self.gravity(springs.as_ref().is_some_and(|own| own.gravity), method.as_ref(), factor)?;
        let damping = self.damping(steps.settings.scheme.value)?;
        let (mesh, material, network, regions) = if let Some(body) = springs {
            (body.mesh, At::new(body.material), Some(body.network), Vec::new())
        } else {
            let mesh = self.entries.required_text("volumetricMeshFilename")?;
            let material = self.material(method.as_ref())?;
            let regions = self.scaled_regions(&mesh, &material, factor);
            (mesh, material, None, regions)
        };
        let mut object = Object {
            material: Some(material),
            regions,
            network,
            velocities: self.entries.text("initialVelocityFilename"),
            start: self.start(),
            skin: self.skin(),
            ..Object::new(MeshSource::File(mesh.value))
        };
        object.mesh.span.clone_from(&mesh.span);
        let scene = Scene {
            gravity: Some(vector(gravity)),
            holds: self.holds(),
            loads: self.loads(&steps),
            objects: vec![At { value: object, span: mesh.span }],
            damping,
            ..Scene::new(steps.settings)
        };
        let notes = self.all_notes()?;
        Ok((scene, notes))
    }

    /// A force of VegaFEM's internal ones, so that it is scaled with them.
    fn gravity(&mut self, of_springs: bool, method: Option<&At<Method>>, factor: f64) -> Result<Vec3, SceneError> {
        let is_on = self.entries.flag("addGravity")?.is_some_and(|own| own.value) || of_springs;
        let g = self.entries.number_or("g", EARTH)?.value;
        if !is_on {
            return Ok(Vec3::ZERO);
        }
        if method.is_some_and(|method| matches!(method.value, Method::Corotational | Method::Linear)) {
            self.notes.push("`addGravity`: VegaFEM forgets gravity with CLFEM and LinearFEM; here it pulls".into());
        }
        Ok(Vec3::new(0.0, -g * factor, 0.0))
    }

    fn damping(&mut self, scheme: Scheme) -> Result<At<Damping>, SceneError> {
        let mass = self.entries.required_number("dampingMassCoef")?;
        let mut stiffness = self.entries.required_number("dampingStiffnessCoef")?;
        let laplacian = self.entries.number_or("dampingLaplacianCoef", 0.0)?;
        if laplacian.value != 0.0 {
            let message =
                "Pliant has no damping by the Laplacian of the mesh yet; give 0, and damp by `dampingStiffnessCoef`";
            return Err(self.source.error(laplacian.span.as_ref(), message));
        }
        if matches!(scheme, Scheme::ExplicitEuler | Scheme::SymplecticEuler) && stiffness.value != 0.0 {
            self.notes.push(
                "`dampingStiffnessCoef`: VegaFEM's Euler and symplecticEuler have no such damping, nor here".into(),
            );
            stiffness.value = 0.0;
        }
        let span = if mass.value < 0.0 { mass.span } else { stiffness.span };
        Ok(At { value: Damping { mass: Rate::new(mass.value), stiffness: Time::new(stiffness.value) }, span })
    }

    /// The law; its coefficients are in the mesh file.
    fn material(&self, method: Option<&At<Method>>) -> Result<At<MaterialChoice>, SceneError> {
        let span = method.and_then(|method| method.span.clone());
        let mut material = Material::default();
        let mut law = |name: &str, span| material.law = Some(At { value: name.to_owned(), span });
        match method.map_or(Method::Stvk, |method| method.value) {
            Method::Stvk => law("stvk", span.clone()),
            Method::Linear => law("linear", span.clone()),
            Method::Corotational => {
                let warp = self.entries.integer("corotationalLinearFEM_warp")?.unwrap_or(At::new(1));
                let tangent = match warp.value {
                    0 => None,
                    1 => Some(MaterialTangent::Warped),
                    2 => Some(MaterialTangent::Exact),
                    other => {
                        let message = format!("`corotationalLinearFEM_warp` is {other}, expected 0, 1 or 2");
                        return Err(self.source.error(warp.span.as_ref(), message));
                    }
                };
                law(if tangent.is_some() { "corotational" } else { "linear" }, span.clone());
                material.tangent = tangent.map(|tangent| At { value: tangent, span: warp.span });
            }
            Method::Invertible => {
                let Some(name) = self.entries.choice("invertibleMaterial", LAWS)? else {
                    let message = "InvertibleFEM needs `*invertibleMaterial`: StVK, neoHookean or MooneyRivlin";
                    return Err(self.source.error(span.as_ref(), message));
                };
                law(name.value, name.span);
                self.invertible(&mut material)?;
            }
        }
        Ok(At { value: MaterialChoice::Here(Box::new(material)), span })
    }

    fn invertible(&self, material: &mut Material) -> Result<(), SceneError> {
        let threshold = match self.entries.number("inversionThreshold")? {
            Some(threshold) => Some(threshold),
            // Its name in older versions.
            None => self.entries.number("principalStretchThreshold")?,
        };
        // Without a threshold VegaFEM raises no stretch, however small; nor with one that stretches are always above.
        if let Some(threshold) = threshold.filter(|threshold| threshold.value > 0.0) {
            material.inversion = Some(At { value: Inverted::Clamp, span: threshold.span.clone() });
            material.inversion_threshold = Some(threshold);
        }
        if self.entries.flag("enableCompressionResistance")?.is_none_or(|own| own.value) {
            let resistance = self.entries.number_or("compressionResistance", COMPRESSION_RESISTANCE)?;
            material.compression_resistance = Some(resistance);
        }
        Ok(())
    }

    /// The regions of the mesh with the stiffness of the file times a factor; none if that is 1.
    fn scaled_regions(
        &mut self,
        mesh: &At<String>,
        material: &At<MaterialChoice>,
        factor: f64,
    ) -> Vec<At<ObjectRegion>> {
        if factor == 1.0 {
            return Vec::new();
        }
        let MaterialChoice::Here(usual) = &material.value else { return Vec::new() };
        // What is wrong with the mesh is said when the scene is built.
        let Ok(loaded) = io::read_from(self.files, &self.source.folder.join(&mesh.value)) else { return Vec::new() };
        let Mesh::Volume(volume) = loaded.mesh else { return Vec::new() };
        let mut regions = Vec::new();
        for region in volume.regions() {
            let mut scaled = (**usual).clone();
            match region.material.as_ref().and_then(|own| own.moduli.as_ref()) {
                Some(Moduli::Isotropic { young, poisson }) => {
                    scaled.young = Some(At::new(Pressure::new(factor * young)));
                    scaled.poisson = Some(At::new(*poisson));
                }
                Some(Moduli::MooneyRivlin { mu01, mu10, v1 }) => {
                    let names = [("mu01", mu01), ("mu10", mu10), ("v1", v1)];
                    let scale = |(name, value): (&str, &f64)| (name.to_owned(), Pressure::new(factor * value));
                    scaled.coefficients = Some(At::new(names.map(scale).into()));
                }
                Some(Moduli::Orthotropic { .. }) | None => continue,
            }
            let material = At { value: MaterialChoice::Here(Box::new(scaled)), span: material.span.clone() };
            let name = At { value: region.name.clone(), span: mesh.span.clone() };
            regions.push(At::new(ObjectRegion { name, elements: None, material }));
        }
        self.notes.push(format!("`frequencyScaling`: stiffness and gravity are multiplied by its square, {factor}"));
        regions
    }

    fn start(&self) -> Option<At<Start>> {
        let file = self.entries.text("initialPositionFilename")?;
        Some(At { value: Start::Displacements(file.value), span: file.span })
    }

    fn skin(&mut self) -> Option<At<Skin>> {
        let mesh = self.entries.text("secondaryRenderingMeshFilename")?;
        if self.is_missing(&mesh.value) {
            let name = shown(&mesh.value);
            self.notes.push(format!(
                "`secondaryRenderingMeshFilename`: there is no file {name}, so no surface follows the body"
            ));
            return None;
        }
        let mut interpolation = self.entries.text("secondaryRenderingMeshInterpolationFilename");
        if let Some(file) = interpolation.take_if(|file| self.is_missing(&file.value)) {
            let name = shown(&file.value);
            self.notes.push(format!(
                "`secondaryRenderingMeshInterpolationFilename`: there is no file {name}; vertices are tied to the elements they are in"
            ));
        }
        let span = mesh.span.clone();
        Some(At {
            value: Skin { mesh: At { value: MeshSource::File(mesh.value), span: mesh.span }, interpolation },
            span,
        })
    }

    fn holds(&self) -> Vec<At<Hold>> {
        let Some(file) = self.entries.text("fixedVerticesFilename") else { return Vec::new() };
        let bytes = self.files.read(&self.source.folder.join(&file.value));
        // A list without numbers is how VegaFEM's users say that nothing is fixed. If there is no file, building says so.
        if bytes.is_ok_and(|bytes| lists_nothing(&bytes)) {
            return Vec::new();
        }
        let span = file.span;
        let hold = Hold {
            object: None,
            vertices: At { value: Selection::Where(Where::File(file.value)), span: span.clone() },
            axes: At::new("xyz".into()),
            motion: None,
        };
        vec![At { value: hold, span }]
    }

    fn loads(&self, steps: &Steps) -> Vec<At<Load>> {
        let Some(file) = self.entries.text("forceLoadsFilename") else { return Vec::new() };
        let span = file.span.clone();
        let load = Load {
            object: None,
            vertices: At::new(Selection::Named("all".into())),
            faces: None,
            force: None,
            traction: None,
            pressure: None,
            follower: None,
            impulse: None,
            steps: Some(file),
            // A column is for all substeps of a step.
            interval: steps.has_substeps().then(|| At::new(Time::new(steps.interval))),
            schedule: None,
        };
        vec![At { value: load, span }]
    }

    fn is_missing(&self, name: &str) -> bool {
        let read = self.files.read(&self.source.folder.join(name));
        matches!(read, Err(ReadError::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound)
    }

    /// What has been noted, and what there is to say of keys that change nothing.
    fn all_notes(self) -> Result<Vec<String>, SceneError> {
        let mut notes = self.entries.notes.clone();
        notes.extend(self.notes);
        // The default of VegaFEM is to follow the window.
        if self.entries.flag("syncTimestepWithGraphics")?.is_none_or(|own| own.value) {
            notes.push("`syncTimestepWithGraphics`: VegaFEM would step as fast as its window draws; here steps are of `timestep`".into());
        }
        if self.entries.text("outputFilename").is_some() {
            notes.push(
                "`outputFilename`: frames go to Pliant's own folder, not into one of VegaFEM's matrices a step".into(),
            );
        }
        let lists = [
            (keys::WINDOW, "these keys are for VegaFEM's window and change nothing here"),
            (
                keys::THREADS,
                "these keys are for VegaFEM's threads; Pliant uses all cores, with the same results on any number",
            ),
            (keys::UNREAD, "these keys are not read by VegaFEM, nor here: the mesh file gives the stiffness"),
        ];
        for (list, text) in lists {
            let given = self.entries.given(list);
            if !given.is_empty() {
                notes.push(format!("{text}: {}", given.join(", ")));
            }
        }
        notes.push(format!("VegaFEM goes on until its window is closed; this ends after {DURATION} s"));
        Ok(notes)
    }
}

/// Whether a list of vertices has no number.
fn lists_nothing(bytes: &[u8]) -> bool {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    bytes
        .split(|&byte| byte == b'\n')
        .all(|line| line.iter().find(|byte| !is_blank(byte)).is_none_or(|&byte| byte == b'#'))
}

/// The name of a file in a message.
fn shown(name: &str) -> String {
    format!("`{}`", name.escape_debug())
}
