//! Drawing tokens from scores.

use nomina::dims::{Dim, Dims, Distinct, EachIn, Has, Joined, Without};
use nomina::{
    DType, DynTensor, Error, ErrorKind, Float, Generator, MultinomialOptions, Names, Result,
    SortOptions, Tensor, Typed,
};
use nomina_macros::twin;
use nomina_runtime::Raw;
use nomina_runtime::tensor::about;

const OP: &str = "sample";

/// The way in which the next token is drawn from a model's scores. The parts apply in this order, as in Hugging Face's
/// `transformers`; those that are left out have no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// The divisor of positive scores of tokens that occurred already, and the factor of negative ones; 1 by default.
    /// Keskar et al., "CTRL".
    pub repetition_penalty: f64,
    /// The divisor of scores; 1 by default. With 0, the token of the greatest score is taken.
    pub temperature: f64,
    /// The number of tokens with the greatest scores among which one is drawn. Fan et al., "Hierarchical Neural Story
    /// Generation".
    pub top_k: Option<usize>,
    /// The probability that the drawn-from tokens must reach together: they are the smallest set of the most probable
    /// ones. Holtzman et al., "The Curious Case of Neural Text Degeneration".
    pub top_p: Option<f64>,
    /// The least probability of a token, as a fraction of the greatest one. Nguyen et al., "Turning Up the Heat".
    pub min_p: Option<f64>,
    /// The seed of a generator of its own. By default, the thread's generator draws.
    pub seed: Option<u64>,
}

impl Default for Sampling {
    fn default() -> Self {
        Self {
            repetition_penalty: 1.0,
            temperature: 1.0,
            top_k: None,
            top_p: None,
            min_p: None,
            seed: None,
        }
    }
}

impl Sampling {
    /// Returns the options that take the token of the greatest score.
    #[must_use]
    pub fn greedy() -> Self {
        Self {
            temperature: 0.0,
            ..Self::default()
        }
    }

    fn check(&self) -> Result<()> {
        let fraction = |p: Option<f64>| p.is_none_or(|p| (0.0..=1.0).contains(&p));
        let wrong = if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            ("temperature", "a number of at least 0")
        } else if !(self.repetition_penalty > 0.0 && self.repetition_penalty.is_finite()) {
            ("repetition_penalty", "a number above 0")
        } else if self.top_k == Some(0) {
            ("top_k", "at least 1")
        } else if !fraction(self.top_p) {
            ("top_p", "a number from 0 to 1")
        } else if !fraction(self.min_p) {
            ("min_p", "a number from 0 to 1")
        } else {
            return Ok(());
        };
        let what = format!("`{}` is out of range", wrong.0);
        Err(Error::new(ErrorKind::Argument, OP, what).hint(format!("give {}", wrong.1)))
    }
}

/// Draws tokens from scores, as its [`Sampling`] says.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::prelude::*;
/// dims! { N, Word }
///
/// let scores = tensor!([[1., 3., 2.], [9., 0., 0.]]; N, Word);
/// let mut sampler = TokenSampler::new(Sampling { top_k: Some(2), seed: Some(1), ..default() });
/// let ids: Tensor<(N,), i64> = sampler.sample(&scores, Word);
/// assert!(ids.to_vec()[0] != 0);
/// let chances: Tensor<(N, Word)> = sampler.probabilities(&scores, Word);
/// assert!(chances.to_vec()[0] == 0.0 && (chances.to_vec()[1] - 0.731).abs() < 1e-3);
/// assert_eq!(TokenSampler::new(Sampling::greedy()).sample(&scores, Word).to_vec(), [1, 0]);
/// ```
#[derive(Clone, Debug)]
pub struct TokenSampler {
    sampling: Sampling,
    generator: Option<Generator>,
}

impl TokenSampler {
    /// Creates a sampler.
    ///
    /// # Errors
    /// If an option is out of range.
    #[twin]
    pub fn try_new(sampling: Sampling) -> Result<Self> {
        sampling.check()?;
        Ok(Self {
            sampling,
            generator: sampling.seed.map(Generator::new),
        })
    }

    /// Returns the options.
    #[must_use]
    pub const fn sampling(&self) -> Sampling {
        self.sampling
    }

    /// Draws an index along `V` for each of the other dims' elements.
    ///
    /// # Errors
    /// If a score is NaN, or an allocation fails.
    #[twin]
    pub fn try_sample<D: Dims + Has<V>, V: Dim, T: Float>(
        &mut self,
        scores: &Tensor<D, T>,
        tokens: V,
    ) -> Result<Tensor<Without<D, V>, i64>>
    where
        Without<D, V>: Distinct,
    {
        let _ = tokens;
        self.draw(&scores.to_dyn(), V::NAME, None)?.typed()
    }

    /// Like [`sample`](Self::sample), after the tokens `seen` along `S`, to which the repetition penalty applies.
    ///
    /// # Errors
    /// If a score is NaN, a token is not an index along `V`, or an allocation fails.
    #[twin]
    pub fn try_sample_after<
        D: Dims + Has<V>,
        V: Dim,
        T: Float,
        P: Dims + Has<S> + EachIn<Joined<Without<D, V>, (S,)>>,
        S: Dim,
    >(
        &mut self,
        scores: &Tensor<D, T>,
        tokens: V,
        seen: &Tensor<P, i64>,
        sequence: S,
    ) -> Result<Tensor<Without<D, V>, i64>>
    where
        Without<D, V>: Distinct,
    {
        let _ = (tokens, sequence);
        let seen = (seen.to_dyn(), S::NAME);
        self.draw(&scores.to_dyn(), V::NAME, Some(&seen))?.typed()
    }

    /// Returns the probabilities along `V` from which [`sample`](Self::sample) draws. With a temperature of 0, the
    /// greatest score has all of it.
    ///
    /// # Errors
    /// If an allocation fails.
    #[twin]
    pub fn try_probabilities<D: Dims + Has<V> + Distinct, V: Dim, T: Float>(
        &self,
        scores: &Tensor<D, T>,
        tokens: V,
    ) -> Result<Tensor<D>> {
        let _ = tokens;
        self.chances(&scores.to_dyn(), V::NAME, None)?.typed()
    }

    /// Like [`probabilities`](Self::probabilities), after the tokens `seen` along `S`.
    ///
    /// # Errors
    /// If a token is not an index along `V`, or an allocation fails.
    #[twin]
    pub fn try_probabilities_after<
        D: Dims + Has<V> + Distinct,
        V: Dim,
        T: Float,
        P: Dims + Has<S> + EachIn<Joined<Without<D, V>, (S,)>>,
        S: Dim,
    >(
        &self,
        scores: &Tensor<D, T>,
        tokens: V,
        seen: &Tensor<P, i64>,
        sequence: S,
    ) -> Result<Tensor<D>> {
        let _ = (tokens, sequence);
        let seen = (seen.to_dyn(), S::NAME);
        self.chances(&scores.to_dyn(), V::NAME, Some(&seen))?
            .typed()
    }

    /// Draws an index along the dim `tokens`.
    pub(super) fn draw(
        &mut self,
        scores: &DynTensor,
        tokens: Option<&'static str>,
        seen: Option<&Seen>,
    ) -> Result<DynTensor> {
        let rows = Rows::new(scores, tokens, seen)?;
        let Ranked { weights, ids } = self.rank(&rows)?;
        let place = if self.sampling.temperature == 0.0 {
            let first = DynTensor::zeros(&[rows.count(), 1], ())?.to_dtype(DType::I64)?;
            first.to_device(ids.device())?
        } else {
            let options = MultinomialOptions::default();
            match &mut self.generator {
                Some(generator) => weights.multinomial_from(1, TOKENS, options, generator),
                None => weights.multinomial_with(1, TOKENS, options),
            }
            .map_err(|error| about(error.in_op(OP), &[scores]))?
        };
        let drawn = ids.gather(TOKENS, &place)?.raw().reshape(&rows.sizes)?;
        DynTensor::from_parts(drawn, rows.names.clone())
    }

    fn chances(
        &self,
        scores: &DynTensor,
        tokens: Option<&'static str>,
        seen: Option<&Seen>,
    ) -> Result<DynTensor> {
        let rows = Rows::new(scores, tokens, seen)?;
        let Ranked { weights, ids } = self.rank(&rows)?;
        let none = DynTensor::zeros(rows.scores.shape(), ())?.to_device(ids.device())?;
        let weights = none.scatter(TOKENS, &ids, &weights)?;
        // The tokens' dim moves back to its place.
        let at = rows.tokens;
        let last = rows.sizes.len();
        let sizes = [&rows.sizes[..], &[rows.scores.shape()[1]]].concat();
        let order: Vec<usize> = (0..at).chain([last]).chain(at..last).collect();
        let weights = weights.raw().reshape(&sizes)?.permute(&order)?;
        DynTensor::from_parts(weights, scores.names().clone())
    }

    /// Returns the tokens in order of decreasing scores, as far as they can be drawn.
    fn rank(&self, rows: &Rows) -> Result<Ranked> {
        let Sampling {
            repetition_penalty,
            temperature,
            top_k,
            top_p,
            min_p,
            ..
        } = self.sampling;
        let mut scores = rows.scores.clone();
        if let Some(seen) = &rows.seen
            && repetition_penalty != 1.0
        {
            let found = scores.gather(TOKENS, seen)?;
            let [less, more] = [
                found.div(repetition_penalty)?,
                found.mul(repetition_penalty)?,
            ];
            let changed = found.gt(0.0)?.where_cond(&less, &more)?;
            scores = scores.scatter(TOKENS, seen, &changed)?;
        }
        let (mut sorted, mut ids) = scores.sort_with(TOKENS, SortOptions { descending: true })?;
        let all = sorted.shape()[1];
        let count = match top_k {
            _ if temperature == 0.0 => 1,
            Some(k) => k.min(all),
            None => all,
        };
        if count < all {
            sorted = sorted.narrow(TOKENS, 0, count)?;
            ids = ids.narrow(TOKENS, 0, count)?;
        }
        if temperature != 0.0 && temperature != 1.0 {
            sorted = sorted.div(temperature)?;
        }
        if top_p.is_none() && min_p.is_none() {
            let weights = sorted.softmax(TOKENS)?;
            return Ok(Ranked { weights, ids });
        }
        let chances = sorted.softmax(TOKENS)?;
        if let Some(p) = top_p {
            // The probability of all tokens before each; the first one is always kept.
            let first = DynTensor::zeros(&[rows.count(), 1], ())?.to_device(sorted.device())?;
            let sums = chances.cumsum(TOKENS)?.narrow(TOKENS, 0, count - 1)?;
            let before = DynTensor::cat(&[&first, &sums], TOKENS)?;
            let beyond = before.ge(p.max(f64::from(f32::MIN_POSITIVE)))?;
            sorted = sorted.masked_fill(&beyond, f64::NEG_INFINITY)?;
        }
        if let Some(p) = min_p {
            let least = chances.narrow(TOKENS, 0, 1)?.mul(p)?;
            sorted = sorted.masked_fill(&chances.lt(&least)?, f64::NEG_INFINITY)?;
        }
        let weights = sorted.softmax(TOKENS)?;
        Ok(Ranked { weights, ids })
    }
}

/// The dim of [`Rows`] along which the tokens are.
const TOKENS: i64 = 1;

/// Tokens seen, and their sequence's dim.
pub(super) type Seen = (DynTensor, Option<&'static str>);

/// The probabilities of the most probable tokens, which may be zero, and the tokens.
struct Ranked {
    weights: DynTensor,
    ids: DynTensor,
}

/// Scores as rows of `f32`.
struct Rows {
    scores: DynTensor,
    seen: Option<DynTensor>,
    /// The position of the tokens' dim, and the other dims.
    tokens: usize,
    names: Names,
    sizes: Vec<usize>,
}

impl Rows {
    fn new(scores: &DynTensor, tokens: Option<&'static str>, seen: Option<&Seen>) -> Result<Self> {
        let at = |error: Error| about(error.in_op(OP), &[scores]);
        let position = |x: &DynTensor, name| {
            let name = Names::from_static(&[name]);
            let found = name[0].as_ref().and_then(|name| x.names().position(name));
            found.ok_or_else(|| {
                let what = format!("dim {name} not found");
                Error::new(ErrorKind::NameNotFound, OP, what).operand(x.names(), x.shape())
            })
        };
        let tokens = position(scores, tokens)?;
        let batch: Vec<usize> = (0..scores.rank()).filter(|&dim| dim != tokens).collect();
        let sizes: Vec<usize> = batch.iter().map(|&dim| scores.shape()[dim]).collect();
        let names: Names = batch
            .iter()
            .map(|&dim| scores.names()[dim].clone())
            .collect();
        let rows = |x: Raw| -> Result<DynTensor> {
            let width = x.shape()[x.rank() - 1];
            let count = x.shape()[..x.rank() - 1].iter().product();
            DynTensor::from_parts(x.reshape(&[count, width])?, Names::unnamed(2))
        };
        let seen = seen.map(|(seen, sequence)| {
            let sequence = position(seen, *sequence)?;
            let place = |name: &Option<_>| seen.names().position(name.as_ref()?);
            let places = names.iter().map(place).chain([Some(sequence)]);
            let seen = seen.raw().align(&places.collect::<Vec<_>>())?;
            let width = seen.shape()[seen.rank() - 1];
            rows(seen.expand(&[&sizes[..], &[width]].concat())?)
        });
        let order = [&batch[..], &[tokens]].concat();
        let ordered = scores.raw().clone().detach().permute(&order).map_err(at)?;
        Ok(Self {
            scores: rows(ordered)
                .and_then(|rows| rows.to_dtype(DType::F32))
                .map_err(at)?,
            seen: seen.transpose().map_err(at)?,
            tokens,
            names,
            sizes,
        })
    }

    fn count(&self) -> usize {
        self.scores.shape()[0]
    }
}
