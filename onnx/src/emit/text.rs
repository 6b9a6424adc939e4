//! The text of a module, of all its parts.

use std::collections::{BTreeMap, BTreeSet};

use nomina::DynTensor;
use nomina_core::{Error, ErrorKind, Name, Names, Result};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::names::plain;
use super::options::Imported;
use super::params::tensor_type;
use super::site::Emitter;
use crate::graph::ValueId;
use crate::model::Model;
use crate::proto::READ;

/// A function that computes a part of the model.
pub struct Function {
    pub name: Ident,
    pub statements: Vec<TokenStream>,
    /// The values that it takes.
    pub inputs: BTreeSet<ValueId>,
    /// The values that it computes.
    pub own: BTreeSet<ValueId>,
    pub operators: usize,
}

/// An output: its field, and its value.
pub struct OutputField {
    pub field: Ident,
    pub id: ValueId,
    pub text: TokenStream,
}

/// All parts of the text.
pub struct Text<'a> {
    pub model: &'a Model,
    pub file: &'a str,
    pub emitter: Emitter<'a>,
    pub functions: Vec<Function>,
    pub outputs: Vec<OutputField>,
    pub branches: Vec<String>,
}

impl Text<'_> {
    fn kind(&mut self, id: ValueId) -> TokenStream {
        let samples = self.emitter.samples;
        let dims = self
            .emitter
            .names
            .get(id, samples.shape(id).len())
            .unwrap_or_default();
        tensor_type(
            &mut self.emitter.names,
            &dims,
            samples.dtype(id).unwrap_or(nomina::DType::F32),
        )
    }

    /// Returns the module and all beside it.
    pub fn module(mut self) -> Result<Imported> {
        let tree = std::mem::take(&mut self.emitter.params).into_tree();
        let mut taken: BTreeSet<String> = self.emitter.names.used().clone();
        taken.extend(
            [
                "Model",
                "Output",
                "Tensor",
                "Result",
                "Error",
                "ErrorKind",
                "SafeTensors",
            ]
            .map(str::to_owned),
        );
        let structs = tree.structs(&mut self.emitter.names, &mut taken);
        let forward = self.forward();
        let outputs: Vec<_> = self
            .outputs
            .iter()
            .map(|output| (output.field.clone(), output.id))
            .collect();
        let mut fields = Vec::new();
        for (field, id) in outputs {
            let kind = self.kind(id);
            let doc = format!(" Output `{field}`.");
            fields.push(quote!(#[doc = #doc] pub #field: #kind));
        }
        let sample = self.sample()?;
        let tests = self.tests();
        let dims = self.dims();
        let names: Vec<String> = self.emitter.names.used().iter().cloned().collect();
        let operators = self
            .functions
            .iter()
            .map(|function| function.operators)
            .sum();
        let forward = tree.resolve(forward);
        let docs = [
            format!(
                " The model `{}`, written by `cargo nomina import`. The text is yours: rename dims, and change what you like.",
                self.file
            ),
            String::new(),
            format!(
                " {operators} operators, {} names of dims; the weights are in `weights.safetensors`.",
                names.len()
            ),
        ];
        let file: TokenStream = quote! {
            #(#![doc = #docs])*
            use nomina::prelude::*;
            use nomina_io::safetensors::SafeTensors;

            dims! {}

            /// The outputs of the model.
            #[derive(Clone, Debug)]
            pub struct Output { #(#fields,)* }

            #structs
            #forward

            /// Refuses an input whose sizes are not those of the model.
            fn require_sizes(input: &str, sizes: &[usize], wanted: &[Option<usize>]) -> Result<()> {
                let differs = sizes.iter().zip(wanted).any(|(size, wanted)| wanted.is_some_and(|wanted| wanted != *size));
                if differs {
                    let what = format!("input `{input}` has sizes {sizes:?}, and the model needs {wanted:?}");
                    return Err(Error::new(ErrorKind::Shape, "forward", what));
                }
                Ok(())
            }

            #[cfg(test)]
            mod tests;
        };
        let weights = tree
            .weights()
            .map(|(key, param)| Ok((key, named(&param.tensor, &param.dims)?)));
        let weights = weights.collect::<Result<Vec<_>>>()?;
        Ok(Imported {
            text: pretty(&file)?.replacen("dims! {}", &dims, 1),
            tests: pretty(&tests)?,
            weights,
            sample,
            dims: names,
            operators,
            branches: self.branches,
        })
    }

    /// The call of `dims!`, which prettyplease would write as one paragraph.
    fn dims(&self) -> String {
        let mut sizes = BTreeMap::<&str, BTreeSet<usize>>::new();
        for class in self.model.dims() {
            sizes
                .entry(plain(&class.name).0)
                .or_default()
                .extend(&class.sizes);
        }
        let mut text = String::from("dims! {\n");
        for name in self.emitter.names.used() {
            let known = sizes
                .get(&name[..])
                .filter(|sizes| !sizes.is_empty() && sizes.len() < 8);
            if let Some(sizes) = known {
                let list: Vec<String> = sizes.iter().map(usize::to_string).collect();
                let noun = if list.len() == 1 { "Size" } else { "Sizes" };
                text += &format!("    /// {noun} {}.\n", list.join(", "));
            }
            text += &format!("    pub {name},\n");
        }
        text + "}"
    }

    /// The values that each function returns: those that later ones or the outputs need.
    fn results(&self, at: usize) -> Vec<ValueId> {
        let later = self.functions[at + 1..]
            .iter()
            .flat_map(|function| function.inputs.iter());
        let needed: BTreeSet<ValueId> = later
            .chain(self.outputs.iter().map(|output| &output.id))
            .copied()
            .collect();
        self.functions[at]
            .own
            .intersection(&needed)
            .copied()
            .collect()
    }

    fn forward(&mut self) -> TokenStream {
        let inputs = self.emitter.graph.inputs.clone();
        let (mut arguments, mut checks) = (Vec::new(), Vec::new());
        for &id in &inputs {
            let (variable, kind) = (self.emitter.variables[&id].clone(), self.kind(id));
            arguments.push(quote!(#variable: &#kind));
            let name = &self.emitter.graph.values[id];
            let sizes = (0..self.emitter.samples.shape(id).len()).map(|axis| {
                let all = self.emitter.samples.extent(id, axis);
                if let Some(size) = self.emitter.guarded(id, axis) {
                    let n = Literal::usize_unsuffixed(size);
                    quote!(Some(#n))
                } else if all.windows(2).all(|pair| pair[0] == pair[1]) {
                    let n = Literal::usize_unsuffixed(all[0]);
                    quote!(Some(#n))
                } else {
                    quote!(None)
                }
            });
            checks.push(quote!(require_sizes(#name, #variable.shape(), &[#(#sizes),*])?;));
        }
        let fields: Vec<_> = self
            .outputs
            .iter()
            .map(|output| {
                let (field, text) = (&output.field, &output.text);
                if *field == text.to_string() {
                    quote!(#field)
                } else {
                    quote!(#field: #text)
                }
            })
            .collect();
        let doc = quote! {
            /// Computes the outputs.
            ///
            /// # Errors
            /// If an input has a size that is not the model's.
            ///
            /// # Panics
            /// If sizes that the model leaves free do not fit each other.
        };
        if let [function] = &self.functions[..] {
            let statements = &function.statements;
            return quote! {
                impl Model {
                    #doc
                    pub fn forward(&self, #(#arguments),*) -> Result<Output> {
                        #(#checks)*
                        #(#statements)*
                        Ok(Output { #(#fields),* })
                    }
                }
            };
        }
        let (mut calls, mut bodies) = (Vec::new(), Vec::new());
        for at in 0..self.functions.len() {
            let results = self.results(at);
            let taken: Vec<ValueId> = self.functions[at].inputs.iter().copied().collect();
            let mut parameters = Vec::new();
            let mut given = Vec::new();
            for &id in &taken {
                let (variable, kind) = (self.emitter.variables[&id].clone(), self.kind(id));
                parameters.push(quote!(#variable: &#kind));
                given.push(if inputs.contains(&id) {
                    quote!(#variable)
                } else {
                    quote!(&#variable)
                });
            }
            let kinds: Vec<_> = results.iter().map(|&id| self.kind(id)).collect();
            let variables: Vec<_> = results
                .iter()
                .map(|id| self.emitter.variables[id].clone())
                .collect();
            let Function {
                name, statements, ..
            } = &self.functions[at];
            let (pattern, kind) = match (&variables[..], &kinds[..]) {
                ([variable], [kind]) => (quote!(#variable), quote!(#kind)),
                _ => (quote!((#(#variables),*)), quote!((#(#kinds),*))),
            };
            let doc = format!(
                " Part {} of {} of [`forward`](Self::forward).",
                at + 1,
                self.functions.len()
            );
            calls.push(quote!(let #pattern = self.#name(#(#given),*);));
            bodies.push(quote! {
                #[doc = #doc]
                fn #name(&self, #(#parameters),*) -> #kind {
                    #(#statements)*
                    #pattern
                }
            });
        }
        quote! {
            impl Model {
                #doc
                pub fn forward(&self, #(#arguments),*) -> Result<Output> {
                    #(#checks)*
                    #(#calls)*
                    Ok(Output { #(#fields),* })
                }
                #(#bodies)*
            }
        }
    }

    fn sample(&self) -> Result<Vec<(String, nomina::DynTensor)>> {
        let samples = self.emitter.samples;
        let mut all = Vec::new();
        let graph = self.emitter.graph;
        let ends = [("input", &graph.inputs), ("output", &graph.outputs)];
        for (kind, ids) in ends {
            for (at, &id) in ids.iter().enumerate() {
                let own = self.emitter.resolved(id);
                let dims = self
                    .emitter
                    .names
                    .get(own, samples.shape(own).len())
                    .unwrap_or_default();
                let tensor = samples.values[id].as_ref().and_then(|value| value.tensor());
                let tensor = tensor.ok_or_else(|| {
                    Error::new(ErrorKind::Argument, READ, "an output is no tensor")
                })?;
                all.push((format!("{kind}.{at}"), named(&tensor.contiguous()?, &dims)?));
            }
        }
        Ok(all)
    }

    fn tests(&mut self) -> TokenStream {
        let inputs = self.emitter.graph.inputs.clone();
        let (mut loads, mut given) = (Vec::new(), Vec::new());
        for (at, &id) in inputs.iter().enumerate() {
            let (variable, kind, key) = (
                self.emitter.variables[&id].clone(),
                self.kind(id),
                format!("input.{at}"),
            );
            loads.push(quote!(let #variable: #kind = sample.refine(#key)?;));
            given.push(quote!(&#variable));
        }
        let outputs: Vec<_> = self
            .outputs
            .iter()
            .map(|output| (output.field.clone(), output.id))
            .collect();
        let mut checks = Vec::new();
        for (at, (field, id)) in outputs.into_iter().enumerate() {
            let (kind, key, name) = (self.kind(id), format!("output.{at}"), field.to_string());
            checks.push(quote! {
                let wanted: #kind = sample.refine(#key)?;
                compare(#name, &output.#field.to_dyn(), &wanted.to_dyn())?;
            });
        }
        quote! {
            //! Compares the model with the interpreter's results on random inputs, in `sample.safetensors`.

            use super::*;

            /// The greatest difference, relative to the greatest element.
            const TOLERANCE: f64 = 1e-5;

            fn compare(name: &str, own: &DynTensor, wanted: &DynTensor) -> Result<()> {
                assert_eq!(own.shape(), wanted.shape(), "the sizes of output `{name}`");
                let list = |x: &DynTensor| x.to_dtype(DType::F64)?.to_vec::<f64>();
                let (own, wanted) = (list(own)?, list(wanted)?);
                let largest = wanted.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
                let difference = own.iter().zip(&wanted).fold(0.0_f64, |largest, (a, b)| largest.max((a - b).abs()));
                println!("output `{name}`: greatest difference {difference:e} of {largest:e}");
                assert!(difference <= TOLERANCE * largest.max(f64::MIN_POSITIVE), "output `{name}` differs by {difference:e} of {largest:e}");
                Ok(())
            }

            #[test]
            fn equals_the_interpreter() -> Result<()> {
                let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
                let own = root.ancestors().map(|root| root.join(file!())).find(|file| file.exists());
                let folder = own.as_deref().and_then(std::path::Path::parent).unwrap_or(root);
                let model = Model::open(folder.join("weights.safetensors"))?;
                let sample = SafeTensors::open(folder.join("sample.safetensors"))?;
                #(#loads)*
                let output = model.forward(#(#given),*)?;
                #(#checks)*
                Ok(())
            }
        }
    }
}

/// Formats a file.
fn pretty(text: &TokenStream) -> Result<String> {
    let file = syn::parse2(text.clone()).map_err(|error| {
        Error::new(
            ErrorKind::Argument,
            READ,
            format!("the text that was written is no Rust: {error}"),
        )
    })?;
    let mut text = String::new();
    let mut before = String::new();
    for line in prettyplease::unparse(&file).lines() {
        // An empty line before each item.
        let begins = [
            "///", "pub ", "impl", "fn ", "#[", "dims!", "use ", "const ",
        ]
        .iter()
        .any(|start| line.starts_with(start));
        let continues = before.starts_with("///")
            || before.starts_with("#[")
            || before.starts_with("use ") && line.starts_with("use ");
        if begins && !continues && !before.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        before = line.to_owned();
    }
    Ok(text)
}

/// Gives a tensor its names.
fn named(tensor: &DynTensor, dims: &[String]) -> Result<DynTensor> {
    let names = dims
        .iter()
        .map(|dim| Name::new(dim).map(Some))
        .collect::<Result<Vec<_>>>()?;
    tensor.rename(&Names::new(names)?)
}
