//! Series of Wavefront `.obj` files: visual surfaces with normals, one object per body.

use super::writer_context::Pose;
use super::{AnimationFormat, Content, Frame, WriterContext, series};
use pliant::io::encode::{Object, write_objects};

pub(super) const FORMAT: AnimationFormat = AnimationFormat {
    name: "obj",
    title: "Wavefront OBJ",
    extensions: &["obj"],
    about: "Surfaces as text, which most programs read; one file per frame",
    content: Content::Series(|context| series::start(context, "obj", encode)),
};

fn encode(context: &mut WriterContext, frame: &Frame) -> Vec<u8> {
    let poses: Vec<Pose> = (0..context.geometry().bodies().len()).map(|body| context.pose(body, frame)).collect();
    let bodies = context.geometry().bodies();
    let objects: Vec<Object<'_>> = bodies
        .iter()
        .zip(&poses)
        .map(|(body, pose)| Object {
            name: Some(body.name()),
            vertices: &pose.positions,
            normals: &pose.normals,
            faces: body.surface().faces(),
        })
        .collect();
    let mut out = Vec::new();
    write_objects(&mut out, &objects);
    out
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_surfaces_read_back, write_all};

    #[test]
    fn surfaces_are_read_back_where_they_were() {
        assert_surfaces_read_back("obj");
    }

    #[test]
    fn objects_have_names_and_corners_have_normals() {
        let (_folder, files) = write_all("a.obj", 1);
        let text = std::fs::read_to_string(&files[0]).unwrap();
        let names: Vec<&str> = text.lines().filter(|line| line.starts_with("o ")).collect();
        assert_eq!(names, ["o body", "o body_2"]);
        let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(count("v "), count("vn "));
        let last = text.lines().next_back().unwrap();
        assert!(last.split(' ').skip(1).all(|corner| corner.split_once("//").is_some_and(|(v, n)| v == n)), "{last}");
    }
}
