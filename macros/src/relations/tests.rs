use insta::assert_snapshot;
use proc_macro2::TokenStream;

use super::relations;
use crate::testing::mistakes_in;

/// Returns the function that the attribute generates, formatted.
fn function(attribute: &str, item: &str) -> String {
    let tokens = |code: &str| {
        code.parse::<TokenStream>()
            .expect("the test's code has tokens")
    };
    let mut out = relations(tokens(attribute), tokens(item));
    if item.ends_with(';') {
        out = quote::quote!(trait Declares { #out });
    }
    let file: syn::File = syn::parse2(out).expect("an expansion of items parses");
    prettyplease::unparse(&file)
}

#[test]
fn expansions() {
    let codes = [
        (
            "",
            "pub fn pool<D>(x: &Tensor<D>) -> Tensor<Without<D, (H, W)>> { x.mean((H, W)) }",
        ),
        (
            "D: Has<C>, let E = Without<D, C>, E: Broadcast<S>, let F = Sum<E, S>",
            "fn f<D, S>(x: &Tensor<D>, s: &Tensor<S>) -> Tensor<F> { let y: Tensor<E> = x.sum(C); y + s }",
        ),
        (
            "let Q = dims::Contracted<D, (K, M), K>, let R = Renamed<Q, M, K>,",
            "fn f<D, T: Float>(x: &Tensor<D, T>) -> Option<[Tensor<R, T>; 2]> where D: Holds<R> { Q::RANK; a.Q; a::Q }",
        ),
        (
            "",
            "fn along<D, X, O: Axes>(&self, x: &Tensor<D>, dim: X, _: O) -> Tensor<Without<D, Keep<X>>>;",
        ),
        (
            "",
            "fn linear<D, I, O, T>(x: &Tensor<D, T>, w: &Tensor<(I, O), T>) -> Tensor<Contracted<D, (I, O), I>, T> { x.contract(w, I::default()) }",
        ),
        (
            "",
            "fn spread<D, S: AxesOf<D> + Copy>(x: &Tensor<D>, dims: S) -> Tensor<Without<D, S>> { x.amax(dims) - x.amin(dims) }",
        ),
        (
            "S: AxesOf<D>",
            "fn range<D, S>(x: &Tensor<D>, dims: S) -> Tensor<Without<D, Keep<S>>> { todo!() }",
        ),
        ("", "#[must_use] /// Doc.\n fn none<T>(x: T) -> T { x }"),
    ];
    let all: Vec<String> = codes
        .iter()
        .map(|(written, item)| function(written, item))
        .collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn every_mistake() {
    let codes = [
        ("Q", "fn f() {}"),
        (
            "D Has<C>",
            "fn f<D>(x: &Tensor<D>) -> Tensor<D> { x.sum(C) }",
        ),
        ("let", "fn f() {}"),
        ("let Q", "fn f() -> Tensor<Q> {}"),
        ("let Q: Has<C> = D", "fn f() {}"),
        ("let Q<D> = Without<D, C>", "fn f() {}"),
        ("let Q =", "fn f() {}"),
        ("let Q = 3", "fn f() {}"),
        ("let Q = A let R = B", "fn f() {}"),
        ("let Q = A, let Q = B", "fn f() {}"),
        ("let Q = R, let R = A", "fn f() {}"),
        ("let Q = Without<Q, C>", "fn f() {}"),
        ("let D = Without<E, C>", "fn f<D>(x: &Tensor<D>) {}"),
        (
            "let D = Without<D, C>",
            "fn f<D>(x: &Tensor<D>) -> Tensor<D> {}",
        ),
        ("D: Has<C>,, E: Has<C>", "fn f() {}"),
        ("let Q; E: Has<C>", "fn f() {}"),
        ("", "pub struct S;"),
        ("", "#[derive(Clone)] impl S { fn f() {} }"),
        ("Q, let = 3", "fn f() {}"),
    ];
    let mistakes = |(written, item): &(&str, &str)| {
        let mut out = format!("#[relations({written})] {item}\n");
        let tokens = |code: &str| code.parse::<TokenStream>().expect("tokens");
        mistakes_in(relations(tokens(written), tokens(item)), &mut out);
        out
    };
    let all: Vec<String> = codes.iter().map(mistakes).collect();
    assert_snapshot!(all.join("\n"));
}

#[test]
fn a_mistake_leaves_the_signature() {
    let text = function("let Q", "fn f<D>(x: &Tensor<D>) -> Tensor<Q> { x.sum(C) }");
    assert!(text.contains("-> Tensor<()>"), "{text}");
    assert!(text.contains("D: Dims"), "{text}");
    assert!(!text.contains("x.sum(C)"), "{text}");
}

/// Tests chains like `let A = Sum<D, D>, let B = Sum<A, A>, ..`.
#[test]
fn names_that_double_have_an_end() {
    let lets: Vec<String> = std::iter::once("let N0 = Sum<D, D>".to_owned())
        .chain((1..200).map(|i| format!("let N{i} = Sum<N{0}, N{0}>", i - 1)))
        .collect();
    let out = relations(
        lets.join(", ").parse().unwrap(),
        "fn f<D>(x: N199) {}".parse().unwrap(),
    );
    let mut told = String::new();
    mistakes_in(out, &mut told);
    assert!(told.contains("more than 4096 tokens"), "{told}");
    assert!(told.lines().count() < 40, "{told}");
}
