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
