//! Attention scores of queries whose last dims are swapped: the product of both would have one dim twice.
use nomina::prelude::*;
dims! { N, Head, Seq, Key, Feature }

fn main() {
    let queries = Tensor::<(N, Head, Feature, Seq)>::ones([1, 2, 3, 3]).with_grad();
    let keys = Tensor::<(N, Head, Key, Feature)>::ones([1, 2, 3, 3]).with_grad();
    let scores = queries.matmul(&keys);
    scores.sum(..).backward();
}
// fix: let scores = queries.transpose(Feature, Seq).matmul(&keys.transpose(Key, Feature));
