//! The types that `mesh!` and `layout!` generate.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Path};

use super::{LayoutInput, MOST, MeshInput, written};
use crate::crate_path::{after, before};

/// Writes the mesh, its axes, and their impls.
pub(super) fn mesh(mesh: &MeshInput) -> TokenStream {
    let MeshInput {
        attributes,
        visibility,
        name,
        axes,
    } = mesh;
    let span = before(name.span());
    let path = quote_spanned!(span=> ::nomina_mesh::__private);
    let count = axes.len();
    let states: Vec<Ident> = (0..count)
        .map(|at| format_ident!("__S{at}", span = span))
        .collect();
    let all: Vec<Ident> = (0..MOST).map(|at| format_ident!("S{at}")).collect();
    let (used, unused) = all.split_at(count);
    let own_axes: Vec<Ident> = (0..MOST).map(|at| format_ident!("X{at}")).collect();
    let (own_axes, no_axes) = own_axes.split_at(count);
    let wholes = axes.iter().map(|_| quote!(#path::Whole));
    let whole = quote!(#name<#(#wholes),*>);
    let names: Vec<String> = axes.iter().map(Ident::to_string).collect();
    let list = names.join(", ");
    let doc = format!("The mesh with axes {list}: a placement has a state for each, `{name}<..>`.");
    let axis_items = axes.iter().enumerate().map(|(at, axis)| {
        let index = format_ident!("At{at}");
        let text = &names[at];
        let doc = format!("Axis `{axis}` of mesh `{name}`.");
        let (span, end) = (before(axis.span()), after(axis.span()));
        let mut declared = quote_spanned! {span=>
            #[doc = #doc]
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
            #visibility struct #axis
        };
        declared.extend(quote_spanned!(end=> ;));
        quote_spanned! {span=>
            #declared

            #[diagnostic::do_not_recommend]
            #[automatically_derived]
            impl #path::MeshAxis for #axis {
                type Mesh = #whole;
                type Index = #path::#index;
                const NAME: &'static ::core::primitive::str = #text;
            }
        }
    });
    // Like in `dims!`: rustc takes an item to extend from its first token to its last, and shows the name alone.
    let end = after(name.span());
    let mut declared = quote_spanned! {span=>
        #(#attributes)*
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name<#(#states = #path::Whole),*>(::core::marker::PhantomData<(#(#states,)*)>)
    };
    declared.extend(quote_spanned!(end=> ;));
    quote_spanned! {span=>
        #declared

        #[automatically_derived]
        impl<#(#states: #path::State),*> #path::Placement for #name<#(#states),*> {
            type Mesh = #whole;
            #(type #own_axes = #axes;)*
            #(type #no_axes = #path::NoAxis;)*
            #(type #used = #states;)*
            #(type #unused = #path::Whole;)*
            type Of<
                S0: #path::State,
                S1: #path::State,
                S2: #path::State,
                S3: #path::State,
            > = #name<#(#used),*>;
            const AXES: &'static [&'static ::core::primitive::str] = &[#(#names),*];
            const PLACES: &'static [#path::StaticPlace] = &[#(<#states as #path::State>::PLACE),*];
        }

        impl #whole {
            /// Starts the mesh with these sizes over the processes of an engine. A size of 0 is inferred from the
            /// number of processes.
            ///
            /// # Errors
            /// If the sizes do not multiply to the number of processes.
            #[allow(dead_code)]
            #visibility fn start(
                engine: &impl #path::Engine,
                sizes: [::core::primitive::usize; #count],
            ) -> #path::Result<#path::Mesh<Self>> {
                #path::Mesh::start(engine, &sizes)
            }

            /// Runs a program on one thread per rank of the mesh, and returns the results by rank.
            ///
            /// # Errors
            /// The error or panic of the rank that fails first; the other ranks stop waiting for it.
            #[allow(dead_code)]
            #visibility fn threads<V: ::core::marker::Send>(
                sizes: [::core::primitive::usize; #count],
                program: impl ::core::ops::Fn(#path::Mesh<Self>) -> #path::Result<V> + ::core::marker::Sync,
            ) -> #path::Result<#path::Vec<V>> {
                #path::threads(&sizes, program)
            }

            /// Creates the mesh with one rank, along all axes.
            #[allow(dead_code)]
            #[must_use]
            #visibility fn alone() -> #path::Mesh<Self> {
                #path::Mesh::alone()
            }

            /// Creates one rank of a mesh without the others: collectives return tensors of the right sizes without
            /// their values, and are listed by [`plan`](::nomina_mesh::Mesh::plan).
            ///
            /// # Errors
            /// If a size is 0, or their product overflows.
            #[allow(dead_code)]
            #visibility fn simulate(
                sizes: [::core::primitive::usize; #count],
                latency: ::core::primitive::f64,
                bytes_per_second: ::core::primitive::f64,
            ) -> #path::Result<#path::Mesh<Self>> {
                #path::Mesh::simulate(&sizes, latency, bytes_per_second)
            }
        }

        #(#axis_items)*
    }
}

/// Writes the layout, and the placements it gives.
pub(super) fn layout(layout: &LayoutInput) -> TokenStream {
    let LayoutInput {
        attributes,
        visibility,
        name,
        mesh,
        pairs,
    } = layout;
    let path = quote!(::nomina_mesh::__private);
    let dims = Ident::new("__D", Span::mixed_site());
    let mut axes: Vec<(&Path, TokenStream)> = Vec::new();
    // If an axis lists two dims, the first one that a tensor has is split: later ones are nested inside.
    for (dim, axis) in pairs.iter().rev() {
        let at = axes
            .iter()
            .position(|(other, _)| written(other) == written(axis));
        let state = at.map_or_else(|| quote!(#path::Whole), |at| axes.remove(at).1);
        axes.push((axis, quote!(#path::SplitIf<#dims, #dim, #state>)));
    }
    let placed = axes.iter().fold(
        quote!(#mesh),
        |placed, (axis, state)| quote!(#path::Set<#placed, #axis, #state>),
    );
    let doc = pairs
        .iter()
        .map(|(dim, axis)| format!("`{}` over `{}`", last(dim), last(axis)));
    let doc = format!("Splits {}.", doc.collect::<Vec<_>>().join(", "));
    quote! {
        #(#attributes)*
        #[doc = #doc]
        #[derive(Clone, Copy, Debug)]
        #visibility enum #name {}

        #[diagnostic::do_not_recommend]
        #[automatically_derived]
        impl #path::Layout for #name {
            type Place<#dims: #path::Dims> = #placed;
        }
    }
}

fn last(path: &Path) -> String {
    path.segments
        .last()
        .map_or_else(String::new, |last| last.ident.to_string())
}
