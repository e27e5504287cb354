//! Series of Stanford `.ply` files: the visual surfaces of all bodies in one mesh, with normals.

use super::{AnimationFormat, Content, Frame, WriterContext, series};
use pliant::io::encode::write_polygons;
use pliant::mesh::Faces;

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "ply",
    title: "Stanford PLY",
    extensions: &["ply"],
    about: "Surfaces in a binary format; one file per frame",
    content: Content::Series(|context| series::start(context, "ply", encode)),
};

fn encode(context: &mut WriterContext, frame: &Frame) -> Vec<u8> {
    let (mut positions, mut normals, mut faces) = (Vec::new(), Vec::new(), Faces::default());
    for body in 0..context.geometry().bodies().len() {
        let first = positions.len() as u32;
        let pose = context.pose(body, frame);
        positions.extend(pose.positions);
        normals.extend(pose.normals);
        for face in context.geometry().bodies()[body].surface().faces().iter() {
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
