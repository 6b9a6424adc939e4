//! Rows along a dim that the ids have already.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, Word, Hidden }

fn main() {
    let words = Embedding::new(Word.of(10), Hidden.of(4));
    let ids: Tensor<(N, Hidden), i64> = Tensor::zeros([2, 3]);
    let x = words.forward(&ids);
    let _ = x;
}
// fix: let x = words.forward(&ids.select(Hidden, 0));
