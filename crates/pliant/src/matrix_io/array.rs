//! Dense arrays of numbers.

/// Dense array of numbers in rows and columns. A vector is one column.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Numbers in row-major order.
    pub(super) values: Vec<f64>,
}

impl Array {
    /// Creates a vector: an array of one column.
    pub fn vector(values: Vec<f64>) -> Self {
        Self { rows: values.len(), columns: 1, values }
    }

    /// Creates an array of `columns` columns from numbers in row-major order. Returns `None` if the last row is
    /// incomplete.
    pub fn from_rows(columns: usize, values: Vec<f64>) -> Option<Self> {
        let rows = if values.is_empty() { 0 } else { values.len().checked_div(columns)? };
        (rows.checked_mul(columns)? == values.len()).then_some(Self { rows, columns, values })
    }

    /// Returns the number of rows.
    pub fn row_count(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn column_count(&self) -> usize {
        self.columns
    }

    /// Returns the numbers in row-major order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }
}
