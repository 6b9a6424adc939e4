//! What functions of either precision need of numbers that are not rounded.

/// Long polynomials and exact products of a type, the lower half of whose digits the mask has.
macro_rules! exact {
    ($t:ty, $mask:literal) => {
        /// A polynomial as those of its even and its odd terms: what waits for one does not wait for the other,
        /// which counts where a function is longer than what a processor looks ahead.
        #[inline(always)]
        pub(super) fn long<const FMA: bool, const N: usize>(x: $t, coefficients: [$t; N]) -> $t {
            let square = x * x;
            let [mut even, mut odd] = [0.0; 2];
            let mut i = 0;
            while i < N {
                // The last one is that of the power 0.
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

        /// The product, rounded, and what that lacks.
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

        /// The number as the upper half of its digits and the rest.
        #[inline(always)]
        fn halves(x: $t) -> ($t, $t) {
            let high = <$t>::from_bits(x.to_bits() & !$mask);
            (high, x - high)
        }
    };
}
pub(super) use exact;
