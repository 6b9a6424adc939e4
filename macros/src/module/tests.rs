use quote::quote;

use super::module;

fn pretty(found: proc_macro2::TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(found).expect("an item"))
}

#[test]
fn fields_are_walked_under_their_names() {
    let found = module(quote! {
        struct Block<L, const K: usize> {
            first: Linear<In, Out>,
            #[module(skip)]
            rate: f32,
            rest: [L; K],
        }
    });
    insta::assert_snapshot!(pretty(found));
}

#[test]
fn variants_are_walked_too() {
    let found = module(quote! {
        #[module(crate = other::nn)]
        enum Norm {
            Layer(LayerNorm<C>),
            None,
        }
    });
    insta::assert_snapshot!(pretty(found));
}

#[test]
fn words_that_are_none_are_refused() {
    let found = module(quote!(
        struct Block {
            #[module(skp)]
            rate: f32,
        }
    ));
    assert!(found.to_string().contains("expected `skip`"), "{found}");
    let found = module(quote!(
        #[module(skip)]
        struct Block {
            rate: f32,
        }
    ));
    assert!(
        found.to_string().contains("expected `crate = path`"),
        "{found}"
    );
    let found = module(quote!(union Block { a: f32 }));
    assert!(
        found.to_string().contains("a union holds no parameters"),
        "{found}"
    );
}
