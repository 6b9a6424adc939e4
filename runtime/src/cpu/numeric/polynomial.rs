//! Polynomials and multiply-adds, fused if the instruction set supports it.

/// Multiply-add, rounded once if the instruction set supports it.
pub(crate) trait Madd: Copy {
    /// Returns `self` * `factor` + `term`.
    fn madd<const FMA: bool>(self, factor: Self, term: Self) -> Self;
}

macro_rules! madd {
    ($($t:ty),*) => {$(
        impl Madd for $t {
            #[inline(always)]
            fn madd<const FMA: bool>(self, factor: Self, term: Self) -> Self {
                if FMA { self.mul_add(factor, term) } else { self * factor + term }
            }
        }
    )*};
}
madd!(f32, f64);

/// Evaluates a polynomial, from its highest coefficient down.
#[inline(always)]
pub(crate) fn polynomial<const FMA: bool, T: Madd, const N: usize>(
    x: T,
    coefficients: [T; N],
) -> T {
    let mut sum = coefficients[0];
    let mut i = 1;
    while i < N {
        sum = sum.madd::<FMA>(x, coefficients[i]);
        i += 1;
    }
    sum
}
