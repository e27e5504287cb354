//! Common part of the point-cache formats: a header, then the positions of the visual surface in every frame.
//!
//! Point caches contain no faces. The surface at rest is in an `.obj` next to them, with vertices in the same order.
//! Several bodies have one file each. Vertices without a face are omitted: Blender omits them when it reads the `.obj`,
//! and then rejects a cache that contains them.

use std::path::PathBuf;

use super::writer_context::Count;
use super::{BodyGeometry, Frame, FrameWriter, Started, WriterContext};
use pliant::files::{Disk, Draft, Files, WriteError};
use pliant::io::Names;
use pliant::io::encode::{Object, write_objects};
use pliant::math::Vec3;
use pliant::mesh::{Faces, SurfaceMesh};

/// Format-specific layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub extension: &'static str,
    /// Function that returns the length of the header \[bytes\] for a number of frames.
    pub head_length: fn(u64) -> u64,
    /// Function that encodes the header from the number of points and the times of the frames since the first \[s\].
    pub head: fn(i32, &[f32]) -> Vec<u8>,
    pub number: fn(f32) -> [u8; 4],
}

struct Cache {
    file: Draft,
    rest: PathBuf,
    /// Vertices of the surface that have a face.
    used: Vec<u32>,
    /// Number of these vertices, in the type of the format.
    points: i32,
}

struct PointCaches {
    context: WriterContext,
    layout: Layout,
    caches: Vec<Cache>,
    count: Count,
    first_time: f64,
    times: Vec<f32>,
}

pub(super) fn start(context: WriterContext, layout: Layout, frames: usize) -> Started {
    let limit = i32::MAX as u64;
    if frames as u64 > limit {
        let (path, format) = (context.path().into(), context.format());
        return Err(WriteError::TooManyFrames { path, format, frames, limit: limit.saturating_mul(12) });
    }
    let bodies = context.geometry().bodies();
    let mut names = Names::ignoring_case();
    let mut caches = Vec::new();
    for body in bodies {
        let (path, rest) = if bodies.len() == 1 {
            (context.path().into(), context.beside("_rest.obj"))
        } else {
            let name = names.take(&file_name(body.name()));
            let path = context.beside(&format!("_{name}.{}", layout.extension));
            (path, context.beside(&format!("_{name}_rest.obj")))
        };
        let used = used_vertices(body.surface());
        let points = i32::try_from(used.len());
        let points = points.map_err(|_| context.unsupported("a surface of more than 2³¹ − 1 vertices"))?;
        let mut file = Draft::new(&path)?;
        file.go_to((layout.head_length)(frames as u64))?;
        caches.push(Cache { file, rest, used, points });
    }
    let count = Count::new(frames);
    Ok(Box::new(PointCaches { context, layout, caches, count, first_time: 0.0, times: Vec::new() }))
}

/// Returns the vertices that have a face, in ascending order.
fn used_vertices(surface: &SurfaceMesh) -> Vec<u32> {
    let mut used = vec![false; surface.vertices().len()];
    surface.faces().vertices().iter().for_each(|&vertex| used[vertex as usize] = true);
    (0..).zip(used).filter_map(|(vertex, used)| used.then_some(vertex)).collect()
}

/// Replaces the characters of a body's name that are unsafe in a file name.
fn file_name(name: &str) -> String {
    name.replace(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_')), "_")
}

impl FrameWriter for PointCaches {
    fn write(&mut self, frame: &Frame) -> Result<(), WriteError> {
        self.count.check_next(self.context.path())?;
        self.context.check(frame)?;
        for (body, cache) in self.caches.iter_mut().enumerate() {
            let positions = self.context.positions(body, frame);
            let used = cache.used.iter().flat_map(|&vertex| positions[vertex as usize].to_array());
            let numbers = used.map(|x| (self.layout.number)(x as f32));
            cache.file.write(numbers.collect::<Vec<[u8; 4]>>().as_flattened())?;
        }
        if self.count.written == 0 {
            self.first_time = frame.time;
        }
        self.times.push((frame.time - self.first_time) as f32);
        self.count.written += 1;
        self.context.done(frame);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.count.check_all(self.context.path())?;
        let mut files = Vec::new();
        for (mut cache, body) in self.caches.into_iter().zip(self.context.geometry().bodies()) {
            Disk.write(&cache.rest, &rest_object(body, &cache.used))?;
            cache.file.go_to(0)?;
            cache.file.write(&(self.layout.head)(cache.points, &self.times))?;
            files.extend([cache.file.path().into(), cache.rest]);
            cache.file.finish()?;
        }
        Ok(files)
    }
}

/// Encodes the surface at rest as an `.obj` with only the vertices that have a face.
fn rest_object(body: &BodyGeometry, used: &[u32]) -> Vec<u8> {
    let surface = body.surface();
    let vertices: Vec<Vec3> = used.iter().map(|&vertex| surface.vertices()[vertex as usize]).collect();
    let mut number = vec![0; surface.vertices().len()];
    (0..).zip(used).for_each(|(new, &vertex)| number[vertex as usize] = new);
    let mut faces = Faces::default();
    for face in surface.faces().iter() {
        faces.push(&face.iter().map(|&vertex| number[vertex as usize]).collect::<Vec<u32>>());
    }
    let mut out = Vec::new();
    write_objects(&mut out, &[Object { name: Some(body.name()), vertices: &vertices, normals: &[], faces: &faces }]);
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{clothed, frames, model_of, two_bodies, write_all};
    use super::super::{Options, SceneGeometry, start};
    use super::{Faces, SurfaceMesh, Vec3};
    use pliant::io::{Mesh, read};
    use pliant::mesh::{Cells, Embedding, generate};
    use pliant::model::{Body, Model};

    #[test]
    fn caches_have_the_vertices_of_the_surface_at_rest_beside_them() {
        let model = two_bodies();
        let all = frames(&model, 3);
        let geometry = SceneGeometry::new(&model);
        for (extension, head, number) in
            [("pc2", 32, f32::from_le_bytes as fn([u8; 4]) -> f32), ("mdd", 8 + 4 * 3, f32::from_be_bytes)]
        {
            let (folder, files) = write_all(&format!("a.{extension}"), 3);
            let names: Vec<&str> = files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
            let cache = |name: &str| format!("a_{name}.{extension}");
            assert_eq!(names, [&cache("body"), "a_body_rest.obj", &cache("body_2"), "a_body_2_rest.obj"]);
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
            for (body, files) in geometry.bodies().iter().zip(files.chunks(2)) {
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
        let mut writer = start(&folder.path().join("a.pc2"), &Arc::new(SceneGeometry::new(&model)), &options).unwrap();
        writer.write(&frames(&model, 1)[0]).unwrap();
        let files = writer.finish().unwrap();
        assert!(files.iter().all(|path| path.parent() == Some(folder.path()) && path.is_file()));
        assert!(files[0].ends_with("a_______etc_x_y.pc2") && files[2].ends_with("a_______etc_X_y_2.pc2"), "{files:?}");
    }

    #[test]
    fn an_embedded_surface_follows_its_body() {
        let model = model_of([generate::block([1.0, 0.5, 0.5], [4, 2, 2], Cells::Hex).unwrap()]);
        let geometry = Arc::new(clothed(&model));
        let folder = tempfile::tempdir().unwrap();
        let options = Options { frames: Some(2), ..Options::default() };
        let mut writer = start(&folder.path().join("a.mdd"), &geometry, &options).unwrap();
        let mut moved = frames(&model, 2);
        // A translation moves embedded points by the same vector.
        for u in moved[1].u.as_chunks_mut::<3>().0 {
            *u = [1.0, 2.0, -3.0];
        }
        moved[0].u.fill(0.0);
        moved.iter().for_each(|frame| writer.write(frame).unwrap());
        let files = writer.finish().unwrap();
        assert!(files[0].ends_with("a.mdd") && files[1].ends_with("a_rest.obj"));
        let bytes = std::fs::read(&files[0]).unwrap();
        let numbers: Vec<f32> = bytes[16..].as_chunks::<4>().0.iter().map(|&b| f32::from_be_bytes(b)).collect();
        let surface = geometry.bodies()[0].surface();
        let (rest, after) = numbers.split_at(3 * surface.vertices().len());
        for (axis, (rest, after)) in rest.iter().zip(after).enumerate() {
            assert!((after - rest - [1.0, 2.0, -3.0][axis % 3]).abs() < 1e-6);
        }
        assert!(rest.iter().copied().eq(surface.vertices().iter().flat_map(Vec3::to_array).map(|x| x as f32)));
    }

    #[test]
    fn vertices_without_a_face_are_in_neither_file() {
        let model = model_of([generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap()]);
        let mut geometry = SceneGeometry::new(&model);
        let points = vec![Vec3::ONE, Vec3::ZERO, Vec3::X, Vec3::splat(0.5), Vec3::Y];
        let embedding = Embedding::new(geometry.bodies()[0].mesh(), &points).unwrap();
        let surface = SurfaceMesh::new(points, Faces::uniform(3, vec![1, 2, 4])).unwrap();
        geometry.attach_visual(0, surface, embedding).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let options = Options { frames: Some(1), ..Options::default() };
        let mut writer = start(&folder.path().join("a.pc2"), &Arc::new(geometry), &options).unwrap();
        let mut frame = frames(&model, 1).remove(0);
        frame.u.fill(0.0);
        writer.write(&frame).unwrap();
        let files = writer.finish().unwrap();
        let Mesh::Surface(rest) = read(&files[1]).unwrap().mesh else { panic!("expected a surface") };
        assert_eq!(rest.vertices(), [Vec3::ZERO, Vec3::X, Vec3::Y]);
        assert_eq!(rest.faces().get(0), [0, 1, 2]);
        let bytes = std::fs::read(&files[0]).unwrap();
        let numbers: Vec<f32> = bytes[32..].as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
        assert!(numbers.iter().zip([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]).all(|(x, y)| (x - y).abs() < 1e-7));
        assert_eq!((bytes[16], numbers.len()), (3, 9));
    }
}
