//! Scenes and their parts from values of a program, such as dictionaries of Python.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use super::include::wrong;
use super::tree::{Node, parse};
use super::{SceneError, SceneFile, Source};
use pliant::files::Files;

impl SceneFile {
    /// Parses a scene from nested tables, as in a scene file. Errors name the key, as in `object[0].mesh`. Relative
    /// names of files, which may be included ones, refer to `folder`.
    pub fn from_value(files: &dyn Files, value: Value, folder: impl Into<PathBuf>) -> Result<Self, SceneError> {
        let (root, source) = node(value, "", folder);
        Self::of_node(Some(files), source, root)
    }
}

/// Parses a part of a scene, such as the options of an integrator. `name` names the value in errors.
pub fn part_from_value<T: for<'de> Deserialize<'de>>(value: Value, name: &str) -> Result<T, SceneError> {
    let (root, source) = node(value, name, "");
    parse(&root).map_err(|error| wrong(&source, &error))
}

/// Returns the value with its locations.
fn node(value: Value, name: &str, folder: impl Into<PathBuf>) -> (Node, Source) {
    let mut keys = String::new();
    let root = Node::of_json(value, name, &mut keys);
    (root, Source::keys(keys, folder))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scene::integrator::Newmark;
    use crate::scene::{IntegratorChoice, Source};
    use pliant::files::Disk;

    fn cube() -> Value {
        json!({
            "object": [{
                "mesh": { "box": { "size": [1, "10 cm", 0.1], "cells": [2, 1, 1] } },
                "material": { "law": "stvk", "young": "1 MPa", "poisson": 0.3, "density": 1000 },
            }],
            "fixed": [{ "vertices": { "sphere": { "center": [0, 0, 0], "radius": 1 } } }],
            "simulation": {
                "step": 0.01,
                "duration": "1 s",
                "integrator": { "newmark": { "beta": 0.3, "newton": { "tolerance": 1e-6 } } },
                "solver": "direct",
            },
        })
    }

    #[test]
    fn a_scene_of_values_is_that_of_the_same_text() {
        let text = toml::to_string(&cube()).unwrap();
        let read = SceneFile::parse(Source::new("a.toml", text)).unwrap();
        assert_eq!(SceneFile::from_value(&Disk, cube(), "").unwrap().scene, read.scene);
        assert_eq!(read.scene.simulation.integrator.options::<Newmark>().unwrap().beta, 0.3);
    }

    #[test]
    fn errors_name_the_key_of_the_wrong_value() {
        for (pointer, value, message) in [
            ("/object/0/material/young", json!("1 m"), "object[0].material.young: "),
            ("/object/0/mesh/box/cells", json!([2, 1]), "object[0].mesh.box.cells: "),
            ("/object/0/mesh/box/size/1", json!(true), "object[0].mesh.box.size[1]: "),
            (
                "/object/0/mesh/box",
                json!({ "size": [1, 1, 1], "cells": [1, 1, 1], "sides": 1 }),
                "object[0].mesh.box: ",
            ),
            ("/object/0/mesh/box/cells", json!([2, 1, 1, 1]), "object[0].mesh.box.cells: 4 entries, expected 3"),
            (
                "/object/0/mesh",
                json!({ "bax": {} }),
                "object[0].mesh: there is no value `bax` here; did you mean `box`?",
            ),
            ("/simulation/integrator/newmark/beta", json!("x"), "simulation.integrator"),
            ("/simulation/solver", json!(null), "simulation.solver: "),
            ("/simulation/step", json!("1 kg"), "simulation.step: "),
            (
                "/fixed/0/vertices",
                json!({ "sphere": { "center": [0, 0, 0] } }),
                "fixed[0].vertices.sphere: the key `radius` is missing",
            ),
        ] {
            let mut scene = cube();
            *scene.pointer_mut(pointer).unwrap() = value;
            let error = SceneFile::from_value(&Disk, scene, "").unwrap_err().to_string();
            assert!(error.starts_with(message), "{pointer}: {error}");
        }
        for value in [json!(null), json!([]), json!("scene"), json!({})] {
            SceneFile::from_value(&Disk, value, "").unwrap_err();
        }
    }

    #[test]
    fn errors_of_building_a_scene_name_the_key_too() {
        let mut scene = cube();
        scene["object"][0]["material"]["law"] = json!("jelly");
        let error = SceneFile::from_value(&Disk, scene, "").unwrap().build(&Disk).unwrap_err().to_string();
        assert!(error.starts_with("object[0].material.law: "), "{error}");
    }

    #[test]
    fn options_of_an_integrator_are_parsed_alone() {
        let choice = |value| part_from_value::<IntegratorChoice>(value, "integrator").map_err(|error| error.message);
        assert_eq!(choice(json!({ "newmark": { "beta": 0.3 } })).unwrap().name(), "newmark");
        let error = choice(json!({ "newmark": { "bta": 0.3 } })).unwrap_err();
        assert!(error.starts_with("integrator.newmark: there is no key `bta` here; did you mean `beta`?"), "{error}");
    }
}
