//! Vectors and matrices in files, to exchange with NumPy, SciPy, MATLAB, Julia and others. The extension chooses the
//! format:
//!
//! | files | content | |
//! |---|---|---|
//! | `.mtx` | sparse matrices, arrays | Matrix Market, text that most programs read |
//! | `.npz` | sparse matrices | for `scipy.sparse.load_npz`; write-only |
//! | `.npy` | arrays | for `numpy.load` |
//! | `.txt`, `.dat`, `.csv` | arrays | one line per row |
//! | any other | arrays | binary matrices of VegaFEM; read-only |
//!
//! Numbers survive a round trip to the last bit. Readers treat their input as untrusted, like those of
//! [`io`](crate::io).

mod array;
mod by_extension;
mod matrix_market;
mod npy;
mod npz;
mod text;
mod vega;

pub use array::Array;
pub use by_extension::{
    read_array, read_array_from, read_matrix, read_matrix_from, read_vertex_vectors, read_vertex_vectors_from,
    write_array, write_array_to, write_matrix, write_matrix_to,
};

use by_extension::check_finite;
