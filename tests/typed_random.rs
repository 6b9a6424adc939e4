//! Typed random fills, samples, attributes and conversions.

use nomina::prelude::*;

dims! { N, C }

type X<T = f32> = Tensor<(N, C), T>;

fn generator() -> Generator {
    Generator::new(3)
}

#[test]
fn fills_keep_dims_and_dtype() {
    let mut x = X::<f32>::zeros([20, 30]);
    let g = &mut generator();
    x.uniform_from_(-1.0, 1.0, g);
    assert!(x.to_vec().iter().all(|v| (-1.0..1.0).contains(v)));
    assert!(x.to_vec().iter().any(|v| *v < 0.0));
    x.exponential_from_(2.0, g);
    assert!(x.to_vec().iter().all(|v| *v > 0.0));
    x.geometric_from_(0.5, g);
    assert!(x.to_vec().iter().all(|v| *v >= 1.0 && v.fract() == 0.0));
    x.normal_(0.0, 1.0).log_normal_(0.0, 1.0).cauchy_(0.0, 1.0);
    let mut whole = X::<f32>::zeros_with::<i64>([20, 30]);
    whole.random_(3..5);
    assert!(whole.to_vec().iter().all(|v| (3..5).contains(v)));
    whole.random_(..);
    assert!(whole.to_vec().iter().any(|v| *v > i64::MAX / 4));
    let mut flags = whole.to::<bool>();
    flags.bernoulli_(1.0);
    assert!(flags.to_vec().iter().all(|v| *v));
    let mut z = x.to::<Complex<f64>>();
    z.normal_(0.0, 1.0);
    // Per column, with a tensor of probabilities; and on a view only.
    let p = Tensor::<(C,)>::from_fn([30], |i| (i[0] % 2) as f32);
    x.bernoulli_(&p);
    assert_eq!(x.sum(N).to_vec()[..4], [0.0, 20.0, 0.0, 20.0]);
    x.narrow_mut(C, ..1).uniform_(5.0, 6.0);
    assert!(
        x.select(C, 0)
            .to_vec()
            .iter()
            .all(|v| (5.0..6.0).contains(v))
    );
    assert_eq!(x.select(C, 1).to_vec(), vec![1.0; 20]);
    // A view draws the same numbers from a generator as a tensor of its sizes, and fails in the
    // same way.
    let drawn = X::<f32>::zeros([20, 2]).rand_like_from(&mut generator());
    x.narrow_mut(C, 2..4)
        .uniform_from_(0.0, 1.0, &mut generator());
    assert!(x.narrow(C, 2..4).equal(&drawn));
    let error = x
        .narrow_mut(C, 2..4)
        .try_uniform_(1.0, 0.0)
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("uniform"), "{error}");
    assert!(x.narrow(C, 2..4).equal(&drawn));
}

#[test]
fn a_generator_gives_the_same_again() {
    let draw = |g: &mut Generator| -> X { X::<f32>::zeros([2, 3]).rand_like_from(g) };
    let g = &mut generator();
    let (a, b) = (draw(g), draw(g));
    assert!(!a.equal(&b));
    assert!(a.equal(&draw(&mut generator())));
    // Equal to the dynamic call, whatever the types know.
    let mut d = DynTensor::zeros(&[2, 3], ["N", "C"]).unwrap();
    d.uniform_from_(0.0, 1.0, &mut generator()).unwrap();
    assert_eq!(d.to_vec::<f32>().unwrap(), a.to_vec());
    let options = Tensor::<(N, C)>::options().generator(g).dtype::<f64>();
    let x: X<f64> = options.normal(5.0, 0.0, [2, 3]);
    assert_eq!(x.to_vec(), [5.0; 6]);
}

#[test]
fn samples() {
    let g = &mut generator();
    let p = tensor!([[0., 1.], [1., 0.]]; N, C);
    assert!(p.bernoulli().equal(&p));
    assert!(p.bernoulli_from(g).equal(&p));
    let mut out = X::<f32>::zeros_with::<f64>([2, 2]);
    p.bernoulli_out(&mut out);
    assert!(out.to::<f32>().equal(&p));
    assert_eq!(p.mul(0.0).poisson().to_vec(), [0.0; 4]);
    let places: Tensor<(N, C), i64> = p.multinomial(1, C);
    assert_eq!((places.shape(), places.to_vec()), (&[2, 1][..], vec![1, 0]));
    let replacement = true;
    let many = p.multinomial_from(5, N, MultinomialOptions { replacement }, g);
    assert_eq!((many.size(N), many.size(C)), (5, 2));
    assert_eq!(many.sum(N).to_vec(), [5, 0]);
    let mean = tensor!([[1., 2.], [3., 4.]]; N, C);
    let std = tensor!([0., 0.]; C; f64);
    let x: X = Tensor::normal(&mean, &std);
    assert!(x.equal(&mean));
    let x: X = Tensor::normal(&mean, 0.0);
    assert!(x.equal(&mean));
    let x: Tensor<(C,), f64> = Tensor::normal(3.0, &std);
    assert_eq!(x.to_vec(), [3.0, 3.0]);
    let dice: Tensor<(N,), i64> = Tensor::randint(1..=6, [100]);
    assert!(dice.to_vec().iter().all(|v| (1..=6).contains(v)));
    assert!(dice.randint_like(7..8).to_vec().iter().all(|v| *v == 7));
    let mut order = Tensor::<(N,), _>::randperm(10).to_vec();
    order.sort_unstable();
    assert_eq!(order, (0..10).collect::<Vec<i64>>());
    let bytes: Tensor<(N,), u8> = Tensor::options().dtype().randint(250.., [9]);
    assert!(bytes.to_vec().iter().all(|v| *v >= 250));
}

#[test]
fn what_fails_says_so_and_changes_nothing() {
    let mut x = X::<f32>::ones([2, 2]);
    let text = |error: nomina::Error| error.to_string();
    let error = text(x.try_uniform_(1.0, 0.0).unwrap_err());
    assert!(
        error.contains("uniform") && error.contains("N=2, C=2"),
        "{error}"
    );
    assert!(x.try_normal_(0.0, f64::NAN).is_err());
    assert!(x.try_bernoulli_(2.0).is_err());
    assert!(x.try_bernoulli_(&tensor!([2.0, 0.0]; C)).is_err());
    assert!(x.try_bernoulli_(&tensor!([0.5, 0.5, 0.5]; C)).is_err());
    assert!(x.try_random_(5..5).is_err());
    assert_eq!(x.to_vec(), [1.0; 4]);
    assert!(x.try_multinomial(3, C).is_err());
    assert!(x.neg().try_poisson().is_err());
    assert!(X::<f32>::try_normal(&x, &x.neg()).is_err());
    assert!(x.try_resize_([4, 1]).is_err());
    assert!(x.try_cuda(0).is_err());
    assert!(Tensor::<(N,), i64>::try_randint(.., [2]).is_ok());
    assert!(
        Tensor::<(N,)>::options()
            .dtype::<u8>()
            .try_randint(0..300, [2])
            .is_err()
    );
}

#[test]
fn attributes_and_conversions() {
    let x = tensor!([[1.5, 0.0]]; N, C);
    assert_eq!((x.element_size(), x.itemsize(), x.nbytes()), (4, 4, 8));
    assert_eq!(
        (x.ndim(), x.type_name()),
        (2, "torch.FloatTensor".to_owned())
    );
    assert!(x.is_floating_point() && x.is_signed() && x.is_cpu());
    assert!(!x.is_complex() && !x.is_cuda());
    assert!(x.is_same_size(&x.int()) && x.select(N, 0).select(C, 0).is_nonzero());
    let all: (X<bool>, X<u8>, X<i8>, X<i16>) = (x.bool(), x.byte(), x.char(), x.short());
    assert_eq!(
        (all.0.to_vec(), all.1.to_vec()),
        (vec![true, false], vec![1, 0])
    );
    let wide: (X<i32>, X<i64>, X<f16>, X<bf16>) = (x.int(), x.long(), x.half(), x.bfloat16());
    assert_eq!((wide.0.to_vec(), wide.1.to_vec()), (vec![1, 0], vec![1, 0]));
    let (a, b): (X<f32>, X<f64>) = (wide.2.float(), wide.3.double());
    assert_eq!((a.to_vec(), b.to_vec()), (vec![1.5, 0.0], vec![1.5, 0.0]));
    let (c, d): (X<Complex<f32>>, X<Complex<f64>>) = (x.cfloat(), x.cdouble());
    assert!(c.is_complex() && d.is_signed());
    let same: X<f64> = x.type_as(&b);
    assert!(same.detach().equal(&b));
    let mut y = x.clone();
    assert_eq!(y.zero_().to_vec(), [0.0, 0.0]);
    assert_eq!(x.to_vec(), [1.5, 0.0]);
}

#[test]
fn only_what_has_no_name_is_resized() {
    let mut x: Tensor<(Wild, Wild), i64> = tensor!([[1, 2, 3], [4, 5, 6]]; N, C).drop_names();
    assert_eq!(x.resize_([2, 2]).to_vec(), [1, 2, 3, 4]);
    assert_eq!(x.resize_([3, 1]).to_vec(), [1, 2, 3]);
    assert_eq!(x.resize_([1, 7]).to_vec(), [1, 2, 3, 4, 5, 6, 0]);
    let named = Tensor::<(N, C)>::zeros([2, 2]);
    x.resize_as_(&named);
    assert_eq!((x.shape(), x.names()), (&[2, 2][..], names!["N", "C"]));
    let mut own = named.clone();
    assert_eq!(own.resize_([2, 2]).shape(), [2, 2]);
    assert!(
        own.try_resize_as_(&Tensor::<(N, C)>::zeros([1, 4]))
            .is_err()
    );
}
