//! The macros of [nomina](https://docs.rs/nomina): [`dims!`], [`names!`], [`tensor!`], [`einsum!`], [`fuse!`], and
//! the attribute [`relations`](macro@relations).
//!
//! Use them through `nomina`. There, each macro stands behind a `macro_rules!` macro of the same name
//! that passes its `$crate`, so that they work also where the crate is renamed or re-exported.
//! This crate depends on no other of nomina's.
//!
//! Each macro goes in steps: *parse* what was written, *validate* it, *expand* it. Mistakes are
//! gathered and reported together, each at the tokens it is about.

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

/// Declares dims: unit structs that are both a type, in `Tensor<(N, C)>`, and a value, in
/// `x.sum(C)`.
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
/// Dims spelled the same are the same dim, whatever crate declares them; the spelling is the
/// one at run time. It is an ASCII identifier of any length. A dim takes doc comments and other
/// attributes, and may be declared inside a function.
#[proc_macro]
pub fn dims(input: TokenStream) -> TokenStream {
    dims::dims(input.into()).into()
}

/// A list of names for the run-time path, checked when it is compiled; `_` is a dim without a
/// name. It is a value of type `Names`.
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

/// A tensor written out: values, then dims, then, if it is not to follow from the values, the
/// dtype.
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
/// Floats without a suffix are `f32`, integers `i64`; with one, they and their neighbours have
/// its dtype. Expressions may stand for values, or for rows; literals beside them take their
/// type, as in any array. Rows are equally long, and nested as deep as there are dims.
#[proc_macro]
pub fn tensor(input: TokenStream) -> TokenStream {
    tensor::tensor(input.into()).into()
}

/// A product of tensors by the names of their dims, summed over the names that the result lacks.
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
/// Each operand is an expression, in parentheses if it has a `*` of its own, and lists all its
/// dims, in any order, or some and `..` for the others. In the result, `..` stands for what it
/// stood for in the operands.
#[proc_macro]
pub fn einsum(input: TokenStream) -> TokenStream {
    einsum::einsum(input.into()).into()
}

/// [`einsum!`] that gives a `Result`.
#[proc_macro]
pub fn try_einsum(input: TokenStream) -> TokenStream {
    einsum::try_einsum(input.into()).into()
}

/// A chain of elementwise operators, computed in one pass over its tensors.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// use nomina::prelude::*;
/// dims! { N, C }
///
/// let y: Tensor<(N, C)> = fuse!(|x, b| (x + b).tanh() * 0.5);
/// let z: Tensor<(N,)> = fuse!(|x, s = &scale * 2.0| { let h = x * s; h.exp() * h }.sum(C));
/// ```
///
/// Between the bars are the tensors: variables, or `name = expression`. Behind them are `+ - * /`,
/// `-x`, `!x`, the elementwise methods of the tensor, `.to::<f32>()`, literals, numbers of the run
/// time in braces, and, in a block, `let h = ..;` for what is used more than once. A reduction may
/// come last.
#[proc_macro]
pub fn fuse(input: TokenStream) -> TokenStream {
    fuse::fuse(input.into()).into()
}

/// [`fuse!`] that gives a `Result`.
#[proc_macro]
pub fn try_fuse(input: TokenStream) -> TokenStream {
    fuse::try_fuse(input.into()).into()
}

/// Writes the bounds of a generic function from the dims that it names.
///
/// The dims of a result are a noun, `Without<D, C>`; that the operation is defined is a relation,
/// `D: Has<C>`. On a function with this attribute the noun is enough: for each one in its
/// signature the relation is added, and a parameter is a list of dims, a dim or a dtype by the
/// place where it stands.
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
/// Dims on the way get a name with `let`, each one of those above it; the names serve in the
/// signature and in the body. Whatever has no noun is said as in a `where`.
///
/// ```ignore (needs crate nomina, which depends on this one)
/// #[relations(let Pooled = Without<D, (H, W)>, let Scaled = Sum<Pooled, S>, Scaled: AlignInto<D>)]
/// fn gate<D, S>(x: &Tensor<D>, scale: &Tensor<S>) -> Tensor<D> {
///     let pooled: Tensor<Pooled> = x.mean((H, W));
///     x * (pooled * scale).sigmoid().align_as(x)
/// }
/// ```
///
/// The relation is looked up where its noun stands: `dims::Without` means `dims::Has`. `Dims`,
/// `Dim` and `Element` are to be in scope, as the prelude has them.
#[proc_macro_attribute]
pub fn relations(written: TokenStream, function: TokenStream) -> TokenStream {
    relations::relations(written.into(), function.into()).into()
}

/// Walks the fields of a struct or an enum, which are modules themselves: parameters, buffers, layers, and collections of them.
///
/// A field without parameters is marked `#[module(skip)]`. `#[module(crate = path)]` on the type says where the crate
/// `nomina_nn` is, if not at the root.
#[doc(hidden)]
#[proc_macro_derive(Module, attributes(module))]
pub fn derive_module(input: TokenStream) -> TokenStream {
    module::module(input.into()).into()
}

/// Gives a method that returns `Result` its twin, which panics with the text of the error.
///
/// It is for nomina's own methods: the twin of `try_x` is `x`, and calls `crate::call`. What is
/// written once stands on `try_x`: what it does, an example, and the section `# Errors`, which is
/// the twin's `# Panics`.
///
/// `free` is for a function that is no method; `made = function` names what computes as the last
/// call of the body does and panics itself; `with = "what the options add."`, on
/// `try_x_with(.., options)`, gives `x` and `try_x` as well, to which the docs then belong.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn twin(written: TokenStream, method: TokenStream) -> TokenStream {
    twin::twin(written.into(), method.into()).into()
}

/// Declares a mesh of processes: a type of the mesh, generic over one state an axis, and a type and a value for each axis.
///
/// ```ignore (needs crate nomina-mesh, which depends on this one)
/// mesh! { pub Grid: Data, Model }
/// let mesh = Grid::alone();
/// ```
#[proc_macro]
pub fn mesh(input: TokenStream) -> TokenStream {
    mesh::mesh(input.into()).into()
}

/// Declares which dim each axis of a mesh splits. Of two dims of one axis, a tensor is split by the first one that it has.
///
/// ```ignore (needs crate nomina-mesh, which depends on this one)
/// layout! { pub Train on Grid: Batch => Data, Hidden => Model, Vocab => Model }
/// type On<D> = Sharded<D, Place<Train, D>>;
/// ```
#[proc_macro]
pub fn layout(input: TokenStream) -> TokenStream {
    mesh::layout(input.into()).into()
}

/// Gives a method of `DynTensor` the forms that only hand on.
///
/// It is for nomina's own methods. `with = "what the options add."`, on `x_with(.., options)`,
/// gives `x`, to which the docs then belong; `out`, or `out(values, indices)`, gives `x_out`, which
/// stores the results of `x`.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn forms(written: TokenStream, method: TokenStream) -> TokenStream {
    twin::forms(written.into(), method.into()).into()
}

/// Gives the methods of an `impl<D: Dims, T: Element> Tensor<D, T>` to `TensorMut<'_, D, T>` as well.
///
/// It is for nomina's own methods that write in place.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn parts(_: TokenStream, block: TokenStream) -> TokenStream {
    parts::parts(block.into()).into()
}

/// For this project's own packages: methods along one, two and three dims from one block, in which `Nd` stands in names and `N` for
/// the number.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn spatial(_: TokenStream, block: TokenStream) -> TokenStream {
    spatial::spatial(block.into()).into()
}
