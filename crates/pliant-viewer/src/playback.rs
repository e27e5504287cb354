//! A run that was made before.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Bytes;
use pliant::output::Frame;
use pliant::run::{Run, RunError};
use pliant::simulation::Table;

use crate::framing::{self, Bounds};
use crate::live::held_vertices;
use crate::moment::{Energies, Facts, Failure, Moment};
use crate::pace::Pace;
use crate::protocol::{Command, Settings};
use crate::session::{Answer, Due, INTERVAL, Show, ViewerId};
use crate::stage::{self, BallSize, ObstacleShown, Pull, Stage, Timeline};

/// What is asked of a run that only a simulation can do.
const WHY_NOT: &str = "this is a run that was made before; `pliant view` with its scene simulates";

/// How often to look whether a run that is being made has more frames.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Number of intervals between the frames that the first view is fitted to.
const VIEW_SAMPLES: usize = 12;

/// A run in its folder, played back.
#[derive(Debug)]
pub struct Playback {
    run: Run,
    stage: Arc<Stage>,
    stage_message: Bytes,
    table: Option<Table>,
    held: Arc<[u32]>,
    rest_volume: f64,
    frames: usize,
    looked: Instant,
    advanced: Instant,
    current: usize,
    /// The last frame that could be read, and the last that could not.
    read: Option<Frame>,
    broken: Option<usize>,
    pace: Pace,
    is_playing: bool,
    failure: Option<Failure>,
}

impl Playback {
    /// A run that has frames.
    pub fn new(run: Run) -> Result<Self, RunError> {
        run.check_frames()?;
        let frames = run.frames_done();
        let stage = Arc::new(Stage::new((**run.cast()).clone()));
        let facts = stage::Facts {
            title: run.title().to_owned(),
            about: run.file.scene.about.clone(),
            mode: "playback",
            up: run.file.scene.up,
            reduced: run.built().simulation.reduced_model().map(|reduced| reduced.basis().size()),
            pull: Pull { stiffness: 1.0 },
            ball: BallSize { radius: 0.08 * stage.size },
            timeline: Some(Timeline { frames, interval: run.frame_time(1) }),
            view: recorded_view(&run, &stage, frames),
        };
        let model = run.built().simulation.model();
        Ok(Self {
            stage_message: stage.message(&facts, model),
            rest_volume: model.bodies().iter().map(|body| body.mesh().volume()).sum(),
            held: held_vertices(&run.built().simulation),
            // The numbers beside the frames; without them it can still be seen.
            table: run.table().ok(),
            stage,
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

    /// Notes on the scene and warnings, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.run.built().notes
    }

    /// The same, waiting to be told to play.
    #[must_use]
    pub fn paused(self) -> Self {
        Self { is_playing: false, ..self }
    }

    fn time(&self) -> f64 {
        self.run.frame_time(self.current)
    }

    /// Whether there is a next frame, perhaps by now.
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

    /// The current frame, or if it cannot be read the last one that could be.
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

    /// The numbers that were recorded nearest to now.
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

/// Returns the box around the bodies in some frames of a run, evenly spaced, and around what is predicted at its start.
fn recorded_view(run: &Run, stage: &Stage, frames: usize) -> Option<Bounds> {
    let simulation = &run.built().simulation;
    let last = frames.saturating_sub(1);
    let numbers = (0..=VIEW_SAMPLES).map(|sample| last * sample / VIEW_SAMPLES);
    // A frame that cannot be read is reported when it is to be shown.
    let recorded = numbers
        .filter_map(|number| run.frame(number, false).ok())
        .filter_map(|frame| Bounds::of(stage.cast.bodies().iter().flat_map(|body| body.surface_positions(&frame.u))));
    let predicted = framing::first_view(stage, simulation.model(), simulation.state());
    // A run that explodes is looked at where it began.
    predicted.into_iter().chain(recorded).reduce(|view, frame| view.including(frame, stage.size))
}

impl Show for Playback {
    fn stage(&self) -> (Arc<Stage>, Bytes) {
        (self.stage.clone(), self.stage_message.clone())
    }

    fn obey(&mut self, _viewer: ViewerId, command: Command) -> Result<Answer, String> {
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
            // As fast as possible is as fast as can be seen.
            return Due::At(if self.pace.speed.is_none() { self.advanced + INTERVAL } else { due });
        }
        self.pace.restart();
        if self.frames < self.run.frame_count() { Due::At(self.looked + LOOK_AGAIN) } else { Due::Never }
    }

    fn advance(&mut self) {
        self.advanced = Instant::now();
        if self.has_next() {
            self.go_to(self.current + 1);
        }
        // At the end there is nothing more to play.
        self.is_playing &= self.current + 1 < self.run.frame_count();
    }

    fn moment(&mut self, with_fields: bool, viewers: usize) -> Moment {
        let frame = self.frame(with_fields);
        let recorded = self.recorded();
        let time = self.time();
        let obstacles = self.run.obstacles(time);
        let facts = Facts {
            time,
            step: self.current as u64,
            playing: self.is_playing,
            speed: self.pace.speed,
            span: [0.0, self.run.frame_time(self.frames - 1)],
            stats: None,
            energies: recorded.map(|(energies, _)| energies),
            volume: recorded.map_or(self.rest_volume, |(_, volume)| volume),
            rest_volume: self.rest_volume,
            obstacles: obstacles.iter().map(|shape| ObstacleShown::new(shape, self.stage.origin)).collect(),
            failure: self.failure.clone(),
            viewers,
        };
        Moment {
            facts,
            frame,
            pulls: Vec::new(),
            balls: Vec::new(),
            held: self.held.clone(),
            pinned: Arc::default(),
            inputs: Vec::new(),
        }
    }

    fn settings(&self) -> Settings {
        let scene = &self.run.file.scene;
        Settings {
            step: self.run.built().simulation.dt(),
            scheme: crate::changes::name_of(&scene.simulation.scheme.value),
            mass_damping: scene.damping.mass.si,
            stiffness_damping: scene.damping.stiffness.si,
            gravity: scene.gravity().to_array(),
            why_not: Some(WHY_NOT.into()),
            why_no_pins: Some(WHY_NOT.into()),
            notes: self.notes().to_vec(),
            ..Settings::default()
        }
    }
}
