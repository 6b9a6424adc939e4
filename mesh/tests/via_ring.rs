//! Ring operators: a product over a dim that is split on one side, and attention over a split length.

mod support;

use nomina::{AttentionOptions, BackwardOptions, ErrorKind};
use nomina_mesh::prelude::*;
use nomina_mesh::{DimVia, Over};
use support::{Data, Line, assert_close, checks, leaf, numbers, same, sent};

dims! { N, C, K, L, S, E, V }

#[test]
fn products_over_a_dim_that_is_split_on_one_side() {
    for size in [1, 2, 5, 9] {
        // Rows split over the same axis, or whole on each rank.
        for split in [Some("N"), None] {
            let inputs = [
                (leaf(&[3, size], &["N", "C"], 1), split),
                (leaf(&[size, 2], &["C", "K"], 2), Some("C")),
            ];
            same(
                &format!("product over {size}, rows split by {split:?}"),
                &inputs,
                &|x| Ok(vec![x[0].contract(&x[1], "C")?]),
                &|x| Ok(vec![x[0].contract(&x[1], Over::via("C", "Data"))?]),
            );
            // With a dim that both operands have, and without free dims.
            let inputs = [
                (leaf(&[3, 2, size], &["N", "B", "C"], 1), split),
                (leaf(&[2, size, 4], &["B", "C", "K"], 2), Some("C")),
            ];
            same(
                &format!("products over {size}, rows split by {split:?}"),
                &inputs,
                &|x| Ok(vec![x[0].contract(&x[1], "C")?]),
                &|x| Ok(vec![x[0].contract(&x[1], Over::via("C", "Data"))?]),
            );
            let inputs = [
                (leaf(&[3, size], &["N", "C"], 1), split),
                (leaf(&[size], &["C"], 2), Some("C")),
            ];
            same(
                &format!("product with a vector of {size}, rows split by {split:?}"),
                &inputs,
                &|x| Ok(vec![x[0].contract(&x[1], "C")?]),
                &|x| Ok(vec![x[0].contract(&x[1], Over::via("C", "Data"))?]),
            );
        }
    }
}

#[test]
fn attention_over_a_split_length() {
    for (length, source) in [(1, 1), (2, 2), (5, 5), (7, 4), (3, 9)] {
        for is_causal in [false, true] {
            for scale in [None, Some(0.7)] {
                for split in [Some("L"), None] {
                    let options = AttentionOptions {
                        is_causal,
                        scale,
                        ..AttentionOptions::default()
                    };
                    let inputs = [
                        (leaf(&[2, length, 4], &["B", "L", "E"], 1), split),
                        (leaf(&[2, source, 4], &["B", "S", "E"], 2), Some("S")),
                        (leaf(&[2, source, 3], &["B", "S", "V"], 3), Some("S")),
                    ];
                    same(
                        &format!(
                            "attention of {length} to {source}, queries split by {split:?}, {options:?}"
                        ),
                        &inputs,
                        &|x| {
                            Ok(vec![x[0].scaled_dot_product_attention_with(
                                &x[1], &x[2], None, options,
                            )?])
                        },
                        &|x| {
                            let via = DimVia::new("S", "Data");
                            Ok(vec![x[0].scaled_dot_product_attention_via(
                                &x[1], &x[2], via, options,
                            )?])
                        },
                    );
                }
            }
        }
    }
    // Keys and values shared by all batches.
    let inputs = [
        (leaf(&[2, 5, 4], &["B", "L", "E"], 1), Some("L")),
        (leaf(&[5, 4], &["S", "E"], 2), Some("S")),
        (leaf(&[5, 3], &["S", "V"], 3), Some("S")),
    ];
    same(
        "attention to shared keys",
        &inputs,
        &|x| Ok(vec![x[0].scaled_dot_product_attention(&x[1], &x[2])?]),
        &|x| {
            let (via, options) = (DimVia::new("S", "Data"), AttentionOptions::default());
            Ok(vec![x[0].scaled_dot_product_attention_via(
                &x[1], &x[2], via, options,
            )?])
        },
    );
}

#[test]
fn numbers_of_half_precision_are_added_in_single() {
    let [q, k, v] = [1, 2, 3].map(|seed| {
        let x = numbers(&[64, 8], &["S", "E"], seed);
        x.to::<f32>().unwrap().to::<nomina::bf16>().unwrap()
    });
    let names = |x: &DynTensor, names: [&str; 2]| {
        DynTensor::from_parts(
            x.raw().clone(),
            Names::new(names.map(|n| Some(nomina::Name::new(n).unwrap()))).unwrap(),
        )
    };
    let found = Line::threads([4], |mesh| {
        let (q, v) = (names(&q, ["L", "E"])?, names(&v, ["S", "V"])?);
        let q = mesh.whole_dyn(q).cut("Data", "L")?;
        let [k, v] = [k.clone(), v].map(|x| mesh.whole_dyn(x).cut("Data", "S"));
        let via = DimVia::new("S", "Data");
        let y = q.scaled_dot_product_attention_via(&k?, &v?, via, AttentionOptions::default())?;
        y.all_gather("Data")?.local().to::<f32>()?.to_vec::<f32>()
    });
    let wide = |x: &DynTensor, to: [&str; 2]| names(&x.to::<f64>().unwrap(), to).unwrap();
    let expected = wide(&q, ["L", "E"])
        .scaled_dot_product_attention(&wide(&k, ["S", "E"]), &wide(&v, ["S", "V"]))
        .unwrap();
    for own in found.unwrap() {
        for (x, y) in own.iter().zip(support::values(&expected)) {
            assert!((f64::from(*x) - y).abs() < 0.02, "{x} instead of {y}");
        }
    }
}

#[test]
fn types_say_what_each_rank_has() {
    let found = Line::threads([2], |mesh| {
        let x: Sharded<(N, C), Line<Split<N>>, f64> = mesh.randn([3, 5])?;
        let w: Sharded<(C, K), Line<Split<C>>, f64> = mesh.randn([5, 2])?;
        let y: Sharded<(N, K), Line<Split<N>>, f64> = x.contract(&w, C.via(Data));
        let plain = x.contract(&w.all_gather(Data), C);
        assert_close("a product", &y.local().to_vec(), &plain.local().to_vec());
        let all: Sharded<(N, K), Line<Whole>, f64> = x.all_gather(Data).contract(&w, C.via(Data));
        assert_close("a product", &all.to_vec(), &y.all_gather(Data).to_vec());
        let q: Sharded<(L, E), Line<Split<L>>, f64> = mesh.randn([5, 4])?;
        let k: Sharded<(S, E), Line<Split<S>>, f64> = mesh.randn([5, 4])?;
        let v: Sharded<(S, V), Line<Split<S>>, f64> = mesh.randn([5, 2])?;
        let causal = AttentionOptions {
            is_causal: true,
            ..default()
        };
        let mixed: Sharded<(L, V), Line<Split<L>>, f64> =
            q.scaled_dot_product_attention_via(&k, &v, S.via(Data), causal);
        let [q, mixed] = [
            q.all_gather(Data).local().to_dyn(),
            mixed.all_gather(Data).local().to_dyn(),
        ];
        let [k, v] = [
            k.all_gather(Data).local().to_dyn(),
            v.all_gather(Data).local().to_dyn(),
        ];
        let plain = q.scaled_dot_product_attention_with(&k, &v, None, causal)?;
        assert_close(
            "attention",
            &support::values(&mixed),
            &support::values(&plain),
        );
        Ok(())
    });
    found.unwrap();
}

#[test]
fn what_does_not_go_is_an_error() {
    let failed = |options: AttentionOptions, source: DimVia| {
        let error = Line::threads([2], |mesh| {
            let [q, k, v] = [["L", "E"], ["S", "E"], ["S", "V"]].map(|names| {
                let x = mesh.whole_dyn(numbers(&[4, 4], &names, 0));
                x.cut("Data", names[0])
            });
            q?.scaled_dot_product_attention_via(&k?, &v?, source.clone(), options)
                .map(drop)
        });
        error.unwrap_err()
    };
    let via = DimVia::new("S", "Data");
    let error = failed(
        AttentionOptions {
            dropout_p: 0.5,
            ..default()
        },
        via.clone(),
    );
    assert!(error.to_string().contains("no dropout"), "{error}");
    let error = failed(AttentionOptions::default(), "S".into());
    assert!(error.to_string().contains("`S.via(Data)`"), "{error}");
    let whole = Line::threads([2], |mesh| {
        let x = mesh.whole_dyn(numbers(&[4, 4], &["S", "E"], 0));
        x.scaled_dot_product_attention_via(&x, &x, "E", default())
            .map(drop)
    });
    assert_eq!(whole.unwrap_err().kind(), ErrorKind::Argument);
    // A sum has no `via`, and a product's dim must not be split on both sides.
    let error = Line::threads([2], |mesh| {
        let x = mesh
            .whole_dyn(numbers(&[4, 4], &["N", "C"], 0))
            .cut("Data", "C")?;
        let w = mesh
            .whole_dyn(numbers(&[4, 4], &["C", "K"], 0))
            .cut("Data", "C")?;
        let error = x.sum(Over::via("C", "Data")).unwrap_err();
        assert!(error.to_string().contains("cannot go `via`"), "{error}");
        x.contract(&w, Over::via("C", "Data")).map(drop)
    });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("dim `C` is split over mesh axis `Data`")
    );
}

#[test]
fn a_second_derivative_is_refused() {
    let error = Line::threads([2], |mesh| {
        let x = mesh
            .whole_dyn(leaf(&[4, 4], &["N", "C"], 0))
            .cut("Data", "N")?;
        let w = mesh
            .whole_dyn(leaf(&[4, 2], &["C", "K"], 0))
            .cut("Data", "C")?;
        let y = x.contract(&w, Over::via("C", "Data"))?;
        let options = BackwardOptions {
            create_graph: true,
            ..default()
        };
        let loss = y.local().square()?.sum(..)?;
        loss.backward_with(&DynTensor::scalar(1.0)?, options)
    });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("no second derivative")
    );
}

#[test]
fn each_part_is_sent_once_to_every_rank() {
    const RANKS: usize = 4;
    let found = sent(RANKS, |mesh, measure| {
        let x = mesh
            .whole_dyn(leaf(&[8, 16], &["N", "C"], 0))
            .cut("Data", "N")?;
        let w = mesh
            .whole_dyn(leaf(&[16, 5], &["C", "K"], 1))
            .cut("Data", "C")?;
        let product = || x.contract(&w, Over::via("C", "Data"));
        let y = product()?;
        let [q, k, v] =
            [("L", "E", 4), ("S", "E", 4), ("S", "V", 3)].map(|(length, features, count)| {
                mesh.whole_dyn(leaf(&[8, count], &[length, features], 2))
                    .cut("Data", length)
            });
        let (q, k, v) = (q?, k?, v?);
        let attention = || {
            let (via, options) = (DimVia::new("S", "Data"), AttentionOptions::default());
            q.scaled_dot_product_attention_via(&k, &v, via, options)
        };
        let mixed = attention()?;
        Ok(vec![
            measure(&|| product().map(drop))?,
            measure(&|| y.local().sum(..)?.backward())?,
            measure(&|| attention().map(drop))?,
            measure(&|| mixed.local().sum(..)?.backward())?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        let others = RANKS as u64 - 1;
        let (of_w, of_k, of_v) = (4 * 5 * 8, 2 * 4 * 8, 2 * 3 * 8);
        let checks = |times| checks(rank, RANKS, times);
        assert_eq!(
            sent,
            [
                others * of_w + checks(3),
                // In the backward pass the parts travel around again, and their gradients return to the owners.
                others * of_w + 4 * of_w + checks(7),
                others * (of_k + of_v) + checks(6),
                others * (of_k + of_v) + 4 * (of_k + of_v) + checks(14),
            ]
        );
    }
}
