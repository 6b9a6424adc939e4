//! The macros of [nomina](https://docs.rs/nomina), named tensors for Rust.
//!
//! Use them through `nomina`, `nomina-nn` and `nomina-mesh`. There, each function-like macro is wrapped in a
//! `macro_rules!` macro with the same name that passes its `$crate`, so that it also works if the crate is renamed or
//! re-exported. This crate does not depend on nomina's other crates.
//!
//! ```ignore (needs crate nomina, which depends on this one)
//! use nomina::prelude::*;
//! dims! { N, Features, Classes }
//!
//! let x = tensor!([[1., 2.]]; N, Features);
//! let w = tensor!([[1., 10.], [2., 20.], [3., 30.]]; Classes, Features);
//! let y: Tensor<(N, Classes)> = einsum!(x[N, Features] * w[Classes, Features] -> [N, Classes]);
//! let z: Tensor<(N, Classes)> = fuse!(|y| y.tanh() * 0.5);
//! ```
//!
//! | | |
//! |---|---|
//! | [`dims!`] | declares dims |
//! | [`names!`] | a list of names for the run-time path, checked at compile time |
//! | [`tensor!`] | a tensor from literals |
//! | [`einsum!`], [`try_einsum!`] | a product of tensors by the names of their dims |
//! | [`fuse!`], [`try_fuse!`] | a chain of elementwise operators in one pass |
//! | [`relations`](macro@relations) | adds the bounds of a generic function |
//! | `#[derive(Module)]` | visits the parameters of a network; see `nomina-nn` |
//! | `#[derive(Batch)]` | declares the struct of batches of a struct of tensors; see `nomina::loops` |
//! | [`mesh!`], [`layout!`] | declare a mesh of processes, and the dims that its axes split; see `nomina-mesh` |
//!
//! Each macro has three steps: *parse* the input, *validate* it, *expand* it. Errors are collected and reported together,
//! each at its tokens.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod batch;
mod crate_path;
mod depth;
mod dims;
mod einsum;
mod errors;
mod fuse;
mod list;
mod mesh;
mod module;
mod names;
mod parts;
mod relations;
mod spatial;
mod spelling;
mod tensor;
#[cfg(test)]
mod testing;
mod twin;

use proc_macro::TokenStream;

/// Declares dims: unit structs that are both types, in `Tensor<(N, C)>`, and values, in `x.sum(C)`.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
///
/// dims! {
///     /// Examples of a batch.
///     pub N,
///     pub(crate) C,
///     Rgb = 3,            // a size that never changes
///     Batch = "batch",    // another spelling at run time
///     Red("red") = 1,     // both
/// }
///
/// let x: Tensor<(N, C)> = Tensor::zeros([2, 3]);
/// assert_eq!(x.size(C), 3);
/// ```
///
/// Dims with the same spelling are the same dim, whichever crates declare them; the spelling is also the name at run
/// time. It is an ASCII identifier of any length. A dim may have doc comments and other attributes, and may be declared
/// inside a function.
#[proc_macro]
pub fn dims(input: TokenStream) -> TokenStream {
    dims::dims(input.into()).into()
}

/// Creates a list of names for the run-time path, checked at compile time; `_` is an unnamed dim. The value has type
/// `Names`.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
///
/// let x = DynTensor::zeros(&[2, 3], names!["N", _])?;
/// # Ok::<(), nomina::Error>(())
/// ```
#[proc_macro]
pub fn names(input: TokenStream) -> TokenStream {
    names::names(input.into()).into()
}

/// Creates a tensor from literals: values, then dims, then optionally the dtype.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
/// dims! { N, C }
///
/// let x = tensor!([[1., 2.], [3., 4.]]; N, C);        // Tensor<(N, C), f32>
/// let x = tensor!([[1, 2], [3, 4]]; N, C; f64);       // Tensor<(N, C), f64>
/// let ids = tensor!([2, 0, 1]; N);                    // Tensor<(N,), i64>
/// let pi = tensor!(3.14);                             // Tensor<()>
/// let half = tensor!(0.5; ; f16);                     // Tensor<(), f16>
/// let zeros = tensor!([[0.; 3]; 2]; N, C);            // Tensor<(N, C)> of 2 by 3
/// ```
///
/// Floats without a suffix are `f32`, integers `i64`; a suffix determines the dtype of all values. Values and rows may
/// be expressions; literals among them get their type, as in any array. Rows have equal lengths, and are nested as deep
/// as there are dims.
#[proc_macro]
pub fn tensor(input: TokenStream) -> TokenStream {
    tensor::tensor(input.into()).into()
}

/// Computes a product of tensors by the names of their dims, summed over the names that the result lacks.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
/// dims! { B, T, S, K }
///
/// let scores: Tensor<(B, T, S)> = einsum!(q[B, T, K] * k[B, S, K] -> [B, T, S]);
/// let total: Tensor<()> = einsum!(q[..] -> []);
/// let products = einsum!(q[.., K] * k[.., K] * (&w + 1.0)[K] -> [S, ..]);
/// ```
///
/// Each operand is an expression, in parentheses if it contains a `*`, and lists all its dims, in any order, or some
/// and `..` for the others. In the result, `..` is replaced by all dims that it covers in the operands.
#[proc_macro]
pub fn einsum(input: TokenStream) -> TokenStream {
    einsum::einsum(input.into()).into()
}

/// [`einsum!`] that returns a `Result`.
#[proc_macro]
pub fn try_einsum(input: TokenStream) -> TokenStream {
    einsum::try_einsum(input.into()).into()
}

/// Computes a chain of elementwise operators in one pass over its tensors.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
/// dims! { N, C }
///
/// let y: Tensor<(N, C)> = fuse!(|x, b| (x + b).tanh() * 0.5);
/// let z: Tensor<(N,)> = fuse!(|x, s = &scale * 2.0| { let h = x * s; h.exp() * h }.sum(C));
/// ```
///
/// The tensors are listed between the bars: variables, or `name = expression`. The body may use `+ - * / %`, `-x`, `!x`,
/// the elementwise methods of tensors, `.to::<f32>()`, literals, run-time numbers in braces, and, in a block, `let h =
/// ..;` for values that are used more than once. A reduction may come last.
#[proc_macro]
pub fn fuse(input: TokenStream) -> TokenStream {
    fuse::fuse(input.into()).into()
}

/// [`fuse!`] that returns a `Result`.
#[proc_macro]
pub fn try_fuse(input: TokenStream) -> TokenStream {
    fuse::try_fuse(input.into()).into()
}

/// Adds the bounds of a generic function that follow from the dims in its signature.
///
/// The dims of a result are a type alias, such as `Without<D, C>`; a bound, `D: Has<C>`, says that the operation is
/// defined. With this attribute the alias is enough: for each one in the signature the bound is added, and each
/// parameter gets a bound as a list of dims, a dim or a dtype according to its position.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
/// dims! { C, H, W }
///
/// #[relations]
/// fn pool<D>(x: &Tensor<D>) -> Tensor<Without<D, (H, W)>> {
///     x.mean((H, W))
/// }
/// ```
///
/// `let` names intermediate dims, each in terms of those above it; the names can be used in the signature and in the
/// body. Other bounds are written as in a `where` clause.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// #[relations(let Pooled = Without<D, (H, W)>, let Scaled = Sum<Pooled, S>, Scaled: AlignInto<D>)]
/// fn gate<D, S>(x: &Tensor<D>, scale: &Tensor<S>) -> Tensor<D> {
///     let pooled: Tensor<Pooled> = x.mean((H, W));
///     x * (pooled * scale).sigmoid().align_as(x)
/// }
/// ```
///
/// The bound's trait is looked up next to the alias: `dims::Without` means `dims::Has`. `Dims`, `Dim` and `Element`
/// must be in scope, as they are with the prelude.
#[proc_macro_attribute]
pub fn relations(written: TokenStream, function: TokenStream) -> TokenStream {
    relations::relations(written.into(), function.into()).into()
}

/// Visits the fields of a struct or an enum, which are modules themselves: parameters, buffers, layers, and collections
/// of them.
///
/// A field without parameters is marked `#[module(skip)]`. `#[module(crate = path)]` on the type gives the path of the
/// crate `nomina_nn`, if it is not at the root.
#[doc(hidden)]
#[proc_macro_derive(Module, attributes(module))]
pub fn derive_module(input: TokenStream) -> TokenStream {
    module::module(input.into()).into()
}

/// Declares a struct of batches: `SampleBatch<N>` for a struct `Sample`, with the same fields, stacked along `N`.
///
/// `#[batch(name = Name)]` on the type gives the struct another name, and `#[batch(crate = path)]` the path of the crate
/// `nomina`, if it is not at the root.
#[doc(hidden)]
#[proc_macro_derive(Batch, attributes(batch))]
pub fn derive_batch(input: TokenStream) -> TokenStream {
    batch::batch(input.into()).into()
}

/// Generates the panicking twin of a method that returns `Result`.
///
/// For nomina's own methods: the twin of `try_x` is `x`, and calls `crate::ok` or `crate::done`. The docs are written
/// once, on `try_x`: a description, an example, and the section `# Errors`, which becomes the twin's `# Panics`.
///
/// `free` is for a function that is not a method. `panicking = function` names the panicking function that computes the
/// same as the last call of the body. `with = "but with options."`, on `try_x_with(.., options)`, generates `x` and
/// `try_x` as well, which then get the docs; the docs of `x_with` are a link to `x` and this text.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn twin(written: TokenStream, method: TokenStream) -> TokenStream {
    twin::twin(written.into(), method.into()).into()
}

/// Declares a mesh of processes: a type of the mesh, generic over one state per axis, and a type and a value for each
/// axis.
///
/// ```ignore (needs crate nomina-mesh, which depends on this one)
/// mesh! { pub Grid: Data, Model }
/// let mesh = Grid::alone();
/// ```
#[proc_macro]
pub fn mesh(input: TokenStream) -> TokenStream {
    mesh::mesh(input.into()).into()
}

/// Declares which dim each axis of a mesh splits. If an axis lists two dims, a tensor is split by the first one that it
/// has.
///
/// ```ignore (needs crate nomina-mesh, which depends on this one)
/// layout! { pub Train on Grid: Batch => Data, Hidden => Model, Vocab => Model }
/// type On<D> = Sharded<D, Place<Train, D>>;
/// ```
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    mesh::layout(input.into()).into()
}

/// Generates the forwarding forms of a method of `DynTensor`.
///
/// For nomina's own methods. `with = "but with options."`, on `x_with(.., options)`, generates `x`, which then gets the
/// docs; the docs of `x_with` are a link to `x` and this text. `out`, or `out(values, indices)`, generates `x_out`,
/// which stores the results of `x`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn forms(written: TokenStream, method: TokenStream) -> TokenStream {
    twin::forms(written.into(), method.into()).into()
}

/// Adds the methods of an `impl<D: Dims, T: Element> Tensor<D, T>` to `TensorMut<'_, D, T>` as well.
///
/// For nomina's own methods that write in place.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn parts(_: TokenStream, block: TokenStream) -> TokenStream {
    parts::parts(block.into()).into()
}

/// Generates methods along one, two and three dims from one block, for this project's own packages. `Nd` in names is
/// replaced, and `N` is the number.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn spatial(_: TokenStream, block: TokenStream) -> TokenStream {
    spatial::spatial(block.into()).into()
}
