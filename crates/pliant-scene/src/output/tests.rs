//! Tests of all formats.

use std::path::Path;
use std::sync::Arc;

use pliant::files::WriteError;

use super::testing::{frames, two_bodies};
use super::*;

fn start_with(path: &Path, frames: Option<usize>) -> Result<Box<dyn FrameWriter>, WriteError> {
    start(path, &Arc::new(SceneGeometry::new(&two_bodies())), &Options { frames, ..Options::default() })
}

fn files(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn extensions_are_unique_and_lower_case() {
    let mut all: Vec<&str> = FORMATS.iter().flat_map(|format| format.extensions).copied().collect();
    assert!(all.iter().all(|extension| extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())));
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    for format in FORMATS.iter() {
        assert!(!format.about.is_empty() && !format.about.contains('\n') && !format.about.ends_with('.'));
    }
}

#[test]
fn a_folder_that_is_missing_or_a_file_is_an_error_for_every_format_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), "").unwrap();
    let frame = &frames(&two_bodies(), 1)[0];
    for format in AnimationFormat::of_meshes() {
        for parent in ["missing", "file"] {
            let path = folder.path().join(parent).join("a").with_extension(format.extensions[0]);
            let written = start_with(&path, Some(1)).and_then(|mut writer| {
                writer.write(frame)?;
                writer.finish()
            });
            let message = written.unwrap_err().to_string();
            assert!(message.contains(parent) && message.contains("there is no folder"), "{message}");
        }
    }
    assert_eq!(files(folder.path()), 1);
    assert_eq!(std::fs::read(folder.path().join("file")).unwrap(), b"");
}

#[test]
fn a_folder_that_vanishes_is_an_error_that_names_the_file() {
    for format in AnimationFormat::of_meshes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extensions[0]);
        let all = frames(&two_bodies(), 2);
        let mut writer = start_with(&path, Some(2)).unwrap();
        writer.write(&all[0]).unwrap();
        std::fs::remove_dir_all(folder.path()).unwrap();
        let written = writer.write(&all[1]).and_then(|()| writer.finish().map(|_| ()));
        let message = written.unwrap_err().to_string();
        assert!(message.starts_with(&*folder.path().to_string_lossy()), "{message}");
    }
}

#[test]
fn frames_that_do_not_fit_are_errors_that_leave_the_earlier_ones_alone() {
    let model = two_bodies();
    let good = frames(&model, 2);
    let bad = |change: &dyn Fn(&mut Frame)| {
        let mut frame = good[1].clone();
        change(&mut frame);
        frame
    };
    let bad = [
        (bad(&|frame| frame.u.truncate(3)), "3 displacements, expected"),
        (bad(&|frame| frame.v.push(0.0)), "velocities, expected"),
        (bad(&|frame| frame.u[4] = f64::NAN), "vertex 1 has no finite position"),
        (bad(&|frame| frame.v[3] = f64::INFINITY), "vertex 1 has no finite velocity"),
        (bad(&|frame| frame.u[0] = 1e200), "vertex 0 has no finite position"),
        (bad(&|frame| frame.time = f64::NAN), "its time is NaN"),
        (bad(&|frame| frame.number = 0), "its number does not exceed that of the previous frame, 0"),
        (
            bad(&|frame| frame.fields.as_mut().unwrap().elements.von_mises.truncate(2)),
            "fields for 2 elements, expected",
        ),
        (bad(&|frame| frame.fields.as_mut().unwrap().vertices.strain.truncate(4)), "fields for 4 vertices, expected"),
        (bad(&|frame| frame.reactions = Some(vec![0.0; 5])), "5 reactions, expected"),
        (
            bad(&|frame| {
                frame.contact = Some(ContactFields { pressure: vec![0.0; 2], ..ContactFields::default() });
            }),
            "contact at 2 vertices, expected",
        ),
    ];
    for format in AnimationFormat::of_meshes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extensions[0]);
        let mut writer = start_with(&path, Some(2)).unwrap();
        writer.write(&good[0]).unwrap();
        let before = files(folder.path());
        for (frame, expected) in &bad {
            let message = writer.write(frame).unwrap_err().to_string();
            assert!(message.contains(expected), "{message}\n{expected}");
        }
        assert_eq!(files(folder.path()), before);
        writer.write(&good[1]).unwrap();
        assert!(writer.finish().unwrap().iter().all(|path| path.is_file()));
    }
}

#[test]
fn one_file_takes_the_number_of_frames_that_was_said_and_no_other() {
    let all = frames(&two_bodies(), 3);
    for format in AnimationFormat::of_meshes().filter(|format| !format.is_series()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format.extensions[0]);
        let message = |frames| start_with(&path, frames).err().unwrap().to_string();
        assert!(message(None).contains("cannot store an animation whose number of frames is not given"));
        assert!(message(Some(0)).contains("cannot store an animation without frames"));
        let mut writer = start_with(&path, Some(2)).unwrap();
        writer.write(&all[0]).unwrap();
        let few = writer.finish().unwrap_err().to_string();
        assert!(few.contains("expected 2 frames, got 1"), "{few}");
        assert_eq!(files(folder.path()), 0);
        let mut writer = start_with(&path, Some(2)).unwrap();
        writer.write(&all[0]).unwrap();
        writer.write(&all[1]).unwrap();
        let many = writer.write(&all[2]).unwrap_err().to_string();
        assert!(many.contains("expected 2 frames, got 3"), "{many}");
        drop(writer);
        assert_eq!(files(folder.path()), 0);
    }
}

#[test]
fn writers_can_be_given_to_another_thread() {
    let folder = tempfile::tempdir().unwrap();
    let all = frames(&two_bodies(), 2);
    for format in AnimationFormat::of_meshes() {
        let path = folder.path().join("a").with_extension(format.extensions[0]);
        let mut writer = start_with(&path, Some(2)).unwrap();
        let finished = std::thread::scope(|scope| {
            let write = || {
                all.iter().try_for_each(|frame| writer.write(frame))?;
                writer.finish()
            };
            scope.spawn(write).join().unwrap()
        });
        assert!(!finished.unwrap().is_empty());
    }
}

#[test]
fn an_unknown_extension_lists_those_that_are_known() {
    let message = start_with(Path::new("a.xyz"), None).err().unwrap().to_string();
    assert!(message.contains("expected a name that ends in one of .vtu, .pvd, .obj, .ply, .glb, .pc2, .mdd"));
}
