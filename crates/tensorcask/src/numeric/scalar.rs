//! One element of a tensor as a number, and the shortest text that tells it from its neighbours.
//!
//! Narrow floats come from one table of layouts: IEEE 754 half, bfloat16, the 8-bit types of "FP8 Formats for Deep
//! Learning", the element types of the OCP Microscaling specification 1.0, and the two `FNUZ` types as ONNX describes
//! them. This is the reference; anything faster has to equal it.

use crate::core::DType;
use std::fmt;

/// The value of one element.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// An integer of any width.
    Int(i128),
    /// A float of any width, exactly: every narrow float is an `f64` too.
    Float {
        /// The value.
        value: f64,
        /// Bits of the stored mantissa: they decide how many digits tell it from its neighbours.
        mantissa_bits: u32,
    },
    /// Real and imaginary part, both IEEE singles.
    Complex(f32, f32),
}

/// What the bit patterns with the largest exponent mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    /// Infinity with a mantissa of zero, else not a number (IEEE 754).
    Ieee,
    /// Not a number with all mantissa bits set, else a number ("fn": finite).
    AllOnes,
    /// None; the pattern of negative zero is not a number ("fnuz": finite, unsigned zero).
    NegativeZero,
    /// None at all.
    Finite,
}

/// How a narrow float spends its bits: a sign, then the exponent, then the mantissa.
struct Layout {
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
}

const fn layout(exponent_bits: u32, mantissa_bits: u32, bias: i32, special: Special) -> Layout {
    Layout { exponent_bits, mantissa_bits, bias, special }
}

/// The layout of every float below 32 bits that has a sign.
fn narrow(dtype: &DType) -> Option<Layout> {
    Some(match dtype {
        DType::F16 => layout(5, 10, 15, Special::Ieee),
        DType::BF16 => layout(8, 7, 127, Special::Ieee),
        DType::F8_E5M2 => layout(5, 2, 15, Special::Ieee),
        DType::F8_E4M3 => layout(4, 3, 7, Special::AllOnes),
        DType::F8_E5M2FNUZ => layout(5, 2, 16, Special::NegativeZero),
        DType::F8_E4M3FNUZ => layout(4, 3, 8, Special::NegativeZero),
        DType::F6_E2M3 => layout(2, 3, 1, Special::Finite),
        DType::F6_E3M2 => layout(3, 2, 3, Special::Finite),
        DType::F4 => layout(2, 1, 1, Special::Finite),
        _ => return None,
    })
}

/// The element at position `index` of dense little-endian `bytes`.
///
/// Elements of less than a byte are packed from the lowest bit up. `None` when the bytes end before the element, or
/// when the type has no reading as a number.
///
/// ```
/// use tensorcask::{DType, numeric::decode};
///
/// let bytes = [0x00, 0x3c, 0x00, 0xc0];
/// assert_eq!(decode(&DType::F16, &bytes, 1).map(|value| value.to_string()).as_deref(), Some("-2.0"));
/// ```
pub fn decode(dtype: &DType, bytes: &[u8], index: u64) -> Option<Scalar> {
    let (block_elements, block_bytes) = dtype.block()?;
    let width = block_bytes * 8 / block_elements;
    let bits = bits_at(bytes, index.checked_mul(width)?, width)?;
    if let Some(layout) = narrow(dtype) {
        return Some(Scalar::Float { value: layout.value(bits), mantissa_bits: layout.mantissa_bits });
    }
    Some(match dtype {
        DType::Bool => Scalar::Bool(bits != 0),
        DType::U8 | DType::U16 | DType::U32 | DType::U64 => Scalar::Int(bits.into()),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            // The sign bit of the element is moved to the top and shifted back down, which copies it.
            let unused = 64 - width;
            Scalar::Int(((bits << unused).cast_signed() >> unused).into())
        }
        DType::F32 => Scalar::Float { value: single(bits).into(), mantissa_bits: 23 },
        DType::F64 => Scalar::Float { value: f64::from_bits(bits), mantissa_bits: 52 },
        DType::F8_E8M0 => {
            // OCP Microscaling 1.0, 5.4.1: a power of two, 127 is 2^0, all ones is not a number.
            let exponent = i32::try_from(bits).ok()? - 127;
            let value = if bits == 0xff { f64::NAN } else { f64::from(exponent).exp2() };
            Scalar::Float { value, mantissa_bits: 0 }
        }
        DType::C64 => Scalar::Complex(single(bits), single(bits >> 32)),
        _ => return None,
    })
}

/// The IEEE single in the low half.
fn single(bits: u64) -> f32 {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    f32::from_le_bytes([a, b, c, d])
}

/// `width` bits, at most 64, from the bit `first` on; the lowest bit of the lowest byte comes first.
fn bits_at(bytes: &[u8], first: u64, width: u64) -> Option<u64> {
    let start = usize::try_from(first / 8).ok()?;
    let end = usize::try_from((first + width).div_ceil(8)).ok()?;
    let mut raw = [0; 16];
    raw.get_mut(..end - start)?.copy_from_slice(bytes.get(start..end)?);
    let wide = u128::from_le_bytes(raw) >> (first % 8);
    u64::try_from(wide & ((1 << width) - 1)).ok()
}

impl Layout {
    fn value(&self, bits: u64) -> f64 {
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let exponent = (bits >> self.mantissa_bits) & ((1 << self.exponent_bits) - 1);
        let negative = bits >> (self.mantissa_bits + self.exponent_bits) & 1 == 1;
        let top = exponent == (1 << self.exponent_bits) - 1;
        let full = mantissa == (1 << self.mantissa_bits) - 1;
        let magnitude = match self.special {
            Special::Ieee if top && mantissa == 0 => f64::INFINITY,
            Special::Ieee if top => f64::NAN,
            Special::AllOnes if top && full => f64::NAN,
            Special::NegativeZero if negative && exponent == 0 && mantissa == 0 => f64::NAN,
            _ => self.finite(exponent, mantissa),
        };
        if negative { -magnitude } else { magnitude }
    }

    /// Every finite narrow float is exact as an `f64`: at most 10 mantissa bits, exponents of at most 8 bits.
    fn finite(&self, exponent: u64, mantissa: u64) -> f64 {
        let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa_bits };
        let digits = u32::try_from(mantissa + hidden).map_or(f64::NAN, f64::from);
        let exponent = i32::try_from(exponent.max(1)).unwrap_or(i32::MAX);
        digits * f64::from(exponent - self.bias).exp2() / f64::from(self.mantissa_bits).exp2()
    }
}

impl Scalar {
    /// The value as a float, where it is a real number; large integers are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Scalar::Bool(value) => Some(u8::from(value).into()),
            #[expect(clippy::cast_precision_loss, reason = "documented: large integers are rounded")]
            Scalar::Int(value) => Some(value as f64),
            Scalar::Float { value, .. } => Some(value),
            Scalar::Complex(..) => None,
        }
    }
}

/// The shortest text that reads back as the same element: `0.1` for the half that is nearest to it.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Bool(value) => f.pad(if value { "true" } else { "false" }),
            Scalar::Int(value) => f.pad(&value.to_string()),
            Scalar::Float { value, mantissa_bits } => f.pad(&shortest(value, mantissa_bits)),
            Scalar::Complex(re, im) => f.pad(&format!("{}{}j", Plain(re.into(), 23), Signed(im.into()))),
        }
    }
}

struct Plain(f64, u32);
struct Signed(f64);

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shortest(self.0, self.1))
    }
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0.is_sign_negative() && !self.0.is_nan() { "" } else { "+" };
        write!(f, "{sign}{}", Plain(self.0, 23))
    }
}

/// The shortest decimal that lies nearer to `value` than to its neighbours with `mantissa_bits` bits.
fn shortest(value: f64, mantissa_bits: u32) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() || value == 0.0 || mantissa_bits == 52 {
        return format!("{value:?}");
    }
    // Types of 8 bits and less have so few values that their exact digits are the better text.
    if mantissa_bits == 23 || mantissa_bits < 4 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the value came from 32 bits or fewer and fits again"
        )]
        return format!("{:?}", value as f32);
    }
    let step = (value.abs().log2().floor() - f64::from(mantissa_bits)).exp2();
    let nearest = (0..17).map(|digits| format!("{value:.digits$e}").parse::<f64>().unwrap_or(value));
    let close = nearest.into_iter().find(|text| (text - value).abs() < step / 2.0).unwrap_or(value);
    format!("{close:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::reference;

    fn text(dtype: &DType, bytes: &[u8], index: u64) -> Option<String> {
        decode(dtype, bytes, index).map(|scalar| scalar.to_string())
    }

    #[expect(clippy::float_cmp, reason = "the very same value is what is asked for")]
    fn same(a: f64, b: f64) -> bool {
        a == b && a.is_sign_negative() == b.is_sign_negative() || a.is_nan() && b.is_nan()
    }

    #[test]
    fn every_value_of_a_type_of_eight_bits_equals_the_peer() {
        for (dtype, values) in reference::EIGHT_BITS {
            let mut n_values = 0;
            for (bits, want) in (0..=255u8).zip(values.split_whitespace()) {
                let want: f64 = want.parse().unwrap();
                let got = decode(dtype, &[bits], 0).and_then(|scalar| scalar.as_f64()).unwrap();
                assert!(same(got, want), "{dtype} {bits:#04x}: {got} is not {want}");
                n_values += 1;
            }
            assert_eq!(n_values, 256, "{dtype}");
        }
    }

    #[test]
    fn every_value_of_a_packed_type_equals_the_peer() {
        for (dtype, width, values) in reference::PACKED {
            let values: Vec<f64> = values.split_whitespace().map(|value| value.parse().unwrap()).collect();
            assert_eq!(values.len(), 1 << width, "{dtype}");
            // All patterns in order, packed from the lowest bit up, into one run of bytes.
            let mut bytes = vec![0u8; values.len() * width / 8];
            for (pattern, first) in (0..values.len()).zip((0..).step_by(*width)) {
                for bit in 0..*width {
                    bytes[(first + bit) / 8] |= u8::from(pattern >> bit & 1 == 1) << ((first + bit) % 8);
                }
            }
            for (index, want) in (0..).zip(&values) {
                let got = decode(dtype, &bytes, index).and_then(|scalar| scalar.as_f64()).unwrap();
                assert!(same(got, *want), "{dtype} {index}: {got} is not {want}");
            }
            assert_eq!(decode(dtype, &bytes, values.len() as u64), None, "{dtype}");
        }
    }

    #[test]
    fn sixteen_bits_equal_the_peer() {
        for (dtype, rows) in reference::SIXTEEN_BITS {
            for (bits, want) in *rows {
                let got = decode(dtype, &bits.to_le_bytes(), 0).and_then(|scalar| scalar.as_f64()).unwrap();
                assert!(same(got, *want), "{dtype} {bits:#06x}: {got} is not {want}");
            }
        }
    }

    #[test]
    fn integers_keep_their_sign_and_width() {
        assert_eq!(decode(&DType::I8, &[0x7f, 0x80], 1), Some(Scalar::Int(-128)));
        assert_eq!(decode(&DType::I16, &[0xfe, 0xff], 0), Some(Scalar::Int(-2)));
        assert_eq!(decode(&DType::U64, &[0xff; 8], 0), Some(Scalar::Int(u64::MAX.into())));
        assert_eq!(decode(&DType::I64, &i64::MIN.to_le_bytes(), 0), Some(Scalar::Int(i64::MIN.into())));
        assert_eq!(decode(&DType::I32, &[0; 7], 1), None);
    }

    #[test]
    fn an_unknown_type_has_no_numbers() {
        assert_eq!(decode(&DType::Unknown("Q9".into()), &[0; 64], 0), None);
        assert_eq!(decode(&DType::U8, &[1], u64::MAX), None);
    }

    #[test]
    fn text_is_as_short_as_the_type_allows() {
        // 0x2e66 is the half nearest to 0.1, 0x3dcd the bfloat16.
        assert_eq!(text(&DType::F16, &[0x66, 0x2e], 0).as_deref(), Some("0.1"));
        assert_eq!(text(&DType::BF16, &[0xcd, 0x3d], 0).as_deref(), Some("0.1"));
        assert_eq!(text(&DType::F32, &0.1f32.to_le_bytes(), 0).as_deref(), Some("0.1"));
        assert_eq!(text(&DType::F64, &0.1f64.to_le_bytes(), 0).as_deref(), Some("0.1"));
        assert_eq!(text(&DType::F8_E4M3, &[0x7e], 0).as_deref(), Some("448.0"));
        assert_eq!(text(&DType::F8_E8M0, &[0x7f], 0).as_deref(), Some("1.0"));
        assert_eq!(text(&DType::C64, &[0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0], 0).as_deref(), Some("1.0-2.0j"));
        assert_eq!(text(&DType::Bool, &[2], 0).as_deref(), Some("true"));
    }
}
