//! HTTP server of the page and its WebSocket.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use serde::Deserialize;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Sender;

use crate::guard::{Guard, Token, reachable};
use crate::page::Page;
use crate::protocol::MAX_COMMAND;
use crate::session::{self, Outlook, Session, Show, ViewerId};
use crate::socket;

/// Network address of the viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerParams {
    /// IP address to listen on; the default is reachable only from this machine.
    pub listen: IpAddr,
    /// Port; 0 chooses a free one.
    pub port: u16,
    /// Host names besides `localhost` under which browsers may reach the viewer, if it listens to other machines.
    pub names: Vec<String>,
}

impl Default for ServerParams {
    fn default() -> Self {
        Self { listen: Ipv4Addr::LOCALHOST.into(), port: 0, names: Vec::new() }
    }
}

/// Reason why the viewer cannot start.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ViewerError {
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: SocketAddr, cause: std::io::Error },
    #[error("cannot start threads for the viewer: {0}")]
    Threads(std::io::Error),
    #[error("cannot generate a random token: {0}")]
    Token(getrandom::Error),
}

/// Maximum number of connected pages.
const MAX_VIEWERS: usize = 64;

/// Time for pages to receive the end of the connection.
const GOODBYE: Duration = Duration::from_millis(200);

/// Server of a simulation or a recorded run, which runs until it is dropped.
#[derive(Debug)]
pub struct Viewer {
    address: String,
    local: SocketAddr,
    requests: Sender<session::Request>,
    is_over: Arc<AtomicBool>,
    /// Number of connected pages.
    connected: Arc<AtomicUsize>,
    session: Option<JoinHandle<()>>,
    runtime: Option<Runtime>,
}

struct App {
    guard: Guard,
    page: Page,
    outlook: Outlook,
    next: AtomicU64,
    connected: Arc<AtomicUsize>,
}

impl Viewer {
    /// Binds the address of the viewer.
    pub fn listen(params: &ServerParams) -> Result<std::net::TcpListener, ViewerError> {
        let address = SocketAddr::new(params.listen, params.port);
        let listen = || {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        listen().map_err(|cause| ViewerError::Listen { address, cause })
    }

    /// Starts to serve a simulation or a recorded run at a bound address.
    pub fn start(
        listener: std::net::TcpListener,
        params: &ServerParams,
        page: Page,
        show: impl Show,
    ) -> Result<Self, ViewerError> {
        // These threads only transfer data; the simulation has other threads.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("pliant-viewer")
            .enable_all()
            .build()
            .map_err(ViewerError::Threads)?;
        let wrong = |cause| ViewerError::Listen { address: SocketAddr::new(params.listen, params.port), cause };
        let local = listener.local_addr().map_err(wrong)?;
        let listener = {
            let _within = runtime.enter();
            TcpListener::from_std(listener).map_err(wrong)?
        };
        let token = Token::random().map_err(ViewerError::Token)?;
        let page_address = format!("http://{}/?token={}", reachable(local), token.text());
        let (session, outlook) = Session::new(show);
        let handle = runtime.handle().clone();
        let session = std::thread::Builder::new().name("pliant-session".into()).spawn(move || session.run(&handle));
        let session = session.map_err(ViewerError::Threads)?;
        let guard = Guard::new(token, local, &params.names);
        let (requests, is_over) = (outlook.requests.clone(), outlook.is_over.clone());
        let connected = Arc::new(AtomicUsize::new(0));
        let app = App { guard, page, outlook, next: AtomicU64::new(0), connected: connected.clone() };
        let router = router(Arc::new(app));
        runtime.spawn(async move {
            // No delay of small messages: the user waits for the response to a drag.
            let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
            axum::serve(listener, router).await
        });
        Ok(Self {
            address: page_address,
            local,
            requests,
            is_over,
            connected,
            session: Some(session),
            runtime: Some(runtime),
        })
    }

    /// Returns the address of the page, which contains the token.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns true if the session has ended before the viewer, which only a bug in this program can cause.
    pub fn has_ended(&self) -> bool {
        self.session.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Returns the address on which the viewer listens.
    pub fn local_address(&self) -> SocketAddr {
        self.local
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let (requests, session, runtime) = (self.requests.clone(), self.session.take(), self.runtime.take());
        let connected = self.connected.clone();
        self.is_over.store(true, Ordering::Relaxed);
        // On a separate thread, as blocking is not allowed on the threads of an async runtime that the caller may have.
        let end = std::thread::spawn(move || {
            // If the queue is full, the session is awake.
            drop(requests.try_send(session::Request::Wake));
            // The session ends after its current step. A panic has been printed on standard error.
            session.map(JoinHandle::join);
            // Waits until the pages are disconnected.
            let began = Instant::now();
            while connected.load(Ordering::Relaxed) > 0 && began.elapsed() < GOODBYE {
                std::thread::sleep(Duration::from_millis(5));
            }
            if let Some(runtime) = runtime {
                runtime.shutdown_background();
            }
        });
        drop(end.join());
    }
}

fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(index))
        .route("/socket", get(open_socket))
        .route("/{*name}", get(asset))
        .layer(middleware::from_fn_with_state(app.clone(), check_host))
        .with_state(app)
}

/// Content security policy: the page may load only files of this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; \
    connect-src 'self'; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async fn check_host(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let host = host(request.headers());
    let mut response = if app.guard.allows_host(&host) {
        next.run(request).await
    } else {
        let text = format!(
            "`{host}` is not an address of this viewer. To allow it, start the viewer with `--name {}`.\n",
            host.split(':').next().unwrap_or_default()
        );
        refuse(StatusCode::FORBIDDEN, text)
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, header::HeaderValue::from_static(value));
    }
    response
}

fn host(headers: &HeaderMap) -> String {
    text(headers, header::HOST).unwrap_or_default().to_owned()
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn refuse(status: StatusCode, text: impl Into<String>) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.into()).into_response()
}

#[derive(Deserialize)]
struct Given {
    #[serde(default)]
    token: String,
}

const WRONG_TOKEN: &str =
    "The token of this viewer is missing or wrong. Open the full address that `pliant view` printed.\n";

async fn index(State(app): State<Arc<App>>, Query(given): Query<Given>) -> Response {
    if !app.guard.token.is(&given.token) {
        return refuse(StatusCode::FORBIDDEN, WRONG_TOKEN);
    }
    file(&app.page, "index.html")
}

/// Serves a file of the page. These files need no token.
async fn asset(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    file(&app.page, &name)
}

fn file(page: &Page, name: &str) -> Response {
    match page.get(name) {
        Some(bytes) => ([(header::CONTENT_TYPE, Page::media_type(name))], bytes.to_vec()).into_response(),
        None => refuse(StatusCode::NOT_FOUND, "Not found.\n"),
    }
}

async fn open_socket(
    State(app): State<Arc<App>>,
    Query(given): Query<Given>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    if !app.guard.token.is(&given.token) {
        return refuse(StatusCode::FORBIDDEN, WRONG_TOKEN);
    }
    // An origin that is not text is refused.
    let mut origins = headers.get_all(header::ORIGIN).iter().map(|value| value.to_str().unwrap_or(""));
    let host = host(&headers);
    if !origins.all(|origin| Guard::allows_origin(origin, &host)) {
        return refuse(StatusCode::FORBIDDEN, "Only the page of this viewer may connect.\n");
    }
    let Some(place) = ConnectionSlot::take(&app) else {
        return refuse(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("{MAX_VIEWERS} pages are already connected, the maximum.\n"),
        );
    };
    let viewer = ViewerId(app.next.fetch_add(1, Ordering::Relaxed));
    let outlook = app.outlook.clone();
    let upgrade = upgrade.max_message_size(MAX_COMMAND).max_frame_size(MAX_COMMAND);
    upgrade.on_upgrade(async move |connection| {
        socket::serve(connection, viewer, outlook).await;
        drop(place);
    })
}

/// Slot of one of `MAX_VIEWERS` connections, freed when dropped.
struct ConnectionSlot(Arc<App>);

impl ConnectionSlot {
    fn take(app: &Arc<App>) -> Option<Self> {
        let place = Self(app.clone());
        (app.connected.fetch_add(1, Ordering::Relaxed) < MAX_VIEWERS).then_some(place)
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.0.connected.fetch_sub(1, Ordering::Relaxed);
    }
}
