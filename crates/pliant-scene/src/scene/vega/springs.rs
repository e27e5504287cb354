//! Mass–spring bodies: the files that `massSpringSystem…ConfigFilename` names.

use std::ops::Range;

use super::entries::Entries;
use super::keys;
use super::translation::{Translation, shown};
use crate::scene::located::MAX_SCENE;
use crate::scene::quantity::{Density, Stiffness};
use crate::scene::{Located, MaterialChoice, MaterialSettings, Network, SceneError, Source};

/// Mass–spring body, which has springs instead of elements.
pub(super) struct SpringBody {
    /// Mesh whose edges are springs. It is named in another file, so its span is the name of that file in the scene.
    pub mesh: Located<String>,
    pub material: MaterialChoice,
    pub network: Located<Network>,
    pub gravity: bool,
}

/// Keys that name the file, and keys in it that name the mesh.
const KINDS: &[(&str, &str)] = &[
    ("massSpringSystemTetMeshConfigFilename", "tetMeshFilename"),
    ("massSpringSystemCubicMeshConfigFilename", "cubicMeshFilename"),
];

/// Density \[kg/m³\] of VegaFEM's mass–spring bodies. VegaFEM reads a density, but uses the volume of an element as its
/// mass.
const DENSITY: f64 = 1.0;

impl Translation<'_> {
    /// Returns the mass–spring body, if the file defines one.
    pub(super) fn springs(&mut self, stiffness_factor: f64) -> Result<Option<SpringBody>, SceneError> {
        for key in ["massSpringSystemObjConfigFilename", "customMassSpringSystem"] {
            if let Some(found) = self.entries.text(key) {
                let message = "cloth and chains of springs are not supported yet, only tetrahedra and hexahedra";
                return Err(self.source.error(found.span.as_ref(), message));
            }
        }
        let found = KINDS.iter().find_map(|(key, mesh)| Some((self.entries.text(key)?, *mesh)));
        let Some((file, mesh_key)) = found else { return Ok(None) };
        let source = self.spring_file(&file)?;
        let entries = Entries::read(&source, keys::SPRINGS)?;
        // Names in it are relative to the working directory of VegaFEM, which is the folder of the .config file.
        let mesh = Located { value: entries.required_text(mesh_key)?.value, span: file.span.clone() };
        let stiffness = entries.required_number("tensileStiffness")?;
        if stiffness.value <= 0.0 {
            let message = format!("the stiffness is {} N/m, expected a positive value", stiffness.value);
            return Err(source.error(stiffness.span.as_ref(), message));
        }
        let gravity = entries.flag("addGravity")?.is_some_and(|own| own.value);
        self.note_unused(&entries)?;
        self.notes.extend(entries.notes);
        let material =
            MaterialSettings { density: Some(Located::new(Density::new(DENSITY))), ..MaterialSettings::default() };
        let network = Network { stiffness: Stiffness::new(stiffness_factor * stiffness.value), ..Network::default() };
        Ok(Some(SpringBody {
            mesh,
            material: MaterialChoice::Here(Box::new(material)),
            network: Located { value: network, span: file.span },
            gravity,
        }))
    }

    fn note_unused(&mut self, entries: &Entries<'_>) -> Result<(), SceneError> {
        if let Some(density) = entries.number("density")?.filter(|density| density.value != DENSITY) {
            self.notes.push(format!(
                "the `density` of springs, {}, has no effect: masses are those of {DENSITY} kg/m³, as in VegaFEM",
                density.value
            ));
        }
        if let Some(damping) = entries.number("damping")?.filter(|damping| damping.value != 0.0) {
            self.notes
                .push(format!("the `damping` of springs, {}, has no effect, as in VegaFEM's simulator", damping.value));
        }
        Ok(())
    }

    /// Reads the text of a mass–spring file.
    fn spring_file(&self, name: &Located<String>) -> Result<Source, SceneError> {
        let place: Option<&Range<usize>> = name.span.as_ref();
        let path = self.source.folder.join(&name.value);
        let bytes = self.files.read(&path).map_err(|error| self.source.error(place, error.to_string()))?;
        if bytes.len() > MAX_SCENE {
            let message = format!("{} bytes, expected a mass–spring file of at most {MAX_SCENE}", bytes.len());
            return Err(self.source.error(place, message));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("{} is not text, expected a mass–spring file", shown(&name.value));
            self.source.error(place, message)
        })?;
        Ok(Source::new(path, text))
    }
}
