//! The analysis of the pattern that a solver works with.

use std::sync::Arc;

use super::{PatternTooLarge, Symbolic};
use crate::sparse::BlockPattern;

/// Made for the first matrix, and again only if the pattern changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    symbolic: Option<Arc<Symbolic>>,
    /// How many have been made.
    pub count: usize,
}

impl Analysis {
    /// One that has been made already.
    pub fn of(symbolic: Arc<Symbolic>) -> Self {
        Self { symbolic: Some(symbolic), count: 0 }
    }

    /// The analysis of a pattern.
    pub fn get(&mut self, pattern: &Arc<BlockPattern>) -> Result<&Arc<Symbolic>, PatternTooLarge> {
        if self.symbolic.as_ref().is_none_or(|symbolic| !Arc::ptr_eq(&symbolic.pattern, pattern)) {
            self.symbolic = Some(Arc::new(Symbolic::new(pattern.clone())?));
            self.count += 1;
        }
        Ok(self.symbolic.as_ref().expect("just made"))
    }
}
