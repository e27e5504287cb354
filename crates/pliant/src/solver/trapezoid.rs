//! How the dense matrices of a factor lie in memory.

/// Columns that are worked on at a time: by one thread, whichever it is.
pub(super) const BLOCK: usize = 96;

/// The part of a dense matrix on and below its diagonal, in blocks of columns. Each block begins at the row of its own first
/// column, so that little of what is above the diagonal takes memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trapezoid {
    pub rows: usize,
    pub columns: usize,
}

impl Trapezoid {
    pub fn block_count(self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// Columns of a block.
    pub fn width(self, block: usize) -> usize {
        BLOCK.min(self.columns - BLOCK * block)
    }

    /// Rows of a block.
    pub fn height(self, block: usize) -> usize {
        self.rows - BLOCK * block
    }

    /// From one column of a block to the next.
    pub fn stride(self, block: usize) -> usize {
        /// Columns that are nearly a page apart compete for the same lines of the cache: these many `f64` are a page.
        const PAGE: usize = 512;
        /// How near they may come: two lines.
        const LEAST: usize = 16;
        let height = self.height(block);
        let past = (height + LEAST) % PAGE;
        if height > LEAST && past < 2 * LEAST { height + 2 * LEAST - past } else { height }
    }

    /// Where a block begins; for the block after the last, where the numbers end.
    pub fn start(self, block: usize) -> usize {
        (0..block).map(|block| self.width(block) * self.stride(block)).sum()
    }

    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.start(self.block_count())
    }

    /// Where a column begins, at the first row of its block.
    pub fn column(self, column: usize) -> usize {
        let block = column / BLOCK;
        self.start(block) + (column - BLOCK * block) * self.stride(block)
    }

    /// The numbers of a block on their own.
    pub fn of_block<T>(self, numbers: &[T], block: usize) -> &[T] {
        let start = self.start(block);
        &numbers[start..start + self.width(block) * self.stride(block)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_places_of_their_own_and_keep_off_pages() {
        for (rows, columns) in [(0, 0), (3, 3), (192, 192), (195, 192), (513, 513), (1500, 300), (2100, 2100)] {
            let shape = Trapezoid { rows, columns };
            let mut end = 0;
            for column in 0..columns {
                let block = column / BLOCK;
                assert!(shape.column(column) >= end, "{shape:?} {column}");
                end = shape.column(column) + rows - BLOCK * block;
                let stride = shape.stride(block);
                assert!(stride >= rows - BLOCK * block && stride < rows - BLOCK * block + 32);
                assert!(stride < 400 || (16..=496).contains(&(stride % 512)), "{shape:?}: {stride}");
            }
            assert!(shape.len() >= end);
            let full = (0..columns).map(|column| rows - column).sum::<usize>();
            assert!(shape.len() <= full + columns * (BLOCK / 2 + 32));
        }
    }
}
