//! Session thread: it executes commands of pages, advances the simulation and publishes snapshots.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout_at;

use crate::display_scene::DisplayScene;
use crate::protocol::{AnswerHeader, Arrays, Command, Notice, SavedScene, Settings, message};
use crate::snapshot::{Snapshot, View};

/// Unique identifier of a connected page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewerId(pub u64);

/// Minimum interval between published snapshots: screens show no more.
pub const INTERVAL: Duration = Duration::from_millis(16);

/// Capacity of the request queue; senders wait while it is full.
pub const QUEUE: usize = 256;

/// Capacity of the notice queue of a page; further notices are lost.
pub const NOTICES: usize = 16;

/// Time of the next step or frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Time(Instant),
    /// Only on request.
    Never,
}

/// Content of a viewer: a simulation or a recorded run.
pub trait Show: Send + 'static {
    /// Returns the scene geometry and its encoded message.
    #[doc(hidden)]
    fn display(&self) -> (Arc<DisplayScene>, Bytes);

    /// Executes a command of a page, or returns the reason why it is refused.
    #[doc(hidden)]
    fn execute(&mut self, viewer: ViewerId, command: Command) -> Result<Answer, String>;

    /// Applies pending changes, which may take longer than a step, once the request queue is empty.
    #[doc(hidden)]
    fn settle(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Removes the pulls and the ball of a page that has disconnected.
    #[doc(hidden)]
    fn leave(&mut self, viewer: ViewerId);

    /// Returns the time of the next step or frame.
    #[doc(hidden)]
    fn due(&mut self, now: Instant) -> Due;

    /// Advances by a step or a frame.
    #[doc(hidden)]
    fn advance(&mut self);

    /// Returns a snapshot of the current state, with element fields if a page shows them.
    #[doc(hidden)]
    fn snapshot(&mut self, with_fields: bool, viewers: usize) -> Snapshot;

    /// Returns the current settings.
    #[doc(hidden)]
    fn settings(&self) -> Settings;
}

/// Result of a command.
#[derive(Debug)]
pub enum Answer {
    Done,
    /// Saved scene for the page that requested it.
    Scene(SavedScene),
}

/// Request from the task of a page.
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
        /// Number under which the page expects an answer.
        ask: Option<u64>,
    },
    Leave {
        viewer: ViewerId,
    },
    /// Wakes the session, so that it checks `is_over`.
    Wake,
}

/// Interface of the session for the tasks of pages.
#[derive(Debug, Clone)]
pub struct Outlook {
    pub display: Arc<DisplayScene>,
    pub display_message: Bytes,
    pub requests: mpsc::Sender<Request>,
    pub snapshots: watch::Receiver<Arc<Snapshot>>,
    pub settings: watch::Receiver<Bytes>,
    /// True to end the session after its current step.
    pub is_over: Arc<AtomicBool>,
}

/// Connected page.
#[derive(Debug)]
struct Viewer {
    notices: mpsc::Sender<Bytes>,
    view: View,
}

/// Session that runs until it is stopped or all request senders are dropped.
pub struct Session<S> {
    show: S,
    requests: mpsc::Receiver<Request>,
    snapshots: watch::Sender<Arc<Snapshot>>,
    settings: watch::Sender<Bytes>,
    shown_settings: Settings,
    viewers: BTreeMap<ViewerId, Viewer>,
    /// True if a request has arrived since settings were last published.
    was_asked: bool,
    /// True if there is an unpublished state.
    is_new: bool,
    /// True once the viewer requests the end.
    is_over: Arc<AtomicBool>,
    last: Instant,
}

impl<S: Show> Session<S> {
    pub fn new(mut show: S) -> (Self, Outlook) {
        let (sender, requests) = mpsc::channel(QUEUE);
        let (display, display_message) = show.display();
        let (snapshots, latest) = watch::channel(Arc::new(show.snapshot(false, 0)));
        let shown_settings = show.settings();
        let (settings, latest_settings) = watch::channel(message("settings", &shown_settings, &Arrays::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let outlook = Outlook {
            display,
            display_message,
            requests: sender,
            snapshots: latest,
            settings: latest_settings,
            is_over: is_over.clone(),
        };
        let viewers = BTreeMap::new();
        let session = Self {
            show,
            requests,
            snapshots,
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

    /// Runs the session until it is stopped.
    pub fn run(mut self, runtime: &tokio::runtime::Handle) {
        loop {
            // At most one full queue, so that constant requests do not block the simulation.
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
            // The simulation pauses while no page is connected.
            let due = if self.viewers.is_empty() { Due::Never } else { self.show.due(Instant::now()) };
            if due == Due::Never || self.last.elapsed() >= INTERVAL {
                self.lay_out();
            }
            let wait = match due {
                Due::Time(due) if due <= Instant::now() => {
                    self.show.advance();
                    self.is_new = true;
                    continue;
                }
                // Wakes up in time to publish the new state.
                Due::Time(due) if self.is_new => Some(due.min(self.last + INTERVAL)),
                Due::Time(due) => Some(due),
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
                // All senders are gone.
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
                let mut answer = self.show.execute(viewer, command);
                if ask.is_some() && matches!(answer, Ok(Answer::Done)) {
                    // The answer reports success or failure, so changes are applied now.
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
                        viewer.send(message("answer", &AnswerHeader::new(ask, outcome), &Arrays::default()));
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
        let snapshot = self.show.snapshot(with_fields, self.viewers.len());
        self.snapshots.send_replace(Arc::new(snapshot));
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
    /// Sends a message other than a frame. It is dropped if the page does not read.
    fn send(&self, message: Bytes) {
        drop(self.notices.try_send(message));
    }

    /// Sends an error as a notice.
    fn tell(&self, error: &str) {
        self.send(message("notice", &Notice { text: error.to_owned() }, &Arrays::default()));
    }
}
