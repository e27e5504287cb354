//! Files: their stores, their errors, and what readers and writers of any format share.
//!
//! [`Files`] is where bytes come from and go to: [`Disk`], or [`Memory`] for tests and for programs that keep files
//! there. Files appear complete or not at all. `Scanner` reads text or binary data and knows its [`Location`] for
//! errors; `Seal` and `Sealed` write and read Pliant's checksummed binary files.

mod binary;
mod error;
mod scan;
mod sealed;
mod store;

pub use error::{Location, ReadError, WriteError};
pub use scan::quote;
pub use store::{Disk, Draft, Files, Memory};

pub(crate) use binary::{Number, Scalar, decode};
pub(crate) use scan::{Scanner, Syntax};
pub(crate) use sealed::{Seal, Sealed};
pub(crate) use store::put;
