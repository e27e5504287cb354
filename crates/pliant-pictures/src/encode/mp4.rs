use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use tempfile::TempPath;

use super::{check_size, check_time};
use crate::{Colour, Image, PictureError, Size};

/// An MP4 (H.264), written frame by frame by the program `ffmpeg`.
///
/// The file appears under its name when it is finished; until then, and after a failure, what was there stays.
#[derive(Debug)]
pub struct Mp4 {
    program: Child,
    /// `None` once it was told that there are no more frames.
    frames: Option<ChildStdin>,
    messages: File,
    unfinished: Option<TempPath>,
    path: PathBuf,
    size: Size,
}

impl Mp4 {
    /// The shortest and the longest time of a frame, in seconds.
    pub const FRAME_TIME: (f64, f64) = (0.001, 600.0);

    /// Encodes one frame and discards it. Returns the error that a film of this size would end with.
    pub fn check(size: Size) -> Result<(), PictureError> {
        let folder = tempfile::tempdir()?;
        let mut film = Self::start(folder.path().join("trial.mp4"), size, 30.0)?;
        film.add(&Image::filled(size, Colour::OBSTACLE))?;
        film.finish()
    }

    /// Starts a film with so many frames a second.
    pub fn start(path: impl Into<PathBuf>, size: Size, frames_per_second: f64) -> Result<Self, PictureError> {
        check_time(1.0 / frames_per_second, Self::FRAME_TIME)?;
        let path = path.into();
        let failed = |cause| PictureError::File { path: path.clone(), cause };
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The error itself would name the temporary file.
        let unfinished = temporary(folder).map_err(|error| failed(error.kind().into()))?;
        let messages = tempfile::tempfile()?;
        let mut program = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba"])
            .args(["-video_size", &format!("{}x{}", size.width(), size.height())])
            .args(["-framerate", &frames_per_second.to_string(), "-i", "-"])
            // Players want colours at half the resolution, and so sides that are even.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18"])
            .args(["-movflags", "+faststart", "-f", "mp4"])
            .arg(&unfinished)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(messages.try_clone()?)
            .spawn()
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => PictureError::NoFfmpeg,
                _ => PictureError::Ffmpeg { message: error.to_string() },
            })?;
        let frames = program.stdin.take();
        Ok(Self { program, frames, messages, unfinished: Some(unfinished), path, size })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> Result<(), PictureError> {
        check_size(image, self.size)?;
        let written = self.frames.as_mut().map_or(Ok(()), |frames| frames.write_all(image.bytes()));
        written.map_err(|error| self.failure(&error.to_string()))
    }

    /// Waits until all is encoded, and gives the file its name.
    pub fn finish(mut self) -> Result<(), PictureError> {
        // No more frames come.
        self.frames = None;
        let status = self.program.wait()?;
        if !status.success() {
            return Err(self.failure(&status.to_string()));
        }
        self.unfinished.take().map_or(Ok(()), |unfinished| {
            unfinished
                .persist(&self.path)
                .map_err(|error| PictureError::File { path: self.path.clone(), cause: error.error })
        })
    }

    /// What ffmpeg said, or else what happened.
    fn failure(&mut self, otherwise: &str) -> PictureError {
        self.frames = None;
        // It has nothing more to do, and may still be writing its last words; how it ends does not matter.
        let _ = self.program.wait();
        let mut said = Vec::new();
        // Without its words, there is still what happened.
        let _ = self.messages.rewind().and_then(|()| (&self.messages).take(2000).read_to_end(&mut said));
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        PictureError::Ffmpeg { message: if said.is_empty() { otherwise.to_owned() } else { said } }
    }
}

impl Drop for Mp4 {
    /// Given up, unless it was finished.
    fn drop(&mut self) {
        if self.unfinished.is_some() {
            // Both fail only if it has ended already.
            let _ = self.program.kill();
            let _ = self.program.wait();
        }
    }
}

/// A new file in `folder`, with the permissions of any other new file instead of a temporary one's.
fn temporary(folder: &Path) -> io::Result<TempPath> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.prefix(".pliant-").suffix(".mp4").tempfile_in(folder)?.into_temp_path())
}
