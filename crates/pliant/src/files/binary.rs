//! Numbers in binary data, of a type known at compile time or named by the file.

/// Number type of binary files.
pub(crate) trait Scalar: Copy {
    const BYTES: usize;
    /// Decodes exactly [`Self::BYTES`] bytes, least significant first if `little`.
    fn decode(bytes: &[u8], little: bool) -> Self;
}

macro_rules! scalar {
    ($($type:ty),*) => {$(
        impl Scalar for $type {
            const BYTES: usize = size_of::<$type>();
            fn decode(bytes: &[u8], little: bool) -> Self {
                let bytes = bytes.try_into().expect("the caller cuts pieces of this size");
                if little { Self::from_le_bytes(bytes) } else { Self::from_be_bytes(bytes) }
            }
        }
    )*};
}
scalar!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

/// Decodes all numbers of a piece of binary data.
pub(crate) fn decode<T: Scalar>(bytes: &[u8], little: bool) -> impl ExactSizeIterator<Item = T> {
    bytes.chunks_exact(T::BYTES).map(move |piece| T::decode(piece, little))
}

/// Number type that a file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// Decodes all numbers of a piece of binary data, converted with `as`.
macro_rules! convert {
    ($number:expr, $bytes:expr, $little:expr, $to:ty) => {
        match $number {
            Number::I8 => decode::<i8>($bytes, $little).map(|x| x as $to).collect(),
            Number::U8 => decode::<u8>($bytes, $little).map(|x| x as $to).collect(),
            Number::I16 => decode::<i16>($bytes, $little).map(|x| x as $to).collect(),
            Number::U16 => decode::<u16>($bytes, $little).map(|x| x as $to).collect(),
            Number::I32 => decode::<i32>($bytes, $little).map(|x| x as $to).collect(),
            Number::U32 => decode::<u32>($bytes, $little).map(|x| x as $to).collect(),
            Number::I64 => decode::<i64>($bytes, $little).map(|x| x as $to).collect(),
            Number::U64 => decode::<u64>($bytes, $little).map(|x| x as $to).collect(),
            Number::F32 => decode::<f32>($bytes, $little).map(|x| x as $to).collect(),
            Number::F64 => decode::<f64>($bytes, $little).map(|x| x as $to).collect(),
        }
    };
}

#[allow(clippy::cast_lossless, reason = "one macro for all types")]
impl Number {
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub const fn is_whole(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    /// Decodes one number from exactly as many bytes as its type has. Integers too large for an f64 are too large for
    /// any use here.
    pub fn float(self, bytes: &[u8], little: bool) -> f64 {
        match self {
            Self::I8 => i8::decode(bytes, little).into(),
            Self::U8 => u8::decode(bytes, little).into(),
            Self::I16 => i16::decode(bytes, little).into(),
            Self::U16 => u16::decode(bytes, little).into(),
            Self::I32 => i32::decode(bytes, little).into(),
            Self::U32 => u32::decode(bytes, little).into(),
            Self::I64 => i64::decode(bytes, little) as f64,
            Self::U64 => u64::decode(bytes, little) as f64,
            Self::F32 => f32::decode(bytes, little).into(),
            Self::F64 => f64::decode(bytes, little),
        }
    }

    pub fn floats(self, bytes: &[u8], little: bool) -> Vec<f64> {
        convert!(self, bytes, little, f64)
    }

    /// Decodes integers; those beyond `i64` become negative. Only for integer types.
    pub fn integers(self, bytes: &[u8], little: bool) -> Vec<i64> {
        convert!(self, bytes, little, i64)
    }
}
