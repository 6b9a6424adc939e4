//! Sliding windows along split dims: elements fetched from neighbours, as far as windows reach, and their gradients
//! sent back.

mod support;

use nomina::{AvgPoolOptions, ConvOptions, DiffOptions, ErrorKind, MaxPoolOptions, Padding};
use nomina_mesh::DimVia;
use nomina_mesh::prelude::*;
use support::{Data, Line, assert_close, checks, leaf, numbers, same, sent, values};

dims! { N, C, H, W, Out, K, L }

fn via() -> DimVia {
    DimVia::new("H", "Data")
}

#[test]
fn convolutions_along_one_dim() {
    for size in [3, 4, 7, 11] {
        for kernel in [1, 2, 3] {
            for stride in [1, 2, 3] {
                for dilation in [1, 2] {
                    for padding in [Padding::Zeros([0]), Padding::Zeros([2]), Padding::Same] {
                        let (same_size, span) =
                            (padding == Padding::Same, (kernel - 1) * dilation + 1);
                        let room = if padding == Padding::Zeros([0]) {
                            size
                        } else {
                            size + 4
                        };
                        if (same_size && stride != 1) || span > room {
                            continue;
                        }
                        let options = ConvOptions {
                            stride: [stride],
                            padding,
                            dilation: [dilation],
                            groups: 1,
                        };
                        let inputs = [
                            (leaf(&[2, 3, size], &["N", "C", "H"], 1), Some("H")),
                            (leaf(&[2, 3, kernel], &["Out", "C", "K"], 2), None),
                            (leaf(&[2], &["Out"], 3), None),
                        ];
                        same(
                            &format!("conv1d of {size}, kernel {kernel}, {options:?}"),
                            &inputs,
                            &|x| {
                                Ok(vec![x[0].conv1d_by(
                                    "C",
                                    ["H"],
                                    &x[1],
                                    Some(&x[2]),
                                    options,
                                )?])
                            },
                            &|x| {
                                Ok(vec![x[0].conv1d_with(
                                    "C",
                                    [via()],
                                    &x[1],
                                    Some(&x[2]),
                                    options,
                                )?])
                            },
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn pools_along_one_dim() {
    for size in [1, 3, 4, 7, 11] {
        for kernel in [1, 2, 3, 4] {
            for stride in [None, Some([1]), Some([2]), Some([5])] {
                for padding in [[0], [1], [2]] {
                    for ceil_mode in [false, true] {
                        if padding[0] > kernel / 2 || size + 2 * padding[0] < kernel {
                            continue;
                        }
                        let x = leaf(&[2, size], &["N", "H"], 1);
                        let what = format!(
                            "of {size}, kernel {kernel}, stride {stride:?}, padding {padding:?}, ceil {ceil_mode}"
                        );
                        for dilation in [[1], [2]] {
                            let options = MaxPoolOptions {
                                stride,
                                padding,
                                dilation,
                                ceil_mode,
                            };
                            // A window without elements has no maximum.
                            let span = (kernel - 1) * dilation[0] + 1;
                            if size + 2 * padding[0] < span || (dilation == [2] && size < span) {
                                continue;
                            }
                            same(
                                &format!("max_pool {what}, dilation {dilation:?}"),
                                &[(x.clone(), Some("H"))],
                                &|x| Ok(vec![x[0].max_pool1d_by(["H"], [kernel], options)?]),
                                &|x| Ok(vec![x[0].max_pool1d_with([via()], [kernel], options)?]),
                            );
                        }
                        if ceil_mode {
                            continue;
                        }
                        for count_include_pad in [true, false] {
                            for divisor_override in [None, Some(3)] {
                                let options = AvgPoolOptions {
                                    stride,
                                    padding,
                                    ceil_mode,
                                    count_include_pad,
                                    divisor_override,
                                };
                                same(
                                    &format!(
                                        "avg_pool {what}, {count_include_pad} {divisor_override:?}"
                                    ),
                                    &[(x.clone(), Some("H"))],
                                    &|x| Ok(vec![x[0].avg_pool1d_by(["H"], [kernel], options)?]),
                                    &|x| {
                                        Ok(vec![x[0].avg_pool1d_with(
                                            [via()],
                                            [kernel],
                                            options,
                                        )?])
                                    },
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn two_dims_over_two_axes() {
    mesh! { Grid: Rows, Columns }
    let image = numbers(&[2, 3, 7, 5], &["N", "C", "H", "W"], 1);
    let weight = numbers(&[4, 3, 3, 2], &["Out", "C", "K", "L"], 2);
    let image: Tensor<(N, C, H, W), f64> = Tensor::from_vec(values(&image), [2, 3, 7, 5]).unwrap();
    let weight: Tensor<(Out, C, K, L), f64> =
        Tensor::from_vec(values(&weight), [4, 3, 3, 2]).unwrap();
    let options = ConvOptions {
        padding: Padding::Zeros([1, 1]),
        stride: [2, 1],
        ..default()
    };
    let (own, own_weight) = (image.clone().with_grad(), weight.clone().with_grad());
    let plain = own.conv2d_with(C, (H, W), &own_weight, None, options);
    let pooled = plain.avg_pool2d((H, W), [2, 2]);
    pooled.square().sum(..).backward();
    let expected = [
        pooled.to_vec(),
        own.grad().unwrap().to_vec(),
        own_weight.grad().unwrap().to_vec(),
    ];
    let found = Grid::threads([2, 3], |mesh| {
        let leaf = mesh.whole(image.clone()).with_grad();
        let kernel = mesh.whole(weight.clone()).with_grad();
        let x: Sharded<(N, C, H, W), Grid<Split<H>, Split<W>>, f64> =
            leaf.cut(Rows, H).cut(Columns, W);
        let y: Sharded<(N, Out, H, W), Grid<Split<H>, Split<W>>, f64> =
            x.conv2d_with(C, (H.via(Rows), W.via(Columns)), &kernel, None, options);
        let pooled = y.avg_pool2d((H.via(Rows), W.via(Columns)), [2, 2]);
        assert_eq!((y.size(H), y.size(W)), (4, 6));
        let loss: Sharded<(), Grid<Pending, Pending>, f64> = pooled.square().sum(across(..));
        loss.backward();
        let sum = |x: Sharded<_, Grid<Pending, Pending>, f64>| {
            x.all_reduce(Rows).all_reduce(Columns).to_vec()
        };
        // Split batches and output channels need no exchange.
        let batch: Sharded<(N, C, H, W), Grid<Split<N>, Whole>, f64> = leaf.detach().cut(Rows, N);
        let outs: Sharded<(Out, C, K, L), Grid<Whole, Split<Out>>, f64> =
            kernel.detach().cut(Columns, Out);
        let z: Sharded<(N, Out, H, W), Grid<Split<N>, Split<Out>>, f64> =
            batch.conv2d_with(C, (H, W), &outs, None, options);
        let z = z.all_gather(Rows).all_gather(Columns).to_vec();
        let of_kernel: Sharded<(Out, C, K, L), Grid<Pending, Pending>, f64> =
            kernel.grad().unwrap();
        let of_kernel = of_kernel.all_reduce(Rows).all_reduce(Columns).to_vec();
        Ok((
            pooled.all_gather(Rows).all_gather(Columns).to_vec(),
            sum(leaf.grad().unwrap()),
            of_kernel,
            z,
        ))
    });
    for (values, of_image, of_kernel, split) in found.unwrap() {
        assert_close("conv2d and avg_pool2d", &values, &expected[0]);
        assert_close("gradient of the image", &of_image, &expected[1]);
        assert_close("gradient of the kernel", &of_kernel, &expected[2]);
        assert_close("batches and output channels", &split, &plain.to_vec());
    }
}

#[test]
fn three_dims() {
    let options = ConvOptions {
        padding: Padding::Same,
        ..ConvOptions::default()
    };
    let inputs = [
        (leaf(&[2, 5, 3, 4], &["C", "H", "W", "N"], 1), Some("H")),
        (
            leaf(&[2, 2, 3, 2, 2], &["Out", "C", "K", "L", "M"], 2),
            None,
        ),
    ];
    same(
        "conv3d",
        &inputs,
        &|x| {
            Ok(vec![x[0].conv3d_by(
                "C",
                ["H", "W", "N"],
                &x[1],
                None,
                options,
            )?])
        },
        &|x| {
            let dims = [via(), "W".into(), "N".into()];
            Ok(vec![x[0].conv3d_with("C", dims, &x[1], None, options)?])
        },
    );
}

#[test]
fn differences_and_turns() {
    for size in [0, 1, 2, 5, 9] {
        for n in [0, 1, 2, 4] {
            let options = DiffOptions { n };
            same(
                &format!("diff of {size}, {n} times"),
                &[(leaf(&[2, size], &["N", "H"], 1), Some("H"))],
                &|x| Ok(vec![x[0].diff_with("H", options)?]),
                &|x| Ok(vec![x[0].diff_with(via(), options)?]),
            );
        }
        for shift in [0, 1, -1, 3, 17, -40] {
            same(
                &format!("roll of {size} by {shift}"),
                &[(leaf(&[2, size], &["N", "H"], 1), Some("H"))],
                &|x| Ok(vec![x[0].roll(&[shift], "H")?]),
                &|x| Ok(vec![x[0].roll(shift, via())?]),
            );
        }
    }
}

#[test]
fn a_stencil_sees_its_neighbours() {
    for size in [1, 2, 5, 9] {
        let x: Vec<f64> = values(&numbers(&[size], &["H"], 1));
        let at = |i: isize| {
            if (0..size as isize).contains(&i) {
                x[i as usize]
            } else {
                -1.0
            }
        };
        let expected: Vec<f64> = (0..size as isize)
            .map(|i| at(i - 2) + 2.0 * at(i) - at(i + 3))
            .collect();
        for ranks in 1..=4 {
            let found = Line::threads([ranks], |mesh| {
                let x: Tensor<(H,), f64> = Tensor::from_vec(x.clone(), [size])?;
                let x: Sharded<(H,), Line<Split<H>>, f64> = mesh.whole(x).cut(Data, H);
                let y = x.with_halo(H.via(Data), [2, 3], -1.0, |x| {
                    let n = x.size(H) - 5;
                    let middle = x.try_narrow(H, 2..2 + n)?.try_mul(2.0)?;
                    x.try_narrow(H, 0..n)?
                        .try_add(&middle)?
                        .try_sub(&x.try_narrow(H, 5..)?)
                });
                let error = x.try_with_halo(H.via(Data), [1, 1], 0.0, |x| Ok(x.clone()));
                assert_eq!(
                    error.err().map(|error| error.kind()),
                    Some(ErrorKind::Shape)
                );
                Ok(y.all_gather(Data).to_vec())
            });
            for own in found.unwrap() {
                assert_close("a stencil", &own, &expected);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let failed = |step: fn(&nomina_mesh::DynSharded) -> Result<nomina_mesh::DynSharded>| {
        let error = Line::threads([2], |mesh| {
            let x = mesh
                .whole_dyn(numbers(&[2, 3], &["N", "H"], 0))
                .cut("Data", "H")?;
            step(&x).map(drop)
        });
        error.unwrap_err()
    };
    let error = failed(|x| x.max_pool1d_with([via()], [4], MaxPoolOptions::default()));
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
    let error = failed(|x| x.max_pool1d_with([via()], [0], MaxPoolOptions::default()));
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    let error = failed(|x| {
        x.avg_pool1d_with(
            [via()],
            [2],
            AvgPoolOptions {
                ceil_mode: true,
                ..default()
            },
        )
    });
    assert!(error.to_string().contains("ceil_mode"), "{error}");
    let error = failed(|x| x.avg_pool1d_with(["H".into()], [2], AvgPoolOptions::default()));
    assert!(error.to_string().contains("`H.via(Data)`"), "{error}");
    let error = failed(|x| x.diff_with(via(), DiffOptions { n: -1 }));
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

#[test]
fn nothing_but_the_halo_is_sent() {
    const RANKS: usize = 4;
    let found = sent(RANKS, |mesh, measure| {
        let x = numbers(&[5, 16], &["C", "H"], 0).with_grad()?;
        let x = mesh.whole_dyn(x).cut("Data", "H")?;
        let weight = mesh.whole_dyn(numbers(&[2, 5, 3], &["Out", "C", "K"], 1));
        let options = ConvOptions {
            padding: Padding::Same,
            ..ConvOptions::default()
        };
        let conv = || x.conv1d_with("C", [via()], &weight, None, options);
        let y = conv()?;
        Ok(vec![
            measure(&|| conv().map(drop))?,
            measure(&|| y.local().sum(..)?.backward())?,
            measure(&|| x.roll(3, via()).map(drop))?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        // One row to each neighbour, and its gradient back.
        let neighbours = if rank == 0 || rank == 3 { 1 } else { 2 };
        let halo = 5 * 8 * neighbours + checks(rank, RANKS, 1);
        assert_eq!(sent, [halo, halo, 3 * 5 * 8 + checks(rank, RANKS, 1)]);
    }
}

#[test]
fn plans_count_the_halo() {
    mesh! { Far: Rows }
    let mesh = Far::simulate([8], 2e-6, 25e9).unwrap();
    let plan = mesh.plan(|| {
        let x: Sharded<(C, H), Far<Split<H>>> = mesh.zeros([4, 80])?;
        let weight: Sharded<(Out, C, K), Far<Whole>> = mesh.zeros([2, 4, 5])?;
        let options = ConvOptions {
            padding: Padding::Same,
            ..default()
        };
        let y = x.try_conv1d_with(C, H.via(Rows), &weight, None, options)?;
        let sorted = y.try_sort(H.via(Rows))?.0;
        let (most, _) = sorted.try_max(H.via(Rows))?;
        most.try_add(1.0).map(drop)
    });
    let plan = plan.unwrap();
    let found: Vec<(&str, u64, u64)> = plan
        .collectives()
        .iter()
        .map(|one| (one.op, one.count, one.bytes))
        .collect();
    // Two columns of four rows to the only neighbour; six steps with blocks of ten, of values and of indices.
    assert_eq!(found[0], ("conv1d", 1, 4 * 2 * 4));
    assert_eq!((found[1].0, found[1].1), ("sort", 12));
    assert_eq!((found[2].0, found[2].1), ("max", 2));
    assert!(plan.seconds() > 0.0);
}

#[test]
fn windows_of_elements() {
    for size in [1, 3, 4, 7, 11] {
        for span in [1, 2, 3, 5] {
            for step in [1, 2, 4] {
                if span > size {
                    continue;
                }
                same(
                    &format!("unfold of {size} by {span}, step {step}"),
                    &[(leaf(&[2, size, 3], &["N", "H", "C"], 1), Some("H"))],
                    &|x| Ok(vec![x[0].unfold("H", span, step, "K")?]),
                    &|x| Ok(vec![x[0].unfold(via(), span, step, Some("K"))?]),
                );
            }
        }
    }
    let error = Line::threads([2], |mesh| {
        let x = mesh.whole(tensor!([1., 2., 3., 5., 8.]; H));
        let x: Sharded<(H,), Line<Split<H>>> = x.cut(Data, H);
        let windows: Sharded<(H, K), Line<Split<H>>> = x.unfold(H.via(Data), 3, 2, K);
        assert_eq!(windows.shape(), [2, 3]);
        assert_eq!(windows.sum(K).all_gather(Data).to_vec(), [6.0, 16.0]);
        let error = x.try_unfold(H.via(Data), 2, 0, K).unwrap_err();
        assert!(error.to_string().contains("stride 0"), "{error}");
        x.try_unfold(H.via(Data), 6, 1, K).map(drop)
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn gradients_of_a_stencil_go_to_its_neighbours() {
    for size in [1, 2, 5, 9] {
        let weights = values(&numbers(&[size], &["H"], 4));
        let at = |i: isize| match usize::try_from(i) {
            Ok(i) if i < size => weights[i],
            _ => 0.0,
        };
        // The sum of y[i] = x[i - 2] - 3 x[i] x[i + 1], padded with -1.
        let x = values(&numbers(&[size], &["H"], 1));
        let of = |i: isize| match usize::try_from(i) {
            Ok(i) if i < size => x[i],
            _ => -1.0,
        };
        let expected: Vec<f64> = (0..size as isize)
            .map(|i| at(i + 2) - 3.0 * at(i) * of(i + 1) - 3.0 * at(i - 1) * of(i - 1))
            .collect();
        for ranks in 1..=4 {
            let found = Line::threads([ranks], |mesh| {
                let of = |all: &[f64]| Ok(mesh.whole(Tensor::from_vec(all.to_vec(), [size])?));
                let leaf: Sharded<(H,), Line<Whole>, f64> = of(&x)?.with_grad();
                let weights: Sharded<(H,), Line<Split<H>>, f64> = of(&weights)?.cut(Data, H);
                let y = leaf.cut(Data, H).with_halo(H.via(Data), [2, 1], -1.0, |x| {
                    let n = x.size(H) - 3;
                    let product = x.try_narrow(H, 2..2 + n)? * x.try_narrow(H, 3..)? * 3.0;
                    x.try_narrow(H, 0..n)?.try_sub(&product)
                });
                let loss: Sharded<(), Line<Pending>, f64> = (y * weights).sum(across(H));
                loss.backward();
                // Ranks without elements take part: all have a gradient.
                Ok(leaf.grad().unwrap().all_reduce(Data).to_vec())
            });
            for own in found.unwrap() {
                let what = format!("gradient of a stencil of {size} on {ranks} ranks");
                assert_close(&what, &own, &expected);
            }
        }
    }
}

#[test]
fn ranks_without_results_take_part_in_the_sum_of_the_weight() {
    let found = Line::threads([4], |mesh| {
        let x = mesh.whole(Tensor::<(C, H)>::ones([1, 4])).cut(Data, H);
        let weight = mesh.parameter(Tensor::<(Out, C, K)>::ones([1, 1, 3]))?;
        let options = ConvOptions::default();
        // Two results, on four ranks.
        let y = x.conv1d_with(C, H.via(Data), &weight.whole(Data), None, options);
        y.sum(across(..)).backward();
        Ok(weight.grad().unwrap().to_vec())
    });
    assert_eq!(found.unwrap(), [[2.0; 3]; 4]);
}
