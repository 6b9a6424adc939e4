//! A crate whose functions and layers are generic in dims, and a program that uses it with dims of its own.

use nomina::prelude::*;
use nomina_nn::prelude::*;

/// The crate, which declares no dims.
mod library {
    use nomina::dims::{IndexOf, Of, Resizable, SizeOf};
    use nomina::prelude::*;
    use nomina_nn::prelude::*;

    /// `(x - mean) / std` along any dim, of any float dtype.
    #[relations(D: Has<A>)]
    pub fn standardize<D, A, T: Float>(x: &Tensor<D, T>, dim: A) -> Tensor<D, T> {
        let centred = x - x.mean(keep(dim));
        let deviation = (centred.square().mean(keep(dim)) + 1e-5).sqrt();
        centred / deviation
    }

    /// Squared distances between all points of `a` and all of `b`, whose features are along `F`.
    #[relations(
        let Pairs = Contracted<D, E, F>,
        let A = Without<D, F>, A: AlignInto<Pairs>,
        let B = Without<E, F>, B: AlignInto<Pairs>,
    )]
    pub fn distances<D, E, F>(a: &Tensor<D>, b: &Tensor<E>, dim: F) -> Tensor<Pairs> {
        let product: Tensor<Pairs> = a.contract(b, dim);
        let [a, b] = [
            a.square().sum(dim).align_as(&product),
            b.square().sum(dim).align_as(&product),
        ];
        a + b - product * 2.0
    }

    /// The share of labels that are among the `k` greatest logits along `K`.
    #[relations(let Rest = Without<D, K>, Rest: AlignInto<D>, SizeOf<K>: Resizable<K>)]
    pub fn top_k_accuracy<D, K>(
        logits: &Tensor<D>,
        labels: &Tensor<Rest, i64>,
        classes: K,
        k: usize,
    ) -> f32 {
        let (_, places) = logits.topk(k, classes);
        let hits = places.eq(&labels.align_as(&places));
        hits.any(classes).float().mean(..).item()
    }

    /// Noise without the mean of each row.
    pub fn noise<R: Dim, I: Dim>(rows: usize, columns: usize) -> Tensor<(R, I)>
    where
        (R, I): Distinct,
    {
        let noise = Tensor::<(R, I)>::randn([rows, columns]);
        &noise - noise.mean(keep(I::default()))
    }

    /// The sum of each group of rows.
    pub fn totals<R: Dim, I: Dim, G: Dim>(
        x: &Tensor<(R, I)>,
        groups: &Tensor<(R,), i64>,
        count: Of<G>,
    ) -> Tensor<(G, I)>
    where
        (R, I): Distinct,
        (G,): IndexOf<(R, I), R>,
        (G, I): Distinct,
    {
        x.group_by(R::default(), groups, count).sum().into_dims()
    }

    /// Low-rank adaptation of a frozen linear layer: from `I` to `O` by way of `R`.
    #[derive(Module)]
    pub struct Lora<I: Dim, O: Dim, R: Dim> {
        pub base: Linear<I, O>,
        pub down: Param<(R, I)>,
        pub up: Param<(O, R)>,
    }

    impl<I: Dim, O: Dim, R: Dim> Lora<I, O, R>
    where
        (O, I): Distinct,
        (R, I): Distinct,
        (O, R): Distinct,
    {
        pub fn new(mut base: Linear<I, O>, rank: Of<R>) -> Self {
            base.freeze();
            let (outputs, inputs) = (base.weight.shape()[0], base.weight.shape()[1]);
            let down = Param::new(Tensor::<(R, I)>::randn([rank.size, inputs]) * 0.1);
            let up = Param::new(Tensor::zeros([outputs, rank.size]));
            Self { base, down, up }
        }

        #[relations(
            let Low = Contracted<D, (R, I), I>,
            let High = Contracted<Low, (O, R), R>,
            let Base = Contracted<D, (O, I), I>, Base: Distinct,
            High: AlignInto<Base>,
        )]
        pub fn forward<D>(&self, x: &Tensor<D>) -> Tensor<Base> {
            let base: Tensor<Base> = self.base.forward(x);
            let low: Tensor<Low> = x.contract(&self.down, I::default());
            let high: Tensor<High> = low.contract(&self.up, R::default());
            &base + high.align_as(&base)
        }
    }

    /// Squeeze and excitation over any set of dims.
    #[derive(Module)]
    pub struct SqueezeExcite<C: Dim, M: Dim> {
        pub squeeze: Linear<C, M>,
        pub excite: Linear<M, C>,
    }

    impl<C: Dim, M: Dim> SqueezeExcite<C, M> {
        #[relations(
            let Pooled = Without<D, S>,
            let Squeezed = Contracted<Pooled, (M, C), C>, Squeezed: Distinct,
            let Gate = Contracted<Squeezed, (C, M), M>, Gate: Distinct, Gate: AlignInto<D>,
        )]
        pub fn forward<D, S: AxesOf<D>>(&self, x: &Tensor<D>, dims: S) -> Tensor<D> {
            let pooled: Tensor<Pooled> = x.mean(dims);
            let squeezed: Tensor<Squeezed> = self.squeeze.forward(&pooled).relu();
            let gate: Tensor<Gate> = self.excite.forward(&squeezed).sigmoid();
            x * gate.align_as(x)
        }
    }
}

dims! { N, M, Seq, Feature, Class, In, Out, Rank, C, Mid, H, W, Time, Group }

#[test]
fn functions_take_dims_of_the_program() {
    let x = tensor!([[1., 5.], [2., 2.], [3., -1.]]; Feature, N).to::<f64>();
    let y = library::standardize(&x, Feature);
    assert!(y.mean(Feature).abs().max(..).item() < 1e-12);
    let a = tensor!([[0., 0.], [3., 4.]]; N, Feature);
    let b = tensor!([[[0.], [1.]], [[0.], [1.]]]; Feature, M, Time);
    let d: Tensor<(N, M, Time)> = library::distances(&a, &b, Feature);
    assert_eq!(d.to_vec(), [0.0, 2.0, 25.0, 13.0]);
    let logits = tensor!([[[3.], [2.], [1.]], [[1.], [2.], [3.]]]; N, Class, Seq);
    let labels = tensor!([[1], [0]]; N, Seq);
    assert_eq!(library::top_k_accuracy(&logits, &labels, Class, 2), 0.5);
    let noise = library::noise::<N, Feature>(3, 4);
    assert!(noise.sum(Feature).abs().max(..).item() < 1e-5);
    let x = tensor!([[1., 2.], [3., 4.], [5., 6.]]; N, Feature);
    let sums: Tensor<(Group, Feature)> = library::totals(&x, &tensor!([0, 1, 0]; N), Group.of(2));
    assert_eq!(sums.to_vec(), [6.0, 8.0, 3.0, 4.0]);
}

#[test]
fn layers_take_dims_of_the_program() {
    manual_seed(3);
    let base: Linear<In, Out> = Linear::new(In.of(6), Out.of(4));
    let mut lora = library::Lora::new(base, Rank.of(2));
    let x = Tensor::<(N, Seq, In)>::randn([3, 5, 6]);
    let target = Tensor::<(N, Seq, Out)>::randn([3, 5, 4]);
    let frozen = lora.base.weight.detach();
    let mut adam = AdamW::new(0.05);
    let mut step = || {
        let y: Tensor<(N, Seq, Out)> = lora.forward(&x);
        let loss = y.mse_loss(&target);
        loss.backward();
        adam.step(&mut lora);
        loss.item()
    };
    let losses: Vec<f32> = (0..100).map(|_| step()).collect();
    assert!(losses[99] < losses[0] * 0.9, "{} {}", losses[0], losses[99]);
    assert!(frozen.equal(&lora.base.weight));

    let gate = library::SqueezeExcite {
        squeeze: Linear::new(C.of(8), Mid.of(2)),
        excite: Linear::new(Mid.of(2), C.of(8)),
    };
    let image = Tensor::<(N, C, H, W)>::randn([2, 8, 4, 4]);
    assert!(
        gate.forward(&image, (H, W))
            .abs()
            .le(&image.abs())
            .all(..)
            .item()
    );
    let sound = Tensor::<(C, Time)>::randn([8, 9]);
    assert_eq!(gate.forward(&sound, Time).shape(), [8, 9]);
}
