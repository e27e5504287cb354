//! Faces of the bodies of a model, for surface loads.

use std::collections::BTreeSet;

use super::{Kinematics, Model, ModelBody};
use crate::force::{Patch, PatchError};
use crate::mesh::{ElementFace, Faces};

impl Model {
    /// Returns the faces of named sets of any body, by the node numbers of the model.
    ///
    /// A face set gives exactly its faces. A vertex set gives the boundary faces between its vertices. `surface` and
    /// `all` are the boundaries of all bodies. A set of a body in affine motion is an error, as its corners are not
    /// nodes.
    pub fn patch_named(&self, names: &[String]) -> Result<Patch, PatchError> {
        for name in names {
            if self.bodies.iter().all(|body| body.mesh.faces_named(name).is_none()) {
                let known: BTreeSet<String> =
                    self.bodies.iter().flat_map(|body| body.mesh.named_vertices().into_keys()).collect();
                let known: Vec<String> = known.into_iter().chain(["surface".into()]).collect();
                return Err(PatchError::NoSet { name: name.clone(), known: known.join(", ") });
            }
        }
        let has_name = |body: &ModelBody| names.iter().any(|name| body.mesh.faces_named(name).is_some());
        let affine = self.bodies.iter().find(|body| body.kinematics == Kinematics::Affine && has_name(body));
        if let Some(body) = affine {
            return Err(PatchError::NotNodes { body: body.name.clone() });
        }
        self.patch_of(|body| {
            let named = names.iter().filter_map(|name| body.mesh.faces_named(name));
            let faces: BTreeSet<ElementFace> = named.flatten().collect();
            faces.into_iter().collect()
        })
    }

    /// Returns the boundary faces of all bodies whose vertices are all among those given, by the node numbers of the
    /// model.
    pub fn patch_within(&self, vertices: &[u32]) -> Result<Patch, PatchError> {
        let vertex_count = self.node_count();
        if let Some(&vertex) = vertices.iter().find(|&&vertex| vertex as usize >= vertex_count) {
            return Err(PatchError::NoVertex { vertex, vertex_count });
        }
        let patch = self.patch_of(|body| {
            let own = vertices.iter().filter(|&&vertex| body.nodes.contains(&(vertex as usize)));
            let local: Vec<u32> = own.map(|vertex| vertex - body.nodes.start as u32).collect();
            if local.is_empty() { Vec::new() } else { body.mesh.faces_within(&local) }
        });
        let faces = || self.deformable_bodies().map(|body| body.mesh.boundary().faces.len()).sum();
        match patch {
            Err(PatchError::Empty) => Err(PatchError::NoFace { faces: faces(), vertices: vertices.len() }),
            patch => patch,
        }
    }

    fn patch_of(&self, faces_of: impl Fn(&ModelBody) -> Vec<ElementFace>) -> Result<Patch, PatchError> {
        let mut faces = Faces::default();
        for body in self.deformable_bodies() {
            for face in faces_of(body) {
                let corners = body.mesh.face_vertices(face).map(|vertex| vertex + body.nodes.start as u32);
                faces.push(&corners.collect::<Vec<_>>());
            }
        }
        if faces.is_empty() { Err(PatchError::Empty) } else { Patch::new(self.node_count(), faces) }
    }
}

#[cfg(test)]
mod tests {
    use crate::material::{AnyLaw, YoungPoisson};
    use crate::math::Vec3;
    use crate::mesh::{Cells, VolumeMesh, generate};
    use crate::model::{Body, Model};

    /// Tests two plates one element thick. All their vertices are on the upper or the lower side, but their narrow
    /// sides are in neither set.
    #[test]
    fn faces_are_those_of_sets_of_any_body_by_the_numbers_of_the_model() {
        let mut data = generate::block([1.0, 0.2, 0.05], [10, 2, 1], Cells::Hex).unwrap().into_data();
        let sides = ["z-min", "z-max"].map(|name| data.face_sets[name].clone());
        data.face_sets.insert("both".into(), sides.concat());
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let law = AnyLaw::new("linear", YoungPoisson { young: 1.0, poisson: 0.0 }).unwrap();
        let body = |name: &str| Body::new(mesh.clone(), law.clone(), 1.0).without_mass().named(name);
        let model = Model::builder().body(body("left")).body(body("right")).build().unwrap();
        let area = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            model.patch_named(&names).map(|patch| patch.vertex_areas(model.rest()).iter().sum::<f64>())
        };
        assert!((area(&["both"]).unwrap() - 0.8).abs() < 1e-14);
        assert!((area(&["both", "z-max"]).unwrap() - 0.8).abs() < 1e-14, "a face counts once");
        assert!((area(&["surface"]).unwrap() - 1.04).abs() < 1e-14);
        let unknown = area(&["both", "lid"]).unwrap_err().to_string();
        assert!(unknown.starts_with("there is no face or vertex set `lid`; expected one of both, x-max"), "{unknown}");
        let second: Vec<u32> = (mesh.vertex_count() as u32..2 * mesh.vertex_count() as u32).collect();
        let within = model.patch_within(&second).unwrap();
        assert!((within.vertex_areas(model.rest()).iter().sum::<f64>() - 0.52).abs() < 1e-14);
        let edge = model.patch_within(&[0, 1]).unwrap_err().to_string();
        assert_eq!(edge, "none of the 128 faces of the boundary has all its vertices among the 2 given");
        assert_eq!(model.gravity(), Vec3::ZERO);
        let missing = model.check_mass("gravity").unwrap_err().to_string();
        assert_eq!(
            missing,
            "body `left`: gravity needs mass, but the body has no density; give its material a density"
        );
        assert!(model.fixed_mask().iter().all(|fixed| !fixed), "vertices without mass are not unused");
    }
}
