//! Options for writing.

/// Options for writing; the default suits most readers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Text or binary, where a format has both.
    pub encoding: Encoding,
    /// Version of Gmsh's format.
    pub gmsh: GmshVersion,
}

/// Text or binary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// Usual encoding of the format that keeps coordinates exactly.
    #[default]
    Usual,
    /// Text with enough digits to read every number back exactly.
    Text,
    /// Binary.
    Binary,
}

/// A version of Gmsh's `.msh` format.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GmshVersion {
    /// 2.2, which almost everything reads.
    V2_2,
    /// 4.1, which Gmsh writes today.
    #[default]
    V4_1,
}
