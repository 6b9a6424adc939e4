//! Rows of a table whose rows are split are fetched from their owners, and gradients return to the owners.

mod support;

use nomina::ErrorKind;
use nomina_mesh::DimVia;
use nomina_mesh::prelude::*;
use support::{Data, Line, checks, leaf, numbers, same, sent};

dims! { Vocab, Embed, T, B }

fn via() -> DimVia {
    DimVia::new("Vocab", "Data")
}

fn ids(shape: &[usize], names: &[&str], rows: usize) -> DynTensor {
    let count: usize = shape.iter().product();
    let all = (0..count).map(|i| (i * i * 3 % rows) as i64);
    DynTensor::from_vec(all.collect::<Vec<i64>>(), shape, names).unwrap()
}

#[test]
fn rows_are_found_wherever_they_are() {
    for rows in [1, 2, 3, 7, 10] {
        for count in [0, 1, 3, 8] {
            // If the ids are split, each rank requests its own; otherwise all ranks request the same.
            for split in [Some("T"), None] {
                let inputs = [
                    (leaf(&[rows, 3], &["Vocab", "Embed"], 2), Some("Vocab")),
                    (ids(&[2, count], &["B", "T"], rows), split),
                ];
                same(
                    &format!("rows of {rows} at {count} ids split by {split:?}"),
                    &inputs,
                    &|x| Ok(vec![x[0].embedding("Vocab", &x[1])?]),
                    &|x| Ok(vec![x[0].embedding(via(), &x[1])?]),
                );
            }
        }
    }
}

#[test]
fn the_dim_of_rows_stands_anywhere() {
    let inputs = [
        (leaf(&[3, 7], &["Embed", "Vocab"], 2), Some("Vocab")),
        (ids(&[5], &["T"], 7), Some("T")),
    ];
    same(
        "rows in the last dim",
        &inputs,
        &|x| Ok(vec![x[0].embedding("Vocab", &x[1])?]),
        &|x| Ok(vec![x[0].embedding(via(), &x[1])?]),
    );
}

#[test]
fn negative_numbers_count_from_the_end() {
    let ids = DynTensor::from_vec(vec![-1_i64, 0, -7, 3, -2], &[5], ["T"]).unwrap();
    for split in [Some("T"), None] {
        same(
            "rows from the end",
            &[
                (leaf(&[7, 2], &["Vocab", "Embed"], 2), Some("Vocab")),
                (ids.clone(), split),
            ],
            &|x| Ok(vec![x[0].index_select("Vocab", &x[1])?]),
            &|x| Ok(vec![x[0].index_select(via(), &x[1])?]),
        );
    }
}

#[test]
fn embedding_refuses_negative_ids() {
    for split in [true, false] {
        let found = Line::threads([2], |mesh| {
            let table = mesh.whole_dyn(numbers(&[7, 2], &["Vocab", "Embed"], 2));
            let ids = DynTensor::from_vec(vec![0_i64, -1, 3, -7], &[4], ["T"])?;
            let mut ids = mesh.whole_dyn(ids);
            if split {
                ids = ids.cut("Data", "T")?;
            }
            let plain = table.embedding("Vocab", &ids).unwrap_err();
            let parted = table.cut("Data", "Vocab")?;
            let parted = parted.embedding(via(), &ids).unwrap_err();
            Ok([plain.kind(), parted.kind()])
        });
        assert_eq!(found.unwrap(), [[ErrorKind::Index; 2]; 2]);
    }
}

#[test]
fn types_say_what_each_rank_has() {
    let table = tensor!([[0., 1.], [2., 3.], [4., 5.]]; Vocab, Embed);
    let found = Line::threads([2], |mesh| {
        let table: Sharded<(Vocab, Embed), Line<Split<Vocab>>> =
            mesh.whole(table.clone()).cut(Data, Vocab);
        let ids: Sharded<(B, T), Line<Whole>, i64> = mesh.whole(tensor!([[2, 0], [1, 2]]; B, T));
        let all: Sharded<(B, T, Embed), Line<Whole>> = table.embedding(Vocab.via(Data), &ids);
        let ids: Sharded<(B, T), Line<Split<B>>, i64> = ids.cut(Data, B);
        let own: Sharded<(B, T, Embed), Line<Split<B>>> = table.embedding(Vocab.via(Data), &ids);
        // With a whole table, nothing is fetched.
        let plain: Sharded<(B, T, Embed), Line<Split<B>>> =
            table.all_gather(Data).embedding(Vocab, &ids);
        assert_eq!(own.local().to_vec(), plain.local().to_vec());
        Ok((all.to_vec(), own.all_gather(Data).to_vec()))
    });
    for (all, own) in found.unwrap() {
        assert_eq!(all, [4.0, 5.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(own, all);
    }
}

#[test]
fn a_row_that_is_not_there_is_an_error() {
    for row in [-8, 7] {
        let error = Line::threads([3], |mesh| {
            let table = mesh
                .whole_dyn(numbers(&[7, 2], &["Vocab", "Embed"], 0))
                .cut("Data", "Vocab")?;
            let ids = mesh.whole_dyn(DynTensor::from_vec(vec![0, row], &[2], ["T"])?);
            table.embedding(via(), &ids).map(drop)
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Index);
    }
}

#[test]
fn each_row_is_sent_once_to_who_asks() {
    const RANKS: usize = 2;
    let found = sent(RANKS, |mesh, measure| {
        let table = numbers(&[8, 16], &["Vocab", "Embed"], 0).with_grad()?;
        let table = mesh.whole_dyn(table).cut("Data", "Vocab")?;
        // The first rank requests rows 0 and 5, the second one rows 1, 2 and 6, each several times.
        let ids: Vec<i64> = (0..16)
            .map(|i| [0, 5, 5, 0, 1, 2, 6, 1][i / 8 * 4 + i % 4])
            .collect();
        let ids = mesh
            .whole_dyn(DynTensor::from_vec(ids, &[16], ["T"])?)
            .cut("Data", "T")?;
        let rows = table.embedding(via(), &ids)?;
        Ok(vec![
            measure(&|| table.embedding(via(), &ids).map(drop))?,
            measure(&|| rows.local().sum(..)?.backward())?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        // The number of requested rows, their indices, and the rows that the other rank requested.
        let (wants, gives) = if rank == 0 { (1, 2) } else { (2, 1) };
        let row = 16 * 8;
        let forth = 8 + wants * 8 + gives * row + checks(rank, RANKS, 3);
        assert_eq!(sent, [forth, wants * row + checks(rank, RANKS, 1)]);
    }
}

#[test]
fn slices_stand_where_the_dim_stood() {
    for rows in [1, 2, 3, 7, 10] {
        for (shape, names) in [
            (&[0][..], &["T"][..]),
            (&[5], &["T"]),
            (&[2, 3], &["B", "T"]),
        ] {
            for split in [Some("T"), None] {
                let inputs = [
                    (
                        leaf(&[2, rows, 3], &["N", "Vocab", "Embed"], 2),
                        Some("Vocab"),
                    ),
                    (ids(shape, names, rows), split),
                ];
                same(
                    &format!("slices of {rows} at {shape:?} split by {split:?}"),
                    &inputs,
                    &|x| Ok(vec![x[0].index_select("Vocab", &x[1])?]),
                    &|x| Ok(vec![x[0].index_select(via(), &x[1])?]),
                );
            }
        }
    }
    let found = Line::threads([2], |mesh| {
        let x = mesh.whole(tensor!([[1., 2., 3.], [4., 5., 6.]]; Embed, Vocab));
        let x: Sharded<(Embed, Vocab), Line<Split<Vocab>>> = x.cut(Data, Vocab);
        let index = mesh.whole(tensor!([2, 0, -2]; T));
        let all: Sharded<(Embed, T), Line<Whole>> = x.index_select(Vocab.via(Data), &index);
        let index = index.cut(Data, T);
        let own: Sharded<(Embed, T), Line<Split<T>>> = x.index_select(Vocab.via(Data), &index);
        // Along a dim that is not split, nothing is fetched.
        let rows = mesh.whole(tensor!([1]; T));
        let plain: Sharded<(T, Vocab), Line<Split<Vocab>>> = x.index_select(Embed, &rows);
        assert_eq!(plain.all_gather(Data).to_vec(), [4.0, 5.0, 6.0]);
        Ok((all.to_vec(), own.all_gather(Data).to_vec()))
    });
    for (all, own) in found.unwrap() {
        assert_eq!(all, [3.0, 1.0, 2.0, 6.0, 4.0, 5.0]);
        assert_eq!(own, all);
    }
    let error = Line::threads([3], |mesh| {
        let x = mesh.whole_dyn(numbers(&[7, 2], &["Vocab", "Embed"], 0));
        let index = mesh.whole_dyn(DynTensor::from_vec(vec![0_i64, 7], &[2], ["T"])?);
        x.cut("Data", "Vocab")?
            .index_select(via(), &index)
            .map(drop)
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Index);
}
