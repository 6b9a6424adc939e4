//! Parameters: their paths in the model, and the structs that hold them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use nomina::{DType, DynTensor};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::names::Spellings;
use crate::graph::ValueId;

/// A parameter: a field of one of the structs.
#[derive(Clone, Debug)]
pub struct Param {
    /// The path of the field.
    pub path: Vec<String>,
    /// The names of its dims.
    pub dims: Vec<String>,
    /// Its elements, without names.
    pub tensor: DynTensor,
}

/// The parameters of a model.
#[derive(Debug, Default)]
pub struct Params {
    all: Vec<Param>,
    by_value: HashMap<(ValueId, String), usize>,
}

/// The prefix of the placeholders of parameters, until their paths are known.
const PLACEHOLDER: &str = "__parameter_";

impl Params {
    /// Returns the placeholder and dims of the parameter for a value and a use of it.
    pub fn find(&self, id: ValueId, form: &str) -> Option<(Ident, &Param)> {
        let at = *self.by_value.get(&(id, form.to_owned()))?;
        Some((format_ident!("{PLACEHOLDER}{at}"), &self.all[at]))
    }

    /// Adds a parameter and returns its placeholder.
    pub fn add(&mut self, id: ValueId, form: &str, param: Param) -> Ident {
        self.by_value.insert((id, form.to_owned()), self.all.len());
        self.all.push(param);
        format_ident!("{PLACEHOLDER}{}", self.all.len() - 1)
    }

    /// Returns the paths, each of another field: a path that is another's or begins another's gets one more part.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths: Vec<Vec<String>> = self.all.iter().map(|param| param.path.clone()).collect();
        let shared = |paths: &[Vec<String>]| {
            let first = paths.first().map(|path| path[0].clone());
            first.filter(|first| paths.iter().all(|path| path.len() > 1 && path[0] == *first))
        };
        while shared(&paths).is_some() {
            paths.iter_mut().for_each(|path| drop(path.remove(0)));
        }
        let mut taken = BTreeSet::<Vec<String>>::new();
        for path in &mut paths {
            let base = path.clone();
            let mut number = 2;
            while !taken.insert(path.clone()) {
                *path = base.clone();
                if let Some(last) = path.last_mut() {
                    last.push_str(&format!("_{number}"));
                }
                number += 1;
            }
        }
        let inner: BTreeSet<Vec<String>> = paths
            .iter()
            .flat_map(|path| (1..path.len()).map(|end| path[..end].to_vec()))
            .collect();
        for path in &mut paths {
            if inner.contains(path) || path.last().is_some_and(|last| is_number(last)) {
                path.push("tensor".to_owned());
            }
        }
        paths
    }

    /// Returns the structs of all parameters, and the tree that finds their fields.
    pub fn into_tree(self) -> Tree {
        let mut root = Branch::default();
        let paths = self.paths();
        for (at, path) in paths.iter().enumerate() {
            let mut branch = &mut root;
            for part in path {
                branch = branch.below.entry(Part::new(part)).or_default();
            }
            branch.leaf = Some(at);
        }
        Tree {
            params: self.all,
            paths,
            root,
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 9 && text.bytes().all(|b| b.is_ascii_digit())
}

/// A part of a path; numbers are ordered by value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u32),
    Word(String),
}

impl Part {
    fn new(text: &str) -> Self {
        match text.parse() {
            Ok(number) if is_number(text) => Self::Number(number),
            _ => Self::Word(text.to_owned()),
        }
    }

    fn key(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }

    fn ident(&self) -> Ident {
        match self {
            Self::Number(number) => format_ident!("layer_{number}"),
            Self::Word(word) => format_ident!("{}", word),
        }
    }
}

#[derive(Debug, Default)]
struct Branch {
    leaf: Option<usize>,
    below: BTreeMap<Part, Branch>,
}

/// The parameters as nested structs.
#[derive(Debug)]
pub struct Tree {
    params: Vec<Param>,
    paths: Vec<Vec<String>>,
    root: Branch,
}

impl Tree {
    /// Returns the weights by their keys in the file, with their names.
    pub fn weights(&self) -> impl Iterator<Item = (String, &Param)> {
        self.paths
            .iter()
            .map(|path| path.join("."))
            .zip(&self.params)
    }

    /// Returns whether the children of a branch are blocks `0..n` with the same fields.
    fn is_list(&self, branch: &Branch) -> bool {
        let numbered = |(at, part): (usize, &Part)| *part == Part::Number(at as u32);
        branch.leaf.is_none()
            && branch.below.len() > 1
            && branch.below.keys().enumerate().all(numbered)
            && branch.below.values().all(|block| block.leaf.is_none())
            && branch
                .below
                .values()
                .zip(branch.below.values().skip(1))
                .all(|(a, b)| self.is_same(a, b))
    }

    fn is_same(&self, a: &Branch, b: &Branch) -> bool {
        let kind = |leaf: Option<usize>| {
            let param = leaf.map(|at| &self.params[at]);
            param.map(|param| (param.dims.clone(), param.tensor.dtype()))
        };
        kind(a.leaf) == kind(b.leaf)
            && a.below.len() == b.below.len()
            && (a.below.iter().zip(&b.below)).all(|(a, b)| a.0 == b.0 && self.is_same(a.1, b.1))
    }

    /// Replaces placeholders by the paths of the fields.
    pub fn resolve(&self, text: TokenStream) -> TokenStream {
        let resolved = text.into_iter().flat_map(|token| match token {
            TokenTree::Ident(ident) => {
                let name = ident.to_string();
                match name
                    .strip_prefix(PLACEHOLDER)
                    .and_then(|at| at.parse::<usize>().ok())
                {
                    Some(at) => self.field(at),
                    None => TokenTree::Ident(ident).into(),
                }
            }
            TokenTree::Group(group) => {
                let inner = self.resolve(group.stream());
                TokenTree::Group(Group::new(group.delimiter(), inner)).into()
            }
            other => TokenStream::from(other),
        });
        resolved.collect()
    }

    fn field(&self, at: usize) -> TokenStream {
        let mut text = quote!(self);
        let mut branch = &self.root;
        for part in &self.paths[at] {
            let part = Part::new(part);
            text = match &part {
                Part::Number(number) if self.is_list(branch) => {
                    let number = proc_macro2::Literal::u32_unsuffixed(*number);
                    quote!(#text[#number])
                }
                _ => {
                    let ident = part.ident();
                    quote!(#text.#ident)
                }
            };
            let Some(below) = branch.below.get(&part) else {
                break;
            };
            branch = below;
        }
        text
    }

    /// Returns the structs: that of the model first.
    pub fn structs(&self, names: &mut Spellings, taken: &mut BTreeSet<String>) -> TokenStream {
        let mut structs = Vec::new();
        self.write(&self.root, "Model", "", names, taken, &mut structs);
        quote!(#(#structs)*)
    }

    fn write(
        &self,
        branch: &Branch,
        name: &str,
        path: &str,
        names: &mut Spellings,
        taken: &mut BTreeSet<String>,
        structs: &mut Vec<TokenStream>,
    ) {
        let place = structs.len();
        structs.push(TokenStream::new());
        let (mut fields, mut values) = (Vec::new(), Vec::new());
        for (part, below) in &branch.below {
            let (ident, key) = (part.ident(), part.key());
            let full = if path.is_empty() {
                key.clone()
            } else {
                format!("{path}.{key}")
            };
            if let Some(at) = below.leaf {
                let param = &self.params[at];
                let sizes: Vec<String> =
                    param.tensor.shape().iter().map(usize::to_string).collect();
                let doc = match &sizes[..] {
                    [] => format!(" `{full}`, a number."),
                    _ => format!(" `{full}`: {}.", sizes.join(" × ")),
                };
                let kind = tensor_type(names, &param.dims, param.tensor.dtype());
                let key = format!("{{at}}{key}");
                fields.push(quote!(#[doc = #doc] pub #ident: #kind));
                values.push(quote!(#ident: file.refine(&format!(#key))?));
                continue;
            }
            let mut kind = camel(&full);
            if taken.contains(&kind) {
                kind.push_str("Part");
            }
            let kind = unique(&kind, taken);
            let kind_ident = format_ident!("{kind}");
            if self.is_list(below) {
                let count = below.below.len();
                let count_text = proc_macro2::Literal::usize_unsuffixed(count);
                let doc = format!(" The {count} blocks of `{full}`.");
                fields.push(quote!(#[doc = #doc] pub #ident: Vec<#kind_ident>));
                let key = format!("{{at}}{key}.{{i}}.");
                values.push(quote! {
                    #ident: (0..#count_text).map(|i| #kind_ident::read(file, &format!(#key))).collect::<Result<_>>()?
                });
                if let Some(block) = below.below.values().next() {
                    self.write(block, &kind, &format!("{full}.0"), names, taken, structs);
                }
            } else {
                let doc = format!(" The parameters below `{full}`.");
                let key = format!("{{at}}{key}.");
                fields.push(quote!(#[doc = #doc] pub #ident: #kind_ident));
                values.push(quote!(#ident: #kind_ident::read(file, &format!(#key))?));
                self.write(below, &kind, &full, names, taken, structs);
            }
        }
        let ident = format_ident!("{name}");
        let doc = if path.is_empty() {
            " The parameters of the model.".to_owned()
        } else {
            format!(" The parameters of `{path}`.")
        };
        let open = path.is_empty().then(|| {
            quote! {
                /// Opens the weights.
                ///
                /// # Errors
                /// If the file cannot be read, or a tensor is missing or has other dims or another dtype.
                pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {
                    Self::read(&SafeTensors::open(path)?, "")
                }
            }
        });
        let (file, at) = if values.is_empty() {
            (quote!(_file), quote!(_at))
        } else {
            (quote!(file), quote!(at))
        };
        structs[place] = quote! {
            #[doc = #doc]
            #[derive(Clone, Debug)]
            pub struct #ident { #(#fields,)* }
            impl #ident {
                #open
                fn read(#file: &SafeTensors, #at: &str) -> Result<Self> {
                    Ok(Self { #(#values,)* })
                }
            }
        };
    }
}

/// Returns the type of a tensor.
pub fn tensor_type(names: &mut Spellings, dims: &[String], dtype: DType) -> TokenStream {
    let list = names.list_type(dims);
    match dtype {
        DType::F32 => quote!(Tensor<#list>),
        dtype => {
            let dtype = dtype_ident(dtype);
            quote!(Tensor<#list, #dtype>)
        }
    }
}

/// Returns the name of a dtype's type.
pub fn dtype_ident(dtype: DType) -> Ident {
    format_ident!("{}", dtype.to_string())
}

/// Returns a name that is not taken yet, and takes it.
pub fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while !taken.insert(found.clone()) {
        found = format!("{name}{number}");
        number += 1;
    }
    found
}

fn camel(path: &str) -> String {
    let name = crate::names::classes::camel(path);
    if syn::parse_str::<syn::Ident>(&name).is_ok() {
        name
    } else {
        format!("Block{name}")
    }
}

/// Pairs names of dims in repeated blocks with those of the first block, so that all blocks are one struct.
pub fn same_blocks(graph: &crate::graph::Graph, names: &Spellings) -> BTreeMap<String, String> {
    let mut first = BTreeMap::<String, (Vec<usize>, Vec<String>)>::new();
    let mut pairs = BTreeMap::new();
    let mut ids: Vec<_> = graph.constants.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        let name = &graph.values[id];
        let parts: Vec<&str> = name.split(['.', '/']).collect();
        if parts.len() < 3 || !parts[1..].iter().any(|part| is_number(part)) {
            continue;
        }
        let shape = graph.constants[&id].shape().to_vec();
        let Some(dims) = names.get(id, shape.len()) else {
            continue;
        };
        let key: Vec<&str> = parts
            .iter()
            .map(|part| if is_number(part) { "#" } else { part })
            .collect();
        match first.get(&key.join(".")) {
            None => drop(first.insert(key.join("."), (shape, dims))),
            Some((sizes, own)) if *sizes == shape => {
                for (from, to) in dims.iter().zip(own) {
                    let plain = |name: &str| name.trim_end_matches('\'').to_owned();
                    if plain(from) != plain(to) && !from.ends_with('\'') && !to.ends_with('\'') {
                        pairs.entry(plain(from)).or_insert_with(|| plain(to));
                    }
                }
            }
            Some(_) => {}
        }
    }
    // A name that is replaced is replaced by one that stays.
    let chained = pairs.clone();
    for to in pairs.values_mut() {
        for _ in 0..chained.len() {
            match chained.get(to) {
                Some(next) => to.clone_from(next),
                None => break,
            }
        }
    }
    pairs.retain(|from, to| from != to);
    pairs
}
