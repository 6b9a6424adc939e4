use nomina::prelude::*;

dims! { N, Seq, Embed, Source, Batch }

fn attention<D: Dims + Has<Seq> + Has<Embed>>(x: &Tensor<D>) -> Tensor<D> {
    let rows = x.flatten_others((Seq, Embed), Batch);
    let keys = rows.rename(Seq, Source);
    let scores = rows.contract(&keys, Embed).softmax(Source);
    scores.contract(&keys, Source).unflatten_as(Batch, x)
}

fn main() {
    let x = Tensor::<(N, Embed)>::ones([2, 3]);
    let y = attention(&x);
    let _: Tensor<(N,)> = y.sum(Embed);
}

// fix 13: let x = Tensor::<(N, Seq, Embed)>::ones([2, 4, 3]);
// fix 15: let _: Tensor<(N, Seq)> = y.sum(Embed);
