use proc_macro2::TokenStream;

use super::{InputKind, LEVELS, OPERATORS, check};

fn told(code: &str, input: InputKind) -> Option<String> {
    let tokens: TokenStream = code.parse().expect("the test's code has tokens");
    check(tokens, input).err().map(|error| error.to_string())
}

/// Returns `count` times `open`, an operand, `count` times `close`.
fn nested(open: &str, close: &str, count: usize) -> String {
    format!("{}x{}", open.repeat(count), close.repeat(count))
}

/// The constructs that syn parses by recursion.
const OPENINGS: [(&str, &str); 23] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("x.f(", ")"),
    ("f(", ")"),
    ("-", ""),
    ("& ", ""),
    ("&mut ", ""),
    ("* - ! ", ""),
    ("|a| ", ""),
    ("|| ", ""),
    ("move |a, b| ", ""),
    ("return ", ""),
    ("break 'a ", ""),
    ("x = ", ""),
    ("x += ", ""),
    ("if a { } else ", ""),
    ("x::<A<", ">>"),
    ("<", " as A>::B"),
    ("x as fn(A) -> ", ""),
    ("&'a ", ""),
    ("x as *const ", ""),
    ("let x: A<", ">"),
];

#[test]
fn what_nests_is_counted() {
    for (open, close) in OPENINGS {
        assert_eq!(
            told(&nested(open, close, 20), InputKind::Values),
            None,
            "{open}"
        );
        let told = told(&nested(open, close, 4 * LEVELS), InputKind::Values);
        let told = told.unwrap_or_else(|| panic!("{open} is not counted"));
        assert!(told.contains("deeper than the 128 levels"), "{told}");
    }
    assert!(told(&nested("A<", ">", LEVELS), InputKind::Types).is_some());
    assert!(told(&nested("A<B, ", ">", LEVELS), InputKind::Types).is_some());
}

#[test]
fn what_stands_side_by_side_is_not() {
    for item in [
        "a < b, ",
        "-x, ",
        "f::<A<B>>(c), ",
        "a == b, ",
        "|x| x, ",
        "if a { b } else { c }, ",
        "if a { b } if a { b } ",
        "let x: A<B> = &y; ",
        "match x { A => b, _ => c } ",
        "x[..], ",
        "#[a] x, ",
    ] {
        assert_eq!(
            told(&item.repeat(4 * LEVELS), InputKind::Values),
            None,
            "{item}"
        );
    }
    for item in [
        "A<B>, ",
        "A<B, C<D>>, ",
        "Fn(A) -> B, ",
        "&'a T, ",
        "A: B<C>, ",
    ] {
        assert_eq!(
            told(&item.repeat(4 * LEVELS), InputKind::Types),
            None,
            "{item}"
        );
    }
    for item in [" + x", " + -x", " && x == y", " || x", ".f(y)", ".f::<A>()"] {
        let count = OPERATORS / 4;
        assert_eq!(
            told(&format!("x{}", item.repeat(count)), InputKind::Values),
            None,
            "{item}"
        );
    }
}

#[test]
fn operators_have_a_limit_of_their_own() {
    for item in [" + x", ".f()", "?", "[0]", " as T", "()", " == x"] {
        let told = told(
            &format!("x{}", item.repeat(OPERATORS + 1)),
            InputKind::Values,
        );
        let told = told.unwrap_or_else(|| panic!("{item} is not counted"));
        assert!(told.contains("more than the 2048 operators"), "{told}");
    }
    // Nested operator chains count, too.
    let sum = |inner: &str| format!("({inner}{})", " + x".repeat(OPERATORS / 10));
    let code = (0..11).fold("x".to_owned(), |inner, _| sum(&inner));
    assert!(told(&code, InputKind::Values).is_some());
}

#[test]
fn ranges_of_ranges_are_few() {
    assert_eq!(told("x[..][.. -x]", InputKind::Values), None);
    assert!(told(&nested(".. ", "", 9), InputKind::Values).is_some());
}

#[test]
fn bodies_are_only_counted_by_their_groups() {
    let body = format!("fn f() {{ x {} }}", "+ x".repeat(2 * OPERATORS));
    assert_eq!(told(&body, InputKind::Function), None);
    let body = format!("fn f() {{ {} }}", nested("(", ")", LEVELS));
    assert!(told(&body, InputKind::Function).is_some());
}
