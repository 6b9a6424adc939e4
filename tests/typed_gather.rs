//! Typed indexing: the dims and elements of the results.

use nomina::prelude::*;

dims! { N, C, H, K, J, T, V, Features }
dims! { Classes = 4 }

fn x() -> Tensor<(N, C), i64> {
    tensor!([[1, 2, 3], [4, 5, 6]]; N, C)
}

#[test]
fn index_tensors_take_the_dims_place() {
    let picked: Tensor<(N, K), i64> = x().index_select(C, &tensor!([2, 0, -1]; K));
    assert_eq!(picked.to_vec(), [3, 1, 3, 6, 4, 6]);
    let same: Tensor<(N, C), i64> = x().index_select(C, &tensor!([1]; C; i32));
    assert_eq!(same.to_vec(), [2, 5]);
    let two: Tensor<(K, J, C), i64> = x().index_select(N, &tensor!([[1, 0], [0, 0]]; K, J));
    assert_eq!(two.to_vec(), [4, 5, 6, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    let kept: Tensor<(N, C), i64> = x().index_select(C, &tensor!(1; ));
    assert_eq!(kept.shape(), [2, 1]);
    let unnamed = tensor!([0]; K).drop_names();
    let wild: Tensor<(N, Wild), i64> = x().index_select(C, &unnamed);
    assert_eq!(wild.names(), names!["N", "C"]);
    let mut out = Tensor::<(N, K)>::zeros([2, 1]);
    x().index_select_out(C, &tensor!([2]; K), &mut out);
    assert_eq!(out.to_vec(), [3.0, 6.0]);
}

#[test]
fn gather_and_its_kin() {
    let at = tensor!([[2, 0], [1, 1]]; N, C);
    assert_eq!(x().gather(C, &at).to_vec(), [3, 1, 5, 5]);
    assert_eq!(
        x().take_along_dim(&tensor!([[2]]; N, C), C).to_vec(),
        [3, 6]
    );
    let taken: Tensor<(K,), i64> = x().take(&tensor!([5, -6]; K));
    assert_eq!(taken.to_vec(), [6, 1]);
    let filled = x().scatter(C, &at, 0);
    assert_eq!(filled.to_vec(), [0, 2, 0, 4, 0, 6]);
    let mut y = x();
    y.scatter_(C, &at, tensor!([[10, 20], [30, 40]]; N, C))
        .scatter_add_(N, &tensor!([[1, 1, 1]]; N, C), &tensor!([[1, 1, 1]]; N, C));
    assert_eq!(y.to_vec(), [20, 2, 10, 5, 41, 7]);
    let doubled = x().scatter_with(
        C,
        &at,
        2,
        ScatterOptions {
            reduce: Some(ScatterReduce::Prod),
        },
    );
    assert_eq!(doubled.to_vec(), [2, 2, 6, 4, 20, 6]);
    let least = x().scatter_reduce(
        C,
        &at,
        &tensor!([[0, 9], [9, 7]]; N, C),
        ScatterReduce::Amin,
    );
    assert_eq!(least.to_vec(), [1, 2, 0, 4, 5, 6]);
    let means = x().scatter_reduce_with(
        C,
        &at,
        &tensor!([[0, 9], [9, 8]]; N, C),
        ScatterReduce::Mean,
        ScatterReduceOptions {
            include_self: false,
        },
    );
    assert_eq!(means.to_vec(), [9, 2, 0, 4, 8, 6]);
}

#[test]
fn slices_at_indices() {
    let rows: Tensor<(K, C), i64> = tensor!([[1, 1, 1], [2, 2, 2]]; K, C);
    let ids = tensor!([1, 1]; K);
    assert_eq!(x().index_add(N, &ids, &rows).to_vec(), [1, 2, 3, 7, 8, 9]);
    assert_eq!(x().index_copy(N, &ids, &rows).to_vec(), [1, 2, 3, 2, 2, 2]);
    let most = x().index_reduce(N, &ids, &(&rows * 3), ScatterReduce::Amax);
    assert_eq!(most.to_vec(), [1, 2, 3, 6, 6, 6]);
    let mut y = x();
    y.index_add_with_(N, &ids, &rows, IndexAddOptions { alpha: 10.into() });
    assert_eq!(y.to_vec(), [1, 2, 3, 34, 35, 36]);
    y.index_fill_(C, &tensor!([0, -1]; C), 7);
    assert_eq!(y.to_vec(), [7, 2, 7, 7, 35, 7]);
    // A clone is not affected by writes.
    let z = y.clone();
    y.index_copy_(N, &tensor!([0]; N), &tensor!([[0, 0, 0]]; N, C));
    assert_eq!(
        (y.to_vec()[..3].to_vec(), z.to_vec()[..3].to_vec()),
        (vec![0, 0, 0], vec![7, 2, 7])
    );
}

#[test]
fn rows_of_a_weight_and_classes() {
    let weight: Tensor<(Features, V)> = tensor!([[1., 2., 3.], [4., 5., 6.]]; Features, V);
    let ids = tensor!([[2, 0]]; N, T);
    let tokens: Tensor<(N, T, Features)> = weight.embedding(V, &ids);
    assert_eq!(tokens.to_vec(), [3.0, 6.0, 1.0, 4.0]);
    let hot: Tensor<(N, T, Classes), i64> = ids.one_hot(Classes);
    assert_eq!(hot.to_vec(), [0, 0, 1, 0, 1, 0, 0, 0]);
    let hot: Tensor<(N, T, K), i64> = ids.one_hot(K.of(3));
    assert_eq!(hot.shape(), [1, 2, 3]);
    let error = ids.try_one_hot(K.of(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    let parts: Vec<Tensor<(K,), i64>> = tensor!([5, 0]; K).unravel_index(&[2, 3]);
    assert_eq!(
        (parts[0].to_vec(), parts[1].to_vec()),
        (vec![1, 0], vec![2, 0])
    );
    let places: Tensor<(N, K), i64> = x().gt(4).nonzero().refine_names((N, K));
    assert_eq!(places.to_vec(), [1, 1, 1, 2]);
}

#[test]
fn parts_replaced() {
    let mask = tensor!([true, false, true]; C);
    let source = tensor!([10, 20, 30, 40, 50]; K);
    assert_eq!(
        x().masked_scatter(&mask, &source).to_vec(),
        [10, 2, 20, 30, 5, 40]
    );
    assert_eq!(
        x().put(&tensor!([0, -1]; K), &tensor!([7, 8]; K)).to_vec(),
        [7, 2, 3, 4, 5, 8]
    );
    assert_eq!(
        x().select_scatter(&tensor!([0, 0]; N), C, 1).to_vec(),
        [1, 0, 3, 4, 0, 6]
    );
    assert_eq!(
        x().slice_scatter(&tensor!([[0, 0, 0]]; N, C), N.i(1..))
            .to_vec(),
        [1, 2, 3, 0, 0, 0]
    );
    assert_eq!(
        x().diagonal_scatter(&tensor!([0, 0]; K), 1, N, C).to_vec(),
        [1, 0, 3, 4, 5, 0]
    );
}

#[test]
fn indexing_by_name() {
    let x = Tensor::<(N, C, H), i64>::from_vec((0..24).collect(), [2, 3, 4]).unwrap();
    let one: Tensor<(), i64> = x.at((H.i(3), N.i(1), C.i(-1)));
    assert_eq!(one.item(), 23);
    let rows: Tensor<(C, H), i64> = x.at((N.i(0_usize),));
    assert_eq!(rows.shape(), [3, 4]);
    let part: Tensor<(N, H), i64> = x.at((H.i(..).step(3), C.i(1)));
    assert_eq!(part.to_vec(), [4, 7, 16, 19]);
    let part: Tensor<(C, H), i64> = x.at((N.i(0), H.i(-3..-1), C.i(1..=2)));
    assert_eq!(part.to_vec(), [5, 6, 9, 10]);
    let all: Tensor<(N, C, H), i64> = x.at(());
    assert_eq!(all.to_vec(), x.to_vec());
    let ids = tensor!([2, 0]; K);
    let picked: Tensor<(K, H), i64> = x.at((N.i(1), C.i(&ids), H.i(..1)));
    assert_eq!(picked.to_vec(), [20, 12]);
    let both: Tensor<(N, K, J), i64> = x.at((H.i(&tensor!([3]; J)), C.i(&ids)));
    assert_eq!(both.to_vec(), [11, 3, 23, 15]);
    let scalar: Tensor<(N, H), i64> = x.at((C.i(&tensor!(1; )),));
    assert_eq!(scalar.shape(), [2, 4]);
    let mask = tensor!([true, false, true]; C);
    let held: Tensor<(C, H), i64> = x.at((N.i(0), C.i(&mask), H.i(0..1)));
    assert_eq!(held.to_vec(), [0, 8]);
    assert_eq!(x.get((H.i(-1), N.i(1), C.i(0))), Some(15));
    assert_eq!(x.get((H.i(-5), N.i(1), C.i(0))), None);
}

#[test]
fn several_indices_at_once() {
    let x = Tensor::<(N, C, H), i64>::from_vec((0..24).collect(), [2, 3, 4]).unwrap();
    let (a, b) = (tensor!([1, 0]; K), tensor!([[2], [0], [1]]; J, K));
    let both: Tensor<(J, K, H), i64> = x.index((N.i(&a), C.i(&b)));
    assert_eq!(both.select(H, 0).to_vec(), [20, 8, 12, 0, 16, 4]);
    let apart: Tensor<(C, K), i64> = x.index((H.i(&a), N.i(&tensor!([0, 1]; K))));
    assert_eq!(apart.to_vec(), [1, 12, 5, 16, 9, 20]);
    let apart: Tensor<(K, C), i64> = x.index((N.i(&tensor!([0, 1]; K)), H.i(&a)));
    assert_eq!(apart.to_vec(), [1, 5, 9, 12, 16, 20]);
    let one: Tensor<(N, J, K, H), i64> = x.index((C.i(&b),));
    assert_eq!(one.shape(), [2, 3, 1, 4]);

    let indices = || (H.i(&a), N.i(&a));
    let put = x.index_put(indices(), &tensor!([[-1], [-2], [-3]]; C, K));
    let back: Tensor<(C, K), i64> = put.index(indices());
    assert_eq!(back.to_vec(), [-1, -1, -2, -2, -3, -3]);
    let mut y = tensor!([[1, 2, 3], [4, 5, 6]]; N, C);
    let twice = (tensor!([1, 1]; K), tensor!([0, 0]; K));
    let options = IndexPutOptions { accumulate: true };
    y.index_put_with_(
        (N.i(&twice.0), C.i(&twice.1)),
        &tensor!([10, 20]; K),
        options,
    );
    assert_eq!(y.to_vec(), [1, 2, 3, 34, 5, 6]);
    y.index_put_((C.i(&tensor!([1]; K)),), &tensor!([[7], [8]]; N, K));
    assert_eq!(y.to_vec(), [1, 7, 3, 34, 8, 6]);
    let wrong = y.try_index((N.i(&tensor!([2]; K)),)).unwrap_err();
    assert!(
        wrong
            .to_string()
            .contains("index 2 is out of range for size 2 at dim `N`"),
        "{wrong}"
    );
}

#[test]
fn what_is_out_of_range_says_so() {
    let error = x().try_at((C.i(3), N.i(0))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    assert!(
        error
            .to_string()
            .contains("index 3 is out of range for size 3 at dim `C`"),
        "{error}"
    );
    let error = x().try_at((C.i(1..4),)).unwrap_err();
    assert!(
        error.to_string().contains("index 4 of the range"),
        "{error}"
    );
    assert_eq!(
        x().try_at((C.i(..).step(0),)).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let error = x().try_index_select(C, &tensor!([0, 7]; K)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("index_select: index 7 is out of range for size 3 at dim `C`"),
        "{text}"
    );
    assert!(
        text.contains("(N=2, C=3) and (K=2,)") && text.contains("from -3 to 2"),
        "{text}"
    );
    let mut y = x();
    let wrong = tensor!([[0, 3, 1]]; N, C);
    assert!(y.try_scatter_(C, &wrong, 9).is_err());
    assert!(y.try_index_fill_(C, &tensor!([0, 3]; K), 9).is_err());
    assert!(
        y.try_index_add_(N, &tensor!([2]; K), &tensor!([[9, 9, 9]]; K, C))
            .is_err()
    );
    assert_eq!(y.to_vec(), x().to_vec());
}

#[test]
fn parts_to_write_to() {
    let mut x = Tensor::<(N, C)>::zeros_with::<i64>([2, 3]);
    x.at_mut((C.i(1..), N.i(-1)))
        .fill_(5)
        .add_(tensor!([1, 2]; C));
    x.at_mut((C.i(..).step(2),)).at_mut((N.i(0),)).fill_(9);
    assert_eq!(x.to_vec(), [9, 0, 9, 0, 6, 7]);
    x.diagonal_mut_with(N, C, K, DiagonalOptions { offset: 1 })
        .copy_(&tensor!([1, 2]; K));
    assert_eq!(x.to_vec(), [9, 1, 9, 0, 6, 2]);
    assert!(x.try_at_mut((C.i(3),)).is_err());
}

#[test]
fn names_that_only_the_run_time_knows() {
    let x: Tensor<(Wild, C), i64> = x().into_dyn().typed().unwrap();
    let clash = x.try_index_select(C, &tensor!([0]; N)).unwrap_err();
    assert_eq!(clash.kind(), ErrorKind::DuplicateNames);
    let picked: Tensor<(Wild, K), i64> = x.at((C.i(&tensor!([0]; K)),));
    assert_eq!(picked.names(), names!["N", "K"]);
}

fn pick<D, E>(x: &Tensor<D>, ids: &Tensor<E, i64>) -> Tensor<Selected<D, C, E>>
where
    D: Dims + Has<C>,
    E: Dims + IndexOf<D, C>,
{
    x.index_select(C, ids)
}

#[test]
fn generic_code_needs_one_bound() {
    let x = Tensor::<(C, H)>::ones([3, 2]);
    let picked: Tensor<(K, H)> = pick(&x, &tensor!([0, 1]; K));
    assert_eq!(picked.shape(), [2, 2]);
}
