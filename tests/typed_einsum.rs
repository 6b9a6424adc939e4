//! Typed products by name: `einsum!`, primed dims, and operators built on products.

use nomina::prelude::*;

dims! { B, T, S, K, V, N, M, C, H, In, Out }
dims! { Three = 3 }

fn same<D: nomina::dims::Dims, E: Element>(x: Tensor<D, E>) -> Vec<E> {
    x.to_vec()
}

#[test]
fn einsum_of_two() {
    let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
    let k = Tensor::<(B, S, K)>::ones([2, 5, 4]);
    let scores: Tensor<(B, T, S)> = einsum!(q[B, T, K] * k[B, S, K] -> [B, T, S]);
    assert_eq!(scores.shape(), [2, 3, 5]);
    assert_eq!(same(scores), [4.0; 30]);
    // Dims may be listed in any order; the result has the requested order.
    let turned: Tensor<(S, B, T)> = einsum!(q[K, T, B] * k[S, K, B] -> [S, B, T]);
    assert_eq!(turned.shape(), [5, 2, 3]);
    // Dims missing from the result are summed over.
    let sums: Tensor<(T,)> = einsum!(q[B, T, K] * k[B, S, K] -> [T]);
    assert_eq!(same(sums), [40.0; 3]);
    let total: Tensor<()> = einsum!(q[..] * k[..] -> []);
    assert_eq!(total.item(), 120.0);
}

#[test]
fn einsum_with_rests() {
    let x = Tensor::<(B, H, T, K)>::ones([2, 3, 4, 5]);
    let w = tensor!([1., 2., 3., 4., 5.]; K);
    let y: Tensor<(B, H, T)> = einsum!(x[.., K] * w[K] -> [..]);
    assert_eq!(same(y), [15.0; 24]);
    let z: Tensor<(T, B, H)> = einsum!(x[T, .., K] * w[K] -> [T, ..]);
    assert_eq!(z.shape(), [4, 2, 3]);
    let sum: Tensor<(K, H)> = einsum!(x[..] -> [K, H]);
    assert_eq!(same(sum), [8.0; 15]);
}

#[test]
fn einsum_of_one_and_of_many() {
    let a = tensor!([[1., 2.], [3., 4.]]; N, C);
    let b = tensor!([[1., 1.], [0., 1.]]; C, M);
    let c = tensor!([2., 3.]; M);
    let t: Tensor<(C, N)> = einsum!(a[N, C] -> [C, N]);
    assert_eq!(same(t), [1.0, 3.0, 2.0, 4.0]);
    let y: Tensor<(N,)> = einsum!(a[N, C] * b[C, M] * c[M] -> [N]);
    assert_eq!(same(y), [11.0, 27.0]);
    let each: Tensor<(N, C, M)> = einsum!((&a + 1.0)[N, C] * c[M] -> [N, C, M]);
    assert_eq!(same(each), [4.0, 6.0, 6.0, 9.0, 8.0, 12.0, 10.0, 15.0]);
}

#[test]
fn einsum_promotes_and_takes_references() {
    let a = tensor!([[1, 2], [3, 4]]; N, C);
    let b = tensor!([0.5, 0.25]; C; f64);
    let y: Tensor<(N,), f64> = einsum!(a[N, C] * b[C] -> [N]);
    assert_eq!(same(y), [1.0, 2.5]);
    let borrowed = &a;
    let z: Tensor<(C,), i64> = einsum!(borrowed[N, C] -> [C]);
    assert_eq!(same(z), [4, 6]);
    // The macro's own variables do not clash with the user's.
    let operand0 = tensor!([1., 1.]; N);
    let w: Tensor<(C,), f32> = einsum!(a[N, C] * operand0[N] -> [C]);
    assert_eq!(same(w), [4.0, 6.0]);
}

#[test]
fn einsum_reports_sizes() {
    let a = Tensor::<(N, C)>::ones([2, 3]);
    let b = Tensor::<(C, M)>::ones([4, 5]);
    let error = try_einsum!(a[N, C] * b[C, M] -> [N, M]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(error.to_string().contains("C=3"), "{error}");
}

#[test]
fn einsum_in_generic_code() {
    use nomina::dims::{Contract, Contracted, Dims};
    fn scores<D: Dims, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Contracted<D, E, K>>
    where
        K: Contract<D, E>,
    {
        x.contract(y, K)
    }
    let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
    let k = Tensor::<(S, K)>::ones([5, 4]);
    let y: Tensor<(B, T, S)> = scores(&q, &k);
    assert_eq!(y.shape(), [2, 3, 5]);
}

#[test]
fn primed_dims() {
    let x = tensor!([[1., 2.], [3., 4.], [5., 6.]]; N, C);
    let centred = &x - x.mean(keep(N));
    let covariance: Tensor<(C, Prime<C>)> = centred.contract(&centred.prime(C), N) / 2.0;
    assert_eq!(same(covariance.clone()), [4.0; 4]);
    assert_eq!(covariance.names().to_string(), "(C, C')");
    let by_macro: Tensor<(C, Prime<C>)> =
        einsum!(centred[N, C] * (centred.prime(C))[N, Prime<C>] -> [C, Prime<C>]);
    assert_eq!(same(by_macro), [8.0; 4]);
    // Differs from every other dim.
    assert_eq!(covariance.size(Prime(C)), 2);
    assert_eq!(same(covariance.sum(Prime(C))), [8.0; 2]);
    let back: Tensor<(C, N)> = covariance.rename(Prime(C), N);
    assert_eq!(back.size(N), 2);
    let twice: Tensor<(C, Prime<Prime<C>>)> = covariance.prime(Prime(C));
    assert_eq!(twice.names().to_string(), "(C, C'')");
    let made = Tensor::zeros((C.of(2), Prime(C).of(3)));
    assert_eq!(made.shape(), [2, 3]);
    let fixed = Tensor::<(Three, Prime<Three>)>::ones([3, 3]);
    assert_eq!(fixed.trace().item(), 3.0);
}

#[test]
fn primes_at_run_time() -> Result<()> {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let d = x.prime(C).into_dyn();
    assert_eq!(d.names(), &names!["N", "C'"]);
    assert!(d.typed::<(N, Prime<C>), f32>().is_ok());
    assert!(d.typed::<(N, C), f32>().is_err());
    let product = DynTensor::einsum("[N, C] * [N, C'] -> [C, C']", &[&x.to_dyn(), &d])?;
    assert_eq!(product.names(), &names!["C", "C'"]);
    Ok(())
}

#[test]
fn contract_over_several_dims() {
    let x = Tensor::<(B, N, C, H)>::ones([2, 3, 4, 5]);
    let w = Tensor::<(H, M, C)>::ones([5, 6, 4]);
    let y: Tensor<(B, N, M)> = x.contract(&w, (C, H));
    assert_eq!(same(y), [20.0; 36]);
    let z: Tensor<(B, N, H, M)> = x.contract(&w, (C,));
    assert_eq!(same(z), [4.0; 180]);
    let t: Tensor<(B, N, M)> = x.tensordot(&w, (H, C));
    assert_eq!(t.shape(), [2, 3, 6]);
}

#[test]
fn products_of_vectors_and_matrices() {
    let (a, b) = (tensor!([1., 2.]; N), tensor!([3., 4.]; M));
    let outer: Tensor<(N, M)> = a.outer(&b);
    assert_eq!(same(outer), [3.0, 4.0, 6.0, 8.0]);
    let product: Tensor<()> = a.vdot(&b);
    assert_eq!(product.item(), 11.0);
    let m = tensor!([[1., 2.], [3., 4.]]; N, C);
    let inner: Tensor<(N, M)> = m.inner(&tensor!([[1., 0.]]; M, C));
    assert_eq!(same(inner), [1.0, 3.0]);
    let kron: Tensor<(N, C)> = m.kron(&tensor!([2.]; C));
    assert_eq!(same(kron), [2.0, 4.0, 6.0, 8.0]);
    let trace: Tensor<(), i64> = tensor!([[1, 2], [3, 4]]; N, C).trace();
    assert_eq!(trace.item(), 5);
    assert_eq!(same(m.matrix_power(2)), [7.0, 10.0, 15.0, 22.0]);
    let sum: Tensor<(N, M)> = tensor!([1., 1.]; M).addr(&a, &b);
    assert_eq!(same(sum), [4.0, 5.0, 7.0, 9.0]);
    let cross: Tensor<(N, Three)> =
        Tensor::<(N, Three)>::ones([2, 3]).cross(&tensor!([1., 0., 0.]; Three), Three);
    assert_eq!(same(cross), [0.0, 1.0, -1.0, 0.0, 1.0, -1.0]);
}

#[test]
fn sums_with_products() {
    let options = AddmmOptions {
        beta: 2.into(),
        alpha: 10.into(),
    };
    let a = tensor!([[1., 2.]]; N, K);
    let v = tensor!([1., 1.]; K);
    let y: Tensor<(N,)> = tensor!([5.]; N).addmv(&a, &v);
    assert_eq!(same(y), [8.0]);
    assert_eq!(same(tensor!([5.]; N).addmv_with(&a, &v, options)), [40.0]);
    let mut own = tensor!([5.]; N);
    own.addmv_(&a, &v);
    own.addmv_with_(&a, &v, options);
    assert_eq!(own.to_vec(), [46.0]);
    let x = Tensor::<(B, N, K)>::ones([2, 1, 3]);
    let w = Tensor::<(B, K, M)>::ones([2, 3, 2]);
    let each: Tensor<(B, N, M)> = tensor!([1., 2.]; M).baddbmm(&x, &w);
    assert_eq!(same(each), [4.0, 5.0, 4.0, 5.0]);
    let all: Tensor<(N, M)> = tensor!([1., 2.]; M).addbmm(&x, &w);
    assert_eq!(same(all), [7.0, 8.0]);
    let mut out = Tensor::<(N, M)>::zeros([1, 2]);
    tensor!([1., 2.]; M).addbmm_with_out(&x, &w, options, &mut out);
    assert_eq!(out.to_vec(), [62.0, 64.0]);
}

#[test]
fn layers() {
    let x = Tensor::<(In, N)>::ones([3, 2]);
    let w = Tensor::<(Out, In)>::ones([4, 3]);
    let y: Tensor<(N, Out)> = x.linear(&w, &tensor!([0., 1., 2., 3.]; Out));
    assert_eq!(same(y), [3.0, 4.0, 5.0, 6.0, 3.0, 4.0, 5.0, 6.0]);
    // A fused activation equals the separate operator.
    let x = x - 1.2;
    let bias = tensor!([0., 1., 2., 3.]; Out);
    let y: Tensor<(N, Out)> = x.linear(&w, &bias);
    let after = |activation| {
        let options = LinearOptions {
            activation: Some(activation),
        };
        let both: Tensor<(N, Out)> = x.linear_with(&w, &bias, options);
        same(both)
    };
    assert_eq!(after(Activation::Relu), same(y.relu()));
    assert_eq!(after(Activation::Gelu), same(y.gelu()));
    let tanh = GeluOptions {
        approximate: Approximate::Tanh,
    };
    assert_eq!(after(Activation::GeluTanh), same(y.gelu_with(tanh)));
    assert_eq!(after(Activation::Silu), same(y.silu()));
    assert_eq!(after(Activation::Sigmoid), same(y.sigmoid()));
    assert_eq!(after(Activation::Tanh), same(y.tanh()));
    let whole = tensor!([[1_i64, 2]]; N, In);
    let options = LinearOptions {
        activation: Some(Activation::Gelu),
    };
    let error = whole.try_linear_with(
        &tensor!([[1_i64, 2]]; Out, In),
        &tensor!([0_i64]; Out),
        options,
    );
    assert_eq!(error.unwrap_err().kind(), ErrorKind::DType);
    let p = tensor!([[0., 0.], [3., 4.]]; N, C);
    let d: Tensor<(N, M)> = p.cdist(&tensor!([[0., 0.], [0., 4.]]; M, C));
    assert_eq!(same(d), [0.0, 4.0, 5.0, 3.0]);
    let options = CdistOptions {
        p: 1.0,
        ..default()
    };
    let d: Tensor<(N, Prime<N>)> = p.cdist_with(&p.prime(N), options);
    assert_eq!(same(d), [0.0, 7.0, 7.0, 0.0]);
}

#[test]
fn attention() {
    let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
    let k = Tensor::<(B, S, K)>::ones([2, 5, 4]);
    let v = Tensor::<(B, S, V)>::from_fn([2, 5, 1], |at| at[1] as f32);
    let y: Tensor<(B, T, V)> = q.scaled_dot_product_attention(&k, &v);
    assert!(y.to_vec().iter().all(|y| (y - 2.0).abs() < 1e-6));
    let causal = AttentionOptions {
        is_causal: true,
        ..default()
    };
    let y = q.scaled_dot_product_attention_with(&k, &v, causal);
    let near: Vec<f32> = y.to_vec().iter().map(|y| (y * 2.0).round() / 2.0).collect();
    assert_eq!(near, [0.0, 0.5, 1.0, 0.0, 0.5, 1.0]);
    // Self-attention with a mask over the positions and the primed positions.
    let mask = Tensor::<(T, Prime<T>), bool>::from_fn([3, 3], |at| at[0] == at[1]);
    let own: Tensor<(B, T, K)> =
        q.scaled_dot_product_attention_masked(&q, &q, &mask, AttentionOptions::default());
    assert_eq!(same(own), [1.0; 24]);
    let dropped = AttentionOptions {
        dropout_p: 1.0,
        ..default()
    };
    assert_eq!(
        same(q.scaled_dot_product_attention_with(&k, &v, dropped)),
        [0.0; 6]
    );
}
