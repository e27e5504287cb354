use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use tempfile::TempPath;

use super::{check_size, check_time};
use crate::{Color, Image, PictureError, Size};

/// MP4 (H.264) animation, encoded frame by frame by the program `ffmpeg`.
///
/// The file is written under a temporary name and renamed when finished. Until then, and after a failure, an existing
/// file stays unchanged.
#[derive(Debug)]
pub struct Mp4 {
    program: Child,
    /// Input of the encoder; `None` after the last frame.
    frames: Option<ChildStdin>,
    messages: File,
    unfinished: Option<TempPath>,
    path: PathBuf,
    size: Size,
}

impl Mp4 {
    /// Minimum and maximum frame duration \[s\].
    pub const FRAME_TIME: (f64, f64) = (0.001, 600.0);

    /// Encodes one frame and discards it. Returns the error that encoding an animation of this size would give.
    pub fn check(size: Size) -> Result<(), PictureError> {
        let folder = tempfile::tempdir()?;
        let mut film = Self::start(folder.path().join("trial.mp4"), size, 30.0)?;
        film.add(&Image::filled(size, Color::OBSTACLE))?;
        film.finish()
    }

    /// Starts an animation with the given frame rate.
    pub fn start(path: impl Into<PathBuf>, size: Size, frames_per_second: f64) -> Result<Self, PictureError> {
        check_time(1.0 / frames_per_second, Self::FRAME_TIME)?;
        let path = path.into();
        let failed = |cause| PictureError::File { path: path.clone(), cause };
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The original error would name the temporary file.
        let unfinished = temporary(folder).map_err(|error| failed(error.kind().into()))?;
        let messages = tempfile::tempfile()?;
        let mut program = Command::new("ffmpeg")
            .args(["-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgba"])
            .args(["-video_size", &format!("{}x{}", size.width(), size.height())])
            .args(["-framerate", &frames_per_second.to_string(), "-i", "-"])
            // Players expect chroma at half the resolution, which requires even width and height.
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

    /// Waits until all frames are encoded, and renames the file.
    pub fn finish(mut self) -> Result<(), PictureError> {
        // Signals the end of input.
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

    /// Returns the output of ffmpeg, or `otherwise` if there is no output.
    fn failure(&mut self, otherwise: &str) -> PictureError {
        self.frames = None;
        // It has nothing left to do, and may still be writing messages. Its exit status does not matter.
        let _ = self.program.wait();
        let mut said = Vec::new();
        // Without its output, `otherwise` is reported.
        let _ = self.messages.rewind().and_then(|()| (&self.messages).take(2000).read_to_end(&mut said));
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        PictureError::Ffmpeg { message: if said.is_empty() { otherwise.to_owned() } else { said } }
    }
}

impl Drop for Mp4 {
    /// Aborts the encoder unless the animation was finished.
    fn drop(&mut self) {
        if self.unfinished.is_some() {
            // Both fail only if the process has already ended.
            let _ = self.program.kill();
            let _ = self.program.wait();
        }
    }
}

/// Creates a file in `folder` with the permissions of an ordinary new file, not of a temporary one.
fn temporary(folder: &Path) -> io::Result<TempPath> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.prefix(".pliant-").suffix(".mp4").tempfile_in(folder)?.into_temp_path())
}
