//! Small generic functions, each with no more bounds than its author would think of.

use nomina::prelude::*;

dims! { N, C, H }

// Functions that need only `Dims`.

fn arithmetic<D: Dims>(x: &Tensor<D>, y: &Tensor<D>) -> Tensor<D> {
    let z = x + y;
    let z = &z - x * y;
    let z = z / (y + 3.0);
    -(z * 0.5 + x)
}

fn numbers_only<D: Dims, T: Numeric>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Tensor<D, T> {
    x + y * x - y
}

fn in_place<D: Dims, T: Numeric>(x: &mut Tensor<D, T>, y: &Tensor<D, T>) {
    *x += y;
    *x -= y.clone();
    *x *= y;
    x.add_(y).sub_(y);
}

fn accumulate<D: Dims>(xs: &[Tensor<D>]) -> Option<Tensor<D>> {
    let (first, rest) = xs.split_first()?;
    let mut sum = first.clone();
    for x in rest {
        sum += x;
    }
    Some(sum / xs.len() as f32)
}

fn total<D: Dims>(x: &Tensor<D>) -> f32 {
    x.sum(..).item() + x.mean(..).item() + x.amax(..).item() - x.amin(..).item()
}

fn total_of<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<(), T> {
    (x.sum(..) + x.mean(..)) * x.std(..)
}

fn loss<D: Dims, T: Float>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Tensor<(), T> {
    let difference = x - y;
    (&difference * &difference).mean(..)
}

fn gelu<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x * ((x / 2f64.sqrt()).erf() + 1.0) * 0.5
}

fn swish<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    x.sigmoid() * x
}

fn pointwise<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    let x = x.exp().log().tanh().abs().sqrt().relu();
    x.sigmoid().square().neg().sin().cos()
}

fn floats<D: Dims, T: Element>(x: &Tensor<D, T>) -> Tensor<D, T::Float> {
    x.exp()
}

fn powers<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x.pow(2.0) + x.pow(x) + x.atan2(x) + x.maximum(x) + x.minimum(x)
}

fn on_any_dtype<D: Dims + Has<C>, T: Element>(x: &Tensor<D, T>) -> Tensor<D, T::Float> {
    let e = x.exp() * 2.0 + 1;
    &e - e.mean(keep(C))
}

fn integers<D: Dims, T: Integral + Numeric>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x * 2 + 1
}

fn spread<D: Dims + Has<C>, T: Numeric>(x: &Tensor<D, T>) -> Tensor<Without<D, C>, T::Sum> {
    let sum = x.sum(C);
    &sum * 2 - &sum
}

fn clamped<D: Dims, T: Real + Numeric>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x.clamp(0, 1)
}

fn mask<D: Dims>(x: &Tensor<D>, y: &Tensor<D>) -> Tensor<D, bool> {
    let both = x.lt(y).logical_and(&x.gt(0.0));
    both.logical_or(&x.eq(y)).logical_not()
}

fn choose<D: Dims, T: Real + Numeric>(x: &Tensor<D, T>, y: &Tensor<D, T>) -> Tensor<D, T> {
    x.lt(y).where_cond(x, y)
}

fn filled<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    x.masked_fill(&x.lt(0.0), 0.0)
}

fn agree<D: Dims>(x: &Tensor<D>, y: &Tensor<D>) -> bool {
    x.equal(y) && x.allclose(y) && x.eq(y).all(..).item() && !x.ne(y).any(..).item()
}

fn like<D: Dims, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x.zeros_like() + x.ones_like() * 2.0 + x.full_like(1.0) + x.clone()
}

fn converted<D: Dims, T: Element, U: Element>(x: &Tensor<D, T>) -> Tensor<D, U> {
    x.contiguous().to::<f64>().to::<U>().detach().cpu()
}

fn listed<D: Dims, T: Element>(x: &Tensor<D, T>) -> (Vec<T>, Vec<usize>, usize, Names) {
    (x.to_vec(), x.shape().to_vec(), x.rank(), x.names())
}

fn shown<D: Dims, T: Element>(x: &Tensor<D, T>) -> String {
    format!("{x:?}")
}

fn mapped<D: Dims>(x: &Tensor<D>) -> Tensor<D, i64> {
    x.map(|value| value as i64 * 2)
}

fn there_and_back<D: Dims + Distinct, T: Element>(x: &Tensor<D, T>) -> Result<Tensor<D, T>> {
    x.to_dyn().typed()
}

fn tried<D: Dims>(x: &Tensor<D>, y: &Tensor<D>) -> Result<Tensor<D>> {
    let z = x.try_add(y)?.try_mul(2.0)?;
    z.try_sub(y)
}

fn summed<D: Dims>(xs: impl IntoIterator<Item = Tensor<D>>) -> Option<Tensor<D>> {
    xs.into_iter().reduce(|a, b| a + b)
}

fn applied<D: Dims>(x: &Tensor<D>, layers: &[Box<dyn Fn(&Tensor<D>) -> Tensor<D>>]) -> Tensor<D> {
    layers.iter().fold(x.clone(), |x, layer| &x + layer(&x))
}

fn on_a_thread<D: Dims>(x: &Tensor<D>) -> Tensor<D> {
    std::thread::scope(|scope| scope.spawn(|| x + x).join().expect("no panic"))
}

// Functions that also need `Has`.

fn reduced<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    let both = x.sum(C) + x.mean(C) * x.std(C) - x.amax(C);
    both / x.logsumexp(C)
}

fn softmaxes<D: Dims + Has<C>, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x.softmax(C) + x.log_softmax(C) + x.cumsum(C)
}

fn by_hand<D: Dims + Has<C>, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    let shifted = (x - x.amax(keep(C))).exp();
    &shifted / shifted.sum(keep(C))
}

fn pairs<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>> {
    let (greatest, at) = x.max(C);
    let (deviation, _) = x.std_mean(C);
    let (median, _) = x.median(C);
    greatest + at.to::<f32>() + deviation * median + x.argmax(C)
}

fn ordered<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<D> {
    let (sorted, order) = x.sort(C);
    let (best, _) = sorted.topk(2, C);
    best + x.gather(C, &order).narrow(C, 0..2) + sorted.flip(C).narrow(C, 0..2)
}

fn parts<D: Dims + Has<N>>(x: &Tensor<D>) -> Tensor<D> {
    let halves = x.chunk(N, 2);
    let again = cat(&[&halves[0], &halves[1]], N);
    let rows = x.split(N, 1);
    again + cat(&rows, N)
}

fn rows<D: Dims + Has<N>>(x: &Tensor<D>) -> Option<Tensor<Without<D, N>>> {
    let first = x.select(N, 0) + x.select(N, -1);
    x.unbind(N)
        .into_iter()
        .reduce(|a, b| a + b)
        .map(|x| x + first)
}

fn sized<D: Dims + Has<N>>(x: &Tensor<D>) -> usize {
    x.size(N) + x.iter_dim(N).count()
}

fn picked<D: Dims + Has<N>>(x: &Tensor<D>, ids: &Tensor<(N,), i64>) -> Tensor<D> {
    x.narrow(N, 0..1) + x.flip(N) + x.roll(1, N) + x.index_fill(N, ids, 0.0)
}

fn any_dims<D: Dims, A: AxesOf<D> + Copy, T: Float>(x: &Tensor<D, T>, dims: A) -> Tensor<D, T> {
    let centred = x - x.mean(keep(dims));
    &centred / (&centred * &centred).sum(keep(dims)).sqrt()
}

fn each_dim<D: Dims, A: AxesOf<D>>(x: &Tensor<D>, dims: A) -> Tensor<Without<D, A>> {
    x.sum(dims)
}

fn one_dim<D: Dims + Has<X>, X: Dim>(x: &Tensor<D>, dim: X) -> Tensor<D> {
    x.softmax(dim) + x.sum(keep(dim)) + x.cumsum(dim) * x.size(dim) as f32
}

fn variance<D: Dims + Has<C>, T: Float>(x: &Tensor<D, T>) -> Tensor<Without<D, C>, T> {
    let options = VarOptions {
        correction: 0.0,
        ..default()
    };
    x.var_with(C, options).sqrt() + x.norm_with(C, default())
}

fn normalised<D: Dims + Has<C>, T: Float>(x: &Tensor<D, T>) -> Tensor<D, T> {
    x.layer_norm(C) + x.rms_norm(C) + x.normalize(C)
}

fn scaled<D: Dims + Has<C> + Has<H>>(x: &Tensor<D>, s: &Tensor<(C, H)>) -> Tensor<D> {
    x * s.align_as(x) + s.sum(C).align_as(x)
}

fn truth<D: Dims + Has<C>>(x: &Tensor<D>) -> Tensor<Without<D, C>, bool> {
    x.gt(0.0).any(C).logical_and(&x.lt(9.0).all(C))
}

#[test]
fn dims_alone() {
    let x = tensor!([[1., -2., 3.], [4., 5., -6.]]; N, C);
    let y = tensor!([[0.5, 1., 2.], [3., 4., 5.]]; N, C);
    let by_hand = |x: f32, y: f32| -(((x + y) - x * y) / (y + 3.0) * 0.5 + x);
    let expected: Vec<f32> = x.iter().zip(y.iter()).map(|(x, y)| by_hand(x, y)).collect();
    assert_eq!(arithmetic(&x, &y).to_vec(), expected);
    assert_eq!(
        arithmetic(&x.select(N, 1), &y.select(N, 1)).to_vec(),
        expected[3..]
    );
    assert_eq!(
        numbers_only(&x.long(), &y.long()).to_vec(),
        [1, -5, 7, 13, 21, -41]
    );
    let mut z = x.clone();
    in_place(&mut z, &y);
    assert_eq!(z.to_vec(), (&x * &y).to_vec());
    assert_eq!(
        accumulate(&[x.clone(), y.clone()]).unwrap().to_vec(),
        ((&x + &y) / 2.0).to_vec()
    );
    assert_eq!(total(&tensor!([1., 2., 3.]; H)), 6.0 + 2.0 + 3.0 - 1.0);
    assert_eq!(
        total_of(&tensor!([1., 3.]; H; f64)).item(),
        6.0 * 2f64.sqrt()
    );
    assert_eq!(
        loss(&tensor!([1., 3.]; H), &tensor!([2., 5.]; H)).item(),
        2.5
    );
    assert!(gelu(&x).allclose(&x.gelu()));
    assert!(swish(&x).allclose(&x.silu()));
    let one = 1f64;
    let chain = one.exp().ln().tanh().abs().sqrt();
    let chain = (-(1.0 / (1.0 + (-chain).exp())).powi(2)).sin().cos();
    assert!((pointwise(&tensor!([1.]; H; f64)).sum(..).item() - chain).abs() < 1e-12);
    assert_eq!(floats(&tensor!([0]; H)).to_vec(), [1f32]);
    let expected = 4.0 + 4.0 + std::f64::consts::FRAC_PI_4 + 2.0 + 2.0;
    assert!((powers(&tensor!([2.]; H; f64)).sum(..).item() - expected).abs() < 1e-12);
    assert_eq!(clamped(&x.int()).to_vec(), [1, 0, 1, 1, 1, 0]);
    assert_eq!(integers(&x.int()).to_vec(), [3, -3, 7, 9, 11, -11]);
    assert_eq!(mask(&x, &x).to_vec(), [false; 6]);
    assert_eq!(choose(&x, &y).to_vec(), [0.5, -2., 2., 3., 4., -6.]);
    assert_eq!(filled(&x).to_vec(), [1., 0., 3., 4., 5., 0.]);
    assert!(agree(&x, &x) && !agree(&x, &y));
    assert_eq!(like(&x).to_vec(), (&x + 3.0).to_vec());
    assert_eq!(converted::<_, f32, i32>(&x).to_vec(), [1, -2, 3, 4, 5, -6]);
    assert_eq!(
        listed(&x.int().select(N, 0)),
        (vec![1, -2, 3], vec![3], 1, names!["C"])
    );
    assert!(shown(&x).contains("dims (N=2, C=3), f32"));
    assert_eq!(mapped(&y).to_vec(), [0, 2, 4, 6, 8, 10]);
    assert!(there_and_back(&x).unwrap().equal(&x));
    assert_eq!(tried(&x, &y).unwrap().to_vec(), (&x * 2.0 + &y).to_vec());
    assert_eq!(
        summed([x.clone(), y.clone()]).unwrap().to_vec(),
        (&x + &y).to_vec()
    );
    let layers: [Box<dyn Fn(&Tensor<(N, C)>) -> Tensor<(N, C)>>; 2] =
        [Box::new(|x| x * 2.0), Box::new(|x| -x)];
    assert_eq!(applied(&x, &layers).to_vec(), [0.0; 6]);
    assert_eq!(on_a_thread(&x).to_vec(), (&x * 2.0).to_vec());
}

#[test]
fn has_alone() {
    let x = tensor!([[1., 2., 3.], [6., 5., 4.]]; N, C);
    let turned = x.align_to((C, N));
    let lse = |row: [f32; 3]| row.iter().map(|v| v.exp()).sum::<f32>().ln();
    let expected = [
        (6. + 2. - 3.) / lse([1., 2., 3.]),
        (15. + 5. - 6.) / lse([6., 5., 4.]),
    ];
    for found in [reduced(&x), reduced(&turned)] {
        let near = |(a, b): (f32, f32)| (a - b).abs() < 1e-5;
        assert!(found.iter().zip(expected).all(near), "{found:?}");
    }
    let same = softmaxes(&x.double());
    assert!(
        same.allclose(&(x.double().softmax(C) + x.double().log_softmax(C) + x.double().cumsum(C)))
    );
    assert!(by_hand(&turned).allclose(&turned.softmax(C)));
    assert_eq!(
        pairs(&x).to_vec(),
        [3. + 2. + 1. * 2. + 2., 6. + 1. * 5. + 0.]
    );
    // Sorted: 1 2 3, 4 5 6; the two greatest: 3 2, 6 5; the last two: 3 2, 6 5.
    assert_eq!(
        ordered(&x).to_vec(),
        [3. + 1. + 3., 2. + 2. + 2., 6. + 4. + 6., 5. + 5. + 5.]
    );
    assert_eq!(parts(&x).to_vec(), (&x * 2.0).to_vec());
    assert_eq!(rows(&turned).unwrap().to_vec(), [14.0; 3]);
    assert_eq!(sized(&turned), 4);
    let ids = tensor!([0]; N);
    assert_eq!(picked(&x, &ids).to_vec(), [13., 12., 11., 9., 11., 13.]);
    let unit = any_dims(&x.double(), (N, C));
    assert!(((&unit * &unit).sum(..).item() - 1.0).abs() < 1e-12);
    assert_eq!(any_dims(&x, ..).shape(), [2, 3]);
    assert_eq!(each_dim(&x, (C, N)).item(), 21.0);
    assert_eq!(each_dim(&x, keep(C)).to_vec(), [6., 15.]);
    assert_eq!(one_dim(&x, N).sum(C).shape(), [2]);
    let (wide, square) = (2f64 / 3.0, 14f64);
    assert!((variance(&x.double()).to_vec()[0] - (wide.sqrt() + square.sqrt())).abs() < 1e-12);
    assert!(normalised(&turned).align_as(&x).allclose(&normalised(&x)));
    assert_eq!(truth(&x).to_vec(), [true, true]);
    assert_eq!(on_any_dtype(&tensor!([0, 0]; C)).to_vec(), [0f32, 0.]);
    assert_eq!(spread(&x.int()).to_vec(), [6i64, 15]);
    let s = tensor!([[1., 2.]]; C, H);
    let y = tensor!([[[1.], [1.]]]; N, H, C);
    assert_eq!(scaled(&y, &s).to_vec(), [1. + 1., 2. + 2.]);
}
