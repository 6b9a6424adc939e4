//! Macros: expressions as long as plain Rust accepts, lists of thousands of items, deeply nested
//! dims.

use nomina::dims::Without;
use nomina::prelude::*;

dims! { N }

/// Builds `x op op ..`: each of the trailing numbers repeats all operators so far.
macro_rules! often {
    ($x:ident [$($first:tt)*] [$($op:tt)*]) => { fuse!(|$x| $($first)* $($op)*) };
    ($x:ident $first:tt [$($op:tt)*] 2 $($more:tt)*) => {
        often!($x $first [$($op)* $($op)*] $($more)*)
    };
    ($x:ident $first:tt [$($op:tt)*] 5 $($more:tt)*) => {
        often!($x $first [$($op)* $($op)* $($op)* $($op)* $($op)*] $($more)*)
    };
}

fn values() -> Tensor<(N,)> {
    tensor!([1., -2., 3.5]; N)
}

#[test]
fn long_chains() {
    let x = values();
    // 1,000 calls, 1,250 operators, and 375 operators with numbers in between.
    let y: Tensor<(N,)> = often!(x [x] [.neg()] 5 5 5 2 2 2);
    assert_eq!(y.to_vec(), x.to_vec());
    let y: Tensor<(N,)> = often!(x [x] [+ x] 5 5 5 5 2);
    assert_eq!(y.to_vec(), [1251., -2502., 4378.5]);
    let y: Tensor<(N,)> = often!(x [x] [- x * 2.0 + { 1.0_f32 }] 5 5 5);
    assert_eq!(y.to_vec(), [-124., 623., -746.5]);
}

/// Each number wraps the expression in two more pairs of parentheses.
macro_rules! nested {
    ($x:ident [$($inner:tt)*]) => { fuse!(|$x| $($inner)*) };
    ($x:ident [$($inner:tt)*] 1 $($more:tt)*) => {
        nested!($x [(-($x - ($($inner)*)))] $($more)*)
    };
}

#[test]
fn deep_parentheses() {
    let x = values();
    let y: Tensor<(N,)> = nested!(x [x * 0.0] 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1);
    assert_eq!(y.to_vec(), [-24., 48., -84.]);
}

#[test]
fn many_steps_with_names() {
    macro_rules! steps {
        ($x:ident $h:ident [$($done:tt)*]) => {
            fuse!(|$x| { let $h = $x * 1.0; $($done)* $h + 0.0 })
        };
        ($x:ident $h:ident [$($done:tt)*] 5 $($more:tt)*) => {
            steps!($x $h [$($done)* $($done)* $($done)* $($done)* $($done)*] $($more)*)
        };
    }
    let x = values();
    let y: Tensor<(N,)> = steps!(x h [let h = h + x;] 5 5 5 5);
    assert_eq!(y.to_vec(), [626., -1252., 2191.]);
}

#[test]
fn long_rows() {
    macro_rules! row {
        ([$($done:tt)*]) => { tensor!([$($done)*]; N) };
        ([$($done:tt)*] 5 $($more:tt)*) => { row!([$($done)* $($done)* $($done)* $($done)* $($done)*] $($more)*) };
    }
    let y = row!([1, -2, 3_i64, 0xff,] 5 5 5 5 5);
    assert_eq!(y.size(N), 4 * 3125);
    assert_eq!(y.sum(N).item(), 257 * 3125);
}

/// Used as types only.
#[allow(dead_code)]
mod forty {
    nomina::dims! {
        pub A0, pub A1, pub A2, pub A3, pub A4, pub A5, pub A6, pub A7, pub A8, pub A9, pub A10,
        pub A11, pub A12, pub A13, pub A14, pub A15, pub A16, pub A17, pub A18, pub A19, pub A20,
        pub A21, pub A22, pub A23, pub A24, pub A25, pub A26, pub A27, pub A28, pub A29, pub A30,
        pub A31, pub A32, pub A33, pub A34, pub A35, pub A36, pub A37, pub A38, pub A39
    }
}
use forty::*;

/// Builds `Without<Without<D, A0>, A1>`, and so on.
macro_rules! without {
    ($name:ident [$($dims:tt)*] [$($sums:tt)*]) => {
        // The function with forty dims is never called.
        #[allow(dead_code)]
        #[relations]
        fn $name<D>(x: &Tensor<D>) -> Tensor<$($dims)*> {
            x$($sums)*
        }
    };
    ($name:ident [$($dims:tt)*] [$($sums:tt)*] $dim:ident $($more:ident)*) => {
        without!($name [Without<$($dims)*, $dim>] [$($sums)* .sum($dim)] $($more)*);
    };
}

without!(three [D] [] A0 A1 A2);

without!(all [D] []
    A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 A16 A17 A18 A19 A20 A21 A22 A23 A24
    A25 A26 A27 A28 A29 A30 A31 A32 A33 A34 A35 A36 A37 A38 A39);

#[test]
fn nouns_within_nouns() {
    let x = Tensor::<(A0, N, A1, A2)>::ones([4, 3, 2, 5]);
    assert_eq!(three(&x).to_vec(), [40.; 3]);
    let _: fn(&Tensor<(A0, N, A1, A2)>) -> Tensor<(N,)> = three;
}
