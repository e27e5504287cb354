//! Files: their stores, their errors, and what readers and writers of any format share.
//!
//! [`Files`] is where bytes come from and go to: [`Disk`], or [`Memory`] for tests and for programs that keep files
//! there. Files appear complete or not at all. `Scanner` reads text or binary data and knows its [`Location`] for
//! errors; `Seal` and `Sealed` write and read Pliant's checksummed binary files.

#[cfg(feature = "formats")]
mod binary;
#[cfg(feature = "formats")]
mod disk;
mod error;
mod quote;
#[cfg(feature = "formats")]
mod scan;
mod sealed;
mod store;
#[cfg(feature = "formats")]
mod text;

#[cfg(feature = "formats")]
pub use disk::{Disk, Draft};
pub use error::{Location, ReadError, WriteError};
pub use quote::quote;
pub use store::{Files, Memory};

#[cfg(feature = "formats")]
pub(crate) use binary::{Number, Scalar, decode};
#[cfg(feature = "formats")]
pub(crate) use scan::{Scanner, Syntax};
pub(crate) use sealed::{Seal, Sealed};
#[cfg(feature = "formats")]
pub(crate) use text::put;
