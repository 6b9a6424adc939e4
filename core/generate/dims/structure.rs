//! Generates the type functions on a list of one rank.

use std::fmt::Write;

use super::MAX_RANK;
use super::spell::{bounded, fold_bool, generics, names, repeat, tuple};

/// Writes the impls of `DimTuple`, `DimList` and `Rank`.
pub fn structure(out: &mut String, rank: usize) {
    let a = names('A', rank);
    let list = tuple(&a);
    let axes = bounded(&a, "Axis");
    let params = generics(&[&axes]);
    let members = generics(&[&bounded(&a, "Axis")]);
    let each = |f: &dyn Fn(&String) -> String| a.iter().map(f).collect::<Vec<_>>().join(", ");
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl{members} DimTuple for {list} {{\n    const RANK: usize = {rank};\n    \
         const NAMES: &'static [Option<&'static str>] = &[{}];\n    \
         const SIZES: &'static [Option<usize>] = &[{}];\n    \
         const LABELS: &'static [Option<LabelType>] = &[{}];\n    \
         const HAS_WILD: bool = {};\n}}",
        each(&|x| format!("{x}::NAME")),
        each(&|x| format!("<{x}::Size as DimSize>::SIZE")),
        each(&|x| format!("{x}::LABELS")),
        if rank == 0 {
            "false".to_string()
        } else {
            a.iter()
                .map(|x| format!("{x}::NAME.is_none()"))
                .collect::<Vec<_>>()
                .join(" || ")
        },
    )
    .unwrap();

    writeln!(out, "impl{params} DimList for {list} {{").unwrap();
    let mut item = |head: &str, body: String| writeln!(out, "    type {head} = {body};").unwrap();
    let mut pushed = a.clone();
    pushed.push("X".to_string());
    item(
        "Push<X: Axis>",
        if rank < MAX_RANK {
            tuple(&pushed)
        } else {
            "MoreThan8Dims".to_string()
        },
    );
    item(
        "After<L: Dims>",
        if rank == 0 {
            "L".to_string()
        } else {
            format!("L::Push{rank}<{}>", a.join(", "))
        },
    );
    item("Tail", tuple(a.get(1..).unwrap_or_default()));
    item("Init", tuple(&a[..rank.saturating_sub(1)]));
    item("SkipIn<D: Dims>", format!("D::From{rank}"));
    item("CutIn<D: Dims>", repeat("Init", rank));
    let sought = "<<Self as DimList>::Seek<X> as Place>";
    item("Seek<X: Axis>", "<Self as SearchFor<X>>::At".to_string());
    item(
        "Scan<X: Axis>",
        a.iter()
            .enumerate()
            .rev()
            .fold("Nowhere".to_string(), |rest, (i, x)| {
                format!(
                    "<Same<{x}, X> as Bool>::Place<Place{i}, <{x}::Kind as Kind>::Before<{rest}>>"
                )
            }),
    );
    item("Find<X: Axis>", format!("{sought}::Exact<Self, X>"));
    item(
        "Contains<X: Axis>",
        "<<Self as DimList>::Find<X> as Place>::Found".to_string(),
    );
    let mut repeated = "NoDim".to_string();
    for i in (0..rank.saturating_sub(1)).rev() {
        let rest = tuple(&a[i + 1..]);
        let found = format!("<{rest} as DimList>::Find<{}>", a[i]);
        repeated = format!("<{found} as Place>::Axis<{}, {repeated}>", a[i]);
    }
    item("Repeated", "<Self as FirstRepeat>::Twice".to_string());
    item(
        "FirstIn<D: Dims>",
        a.iter().rev().fold("NoDim".to_string(), |rest, x| {
            format!("<D::Find<{x}> as Place>::Axis<{x}, {rest}>")
        }),
    );
    item("SameRank<E: Dims>", format!("<E::Rank as Rank>::Is{rank}"));
    item(
        "Fits<E: Dims>",
        format!("<E::Rank as Rank>::UpTo{}", MAX_RANK - rank),
    );
    item("Rank", format!("Rank{rank}"));
    item(
        "AllNamed",
        fold_bool(
            "And",
            "True",
            a.iter().map(|x| format!("<{x}::Kind as Kind>::IsName")),
        ),
    );
    item("Remove<X: Axis>", format!("{sought}::Remove<Self, X>"));
    item(
        "Minus<O: Dims>",
        a.iter().fold("()".to_string(), |l, x| {
            format!("<O::Seek<{x}> as Place>::UnlessIn<O, {l}, {x}>")
        }),
    );
    item(
        "Discard<X: Axis>",
        "<<Self as DimList>::Find<X> as Place>::Remove<Self, X>".to_string(),
    );
    item(
        "TakenFrom<D: Dims>",
        a.iter().fold("D".to_string(), |l, x| {
            format!("<{l} as DimList>::Discard<{x}>")
        }),
    );
    item(
        "Map<M: Mapping>",
        tuple(&a.iter().map(|x| format!("M::Of<{x}>")).collect::<Vec<_>>()),
    );
    item(
        "Splice<X: Axis, E: Dims>",
        format!("{sought}::Splice<Self, X, E>"),
    );
    let flipped: Vec<String> = a.iter().rev().cloned().collect();
    item(
        "Flipped",
        if rank == 2 {
            tuple(&flipped)
        } else {
            list.clone()
        },
    );
    let batch = rank.saturating_sub(2);
    let last = |back: usize| {
        rank.checked_sub(back)
            .and_then(|i| a.get(i))
            .cloned()
            .unwrap_or("NoDim".to_string())
    };
    item("Batch", tuple(&a[..batch]));
    item(
        "Row",
        if rank > 1 {
            tuple(&a[batch..=batch])
        } else {
            "()".to_string()
        },
    );
    item(
        "Col",
        if rank > 1 {
            tuple(&a[rank - 1..])
        } else {
            "()".to_string()
        },
    );
    item("InnerLeft", last(1));
    item("InnerRight", if rank == 1 { last(1) } else { last(2) });
    sums(&mut item, rank, &a);
    for i in 0..MAX_RANK {
        item(
            &format!("At{i}"),
            a.get(i).cloned().unwrap_or("NoDim".to_string()),
        );
    }
    places(&mut item, rank, &a);
    for i in 0..MAX_RANK {
        let kind = a
            .get(i)
            .map(|x| format!("<{x}::Kind as Kind>::At<Place{i}>"));
        item(&format!("Place{i}"), kind.unwrap_or("Nowhere".to_string()));
    }
    out.push_str("}\n");
    let at = if rank == 0 {
        "Nowhere".to_string()
    } else {
        let heads = each(&|x| format!("{x}::Head"));
        format!("<<X::Head as Head>::Among{rank}<{heads}> as Place>::Resolved<Self, X>")
    };
    writeln!(
        out,
        "impl{} SearchFor<X> for {list} {{ type At = {at}; }}\n\
         impl{params} FirstRepeat for {list} {{ type Twice = {repeated}; }}",
        generics(&[&axes, "X: Axis"])
    )
    .unwrap();

    writeln!(
        out,
        "#[doc(hidden)]\n#[derive(Clone, Copy, Debug)]\npub enum Rank{rank} {{}}"
    )
    .unwrap();
    writeln!(out, "impl Rank for Rank{rank} {{").unwrap();
    for i in 0..=MAX_RANK {
        let is = if i == rank { "True" } else { "False" };
        writeln!(out, "    type Is{i} = {is};").unwrap();
    }
    out.push_str("    type IsMore = False;\n");
    for i in 0..=MAX_RANK {
        let upto = if rank <= i { "True" } else { "False" };
        writeln!(out, "    type UpTo{i} = {upto};").unwrap();
    }
    out.push_str("}\n");
}

/// Writes the dims at, before and after each position, and the list with others appended.
fn places(item: &mut impl FnMut(&str, String), rank: usize, a: &[String]) {
    for i in 0..MAX_RANK {
        let (mut removed, mut set) = (a.to_vec(), a.to_vec());
        if i < rank {
            removed.remove(i);
            set[i] = "X".to_string();
        }
        item(&format!("Remove{i}"), tuple(&removed));
        item(&format!("Set{i}<X: Axis>"), tuple(&set));
        item(&format!("Until{i}"), tuple(&a[..i.min(rank)]));
    }
    for i in 0..=MAX_RANK {
        item(&format!("From{i}"), tuple(&a[i.min(rank)..]));
    }
    for more in 1..=MAX_RANK {
        let b = names('B', more);
        let both = [a, &b].concat();
        item(
            &format!("Push{more}<{}>", bounded(&b, "Axis")),
            if both.len() > MAX_RANK {
                "MoreThan8Dims".to_string()
            } else {
                tuple(&both)
            },
        );
    }
}

/// Writes the unified dims: the right list is aligned under the axes of the left one.
fn sums(item: &mut impl FnMut(&str, String), rank: usize, a: &[String]) {
    let args = if rank == 0 {
        String::new()
    } else {
        format!("<{}>", a.join(", "))
    };
    item("Sum<E: DimList>", format!("E::Under{rank}{args}"));
    let under = if rank == 0 { "None" } else { "Some" };
    item("Rule<E: Dims>", format!("E::RuleBeside{under}"));
    item(
        "RuleBesideNone",
        if rank == 0 { "Alike" } else { "LeftZeroDim" }.to_string(),
    );
    item(
        "RuleBesideSome",
        if rank == 0 { "RightZeroDim" } else { "Alike" }.to_string(),
    );
    for left in 0..=MAX_RANK {
        let l = names('L', left);
        let both = rank.min(left);
        let mut sum: Vec<String> = if left > rank {
            l[..left - both].to_vec()
        } else {
            a[..rank - both].to_vec()
        };
        for i in 0..both {
            sum.push(format!(
                "{}::Unified<{}>",
                l[left - both + i],
                a[rank - both + i]
            ));
        }
        item(
            &format!("Under{left}{}", generics(&[&bounded(&l, "Axis")])),
            tuple(&sum),
        );
    }
}
