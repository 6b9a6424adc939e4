//! Error-free transformations shared by the functions of both precisions.

/// Defines long polynomials and exact products for a type; the mask covers the lower half of its mantissa.
macro_rules! exact {
    ($t:ty, $mask:literal) => {
        /// Evaluates a polynomial as even and odd terms, which are two independent chains of dependent
        /// operations. This helps in functions longer than the processor's out-of-order window.
        #[inline(always)]
        pub(super) fn even_odd_polynomial<const FMA: bool, const N: usize>(
            x: $t,
            coefficients: [$t; N],
        ) -> $t {
            let square = x * x;
            let [mut even, mut odd] = [0.0; 2];
            let mut i = 0;
            while i < N {
                // The last coefficient is that of power 0.
                let part = if (N - 1 - i).is_multiple_of(2) {
                    &mut even
                } else {
                    &mut odd
                };
                *part = if i < 2 {
                    coefficients[i]
                } else {
                    part.madd::<FMA>(square, coefficients[i])
                };
                i += 1;
            }
            odd.madd::<FMA>(x, even)
        }

        /// Returns the rounded product and its error.
        #[inline(always)]
        pub(in crate::cpu::numeric) fn product<const FMA: bool>(a: $t, b: $t) -> ($t, $t) {
            let product = a * b;
            if FMA {
                return (product, a.madd::<FMA>(b, -product));
            }
            let ((a, a_low), (b, b_low)) = (halves(a), halves(b));
            let low = ((a * b - product) + a * b_low) + a_low * b;
            (product, low + a_low * b_low)
        }

        /// Splits a number into the upper half of its digits and the rest.
        #[inline(always)]
        fn halves(x: $t) -> ($t, $t) {
            let high = <$t>::from_bits(x.to_bits() & !$mask);
            (high, x - high)
        }
    };
}
pub(super) use exact;
