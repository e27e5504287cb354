//! Pull on simulated solids with the mouse, in the browser: a local server, and the page that it serves.
//!
//! ```no_run
//! use pliant::io::Disk;
//! use pliant::scene::SceneFile;
//! use pliant_viewer::{Live, Page, Params, Viewer};
//!
//! let scene = SceneFile::read(&Disk, "beam.toml".as_ref())?;
//! let page = Page::embedded().ok_or("this build has no page")?;
//! let params = Params::default();
//! let viewer = Viewer::start(Viewer::listen(&params)?, &params, page, Live::new(scene)?)?;
//! println!("{}", viewer.address());
//! std::thread::park();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One thread simulates (`session.rs`); it owns all that moves, obeys what pages ask for between two steps, and lays out the latest `Moment`
//! for whoever wants it. A task for each page (`socket.rs`) takes the latest moment when the page is ready for one, cuts out what this page looks at, and sends it: a slow page
//! misses moments, and nothing waits for it. What they say to each other is in `PROTOCOL.md`; its types are in `protocol.rs`.

mod changes;
mod framing;
mod guard;
mod history;
mod live;
mod moment;
mod pace;
mod page;
mod playback;
mod protocol;
mod remedy;
mod server;
mod session;
mod socket;
mod stage;
mod touch;

pub use live::{Live, LiveError};
pub use page::Page;
pub use playback::Playback;
pub use server::{Params, Viewer, ViewerError};
pub use session::Show;
