//! Integration tests of the viewer: one binary, so that it is linked once.

mod common;
mod live;
mod playback;
mod server;
