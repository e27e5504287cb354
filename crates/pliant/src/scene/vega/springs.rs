//! Bodies of springs: the files that `massSpringSystem…ConfigFilename` names.

use std::ops::Range;

use super::entries::Entries;
use super::{Translation, keys, shown};
use crate::scene::place::LARGEST_SCENE;
use crate::scene::quantity::{Density, Stiffness};
use crate::scene::{At, Material, MaterialChoice, Network, SceneError, Source};

/// What there is instead of elements.
pub(super) struct SpringBody {
    /// The mesh whose edges are springs; named in another file than the scene, so that it has the place of that one's name.
    pub mesh: At<String>,
    pub material: MaterialChoice,
    pub network: At<Network>,
    pub gravity: bool,
}

/// The key that names the file, and the key in it that names the mesh.
const KINDS: &[(&str, &str)] = &[
    ("massSpringSystemTetMeshConfigFilename", "tetMeshFilename"),
    ("massSpringSystemCubicMeshConfigFilename", "cubicMeshFilename"),
];

/// The density of VegaFEM's springs: it reads one, and then takes the volume of an element for its mass.
const DENSITY: f64 = 1.0;

impl Translation<'_> {
    /// The body of springs, if the file asks for one.
    pub(super) fn springs(&mut self, stiffness_factor: f64) -> Result<Option<SpringBody>, SceneError> {
        for key in ["massSpringSystemObjConfigFilename", "customMassSpringSystem"] {
            if let Some(found) = self.entries.text(key) {
                let message = "Pliant has bodies of tetrahedra and hexahedra, not yet cloth or chains of springs";
                return Err(self.source.error(found.span.as_ref(), message));
            }
        }
        let found = KINDS.iter().find_map(|(key, mesh)| Some((self.entries.text(key)?, *mesh)));
        let Some((file, mesh_key)) = found else { return Ok(None) };
        let source = self.spring_file(&file)?;
        let entries = Entries::read(&source, keys::SPRINGS)?;
        // Names in it count from where VegaFEM is started, which is beside the .config file: as names in that file do.
        let mesh = At { value: entries.required_text(mesh_key)?.value, span: file.span.clone() };
        let stiffness = entries.required_number("tensileStiffness")?;
        if stiffness.value <= 0.0 {
            let message = format!("the stiffness is {} N/m, expected a positive one", stiffness.value);
            return Err(source.error(stiffness.span.as_ref(), message));
        }
        let gravity = entries.flag("addGravity")?.is_some_and(|own| own.value);
        self.note_unused(&entries)?;
        self.notes.extend(entries.notes);
        let material = Material { density: Some(At::new(Density::new(DENSITY))), ..Material::default() };
        let network = Network { stiffness: Stiffness::new(stiffness_factor * stiffness.value), ..Network::default() };
        Ok(Some(SpringBody {
            mesh,
            material: MaterialChoice::Here(Box::new(material)),
            network: At { value: network, span: file.span },
            gravity,
        }))
    }

    fn note_unused(&mut self, entries: &Entries<'_>) -> Result<(), SceneError> {
        if let Some(density) = entries.number("density")?.filter(|density| density.value != DENSITY) {
            self.notes.push(format!(
                "VegaFEM reads the `density` of springs, {}, but gives particles the mass of {DENSITY} kg/m³, and so does Pliant",
                density.value
            ));
        }
        if let Some(damping) = entries.number("damping")?.filter(|damping| damping.value != 0.0) {
            self.notes.push(format!(
                "VegaFEM's simulator reads the `damping` of springs, {}, but does not apply it, nor does Pliant",
                damping.value
            ));
        }
        Ok(())
    }

    /// The text of a file of springs.
    fn spring_file(&self, name: &At<String>) -> Result<Source, SceneError> {
        let place: Option<&Range<usize>> = name.span.as_ref();
        let path = self.source.folder.join(&name.value);
        let bytes = self.files.read(&path).map_err(|error| self.source.error(place, error.to_string()))?;
        if bytes.len() > LARGEST_SCENE {
            let message = format!("{} bytes, expected a file of springs of at most {LARGEST_SCENE}", bytes.len());
            return Err(self.source.error(place, message));
        }
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("{} is not text, expected a file of springs", shown(&name.value));
            self.source.error(place, message)
        })?;
        Ok(Source::new(path, text))
    }
}
