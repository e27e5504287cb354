//! Cache of the symbolic analysis of a solver.

use std::sync::Arc;

use super::{PatternTooLarge, Symbolic};
use crate::sparse::BlockPattern;

/// Symbolic analysis, made for the first matrix and repeated only if the pattern changes.
#[derive(Debug, Clone, Default)]
pub(super) struct Analysis {
    symbolic: Option<Arc<Symbolic>>,
    /// Number of analyses made.
    pub count: usize,
}

impl Analysis {
    /// Creates a cache with an existing analysis.
    pub fn of(symbolic: Arc<Symbolic>) -> Self {
        Self { symbolic: Some(symbolic), count: 0 }
    }

    /// Returns the analysis of a pattern.
    pub fn get(&mut self, pattern: &Arc<BlockPattern>) -> Result<&Arc<Symbolic>, PatternTooLarge> {
        if self.symbolic.as_ref().is_none_or(|symbolic| !Arc::ptr_eq(&symbolic.pattern, pattern)) {
            self.symbolic = Some(Arc::new(Symbolic::new(pattern.clone())?));
            self.count += 1;
        }
        Ok(self.symbolic.as_ref().expect("just made"))
    }
}
