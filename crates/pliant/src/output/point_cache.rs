//! What point caches have in common: the positions of the shown surface in every frame, after a head. They say nothing of faces:
//! the surface at rest is in an `.obj` beside them, with its vertices in the same order. Several bodies have a file each.

use std::path::PathBuf;

use super::stage::Count;
use super::{Frame, FrameWriter, Stage};
use crate::io::{Disk, Draft, Files, Names, Object, WriteError, write_objects};

/// What is different in each format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub extension: &'static str,
    /// How long the head is, given the number of frames.
    pub head_length: fn(u64) -> u64,
    /// The head, given the number of points and the times of the frames in s, from the first on.
    pub head: fn(i32, &[f32]) -> Vec<u8>,
    pub number: fn(f32) -> [u8; 4],
}

struct Cache {
    file: Draft,
    rest: PathBuf,
    points: i32,
}

struct PointCaches {
    stage: Stage,
    layout: Layout,
    caches: Vec<Cache>,
    count: Count,
    first_time: f64,
    times: Vec<f32>,
}

pub(super) fn start(stage: Stage, layout: Layout, frames: usize) -> Result<Box<dyn FrameWriter>, WriteError> {
    let limit = i32::MAX as u64;
    if frames as u64 > limit {
        let (path, format) = (stage.path().into(), stage.format());
        return Err(WriteError::TooManyFrames { path, format, frames, limit: limit.saturating_mul(12) });
    }
    let bodies = stage.cast().bodies();
    let mut names = Names::ignoring_case();
    let mut caches = Vec::new();
    for body in bodies {
        let (path, rest) = match bodies {
            [_] => (stage.path().into(), stage.beside("_rest.obj")),
            _ => {
                let name = names.take(&file_name(body.name()));
                let path = stage.beside(&format!("_{name}.{}", layout.extension));
                (path, stage.beside(&format!("_{name}_rest.obj")))
            }
        };
        let points = i32::try_from(body.surface().vertices().len());
        let points = points.map_err(|_| stage.unsupported("a surface of more than 2³¹ − 1 vertices"))?;
        let mut file = Draft::new(&path)?;
        file.go_to((layout.head_length)(frames as u64))?;
        caches.push(Cache { file, rest, points });
    }
    let count = Count::new(frames);
    Ok(Box::new(PointCaches { stage, layout, caches, count, first_time: 0.0, times: Vec::new() }))
}

/// The name of a body as a part of the name of a file.
fn file_name(name: &str) -> String {
    name.replace(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')), "_")
}

impl FrameWriter for PointCaches {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.count.check_next(self.stage.path())?;
        self.stage.check(frame)?;
        for (body, cache) in self.caches.iter_mut().enumerate() {
            let positions = self.stage.positions(body, frame);
            let numbers = positions.iter().flat_map(|p| p.to_array()).map(|x| (self.layout.number)(x as f32));
            cache.file.write(numbers.collect::<Vec<[u8; 4]>>().as_flattened())?;
        }
        if self.count.written == 0 {
            self.first_time = frame.time;
        }
        self.times.push((frame.time - self.first_time) as f32);
        self.count.written += 1;
        self.stage.done(frame);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.count.check_all(self.stage.path())?;
        let mut files = Vec::new();
        for (mut cache, body) in self.caches.into_iter().zip(self.stage.cast().bodies()) {
            let (vertices, faces) = (body.surface().vertices(), body.surface().faces());
            let mut rest = Vec::new();
            write_objects(&mut rest, &[Object { name: Some(body.name()), vertices, normals: &[], faces }]);
            Disk.write(&cache.rest, &rest)?;
            cache.file.go_to(0)?;
            cache.file.write(&(self.layout.head)(cache.points, &self.times))?;
            files.extend([cache.file.path().into(), cache.rest]);
            cache.file.finish()?;
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{clothed, frames, model_of, two_bodies, write_all};
    use super::super::{Cast, Options, start};
    use crate::io::{Mesh, read};
    use crate::mesh::{Cells, generate};
    use crate::model::{Body, Model};
    use std::sync::Arc;

    #[test]
    fn caches_have_the_vertices_of_the_surface_at_rest_beside_them() {
        let model = two_bodies();
        let all = frames(&model, 3);
        let cast = Cast::new(&model);
        for (extension, head, number) in
            [("pc2", 32, f32::from_le_bytes as fn([u8; 4]) -> f32), ("mdd", 8 + 4 * 3, f32::from_be_bytes)]
        {
            let (folder, files) = write_all(&format!("a.{extension}"), 3);
            let names: Vec<&str> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
            let cache = |name: &str| format!("a_{name}.{extension}");
            assert_eq!(names, [&cache("body"), "a_body_rest.obj", &cache("body_2"), "a_body_2_rest.obj"]);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
            for (body, files) in cast.bodies().iter().zip(files.chunks(2)) {
                let Mesh::Surface(rest) = read(&files[1]).unwrap().mesh else { panic!("expected a surface") };
                assert_eq!(rest, *body.surface());
                let bytes = std::fs::read(&files[0]).unwrap();
                let points = rest.vertices().len();
                assert_eq!(bytes.len(), head + 3 * points * 12);
                let numbers = bytes[head..].as_chunks::<4>().0.iter().map(|&bytes| number(bytes));
                let expected = all.iter().flat_map(|frame| body.surface_positions(&frame.u));
                let expected = expected.flat_map(|p| p.to_array()).map(|x| x as f32);
                assert!(numbers.eq(expected));
            }
        }
    }

    #[test]
    fn a_body_with_a_wild_name_stays_in_the_folder() {
        let block = generate::block([1.0; 3], [1, 1, 1], Cells::Tet5).unwrap();
        let body = |name: &str| Body::without_elasticity(block.clone(), 1.0).named(name);
        let model = Model::builder().body(body("../../etc/x y")).body(body("______etc_X_y")).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = Options { frames: Some(1), ..Options::default() };
        let mut writer = start(&folder.path().join("a.pc2"), &Arc::new(Cast::new(&model)), &options).unwrap();
        writer.write(&frames(&model, 1)[0]).unwrap();
        let files = writer.finish().unwrap();
        assert!(files.iter().all(|path| path.parent() == Some(folder.path()) && path.is_file()));
        assert!(files[0].ends_with("a_______etc_x_y.pc2") && files[2].ends_with("a_______etc_X_y_2.pc2"), "{files:?}");
    }

    #[test]
    fn an_embedded_surface_follows_its_body() {
        let model = model_of([generate::block([1.0, 0.5, 0.5], [4, 2, 2], Cells::Hex).unwrap()]);
        let cast = Arc::new(clothed(&model));
        let folder = tempfile::tempdir().unwrap();
        let options = Options { frames: Some(2), ..Options::default() };
        let mut writer = start(&folder.path().join("a.mdd"), &cast, &options).unwrap();
        let mut moved = frames(&model, 2);
        // All by one vector, which an embedded point then is moved by too.
        for u in moved[1].u.as_chunks_mut::<3>().0 {
            *u = [1.0, 2.0, -3.0];
        }
        moved[0].u.fill(0.0);
        moved.iter().for_each(|frame| writer.write(frame).unwrap());
        let files = writer.finish().unwrap();
        assert!(files[0].ends_with("a.mdd") && files[1].ends_with("a_rest.obj"));
        let bytes = std::fs::read(&files[0]).unwrap();
        let numbers: Vec<f32> = bytes[16..].as_chunks::<4>().0.iter().map(|&b| f32::from_be_bytes(b)).collect();
        let surface = cast.bodies()[0].surface();
        let (rest, after) = numbers.split_at(3 * surface.vertices().len());
        for (axis, (rest, after)) in rest.iter().zip(after).enumerate() {
            assert!((after - rest - [1.0, 2.0, -3.0][axis % 3]).abs() < 1e-6);
        }
        assert!(rest.iter().copied().eq(surface.vertices().iter().flat_map(|p| p.to_array()).map(|x| x as f32)));
    }
}
