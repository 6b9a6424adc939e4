//! Text generation: a model is asked for the next token again and again.

mod sampling;

use std::marker::PhantomData;

use nomina::dims::{Dim, Dims, Distinct, Has, Without};
use nomina::{DynTensor, Error, ErrorKind, Float, Names, Result, Tensor, Typed, no_grad};

pub use sampling::{Sampling, TokenSampler};

use crate::ok;

/// Continues a prompt: yields the next token of each sequence, endlessly.
///
/// `model` is called once for each token, without gradients. It takes the whole prompt along `S` first, then only the
/// last token (or tokens, one for each sequence), and returns the scores along `V` of the token after it. A model
/// without a [`KeyValueCache`](crate::layers::KeyValueCache) has to keep the tokens itself.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::{generate, prelude::*};
/// dims! { Seq, Word }
///
/// // A model that counts: after 3 comes 4, after 9 comes 0.
/// let prompt: Tensor<(Seq,), i64> = tensor!([6, 7]; Seq);
/// let text = generate(&prompt, Seq, Word, Sampling::greedy(), |ids| {
///     let next = ids.select(Seq, -1).add(1_i64).remainder(10_i64);
///     next.one_hot(Word.of(10)).to::<f32>()
/// });
/// let text: Vec<i64> = text.map(|id| id.item()).take_while(|id| *id != 2).collect();
/// assert_eq!(text, [8, 9, 0, 1]);
/// ```
///
/// # Panics
/// If an option is out of range; the iterator, if the scores have other dims than the prompt, or an allocation fails.
#[track_caller]
pub fn generate<S, V, P, D, T, F>(
    prompt: &Tensor<P, i64>,
    sequence: S,
    tokens: V,
    sampling: Sampling,
    mut model: F,
) -> impl Iterator<Item = Tensor<Without<D, V>, i64>> + use<S, V, P, D, T, F>
where
    F: FnMut(&Tensor<P, i64>) -> Tensor<D, T>,
    S: Dim,
    V: Dim,
    P: Dims + Has<S> + Distinct,
    D: Dims + Has<V>,
    T: Float,
    Without<D, V>: Distinct,
{
    let model = move |ids: &Tensor<P, i64>| Ok(model(ids));
    ok(try_generate(prompt, sequence, tokens, sampling, model)).map(ok)
}

/// Like [`generate`], for a model that returns an error if it fails. The iterator ends after an error.
///
/// # Errors
/// If an option is out of range.
pub fn try_generate<S, V, P, D, T, F>(
    prompt: &Tensor<P, i64>,
    _: S,
    _: V,
    sampling: Sampling,
    model: F,
) -> Result<Generation<S, V, P, D, T, F>>
where
    S: Dim,
    V: Dim,
    P: Dims + Has<S> + Distinct,
    D: Dims + Has<V>,
    T: Float,
    F: FnMut(&Tensor<P, i64>) -> Result<Tensor<D, T>>,
{
    let sampler = TokenSampler::try_new(sampling)?;
    let keeps = sampling.repetition_penalty != 1.0;
    Ok(Generation {
        model,
        sampler,
        next: Some(prompt.to_dyn()),
        seen: keeps.then(|| prompt.to_dyn()),
        types: PhantomData,
    })
}

/// The tokens that follow a prompt, from [`try_generate`].
pub struct Generation<S, V, P: Dims, D: Dims, T: Float, F> {
    model: F,
    sampler: TokenSampler,
    /// The tokens that the model has not got yet; none after an error.
    next: Option<DynTensor>,
    /// All tokens, if they have an effect.
    seen: Option<DynTensor>,
    types: PhantomData<fn(&Tensor<P, i64>, S, V) -> Tensor<D, T>>,
}

impl<S, V, P, D, T, F> Generation<S, V, P, D, T, F>
where
    S: Dim,
    V: Dim,
    P: Dims + Has<S> + Distinct,
    D: Dims + Has<V>,
    T: Float,
    F: FnMut(&Tensor<P, i64>) -> Result<Tensor<D, T>>,
    Without<D, V>: Distinct,
{
    fn step(&mut self, ids: &DynTensor) -> Result<Tensor<Without<D, V>, i64>> {
        let scores = (self.model)(&ids.typed()?)?;
        let seen = self.seen.as_ref().map(|seen| (seen.clone(), S::NAME));
        let drawn = self
            .sampler
            .draw(&scores.to_dyn(), V::NAME, seen.as_ref())?;
        let next = place::<P, S>(&drawn)?;
        if let (Some(seen), Some(sequence)) = (&mut self.seen, S::NAME) {
            *seen = DynTensor::cat(&[seen, &next], sequence)?;
        }
        self.next = Some(next);
        drawn.typed()
    }
}

/// Inserts the sequence's dim, and reorders the dims to those of the prompt.
fn place<P: Dims, S: Dim>(drawn: &DynTensor) -> Result<DynTensor> {
    let (names, sequence) = (Names::from_static(P::NAMES), Names::from_static(&[S::NAME]));
    let places: Vec<Option<usize>> = names
        .iter()
        .map(|name| drawn.names().position(name.as_ref()?))
        .collect();
    let fits = names.len() == drawn.rank() + 1
        && names
            .iter()
            .zip(&places)
            .all(|(name, place)| place.is_some() || *name == sequence[0]);
    if !fits {
        let what = "the scores of the model have other dims than the prompt beside the sequence's and the tokens'";
        return Err(Error::new(ErrorKind::NameMismatch, "generate", what)
            .operand(drawn.names(), drawn.shape())
            .operand(&names, &vec![1; names.len()])
            .hint("return the scores at the last position: `scores.select(Seq, -1)`"));
    }
    DynTensor::from_parts(drawn.raw().align(&places)?, names)
}

impl<S, V, P, D, T, F> Iterator for Generation<S, V, P, D, T, F>
where
    S: Dim,
    V: Dim,
    P: Dims + Has<S> + Distinct,
    D: Dims + Has<V>,
    T: Float,
    F: FnMut(&Tensor<P, i64>) -> Result<Tensor<D, T>>,
    Without<D, V>: Distinct,
{
    type Item = Result<Tensor<Without<D, V>, i64>>;

    fn next(&mut self) -> Option<Self::Item> {
        let ids = self.next.take()?;
        Some(no_grad(|| self.step(&ids)))
    }
}
