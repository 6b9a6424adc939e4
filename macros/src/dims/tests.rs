use insta::assert_snapshot;

use super::dims;
use crate::testing::{items, mistakes, own_items, typed};

#[test]
fn plain_dim() {
    assert_snapshot!(items(dims, "N"));
}

#[test]
fn size_and_spelling() {
    assert_snapshot!(own_items(
        dims,
        "pub Rgb = 3, pub(crate) Batch = \"b\", Red(\"r\") = 10,"
    ));
}

#[test]
fn labels() {
    assert_snapshot!(own_items(
        dims,
        "pub Lat: f64, Time(\"time\"): nomina::Timestamp, Id: i64 = 3, pub Rgb = { R, G }"
    ));
}

#[test]
fn words_are_constants() {
    let text = items(dims, "pub Rgb = { R, G }");
    let (_, words) = text.split_once("#[allow(dead_code)]\nimpl Rgb {").unwrap();
    assert!(words.contains("pub const G:"), "{text}");
    assert!(words.contains("1i64"), "{text}");
    // rustc refuses the attribute on an inherent impl.
    assert!(
        !text.contains("automatically_derived]\n#[allow(dead_code)]"),
        "{text}"
    );
}

#[test]
fn long_spelling() {
    assert_snapshot!(own_items(
        dims,
        "N = \"a_name_that_is_longer_than_forty_characters\""
    ));
}

#[test]
fn attributes() {
    let code = "/// Examples.\n #[cfg(feature = \"x\")] #[deprecated] pub batch_size";
    assert_snapshot!(items(dims, code));
}

#[test]
fn no_dims() {
    assert_eq!(items(dims, ""), "");
}

#[test]
fn a_trailing_comma_changes_nothing() {
    assert_eq!(items(dims, "N, C"), items(dims, "N, C,"));
}

#[test]
fn identity_is_the_spelling() {
    let id = |code: &str| {
        let text = items(dims, code);
        text.split_once("type Id = ")
            .unwrap()
            .1
            .split_once(';')
            .unwrap()
            .0
            .to_owned()
    };
    assert_eq!(id("N"), id("Other = \"N\""));
    assert_eq!(id("N"), id("Other(\"N\") = 3"));
    assert_ne!(id("N"), id("M"));
}

#[test]
fn every_mistake() {
    let codes = [
        "N, N",
        "N, M = \"N\"",
        "A = \"n\", B(\"n\"), C = \"n\"",
        "r#type",
        "größe",
        "_",
        "type",
        "struct N, C",
        "type N",
        "pub",
        "N, /// Classes.\n",
        "N,, C",
        "\"my dim\"",
        "N::M, C",
        "3",
        ", N",
        "\"N\"",
        "Batch = \"\"",
        "Batch = \"2d\"",
        "Batch = \"my batch\"",
        "Batch(\"b c\") = 3",
        "Batch(b)",
        "Batch(\"a\") = \"b\"",
        "Batch = \"b\"x",
        "N =",
        "N = , C",
        "N = 3.5",
        "N = true",
        "N = -3",
        "N = 3u8",
        "N = 99999999999999999999",
        "N = 9223372036854775808",
        "N = M",
        "N = 3 * 4, C",
        "N = { 4 }, C",
        "N C",
        "N = 3 C, D",
        "N; C",
        "N<A, B>, C",
        "N: 3",
        "N:, C",
        "N = { R, G, R }, C",
        "N = {}, C",
        "N: f64 = { R }, C",
        "#[derive(Clone, PartialOrd)] N",
        "N, N, r#if, C = \"2\"",
    ];
    let all: Vec<String> = codes.iter().map(|code| mistakes(dims, code)).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn nothing_wrong() {
    let codes = [
        "N, /// doc\n C, pub H, pub(in crate::a) W",
        "r#type = \"type\"",
        "größe = \"size\"",
        "#[cfg(a)] N, #[cfg(b)] N",
        "#[derive(PartialOrd, Ord)] N",
        "N = 0, M = 9223372036854775807, K = 0x10, L = 3usize",
        "str, f, usize, bool, Self_",
        "N: f64, C: Vec<a::B> = 3, D(\"d\"): String, E = { R, G, }",
    ];
    for code in codes {
        assert_eq!(mistakes(dims, code), format!("{code}\n"));
    }
}

#[test]
fn what_is_wrong_is_declared_all_the_same() {
    for code in [
        "N, N",
        "N = M",
        "N = \"\"",
        "N = -1",
        "N<A>",
        "N = \"2\"",
        "K, N = 3 4",
        "M N",
        "K; N",
        "struct N",
        "\"N\"",
        "N::M",
        "pub, N",
        "#[derive(Clone, Copy)] N",
    ] {
        let text = items(dims, code);
        assert_eq!(text.matches("struct N;").count(), 1, "{code}");
        assert_eq!(text.matches("::Axis for N {").count(), 1, "{code}");
    }
    assert_eq!(items(dims, "r#type").matches("struct r#type;").count(), 1);
}

#[test]
fn a_derive_of_what_is_there_is_left_out() {
    let text = items(dims, "#[derive(Clone, PartialOrd)] N");
    assert!(text.contains("#[derive(PartialOrd)]"), "{text}");
}

#[test]
fn called_without_its_wrapper() {
    let said = dims("N".parse().unwrap()).to_string();
    assert!(
        said.contains("call the macro of the same name in crate `nomina`"),
        "{said}"
    );
}

#[test]
fn every_beginning_expands_to_code() {
    typed(
        dims,
        "#[cfg(a)] pub N, pub(crate) Rgb(\"rgb\") = 3, Batch = \"batch\", Lat: f64, Hue = { R, G }, C",
    );
}
