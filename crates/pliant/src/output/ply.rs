//! Series of Stanford's `.ply`: the shown surfaces of all bodies in one, with normals.

use super::{AnimationFormat, Frame, Stage, Start, series};
use crate::io::write_polygons;
use crate::mesh::Faces;

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "Stanford PLY",
    extensions: &["ply"],
    about: "a file a frame: surfaces with normals, binary, all bodies in one",
    start: Start::Series(|stage| series::start(stage, "ply", encode)),
};

fn encode(stage: &mut Stage, frame: &Frame) -> Vec<u8> {
    let (mut positions, mut normals, mut faces) = (Vec::new(), Vec::new(), Faces::default());
    for body in 0..stage.cast().bodies().len() {
        let first = positions.len() as u32;
        let pose = stage.pose(body, frame);
        positions.extend(pose.positions);
        normals.extend(pose.normals);
        for face in stage.cast().bodies()[body].surface().faces().iter() {
            faces.push(&face.iter().map(|vertex| first + vertex).collect::<Vec<u32>>());
        }
    }
    let mut out = Vec::new();
    write_polygons(&mut out, &positions, &normals, &faces, false);
    out
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_surfaces_read_back;

    #[test]
    fn surfaces_are_read_back_where_they_were() {
        assert_surfaces_read_back("ply");
    }
}
