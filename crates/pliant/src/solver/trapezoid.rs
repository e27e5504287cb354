//! Memory layout of the dense matrices of a factor.

/// Columns per block, the unit of work of a thread.
pub(super) const BLOCK: usize = 96;

/// Lower trapezoid of a dense matrix in blocks of columns. Each block begins at the row of its first column, so that
/// little memory is used above the diagonal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Trapezoid {
    pub rows: usize,
    pub columns: usize,
}

impl Trapezoid {
    pub fn block_count(self) -> usize {
        self.columns.div_ceil(BLOCK)
    }

    /// Returns the number of columns of a block.
    pub fn width(self, block: usize) -> usize {
        BLOCK.min(self.columns - BLOCK * block)
    }

    /// Returns the number of rows of a block.
    pub fn height(self, block: usize) -> usize {
        self.rows - BLOCK * block
    }

    /// Returns the distance from one column of a block to the next.
    pub fn stride(self, block: usize) -> usize {
        /// Page size in `f64`: columns that are nearly a page apart compete for the same cache lines.
        const PAGE: usize = 512;
        /// Minimum distance from a multiple of a page: two cache lines.
        const LEAST: usize = 16;
        let height = self.height(block);
        let past = (height + LEAST) % PAGE;
        if height > LEAST && past < 2 * LEAST { height + 2 * LEAST - past } else { height }
    }

    /// Returns the offset of a block. For the block after the last, returns the total length.
    pub fn start(self, block: usize) -> usize {
        (0..block).map(|block| self.width(block) * self.stride(block)).sum()
    }

    /// Returns the total length.
    pub fn len(self) -> usize {
        self.start(self.block_count())
    }

    /// Returns the offset of a column, at the first row of its block.
    pub fn column(self, column: usize) -> usize {
        let block = column / BLOCK;
        self.start(block) + (column - BLOCK * block) * self.stride(block)
    }

    /// Returns the values of one block.
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
