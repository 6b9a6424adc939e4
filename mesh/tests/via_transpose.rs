//! Transposed convolutions along split dims equal those on one rank, forward and backward, by name and typed.

mod support;

use nomina::{ConvTransposeOptions, ErrorKind};
use nomina_mesh::DimVia;
use nomina_mesh::prelude::*;
use support::{Line, assert_close, checks, leaf, numbers, same, sent, values};

dims! { N, C, H, W, Out, K, L }

fn via() -> DimVia {
    DimVia::new("H", "Data")
}

#[test]
fn along_one_dim() {
    let mut count = 0;
    for size in [1, 3, 4, 7] {
        for kernel in [1, 2, 3] {
            for stride in [1, 2, 4] {
                for dilation in [1, 2] {
                    for (padding, output_padding) in [(0, 0), (1, 0), (2, 1), (0, 3)] {
                        let whole = (size - 1) * stride + (kernel - 1) * dilation + 1;
                        if output_padding >= stride.max(dilation)
                            || whole + output_padding <= 2 * padding
                        {
                            continue;
                        }
                        let options = ConvTransposeOptions {
                            stride: [stride],
                            padding: [padding],
                            output_padding: [output_padding],
                            dilation: [dilation],
                            groups: 1,
                        };
                        let inputs = [
                            (leaf(&[2, 3, size], &["N", "C", "H"], 1), Some("H")),
                            (leaf(&[3, 2, kernel], &["C", "Out", "K"], 2), None),
                            (leaf(&[2], &["Out"], 3), None),
                        ];
                        same(
                            &format!("conv_transpose1d of {size}, kernel {kernel}, {options:?}"),
                            &inputs,
                            &|x| {
                                let bias = Some(&x[2]);
                                let y = x[0].conv_transpose1d_by("C", ["H"], &x[1], bias, options);
                                Ok(vec![y?])
                            },
                            &|x| {
                                let bias = Some(&x[2]);
                                let dims = [via()];
                                let y = x[0].conv_transpose1d_with("C", dims, &x[1], bias, options);
                                Ok(vec![y?])
                            },
                        );
                        count += 1;
                    }
                }
            }
        }
    }
    println!("{count} transposed convolutions, each on 1 to 4 ranks, forward and backward");
    assert!(count > 100, "{count}");
}

#[test]
fn groups_and_three_dims() {
    let options = ConvTransposeOptions {
        stride: [2, 1, 2],
        padding: [1, 0, 1],
        groups: 2,
        ..default()
    };
    let inputs = [
        (
            leaf(&[2, 5, 3, 4, 2], &["N", "H", "W", "C", "D"], 1),
            Some("H"),
        ),
        (
            leaf(&[4, 3, 3, 2, 2], &["C", "Out", "K", "L", "M"], 2),
            None,
        ),
    ];
    same(
        "conv_transpose3d",
        &inputs,
        &|x| {
            let dims = ["H", "W", "D"];
            Ok(vec![
                x[0].conv_transpose3d_by("C", dims, &x[1], None, options)?,
            ])
        },
        &|x| {
            let dims = [via(), "W".into(), "D".into()];
            Ok(vec![
                x[0].conv_transpose3d_with("C", dims, &x[1], None, options)?,
            ])
        },
    );
}

#[test]
fn two_dims_over_two_axes() {
    mesh! { Grid: Rows, Columns }
    // On 2 x 3 ranks; if a dim has one element, only one rank of its axis has a part.
    for (height, width) in [(5, 4), (1, 4), (3, 1), (1, 1)] {
        let (of_image, of_weight) = ([2, 3, height, width], [3, 4, 3, 2]);
        let image = numbers(&of_image, &["N", "C", "H", "W"], 1);
        let weight = numbers(&of_weight, &["C", "Out", "K", "L"], 2);
        let image: Tensor<(N, C, H, W), f64> = Tensor::from_vec(values(&image), of_image).unwrap();
        let weight: Tensor<(C, Out, K, L), f64> =
            Tensor::from_vec(values(&weight), of_weight).unwrap();
        let bias: Tensor<(Out,), f64> = tensor!([1.0_f64, -2.0, 0.5, 3.0]; Out);
        let options = ConvTransposeOptions {
            stride: [2, 1],
            padding: [1, 0],
            output_padding: [1, 0],
            ..default()
        };
        let own = (
            image.clone().with_grad(),
            weight.clone().with_grad(),
            bias.clone().with_grad(),
        );
        let plain = own
            .0
            .conv_transpose2d_with(C, (H, W), &own.1, Some(&own.2), options);
        plain.square().sum(..).backward();
        let expected = [
            plain.to_vec(),
            own.0.grad().unwrap().to_vec(),
            own.1.grad().unwrap().to_vec(),
            own.2.grad().unwrap().to_vec(),
        ];
        for sizes in [[2, 2], [2, 3]] {
            let found = Grid::threads(sizes, |mesh| {
                // Synced parameters, so that a rank that leaves one out is noticed.
                let leaf = mesh.whole(image.clone()).with_grad();
                let kernel = mesh.parameter(weight.clone())?;
                let bias = mesh.parameter(bias.clone())?;
                let x: Sharded<(N, C, H, W), Grid<Split<H>, Split<W>>, f64> =
                    leaf.cut(Rows, H).cut(Columns, W);
                let y: Sharded<(N, Out, H, W), Grid<Split<H>, Split<W>>, f64> = x
                    .conv_transpose2d_with(
                        C,
                        (H.via(Rows), W.via(Columns)),
                        &kernel.whole(Rows).whole(Columns),
                        Some(&bias.whole(Rows).whole(Columns)),
                        options,
                    );
                assert_eq!([y.size(H), y.size(W)], [2 * height, width + 1]);
                let loss: Sharded<(), Grid<Pending, Pending>, f64> = y.square().sum(across(..));
                loss.backward();
                let of_leaf: Sharded<_, Grid<Pending, Pending>, f64> = leaf.grad().unwrap();
                Ok([
                    y.all_gather(Rows).all_gather(Columns).to_vec(),
                    of_leaf.all_reduce(Rows).all_reduce(Columns).to_vec(),
                    kernel.grad().unwrap().to_vec(),
                    bias.grad().unwrap().to_vec(),
                ])
            });
            for own in found.unwrap() {
                for (which, (own, expected)) in own.iter().zip(&expected).enumerate() {
                    assert_close(&format!("{height} x {width}: {which}"), own, expected);
                }
            }
        }
    }
}

#[test]
fn infinities_and_nan_reach_what_they_reach_on_one_rank() {
    let x = vec![1.0, f64::INFINITY, -2.0, f64::NAN, 0.0, 3.0, 4.0];
    let x = DynTensor::from_vec(x, &[1, 7], ["C", "H"]).unwrap();
    let weight = vec![0.0, f64::INFINITY, 1.0];
    let weight = DynTensor::from_vec(weight, &[1, 1, 3], ["C", "Out", "K"]).unwrap();
    for stride in [1, 2, 5] {
        let options = ConvTransposeOptions {
            stride: [stride],
            ..default()
        };
        same(
            "what is not finite",
            &[(x.clone(), Some("H")), (weight.clone(), None)],
            &|x| {
                let y = x[0].conv_transpose1d_by("C", ["H"], &x[1], None, options);
                Ok(vec![y?])
            },
            &|x| {
                let y = x[0].conv_transpose1d_with("C", [via()], &x[1], None, options);
                Ok(vec![y?])
            },
        );
    }
}

#[test]
fn what_does_not_fit_is_an_error_on_all_ranks() {
    let failed = |dim: fn() -> DimVia, options: ConvTransposeOptions<1>| {
        let found = Line::threads([3], |mesh| {
            let x = mesh.whole_dyn(numbers(&[2, 3], &["C", "H"], 0));
            let x = x.cut("Data", "H")?;
            let weight = mesh.whole_dyn(numbers(&[2, 4, 2], &["C", "Out", "K"], 1));
            let found = x.conv_transpose1d_with("C", [dim()], &weight, None, options);
            Ok(found.map(drop).unwrap_err())
        });
        let mut found = found.unwrap();
        let first = found.remove(0);
        assert!(found.iter().all(|error| error.kind() == first.kind()));
        first
    };
    let error = failed(
        via,
        ConvTransposeOptions {
            padding: [2],
            ..default()
        },
    );
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
    for (stride, output_padding) in [(0, 0), (1, 1), (2, 3)] {
        let options = ConvTransposeOptions {
            stride: [stride],
            output_padding: [output_padding],
            ..default()
        };
        assert_eq!(failed(via, options).kind(), ErrorKind::Argument);
    }
    let error = failed(|| "H".into(), default());
    assert!(error.to_string().contains("`H.via(Data)`"), "{error}");
}

#[test]
fn elements_go_to_neighbours_and_nothing_else() {
    const RANKS: usize = 4;
    let found = sent(RANKS, |mesh, measure| {
        let x = numbers(&[5, 16], &["C", "H"], 0).with_grad()?;
        let x = mesh.whole_dyn(x).cut("Data", "H")?;
        let weight = mesh.whole_dyn(numbers(&[5, 2, 3], &["C", "Out", "K"], 1));
        let options = ConvTransposeOptions {
            padding: [1],
            ..default()
        };
        let conv = || x.conv_transpose1d_with("C", [via()], &weight, None, options);
        let y = conv()?;
        Ok(vec![
            measure(&|| conv().map(drop))?,
            measure(&|| y.local().sum(..)?.backward())?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        let neighbours = if rank == 0 || rank == 3 { 1 } else { 2 };
        let halo = 5 * 8 * neighbours + checks(rank, RANKS, 1);
        assert_eq!(sent, [halo, halo]);
    }
}
