//! The Rust syntax of lists.

/// `A0, A1, …`
pub fn names(letter: char, rank: usize) -> Vec<String> {
    (0..rank).map(|i| format!("{letter}{i}")).collect()
}

/// `(A0, A1)`, `(A0,)`, `()`
pub fn tuple<S: AsRef<str>>(items: &[S]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    }
}

/// `A0: Axis, A1: Axis`
pub fn bounded<S: AsRef<str>>(items: &[S], bound: &str) -> String {
    let items: Vec<String> = items
        .iter()
        .map(|item| format!("{}: {bound}", item.as_ref()))
        .collect();
    items.join(", ")
}

/// `<A, B>`, or an empty string.
pub fn generics(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("<{}>", parts.join(", "))
    }
}

/// `<D::Tail as DimList>::Tail`
pub fn repeat(what: &str, times: usize) -> String {
    (0..times).fold("D".to_string(), |list, step| {
        if step == 0 {
            format!("D::{what}")
        } else {
            format!("<{list} as DimList>::{what}")
        }
    })
}

/// `<A as Bool>::Or<<B as Bool>::Or<C>>`
pub fn fold_bool(how: &str, none: &str, items: impl DoubleEndedIterator<Item = String>) -> String {
    items
        .rev()
        .reduce(|rest, item| format!("<{item} as Bool>::{how}<{rest}>"))
        .unwrap_or_else(|| none.to_string())
}
