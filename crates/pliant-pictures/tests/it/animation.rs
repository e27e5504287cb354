//! Animations decode to their input.

use std::io::Cursor;

use pliant_pictures::{Color, Gif, Image, Mp4, PictureError, Size};

fn size() -> Size {
    Size::new(32, 20).unwrap()
}

fn grays(count: u8) -> Vec<Image> {
    (0..count).map(|i| Image::filled(size(), Color([10 * i; 3]))).collect()
}

fn gif(frames: &[Image], seconds: f64) -> Vec<u8> {
    let mut gif = Gif::start(Vec::new(), size(), seconds).unwrap();
    frames.iter().for_each(|frame| gif.add(frame).unwrap());
    gif.finish().unwrap()
}

/// Returns the delay in hundredths of a second and the color of the first pixel of each frame.
fn decoded(bytes: &[u8]) -> Vec<(u16, [u8; 3])> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(Cursor::new(bytes)).unwrap();
    assert_eq!((decoder.width(), decoder.height(), decoder.repeat()), (32, 20, gif::Repeat::Infinite));
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        frames.push((frame.delay, [frame.buffer[0], frame.buffer[1], frame.buffer[2]]));
    }
    frames
}

#[test]
fn a_gif_has_all_frames_in_order() {
    let frames = decoded(&gif(&grays(7), 0.1));
    let expected: Vec<(u16, [u8; 3])> = (0..7).map(|i| (10, [10 * i; 3])).collect();
    assert_eq!(frames, expected);
}

#[test]
fn delays_of_a_gif_add_up_although_each_is_rounded() {
    let thirtieths = decoded(&gif(&grays(15), 1.0 / 30.0));
    assert!(thirtieths.iter().all(|frame| frame.0 == 3 || frame.0 == 4), "{thirtieths:?}");
    assert_eq!(thirtieths.iter().map(|frame| frame.0).sum::<u16>(), 50);
}

#[test]
fn frames_that_do_not_change_still_last() {
    let same = vec![Image::filled(size(), Color([9, 8, 7])); 4];
    let frames = decoded(&gif(&same, 0.05));
    assert_eq!(frames.iter().map(|frame| frame.0).collect::<Vec<_>>(), [5; 4]);
}

#[test]
fn times_that_no_viewer_shows_are_errors() {
    for seconds in [0.0, 0.01, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        let result = Gif::start(Vec::new(), size(), seconds);
        assert!(matches!(result.err(), Some(PictureError::FrameTime { .. })), "{seconds}");
        let result = Mp4::start("never.mp4", size(), 1.0 / seconds.min(1e-9));
        assert!(matches!(result.err(), Some(PictureError::FrameTime { .. })), "{seconds}");
    }
}

#[test]
fn a_frame_of_another_size_is_an_error() {
    let other = Image::filled(Size::new(20, 32).unwrap(), Color([0; 3]));
    let mut gif = Gif::start(Vec::new(), size(), 0.1).unwrap();
    let error = gif.add(&other).unwrap_err();
    assert!(matches!(error, PictureError::FrameSize { .. }), "{error}");
    assert!(error.to_string().contains("20 × 32"), "{error}");
}

#[test]
fn an_mp4_appears_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let odd = Size::new(33, 21).unwrap();
    let mut film = match Mp4::start(&path, odd, 25.0) {
        Err(error @ PictureError::NoFfmpeg) => {
            eprintln!("skipped: {error}");
            return;
        }
        other => other.unwrap(),
    };
    for level in 0..10 {
        film.add(&Image::filled(odd, Color([20 * level; 3]))).unwrap();
    }
    assert!(!path.exists());
    film.finish().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(&bytes[4..8], b"ftyp");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");

    let mut given_up = Mp4::start(folder.path().join("other.mp4"), odd, 25.0).unwrap();
    given_up.add(&Image::filled(odd, Color([0; 3]))).unwrap();
    drop(given_up);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no file of it is left");
}

#[test]
fn an_mp4_in_a_folder_that_does_not_exist_is_an_error_that_names_it() {
    let error = Mp4::start("/nowhere/at/all/film.mp4", size(), 25.0).unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all/film.mp4"), "{error}");
}
