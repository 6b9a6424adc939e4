use quote::quote;

use crate::expand::dataset;

fn pretty(found: proc_macro2::TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(found).expect("items"))
}

#[test]
fn fields_become_a_tree() {
    let found = dataset(quote! {
        #[dataset(rename(Lat = "the latitude", geo::Lon = "λ"))]
        struct Sea {
            #[dataset(name = "surface temperature", units = "K", long_name = "of the surface")]
            temperature: Labelled<(Time, Lat, Lon), f32>,
            #[dataset(coordinate, convert)]
            r#type: Option<Labelled<(Lat, Lon)>>,
            #[dataset(skip)]
            title: String,
            height: f64,
        }
    });
    insta::assert_snapshot!(pretty(found));
}

#[test]
fn a_generic_struct_is_not_checked_for_all_its_types() {
    let found = pretty(dataset(quote! {
        #[dataset(crate = other::data)]
        struct One<T: Element> where T: Real {
            x: Labelled<(Lat,), T>,
        }
    }));
    assert!(
        found.contains("impl<T: Element> other::data::Dataset for One<T>\nwhere\n    T: Real,"),
        "{found}"
    );
    assert!(!found.contains("fields_agree"), "{found}");
}

#[test]
fn other_structs_and_words_are_refused() {
    let refused = [
        (
            quote!(
                enum Sea {
                    A(f64),
                }
            ),
            "it is a struct",
        ),
        (
            quote!(
                struct Sea(f64);
            ),
            "give the fields names",
        ),
        (
            quote!(
                struct Sea {}
            ),
            "at least one field",
        ),
        (
            quote!(
                struct Sea {
                    #[dataset(skip)]
                    x: f64,
                }
            ),
            "at least one field",
        ),
        (
            quote!(
                struct Sea {
                    #[dataset(unit = "K")]
                    x: f64,
                }
            ),
            "expected `name`, `units`",
        ),
        (
            quote!(
                struct Sea {
                    #[dataset(units = 3)]
                    x: f64,
                }
            ),
            "expected string literal",
        ),
        (
            quote!(
                struct Sea {
                    #[dataset(skip, name = "y")]
                    x: f64,
                }
            ),
            "a skipped field",
        ),
        (
            quote!(
                struct Sea {
                    x: f64,
                    #[dataset(name = "x")]
                    y: f64,
                }
            ),
            "field `x` is already variable `x`",
        ),
        (
            quote!(
                #[dataset(skip)]
                struct Sea {
                    x: f64,
                }
            ),
            "expected `rename(Dim",
        ),
    ];
    for (input, wanted) in refused {
        let found = dataset(input).to_string();
        assert!(found.contains(wanted), "{wanted}: {found}");
    }
}
