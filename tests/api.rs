//! The public API as users write it: every spelling compiles and gives the right values. Continued
//! in `api_data.rs`.

use nomina::prelude::*;

dims! { N, C, H, W, A, B, D, E, K, M, S, T, Features, Height, Width }
dims! { Rgb = 3 }

fn counted(shape: [usize; 2]) -> Tensor<(N, C)> {
    Tensor::from_fn(shape, |i| (i[0] * shape[1] + i[1]) as f32)
}

#[test]
fn types() {
    fn dtype<D: Dims, T: Element>(_: &Tensor<D, T>) -> DType {
        T::DTYPE
    }
    let x: Tensor<(N, C)> = Tensor::zeros([2, 3]);
    assert_eq!(dtype(&x), DType::F32);
    let x: Tensor<(N, C), f16> = Tensor::<(N, C)>::zeros_with([2, 3]);
    assert_eq!(dtype(&x), DType::F16);
    let x: Tensor<()> = Tensor::zeros([]);
    assert_eq!(x.item(), 0.0);
    let x: Tensor<(C,)> = Tensor::zeros([3]);
    assert_eq!(x.rank(), 1);
    let _: Tensor<(Wild, C)> = tensor!([[1., 2.]]; N, C)
        .rename(N, A)
        .drop_names()
        .refine_names((Wild, C));
}

#[test]
fn making() {
    let x: Tensor<(N, C)> = Tensor::zeros([2, 3]);
    let y = Tensor::zeros((N.of(2), C.of(3)));
    assert!(x.equal(&y));
    let data = vec![1., 2., 3., 4., 5., 6.];
    let x: Tensor<(N, C)> = Tensor::from_vec(data, [2, 3]).unwrap();
    assert_eq!(x.to_vec(), [1., 2., 3., 4., 5., 6.]);
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    assert_eq!(x.names(), names!["N", "C"]);
    assert_eq!(
        (x.shape(), x.size(N), x.rank(), x.numel()),
        (&[2, 2][..], 2, 2, 4)
    );
    assert_eq!(
        (x.dtype(), x.device(), x.strides()),
        (DType::F32, Device::Cpu, &[2, 1][..])
    );
    assert_eq!(x.stride(N), 2);
    assert_eq!(
        Tensor::<(N, C)>::zeros_with::<f64>([2, 3]).dtype(),
        DType::F64
    );
    assert_eq!(Tensor::<(N, C), _>::full([1, 2], 7_i64).to_vec(), [7, 7]);
    assert_eq!(Tensor::<(N, C)>::eye([2, 2]).to_vec(), [1., 0., 0., 1.]);
    assert_eq!(Tensor::<(N,), i64>::arange(0, 6, 2).to_vec(), [0, 2, 4]);
    assert_eq!(Tensor::<(N,)>::ones([2]).to_vec(), [1., 1.]);
    assert_eq!(x.zeros_like().to_vec(), [0.; 4]);
    assert_eq!(Tensor::full_like(&x, 2.5).to_vec(), [2.5; 4]);
    assert_eq!(x.randn_like().shape(), [2, 2]);
    let image = Tensor::zeros((N.of(2), Rgb, H.of(4)));
    assert_eq!(image.shape(), [2, 3, 4]);
    assert_eq!(tensor!(1.5).item(), 1.5);
    assert_eq!(tensor!([1, 2]; N).dtype(), DType::I64);
    assert_eq!(tensor!([1, 2]; N; f64).dtype(), DType::F64);
    assert_eq!(counted([2, 3]).to_vec(), [0., 1., 2., 3., 4., 5.]);
}

#[test]
fn options() {
    let x = Tensor::<(N, C)>::options()
        .dtype::<f64>()
        .device(Device::Cpu)
        .zeros([2, 3]);
    assert_eq!(x.dtype(), DType::F64);
    let x = Tensor::<(N, C, H, W)>::options()
        .memory_format(MemoryFormat::ChannelsLast)
        .ones([2, 3, 4, 5]);
    assert_eq!(x.strides(), [60, 1, 15, 3]);
    assert_eq!(x.sum(..).item(), 120.0);
    let draw = |seed| {
        let mut generator = Generator::new(seed);
        Tensor::<(N,)>::options()
            .generator(&mut generator)
            .randn([8])
            .to_vec()
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn arithmetic() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let bias = tensor!([10., 20.]; C);
    let y: Tensor<(N, C)> = &x + &bias;
    assert_eq!(y.to_vec(), [11., 22., 13., 24.]);
    assert_eq!((x.clone() + &bias).to_vec(), y.to_vec());
    assert_eq!((&bias + &x).to_vec(), y.to_vec());
    assert_eq!((&x * 2.0).to_vec(), [2., 4., 6., 8.]);
    assert_eq!((2.0 * &x).to_vec(), [2., 4., 6., 8.]);
    assert_eq!((1.0 - &x).to_vec(), [0., -1., -2., -3.]);
    assert_eq!((2 / &x).to_vec(), [2., 1., 2. / 3., 0.5]);
    assert_eq!((-&x).to_vec(), [-1., -2., -3., -4.]);
    let mut z = x.clone();
    z += &bias;
    z -= 1.0;
    z *= bias.clone();
    z /= 2;
    assert_eq!(z.to_vec(), [50., 210., 60., 230.]);
    assert_eq!(x.to_vec(), [1., 2., 3., 4.]);
    assert_eq!(x.lt(&bias).to_vec(), [true; 4]);
    assert_eq!(x.ge(2.0).to_vec(), [false, true, true, true]);
    assert_eq!(x.pow(2.0).to_vec(), [1., 4., 9., 16.]);
    let doubles = tensor!([1., 1.]; C; f64);
    let e: Tensor<(N, C), f64> = &x + &doubles;
    assert_eq!(e.to_vec(), [2., 3., 4., 5.]);
    let ints = tensor!([1, 2]; C);
    let quotient: Tensor<(C,), f32> = &ints / 2;
    assert_eq!(quotient.to_vec(), [0.5, 1.0]);
    let sum: Tensor<(), i64> = ints.sum(C);
    assert_eq!(sum.item(), 3);
    assert_eq!((!ints.eq(1)).to_vec(), [false, true]);
    assert_eq!(ints.rsub(1_i64).to_vec(), [0, -1]);
    let inverse: Tensor<(C,)> = ints.rdiv(1);
    assert_eq!(inverse.to_vec(), [1.0, 0.5]);
    assert_eq!((&x * 2.0 + &bias).sum(C).to_vec(), [36., 44.]);
    assert_eq!((2.0 * &x).sum(C).to_vec(), [6., 14.]);
}

#[test]
fn an_unshared_owned_operand_lends_its_buffer() {
    let x = counted([4, 8]);
    let place = x.as_slice().unwrap().as_ptr();
    let y = x + 1.0;
    assert_eq!(y.as_slice().unwrap().as_ptr(), place);
    let kept = y.clone();
    let z = y * 2.0;
    assert_ne!(z.as_slice().unwrap().as_ptr(), place);
    assert_eq!(kept.to_vec()[0], 1.0);
}

#[test]
fn unary() {
    let x = tensor!([0.0, 1.0]; N);
    assert_eq!(x.exp().to_vec(), [1.0, 1.0_f32.exp()]);
    assert_eq!(x.sigmoid().to_vec()[0], 0.5);
    assert_eq!(x.sqrt().to_vec(), [0., 1.]);
    assert_eq!(x.tanh().to_vec()[0], 0.0);
    assert_eq!((-&x).relu().to_vec(), [0., 0.]);
    assert_eq!((-&x).abs().to_vec(), [0., 1.]);
    assert_eq!(x.log().to_vec(), [f32::NEG_INFINITY, 0.0]);
    let complex = Tensor::<(N,), _>::full([1], Complex::new(3.0_f32, 4.0));
    let magnitude: Tensor<(N,)> = complex.abs();
    assert_eq!(magnitude.to_vec(), [5.0]);
    let of_ints: Tensor<(N,)> = tensor!([0]; N).exp();
    assert_eq!(of_ints.to_vec(), [1.0]);
    assert_eq!(x.clamp(0.25, 0.75).to_vec(), [0.25, 0.75]);
    assert_eq!(x.clamp_min(0.5).to_vec(), [0.5, 1.0]);
    assert_eq!(x.clamp_max(0.5).to_vec(), [0.0, 0.5]);
}

#[test]
fn dims_by_name() {
    let x = counted([2, 3]);
    assert_eq!(x.sum(C).to_vec(), [3., 12.]);
    assert_eq!(x.sum((N, C)).item(), 15.0);
    assert_eq!(x.sum(..).item(), 15.0);
    assert_eq!(x.mean(keep(C)).shape(), [2, 1]);
    assert_eq!(x.prod(N).to_vec(), [0., 4., 10.]);
    assert_eq!(x.amax((N, C)).item(), 5.0);
    assert_eq!(x.amin(N).to_vec(), [0., 1., 2.]);
    assert_eq!(
        x.softmax(C)
            .sum(C)
            .to_vec()
            .iter()
            .map(|v| v.round())
            .sum::<f32>(),
        2.0
    );
    assert_eq!(x.cumsum(C).to_vec(), [0., 1., 3., 3., 7., 12.]);
    assert!((x.logsumexp(C).to_vec()[0] - 2.407_606).abs() < 1e-5);
    let (values, indices): (Tensor<(N,)>, Tensor<(N,), i64>) = x.max(C);
    assert_eq!(
        (values.to_vec(), indices.to_vec()),
        (vec![2., 5.], vec![2, 2])
    );
    let (values, indices) = x.min(keep(N));
    assert_eq!(
        (values.shape(), indices.to_vec()),
        (&[1, 3][..], vec![0, 0, 0])
    );
    let greatest: Tensor<()> = x.max(..);
    assert_eq!(greatest.item(), 5.0);
    assert_eq!(x.argmax(C).to_vec(), [2, 2]);
    assert_eq!(x.argmin(..).item(), 0);
    assert_eq!(x.gt(3.0).any(C).to_vec(), [false, true]);
    assert!(!x.gt(3.0).all(..).item());
    assert_eq!(x.var(N).to_vec(), [4.5; 3]);
    assert_eq!(
        x.var_with(
            N,
            VarOptions {
                correction: 0.0,
                ..default()
            }
        )
        .to_vec(),
        [2.25; 3]
    );
    assert_eq!(
        x.std_with(
            N,
            VarOptions {
                correction: 0.0,
                ..default()
            }
        )
        .to_vec(),
        [1.5; 3]
    );
    assert_eq!(x.std(C).to_vec(), [1.0, 1.0]);
    let wide: Tensor<(), f64> = x.sum_with(.., ReduceOptions::<f64>::default());
    assert_eq!(wide.item(), 15.0);
}

#[test]
fn parts() {
    let x = counted([2, 3]);
    assert_eq!(x.select(N, 1).to_vec(), [3., 4., 5.]);
    assert_eq!(x.select(C, -1).to_vec(), [2., 5.]);
    assert_eq!(x.narrow(C, 1..3).to_vec(), [1., 2., 4., 5.]);
    assert_eq!(x.unbind(C).len(), 3);
    assert_eq!(x.split(C, 2)[1].to_vec(), [2., 5.]);
    assert_eq!(x.split(C, [1, 2])[1].to_vec(), [1., 2., 4., 5.]);
    assert!(x.try_narrow(C, 2..5).is_err());
    let (start, end) = (2, 1);
    let error = x.try_narrow(C, start..end).unwrap_err().to_string();
    assert!(
        error.contains("the range 2..1 ends before it starts"),
        "{error}"
    );
    assert!(x.clone().try_narrow_mut(C, start..end).is_err());
    assert!(x.try_select(N, 2).is_err());
}

#[test]
fn order_and_shape() {
    let imgs: Tensor<(H, W, C, N)> = Tensor::from_fn([4, 5, 3, 2], |i| {
        (i[0] * 1000 + i[1] * 100 + i[2] * 10 + i[3]) as f32
    });
    let aligned = imgs.align_to((N, C, H, W));
    assert_eq!(aligned.shape(), [2, 3, 4, 5]);
    assert_eq!(aligned.get((N.i(1), C.i(2), H.i(3), W.i(4))), Some(3421.0));
    assert_eq!(imgs.align_to((W, ..)).names(), names!["W", "H", "C", "N"]);
    let scale = tensor!([1., 2., 3.]; C);
    assert_eq!(scale.align_as(&imgs).shape(), [1, 1, 3, 1]);
    let x = counted([2, 3]);
    assert_eq!(x.transpose(N, C).to_vec(), [0., 3., 1., 4., 2., 5.]);
    assert_eq!(x.t().to_vec(), [0., 3., 1., 4., 2., 5.]);
    assert_eq!(x.permute((C, N)).shape(), [3, 2]);
    let _: Tensor<(Height, W, C, N)> = imgs.rename(H, Height);
    let _: Tensor<(Height, Width, C, N)> = imgs.rename((H, W), (Height, Width));
    let renamed: Tensor<(A, B, D, E)> = imgs.rename(.., (A, B, D, E));
    assert_eq!(renamed.names(), names!["A", "B", "D", "E"]);
    let flat: Tensor<(N, Features)> = aligned.flatten((C, H, W), Features);
    assert_eq!(flat.shape(), [2, 60]);
    let back: Tensor<(N, C, H, W)> = flat.unflatten(Features, (C.of(3), H.of(4), W.of(5)));
    assert!(back.equal(&aligned));
    assert_eq!(x.sum(keep(N)).squeeze(N).to_vec(), [3., 5., 7.]);
    assert!(x.try_squeeze(N).is_err());
    let k: Tensor<(K, N, C)> = x.unsqueeze(K);
    assert_eq!(k.shape(), [1, 2, 3]);
    let wide = scale.expand((N.of(2), C.of(3)));
    assert_eq!(wide.to_vec(), [1., 2., 3., 1., 2., 3.]);
}

#[test]
fn contraction() {
    let a: Tensor<(N, K)> = Tensor::from_fn([2, 3], |i| (i[0] * 3 + i[1]) as f32);
    let b: Tensor<(K, M)> = Tensor::from_fn([3, 2], |i| (i[0] * 2 + i[1]) as f32);
    let product = [10., 13., 28., 40.];
    assert_eq!(a.matmul(&b).to_vec(), product);
    assert_eq!(a.mm(&b).to_vec(), product);
    let v = tensor!([1., 0., 1.]; K);
    assert_eq!(a.mv(&v).to_vec(), [2., 8.]);
    assert_eq!(v.dot(&v).item(), 2.0);
    let batch: Tensor<(B, N, M)> = stack(&[&a, &a], B).bmm(&stack(&[&b, &b], B));
    assert_eq!(batch.select(B, 1).to_vec(), product);
    let bias = tensor!([1., 2.]; M);
    assert_eq!(bias.addmm(&a, &b).to_vec(), [11., 15., 29., 42.]);
    let options = nomina::AddmmOptions {
        beta: 0.into(),
        alpha: 2.into(),
    };
    assert_eq!(
        bias.addmm_with(&a, &b, options).to_vec(),
        [20., 26., 56., 80.]
    );
    let w = b.transpose(K, M);
    let by_name: Tensor<(N, M)> = a.contract(&w, K);
    assert_eq!(by_name.to_vec(), product);
    let q = Tensor::<(B, T, K)>::ones([2, 3, 4]);
    let k = Tensor::<(B, S, K)>::ones([2, 5, 4]);
    let scores: Tensor<(B, T, S)> = q.contract(&k, K);
    assert_eq!(
        (scores.shape(), scores.sum(..).item()),
        (&[2, 3, 5][..], 120.0)
    );
}

#[test]
fn joining() {
    let (a, b) = (counted([1, 3]), counted([2, 3]));
    assert_eq!(cat(&[&a, &b], N).shape(), [3, 3]);
    assert_eq!(cat(&[a.clone(), b.clone()], N).shape(), [3, 3]);
    let mixed: Tensor<(N, C), f64> = cat((&a, &b.to::<f64>()), N);
    assert_eq!(mixed.shape(), [3, 3]);
    let rows: Vec<Tensor<(C,)>> = b.unbind(N);
    assert!(stack(&rows, N).equal(&b));
    assert!(nomina::try_cat::<&[&Tensor<(N, C)>], N>(&[], N).is_err());
}

#[test]
fn masks() {
    let x = counted([2, 3]);
    let mask = x.gt(2.0);
    assert_eq!(mask.where_cond(&x, 0.0).to_vec(), [0., 0., 0., 3., 4., 5.]);
    assert_eq!(
        mask.where_cond(&x, &-&x).to_vec(),
        [0., -1., -2., 3., 4., 5.]
    );
    let odd = tensor!([false, true, false]; C);
    assert_eq!(x.masked_fill(&odd, 9.0).to_vec(), [0., 9., 2., 3., 9., 5.]);
    let chosen: Tensor<(Wild,)> = x.masked_select(&odd);
    assert_eq!(chosen.to_vec(), [1., 4.]);
    assert!(!chosen.has_names());
    let mut y = x.clone();
    y.masked_fill_(&mask, -1.0);
    assert_eq!(y.to_vec(), [0., 1., 2., -1., -1., -1.]);
}
