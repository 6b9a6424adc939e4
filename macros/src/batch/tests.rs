use quote::quote;

use super::batch;

fn pretty(found: proc_macro2::TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(found).expect("items"))
}

#[test]
fn fields_are_stacked_under_their_names() {
    let found = batch(quote! {
        #[batch(name = Digits)]
        pub struct Digit<T: Element> {
            /// The pixels.
            pub image: Tensor<(H, W), T>,
            label: i64,
        }
    });
    insta::assert_snapshot!(pretty(found));
}

#[test]
fn fields_without_names_are_stacked_by_position() {
    let found = batch(quote! {
        #[batch(crate = other)]
        struct Pair(Tensor<(T,)>, pub i64);
    });
    insta::assert_snapshot!(pretty(found));
}

#[test]
fn types_without_fields_and_unknown_words_are_refused() {
    for input in [
        quote!(
            enum Kind {
                A(f32),
            }
        ),
        quote!(
            struct Nothing;
        ),
    ] {
        let found = batch(input).to_string();
        assert!(
            found.contains("derive it for a struct with fields"),
            "{found}"
        );
    }
    let found = batch(quote!(
        #[batch(nam = Digits)]
        struct Digit {
            label: i64,
        }
    ));
    assert!(
        found.to_string().contains("expected `name = Name`"),
        "{found}"
    );
}
