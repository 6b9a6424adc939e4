//! Nouns: the type aliases for the dims of results, and the bound that each implies.
//!
//! The dims of a result are an alias, `Without<D, C>`; a bound, `D: Has<C>`, says that the operation is defined.
//! Writing the alias implies the bound.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    GenericArgument, GenericParam, Generics, Path, PathArguments, ReturnType, Signature, Type,
    TypeParamBound, WherePredicate,
};

/// The kind of a type parameter, inferred from its position.
#[derive(Clone, Copy, PartialEq)]
pub enum Role {
    /// A list of dims.
    Dims,
    /// One dim.
    Dim,
    /// A dtype.
    Element,
}

/// The nouns found in types: the implied bounds, and the kinds of their parameters.
#[derive(Default)]
pub struct Nouns {
    bounds: Vec<(String, TokenStream)>,
    roles: Vec<(Ident, Role)>,
    generic: Vec<Ident>,
    /// Parameters declared as anything that a reduction takes, `A: AxesOf<D>`, rather than one dim.
    axes: Vec<Ident>,
}

impl Nouns {
    /// Creates an empty collection for a function with these generics.
    pub fn new(generics: &Generics) -> Self {
        let generic = generics.type_params().map(|param| param.ident.clone());
        let mut axes = Vec::new();
        for param in generics.type_params() {
            if has_axes(&param.bounds) {
                axes.push(param.ident.clone());
            }
        }
        for bound in generics.where_clause.iter().flat_map(|it| &it.predicates) {
            axes.extend(declared_axes(bound));
        }
        Self {
            generic: generic.collect(),
            axes,
            ..Self::default()
        }
    }

    /// Returns whether a list of several dims includes a generic one: then only a bound shows that none is repeated.
    fn is_generic_list(&self, ty: &Type) -> bool {
        let mut dims = Vec::new();
        each_dim(ty, &mut |dim| dims.push(quote!(#dim).to_string()));
        let generic = |dim: &String| self.generic.iter().any(|param| param == dim);
        dims.len() > 1 && dims.iter().any(generic)
    }

    /// Notes a bound that the attribute declares.
    pub fn declare(&mut self, bound: &WherePredicate) {
        self.axes.extend(declared_axes(bound));
    }

    fn is_axes(&self, ty: &Type) -> bool {
        matches!(plain(ty), Type::Path(path) if path.path.get_ident().is_some_and(|ident| self.axes.contains(ident)))
    }

    /// Returns the bounds, each once, in the order in which they were found; inner ones first.
    pub fn bounds(&self) -> impl Iterator<Item = &TokenStream> {
        self.bounds.iter().map(|(_, bound)| bound)
    }

    /// Returns the inferred kind of a parameter.
    pub fn role_of(&self, param: &Ident) -> Option<Role> {
        let found = self.roles.iter().find(|(ident, _)| ident == param);
        found.map(|(_, role)| *role)
    }

    /// Adds a bound, if it is new.
    pub fn bound(&mut self, bound: TokenStream) {
        let text = bound.to_string();
        if self.bounds.iter().all(|(known, _)| *known != text) {
            self.bounds.push((text, bound));
        }
    }

    fn role(&mut self, ty: &Type, role: Role) {
        match plain(ty) {
            Type::Path(path) => {
                if let Some(ident) = path.path.get_ident()
                    && !(role == Role::Dim && self.axes.contains(ident))
                {
                    self.roles.push((ident.clone(), role));
                }
            }
            // The elements of a list of dims are dims.
            Type::Tuple(tuple) if role == Role::Dims => {
                let elements = tuple.elems.iter();
                elements.for_each(|ty| self.role(ty, Role::Dim));
            }
            _ => {}
        }
    }

    /// Collects the nouns of a function's signature.
    pub fn signature(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            match input {
                syn::FnArg::Receiver(_) => {}
                syn::FnArg::Typed(input) => self.ty(&input.ty),
            }
        }
        if let ReturnType::Type(_, ty) = &signature.output {
            self.ty(ty);
        }
        for param in &signature.generics.params {
            if let GenericParam::Type(param) = param {
                param
                    .bounds
                    .iter()
                    .for_each(|bound| self.trait_bound(bound));
            }
        }
        if let Some(clause) = &signature.generics.where_clause {
            clause
                .predicates
                .iter()
                .for_each(|bound| self.predicate(bound));
        }
    }

    /// Collects the nouns of a bound.
    pub fn predicate(&mut self, predicate: &WherePredicate) {
        if let WherePredicate::Type(predicate) = predicate {
            self.ty(&predicate.bounded_ty);
            predicate
                .bounds
                .iter()
                .for_each(|bound| self.trait_bound(bound));
        }
    }

    fn trait_bound(&mut self, bound: &TypeParamBound) {
        if let TypeParamBound::Trait(bound) = bound {
            for ty in bound
                .path
                .segments
                .iter()
                .flat_map(|at| types(&at.arguments))
            {
                self.ty(ty);
            }
            self.path(&bound.path);
        }
    }

    /// Collects the nouns of a type, inner ones first.
    pub fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Path(path) => {
                if let Some(own) = &path.qself {
                    self.ty(&own.ty);
                }
                for segment in &path.path.segments {
                    types(&segment.arguments).for_each(|ty| self.ty(ty));
                }
                self.path(&path.path);
            }
            Type::Reference(inner) => self.ty(&inner.elem),
            Type::Paren(inner) => self.ty(&inner.elem),
            Type::Group(inner) => self.ty(&inner.elem),
            Type::Array(inner) => self.ty(&inner.elem),
            Type::Slice(inner) => self.ty(&inner.elem),
            Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| self.ty(ty)),
            Type::ImplTrait(inner) => inner
                .bounds
                .iter()
                .for_each(|bound| self.trait_bound(bound)),
            _ => {}
        }
    }

    fn path(&mut self, path: &Path) {
        let Some(last) = path.segments.last() else {
            return;
        };
        let args: Vec<&Type> = types(&last.arguments).collect();
        let name = last.ident.to_string();
        if matches!(name.as_str(), "Tensor" | "TensorMut") {
            let roles = [Role::Dims, Role::Element];
            args.iter()
                .zip(roles)
                .for_each(|(ty, role)| self.role(ty, role));
            return;
        }
        let Some((_, kinds, relations)) = NOUNS.iter().find(|(noun, ..)| *noun == name) else {
            return;
        };
        if args.len() != kinds.len() {
            return;
        }
        for (ty, kind) in args.iter().zip(kinds.chars()) {
            match kind {
                'D' => self.role(ty, Role::Dims),
                'X' => each_dim(ty, &mut |dim| self.role(dim, Role::Dim)),
                _ => {}
            }
        }
        for relation in *relations {
            self.relation(path, relation, &args);
        }
    }

    /// Adds one bound of a noun with these arguments. All its tokens are located at the noun, which rustc then reports
    /// as the origin of the bound.
    fn relation(&mut self, noun: &Path, relation: &Relation, args: &[&Type]) {
        let Some(span) = noun.segments.last().map(|last| last.ident.span()) else {
            return;
        };
        match relation {
            Relation::Of(own, name, others) => {
                let own = args[*own];
                let others: Vec<&Type> = others.iter().map(|at| args[*at]).collect();
                let beside = beside(noun, name);
                let args = match others.as_slice() {
                    [] => None,
                    others => Some(quote_spanned!(span=> <#(#others),*>)),
                };
                self.bound(quote_spanned!(span=> #own: #beside #args));
            }
            Relation::Has(own, dims) => {
                let own = args[*own];
                let has = beside(noun, "Has");
                each_dim(args[*dims], &mut |dim| {
                    if self.is_axes(dim) {
                        let axes = beside(noun, "AxesOf");
                        self.bound(quote_spanned!(span=> #dim: #axes<#own>));
                    } else {
                        self.bound(quote_spanned!(span=> #own: #has<#dim>));
                    }
                });
                if self.is_generic_list(args[*dims]) {
                    let (list, axes) = (args[*dims], beside(noun, "AxesOf"));
                    self.bound(quote_spanned!(span=> #list: #axes<#own>));
                }
            }
            Relation::Result(name) => {
                let beside = beside(noun, name);
                self.bound(quote_spanned!(span=> #noun: #beside));
            }
        }
    }
}

/// An implied bound, in terms of the indices of the noun's arguments.
enum Relation {
    /// `args[0]: Name<args[1..]>`
    Of(usize, &'static str, &'static [usize]),
    /// `args[0]: Has<X>` for each dim `X` of `args[1]`, and `args[1]: AxesOf<args[0]>` if that is a generic list.
    Has(usize, usize),
    /// A bound on the noun itself.
    Result(&'static str),
}

use Relation::{Has, Of, Result};

/// The nouns, each with its arguments (`D` dims, `X` a dim or dims, `O` other) and its relations.
const NOUNS: &[(&str, &str, &[Relation])] = &[
    ("Sum", "DD", &[Of(0, "Broadcast", &[1])]),
    ("Without", "DX", &[Has(0, 1)]),
    ("Aligned", "DO", &[Of(1, "Order", &[0])]),
    ("Renamed", "DXX", &[Of(1, "Rename", &[0, 2])]),
    ("Transposed", "DXX", &[Has(0, 1), Has(0, 2)]),
    ("Flipped", "D", &[Of(0, "Flat", &[])]),
    ("Refined", "DO", &[Of(1, "Refine", &[0])]),
    ("Flattened", "DXX", &[Of(1, "Flatten", &[0, 2])]),
    ("Unflattened", "DXO", &[Of(1, "Unflatten", &[0, 2])]),
    ("Selected", "DXD", &[Has(0, 1), Of(2, "IndexOf", &[0, 1])]),
    ("Embedded", "DXD", &[Has(0, 1), Of(2, "EmbedIn", &[0, 1])]),
    ("Inserted", "DX", &[Of(1, "Insert", &[0])]),
    ("Appended", "DX", &[Of(1, "Append", &[0])]),
    ("Expanded", "DO", &[Of(1, "Expand", &[0])]),
    ("Contracted", "DDX", &[Of(2, "Contract", &[0, 1])]),
    ("Tensordotted", "DDX", &[Of(2, "TensorDot", &[0, 1])]),
    ("Product", "DD", &[Of(0, "MatMul", &[1])]),
    ("Joined", "DD", &[Of(1, "Beside", &[0])]),
    ("Inner", "DD", &[Of(1, "InnerWith", &[0])]),
    ("Linear", "DXX", &[Has(0, 2), Result("Distinct")]),
    ("Distances", "DD", &[Of(1, "RowsBeside", &[0])]),
    ("Attended", "DDD", &[Of(2, "Attend", &[0, 1])]),
    ("Inverse", "DO", &[Of(1, "MatrixOf", &[0])]),
    (
        "Solved",
        "DDO",
        &[Of(2, "MatrixOf", &[0]), Of(1, "RightSideOf", &[0, 2])],
    ),
    ("LeftFactor", "DOX", FACTOR),
    ("RightFactor", "DOX", FACTOR),
    ("Spectrum", "DOX", FACTOR),
    // A size and a bound only imply that the argument is a dim.
    ("Of", "X", &[]),
    ("Has", "X", &[]),
];

/// The new dim of a decomposition is appended to the other dims of a matrix.
const FACTOR: &[Relation] = &[Of(1, "MatrixOf", &[0]), Of(2, "Append", &[0])];

/// Returns the path of a trait next to the noun: `dims::Has` for `dims::Without`.
fn beside(noun: &Path, name: &str) -> TokenStream {
    let Some(last) = noun.segments.last() else {
        return TokenStream::new();
    };
    let span = last.ident.span();
    let name = Ident::new(name, span);
    let leading = noun.leading_colon;
    let above = noun.segments.iter().take(noun.segments.len() - 1);
    quote_spanned!(span=> #leading #(#above ::)* #name)
}

/// Calls `f` on each dim of an argument: a dim, the elements of a tuple, the argument of `Keep`; nothing for `..`.
fn each_dim(ty: &Type, f: &mut dyn FnMut(&Type)) {
    match plain(ty) {
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| each_dim(ty, f)),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "RangeFull" => {}
            Some(last) if last.ident == "Keep" => {
                types(&last.arguments).for_each(|ty| each_dim(ty, f));
            }
            _ => f(ty),
        },
        _ => f(ty),
    }
}

/// Returns whether the bounds of a parameter make it a list of dims, or `keep` of one.
fn has_axes<'a>(bounds: impl IntoIterator<Item = &'a TypeParamBound>) -> bool {
    bounds.into_iter().any(|bound| {
        let TypeParamBound::Trait(bound) = bound else {
            return false;
        };
        let last = bound.path.segments.last();
        last.is_some_and(|last| last.ident == "AxesOf" || last.ident == "Axes")
    })
}

/// Returns the parameter that a bound declares as a list of dims.
fn declared_axes(bound: &WherePredicate) -> Option<Ident> {
    let WherePredicate::Type(bound) = bound else {
        return None;
    };
    let Type::Path(own) = &bound.bounded_ty else {
        return None;
    };
    own.path
        .get_ident()
        .filter(|_| has_axes(&bound.bounds))
        .cloned()
}

/// Returns a type without grouping and parentheses.
fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Group(inner) => plain(&inner.elem),
        Type::Paren(inner) => plain(&inner.elem),
        _ => ty,
    }
}

/// Returns the types among generic arguments.
fn types(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let args = match arguments {
        PathArguments::AngleBracketed(args) => Some(&args.args),
        _ => None,
    };
    args.into_iter().flatten().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        GenericArgument::AssocType(assoc) => Some(&assoc.ty),
        _ => None,
    })
}
