//! Scratch memory of factorizations by faer.

use std::fmt;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// Scratch memory that is reused by later factorizations. A clone begins empty.
#[derive(Default)]
pub(crate) struct Scratch {
    buffer: Option<MemBuffer>,
    bytes: usize,
}

impl Scratch {
    /// Returns a stack of the required size.
    pub fn stack(&mut self, needed: StackReq) -> &mut MemStack {
        let bytes = needed.unaligned_bytes_required();
        if bytes > self.bytes {
            self.buffer = None;
            self.bytes = bytes;
        }
        MemStack::new(self.buffer.get_or_insert_with(|| MemBuffer::new(needed)))
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scratch({} bytes)", self.bytes)
    }
}
