//! Fixtures for the tests of writers.

use std::path::PathBuf;
use std::sync::Arc;

use tempfile::TempDir;

use super::{BodyGeometry, Frame, Options, SceneGeometry, start};
use pliant::io::{Mesh, read};
use pliant::material::{AnyLaw, YoungPoisson};
use pliant::math::{Affine3, Vec3};
use pliant::mesh::{Cells, Embedding, VolumeMesh, generate};
use pliant::model::{Body, Model, ModelBuilder};
use pliant::system::State;

/// Builds a model of elastic bodies, all called `body`.
pub fn model_of(meshes: impl IntoIterator<Item = VolumeMesh>) -> Model {
    let law = AnyLaw::new("stvk", YoungPoisson { young: 1e6, poisson: 0.3 }).unwrap();
    let bodies = meshes.into_iter().map(|mesh| Body::new(mesh, law.clone(), 1000.0));
    bodies.fold(Model::builder(), ModelBuilder::body).build().unwrap()
}

/// Builds a model of a tetrahedral and a hexahedral body.
pub fn two_bodies() -> Model {
    let tets = generate::block([1.0, 0.5, 0.5], [3, 2, 2], Cells::Tet5).unwrap();
    let hexes = generate::block([1.0, 0.5, 0.5], [2, 2, 1], Cells::Hex).unwrap();
    model_of([tets, hexes.transformed(Affine3::from_translation(Vec3::new(0.0, 2.0, 0.0))).unwrap()])
}

/// Returns a bent and stretched state, scaled by `amount`.
pub fn bend(model: &Model, amount: f64) -> State {
    let mut state = model.rest_state();
    let (q, _) = state.q.as_chunks_mut::<3>();
    for (q, x) in q.iter_mut().zip(model.rest()) {
        *q = [0.1 * amount * x.x, 0.2 * amount * x.x * x.x, -0.1 * amount * x.x * x.y];
    }
    state.v.iter_mut().enumerate().for_each(|(i, v)| *v = amount + i as f64);
    state
}

/// Returns frames with fields, 25 per second.
pub fn frames(model: &Model, count: usize) -> Vec<Frame> {
    let frame = |number: usize| {
        let time = number as f64 * 0.04;
        let state = State { time, ..bend(model, (5.0 * time).sin() + 0.1) };
        Frame::new(model, &state, number, true)
    };
    (0..count).map(frame).collect()
}

/// Attaches a triangulated ball, partly outside the mesh, to the first body.
pub fn clothed(model: &Model) -> SceneGeometry {
    let mut geometry = SceneGeometry::new(model);
    let center = Affine3::from_translation(Vec3::new(0.5, 0.25, 0.25));
    let ball = generate::ball(0.3, 9, Cells::Tet5).unwrap().boundary().surface.transformed(center).unwrap();
    let embedding = Embedding::new(geometry.bodies()[0].mesh(), ball.vertices()).unwrap();
    geometry.attach_visual(0, ball, embedding).unwrap();
    geometry
}

/// Writes frames of two bodies to a file of this name. The folder is deleted when the returned value is dropped.
pub fn write_all(name: &str, count: usize) -> (TempDir, Vec<PathBuf>) {
    let model = two_bodies();
    let folder = tempfile::tempdir().unwrap();
    let options = Options { frames: Some(count), ..Options::default() };
    let mut writer = start(&folder.path().join(name), &Arc::new(SceneGeometry::new(&model)), &options).unwrap();
    frames(&model, count).iter().for_each(|frame| writer.write(frame).unwrap());
    (folder, writer.finish().unwrap())
}

/// Asserts that the files of a series contain the visual surfaces of all bodies, with and without a detailed surface.
pub fn assert_surfaces_read_back(extension: &str) {
    let model = two_bodies();
    for geometry in [SceneGeometry::new(&model), clothed(&model)] {
        let geometry = Arc::new(geometry);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(extension);
        let mut writer = start(&path, &geometry, &Options::default()).unwrap();
        let all = frames(&model, 3);
        all.iter().for_each(|frame| writer.write(frame).unwrap());
        let files = writer.finish().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        for (frame, file) in all.iter().zip(&files) {
            assert_eq!(*file, folder.path().join(format!("a_{:06}.{extension}", frame.number)));
            let Mesh::Surface(surface) = read(file).unwrap().mesh else { panic!("expected a surface") };
            let shown: Vec<Vec3> = geometry.bodies().iter().flat_map(|body| body.surface_positions(&frame.u)).collect();
            assert_eq!(surface.vertices(), shown);
            let (mut first, mut face) = (0, 0);
            for body in geometry.bodies().iter().map(BodyGeometry::surface) {
                for own in body.faces().iter() {
                    assert!(
                        surface.faces().get(face).iter().eq(own.iter().map(|v| v + first).collect::<Vec<_>>().iter())
                    );
                    face += 1;
                }
                first += body.vertices().len() as u32;
            }
            assert_eq!(surface.faces().len(), face);
        }
    }
}
