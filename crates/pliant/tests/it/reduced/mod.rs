//! Reduced models compared with the full models.

mod bases;
mod forces;
mod motion;
mod setup;
