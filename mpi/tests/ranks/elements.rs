//! Elements that every rank can compute for every rank, and their combinations by plain loops.

use half::{bf16, f16};
use nomina::DType;
use nomina_mesh::Combine;
use nomina_runtime::Raw;
use num_complex::Complex;

/// An element type and its combinations.
pub trait Element: nomina::Element + Copy {
    /// Converts a number of a few digits. Products of four complex ones are exact.
    fn of(number: i64) -> Self;
    /// Combines two elements; `None` if the dtype has no such operator.
    fn combine(self, other: Self, combine: Combine) -> Option<Self>;
    /// Returns whether both are bitwise equal, except for the payload of a NaN.
    fn same(self, other: Self) -> bool;
}

macro_rules! integers {
    ($($t:ty)*) => {$(impl Element for $t {
        fn of(number: i64) -> Self {
            number.wrapping_mul(0x0123_4567_89ab_cdef) as $t
        }
        fn combine(self, other: Self, combine: Combine) -> Option<Self> {
            Some(match combine {
                Combine::Add => self.wrapping_add(other),
                Combine::Mul => self.wrapping_mul(other),
                Combine::Max => self.max(other),
                Combine::Min => self.min(other),
                Combine::Any | Combine::All => return None,
            })
        }
        fn same(self, other: Self) -> bool {
            self == other
        }
    })*};
}
integers!(u8 i8 i16 i32 i64);

macro_rules! floats {
    ($($t:ty, $wide:ty, $from:expr, $to:expr;)*) => {$(impl Element for $t {
        fn of(number: i64) -> Self {
            // Every 13th is NaN, every 29th infinite.
            let wide = match number.rem_euclid(377) {
                n if n % 29 == 5 => <$wide>::INFINITY,
                n if n % 13 == 7 => <$wide>::NAN,
                n => n as $wide * 0.37 - 41.0,
            };
            $from(wide)
        }
        fn combine(self, other: Self, combine: Combine) -> Option<Self> {
            let (a, b): ($wide, $wide) = ($to(self), $to(other));
            let wide = match combine {
                Combine::Add => a + b,
                Combine::Mul => a * b,
                Combine::Max | Combine::Min if a.is_nan() || b.is_nan() => <$wide>::NAN,
                Combine::Max => a.max(b),
                Combine::Min => a.min(b),
                Combine::Any | Combine::All => return None,
            };
            Some($from(wide))
        }
        fn same(self, other: Self) -> bool {
            let (a, b): ($wide, $wide) = ($to(self), $to(other));
            a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
        }
    })*};
}
floats! {
    f16, f32, f16::from_f32, f16::to_f32;
    bf16, f32, bf16::from_f32, bf16::to_f32;
    f32, f32, |x| x, |x| x;
    f64, f64, |x| x, |x| x;
}

macro_rules! complex {
    ($($t:ty)*) => {$(impl Element for Complex<$t> {
        fn of(number: i64) -> Self {
            let part = |n: i64| (n.rem_euclid(15) - 7) as $t / 4.0;
            Complex::new(part(number), part(number / 15))
        }
        fn combine(self, other: Self, combine: Combine) -> Option<Self> {
            match combine {
                Combine::Add => Some(self + other),
                Combine::Mul => Some(self * other),
                _ => None,
            }
        }
        fn same(self, other: Self) -> bool {
            self == other
        }
    })*};
}
complex!(f32 f64);

impl Element for bool {
    fn of(number: i64) -> Self {
        number.rem_euclid(7) < 4
    }
    fn combine(self, other: Self, combine: Combine) -> Option<Self> {
        match combine {
            Combine::Any | Combine::Add | Combine::Max => Some(self | other),
            Combine::All | Combine::Mul | Combine::Min => Some(self & other),
        }
    }
    fn same(self, other: Self) -> bool {
        self == other
    }
}

/// Calls a generic function for the element type of a dtype.
#[macro_export]
macro_rules! of_dtype {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use half::{bf16, f16};
        use nomina::DType;
        use num_complex::Complex;
        match $dtype {
            DType::Bool => {
                type $T = bool;
                $body
            }
            DType::U8 => {
                type $T = u8;
                $body
            }
            DType::I8 => {
                type $T = i8;
                $body
            }
            DType::I16 => {
                type $T = i16;
                $body
            }
            DType::I32 => {
                type $T = i32;
                $body
            }
            DType::I64 => {
                type $T = i64;
                $body
            }
            DType::F16 => {
                type $T = f16;
                $body
            }
            DType::BF16 => {
                type $T = bf16;
                $body
            }
            DType::F32 => {
                type $T = f32;
                $body
            }
            DType::F64 => {
                type $T = f64;
                $body
            }
            DType::C64 => {
                type $T = Complex<f32>;
                $body
            }
            DType::C128 => {
                type $T = Complex<f64>;
                $body
            }
        }
    }};
}

/// The memory layout of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Row-major.
    Dense,
    /// The last dim outermost.
    Turned,
    /// Every second index of the last dim of a larger tensor, backwards.
    Sparse,
    /// At an offset into a larger tensor, and shared with a clone of the caller.
    Part,
}

/// Returns the elements of a piece, which depend on its rank.
pub fn values<T: Element>(count: usize, whose: usize, salt: usize) -> Vec<T> {
    let seed = (whose * 7919 + salt * 104_729) as i64;
    (0..count as i64).map(|i| T::of(i * 31 + seed)).collect()
}

/// Creates a tensor of such elements with a memory layout.
pub fn piece(dtype: DType, shape: &[usize], whose: usize, salt: usize, lie: Lie) -> Raw {
    let count = shape.iter().product();
    of_dtype!(dtype, T => lay(&values::<T>(count, whose, salt), shape, lie))
}

fn lay<T: Element>(elements: &[T], shape: &[usize], lie: Lie) -> Raw {
    let dense = |elements: Vec<T>, shape: &[usize]| Raw::from_vec(elements, shape).unwrap();
    let Some(&last) = shape.last() else {
        return dense(elements.to_vec(), shape);
    };
    let rows = elements.len().checked_div(last).unwrap_or(0);
    match lie {
        Lie::Dense => dense(elements.to_vec(), shape),
        Lie::Turned => {
            let at = |i: usize| elements[i % rows * last + i / rows];
            let turned = (0..elements.len()).map(at).collect();
            let mut sizes = vec![last];
            sizes.extend(&shape[..shape.len() - 1]);
            let mut order: Vec<usize> = (1..shape.len()).collect();
            order.push(0);
            dense(turned, &sizes).permute(&order).unwrap()
        }
        Lie::Sparse => {
            let mut wide = vec![T::of(3); rows * last * 2];
            for (i, element) in elements.iter().enumerate() {
                let (row, column) = (i / last, i % last);
                wide[row * last * 2 + (last - 1 - column) * 2 + 1] = *element;
            }
            let mut sizes = shape.to_vec();
            let dim = sizes.len() - 1;
            sizes[dim] *= 2;
            let wide = dense(wide, &sizes).flip(dim).unwrap();
            wide.slice(dim, 0, last, 2).unwrap()
        }
        Lie::Part => {
            let mut wide = vec![T::of(5); rows * last];
            wide.extend(elements);
            let mut sizes = vec![2];
            sizes.extend(shape);
            dense(wide, &sizes).select(0, 1).unwrap()
        }
    }
}

/// Checks that a tensor has these elements.
pub fn check<T: Element>(found: &Raw, shape: &[usize], wanted: &[T], what: &str) {
    assert_eq!((found.dtype(), found.shape()), (T::DTYPE, shape), "{what}");
    let found = nomina_runtime::call::contiguous(found).unwrap();
    let found = found.as_slice::<T>().unwrap();
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        assert!(
            found.same(*wanted),
            "{what}: element {i} is {found:?}, not {wanted:?}"
        );
    }
}

/// Returns the combination of several ranks' elements, in order.
pub fn combined<T: Element>(
    ranks: impl Iterator<Item = usize>,
    combine: Combine,
    of: impl Fn(usize) -> Vec<T>,
) -> Option<Vec<T>> {
    let mut sum: Option<Vec<T>> = None;
    for rank in ranks {
        let one = of(rank);
        sum = Some(match sum {
            None => one,
            Some(sum) => {
                let pairs = sum.into_iter().zip(one);
                pairs
                    .map(|(a, b)| a.combine(b, combine))
                    .collect::<Option<_>>()?
            }
        });
    }
    sum
}
