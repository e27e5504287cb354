//! placeholder
pub struct Figure;
pub struct Plot;
pub struct Series;
