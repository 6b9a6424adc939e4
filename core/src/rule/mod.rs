//! Name inference at run time, as ordinary functions on [`Names`](crate::Names).
//!
//! One function per rule, each in a small file; they use neither values nor devices. Every function takes the
//! operator's name first and puts it into its errors. Functions that see only names leave the sizes out of their
//! errors, and vice versa: [`Error::with_shapes`](crate::Error::with_shapes) and
//! [`Error::with_names`](crate::Error::with_names) add them.
//!
//! Nothing is allocated for up to 8 dims unless a call fails or has a new name as text.
//!
//! | rule | functions |
//! |---|---|
//! | unify | [`unify`], [`unify_all`], [`matches()`], [`equal_names`] |
//! | remove | [`remove()`], [`reduce`], [`squeeze`], [`unsqueeze`], [`kept`] |
//! | permute | [`permute()`], [`transpose`], [`t`], [`mt`], [`movedim`], [`diagonal`] |
//! | look up | [`searchsorted`], [`quantile()`], [`cov`] |
//! | window | [`sites`], [`check_sites`], [`filter`], [`filter_bias`] |
//! | contract | [`mm`], [`mv`], [`dot`], [`bmm`], [`matmul()`], [`addmm`], [`cdist`], [`contract()`], [`outer`], [`inner`], [`kron`], [`tensordot`], [`linear`], [`einsum()`], [`attention()`] |
//! | matrices | [`matrix()`], [`factors`], [`solve`] |
//! | join | [`cat()`], [`stack`] |
//! | mask | [`masked_select`], [`masked_fill`], [`masked_fill_in_place`] |
//! | index | [`index_by`], [`index_select`], [`index_along`], [`index_into`], [`index_many`] |
//! | out, in place | [`out()`], [`in_place`], [`unify_in_place`], [`resize`], [`resize_as`] |
//! | name and order | [`names_of`], [`rename()`], [`rename_map`], [`refine_names`], [`align_to`], [`align_as`], [`flatten()`], [`unflatten`] |
//! | sizes | [`numel`], [`broadcast_shapes`], [`expand`] |

mod align;
mod arg;
mod attention;
mod cat;
mod contract;
mod conv;
pub mod dtype;
mod einsum;
mod flatten;
mod grid;
mod index;
mod item;
mod lookup;
mod masked;
mod matmul;
mod matmul_shape;
mod matrix;
mod out;
mod permute;
mod product;
mod quantile;
mod remove;
mod rename;
mod repeat;
mod reshape;
mod search;
mod shape;
mod unify;

use smallvec::SmallVec;

pub use align::{Alignment, align_as, align_to};
pub use arg::DimArg;
pub use attention::attention;
pub use cat::{Cat, NamedShape, Operands, cat, is_skipped, stack};
pub use contract::{Contraction, Pairs, contract, contract_shape};
pub use conv::{Filter, FilterForm, Sites, check_sites, filter, filter_bias, sites};
pub use einsum::{Einsum, Letters, einsum};
pub use flatten::{Flattening, Unflattening, flatten, flatten_range, flatten_shape, unflatten};
pub use grid::{block_diag, meshgrid};
pub use index::{index_along, index_by, index_into, index_many, index_place, index_select};
pub use item::{NameArg, NameItem, RenameItem, names_of};
pub use lookup::{DimRef, find, insert_position, position};
pub use masked::{masked_fill, masked_fill_in_place, masked_select};
pub use matmul::{addmm, addmv, baddbmm, bmm, cdist, dot, matmul, mm, mv};
pub use matmul_shape::{bmm_shape, cdist_shape, dot_shape, matmul_shape, mm_shape, mv_shape};
pub use matrix::{Solving, factors, matrix, solve};
pub use out::{in_place, out, out_shape, resize, resize_as, unify_in_place};
pub use permute::{Diagonal, diagonal, index_in, movedim, mt, permute, t, transpose};
pub use product::{
    LinearPlan, PairArg, Tensordot, addbmm, addr, inner, inner_shape, kron, kron_shape, linear,
    multi_dot, outer, outer_shape, prime, tensordot, trace,
};
pub use quantile::{cov, quantile};
pub use remove::{kept, rank_limit, reduce, reduce_shape, remove, squeeze, unsqueeze};
pub use rename::{refine_names, rename, rename_map};
pub use repeat::{diag_embed, repeat, repeat_interleave, tile, unfold};
pub use reshape::reshape;
pub use search::searchsorted;
pub use shape::{
    MAX_NUMEL, broadcast_all, broadcast_into, broadcast_shapes, expand, expand_as, numel,
};
pub use unify::{equal_names, matches, unify, unify_all};

/// Positions of dims.
pub type Positions = SmallVec<[usize; 8]>;

/// The number of sizes or strides stored in a list without an allocation. Kept small: moving a small tensor costs about
/// as much as computing with it.
pub const INLINE_DIMS: usize = 5;

/// Sizes of dims.
pub type Shape = SmallVec<[usize; INLINE_DIMS]>;

#[cfg(test)]
mod tests;
