use nomina::prelude::*;

dims! { N, Seq, Embed, Source }

#[relations(
    let K = Renamed<D, Seq, Source>,
    let Scores = Contracted<D, K, Embed>, Scores: Has<Source>,
    let Mixed = Contracted<Scores, K, Source>, Mixed: AlignInto<D>,
)]
fn attention<D>(x: &Tensor<D>) -> Tensor<D> {
    let keys: Tensor<K> = x.rename(Seq, Source);
    let scores: Tensor<Scores> = x.contract(&keys, Embed);
    scores.softmax(Source).contract(&keys, Source).align_as(x)
}

fn main() {
    let x = Tensor::<(N, Seq)>::ones([2, 3]);
    let y = attention(&x);
    let _: Tensor<(N,)> = y.sum(Seq);
}

// fix 17: let x = Tensor::<(N, Seq, Embed)>::ones([2, 4, 3]);
// fix 19: let _: Tensor<(N, Embed)> = y.sum(Seq);
