//! Maps the bits of an element to a number with the same order.

use std::ops::BitXor;

use nomina_core::DType;

/// The interpretation of a dtype's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyKind {
    /// Booleans and unsigned integers.
    Unsigned,
    /// Two's complement integers.
    Signed,
    /// Floats with a sign, an exponent and a fraction; the field is the bits of infinity.
    Float(u64),
}

impl KeyKind {
    /// Returns the size of a dtype in bytes, and its kind. Complex numbers have no order.
    pub fn for_dtype(dtype: DType) -> (usize, Self) {
        let kind = match dtype {
            DType::F16 => Self::Float(0x7c00),
            DType::BF16 => Self::Float(0x7f80),
            DType::F32 => Self::Float(0x7f80_0000),
            DType::F64 => Self::Float(0x7ff0_0000_0000_0000),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => Self::Signed,
            _ => Self::Unsigned,
        };
        (dtype.size(), kind)
    }
}

/// The bits of an element.
pub(crate) trait KeyBits:
    Copy + Default + Ord + BitXor<Output = Self> + Send + Sync + 'static
{
    /// The number of bits.
    const WIDTH: u32;
    /// Extends the bits to 64.
    fn wide(self) -> u64;
    /// Returns the lowest bits of a number.
    fn narrow(bits: u64) -> Self;
    /// Returns the key of a signed integer.
    fn of_signed(self) -> Self;
    /// Returns the key of a float whose infinity has these bits.
    fn of_float(self, infinity: Self) -> Self;

    /// All bits set.
    const ALL: u64 = u64::MAX >> (64 - Self::WIDTH);
    /// The highest bit.
    const SIGN: u64 = 1 << (Self::WIDTH - 1);

    /// Returns a number in the order of the elements: zeros of both signs are equal, and every NaN
    /// is the greatest number of this width, which no other float maps to.
    #[inline(always)]
    fn key(self, kind: KeyKind) -> u64 {
        match kind {
            KeyKind::Unsigned => self.wide(),
            KeyKind::Signed => self.of_signed().wide(),
            KeyKind::Float(infinity) => self.of_float(Self::narrow(infinity)).wide(),
        }
    }

    /// Returns whether the element is NaN.
    #[inline(always)]
    fn is_nan(self, kind: KeyKind) -> bool {
        match kind {
            KeyKind::Float(infinity) => self.wide() & !Self::SIGN > infinity,
            _ => false,
        }
    }
}

macro_rules! bits {
    ($($t:ty)*) => {$(
        impl KeyBits for $t {
            const WIDTH: u32 = <$t>::BITS;
            #[inline(always)]
            fn wide(self) -> u64 {
                u64::from(self)
            }
            #[inline(always)]
            fn narrow(bits: u64) -> Self {
                bits as $t
            }
            #[inline(always)]
            fn of_signed(self) -> Self {
                self ^ Self::SIGN as $t
            }
            #[inline(always)]
            fn of_float(self, infinity: Self) -> Self {
                const SIGN: $t = <$t as KeyBits>::SIGN as $t;
                let magnitude = self & !SIGN;
                let signed = if self & SIGN == 0 { self | SIGN } else { !self };
                let number = if magnitude == 0 { SIGN } else { signed };
                if magnitude > infinity { <$t>::MAX } else { number }
            }
        }
    )*};
}
bits!(u8 u16 u32 u64);
