//! Maxima, minima and sorting along a split dim equal those on one rank, including NaN and equal elements.

mod support;

use nomina::{ErrorKind, SortOptions, TopkOptions};
use nomina_mesh::DimVia;
use nomina_mesh::prelude::*;
use support::{Data, Line, checks, leaf, numbers, same, sent};

dims! { N, C }

fn via() -> DimVia {
    DimVia::new("C", "Data")
}

/// Returns numbers, many of them equal, with a NaN and infinities.
fn special(columns: usize) -> DynTensor {
    let all = (0..3 * columns).map(|i| match i * 11 % 13 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        other => (other % 4) as f64,
    });
    DynTensor::from_vec(all.collect::<Vec<f64>>(), &[3, columns], ["N", "C"]).unwrap()
}

fn inputs(columns: usize) -> Vec<DynTensor> {
    let x = leaf(&[3, columns], &["N", "C"], 1);
    let equal = DynTensor::ones(&[3, columns], ["N", "C"])
        .unwrap()
        .to::<f64>()
        .unwrap();
    let integers = x.detach().mul(3.0).unwrap().to::<i64>().unwrap();
    let special = special(columns).with_grad().unwrap();
    vec![x, special, equal.with_grad().unwrap(), integers]
}

const COLUMNS: [usize; 6] = [1, 2, 3, 5, 8, 13];

#[test]
fn extremes() {
    for columns in COLUMNS {
        for x in inputs(columns) {
            let one = [(x, Some("C"))];
            same(
                "max",
                &one,
                &|x| x[0].max("C").map(|(x, i)| vec![x, i]),
                &|x| x[0].max(via()).map(|(x, i)| vec![x, i]),
            );
            same(
                "min",
                &one,
                &|x| x[0].min("C").map(|(x, i)| vec![x, i]),
                &|x| x[0].min(via()).map(|(x, i)| vec![x, i]),
            );
            same(
                "argmax and argmin",
                &one,
                &|x| Ok(vec![x[0].argmax("C")?, x[0].argmin("C")?]),
                &|x| Ok(vec![x[0].argmax(via())?, x[0].argmin(via())?]),
            );
        }
    }
}

#[test]
fn topk() {
    for columns in COLUMNS {
        for x in inputs(columns) {
            for k in [0, 1, 2, 5, columns] {
                for largest in [true, false] {
                    if k > columns {
                        continue;
                    }
                    let options = TopkOptions { largest };
                    same(
                        &format!("topk of {k} of {columns}"),
                        &[(x.clone(), Some("C"))],
                        &|x| {
                            x[0].topk_with(k as i64, "C", options)
                                .map(|(x, i)| vec![x, i])
                        },
                        &|x| x[0].topk_with(k, via(), options).map(|(x, i)| vec![x, i]),
                    );
                }
            }
        }
    }
}

#[test]
fn sorts() {
    for columns in [0, 1, 2, 3, 5, 8, 13] {
        for x in inputs(columns) {
            for descending in [false, true] {
                let options = SortOptions { descending };
                same(
                    &format!("sort of {columns}"),
                    &[(x.clone(), Some("C"))],
                    &|x| x[0].sort_with("C", options).map(|(x, i)| vec![x, i]),
                    &|x| x[0].sort_with(via(), options).map(|(x, i)| vec![x, i]),
                );
            }
        }
    }
}

#[test]
fn types_say_what_each_rank_has() {
    let x = tensor!([[3., 1., 2., 5., 4.]]; N, C);
    let found = Line::threads([2], |mesh| {
        let x: Sharded<(N, C), Line<Split<C>>> = mesh.whole(x.clone()).cut(Data, C);
        let (most, place): (Sharded<(N,), Line<Whole>>, Sharded<(N,), Line<Whole>, i64>) =
            x.max(C.via(Data));
        let least: Sharded<(N,), Line<Whole>, i64> = x.argmin(C.via(Data));
        let (best, places): (
            Sharded<(N, C), Line<Whole>>,
            Sharded<(N, C), Line<Whole>, i64>,
        ) = x.topk(2, C.via(Data));
        let (sorted, order): (Sharded<(N, C), Line<Split<C>>>, _) = x.sort(C.via(Data));
        let reversed = x.argsort_with(C.via(Data), SortOptions { descending: true });
        // Along a dim that is not split, nothing is sent.
        let (rows, _): (Sharded<(C,), Line<Split<C>>>, _) = x.max(N);
        assert_eq!((best.size(C), sorted.size(C)), (2, 5));
        assert_eq!(
            (most.to_vec()[0], place.to_vec()[0], least.to_vec()[0]),
            (5.0, 3, 1)
        );
        assert_eq!(rows.all_gather(Data).to_vec(), x.all_gather(Data).to_vec());
        Ok((
            best.to_vec(),
            places.to_vec(),
            sorted.all_gather(Data).to_vec(),
            order.all_gather(Data).to_vec(),
            reversed.all_gather(Data).to_vec(),
        ))
    });
    for (best, places, sorted, order, reversed) in found.unwrap() {
        assert_eq!((best, places), (vec![5.0, 4.0], vec![3, 4]));
        assert_eq!(sorted, [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(order, [1, 2, 0, 4, 3]);
        assert_eq!(reversed, [3, 4, 0, 2, 1]);
    }
}

#[test]
fn what_is_not_there_is_an_error_on_all_ranks() {
    for (columns, k) in [(5, 6), (0, 1)] {
        let error = Line::threads([3], |mesh| {
            let x = mesh
                .whole_dyn(numbers(&[2, columns], &["N", "C"], 0))
                .cut("Data", "C")?;
            x.topk_with(k, via(), TopkOptions::default()).map(drop)
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
        assert!(
            error
                .to_string()
                .contains(&format!("{k} elements requested of {columns}")),
            "{error}"
        );
    }
    let error = Line::threads([3], |mesh| {
        let x = mesh
            .whole_dyn(numbers(&[2, 0], &["N", "C"], 0))
            .cut("Data", "C")?;
        x.max(via()).map(drop)
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Index);
    // Without `via` the dim must be whole; with it, it must be split.
    let error = Line::threads([2], |mesh| {
        let x = mesh.whole_dyn(numbers(&[2, 4], &["N", "C"], 0));
        let split = x.cut("Data", "C")?;
        let error = split.topk_with(1, "C", TopkOptions::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("dim `C` is split over mesh axis `Data`"),
            "{error}"
        );
        assert!(error.to_string().contains("`C.via(Data)`"), "{error}");
        x.sort_with(via(), SortOptions::default()).map(drop)
    });
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("dim `C` is not split over mesh axis `Data`")
    );
}

#[test]
fn bytes_are_those_of_the_formulas() {
    const RANKS: usize = 4;
    let (rows, columns, k) = (6_u64, 32_u64, 3_u64);
    let found = sent(RANKS, |mesh, measure| {
        let x = numbers(&[rows as usize, columns as usize], &["N", "C"], 0);
        let x = mesh.whole_dyn(x).cut("Data", "C")?;
        Ok(vec![
            measure(&|| x.max(via()).map(drop))?,
            measure(&|| {
                x.topk_with(k as usize, via(), TopkOptions::default())
                    .map(drop)
            })?,
            measure(&|| x.sort_with(via(), SortOptions::default()).map(drop))?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        let others = RANKS as u64 - 1;
        let part = nomina_mesh::part(rows as usize, RANKS, rank).1 as u64;
        // All-reduces of rows: its part to each rank, and this rank's combined part to each.
        let reduced = (rows - part + part * others) * 8;
        let value_and_place = 2 * reduced + checks(rank, RANKS, 2);
        let candidates = rows * k * 16 * others + checks(rank, RANKS, 2);
        // Four ranks compare in three steps; in the last step only the inner two do.
        let steps = if rank == 0 || rank == 3 { 2 } else { 3 };
        let boxes = rows * (columns / 4) * 16 * steps + checks(rank, RANKS, 6);
        assert_eq!(sent, [value_and_place, candidates, boxes], "rank {rank}");
    }
}

#[test]
fn medians_and_the_kth() {
    for columns in COLUMNS {
        for x in inputs(columns) {
            let one = [(x, Some("C"))];
            same(
                &format!("median of {columns}"),
                &one,
                &|x| x[0].median("C").map(|(x, i)| vec![x, i]),
                &|x| x[0].median(via()).map(|(x, i)| vec![x, i]),
            );
            for k in [1, columns.div_ceil(2), columns] {
                same(
                    &format!("the {k}-th of {columns}"),
                    &one,
                    &|x| x[0].kthvalue(k as i64, "C").map(|(x, i)| vec![x, i]),
                    &|x| x[0].kthvalue(k, via()).map(|(x, i)| vec![x, i]),
                );
            }
        }
    }
    for (columns, k) in [(5, 0), (5, 6), (0, 1)] {
        let error = Line::threads([3], |mesh| {
            let x = mesh.whole_dyn(numbers(&[2, columns], &["N", "C"], 0));
            let x = x.cut("Data", "C")?;
            let error = x.kthvalue(k, via()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Index, "{error}");
            assert!(error.to_string().contains(&format!("no element {k} among")));
            x.median(via()).map(drop)
        });
        match columns {
            0 => assert_eq!(error.unwrap_err().kind(), ErrorKind::Index),
            _ => drop(error.unwrap()),
        }
    }
}
