//! Integration tests of the pictures: one binary, so that it is linked once.

mod animation;
mod plot;
mod scene;
