//! Mistakes that compiled, or that rustc explained badly, in the first month. See the tests, and the example `speed`.
//!
//! The programs of the first month, and the tests that hold them:
//!
//! | the program does | held by |
//! |---|---|
//! | trains a `BatchNorm` in a `Sequential` | `networks.rs::a_batch_norm_in_a_sequence_trains` |
//! | loads a file with one tensor too many | `networks.rs::loading_is_strict` |
//! | skips NaN in groups, windows and weighted means | `first_month.rs::groups_windows_and_weights_skip_nan_like_xarray` |
//! | multiplies by the dim that it names | `first_month.rs::a_product_contracts_the_dim_that_is_named` |
//! | sums, draws, groups and contracts over generic dims | `first_month.rs::generic_dims`, `generic_crate.rs::functions_take_dims_of_the_program` |
//! | has layers of its own, generic in dims | `networks.rs::layers_of_ones_own_nest`, `generic_crate.rs::layers_take_dims_of_the_program` |
//! | computes in `f64`, `bf16` and mixed precision | `networks.rs::models_of_every_float_dtype`, `examples/nn/tests/fine_tuning.rs::the_conv_net_trains_like_pytorchs_in_mixed_precision` |
//! | uses a parameter as an operand | `networks.rs::a_parameter_is_an_operand` |
//! | stacks layers of one dim, convolves in groups of constant size | `networks.rs::layers_of_ones_own_nest`, `networks.rs::grouped_and_depthwise_convolutions_of_constant_sizes` |
//! | asks for layers and optimizers of PyTorch | `layers.rs::norms_pools_and_convolutions_of_images`, `layers.rs::sequences_of_lengths_in_both_directions`, `layers.rs::every_optimizer_trains` |
//! | loads attention of PyTorch's state | `networks.rs::attention_of_pytorch_loads` |
//! | treats biases in a group of their own, averages, accumulates | `networks.rs::groups_averages_and_accumulation` |
//! | reads batches on two threads, and counts | `networks.rs::a_loader_adds_the_batch_dim` |
//! | loops along a dim | `first_month.rs::loops_along_a_dim_have_gradients` |
//! | follows `cargo nomina fix`, 47 programs | `cargo-nomina/tests/sure.rs::sure_fixes_compile_and_are_meant` |
//! | indexes by a tokenizer's `u32` | `first_month.rs::unsigned_integers_of_tokenizers` |
//! | computes with names that are data | `first_month.rs::dynamic_tensors_have_the_same_methods` |
//! | combines masks, leaves out options | `first_month.rs::masks_combine_and_options_have_defaults` |
//! | interpolates, correlates, takes frequencies and quantiles | `first_month.rs::coordinates_and_frequencies` |
//! | reads JSON with its keys in another order | `first_month.rs::keys_of_json_in_any_order` |
//! | calls a method whose feature is off | `xtask/src/features_off.rs::a_method_of_a_feature_that_is_off_names_it` |
//! | reads the names of a printed tensor | `first_month.rs::a_printed_tensor_shows_its_names` |
//! | reads the labels of a tensor in a browser | `tests/html/view.rs::labels_are_over_their_cells_in_any_window` |
//! | encodes sentences of the command line and of standard input | `examples/minilm/tests/arguments.rs::sentences_come_from_the_command_line_or_the_input` |
//!
//! The seven programs of the first month, shortened; those that have a side in Python are at most 1.8 times as long:
//!
//! | program | held by |
//! |---|---|
//! | fine-tunes a transformer with PyTorch's weights | `examples/nn/tests/fine_tuning.rs::the_transformer_learns_like_pytorchs` |
//! | loads a conv net with `BatchNorm` and `GroupNorm`, and trains it in mixed precision | `examples/nn/tests/fine_tuning.rs::the_conv_net_trains_like_pytorchs_in_mixed_precision` |
//! | trains a variational autoencoder | `examples/nn/tests/networks.rs::the_bound_is_pytorchs` |
//! | analyses a climate like xarray | `examples/tests/reanalysis.rs::every_value_is_xarrays` |
//! | solves equations by Fourier transforms and by a network | `examples/tests/numbers_fft.rs::burgers_equation_is_solved_to_the_fourth_order`, `examples/nn/tests/networks.rs::the_network_learns_like_pytorchs` |
//! | is a crate generic in dims, with a user | `generic_crate.rs::layers_take_dims_of_the_program` |
//! | answers requests on four threads | `examples/tests/numbers.rs::a_service_answers_many_threads_and_tells_what_is_wrong` |
//!
//! Natural mistakes, each with its text in `ui-tests`; those at the end of this page are tried here too:
//!
//! | mistake | text |
//! |---|---|
//! | a transposed weight in an annotated `matmul` | `product/transposed_weight` |
//! | labels that are floats | `loss/float_labels` |
//! | `x > 0.0` | `call/compared_by_operator` |
//! | `x == y` | `call/equal_by_operator` |
//! | a sum over a generic dim | `generic/generic_result` |
//! | a softmax over a generic dim | `generic/generic_dim` |
//! | noise of generic dims | `generic/generic_factory` |
//! | groups along a generic dim | `generic/generic_groups` |
//! | a `DynTensor` as an operand | `dynamic/plus_typed` |
//! | a text as an operand | `broadcast/not_a_tensor` |
//! | `item()` of several elements | `grad/item_of_several` |
//! | `backward()` of several elements | `grad/backward_of_a_matrix` |
//! | `Linear<Hidden, Hidden>` | `nn/linear_of_one_dim` |
//! | a wrong product of constant sizes | `flatten/wrong_product` |
//! | a dtype that Rust has and nomina lacks | `dtype/not_a_dtype` |
//! | operands of other dims | `broadcast/operator` |
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
//! ```compile_fail,E0369
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
