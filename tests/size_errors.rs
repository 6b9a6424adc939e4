//! A dim has one size in an expression: if two operands disagree, the error names the operator, the
//! dim and both sizes, and shows the operands. Typed calls give the errors of dynamic ones,
//! although their kernels never see a name.

#[path = "size_errors/told.rs"]
mod told;

use nomina::prelude::*;
use nomina_core::rule::DimRef;
use nomina_runtime::tensor::Operand;
use told::{Told, dyns};

dims! { N, C, H, W, K, M, Out }

/// Returns a tensor of ones.
#[track_caller]
fn ones<D: Dims + Distinct, const R: usize>(shape: [usize; R]) -> Tensor<D>
where
    [usize; R]: ShapeFor<D>,
{
    Tensor::<D>::ones(shape)
}

#[track_caller]
fn mask<D: Dims + Distinct, const R: usize>(shape: [usize; R]) -> Tensor<D, bool>
where
    [usize; R]: ShapeFor<D>,
{
    ones::<D, R>(shape).gt(0.0)
}

#[track_caller]
fn ids<D: Dims + Distinct, const R: usize>(shape: [usize; R]) -> Tensor<D, i64>
where
    [usize; R]: ShapeFor<D>,
{
    ones::<D, R>(shape).long()
}

/// Checks a typed call on operands that disagree, and the equivalent dynamic call: the arguments
/// are the operator, the dims and sizes that the error must name, and both calls.
macro_rules! clash {
    ($told:ident, $op:literal, $a:ident = $m:literal, $b:ident = $n:literal,
     $typed:expr, $dynamic:expr $(,)?) => {
        $told.check(
            $op,
            [(stringify!($a), $m), (stringify!($b), $n)],
            $typed.map(drop),
            $dynamic.map(drop),
        )
    };
}

#[test]
fn elementwise_operands() {
    let mut told = Told::default();
    let x = ones::<(N, C), 2>([2, 3]);
    let (y, z) = (ones::<(C,), 1>([4]), ones::<(N, C), 2>([5, 3]));
    let (b, m) = (mask::<(C,), 1>([4]), mask::<(N, C), 2>([2, 3]));
    let (dx, dy, dz, db, dm) = dyns!(x, y, z, b, m);
    clash! { told, "add", C = 3, C = 4, x.try_add(&y), dx.add(&dy) }
    clash! { told, "add", C = 4, C = 3, y.try_add(&x), dy.add(&dx) }
    clash! { told, "sub", N = 2, N = 5, x.try_sub(&z), dx.sub(&dz) }
    clash! { told, "lt", C = 3, C = 4, x.try_lt(&y), dx.lt(&dy) }
    clash! { told, "pow", C = 3, C = 4, x.try_pow(&y), dx.pow(&dy) }
    clash! { told, "atan2", C = 3, C = 4, x.try_atan2(&y), dx.atan2(&dy) }
    clash! { told, "where", C = 3, C = 4, m.try_where_cond(&x, &y), dm.where_cond(&dx, &dy) }
    clash! { told, "where", C = 4, C = 3, b.try_where_cond(&x, &x), db.where_cond(&dx, &dx) }
    clash! { told, "addcmul", C = 3, C = 4, x.try_addcmul(&x, &y), dx.addcmul(&dx, &dy) }
    clash! { told, "addcmul", C = 4, C = 3, y.try_addcmul(&x, 2.0), dy.addcmul(&dx, 2.0) }
    clash! { told, "addcdiv", N = 2, N = 5, x.try_addcdiv(&z, &x), dx.addcdiv(&dz, &dx) }
    clash! { told, "lerp", C = 3, C = 4, x.try_lerp(&x, &y), dx.lerp(&dx, &dy) }
    clash! { told, "clamp", C = 3, C = 4,
    x.try_clamp(&x, &y), dx.clamp(Operand::from(&dx), Operand::from(&dy)) }
    clash! { told, "isclose", C = 3, C = 4, x.try_isclose(&y), dx.isclose(&dy) }
    clash! { told, "complex", C = 3, C = 4, x.try_complex(&y), DynTensor::complex(&dx, &dy) }
    clash! { told, "polar", C = 3, C = 4, x.try_polar(&y), DynTensor::polar(&dx, &dy) }
    clash! { told, "masked_fill", C = 3, C = 4,
    x.try_masked_fill(&b, 0.0), dx.masked_fill(&db, 0.0) }
    clash! { told, "masked_select", C = 3, C = 4, x.try_masked_select(&b), dx.masked_select(&db) }
    clash! { told, "masked_scatter", C = 3, C = 4,
    x.try_masked_scatter(&b, &x), dx.masked_scatter(&db, &dx) }
    told.done(19);
}

#[test]
fn in_place_and_out() {
    let mut told = Told::default();
    let mut x = ones::<(N, C), 2>([2, 3]);
    let (y, z) = (ones::<(C,), 1>([4]), ones::<(N, C), 2>([2, 1]));
    let (b, mut out) = (mask::<(N, C), 2>([2, 4]), ones::<(N, C), 2>([2, 3]));
    let (mut dx, dy, mut dz, db, mut dout) = dyns!(x, y, z, b, out);
    let mut z = z;
    clash! { told, "add", C = 3, C = 4, x.try_add_(&y), dx.add_(&dy) }
    // Broadcasting never enlarges `self`.
    clash! { told, "add", C = 1, C = 4, z.try_add_(&y), dz.add_(&dy) }
    clash! { told, "mul", C = 3, C = 4, x.try_mul_out(&y, &mut out), dx.mul_out(&dy, &mut dout) }
    clash! { told, "addcmul", C = 3, C = 4, x.try_addcmul_(&y, 1.0), dx.addcmul_(&dy, 1.0) }
    clash! { told, "lerp", C = 3, C = 4, x.try_lerp_(&y, 0.5), dx.lerp_(&dy, 0.5) }
    clash! { told, "copy", C = 3, C = 4, x.try_copy_(&y), dx.copy_(&dy) }
    clash! { told, "copy", C = 1, C = 4, z.try_copy_(&y), dz.copy_(&dy) }
    clash! { told, "masked_fill", C = 3, C = 4,
    x.try_masked_fill_(&b, 0.0), dx.masked_fill_(&db, 0.0) }
    clash! { told, "copy", C = 2, C = 4,
    x.narrow_mut(C, ..2).try_copy_(&y).map(drop),
    dx.narrow_mut("C", 0, 2).unwrap().copy_(&dy).map(drop) }
    told.done(9);
}

#[test]
fn products() {
    let mut told = Told::default();
    let (a, b, w) = (
        ones::<(N, K), 2>([2, 3]),
        ones::<(K, M), 2>([4, 5]),
        ones::<(K,), 1>([4]),
    );
    let (a3, b3) = (
        ones::<(H, N, K), 3>([2, 2, 3]),
        ones::<(H, K, M), 3>([4, 3, 5]),
    );
    let (c, c3) = (ones::<(K, M), 2>([3, 5]), ones::<(H, K, M), 3>([2, 3, 5]));
    let (bias, n, k) = (
        ones::<(M,), 1>([4]),
        ones::<(N,), 1>([4]),
        ones::<(K,), 1>([3]),
    );
    let (da, db, dw, da3, db3, dc, dc3, dbias, dn, dk) = dyns!(a, b, w, a3, b3, c, c3, bias, n, k);
    clash! { told, "mm", K = 3, K = 4, a.try_mm(&b), da.mm(&db) }
    clash! { told, "mv", K = 3, K = 4, a.try_mv(&w), da.mv(&dw) }
    clash! { told, "dot", K = 3, K = 4, k.try_dot(&w), dk.dot(&dw) }
    clash! { told, "matmul", K = 3, K = 4, a3.try_matmul(&b), da3.matmul(&db) }
    clash! { told, "matmul", H = 2, H = 4, a3.try_matmul(&b3), da3.matmul(&db3) }
    clash! { told, "bmm", H = 2, H = 4, a3.try_bmm(&b3), da3.bmm(&db3) }
    clash! { told, "addmm", M = 4, M = 5, bias.try_addmm(&a, &c), dbias.addmm(&da, &dc) }
    clash! { told, "addmm", K = 3, K = 4, bias.try_addmm(&a, &b), dbias.addmm(&da, &db) }
    clash! { told, "addmv", N = 4, N = 2, n.try_addmv(&a, &k), dn.addmv(&da, &dk) }
    clash! { told, "baddbmm", M = 4, M = 5, bias.try_baddbmm(&a3, &c3), dbias.baddbmm(&da3, &dc3) }
    clash! { told, "addbmm", M = 4, M = 5, bias.try_addbmm(&a3, &c3), dbias.addbmm(&da3, &dc3) }
    clash! { told, "contract", K = 3, K = 4, a.try_contract(&b, K), da.contract(&db, "K") }
    clash! { told, "contract", H = 2, H = 4, a3.try_contract(&b3, K), da3.contract(&db3, "K") }
    clash! { told, "tensordot", K = 3, K = 4, a.try_tensordot(&b, K), da.tensordot(&db, ["K"]) }
    clash! { told, "einsum", K = 3, K = 4,
    try_einsum!(a[N, K] * b[K, M] -> [N, M]), DynTensor::einsum("nk,km->nm", &[&da, &db]) }
    clash! { told, "inner", K = 3, K = 4, a.try_inner(&w), da.inner(&dw) }
    clash! { told, "vdot", K = 3, K = 4, k.try_vdot(&w), dk.vdot(&dw) }
    clash! { told, "vecdot", K = 3, K = 4, a.try_vecdot(&w, K), da.vecdot(&dw, "K") }
    told.done(18);
}

#[test]
fn products_of_rows_and_weights() {
    let mut told = Told::default();
    let (a, b) = (
        ones::<(H, N, K), 3>([2, 2, 3]),
        ones::<(H, M, K), 3>([2, 5, 4]),
    );
    let apart = ones::<(H, M, K), 3>([4, 5, 3]);
    let (weight, bias) = (ones::<(Out, K), 2>([5, 4]), ones::<(Out,), 1>([6]));
    let (fits, five) = (ones::<(Out, K), 2>([5, 3]), ones::<(Out,), 1>([5]));
    let (da, db, dapart, dweight, dbias, dfits, dfive) =
        dyns!(a, b, apart, weight, bias, fits, five);
    clash! { told, "cdist", K = 3, K = 4, a.try_cdist(&b), da.cdist(&db) }
    clash! { told, "cdist", H = 2, H = 4, a.try_cdist(&apart), da.cdist(&dapart) }
    clash! { told, "linear", K = 3, K = 4,
    a.try_linear(&weight, &five), da.linear(&dweight, &dfive) }
    clash! { told, "linear", Out = 5, Out = 6,
    a.try_linear(&fits, &bias), da.linear(&dfits, &dbias) }
    let (q, k) = (
        ones::<(N, H, C), 3>([1, 2, 3]),
        ones::<(N, W, C), 3>([1, 5, 4]),
    );
    let (k2, v) = (
        ones::<(N, W, C), 3>([1, 5, 3]),
        ones::<(N, W, M), 3>([1, 6, 3]),
    );
    let (dq, dk, dk2, dv) = dyns!(q, k, k2, v);
    clash! { told, "scaled_dot_product_attention", C = 3, C = 4,
    q.try_scaled_dot_product_attention(&k, &v), dq.scaled_dot_product_attention(&dk, &dv) }
    clash! { told, "scaled_dot_product_attention", W = 5, W = 6,
    q.try_scaled_dot_product_attention(&k2, &v), dq.scaled_dot_product_attention(&dk2, &dv) }
    let (x, y) = (ones::<(N, C), 2>([2, 3]), ones::<(N, C), 2>([4, 3]));
    let (dx, dy) = dyns!(x, y);
    clash! { told, "cross", N = 2, N = 4, x.try_cross(&y, C), dx.cross(&dy, "C") }
    clash! { told, "cosine_similarity", N = 2, N = 4,
    x.try_cosine_similarity(&y, C), dx.cosine_similarity(&dy, "C") }
    clash! { told, "pairwise_distance", N = 2, N = 4,
    x.try_pairwise_distance(&y, C), dx.pairwise_distance(&dy, "C") }
    told.done(9);
}

#[test]
fn joined_and_indexed() {
    let mut told = Told::default();
    let (x, y) = (ones::<(N, C), 2>([2, 3]), ones::<(N, C), 2>([2, 4]));
    let (index, five) = (ids::<(N, C), 2>([5, 3]), ids::<(N, C), 2>([2, 5]));
    let (places, src) = (ids::<(N,), 1>([2]), ones::<(N, C), 2>([2, 3]));
    let (dx, dy, di, df, dp, ds) = dyns!(x, y, index, five, places, src);
    clash! { told, "cat", C = 3, C = 4,
    nomina::try_cat((&x, &x, &y), N), DynTensor::cat(&[&dx, &dx, &dy], "N") }
    clash! { told, "stack", C = 3, C = 4,
    nomina::try_stack((&x, &y), K), DynTensor::stack(&[&dx, &dy], 0, "K") }
    clash! { told, "gather", N = 2, N = 5, x.try_gather(C, &index), dx.gather("C", &di) }
    clash! { told, "take_along_dim", N = 2, N = 5,
    x.try_take_along_dim(&index, C), dx.take_along_dim(&di, DimRef::Name("C")) }
    clash! { told, "scatter", C = 5, C = 3,
    x.try_scatter(C, &five, &src), dx.scatter("C", &df, &ds) }
    clash! { told, "scatter_add", N = 5, N = 2,
    x.try_scatter_add(C, &index, &src), dx.scatter_add("C", &di, &ds) }
    clash! { told, "index_add", C = 3, C = 4,
    x.try_index_add(N, &places, &y), dx.index_add("N", &dp, &dy) }
    clash! { told, "index_copy", C = 3, C = 4,
    x.try_index_copy(N, &places, &y), dx.index_copy("N", &dp, &dy) }
    let reduce = ScatterReduce::Amax;
    clash! { told, "index_reduce", C = 3, C = 4,
    x.try_index_reduce(N, &places, &y, reduce), dx.index_reduce("N", &dp, &dy, reduce) }
    let row = ones::<(C,), 1>([4]);
    let (dr,) = dyns!(row,);
    clash! { told, "select_scatter", C = 3, C = 4,
    x.try_select_scatter(&row, N, 0), dx.select_scatter(&dr, "N", 0) }
    clash! { told, "slice_scatter", C = 3, C = 4,
    x.try_slice_scatter(&y, N.i(0..2)), dx.slice_scatter(&dy, "N", Some(0), Some(2), 1) }
    told.done(11);
}

#[test]
fn losses_and_norms() {
    let mut told = Told::default();
    let (x, y) = (ones::<(N, C), 2>([2, 3]), ones::<(N, C), 2>([2, 4]));
    let (target, c) = (ids::<(N,), 1>([5]), ones::<(C,), 1>([4]));
    let (dx, dy, dt, dc) = dyns!(x, y, target, c);
    clash! { told, "mse_loss", C = 3, C = 4, x.try_mse_loss(&y), dx.mse_loss(&dy) }
    clash! { told, "kl_div", C = 3, C = 4, x.try_kl_div(&y), dx.kl_div(&dy) }
    clash! { told, "binary_cross_entropy", C = 3, C = 4,
    x.try_binary_cross_entropy(&y), dx.binary_cross_entropy(&dy) }
    clash! { told, "cross_entropy", N = 2, N = 5,
    x.try_cross_entropy(&target, C), dx.cross_entropy(&dt, "C") }
    clash! { told, "nll_loss", N = 2, N = 5, x.try_nll_loss(&target, C), dx.nll_loss(&dt, "C") }
    clash! { told, "margin_ranking_loss", C = 3, C = 4,
    x.try_margin_ranking_loss(&x, &y), dx.margin_ranking_loss(&dx, &dy) }
    clash! { told, "triplet_margin_loss", C = 3, C = 4,
    x.try_triplet_margin_loss(&x, &y, C), dx.triplet_margin_loss(&dx, &dy, "C") }
    clash! { told, "dist", C = 3, C = 4, x.try_dist(&y), dx.dist(&dy) }
    clash! { told, "prelu", C = 3, C = 4, x.try_prelu(&c), dx.prelu(&dc) }
    clash! { told, "trapezoid", C = 3, C = 4, x.try_trapezoid_at(&c, C), dx.trapezoid_at(&dc, "C") }
    told.done(10);
}

#[test]
fn convolutions_and_scales() {
    let mut told = Told::default();
    let x = ones::<(N, C, H, W), 4>([2, 3, 5, 5]);
    let weight = ones::<(Out, C, H, W), 4>([4, 2, 3, 3]);
    let (c, n) = (ones::<(C,), 1>([4]), ones::<(N,), 1>([6]));
    let (dx, dweight, dc) = dyns!(x, weight, c);
    clash! { told, "conv2d", C = 3, C = 2,
    x.try_conv2d(C, (H, W), &weight), dx.conv2d(&dweight) }
    let scale = LayerNormOptions {
        weight: Some(&c),
        ..default()
    };
    let dyn_scale = nomina_runtime::tensor::LayerNormOptions {
        weight: Some(&dc),
        ..default()
    };
    clash! { told, "layer_norm", C = 3, C = 4,
    x.try_layer_norm_with(C, scale), dx.layer_norm_with("C", dyn_scale) }
    let m = ones::<(N, M), 2>([2, 5]);
    let k = ones::<(M,), 1>([5]);
    let (dm, dn, dk) = dyns!(m, n, k);
    clash! { told, "addr", N = 2, N = 6, m.try_addr(&n, &k), dm.addr(&dn, &dk) }
    let (y, z) = (ones::<(N, C), 2>([2, 3]), ones::<(C, K), 2>([3, 4]));
    let last = ones::<(K, M), 2>([5, 2]);
    let (dy, dz, dlast) = dyns!(y, z, last);
    clash! { told, "einsum", K = 4, K = 5,
    try_einsum!(y[N, C] * z[C, K] * last[K, M] -> [N, M]),
    DynTensor::einsum("nc,ck,km->nm", &[&dy, &dz, &dlast]) }
    told.done(4);
}

/// Operators panic with the same text, even if the left operand's buffer is reused.
#[test]
fn operators_say_so_too() {
    let want = "add: dim `C` has size 3 in the first operand and 4 in the second; \
                dims (N=2, C=3) and (C=4,); sizes broadcast when they are equal or one of them is 1";
    let both = || (ones::<(N, C), 2>([2, 3]), ones::<(C,), 1>([4]));
    let calls: [fn(Tensor<(N, C)>, Tensor<(C,)>); 3] =
        [|x, y| drop(&x + &y), |x, y| drop(x + y), |mut x, y| x += &y];
    for call in calls {
        let (x, y) = both();
        let panic = std::panic::catch_unwind(move || call(x, y)).unwrap_err();
        let text = panic.downcast_ref::<String>().expect("a text");
        assert_eq!(told::without_places(text), want);
    }
}

/// The error shows the run-time name of a `Wild`, or its position if it has none.
#[test]
fn a_wild_dim_goes_by_its_name_or_its_position() {
    let x = ones::<(N, C), 2>([2, 3]);
    let named: Tensor<(Wild, C)> = ones::<(N, C), 2>([4, 3]).into_dyn().typed().unwrap();
    let unnamed: Tensor<(Wild, C)> = ones::<(N, C), 2>([4, 3])
        .drop_names()
        .refine_names((Wild, C));
    assert_eq!(
        told::without_places(&x.try_add(&named).unwrap_err().to_string()),
        "add: dim `N` has size 2 in the first operand and 4 in the second; \
         dims (N=2, C=3) and (N=4, C=3); sizes broadcast when they are equal or one of them is 1"
    );
    assert_eq!(
        told::without_places(&x.try_add(&unnamed).unwrap_err().to_string()),
        "add: dim `N` of the first operand has size 2 and dim 0 of the second 4; \
         dims (N=2, C=3) and (_=4, C=3); sizes broadcast when they are equal or one of them is 1"
    );
    let error = named.try_matmul(&ones::<(K, M), 2>([5, 6])).unwrap_err();
    assert_eq!(
        told::without_places(&error.to_string()),
        "matmul: dim `C` of the first operand has size 3 and dim `K` of the second 5; \
         dims (N=4, C=3) and (K=5, M=6); \
         the left operand's last size must be the right one's second to last"
    );
}

#[test]
fn a_long_list_of_operands_is_cut() {
    let none = nomina::Names::default();
    let error = nomina::Error::new(nomina::ErrorKind::Memory, "stack", "no memory");
    let error = (1..=30).fold(error, |error, size| error.operand(&none, &[size]));
    assert_eq!(error.operands().len(), 30);
    let text = error.to_string();
    assert!(
        text.starts_with("stack: no memory; dims (1,) and (2,) and "),
        "{text}"
    );
    assert!(text.ends_with(" and (8,) and 22 more"), "{text}");
}

#[test]
fn sizes_of_unknown_operands_are_not_told() {
    let error = nomina::Error::sizes("cat", [&[2][..]], [(0, 0), (20, 0)]);
    assert_eq!(error.to_string(), "cat: sizes differ; dims (2,)");
}
