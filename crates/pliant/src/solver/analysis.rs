//! The analysis of the pattern that a solver works with.

use std::sync::Arc;

use super::{PatternTooLarge, Symbolic};
use crate::sparse::BlockPattern;

/// Made for the first matrix, and again only if the pattern changes.
#[derive(Debug, Default)]
pub(super) struct Analysis(Option<Arc<Symbolic>>);

impl Analysis {
    /// One that has been made already.
    pub fn of(symbolic: Arc<Symbolic>) -> Self {
        Self(Some(symbolic))
    }

    /// The analysis of a pattern.
    pub fn get(&mut self, pattern: &Arc<BlockPattern>) -> Result<&Arc<Symbolic>, PatternTooLarge> {
        if self.0.as_ref().is_none_or(|symbolic| !Arc::ptr_eq(&symbolic.pattern, pattern)) {
            self.0 = Some(Arc::new(Symbolic::new(pattern.clone())?));
        }
        Ok(self.0.as_ref().expect("just made"))
    }
}
