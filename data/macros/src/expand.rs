//! The impl of `Dataset`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput};

use crate::options::{DatasetFields, DatasetOptions, Variable};

/// Writes the impl, or the errors.
pub fn dataset(input: TokenStream) -> TokenStream {
    let input = match syn::parse2::<DeriveInput>(input) {
        Ok(input) => input,
        Err(error) => return error.to_compile_error(),
    };
    match DatasetOptions::parse(&input).and_then(|options| Ok((options, fields(&input)?))) {
        Ok((options, fields)) => expand(&input, &fields, &options),
        // With an impl that is never used, later uses of the struct cause no further errors.
        Err(error) => {
            let error = error.to_compile_error();
            let rest = expand(
                &input,
                &DatasetFields::default(),
                &DatasetOptions::default(),
            );
            quote!(#error #rest)
        }
    }
}

fn fields(input: &DeriveInput) -> syn::Result<DatasetFields<'_>> {
    let refused = |what: &str| Err(syn::Error::new(input.ident.span(), what));
    let fields = match &input.data {
        Data::Struct(data) => &data.fields,
        _ => return refused("a dataset has all its variables at once: it is a struct"),
    };
    let mut found = DatasetFields::default();
    let mut errors: Option<syn::Error> = None;
    for field in fields {
        let Some(ident) = &field.ident else {
            return refused("variables of a file are found by name: give the fields names");
        };
        if let Err(error) = found.push(field, ident) {
            match &mut errors {
                Some(errors) => errors.combine(error),
                None => errors = Some(error),
            }
        }
    }
    match errors {
        Some(errors) => Err(errors),
        None if found.variables.is_empty() => {
            refused("a dataset has at least one field that is a variable of a file")
        }
        None => Ok(found),
    }
}

fn expand(
    input: &DeriveInput,
    fields: &DatasetFields<'_>,
    options: &DatasetOptions,
) -> TokenStream {
    let path = &options.crate_path;
    let DatasetFields { variables, skipped } = fields;
    let (name, private) = (&input.ident, quote!(#path::__private));
    // Located at the type, so that rustc's errors point there, and written out in each place, so that it says them once.
    let list = tree(
        variables,
        &|Variable { ty, .. }| quote_spanned!(ty.span()=> <#ty as #path::Field>::Leaf),
    );
    let pattern = tree(
        variables,
        &|Variable { ident, .. }| quote!(#private::OneField(#ident)),
    );
    let copies = tree(
        variables,
        &|Variable { ident, .. }| quote!(#private::OneField(::core::clone::Clone::clone(&self.#ident))),
    );
    let specs = variables.iter().map(|variable| spec(variable, &private));
    let idents = variables.iter().map(|variable| variable.ident);
    let (impls, args, bounds) = input.generics.split_for_impl();
    let text = name.to_string();
    let is_generic = input.generics.type_params().next().is_some();
    let agreement = (!is_generic && !variables.is_empty()).then(|| {
        quote_spanned! {name.span()=>
            const _: () = ::core::assert!(
                #private::fields_agree::<#name #args>(),
                "fields of this dataset give dims of one spelling labels of different types: use one declaration of the dim, \
                 or another spelling, `Lat2(\"lat2\"): f64`"
            );
        }
    });
    let renamed = (!options.renamed.is_empty()).then(|| {
        let pairs = options
            .renamed
            .iter()
            .map(|(dim, name)| quote!((#private::dim_name::<#dim>(), #name)));
        quote!(const RENAMED: &'static [(&'static str, &'static str)] = &[#(#pairs),*];)
    });
    // The impl beside an error is never called.
    // A field may have one of these names.
    let [like, fields] = ["like", "fields"].map(|name| Ident::new(name, Span::mixed_site()));
    let built = if variables.is_empty() {
        quote!(::core::unreachable!())
    } else {
        quote!(Self {
            #(#idents,)*
            #(#skipped: #like.map(|like| ::core::clone::Clone::clone(&like.#skipped)).unwrap_or_default(),)*
        })
    };
    quote! {
        #[automatically_derived]
        #[diagnostic::do_not_recommend]
        #[allow(unused_variables)]
        impl #impls #path::Dataset for #name #args #bounds {
            type Fields = #list;
            const NAME: &'static str = #text;
            const VARIABLES: &'static [#private::VariableSpec] = &[#(#specs),*];
            #renamed
            fn fields(&self) -> #list {
                #copies
            }
            fn with_fields(#like: ::core::option::Option<&Self>, #fields: #list) -> Self {
                let #pattern = #fields;
                #built
            }
        }
        #agreement
    }
}

/// Writes the description of a variable.
fn spec(variable: &Variable<'_>, private: &TokenStream) -> TokenStream {
    let Variable {
        ident,
        name,
        units,
        written,
        ..
    } = variable;
    let field = ident.to_string();
    let units = units.iter().map(|units| quote!(.units(#units)));
    let attributes = (!written.is_empty()).then(|| {
        let pairs = written.iter().map(|(key, value)| quote!((#key, #value)));
        quote!(.attributes(&[#(#pairs),*]))
    });
    let coordinate = variable.is_coordinate.then(|| quote!(.coordinate()));
    let convert = variable.converts.then(|| quote!(.convert()));
    quote!(#private::VariableSpec::new(#field, #name) #(#units)* #attributes #coordinate #convert)
}

/// Returns a balanced tree of pairs: rustc's recursion limit of 128 would end a list of some hundred fields.
fn tree<T>(items: &[T], leaf: &dyn Fn(&T) -> TokenStream) -> TokenStream {
    match items {
        [] => quote!(()),
        [only] => leaf(only),
        _ => {
            let (left, right) = items.split_at(items.len() / 2);
            let (left, right) = (tree(left, leaf), tree(right, leaf));
            quote!((#left, #right))
        }
    }
}
