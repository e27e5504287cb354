//! WebSocket task of a page: sends frames and receives commands.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::protocol::{AnswerHeader, Arrays, Command, Notice, NumberedCommand, message};
use crate::session::{NOTICES, Outlook, Request, ViewerId};
use crate::snapshot::View;

/// Maximum number of unacknowledged frames.
const UNDER_WAY: u64 = 2;

/// Timeout after which a page counts as disconnected.
const PATIENCE: Duration = Duration::from_secs(20);

/// Interval between pings.
const PING: Duration = Duration::from_secs(5);

/// WebSocket close code for the end of the server.
const GOING_AWAY: u16 = 1001;

/// Serves a page until the page or the session ends.
pub async fn serve(socket: WebSocket, viewer: ViewerId, mut outlook: Outlook) {
    let (notices, received) = mpsc::channel(NOTICES);
    let requests = outlook.requests.clone();
    if requests.send(Request::Join { viewer, notices }).await.is_err() {
        return;
    }
    // The snapshot at the time of connection counts as new.
    outlook.snapshots.mark_changed();
    let mut task = Task { socket, viewer, outlook, view: View::default(), sent: 0, seen: 0, heard: Instant::now() };
    task.talk(received).await;
    drop(requests.send(Request::Leave { viewer }).await);
}

struct Task {
    socket: WebSocket,
    viewer: ViewerId,
    outlook: Outlook,
    view: View,
    /// Number of the last frame that was sent.
    sent: u64,
    /// Number of the last acknowledged frame.
    seen: u64,
    heard: Instant,
}

impl Task {
    async fn talk(&mut self, mut notices: mpsc::Receiver<Bytes>) {
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let settings = self.outlook.settings.borrow_and_update().clone();
        for first in [self.outlook.display_message.clone(), settings] {
            if self.send(first).await.is_break() {
                return;
            }
        }
        loop {
            let is_ready = self.sent - self.seen < UNDER_WAY;
            let flow = tokio::select! {
                said = self.socket.recv() => match said {
                    Some(Ok(said)) => self.hear(said).await,
                    // Disconnected, or a protocol error.
                    Some(Err(_)) | None => ControlFlow::Break(()),
                },
                changed = self.outlook.settings.changed() => match changed {
                    Ok(()) => {
                        let settings = self.outlook.settings.borrow_and_update().clone();
                        self.send(settings).await
                    }
                    Err(_) => self.say_goodbye().await,
                },
                Some(notice) = notices.recv() => self.send(notice).await,
                changed = self.outlook.snapshots.changed(), if is_ready => match changed {
                    Ok(()) => self.send_moment().await,
                    Err(_) => self.say_goodbye().await,
                },
                _ = ping.tick() => self.ask_whether_it_is_there().await,
            };
            if flow.is_break() {
                return;
            }
        }
    }

    async fn send(&mut self, bytes: Bytes) -> ControlFlow<()> {
        self.send_message(Message::Binary(bytes)).await
    }

    async fn send_message(&mut self, message: Message) -> ControlFlow<()> {
        match timeout(PATIENCE, self.socket.send(message)).await {
            Ok(Ok(())) => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }

    async fn send_moment(&mut self) -> ControlFlow<()> {
        let snapshot = self.outlook.snapshots.borrow_and_update().clone();
        let (display, view, viewer) = (Arc::clone(&self.outlook.display), self.view, self.viewer);
        self.sent += 1;
        let number = self.sent;
        // Encoding may take milliseconds and must not block other pages.
        let made = tokio::task::spawn_blocking(move || snapshot.message(&display, &view, viewer, number)).await;
        match made {
            Ok(bytes) => self.send(bytes).await,
            Err(_) => ControlFlow::Break(()),
        }
    }

    async fn hear(&mut self, said: Message) -> ControlFlow<()> {
        self.heard = Instant::now();
        let text = match said {
            Message::Text(text) => text,
            Message::Binary(_) => return self.complain("message: expected JSON text, found binary data".into()).await,
            Message::Close(_) => return ControlFlow::Break(()),
            Message::Ping(_) | Message::Pong(_) => return ControlFlow::Continue(()),
        };
        let NumberedCommand { ask, command } = match NumberedCommand::read(&text) {
            Ok(asked) => asked,
            Err((Some(ask), error)) => return self.answer(ask, Err(error)).await,
            Err((None, error)) => return self.complain(format!("invalid message: {error}")).await,
        };
        let request = match command {
            Command::Seen { number } => {
                self.seen = number.clamp(self.seen, self.sent);
                return ControlFlow::Continue(());
            }
            Command::Read { length } => {
                return match ask {
                    Some(ask) => self.answer(ask, Ok(Some(length.si))).await,
                    None => self.complain("`read`: expected `ask` with a number".into()).await,
                };
            }
            Command::View { color, slice } => match View::new(&color, slice) {
                Err(error) => return self.complain(error).await,
                Ok(view) => {
                    self.view = view;
                    Request::Look { viewer: self.viewer, view }
                }
            },
            command => Request::Do { viewer: self.viewer, command, ask },
        };
        // While the session is busy the page waits, so that no requests accumulate.
        let sent = self.outlook.requests.send(request).await;
        // The wait does not count as silence of the page.
        self.heard = Instant::now();
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => self.say_goodbye().await,
        }
    }

    async fn answer(&mut self, ask: u64, answer: Result<Option<f64>, String>) -> ControlFlow<()> {
        self.send(message("answer", &AnswerHeader::new(ask, answer), &Arrays::default())).await
    }

    async fn complain(&mut self, text: String) -> ControlFlow<()> {
        self.send(message("notice", &Notice { text }, &Arrays::default())).await
    }

    async fn ask_whether_it_is_there(&mut self) -> ControlFlow<()> {
        if self.heard.elapsed() > PATIENCE {
            return ControlFlow::Break(());
        }
        self.send_message(Message::Ping(Bytes::new())).await
    }

    async fn say_goodbye(&mut self) -> ControlFlow<()> {
        let close = CloseFrame { code: GOING_AWAY, reason: "the viewer has ended".into() };
        let _either_way = self.send_message(Message::Close(Some(close))).await;
        ControlFlow::Break(())
    }
}
