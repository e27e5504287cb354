//! The thread that shows something: it obeys pages, goes on, and lays out moments.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout_at;

use crate::moment::{Moment, View};
use crate::protocol::{Answered, Arrays, Command, Notice, SavedScene, Settings, message};
use crate::stage::Stage;

/// A page that is connected. No two have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewerId(pub u64);

/// Moments are laid out so often at most: screens show no more.
pub const INTERVAL: Duration = Duration::from_millis(16);

/// How many requests may wait; who sends more waits.
pub const QUEUE: usize = 256;

/// How many notices may wait for a page; more are lost.
pub const NOTICES: usize = 16;

/// When there is something to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    At(Instant),
    /// When someone asks for it.
    Never,
}

/// Something that can be shown: a simulation, or a run that was made before.
pub trait Show: Send + 'static {
    /// What is shown, and the message that says so.
    #[doc(hidden)]
    fn stage(&self) -> (Arc<Stage>, Bytes);

    /// Do what a page asks for, or say in words why not.
    #[doc(hidden)]
    fn obey(&mut self, viewer: ViewerId, command: Command) -> Result<Answer, String>;

    /// What was asked for may take longer than a step: it is done when no more requests wait.
    #[doc(hidden)]
    fn settle(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Let go of what a page has in hand.
    #[doc(hidden)]
    fn leave(&mut self, viewer: ViewerId);

    /// When it goes on.
    #[doc(hidden)]
    fn due(&mut self, now: Instant) -> Due;

    /// Go on by a step or a frame.
    #[doc(hidden)]
    fn advance(&mut self);

    /// Now, with what only elements know if anyone looks at that.
    #[doc(hidden)]
    fn moment(&mut self, with_fields: bool, viewers: usize) -> Moment;

    /// What can be steered, and how it is.
    #[doc(hidden)]
    fn settings(&self) -> Settings;
}

/// What comes of a command.
#[derive(Debug)]
pub enum Answer {
    Done,
    /// For the page that asked.
    Scene(SavedScene),
}

/// From the task of a page.
#[derive(Debug)]
pub enum Request {
    Join {
        viewer: ViewerId,
        notices: mpsc::Sender<Bytes>,
    },
    Look {
        viewer: ViewerId,
        view: View,
    },
    Do {
        viewer: ViewerId,
        command: Command,
        /// The number under which the page expects an answer.
        ask: Option<u64>,
    },
    Leave {
        viewer: ViewerId,
    },
    /// From whoever started the session, to wake it up: it is to look whether it is over.
    Wake,
}

/// What tasks of pages see of it.
#[derive(Debug, Clone)]
pub struct Outlook {
    pub stage: Arc<Stage>,
    pub stage_message: Bytes,
    pub requests: mpsc::Sender<Request>,
    pub moments: watch::Receiver<Arc<Moment>>,
    pub settings: watch::Receiver<Bytes>,
    /// Set to end the session after the step that it is in.
    pub is_over: Arc<AtomicBool>,
}

/// A page, as the session knows it.
#[derive(Debug)]
struct Viewer {
    notices: mpsc::Sender<Bytes>,
    view: View,
}

/// Shows something until nobody can ask for more.
pub struct Session<S> {
    show: S,
    requests: mpsc::Receiver<Request>,
    moments: watch::Sender<Arc<Moment>>,
    settings: watch::Sender<Bytes>,
    shown_settings: Settings,
    viewers: BTreeMap<ViewerId, Viewer>,
    /// Whether something was asked for since settings were last laid out.
    was_asked: bool,
    /// Whether there is a moment that has not been laid out.
    is_new: bool,
    /// Set from outside.
    is_over: Arc<AtomicBool>,
    last: Instant,
}

impl<S: Show> Session<S> {
    pub fn new(mut show: S) -> (Self, Outlook) {
        let (sender, requests) = mpsc::channel(QUEUE);
        let (stage, stage_message) = show.stage();
        let (moments, latest) = watch::channel(Arc::new(show.moment(false, 0)));
        let shown_settings = show.settings();
        let (settings, latest_settings) = watch::channel(message("settings", &shown_settings, &Arrays::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let outlook = Outlook {
            stage,
            stage_message,
            requests: sender,
            moments: latest,
            settings: latest_settings,
            is_over: is_over.clone(),
        };
        let viewers = BTreeMap::new();
        let session = Self {
            show,
            requests,
            moments,
            settings,
            shown_settings,
            viewers,
            was_asked: false,
            is_new: false,
            is_over,
            last: Instant::now(),
        };
        (session, outlook)
    }

    /// Until it is told to stop.
    pub fn run(mut self, runtime: &tokio::runtime::Handle) {
        loop {
            // No more than can have waited, so that those who ask all the time do not keep it from going on.
            for _ in 0..QUEUE {
                let Ok(request) = self.requests.try_recv() else { break };
                self.take(request);
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if std::mem::take(&mut self.was_asked) {
                if let Err(error) = self.show.settle() {
                    self.viewers.values().for_each(|viewer| viewer.tell(&error));
                }
                self.lay_out_settings();
            }
            // While nobody looks, nothing moves.
            let due = if self.viewers.is_empty() { Due::Never } else { self.show.due(Instant::now()) };
            if due == Due::Never || self.last.elapsed() >= INTERVAL {
                self.lay_out();
            }
            let wait = match due {
                Due::At(due) if due <= Instant::now() => {
                    self.show.advance();
                    self.is_new = true;
                    continue;
                }
                // What has not been laid out yet is, in time.
                Due::At(due) if self.is_new => Some(due.min(self.last + INTERVAL)),
                Due::At(due) => Some(due),
                Due::Never => None,
            };
            let request = match wait {
                None => runtime.block_on(self.requests.recv()),
                Some(until) => match runtime.block_on(async { timeout_at(until.into(), self.requests.recv()).await }) {
                    Err(_) => continue,
                    Ok(request) => request,
                },
            };
            match request {
                Some(request) => self.take(request),
                // Nobody is left who could ask.
                None => return,
            }
        }
    }

    fn take(&mut self, request: Request) {
        (self.was_asked, self.is_new) = (true, true);
        match request {
            Request::Join { viewer, notices } => {
                self.viewers.insert(viewer, Viewer { notices, view: View::default() });
            }
            Request::Look { viewer, view } => {
                if let Some(viewer) = self.viewers.get_mut(&viewer) {
                    viewer.view = view;
                }
            }
            Request::Leave { viewer } => {
                self.viewers.remove(&viewer);
                self.show.leave(viewer);
            }
            Request::Wake => {}
            Request::Do { viewer, command, ask } => {
                let mut answer = self.show.obey(viewer, command);
                if ask.is_some() && matches!(answer, Ok(Answer::Done)) {
                    // Whoever asks is told whether it works, so it is done now.
                    answer = self.show.settle().map(|()| Answer::Done);
                }
                let Some(viewer) = self.viewers.get(&viewer) else { return };
                let outcome = match answer {
                    Ok(Answer::Done) => Ok(None),
                    Ok(Answer::Scene(scene)) => {
                        viewer.send(message("scene", &scene, &Arrays::default()));
                        Ok(None)
                    }
                    Err(error) => Err(error),
                };
                match (ask, outcome) {
                    (Some(ask), outcome) => {
                        viewer.send(message("answer", &Answered::new(ask, outcome), &Arrays::default()));
                    }
                    (None, Err(error)) => viewer.tell(&error),
                    (None, Ok(_)) => {}
                }
            }
        }
    }

    fn lay_out(&mut self) {
        if !self.is_new {
            return;
        }
        let with_fields = self.viewers.values().any(|viewer| viewer.view.needs_fields());
        let moment = self.show.moment(with_fields, self.viewers.len());
        self.moments.send_replace(Arc::new(moment));
        (self.is_new, self.last) = (false, Instant::now());
    }

    fn lay_out_settings(&mut self) {
        let settings = Settings { revision: self.shown_settings.revision, ..self.show.settings() };
        if settings != self.shown_settings {
            let revision = self.shown_settings.revision + 1;
            self.shown_settings = Settings { revision, ..settings };
            self.settings.send_replace(message("settings", &self.shown_settings, &Arrays::default()));
        }
    }
}

impl Viewer {
    /// Sends something that is not a frame. A page that does not read misses it.
    fn send(&self, message: Bytes) {
        drop(self.notices.try_send(message));
    }

    /// Tells the page what went wrong.
    fn tell(&self, error: &str) {
        self.send(message("notice", &Notice { text: error.to_owned() }, &Arrays::default()));
    }
}
