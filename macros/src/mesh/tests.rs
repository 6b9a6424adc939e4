use quote::quote;

use super::{layout, mesh};

fn wrong(tokens: &proc_macro2::TokenStream, text: &str) {
    let expanded = tokens.to_string();
    assert!(expanded.contains("compile_error"), "{expanded}");
    assert!(expanded.contains(text), "{expanded}");
}

#[test]
fn a_mesh_is_a_type_with_a_state_for_each_axis() {
    let text = mesh(quote!(pub Grid: Data, Model)).to_string();
    let file: syn::File = syn::parse_str(&text).unwrap();
    // The mesh and its two impls, and for each axis a struct and an impl.
    assert_eq!(file.items.len(), 3 + 2 * 2);
}

#[test]
fn what_is_no_mesh_is_told() {
    wrong(&mesh(quote!(Grid:)), "needs an axis");
    wrong(&mesh(quote!(Grid: A, B, C, D, E)), "up to 4 axes");
    wrong(&mesh(quote!(Grid: A, A)), "declared twice");
    wrong(&mesh(quote!(Grid: Grid)), "declared twice");
    wrong(&mesh(quote!(Grid)), "expected `:`");
}

#[test]
fn what_is_no_layout_is_told() {
    wrong(
        &layout(quote!(Train Grid: Batch => Data)),
        "expected `on` and a mesh",
    );
    wrong(
        &layout(quote!(Train on Grid: Batch => Data, Batch => Data)),
        "this pair is repeated",
    );
    wrong(&layout(quote!(Train on Grid: Batch, Data)), "expected `=>`");
}

#[test]
fn of_two_dims_of_one_axis_the_first_counts() {
    let text = layout(quote!(Train on Grid: Hidden => Model, Vocab => Model)).to_string();
    let text = text
        .replace(' ', "")
        .replace("::nomina_mesh::__private::", "");
    let place = "Set<Grid,Model,SplitIf<__D,Hidden,SplitIf<__D,Vocab,Whole>>>";
    assert!(text.contains(place), "{text}");
}
