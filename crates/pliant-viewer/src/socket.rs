//! The task of a page: what it is sent, and what it asks for.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use crate::moment::View;
use crate::protocol::{Answered, Arrays, Asked, Command, Notice, message};
use crate::session::{NOTICES, Outlook, Request, ViewerId};

/// How many frames may be under way to a page.
const UNDER_WAY: u64 = 2;

/// A page that takes longer than this to receive something is gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a page is asked whether it is still there.
const PING: Duration = Duration::from_secs(5);

/// The code of a connection that is ended because the server ends.
const GOING_AWAY: u16 = 1001;

/// Talk with a page until one of the two ends.
pub async fn serve(socket: WebSocket, viewer: ViewerId, mut outlook: Outlook) {
    let (notices, received) = mpsc::channel(NOTICES);
    let requests = outlook.requests.clone();
    if requests.send(Request::Join { viewer, notices }).await.is_err() {
        return;
    }
    // What was there before counts as new.
    outlook.moments.mark_changed();
    let mut task = Task { socket, viewer, outlook, view: View::default(), sent: 0, seen: 0, heard: Instant::now() };
    task.talk(received).await;
    drop(requests.send(Request::Leave { viewer }).await);
}

struct Task {
    socket: WebSocket,
    viewer: ViewerId,
    outlook: Outlook,
    view: View,
    /// The numbers of the last frame that was sent, and of the last that the page has taken over.
    sent: u64,
    seen: u64,
    heard: Instant,
}

impl Task {
    async fn talk(&mut self, mut notices: mpsc::Receiver<Bytes>) {
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let settings = self.outlook.settings.borrow_and_update().clone();
        for first in [self.outlook.stage_message.clone(), settings] {
            if self.send(first).await.is_break() {
                return;
            }
        }
        loop {
            let is_ready = self.sent - self.seen < UNDER_WAY;
            let flow = tokio::select! {
                said = self.socket.recv() => match said {
                    Some(Ok(said)) => self.hear(said).await,
                    // It has gone, or says what no page says.
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
                changed = self.outlook.moments.changed(), if is_ready => match changed {
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
        let moment = self.outlook.moments.borrow_and_update().clone();
        let (stage, view, viewer) = (Arc::clone(&self.outlook.stage), self.view, self.viewer);
        self.sent += 1;
        let number = self.sent;
        // It may take milliseconds, in which other pages should be heard.
        let made = tokio::task::spawn_blocking(move || moment.message(&stage, &view, viewer, number)).await;
        match made {
            Ok(bytes) => self.send(bytes).await,
            Err(_) => ControlFlow::Break(()),
        }
    }

    async fn hear(&mut self, said: Message) -> ControlFlow<()> {
        self.heard = Instant::now();
        let text = match said {
            Message::Text(text) => text,
            Message::Binary(_) => return self.complain("a binary message, expected JSON".into()).await,
            Message::Close(_) => return ControlFlow::Break(()),
            Message::Ping(_) | Message::Pong(_) => return ControlFlow::Continue(()),
        };
        let Asked { ask, command } = match Asked::read(&text) {
            Ok(asked) => asked,
            Err((Some(ask), error)) => return self.answer(ask, Err(error)).await,
            Err((None, error)) => return self.complain(format!("this is not understood: {error}")).await,
        };
        let request = match command {
            Command::Seen { number } => {
                self.seen = number.clamp(self.seen, self.sent);
                return ControlFlow::Continue(());
            }
            Command::Read { length } => {
                return match ask {
                    Some(ask) => self.answer(ask, Ok(Some(length.si))).await,
                    None => self.complain("`read` is a question: expected `ask` with a number".into()).await,
                };
            }
            Command::View { colour, slice } => match View::new(&colour, slice) {
                Err(error) => return self.complain(error).await,
                Ok(view) => {
                    self.view = view;
                    Request::Look { viewer: self.viewer, view }
                }
            },
            command => Request::Do { viewer: self.viewer, command, ask },
        };
        // If the session is busy, the page waits, and nothing piles up.
        let sent = self.outlook.requests.send(request).await;
        // It is not the page that was silent.
        self.heard = Instant::now();
        match sent {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => self.say_goodbye().await,
        }
    }

    async fn answer(&mut self, ask: u64, answer: Result<Option<f64>, String>) -> ControlFlow<()> {
        self.send(message("answer", &Answered::new(ask, answer), &Arrays::default())).await
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
