//! Scans and normalizations along a split dim equal those on one rank.

mod support;

use nomina_mesh::DimVia;
use nomina_mesh::prelude::*;
use support::{Data, Line, checks, leaf, numbers, same, sent};

dims! { N, C }

fn via() -> DimVia {
    DimVia::new("C", "Data")
}

/// Returns numbers with zeros, infinities and NaN in some rows.
fn special(columns: usize) -> DynTensor {
    let all = (0..4 * columns).map(|i| match (i / columns, i * 5 % 7) {
        (1, 0 | 3) => 0.0,
        (2, 0..=3) => f64::NEG_INFINITY,
        (3, 1) => f64::NAN,
        (_, other) => other as f64 - 2.5,
    });
    DynTensor::from_vec(all.collect::<Vec<f64>>(), &[4, columns], ["N", "C"]).unwrap()
}

#[test]
fn running_products_and_sums() {
    for columns in [0, 1, 2, 5, 9] {
        let x = leaf(&[3, columns], &["N", "C"], 2);
        for x in [x, special(columns)] {
            let one = [(x, Some("C"))];
            same("cumsum", &one, &|x| Ok(vec![x[0].cumsum("C")?]), &|x| {
                Ok(vec![x[0].cumsum(via())?])
            });
            same("cumprod", &one, &|x| Ok(vec![x[0].cumprod("C")?]), &|x| {
                Ok(vec![x[0].cumprod(via())?])
            });
            same(
                "logcumsumexp",
                &one,
                &|x| Ok(vec![x[0].logcumsumexp("C")?]),
                &|x| Ok(vec![x[0].logcumsumexp(via())?]),
            );
        }
    }
    // Zeros have gradients, too: the product of all other elements.
    let mut zeros = vec![1.5, 0.0, 2.0, -1.0, 0.0, 3.0];
    zeros.extend([0.5, 2.0, 0.0, 4.0, 5.0, -2.0]);
    let zeros = DynTensor::from_vec(zeros, &[2, 6], ["N", "C"]).unwrap();
    let one = [(zeros.with_grad().unwrap(), Some("C"))];
    same("cumprod", &one, &|x| Ok(vec![x[0].cumprod("C")?]), &|x| {
        Ok(vec![x[0].cumprod(via())?])
    });
    let integers = numbers(&[2, 7], &["N", "C"], 1)
        .mul(3.0)
        .unwrap()
        .to::<i64>()
        .unwrap();
    let one = [(integers, Some("C"))];
    same("cumprod", &one, &|x| Ok(vec![x[0].cumprod("C")?]), &|x| {
        Ok(vec![x[0].cumprod(via())?])
    });
}

#[test]
fn running_extremes() {
    for columns in [0, 1, 2, 5, 9] {
        let x = leaf(&[3, columns], &["N", "C"], 2);
        let equal = x.detach().sign().unwrap();
        for x in [x, equal, special(columns).with_grad().unwrap()] {
            let one = [(x, Some("C"))];
            same(
                "cummax",
                &one,
                &|x| x[0].cummax("C").map(|(x, i)| vec![x, i]),
                &|x| x[0].cummax(via()).map(|(x, i)| vec![x, i]),
            );
            same(
                "cummin",
                &one,
                &|x| x[0].cummin("C").map(|(x, i)| vec![x, i]),
                &|x| x[0].cummin(via()).map(|(x, i)| vec![x, i]),
            );
        }
    }
}

#[test]
fn what_is_computed_of_a_row() {
    for columns in [1, 2, 5, 9] {
        let one = [(leaf(&[3, columns], &["N", "C"], 2), Some("C"))];
        same(
            "logsumexp",
            &one,
            &|x| Ok(vec![x[0].logsumexp("C")?]),
            &|x| Ok(vec![x[0].logsumexp(via())?]),
        );
        same("softmax", &one, &|x| Ok(vec![x[0].softmax("C")?]), &|x| {
            Ok(vec![x[0].softmax(via())?])
        });
        same(
            "log_softmax",
            &one,
            &|x| Ok(vec![x[0].log_softmax("C")?]),
            &|x| Ok(vec![x[0].log_softmax(via())?]),
        );
        let special = [(special(columns), Some("C"))];
        same(
            "logsumexp",
            &special,
            &|x| Ok(vec![x[0].logsumexp("C")?]),
            &|x| Ok(vec![x[0].logsumexp(via())?]),
        );
    }
}

#[test]
fn types_say_what_each_rank_has() {
    let x = tensor!([[1., 2., 4.], [3., 0., 2.]]; N, C).to::<f64>();
    let found = Line::threads([2], |mesh| {
        let x: Sharded<(N, C), Line<Split<C>>, f64> = mesh.whole(x.clone()).cut(Data, C);
        let sum: Sharded<(N,), Line<Whole>, f64> = x.logsumexp(C.via(Data));
        let product: Sharded<(N, C), Line<Split<C>>, f64> = x.cumprod(C.via(Data));
        let logs: Sharded<(N, C), Line<Split<C>>, f64> = x.logcumsumexp(C.via(Data));
        let (most, place) = x.cummax(C.via(Data));
        let (least, _) = x.cummin(C.via(Data));
        assert_eq!(
            least.all_gather(Data).to_vec(),
            [1.0, 1.0, 1.0, 3.0, 0.0, 0.0]
        );
        assert_eq!(place.all_gather(Data).to_vec(), [0, 1, 2, 0, 0, 0]);
        assert_eq!(
            most.all_gather(Data).to_vec(),
            [1.0, 2.0, 4.0, 3.0, 3.0, 3.0]
        );
        assert_eq!(logs.size(C), 3);
        Ok((sum.to_vec(), product.all_gather(Data).to_vec()))
    });
    for (sum, product) in found.unwrap() {
        assert_eq!(sum, x.logsumexp(C).to_vec());
        assert_eq!(product, [1.0, 2.0, 8.0, 3.0, 0.0, 0.0]);
    }
}

#[test]
fn a_scan_sends_the_last_of_each_part() {
    const RANKS: usize = 4;
    let rows = 6;
    let found = sent(RANKS, |mesh, measure| {
        let x = mesh
            .whole_dyn(numbers(&[rows, 32], &["N", "C"], 0))
            .cut("Data", "C")?;
        Ok(vec![
            measure(&|| x.cumprod(via()).map(drop))?,
            measure(&|| x.logcumsumexp(via()).map(drop))?,
            measure(&|| x.cummax(via()).map(drop))?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        let each = rows as u64 * 8 * (RANKS as u64 - 1);
        let (one, two) = (checks(rank, RANKS, 1), checks(rank, RANKS, 2));
        // A running maximum sends its index, too.
        assert_eq!(sent, [each + one, each + one, 2 * each + two]);
    }
}
