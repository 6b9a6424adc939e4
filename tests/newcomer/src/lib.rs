//! Mistakes that compiled, or that rustc explained badly, in the first month. See the tests, and the example `speed`.
//!
//! A tensor of several elements has no `item`:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! dims! { N, C }
//! let x = Tensor::<(N, C)>::ones([2, 3]);
//! x.mean(C).item();
//! ```
//!
//! Nor has it `backward`:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! dims! { N, C }
//! Tensor::<(N, C)>::ones([2, 3]).with_grad().mean(C).backward();
//! ```
//!
//! Labels of `cross_entropy` are integers:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! dims! { N, Class }
//! let scores = Tensor::<(N, Class)>::ones([2, 3]);
//! scores.cross_entropy(&tensor!([0., 1.]; N), Class);
//! ```
//!
//! A transposed weight in an annotated `matmul`, which goes by position:
//!
//! ```compile_fail,E0308
//! use nomina::prelude::*;
//! dims! { N, In, Out }
//! let x = Tensor::<(N, In)>::ones([2, 3]);
//! let w = Tensor::<(Out, In)>::ones([4, 3]);
//! let y: Tensor<(N, Out)> = x.matmul(&w);
//! ```
//!
//! Comparisons are methods:
//!
//! ```compile_fail,E0308
//! use nomina::prelude::*;
//! dims! { N }
//! let mask = tensor!([1., -1.]; N) > 0.0;
//! ```
//!
//! A list with a generic dim needs its bound:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! dims! { N }
//! fn total<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N,)> {
//!     x.sum(B::default())
//! }
//! ```
//!
//! The dims of a weight differ:
//!
//! ```compile_fail,E0277
//! use nomina::prelude::*;
//! use nomina_nn::prelude::*;
//! dims! { Hidden }
//! let layer: Linear<Hidden, Hidden> = Linear::new(Hidden.of(4), Hidden.of(4));
//! ```
