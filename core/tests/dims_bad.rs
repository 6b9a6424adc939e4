//! Bounds that must not hold, relation by relation, checked without a compile error. The messages
//! are tested in `ui-tests`.

use nomina_core::dims::*;

#[macro_use]
mod dims_support;
use dims_support::*;

/// Asserts that the first type satisfies the bound, so that a `never!` with the same bound is
/// meaningful.
macro_rules! only {
    ($good:ty: $($bound:tt)+) => { assert!(holds!($good: $($bound)+), "{}", stringify!($($bound)+)) };
}
macro_rules! never {
    ($bad:ty: $($bound:tt)+) => { assert!(!holds!($bad: $($bound)+), "{}", stringify!($($bound)+)) };
}

#[test]
fn spelling_decides() {
    only!((N,): Has<other::N>);
    // Equal hashes with different spellings; and a spelling that is a part of another.
    never!((N,): Has<C>);
    never!((N,): Has<NC>);
    never!((NC,): Has<N>);
    never!((Wild,): Has<Wild>);
    // `C`, `N` and `NC` share a prefix, so the position is found by comparing name by name.
    only!((C, H, N): Has<N>);
    never!((C, H, N): Has<NC>);
    never!((C, Wild, N): Has<NC>);
    never!((N, C): Broadcast<(N, N)>);
    never!((N, C): Broadcast<(NC, C)>);
}

#[test]
fn broadcast() {
    only!((N, C): Broadcast<(C,)>);
    never!((N, C): Broadcast<(N,)>);
    never!((N,): Broadcast<(N, C)>);
    never!((N, C): Broadcast<(H,)>);
    never!((N, C): Broadcast<(C, N)>);
    // A name next to a `Wild` must not be anywhere else in the list with the `Wild`.
    never!((C, Wild): Broadcast<(Wild, C)>);
    never!((N, Wild): Broadcast<(N,)>);
    never!((N,): Broadcast<(N, Wild)>);
    only!((N, Wild): Broadcast<(Wild, C)>);
    // One name with two constant sizes.
    only!((N, Rgb): Broadcast<(Rgb,)>);
    never!((N, Rgb): Broadcast<(other::Rgb,)>);
}

#[test]
fn in_place_and_out() {
    only!((N, C): HoldsInPlace<(N, C)>);
    only!((N, Wild): HoldsInPlace<(N, C)>);
    never!((C,): HoldsInPlace<(N, C)>);
    only!((Wild, C): Holds<(N, C)>);
    never!((C, N): Holds<(N, C)>);
    never!((N, C): Holds<(N, Wild)>);
    never!((N,): Holds<(N, C)>);
}

#[test]
fn axes() {
    only!((N, C): In<(N, C, H)>);
    only!(C: In<(N, C)>);
    never!(H: In<(N, C)>);
    never!((N, H): In<(N, C)>);
    never!((N, N): In<(N, C)>);
    never!(C: In<(N, Wild)>);
    only!(C: DimOf<(N, C)>);
    never!(H: DimOf<(N, C)>);
    never!((N, C): DimOf<(N, C)>);
    only!((N, C): NotBehindWild<H>);
    never!((N, Wild): NotBehindWild<H>);
    only!((N, Wild): Has<N>);
    never!((N, C): Has<H>);
    never!((N, Wild): Has<H>);
    never!(&'static str: Axes);
    only!(C: Primable<(N, C)>);
    never!(K: Primable<(N, C)>);
    never!(C: Primable<(Prime<C>, C)>);
}

#[test]
fn order() {
    only!((C, N): Order<(N, C)>);
    never!((N, C): Order<(N, C, H)>);
    never!((N, C, N): Order<(N, C)>);
    never!((N, core::ops::RangeFull, N): Order<(N, C)>);
    never!((core::ops::RangeFull, N, core::ops::RangeFull): Order<(N, C)>);
    never!((C, N): Order<(N, Wild)>);
    only!((core::ops::RangeFull, N): Order<(N, Wild)>);
    never!((N, i32): OrderSpec);
    never!((C,): AlignInto<(N, H)>);
    never!((Wild,): AlignInto<(N, H)>);
}

#[test]
fn names() {
    only!(C: Rename<(N, C), K>);
    never!(H: Rename<(N, C), K>);
    never!(N: Rename<(N, C), C>);
    never!((N, C): Rename<(N, C), A>);
    never!((N, C): Rename<(N, C), (A, A)>);
    never!(core::ops::RangeFull: Rename<(N, C), (A, B, E)>);
    never!(core::ops::RangeFull: Rename<(N, C), (A, A)>);
    never!((N, C, H): Flat);
    only!((N, C): Refine<(N, Wild)>);
    never!((N, C): Refine<(N, H)>);
    never!((N, C, H): Refine<(N, Wild)>);
    never!((N, N): Refine<(N, Wild)>);
}

#[test]
fn shape() {
    only!((C, H): Flatten<(N, C, H, W), K>);
    only!((C, H): Flatten<(N, C, H, W), C>);
    never!((C, W): Flatten<(N, C, H, W), K>);
    never!((H, C): Flatten<(N, C, H, W), K>);
    never!((C, K): Flatten<(N, C, H, W), K>);
    never!((K, C): Flatten<(N, C, H, W), K>);
    never!((C, H): Flatten<(N, C, H, W), N>);
    never!((W, Wild): FlattenArg);
    never!(C: FlattenArg);
    never!((C,): FlattenArg);
    only!(K: Unflatten<(N, K), (Of<C>, Of<H>)>);
    never!(K: Unflatten<(N, K), (Of<N>, Of<H>)>);
    never!(K: Unflatten<(N, K), (Of<H>, Of<H>)>);
    never!(C: Unflatten<(N, K), (Of<C>, Of<H>)>);
    only!(K: Insert<(N, C)>);
    never!(N: Insert<(N, C)>);
    never!(N: Insert<(A, B, C, E, H, K, M, W)>);
    never!(N: Append<(A, B, C, E, H, K, M, W)>);
    only!((N, C): ExpandInto<(K, N, C)>);
    never!((N, C): ExpandInto<(C, N)>);
    never!((N, C): ExpandInto<(C,)>);
    never!((C, Wild): ExpandInto<(C, C)>);
}

#[test]
fn sizes() {
    only!([usize; 2]: ShapeFor<(N, C)>);
    never!([usize; 3]: ShapeFor<(N, C)>);
    never!((Of<C>, Of<N>): ShapeFor<(N, C)>);
    never!((Of<N>, C): ShapeFor<(N, C)>);
    only!([[f32; 3]; 2]: ArrayFor<(N, Rgb)>);
    never!([[f32; 2]; 2]: ArrayFor<(N, Rgb)>);
    never!([f32; 2]: ArrayFor<(N, C)>);
    only!(SizeOf<N>: Resizable<N>);
    never!(SizeOf<Rgb>: Resizable<Rgb>);
    never!(SizeOf<Rgb>: Open<Rgb>);
}

#[test]
fn products() {
    only!((N, K): MatMul<(K, M)>);
    never!((N, K): MatMul<(K, N)>);
    never!((A, N, K): MatMul<(B, K, M)>);
    never!((): MatMul<(K, M)>);
    never!((K,): MatMul<()>);
    never!((N, Rgb): MatMul<(Classes, M)>);
    // A batch dim must not have the name of a dim of the product either.
    never!((M, N, K): MatMul<(K, M)>);
    only!(K: Contract<(N, K), (K, M)>);
    never!(K: Contract<(N, K), (H, M)>);
    never!(K: Contract<(N, H), (K, M)>);
    never!(K: Contract<(Wild, K), (K, M)>);
    never!((N,): Matrix);
    never!((N, C): Vector);
    never!((N, C): Batched);
}

#[test]
fn distinct() {
    only!((N, C): Dims + Distinct);
    only!((Wild, Wild): Dims + Distinct);
    never!((N, C, N): Dims + Distinct);
    never!((N, other::N): Dims + Distinct);
    never!((N, u32): Dims);
    never!(N: Dims);
}
