//! Options of writers.

/// Options for writing an animation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Number of frames. Single-file formats require it; formats with one file per frame accept any number.
    pub frames: Option<usize>,
    /// Vertical axis of the model, used only by glTF, which defines one. Other formats keep the model's coordinates.
    pub up: Axis,
}

/// Coordinate axis of the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are what they are")]
pub enum Axis {
    X,
    #[default]
    Y,
    Z,
}
