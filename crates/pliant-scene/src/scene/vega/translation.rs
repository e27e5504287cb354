//! Translation of the entries of a file into a scene.

use std::io::ErrorKind;

use pliant::files::{Files, ReadError};
use pliant::io::{self, Mesh};
use pliant::math::Vec3;
use pliant::mesh::Moduli;

use super::entries::Entries;
use super::keys::{self, keys};
use super::steps::Steps;
use crate::scene::integrator::{ExplicitEuler, SymplecticEuler};
use crate::scene::load;
use crate::scene::quantity::{Pressure, Rate, Time, vector};
use crate::scene::{
    Damping, EARTH, Fixed, IntegratorChoice, Inverted, Load, LoadChoice, Located, MaterialChoice, MaterialSettings,
    MaterialTangent, MeshSource, Object, ObjectRegion, Scene, SceneError, SceneFile, Selection, Skin, Source, Start,
    Where,
};

/// Simulated time \[s\]; VegaFEM runs until its window is closed.
pub(super) const DURATION: f64 = 5.0;

/// Elastic model of a body.
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

/// Laws of `invertibleMaterial`, and their names in Pliant.
const LAWS: &[(&str, &str)] = &[("StVK", "stvk"), ("neoHookean", "neo-hookean"), ("MooneyRivlin", "mooney-rivlin")];

/// VegaFEM's default `compressionResistance`.
const COMPRESSION_RESISTANCE: f64 = 500.0;

/// Translation of a `.config` file into a scene.
pub(super) struct Translation<'a> {
    pub files: &'a dyn Files,
    pub source: &'a Source,
    pub entries: Entries<'a>,
    pub notes: Vec<String>,
}

/// Translates the text of a `.config` file and the files that it names into a scene.
pub(in crate::scene) fn read(files: &dyn Files, source: Source) -> Result<SceneFile, SceneError> {
    let entries = Entries::read(&source, &keys().collect::<Vec<_>>())?;
    let (scene, notes) = Translation { files, source: &source, entries, notes: Vec::new() }.scene()?;
    Ok(SceneFile { scene, source, notes })
}

impl Translation<'_> {
    fn scene(mut self) -> Result<(Scene, Vec<String>), SceneError> {
        let scaling = self.entries.number_or("frequencyScaling", 1.0)?;
        if scaling.value <= 0.0 {
            let message = format!("`frequencyScaling` is {}, expected a positive number", scaling.value);
            return Err(self.source.error(scaling.span.as_ref(), message));
        }
        // Frequencies are proportional to the square root of the stiffness.
        let factor = scaling.value * scaling.value;
        let springs = self.springs(factor)?;
        let method = if springs.is_some() {
            None
        } else {
            Some(self.entries.choice("deformableObjectMethod", METHODS)?.unwrap_or(Located::new(Method::Stvk)))
        };
        let steps = self.steps(springs.is_some())?;
        let gravity = self.gravity(springs.as_ref().is_some_and(|own| own.gravity), method.as_ref(), factor)?;
        let damping = self.damping(&steps.settings.integrator.value)?;
        let (mesh, material, network, regions) = if let Some(body) = springs {
            (body.mesh, Located::new(body.material), Some(body.network), Vec::new())
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
            fixed: self.fixed(),
            loads: self.loads(&steps),
            objects: vec![Located { value: object, span: mesh.span }],
            damping,
            ..Scene::new(steps.settings)
        };
        let notes = self.all_notes()?;
        Ok((scene, notes))
    }

    /// Returns gravity, multiplied by `factor` because VegaFEM scales it with the internal forces.
    fn gravity(&mut self, of_springs: bool, method: Option<&Located<Method>>, factor: f64) -> Result<Vec3, SceneError> {
        let is_on = self.entries.flag("addGravity")?.is_some_and(|own| own.value) || of_springs;
        let g = self.entries.number_or("g", EARTH)?.value;
        if !is_on {
            return Ok(Vec3::ZERO);
        }
        if method.is_some_and(|method| matches!(method.value, Method::Corotational | Method::Linear)) {
            self.notes.push("`addGravity`: VegaFEM ignores gravity with CLFEM and LinearFEM; Pliant applies it".into());
        }
        Ok(Vec3::new(0.0, -g * factor, 0.0))
    }

    fn damping(&mut self, integrator: &IntegratorChoice) -> Result<Located<Damping>, SceneError> {
        let mass = self.entries.required_number("dampingMassCoef")?;
        let mut stiffness = self.entries.required_number("dampingStiffnessCoef")?;
        let laplacian = self.entries.number_or("dampingLaplacianCoef", 0.0)?;
        if laplacian.value != 0.0 {
            let message =
                "damping by the Laplacian of the mesh is not supported yet; give 0 and use `dampingStiffnessCoef`";
            return Err(self.source.error(laplacian.span.as_ref(), message));
        }
        if (integrator.is::<ExplicitEuler>() || integrator.is::<SymplecticEuler>()) && stiffness.value != 0.0 {
            self.notes.push("`dampingStiffnessCoef`: Euler and symplecticEuler ignore it, as in VegaFEM".into());
            stiffness.value = 0.0;
        }
        let span = if mass.value < 0.0 { mass.span } else { stiffness.span };
        Ok(Located { value: Damping { mass: Rate::new(mass.value), stiffness: Time::new(stiffness.value) }, span })
    }

    /// Returns the material law, whose coefficients are in the mesh file.
    fn material(&self, method: Option<&Located<Method>>) -> Result<Located<MaterialChoice>, SceneError> {
        let span = method.and_then(|method| method.span.clone());
        let mut material = MaterialSettings::default();
        let mut law = |name: &str, span| material.law = Some(Located { value: name.to_owned(), span });
        match method.map_or(Method::Stvk, |method| method.value) {
            Method::Stvk => law("stvk", span.clone()),
            Method::Linear => law("linear", span.clone()),
            Method::Corotational => {
                let warp = self.entries.integer("corotationalLinearFEM_warp")?.unwrap_or(Located::new(1));
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
                material.tangent = tangent.map(|tangent| Located { value: tangent, span: warp.span });
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
        Ok(Located { value: MaterialChoice::Here(Box::new(material)), span })
    }

    fn invertible(&self, material: &mut MaterialSettings) -> Result<(), SceneError> {
        let threshold = match self.entries.number("inversionThreshold")? {
            Some(threshold) => Some(threshold),
            // Name of the key in older versions.
            None => self.entries.number("principalStretchThreshold")?,
        };
        // VegaFEM clamps no stretches without a threshold, or with one that is not positive.
        if let Some(threshold) = threshold.filter(|threshold| threshold.value > 0.0) {
            material.inversion = Some(Located { value: Inverted::Clamp, span: threshold.span.clone() });
            material.inversion_threshold = Some(threshold);
        }
        if self.entries.flag("enableCompressionResistance")?.is_none_or(|own| own.value) {
            let resistance = self.entries.number_or("compressionResistance", COMPRESSION_RESISTANCE)?;
            material.compression_resistance = Some(resistance);
        }
        Ok(())
    }

    /// Returns the regions of the mesh with their stiffness multiplied by `factor`; empty if it is 1.
    fn scaled_regions(
        &mut self,
        mesh: &Located<String>,
        material: &Located<MaterialChoice>,
        factor: f64,
    ) -> Vec<Located<ObjectRegion>> {
        if factor == 1.0 {
            return Vec::new();
        }
        let MaterialChoice::Here(usual) = &material.value else { return Vec::new() };
        // Errors of the mesh are reported when the scene is built.
        let Ok(loaded) = io::read_from(self.files, &self.source.folder.join(&mesh.value)) else { return Vec::new() };
        let Mesh::Volume(volume) = loaded.mesh else { return Vec::new() };
        let mut regions = Vec::new();
        for region in volume.regions() {
            let mut scaled = (**usual).clone();
            match region.material.as_ref().and_then(|own| own.moduli.as_ref()) {
                Some(Moduli::Isotropic { young, poisson }) => {
                    scaled.young = Some(Located::new(Pressure::new(factor * young)));
                    scaled.poisson = Some(Located::new(*poisson));
                }
                Some(Moduli::MooneyRivlin { mu01, mu10, v1 }) => {
                    let names = [("mu01", mu01), ("mu10", mu10), ("v1", v1)];
                    let scale = |(name, value): (&str, &f64)| (name.to_owned(), Pressure::new(factor * value));
                    scaled.coefficients = Some(Located::new(names.map(scale).into()));
                }
                Some(Moduli::Orthotropic { .. }) | None => continue,
            }
            let material = Located { value: MaterialChoice::Here(Box::new(scaled)), span: material.span.clone() };
            let name = Located { value: region.name.clone(), span: mesh.span.clone() };
            regions.push(Located::new(ObjectRegion { name, elements: None, material }));
        }
        self.notes.push(format!("`frequencyScaling`: stiffness and gravity are multiplied by its square, {factor}"));
        regions
    }

    fn start(&self) -> Option<Located<Start>> {
        let file = self.entries.text("initialPositionFilename")?;
        Some(Located { value: Start::Displacements(file.value), span: file.span })
    }

    fn skin(&mut self) -> Option<Located<Skin>> {
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
                "`secondaryRenderingMeshInterpolationFilename`: there is no file {name}; vertices are embedded in the elements that contain them"
            ));
        }
        let span = mesh.span.clone();
        Some(Located {
            value: Skin { mesh: Located { value: MeshSource::File(mesh.value), span: mesh.span }, interpolation },
            span,
        })
    }

    fn fixed(&self) -> Vec<Located<Fixed>> {
        let Some(file) = self.entries.text("fixedVerticesFilename") else { return Vec::new() };
        let bytes = self.files.read(&self.source.folder.join(&file.value));
        // In VegaFEM an empty list fixes no vertices. A missing file is reported when the scene is built.
        if bytes.is_ok_and(|bytes| lists_nothing(&bytes)) {
            return Vec::new();
        }
        let span = file.span;
        let fixed = Fixed {
            object: None,
            vertices: Located { value: Selection::Where(Where::File(file.value)), span: span.clone() },
            axes: Located::new("xyz".into()),
            motion: None,
        };
        vec![Located { value: fixed, span }]
    }

    fn loads(&self, steps: &Steps) -> Vec<Located<Load>> {
        let Some(file) = self.entries.text("forceLoadsFilename") else { return Vec::new() };
        let span = file.span.clone();
        // A column applies to all substeps of a step.
        let interval = steps.has_substeps().then(|| Time::new(steps.interval));
        let mut load = Load::new(LoadChoice::of(load::Steps { file: file.value, interval }));
        load.kind.span.clone_from(&span);
        vec![Located { value: load, span }]
    }

    fn is_missing(&self, name: &str) -> bool {
        let read = self.files.read(&self.source.folder.join(name));
        matches!(read, Err(ReadError::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound)
    }

    /// Returns all notes, including those on keys that have no effect.
    fn all_notes(self) -> Result<Vec<String>, SceneError> {
        let mut notes = self.entries.notes.clone();
        notes.extend(self.notes);
        // VegaFEM's default is true.
        if self.entries.flag("syncTimestepWithGraphics")?.is_none_or(|own| own.value) {
            notes.push("`syncTimestepWithGraphics`: VegaFEM adapts its steps to the rate at which its window draws; Pliant always uses `timestep`".into());
        }
        if self.entries.text("outputFilename").is_some() {
            notes.push(
                "`outputFilename`: frames are written to Pliant's output folder, not to one VegaFEM matrix per step"
                    .into(),
            );
        }
        let lists = [
            (keys::WINDOW, "these keys are for VegaFEM's window and have no effect"),
            (
                keys::THREADS,
                "these keys are for VegaFEM's threads; Pliant uses all cores, and results do not depend on their number",
            ),
            (keys::UNREAD, "these keys are ignored, as in VegaFEM; the mesh file gives the stiffness"),
        ];
        for (list, text) in lists {
            let given = self.entries.given(list);
            if !given.is_empty() {
                notes.push(format!("{text}: {}", given.join(", ")));
            }
        }
        notes.push(format!("VegaFEM runs until its window is closed; this scene ends after {DURATION} s"));
        Ok(notes)
    }
}

/// Returns true if a list of vertices is empty.
fn lists_nothing(bytes: &[u8]) -> bool {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b',';
    bytes
        .split(|&byte| byte == b'\n')
        .all(|line| line.iter().find(|byte| !is_blank(byte)).is_none_or(|&byte| byte == b'#'))
}

/// Quotes the name of a file for a message.
pub(super) fn shown(name: &str) -> String {
    format!("`{}`", name.escape_debug())
}
