//! Properties of the rules, tested with random names.

use nomina_core::rule::{self, DimArg, NameItem};
use nomina_core::{ErrorKind, MAX_DIMS, Name, Names};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;

const LETTERS: [&str; 6] = ["N", "C", "H", "W", "K", "T"];

/// Generates up to `rank` distinct names.
fn all_named(rank: usize) -> impl Strategy<Value = Names> {
    let letters = Just(LETTERS.to_vec()).prop_shuffle();
    (letters, 0..=rank).prop_map(|(letters, rank)| {
        letters
            .into_iter()
            .take(rank)
            .map(|name| Some(Name::from_static(name)))
            .collect()
    })
}

/// Like [`all_named`], but with some dims unnamed.
fn some(rank: usize) -> impl Strategy<Value = Names> {
    (all_named(rank), vec(weighted(0.6, Just(())), rank)).prop_map(|(names, named)| {
        names
            .iter()
            .zip(named)
            .map(|(name, named)| named.and_then(|()| name.clone()))
            .collect()
    })
}

fn items(names: &Names) -> Vec<NameItem<'_>> {
    names.iter().map(NameItem::from).collect()
}

fn named(names: &Names) -> impl Iterator<Item = &Name> {
    names.iter().flatten()
}

/// A plain second implementation of rule 1: goes from right to left, and the first fault counts.
fn unify_plainly(a: &Names, b: &Names) -> Result<Names, ErrorKind> {
    let rank = a.len().max(b.len());
    let at = |names: &Names, from_right: usize| {
        names
            .len()
            .checked_sub(from_right + 1)
            .map(|i| names[i].clone())
    };
    let mut result = Vec::new();
    for i in 0..rank {
        result.push(match (at(a, i), at(b, i)) {
            (Some(x), None) => x,
            (None, y) => y.flatten(),
            (Some(None), Some(None)) => None,
            (Some(Some(x)), Some(Some(y))) if x == y => Some(x),
            (Some(Some(_)), Some(Some(_))) => return Err(ErrorKind::NameMismatch),
            (Some(Some(x)), Some(None)) if b.contains(&Some(x.clone())) => {
                return Err(ErrorKind::Misaligned);
            }
            (Some(None), Some(Some(y))) if a.contains(&Some(y.clone())) => {
                return Err(ErrorKind::Misaligned);
            }
            (Some(x), Some(y)) => x.or(y),
        });
    }
    Ok(result.into_iter().rev().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn unify_is_rule_one(a in some(5), b in some(5)) {
        let got = rule::unify("add", &a, &b).map_err(|error| error.kind());
        prop_assert_eq!(got, unify_plainly(&a, &b));
    }

    #[test]
    fn unify_commutes(a in some(5), b in some(5)) {
        let (ab, ba) = (rule::unify("add", &a, &b), rule::unify("add", &b, &a));
        prop_assert_eq!(
            ab.map_err(|error| error.kind()),
            ba.map_err(|error| error.kind())
        );
    }

    #[test]
    fn unify_is_idempotent_and_has_a_unit(a in some(6)) {
        prop_assert_eq!(&rule::unify("add", &a, &a).unwrap(), &a);
        prop_assert_eq!(&rule::unify("add", &a, &Names::default()).unwrap(), &a);
        prop_assert_eq!(&rule::unify("add", &Names::unnamed(a.len()), &a).unwrap(), &a);
    }

    #[test]
    fn unify_gives_names_that_a_tensor_can_have(a in some(6), b in some(6)) {
        if let Ok(both) = rule::unify("add", &a, &b) {
            prop_assert_eq!(both.duplicate(), None);
            prop_assert_eq!(both.len(), a.len().max(b.len()));
            for name in named(&a).chain(named(&b)) {
                prop_assert!(both.position(name).is_some());
            }
            // The result already contains both operands.
            prop_assert_eq!(&rule::unify("add", &both, &a).unwrap(), &both);
        }
    }

    #[test]
    fn unify_associates_where_both_ways_succeed(a in some(4), b in some(4), c in some(4)) {
        let left = rule::unify("add", &a, &b).and_then(|ab| rule::unify("add", &ab, &c));
        let right = rule::unify("add", &b, &c).and_then(|bc| rule::unify("add", &a, &bc));
        if let (Ok(left), Ok(right)) = (left, right) {
            prop_assert_eq!(left, right);
        }
    }

    #[test]
    fn unify_of_named_operands_associates(a in all_named(4), b in all_named(4), c in all_named(4)) {
        let left = rule::unify("add", &a, &b).and_then(|ab| rule::unify("add", &ab, &c));
        let right = rule::unify("add", &b, &c).and_then(|bc| rule::unify("add", &a, &bc));
        prop_assert_eq!(left.ok(), right.ok());
    }

    #[test]
    fn align_to_has_an_inverse(a in all_named(5), seed in any::<u64>()) {
        let mut order: Vec<usize> = (0..a.len()).collect();
        let mut state = seed;
        for i in (1..order.len()).rev() {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            order.swap(i, (state >> 33) as usize % (i + 1));
        }
        let there = rule::align_as("align_as", &a, &rule::kept(&a, &order)).unwrap();
        let back = rule::align_to("align_to", &there.names, &items(&a)).unwrap();
        let composed: Vec<_> =
            back.positions.iter().map(|i| there.positions[i.expect("no new dims")]).collect();
        prop_assert_eq!(composed, (0..a.len()).map(Some).collect::<Vec<_>>());
        prop_assert_eq!(back.names, a);
    }

    #[test]
    fn align_as_makes_operands_unify(a in all_named(5), b in all_named(5)) {
        match rule::align_as("align_as", &a, &b) {
            Ok(aligned) => {
                prop_assert_eq!(&aligned.names, &b);
                prop_assert_eq!(aligned.positions.iter().flatten().count(), a.len());
                prop_assert_eq!(&rule::unify("add", &aligned.names, &b).unwrap(), &b);
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::Align);
                prop_assert!(named(&a).any(|name| b.position(name).is_none()));
            }
        }
    }

    #[test]
    fn align_to_the_rest_uses_every_dim_once(a in some(5), front in all_named(2), back in all_named(2)) {
        let mut order = items(&front);
        order.push(NameItem::Rest);
        order.extend(items(&back));
        match rule::align_to("align_to", &a, &order) {
            Ok(aligned) => {
                let mut used: Vec<_> = aligned.positions.iter().flatten().copied().collect();
                used.sort_unstable();
                prop_assert_eq!(used, (0..a.len()).collect::<Vec<_>>());
                prop_assert_eq!(aligned.names.duplicate(), None);
            }
            Err(error) => prop_assert_eq!(error.kind(), ErrorKind::DuplicateNames),
        }
    }

    #[test]
    fn refine_names_keeps_names_and_rename_gives_them(a in some(5), b in some(5)) {
        let refined = rule::refine_names("refine_names", &a, &items(&b));
        let holds = a.len() == b.len()
            && a.iter().zip(&b).all(|(from, to)| from.is_none() || from == to);
        prop_assert_eq!(refined.ok(), holds.then(|| b.clone()));
        let renamed = rule::rename("rename", &a, &items(&b));
        prop_assert_eq!(renamed.ok(), (a.len() == b.len()).then(|| b.clone()));
        prop_assert_eq!(&rule::rename("rename", &a, &[NameItem::Rest]).unwrap(), &a);
    }

    #[test]
    fn flatten_and_unflatten_are_inverse(
        a in all_named(5), sizes in vec(0usize..4, 5), start in 0usize..5, len in 1usize..5,
    ) {
        if start + len > a.len() {
            return Ok(());
        }
        let shape = &sizes[..a.len()];
        let dims = DimArg::list(a[start..start + len].iter());
        let flat = rule::flatten("flatten", &a, &dims, Some("flat")).unwrap();
        let flat_shape = rule::flatten_shape("flatten", shape, &flat).unwrap();
        let parts: Vec<_> =
            (start..start + len).map(|i| (NameItem::from(&a[i]), shape[i] as i64)).collect();
        let back =
            rule::unflatten("unflatten", &flat.names, &flat_shape, "flat".into(), &parts).unwrap();
        prop_assert_eq!(&back.names, &a);
        prop_assert_eq!(back.sizes.as_slice(), &shape[start..start + len]);
    }

    #[test]
    fn a_product_holds_no_name_twice(a in some(4), b in some(4)) {
        if let Ok(product) = rule::matmul("matmul", &a, &b) {
            prop_assert_eq!(product.duplicate(), None);
            let vectors = usize::from(a.len() == 1) + usize::from(b.len() == 1);
            prop_assert_eq!(product.len(), (a.len().max(b.len())).saturating_sub(vectors));
        }
    }

    #[test]
    fn a_contraction_sorts_every_dim_into_one_place(a in all_named(5), b in all_named(5)) {
        let shared: Vec<_> = named(&a).filter(|name| b.position(name).is_some()).collect();
        let Some(first) = shared.first() else { return Ok(()) };
        let dims = DimArg::from(*first);
        let plan = rule::contract("contract", &a, &b, &dims).unwrap();
        let paired = plan.sum.len() + plan.batch.len();
        prop_assert_eq!(paired + plan.left.len(), a.len());
        prop_assert_eq!(paired + plan.right.len(), b.len());
        prop_assert_eq!(plan.names.len(), a.len() + b.len() - paired - plan.sum.len());
        // The order permutes the product's own dims to the promised ones.
        let own = plan.batch.iter().map(|(i, _)| &a[*i])
            .chain(plan.left.iter().map(|i| &a[*i]))
            .chain(plan.right.iter().map(|j| &b[*j]));
        let own: Vec<_> = own.collect();
        let ordered: Names = plan.order.iter().map(|i| own[*i].clone()).collect();
        prop_assert_eq!(ordered, plan.names);
    }

    #[test]
    fn out_receives_or_agrees(out in some(4), computed in some(4)) {
        let got = rule::out("add", &out, &computed);
        prop_assert_eq!(got.is_ok(), !out.has_names() || out == computed);
        if let Ok(got) = got {
            prop_assert_eq!(got, computed);
        }
    }

    #[test]
    fn shapes_broadcast_like_names_unify(a in vec(0usize..4, 0..5), b in vec(0usize..4, 0..5)) {
        let (ab, ba) =
            (rule::broadcast_shapes("add", &a, &b), rule::broadcast_shapes("add", &b, &a));
        prop_assert_eq!(ab.is_ok(), ba.is_ok());
        if let (Ok(ab), Ok(ba)) = (ab, ba) {
            prop_assert_eq!(&ab, &ba);
            prop_assert_eq!(rule::broadcast_shapes("add", &ab, &a).unwrap(), ab);
        }
    }

    #[test]
    fn no_argument_panics(a in some(5), index in any::<i64>(), sizes in vec(any::<i64>(), 0..4)) {
        let shape: Vec<usize> = (1..=a.len()).collect();
        let dim = rule::DimRef::Index(index);
        let found = dim.position("op", &a);
        prop_assert_eq!(found.is_ok(), -(a.len() as i64) <= index && index < a.len() as i64);
        let parts: Vec<_> = sizes.iter().map(|size| (NameItem::Unnamed, *size)).collect();
        let _ = rule::unflatten("op", &a, &shape, dim, &parts);
        let _ = rule::expand("op", &a, &shape, &sizes);
        let _ = rule::unsqueeze("op", &a, index, Some("x"));
        let _ = rule::diagonal("op", &a, dim, 0.into(), None);
        let _ = rule::movedim("op", &a, &dim.into(), &(&sizes[..]).into());
        let _ = rule::numel("op", &sizes.iter().map(|size| *size as usize).collect::<Vec<_>>());
    }
}

#[test]
fn no_rule_makes_more_dims_than_a_tensor_has() {
    let full = Names::unnamed(MAX_DIMS);
    let shape = vec![1; MAX_DIMS];
    let sizes = vec![1; MAX_DIMS + 1];
    let kind = |result: Result<(), nomina_core::Error>| result.expect_err("too many").kind();
    assert_eq!(
        kind(rule::expand("expand", &full, &shape, &sizes).map(drop)),
        ErrorKind::Rank
    );
    assert_eq!(
        kind(rule::unsqueeze("unsqueeze", &full, 0, None).map(drop)),
        ErrorKind::Rank
    );
    assert_eq!(
        kind(rule::stack("stack", &[(&full, &shape)], 0, None).map(drop)),
        ErrorKind::Rank
    );
    let parts = [(NameItem::Unnamed, 1), (NameItem::Unnamed, 1)];
    let split = rule::unflatten("unflatten", &full, &shape, 0.into(), &parts);
    assert_eq!(kind(split.map(drop)), ErrorKind::Rank);
    let order = ["A".into(), NameItem::Rest];
    assert_eq!(
        kind(rule::align_to("align_to", &full, &order).map(drop)),
        ErrorKind::Rank
    );
}
