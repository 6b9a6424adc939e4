//! Masks, conversions and moments of two tensors on a mesh of 2 by 2 threads, with uneven sizes: every result equals that
//! of one process.

use nomina_mesh::prelude::*;

dims! { N, C, K }
mesh! { Grid: Data, Model }
layout! { Rows on Grid: N => Data, C => Model }
type On<D, T = f32> = Sharded<D, Place<Rows, D>, T>;

fn numbers() -> Tensor<(N, C, K)> {
    let x = Tensor::from_fn([3, 5, 4], |at| (at[0] * 20 + at[1] * 4 + at[2]) as f32);
    (x * 0.7).sin()
}

/// Runs `f` on four threads with a tensor that is split along `N` and `C`, and compares what all ranks gather with `want`.
#[track_caller]
fn check<D: Dims + Distinct, T: Element + PartialEq + std::fmt::Debug>(
    want: &Tensor<D, T>,
    f: impl Fn(&On<(N, C, K)>, &Mesh<Grid<Whole, Whole>>) -> Result<Vec<T>> + Sync,
) {
    let run = |mesh: Mesh<Grid<Whole, Whole>>| {
        let x: On<(N, C, K)> = mesh.whole(numbers()).cut(Data, N).cut(Model, C);
        f(&x, &mesh)
    };
    for found in Grid::threads([2, 2], run).unwrap() {
        assert_eq!(found, want.to_vec());
    }
}

macro_rules! gathered {
    ($x:expr) => {
        Ok($x.all_gather(Model).all_gather(Data).to_vec())
    };
}

#[test]
fn masks_combine_by_operators() {
    let x = numbers();
    let mild = (x.gt(-0.5) & x.lt(0.5)) | !x.le(0.9) ^ x.gt(2.0);
    check(&mild, |x, _| {
        let mut found: On<(N, C, K), bool> = (x.gt(-0.5) & x.lt(0.5)) | !x.le(0.9) ^ x.gt(2.0);
        found &= true;
        found |= &x.gt(5.0);
        found ^= x.gt(5.0);
        gathered!(found)
    });
    check(&(x.gt(0.0).to::<u8>() & 1_u8), |x, _| {
        gathered!(x.gt(0.0).to::<u8>() & 1_u8)
    });
}

#[test]
fn values_are_selected_by_masks() {
    let x = numbers();
    check(&x.gt(0.0).where_cond(&x, -1.0), |x, _| {
        gathered!(x.gt(0.0).where_cond(x, -1.0))
    });
    check(&x.gt(0.0).where_cond(&x, &x * 2.0), |x, _| {
        gathered!(x.gt(0.0).where_cond(x, x * 2.0))
    });
    let mask = tensor!([true, false, true, false]; K);
    check(&x.masked_fill(&mask, 7.0), |x, mesh| {
        let mask = mesh.whole(tensor!([true, false, true, false]; K));
        gathered!(x.masked_fill(&mask, 7.0))
    });
    check(&x.clamp(-0.25, 0.5), |x, _| gathered!(x.clamp(-0.25, 0.5)));
    check(&(x.sqrt()).nan_to_num(), |x, _| {
        gathered!(x.sqrt().nan_to_num())
    });
    check(&x.flip(K), |x, _| gathered!(x.flip(K)));
    check(&x.narrow(K, ..1).squeeze(K), |x, _| {
        gathered!(x.narrow(K, ..1).squeeze(K))
    });
}

#[test]
fn moments_are_those_of_one_process() {
    let x = numbers();
    let index = tensor!([1., -2., 0.5, 3.]; K);
    let with_gap = index.masked_fill(&index.lt(0.0), f32::NAN);
    macro_rules! each {
        ($($method:ident)*) => {$(
            for other in [&index, &with_gap] {
                let want = x.$method(other, K).nan_to_num();
                check(&want, |x, mesh| {
                    let other = mesh.whole(other.clone());
                    gathered!(x.$method(&other, K).nan_to_num())
                });
            }
        )*};
    }
    each! { corr nancorr covar nancovar weighted_mean weighted_nanmean }
    // Weights that are split like the tensor, in another order of dims.
    let weights = (&x + 2.0).align_to((K, C, N));
    check(&x.weighted_mean(&weights, K), |x, _| {
        let weights = (x + 2.0).align_to((K, C, N));
        gathered!(x.weighted_mean(&weights, K))
    });
}

#[test]
fn operands_of_other_sizes_are_refused() {
    let run = |mesh: Mesh<Grid<Whole, Whole>>| {
        let x: On<(N, C, K)> = mesh.whole(numbers()).cut(Data, N).cut(Model, C);
        let rows: On<(N, C, K), bool> = mesh
            .whole(numbers().narrow(N, ..2).gt(0.0))
            .cut(Data, N)
            .cut(Model, C);
        let texts = [
            x.gt(0.0).try_bitwise_and(&rows).err(),
            x.try_masked_fill(&rows, 1.0).err(),
            rows.try_where_cond(&x, 0.0).err(),
        ];
        Ok(texts.map(|error| error.map(|error| error.to_string())))
    };
    for texts in Grid::threads([2, 2], run).unwrap() {
        assert!(texts.iter().all(Option::is_some), "{texts:?}");
    }
}

/// The operators by name give what the typed ones give, and refuse what they refuse.
#[test]
fn operators_by_name_are_the_typed_ones() {
    use nomina_mesh::{DynSharded, Over};
    let run = |mesh: Mesh<Grid<Whole, Whole>>| {
        let typed: On<(N, C, K)> = mesh.whole(numbers()).cut(Data, N).cut(Model, C);
        let x = typed.to_dyn();
        let same = |what: &str, found: Result<DynSharded>, want: DynSharded| -> Result<()> {
            let found = found?;
            assert_eq!(found.names(), want.names(), "{what}");
            assert_eq!(found.places(), want.places(), "{what}");
            assert_eq!(found.shape(), want.shape(), "{what}");
            let values = |x: &DynTensor| x.to_dtype(DType::F64)?.to_vec::<f64>();
            let (found, want) = (values(found.local())?, values(want.local())?);
            let near = |(x, y): (&f64, &f64)| {
                (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-6 * (1.0 + y.abs())
            };
            let same = found.len() == want.len() && found.iter().zip(&want).all(near);
            assert!(same, "{what}: {found:?} instead of {want:?}");
            Ok(())
        };
        let row = mesh.whole(tensor!([1., -2., 0.5, 3.]; K));
        let mask = mesh.whole(tensor!([true, false, true, false]; K));
        let by = row.to_dyn();
        same("+", (&x + &by)?.sub(1.0), (&typed + &row - 1.0).to_dyn())?;
        same(
            "* /",
            (2.0 * &x)? / (&by * &by)?,
            (&typed * 2.0 / (&row * &row)).to_dyn(),
        )?;
        same("1 - x", 1.0 - &x, (-(&typed - 1.0)).to_dyn())?;
        same("%", &x % 0.25, (&typed % 0.25).to_dyn())?;
        let mild = ((x.gt(-0.5)? & x.lt(0.5)?)? | ((!x.le(0.9)?)? ^ x.gt(2.0)?)?)?;
        let want = (typed.gt(-0.5) & typed.lt(0.5)) | (!typed.le(0.9) ^ typed.gt(2.0));
        same("masks", Ok(mild), want.to_dyn())?;
        same(
            "where",
            x.gt(0.0)?.where_cond(&x, &(&x * 2.0)?),
            typed.gt(0.0).where_cond(&typed, &typed * 2.0).to_dyn(),
        )?;
        same(
            "where, number",
            x.gt(0.0)?.where_cond(&x, -1.0),
            typed.gt(0.0).where_cond(&typed, -1.0).to_dyn(),
        )?;
        same(
            "masked_fill",
            x.masked_fill(&mask.to_dyn(), 7.0),
            typed.masked_fill(&mask, 7.0).to_dyn(),
        )?;
        same(
            "clamp",
            x.clamp(-0.25, 0.5),
            typed.clamp(-0.25, 0.5).to_dyn(),
        )?;
        same("to", x.to_dtype(DType::F64), typed.to::<f64>().to_dyn())?;
        same("gelu", x.gelu(), typed.gelu().to_dyn())?;
        same(
            "leaky_relu",
            x.leaky_relu_with(nomina::LeakyReluOptions {
                negative_slope: 0.3,
            }),
            typed
                .leaky_relu_with(nomina::LeakyReluOptions {
                    negative_slope: 0.3,
                })
                .to_dyn(),
        )?;
        same("flip", x.flip("K"), typed.flip(K).to_dyn())?;
        same(
            "narrow, squeeze",
            x.narrow("K", 1, 1)?.squeeze("K"),
            typed.narrow(K, 1..2).squeeze(K).to_dyn(),
        )?;
        same("select", x.select("K", -1), typed.select(K, -1).to_dyn())?;
        same(
            "transpose",
            x.transpose("N", "K"),
            typed.transpose(N, K).to_dyn(),
        )?;
        same(
            "align_to",
            x.align_to(["K", "N", "C"]),
            typed.align_to((K, N, C)).to_dyn(),
        )?;
        same("align_as", by.align_as(&x), row.align_as(&typed).to_dyn())?;
        same("mean", x.mean("K"), typed.mean(K).to_dyn())?;
        same(
            "mean across",
            x.mean(Over::across(["N", "C"])),
            typed.mean(across((N, C))).to_dyn(),
        )?;
        macro_rules! moments {
            ($($method:ident)*) => {$(
                same(stringify!($method), x.$method(&by, "K"), typed.$method(&row, K).to_dyn())?;
            )*};
        }
        moments! { corr nancorr covar nancovar weighted_mean weighted_nanmean }
        let renamed = x.rename_dim("N", "Row")?;
        assert_eq!(renamed.shape(), x.shape());
        let gathered = renamed.all_gather("Model")?.all_gather("Data")?;
        assert_eq!(gathered.local().shape(), [3, 5, 4]);
        assert_eq!(gathered.names().to_string(), "(Row, C, K)");
        let refused = [
            x.mean("N"),
            x.select("N", 0),
            x.corr(&x, "C"),
            x.corr(&x, Over::across(["K"])),
            x.flip("N"),
            x.sum(Over::across(["N"]))? + 1.0,
            1.0 / x.sum(Over::across(["N"]))?,
            x.sum(Over::across(["N"]))?.clamp(0.0, 1.0),
            x.masked_fill(
                &mesh.whole(Tensor::<(N,)>::zeros([3]).gt(0.0)).to_dyn(),
                1.0,
            ),
        ];
        for result in refused {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Mesh);
        }
        same(
            "2 * pending",
            2.0 * x.sum(Over::across(["N"]))?,
            (typed.sum(across(N)) * 2.0).to_dyn(),
        )?;
        Ok(())
    };
    Grid::threads([2, 2], run).unwrap();
}
