//! The checks of one list, and of two.

use std::fmt::Write;

use super::spell::{bounded, fold_bool, generics, names, tuple};

/// Writes the checks of one list.
pub fn checks(out: &mut String, rank: usize) {
    let a = names('A', rank);
    let list = tuple(&a);
    let axes = bounded(&a, "Axis");
    let params = generics(&[&axes]);
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl{params} AtMost8 for {list} {{}}"
    )
    .unwrap();
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl{} Searched<X> for {list} {{}}",
        generics(&[&axes, "X"])
    )
    .unwrap();
    let of_dim = generics(&[&axes, "X: Axis"]);
    for (bound, condition) in [
        ("HasOrLacks<X>", "Hit<Self, X>: Decided"),
        (
            "NotBehindWild<X>",
            "Self: HasOrLacks<X>, Hit<Self, X>: NoWild",
        ),
        ("Lists<X>", "Self: NotBehindWild<X>, Hit<Self, X>: IsThere"),
    ] {
        writeln!(
            out,
            "#[diagnostic::do_not_recommend] impl{of_dim} {bound} for {list} where {condition} {{}}"
        )
        .unwrap();
    }
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl{} FullyNamed for {list} {{}}",
        generics(&[&bounded(&a, "Dim")])
    )
    .unwrap();
    let places: Vec<String> = a
        .iter()
        .map(|x| format!("NamesOf<T>: HasPlace<{x}, Self, T>"))
        .collect();
    writeln!(
        out,
        "impl{} EachPlaced<T> for {list}{} {{}}",
        generics(&[&axes, "T"]),
        if rank == 0 {
            String::new()
        } else {
            format!(" where {}", places.join(", "))
        }
    )
    .unwrap();
    let b = names('B', rank);
    let accepts = a
        .iter()
        .zip(&b)
        .map(|(x, y)| format!("{x}::Accepts<{y}>"))
        .collect::<Vec<_>>();
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl{} Holds<{}> for {list} where {}: IsTrue {{}}",
        generics(&[&axes, &bounded(&b, "Axis")]),
        tuple(&b),
        fold_bool("And", "True", accepts.into_iter())
    )
    .unwrap();
    writeln!(
        out,
        "impl{} RenameIn<F, T> for {list} where F::Sought: EachIn<Self>, F::Counted<Self>: SameRankAs<T>, \
         NamesOf<F::Renamed<Self, T>>: StandsOnce<T::FirstIn<F::Others<Self>>, F::Renamed<Self, T>> \
         + StandsOnce<T::Repeated, F::Renamed<Self, T>>, NamesOf<F::Others<Self>>: ToldNew<T, F::Renamed<Self, T>> {{}}",
        generics(&[&axes, "F: OldDims", "T: Dims"])
    )
    .unwrap();
    if rank > 0 {
        writeln!(
            out,
            "#[diagnostic::do_not_recommend] impl{params} AtLeast1Dim for NamesOf<{list}> {{}}"
        )
        .unwrap();
    }
}

/// Writes the impls of a tuple of dims as an argument.
pub fn arguments(out: &mut String, rank: usize) {
    let a = names('A', rank);
    let list = tuple(&a);
    let dims = bounded(&a, "Dim");
    let without = a.iter().fold("D".to_string(), |l, x| {
        format!("<{l} as DimList>::Remove<{x}>")
    });
    let one = bounded(&a, "OneDim");
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl<{dims}> Axes for {list} {{\n    \
         type Checked = Self;\n    type List = Self;\n    type Remaining<D: Dims> = {};\n    \
         const NAMES: &'static [Option<&'static str>] = &[{}];\n    \
         const ALL: bool = false;\n    const KEEPDIM: bool = false;\n}}",
        without,
        a.iter()
            .map(|x| format!("{x}::NAME"))
            .collect::<Vec<_>>()
            .join(", "),
    )
    .unwrap();
    let has: Vec<String> = a
        .iter()
        .map(|x| format!("Searched<{x}> + HasOrLacks<{x}> + NotBehindWild<{x}> + Has<{x}>"))
        .collect();
    writeln!(
        out,
        "impl<D: Dims + {}, {one}> EachIn<D> for {list}{} {{}}",
        has.join(" + "),
        if rank > 1 {
            " where NamesOf<Self>: StandsOnce<<Self as DimList>::Repeated, Self>"
        } else {
            ""
        }
    )
    .unwrap();
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl<{dims}> RenameArg for {list} {{ type Old = Self; type New = Self; type Renamed<F: OldDims, D: Dims> = F::Renamed<D, Self>; type Delayed<D: Dims> = D; }}"
    )
    .unwrap();
    // Positions are looked up in `D` itself, so that two dims may swap names.
    let renamed = a.iter().enumerate().fold("D".to_string(), |l, (i, x)| {
        format!("<D::Seek<{x}> as Place>::Set<D, {x}, {l}, T::At{i}>")
    });
    writeln!(
        out,
        "impl<{dims}> OldDims for {list} {{ type Sought = Self; type Counted<D: Dims> = Self; type Renamed<D: Dims, T: Dims> = {renamed}; type Others<D: Dims> = {without}; }}"
    )
    .unwrap();
    let read = a.iter().fold("Exact<()>".to_string(), |state, x| {
        format!("{x}::Next<{state}>")
    });
    writeln!(
        out,
        "#[diagnostic::do_not_recommend] impl<{}> OrderSpec for {list} {{ type Read = {read}; }}",
        bounded(&a, "OrderItem")
    )
    .unwrap();
    if rank > 1 {
        let place = "<D::Seek<A0> as Place>";
        let rest = format!("<{place}::From<D, A0> as DimList>::From{rank}");
        writeln!(
            out,
            "#[diagnostic::do_not_recommend]\nimpl<{dims}> FlattenArg for {list} {{\n    type List = Self;\n    \
             type Flattened<D: Dims, X: Axis> = <{rest} as DimList>::After<<{place}::Until<D, A0> as DimList>::Push<X>>;\n    \
             type Others<D: Dims> = <{rest} as DimList>::After<{place}::Until<D, A0>>;\n    \
             const NAMES: &'static [Option<&'static str>] = &[{}];\n}}",
            a.iter().map(|x| format!("{x}::NAME")).collect::<Vec<_>>().join(", "),
        )
        .unwrap();
        let follow: Vec<String> = (1..rank)
            .map(|i| {
                let next = format!("<{place}::From<D, A0> as DimList>::At{i}");
                format!("Successor<{next}>: Follows<{}, {}, D>", a[i - 1], a[i])
            })
            .collect();
        writeln!(
            out,
            "impl<D: Dims + Searched<A0> + HasOrLacks<A0> + NotBehindWild<A0> + Has<A0>, {one}> Adjacent<D> for {list} where {} {{}}",
            follow.join(", ")
        )
        .unwrap();
    }
}

/// Writes the unification of two lists from the right.
pub fn broadcast(out: &mut String, left: usize, right: usize) {
    if left == 0 {
        // A hand-written impl covers this case.
        return;
    }
    let (a, b) = (names('A', left), names('B', right));
    let (l, m) = (tuple(&a), tuple(&b));
    let params = generics(&[&bounded(&a, "Axis"), &bounded(&b, "Axis")]);
    let both = left.min(right);
    if both == 0 {
        writeln!(out, "impl{params} BroadcastWith<{m}> for {l} {{}}").unwrap();
        return;
    }
    let mut check = "Fine".to_string();
    for i in 0..both {
        let (x, y) = (&a[left - both + i], &b[right - both + i]);
        check = format!("PairVerdict<{x}, {y}, Self, {m}, {check}>");
    }
    writeln!(
        out,
        "impl{params} BroadcastWith<{m}> for {l} where {check}: Accepted<Self, {m}> {{}}"
    )
    .unwrap();
}
