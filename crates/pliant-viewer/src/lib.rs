//! Interactive viewer in the browser: a local server, and the page with which users pull on simulated solids.
//!
//! ```no_run
//! use pliant::files::Disk;
//! use pliant_scene::scene::SceneFile;
//! use pliant_viewer::{Live, Page, ServerParams, Viewer};
//!
//! let scene = SceneFile::read(&Disk, "beam.toml".as_ref())?;
//! let page = Page::embedded().ok_or("this build has no page")?;
//! let params = ServerParams::default();
//! let viewer = Viewer::start(Viewer::listen(&params)?, &params, page, Live::new(scene)?)?;
//! println!("{}", viewer.address());
//! std::thread::park();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One thread simulates (`session.rs`). It owns the simulation, executes commands of pages between two steps, and
//! publishes the latest `Snapshot`. One task per page (`socket.rs`) takes the latest snapshot when the page is ready,
//! extracts the data that this page shows, and sends it. A slow page misses snapshots, and nothing waits for it.
//! `PROTOCOL.md` describes the messages; their types are in `protocol.rs`.

mod changes;
mod display_scene;
mod framing;
mod guard;
mod history;
mod live;
mod pace;
mod page;
mod playback;
mod protocol;
mod remedy;
mod server;
mod session;
mod snapshot;
mod socket;
mod touch;

pub use live::{Live, LiveError};
pub use page::Page;
pub use playback::Playback;
pub use server::{ServerParams, Viewer, ViewerError};
pub use session::Show;
