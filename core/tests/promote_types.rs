//! Promotion in types equals promotion by value, for every pair.

use half::{bf16, f16};
use nomina_core::*;
use num_complex::Complex;

/// Runs `$each!(T, U)` for every pair of dtypes.
macro_rules! pairs {
    ($each:ident) => {
        pairs!(@rows $each [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 C64 C128]
            [bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 C64 C128])
    };
    (@rows $each:ident [$($t:ident)*] $all:tt) => { $(pairs!(@row $each $t $all);)* };
    (@row $each:ident $t:ident [$($u:ident)*]) => { $($each!($t, $u);)* };
}

type C64 = Complex<f32>;
type C128 = Complex<f64>;

fn by_value(left: (DType, usize), right: (DType, usize)) -> DType {
    let mut promoter = Promoter::new(DType::F32);
    promoter.tensor(left.0, left.1);
    promoter.tensor(right.0, right.1);
    promoter.result()
}

#[test]
fn tensors() {
    let mut count = 0;
    macro_rules! check {
        ($t:ty, $u:ty) => {{
            let (t, u) = (<$t>::DTYPE, <$u>::DTYPE);
            let alike = <Promoted<$t, $u, Alike>>::DTYPE;
            assert_eq!(alike, t.promote(u), "{t} {u}");
            assert_eq!(alike, by_value((t, 2), (u, 1)), "{t} {u}");
            let left = <Promoted<$t, $u, LeftZeroDim>>::DTYPE;
            assert_eq!(left, by_value((t, 0), (u, 1)), "zero-dim {t}, {u}");
            let right = <Promoted<$t, $u, RightZeroDim>>::DTYPE;
            assert_eq!(right, by_value((t, 1), (u, 0)), "{t}, zero-dim {u}");
            count += 1;
        }};
    }
    pairs!(check);
    assert_eq!(count, 144);
}

#[test]
fn numbers() {
    macro_rules! check {
        ($t:ty, $s:ty) => {{
            let mut promoter = Promoter::new(DType::F32);
            promoter.tensor(<$t>::DTYPE, 1);
            promoter.scalar(<$s>::default().into());
            let (t, s) = (<$t>::DTYPE, <$s>::DTYPE);
            assert_eq!(
                <WithScalar<$t, $s>>::DTYPE,
                promoter.result(),
                "{t} with number {s}"
            );
        }};
    }
    pairs!(check);
}

#[test]
fn storing() {
    macro_rules! check {
        ($t:ty, $u:ty) => {{
            struct Ask<T>(core::marker::PhantomData<T>);
            #[allow(dead_code)]
            trait Otherwise {
                const HOLDS: bool = false;
            }
            impl<T> Otherwise for Ask<T> {}
            #[allow(dead_code)]
            impl<T: StoreAs<$u>> Ask<T> {
                const HOLDS: bool = true;
            }
            let (t, u) = (<$t>::DTYPE, <$u>::DTYPE);
            assert_eq!(<Ask<$t>>::HOLDS, t.can_cast(u), "{t} as {u}");
        }};
    }
    pairs!(check);
}
