//! Playback of a recorded run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use pliant::simulation::Table;
use pliant_scene::output::Frame;
use pliant_scene::run::{Run, RunError};

use crate::display_scene::{self, BallSize, DisplayScene, Pull, Timeline};
use crate::framing::{self, Bounds};
use crate::live::fixed_vertices;
use crate::pace::Pace;
use crate::protocol::{Command, Settings};
use crate::session::{Answer, Due, INTERVAL, Show, ViewerId};
use crate::snapshot::{Energies, Failure, Snapshot, Status};

/// Answer to commands that only a simulation supports.
const WHY_NOT: &str = "a recorded run cannot be changed; use `pliant view` with its scene to simulate";

/// Interval at which a run in progress is checked for new frames.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Number of intervals between the frames that the first view is fitted to.
const VIEW_SAMPLES: usize = 12;

/// Recorded run that is played back.
#[derive(Debug)]
pub struct Playback {
    run: Run,
    display: Arc<DisplayScene>,
    display_message: Bytes,
    table: Option<Table>,
    fixed: Arc<[u32]>,
    frames: usize,
    looked: Instant,
    advanced: Instant,
    current: usize,
    /// Last frame that was read.
    read: Option<Frame>,
    /// Last frame that could not be read.
    broken: Option<usize>,
    pace: Pace,
    is_playing: bool,
    failure: Option<Failure>,
}

impl Playback {
    /// Creates the playback of a run with frames.
    pub fn new(run: Run) -> Result<Self, RunError> {
        run.check_frames()?;
        let frames = run.frames_done();
        let display = Arc::new(DisplayScene::new((**run.geometry()).clone()));
        let info = display_scene::SceneInfo {
            title: run.title().to_owned(),
            about: run.file.scene.about.clone(),
            mode: "playback",
            up: run.file.scene.up,
            reduced: run.built().simulation.reduced_model().map(|reduced| reduced.basis().size()),
            pull: Pull { stiffness: 1.0 },
            ball: BallSize { radius: 0.08 * display.size },
            timeline: Some(Timeline { frames, interval: run.frame_time(1) }),
            view: recorded_view(&run, &display, frames),
        };
        let model = run.built().simulation.model();
        Ok(Self {
            display_message: display.message(&info, model),
            fixed: fixed_vertices(&run.built().simulation),
            // The table of probes; the run can be shown without it.
            table: run.table().ok(),
            display,
            run,
            frames,
            looked: Instant::now(),
            advanced: Instant::now(),
            current: 0,
            read: None,
            broken: None,
            pace: Pace::new(),
            is_playing: true,
            failure: None,
        })
    }

    /// Returns notes on the scene and warnings, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.run.built().notes
    }

    /// Starts paused.
    #[must_use]
    pub fn paused(self) -> Self {
        Self { is_playing: false, ..self }
    }

    fn time(&self) -> f64 {
        self.run.frame_time(self.current)
    }

    /// Returns true if there is a next frame. Checks for new frames of a run in progress.
    fn has_next(&mut self) -> bool {
        if self.current + 1 >= self.frames && self.looked.elapsed() >= LOOK_AGAIN {
            self.looked = Instant::now();
            let frames = self.run.frames_done();
            if frames > self.frames {
                (self.frames, self.table) = (frames, self.run.table().ok());
            }
        }
        self.current + 1 < self.frames
    }

    fn go_to(&mut self, frame: usize) {
        self.current = frame.min(self.frames.saturating_sub(1));
        (self.failure, self.broken) = (None, None);
    }

    /// Returns the current frame, or the last readable one if it cannot be read.
    fn frame(&mut self, with_fields: bool) -> Frame {
        let is_it = |read: &&Frame| read.number == self.current && (read.fields.is_some() || !with_fields);
        if let Some(read) = self.read.as_ref().filter(is_it) {
            return read.clone();
        }
        if self.broken != Some(self.current) {
            match self.run.frame(self.current, with_fields) {
                Ok(frame) => self.read = Some(frame),
                Err(error) => {
                    self.failure = Some(Failure {
                        is_gain: false,
                        number: 1 + self.current as u64,
                        message: error.to_string(),
                        step: self.run.built().simulation.dt(),
                        choices: Vec::new(),
                        is_trying: false,
                    });
                    self.broken = Some(self.current);
                    self.is_playing = false;
                }
            }
        }
        let model = self.run.built().simulation.model();
        self.read.clone().unwrap_or_else(|| Frame::new(model, &model.rest_state(), self.current, false))
    }

    /// Returns the recorded energies and volume nearest to the current time.
    fn recorded(&self) -> Option<(Energies, f64)> {
        let table = self.table.as_ref()?;
        let column = |name: &str| table.columns.iter().position(|own| own == name);
        let (at, time) = (column("time")?, self.time());
        let distance = |row: &&Vec<f64>| (row[at] - time).abs();
        let row = table.rows.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
        let value = |name: &str| column(name).map(|at| row[at]);
        let energies = Energies {
            kinetic: value("kinetic_energy")?,
            elastic: value("elastic_energy")?,
            gravitational: value("gravitational_energy")?,
            other: value("other_energy")?,
            total: value("total_energy")?,
        };
        Some((energies, value("volume")?))
    }
}

/// Returns the box around the bodies in some frames of a run, evenly spaced, and around the prediction at its start.
fn recorded_view(run: &Run, display: &DisplayScene, frames: usize) -> Option<Bounds> {
    let simulation = &run.built().simulation;
    let last = frames.saturating_sub(1);
    let numbers = (0..=VIEW_SAMPLES).map(|sample| last * sample / VIEW_SAMPLES);
    // An unreadable frame is reported when it is shown.
    let recorded = numbers.filter_map(|number| run.frame(number, false).ok()).filter_map(|frame| {
        Bounds::of(display.geometry.bodies().iter().flat_map(|body| body.surface_positions(&frame.u)))
    });
    let predicted = framing::first_view(display, simulation.model(), simulation.state());
    // The view of a run that diverges stays at its start.
    predicted.into_iter().chain(recorded).reduce(|view, frame| view.including(frame, display.size))
}

impl Show for Playback {
    fn display(&self) -> (Arc<DisplayScene>, Bytes) {
        (self.display.clone(), self.display_message.clone())
    }

    fn execute(&mut self, _viewer: ViewerId, command: Command) -> Result<Answer, String> {
        match command {
            Command::Seen { .. } | Command::View { .. } | Command::Release { .. } | Command::NoBall => {}
            Command::Play => {
                if !self.has_next() {
                    self.go_to(0);
                }
                self.is_playing = true;
                self.pace.restart();
            }
            Command::Pause => self.is_playing = false,
            Command::Step => {
                self.is_playing = false;
                if self.has_next() {
                    self.go_to(self.current + 1);
                }
            }
            Command::Reset => {
                self.go_to(0);
                self.pace.restart();
            }
            Command::Seek { time } => {
                self.is_playing = false;
                let time = time.clamp(0.0, self.run.frame_time(self.frames - 1));
                let distance = |frame: &usize| (self.run.frame_time(*frame) - time).abs();
                let nearest = (0..self.frames).min_by(|a, b| distance(a).total_cmp(&distance(b)));
                self.go_to(nearest.unwrap_or(0));
            }
            Command::Speed { factor } => self.pace.set_speed(factor)?,
            _ => return Err(WHY_NOT.into()),
        }
        Ok(Answer::Done)
    }

    fn leave(&mut self, _viewer: ViewerId) {}

    fn due(&mut self, now: Instant) -> Due {
        if !self.is_playing {
            return Due::Never;
        }
        if self.has_next() {
            let due = self.pace.due(self.run.frame_time(self.current + 1), now);
            // As fast as possible means one frame per displayed image.
            return Due::Time(if self.pace.speed.is_none() { self.advanced + INTERVAL } else { due });
        }
        self.pace.restart();
        if self.frames < self.run.frame_count() { Due::Time(self.looked + LOOK_AGAIN) } else { Due::Never }
    }

    fn advance(&mut self) {
        self.advanced = Instant::now();
        if self.has_next() {
            self.go_to(self.current + 1);
        }
        // Playback pauses at the end.
        self.is_playing &= self.current + 1 < self.run.frame_count();
    }

    fn snapshot(&mut self, with_fields: bool, viewers: usize) -> Snapshot {
        let frame = self.frame(with_fields);
        let recorded = self.recorded();
        let time = self.time();
        let obstacles = self.run.obstacles(time);
        let status = Status {
            time,
            step: self.current as u64,
            playing: self.is_playing,
            speed: self.pace.speed,
            span: [0.0, self.run.frame_time(self.frames - 1)],
            stats: None,
            energies: recorded.map(|(energies, _)| energies),
            volume: recorded.map_or(self.display.rest_volume, |(_, volume)| volume),
            rest_volume: self.display.rest_volume,
            obstacles: self.display.obstacle_views(&obstacles),
            failure: self.failure.clone(),
            viewers,
        };
        Snapshot {
            status,
            frame,
            pulls: Vec::new(),
            balls: Vec::new(),
            fixed: self.fixed.clone(),
            pinned: Arc::default(),
            inputs: Vec::new(),
        }
    }

    fn settings(&self) -> Settings {
        let scene = &self.run.file.scene;
        Settings {
            why_not: Some(WHY_NOT.into()),
            why_no_pins: Some(WHY_NOT.into()),
            notes: self.notes().to_vec(),
            ..Settings::of_scene(scene, self.run.built().simulation.dt())
        }
    }
}
