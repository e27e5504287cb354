//! Construction of scenes by programs, without a file.

use std::collections::BTreeMap;

use super::quantity::Time;
use super::{FormatVersion, Located, Mass, MeshSource, Object, Output, Scene, Settings, Up};

impl Scene {
    /// Returns a scene without objects. Everything except the settings has the defaults of a scene file.
    pub fn new(settings: Settings) -> Self {
        Self {
            version: FormatVersion,
            title: None,
            about: None,
            up: Up::default(),
            gravity: None,
            simulation: Located::new(settings),
            reduced: None,
            materials: BTreeMap::new(),
            objects: Vec::new(),
            fixed: Vec::new(),
            handles: Vec::new(),
            springs: Vec::new(),
            loads: Vec::new(),
            contact: None,
            obstacles: Vec::new(),
            damping: Located::default(),
            probes: Vec::new(),
            output: Located::new(Output::default()),
            expect: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the default settings for time steps of `step` until `duration`.
    pub fn new(step: Time, duration: Time) -> Self {
        Self {
            step: Located::new(step),
            duration: Located::new(duration),
            integrator: Located::default(),
            halvings: Self::HALVINGS,
            solver: Located::default(),
            mass: Mass::default(),
            restart_every: Located::new(Self::RESTART_EVERY),
        }
    }
}

impl Object {
    /// Returns a body at rest, with the position and the materials of its mesh file.
    pub fn new(mesh: MeshSource) -> Self {
        Self {
            name: None,
            mesh: Located::new(mesh),
            refine: Located::new(0),
            split: None,
            scale: None,
            rotate: None,
            translate: Default::default(),
            material: None,
            regions: Vec::new(),
            network: None,
            parts: None,
            velocity: Default::default(),
            velocities: None,
            spin: Default::default(),
            start: None,
            skin: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SceneFile, Source};
    use super::*;

    #[test]
    fn what_programs_build_is_what_a_file_that_says_nothing_else_means() {
        let text = "[simulation]\nstep = 0.01\nduration = 2\n[[object]]\nmesh = \"a.veg\"\n";
        let read = SceneFile::parse(Source::new("a.toml", text)).unwrap().scene;
        let mut built = Scene::new(Settings::new(Time::new(0.01), Time::new(2.0)));
        built.objects.push(Located::new(Object::new(MeshSource::File("a.veg".into()))));
        assert_eq!(built, read);
    }
}
