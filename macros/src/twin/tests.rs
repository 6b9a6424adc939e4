use insta::assert_snapshot;
use proc_macro2::TokenStream;

use super::{forms, twin};
use crate::testing::mistakes_in;

fn tokens(code: &str) -> TokenStream {
    code.parse().expect("the test's code has tokens")
}

/// Returns the generated methods, formatted.
fn methods(written: &str, method: &str) -> String {
    formatted(twin(tokens(written), tokens(method)))
}

fn formatted(methods: TokenStream) -> String {
    let file = syn::parse2(quote::quote!(impl T { #methods })).expect("methods");
    prettyplease::unparse(&file)
}

/// Adds docs to a method.
fn documented(method: &str) -> String {
    format!("/// Does.\n///\n/// # Errors\n/// When it is wrong.\n{method}")
}

#[test]
fn expansions() {
    let codes = [
        // Everything that a signature may have; the body returns early.
        (
            "",
            "#[inline]\npub fn try_one<'a, X: Is<F = fn(A) -> B>, const K: usize>(mut self, dim: X, \
             mut by: [u8; K]) -> Result<Tensor<Out<X, K>, T>> where T: Real, { \
             let at = dim.find()?; Tensor::try_from_erased(call(at, by)) }",
        ),
        (
            "",
            "pub fn try_two(&self) -> Result<Self> { Tensor::try_from_erased(call(self)) }",
        ),
        (
            "panicking = made::two",
            "pub fn try_two(&self) -> Result<Self> { let a = 1; Tensor::try_from_erased(call(self, a)) }",
        ),
        (
            "",
            "pub fn try_three_(&mut self) -> Result<&mut Self> { let x = 1; call(self, x)?; Ok(self) }",
        ),
        (
            "",
            "pub fn try_three_(&mut self) -> Result<&mut Self> { call(call(self)?)?; Ok(self) }",
        ),
        (
            "",
            "pub fn try_three_(&mut self) -> Result<&mut Self> { *self = call(self)?; Ok(self) }",
        ),
        (
            "",
            "pub fn try_out(&self, out: &mut Self) -> Result<()> { store(self, out) }",
        ),
        (
            "",
            "fn try_block() -> nomina_core::Result<(A, B)> { if a { b(); } c() }",
        ),
        (
            "free",
            "pub fn try_cat<L>(tensors: L) -> Result<L::Joined> { if x { return y; } z(tensors) }",
        ),
        (
            "from",
            "pub fn try_drawn_from_<X>(&mut self, dim: X, generator: Option<&mut Generator>) -> Result<&mut Self> { draw(self, dim, generator)?; Ok(self) }",
        ),
        (
            "from",
            "pub fn try_drawn_from(generator: Option<&mut Generator>) -> Result<Self> { draw(at()?, generator) }",
        ),
        (
            "with = \"but with the greatest first.\"",
            "pub fn try_sort_with_<X>(&mut self, dim: X, options: O) -> Result<&mut Self> { call(self, dim, options)?; Ok(self) }",
        ),
    ];
    let all: Vec<String> = codes
        .iter()
        .map(|(written, method)| methods(written, &documented(method)))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn docs_are_those_that_are_written() {
    let code = "/// Does.\n///\n/// ```\n/// x.one();\n/// ```\n///\n/// # Errors\n/// When it is \
                wrong.\n///\n/// And then.\n#[cfg(unix)]\npub fn try_one(&self) -> Result<u8> { one(self) }";
    assert_snapshot!(methods("", code));
}

#[test]
fn forms_that_hand_on() {
    let codes = [
        (
            "with = \"but with the greatest first.\", out(values, indices)",
            "pub fn top_k_with<'a, X: Is>(&self, k: X, dim: impl Into<DimRef<'a>>, options: O) -> \
             Result<(Self, Self)> { call(self, k, dim, options) }",
        ),
        ("out", "pub fn msort(&self) -> Result<Self> { call(self) }"),
        (
            "from, out",
            "pub fn drawn_from(&self, generator: Option<&mut Generator>) -> Result<Self> { draw(self, generator) }",
        ),
        (
            "with = \"but with options.\"",
            "pub fn put_with_(&mut self, at: usize, options: O) -> Result<&mut Self> { call(self, at, options) }",
        ),
    ];
    let all: Vec<String> = codes
        .iter()
        .map(|(written, method)| formatted(forms(tokens(written), tokens(&documented(method)))))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn every_mistake_of_forms() {
    let codes = [
        ("", "pub fn one(&self) -> Result<u8> { Ok(1) }".to_owned()),
        (
            "from",
            documented("pub fn one_from(&self, own: &mut G) -> Result<u8> { Ok(1) }"),
        ),
        (
            "into",
            documented("pub fn one(&self) -> Result<u8> { Ok(1) }"),
        ),
        (
            "with = \".\"",
            documented("pub fn one(&self, o: O) -> Result<u8> { Ok(1) }"),
        ),
    ];
    let mut out = String::new();
    for (written, method) in codes {
        out += &format!("#[forms({written})]\n{method}\n");
        mistakes_in(forms(tokens(written), tokens(&method)), &mut out);
    }
    assert_snapshot!(out);
}

#[test]
fn every_mistake() {
    let codes = [
        ("", documented("pub fn one(&self) -> Result<u8> { Ok(1) }")),
        ("", documented("pub fn try_(&self) -> Result<u8> { Ok(1) }")),
        ("", documented("pub fn try_one(&self) -> u8 { 1 }")),
        ("", documented("pub fn try_one(&self) { 1 }")),
        (
            "",
            documented("pub fn try_one(&self) -> Result<u8, u16> { Ok(1) }"),
        ),
        (
            "",
            documented("pub fn try_one(&self, (a, b): (u8, u8)) -> Result<u8> { Ok(1) }"),
        ),
        (
            "",
            documented("pub fn try_one(&self, _: u8) -> Result<u8> { Ok(1) }"),
        ),
        ("", documented("pub struct One;")),
        ("", documented("pub fn try_one(&self) -> Result<u8>;")),
        (
            "",
            "/// Does.\npub fn try_one(&self) -> Result<u8> { Ok(1) }".to_owned(),
        ),
        (
            "",
            "/// # Errors\n/// When.\npub fn try_one(&self) -> Result<u8> { Ok(1) }".to_owned(),
        ),
        (
            "",
            "/// Does.\n/// # Errors\npub fn try_one(&self) -> Result<u8> { Ok(1) }".to_owned(),
        ),
        (
            "",
            documented("#[doc = concat!(1)]\npub fn try_one(&self) -> Result<u8> { Ok(1) }"),
        ),
        (
            "wiht",
            documented("pub fn try_one_with(&self) -> Result<u8> { Ok(1) }"),
        ),
        (
            "with = 1",
            documented("pub fn try_one_with(&self) -> Result<u8> { Ok(1) }"),
        ),
        (
            "with = \".\"",
            documented("pub fn try_one(&self, o: O) -> Result<u8> { Ok(1) }"),
        ),
    ];
    let mut out = String::new();
    for (written, method) in codes {
        out += &format!("#[twin({written})]\n{method}\n");
        mistakes_in(twin(tokens(written), tokens(&method)), &mut out);
    }
    assert_snapshot!(out);
}

#[test]
fn a_wrong_method_stays() {
    let text = twin(
        tokens(""),
        tokens("pub fn try_one(&self) -> Result<u8> { Ok(1) }"),
    );
    assert!(text.to_string().contains("pub fn try_one"), "{text}");
}
