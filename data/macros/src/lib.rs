//! The macro of [nomina-data](https://docs.rs/nomina-data): `#[derive(Dataset)]`. Use it through `nomina_data::Dataset`.
//!
//! This crate does not depend on nomina's other crates. The macro sees tokens, so that it asks nothing about the types of
//! fields: it writes them as a balanced tree of types, about which traits of `nomina-data` ask.
#![cfg_attr(docsrs, feature(doc_cfg))]

mod expand;
mod options;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Opens a file as a struct of labelled tensors; see `nomina_data::Dataset`.
#[doc(hidden)]
#[proc_macro_derive(Dataset, attributes(dataset))]
pub fn derive_dataset(input: TokenStream) -> TokenStream {
    expand::dataset(input.into()).into()
}
