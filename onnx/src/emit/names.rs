//! Names of dims as they are spelled in Rust.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nomina_core::Names;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::graph::{Graph, ValueId};
use crate::names::Named;

/// Names that the text uses, or that a reader expects to be those of the standard library.
const RESERVED: &[&str] = &[
    "AsRef",
    "Box",
    "Clone",
    "Debug",
    "DType",
    "DynTensor",
    "Err",
    "Error",
    "ErrorKind",
    "Model",
    "None",
    "Ok",
    "Option",
    "Output",
    "Padding",
    "Path",
    "Prime",
    "Result",
    "SafeTensors",
    "Self",
    "Some",
    "String",
    "Tensor",
    "Vec",
    "Wild",
    "InterpolateMode",
    "PadMode",
    "PadOptions",
    "ConvOptions",
    "ConvTransposeOptions",
    "MaxPoolOptions",
    "AvgPoolOptions",
    "BatchNormOptions",
    "LayerNormOptions",
    "LeakyReluOptions",
    "LocalResponseNormOptions",
    "DivOptions",
    "RoundingMode",
    "GeluOptions",
    "Approximate",
    "EluOptions",
    "DiagonalOptions",
];

/// The dims of every value, by name.
#[derive(Debug, Default)]
pub struct Spellings {
    values: HashMap<ValueId, Vec<String>>,
    used: BTreeSet<String>,
    known: BTreeSet<String>,
}

impl Spellings {
    /// Takes the names that were inferred for the values of a graph.
    pub fn new(graph: &Graph, named: &Named) -> Self {
        let mut names = Self::default();
        for id in 0..graph.values.len() {
            let Some(dims) = named.values.get(id).and_then(Option::as_ref) else {
                continue;
            };
            let spelled = spelled(dims);
            names
                .known
                .extend(spelled.iter().map(|name| plain(name).0.to_owned()));
            names.values.insert(id, spelled);
        }
        names
    }

    /// Returns the names of a value's dims, if they are known and `rank` in number.
    pub fn get(&self, id: ValueId, rank: usize) -> Option<Vec<String>> {
        self.values
            .get(&id)
            .filter(|dims| dims.len() == rank)
            .cloned()
    }

    /// Sets the names of a value's dims.
    pub fn set(&mut self, id: ValueId, dims: Vec<String>) {
        self.values.insert(id, dims);
    }

    /// Returns a name that none of `taken` is: `wanted`, or with a number.
    pub fn fresh(&self, wanted: &str, taken: &[String]) -> String {
        let mut name = wanted.to_owned();
        let mut number = 2;
        while taken.contains(&name) {
            name = format!("{wanted}{number}");
            number += 1;
        }
        name
    }

    /// Returns `count` names that no value has.
    pub fn invented(&self, count: usize, taken: &[String]) -> Vec<String> {
        let mut all = Vec::with_capacity(count);
        let mut number = 0;
        while all.len() < count {
            let name = format!("Part{number}");
            if !taken.contains(&name) && !self.known.contains(&name) {
                all.push(name);
            }
            number += 1;
        }
        all
    }

    /// Returns the type of a dim.
    pub fn dim_type(&mut self, name: &str) -> TokenStream {
        self.nested(name, |inner| quote!(Prime<#inner>))
    }

    /// Returns the value of a dim, as an argument.
    pub fn dim_value(&mut self, name: &str) -> TokenStream {
        self.nested(name, |inner| quote!(Prime(#inner)))
    }

    fn nested(&mut self, name: &str, prime: fn(TokenStream) -> TokenStream) -> TokenStream {
        let (base, primes) = plain(name);
        self.used.insert(base.to_owned());
        let ident = format_ident!("{base}");
        (0..primes).fold(quote!(#ident), |inner, _| prime(inner))
    }

    /// Returns the list of dims in a type.
    pub fn list_type(&mut self, dims: &[String]) -> TokenStream {
        let dims: Vec<_> = dims.iter().map(|name| self.dim_type(name)).collect();
        quote!((#(#dims,)*))
    }

    /// Returns dims as an argument: one dim, or a tuple.
    pub fn list_value(&mut self, dims: &[String]) -> TokenStream {
        let all: Vec<_> = dims.iter().map(|name| self.dim_value(name)).collect();
        match &all[..] {
            [dim] => dim.clone(),
            _ => quote!((#(#all),*)),
        }
    }

    /// Returns a tuple of dims, also of one.
    pub fn tuple_value(&mut self, dims: &[String]) -> TokenStream {
        let all: Vec<_> = dims.iter().map(|name| self.dim_value(name)).collect();
        quote!((#(#all,)*))
    }

    /// Returns the names that the text uses, without primes.
    pub fn used(&self) -> &BTreeSet<String> {
        &self.used
    }

    /// Gives `from` the name `to` everywhere, unless a value would have a name twice.
    pub fn merge(&mut self, pairs: &BTreeMap<String, String>) {
        for (from, to) in pairs {
            let clash = self.values.values().any(|dims| {
                let has = |name: &str| dims.iter().any(|dim| plain(dim).0 == name);
                has(from) && has(to)
            });
            if clash {
                continue;
            }
            for dims in self.values.values_mut() {
                for dim in dims.iter_mut().filter(|dim| plain(dim).0 == from) {
                    *dim = format!("{to}{}", &dim[from.len()..]);
                }
            }
        }
    }
}

/// Splits a name into its spelling and the number of its primes.
pub fn plain(name: &str) -> (&str, usize) {
    let base = name.trim_end_matches('\'');
    (base, name.len() - base.len())
}

/// Spells the names of a value as identifiers, each once.
fn spelled(names: &Names) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for name in names.iter() {
        let name = name.as_ref().map_or("Unnamed", |name| name.as_str());
        let (base, primes) = plain(name);
        let is_valid = syn::parse_str::<syn::Ident>(base).is_ok() && !RESERVED.contains(&base);
        let base = if is_valid {
            base.to_owned()
        } else {
            format!("{base}Dim")
        };
        let mut name = format!("{base}{}", "'".repeat(primes));
        while all.contains(&name) {
            name.push('\'');
        }
        all.push(name);
    }
    all
}
