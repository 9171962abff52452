//! Element types and the one table of their sizes.

use super::Text;
use std::fmt;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident $name:literal ($elements:literal, $bytes:literal),)*) => {
        /// The type of a tensor's elements. Multi-byte elements are little-endian unless the
        /// [`View`](crate::View) says otherwise.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        #[allow(non_camel_case_types)]
        pub enum DType {
            $($(#[$doc])* $variant,)*
            /// A type that this version does not know, by the name that the file gives it. It has no size.
            Unknown(Text),
        }

        /// (dtype, name, elements a block, bytes a block)
        const TABLE: &[(DType, &str, u64, u64)] = &[$((DType::$variant, $name, $elements, $bytes),)*];

        impl DType {
            fn row(&self) -> Option<(&'static str, u64, u64)> {
                match self {
                    $(DType::$variant => Some(($name, $elements, $bytes)),)*
                    DType::Unknown(_) => None,
                }
            }
        }
    };
}

// Names and sizes: safetensors 0.8.0, `Dtype`; the sub-byte types are those of the OCP Microscaling specification.
dtypes! {
    /// One byte: 0 is false.
    Bool "BOOL" (1, 1),
    /// 4-bit float E2M1, two in a byte.
    F4 "F4" (2, 1),
    /// 6-bit float E2M3, four in three bytes.
    F6_E2M3 "F6_E2M3" (4, 3),
    /// 6-bit float E3M2, four in three bytes.
    F6_E3M2 "F6_E3M2" (4, 3),
    /// Unsigned 8-bit integer.
    U8 "U8" (1, 1),
    /// Signed 8-bit integer.
    I8 "I8" (1, 1),
    /// 8-bit float E5M2, with infinities.
    F8_E5M2 "F8_E5M2" (1, 1),
    /// 8-bit float E4M3 without infinities ("fn").
    F8_E4M3 "F8_E4M3" (1, 1),
    /// 8-bit exponent without sign: a power of two, the scale of a Microscaling block.
    F8_E8M0 "F8_E8M0" (1, 1),
    /// 8-bit float E4M3, bias 8, no negative zero.
    F8_E4M3FNUZ "F8_E4M3FNUZ" (1, 1),
    /// 8-bit float E5M2, bias 16, no negative zero.
    F8_E5M2FNUZ "F8_E5M2FNUZ" (1, 1),
    /// Signed 16-bit integer.
    I16 "I16" (1, 2),
    /// Unsigned 16-bit integer.
    U16 "U16" (1, 2),
    /// IEEE half.
    F16 "F16" (1, 2),
    /// The upper half of an IEEE single.
    BF16 "BF16" (1, 2),
    /// Signed 32-bit integer.
    I32 "I32" (1, 4),
    /// Unsigned 32-bit integer.
    U32 "U32" (1, 4),
    /// IEEE single.
    F32 "F32" (1, 4),
    /// Two IEEE singles: real, imaginary.
    C64 "C64" (1, 8),
    /// IEEE double.
    F64 "F64" (1, 8),
    /// Signed 64-bit integer.
    I64 "I64" (1, 8),
    /// Unsigned 64-bit integer.
    U64 "U64" (1, 8),
}

/// Why a shape has no size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SizeError {
    /// The product does not fit 64 bits.
    Overflow,
    /// The elements do not fill whole blocks.
    PartialBlock,
    /// The element type is unknown.
    UnknownType,
}

impl DType {
    /// The type called `name`; `None` if this version does not know it.
    pub fn from_name(name: &str) -> Option<DType> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0.clone())
    }

    /// Every known type.
    pub fn all() -> impl Iterator<Item = DType> {
        TABLE.iter().map(|row| row.0.clone())
    }

    /// The short name, as in `F32` or `F8_E4M3`.
    pub fn name(&self) -> &str {
        match self {
            DType::Unknown(name) => name,
            known => known.row().map_or("", |row| row.0),
        }
    }

    /// Elements and bytes of the smallest group that is stored whole; `None` for an unknown type.
    pub fn block(&self) -> Option<(u64, u64)> {
        self.row().map(|row| (row.1, row.2))
    }

    /// Bytes that a dense tensor of this `shape` takes; only whole blocks have a size.
    ///
    /// The product runs from the left and counts *bits*, as the safetensors reference does: `[2^63, 4, 0]`
    /// overflows although it has no elements, and `U8 [2^61]` overflows as a number of bits.
    ///
    /// # Errors
    /// [`SizeError`] when there is no such number.
    pub fn byte_len(&self, shape: &[u64]) -> Result<u64, SizeError> {
        let (elements, bytes) = self.block().ok_or(SizeError::UnknownType)?;
        let n_elements =
            shape.iter().try_fold(1u64, |n, dim| n.checked_mul(*dim)).ok_or(SizeError::Overflow)?;
        if elements == 1 {
            // Nearly every type, and without a division: this runs once a tensor of every header.
            return n_elements.checked_mul(bytes * 8).map(|bits| bits >> 3).ok_or(SizeError::Overflow);
        }
        // Bits of a block may be no multiple of its elements (block-quantised types), so round the element's up.
        n_elements.checked_mul((bytes * 8).div_ceil(elements)).ok_or(SizeError::Overflow)?;
        if n_elements % elements != 0 {
            return Err(SizeError::PartialBlock);
        }
        (n_elements / elements).checked_mul(bytes).ok_or(SizeError::Overflow)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
