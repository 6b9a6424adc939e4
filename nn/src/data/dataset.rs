//! Items by index.

use std::sync::Arc;

use nomina::Generator;

use super::BoxError;

/// Items that are read by index, from any thread.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::data::{BoxError, Dataset};
/// use nomina_nn::prelude::*;
/// dims! { N, T }
///
/// /// Windows of a series, each with the number after it.
/// struct Windows(Vec<f32>);
///
/// impl Dataset for Windows {
///     type Item = (Tensor<(T,)>, f32);
///     fn len(&self) -> usize {
///         self.0.len() - 4
///     }
///     fn try_get(&self, index: usize) -> Result<Self::Item, BoxError> {
///         let window = self.0[index..index + 4].to_vec();
///         Ok((Tensor::from_vec(window, [4])?, self.0[index + 4]))
///     }
/// }
///
/// let series = Windows((0..20).map(|x| x as f32).collect());
/// let loader = Loader::new(N, series, 8);
/// let (x, y): (Tensor<(N, T)>, Tensor<(N,)>) = loader.epoch(0).next().unwrap()?;
/// assert_eq!((x.shape(), y.to_vec()[7]), (&[8, 4][..], 11.0));
/// # Ok::<(), BoxError>(())
/// ```
pub trait Dataset: Send + Sync {
    /// The type of an item: a tensor, a number, a tuple, a struct with `#[derive(Batch)]`.
    type Item;

    /// Returns the number of items.
    fn len(&self) -> usize;

    /// Reads an item.
    ///
    /// # Errors
    /// Any error; the loader adds the index.
    fn try_get(&self, index: usize) -> Result<Self::Item, BoxError>;

    /// Reads an item and changes it at random. The generator depends on the loader's seed, the epoch and the index only,
    /// so that items are the same for any number of threads. Without random changes by default.
    ///
    /// # Errors
    /// Any error; the loader adds the index.
    fn try_draw(&self, index: usize, generator: &mut Generator) -> Result<Self::Item, BoxError> {
        let _ = generator;
        self.try_get(index)
    }

    /// Returns whether there is no item.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<I: Clone + Send + Sync> Dataset for Vec<I> {
    type Item = I;

    fn len(&self) -> usize {
        self.len()
    }

    fn try_get(&self, index: usize) -> Result<I, BoxError> {
        Ok(self[index].clone())
    }
}

impl<D: Dataset + ?Sized> Dataset for Arc<D> {
    type Item = D::Item;

    fn len(&self) -> usize {
        (**self).len()
    }

    fn try_get(&self, index: usize) -> Result<D::Item, BoxError> {
        (**self).try_get(index)
    }

    fn try_draw(&self, index: usize, generator: &mut Generator) -> Result<D::Item, BoxError> {
        (**self).try_draw(index, generator)
    }
}

/// The items that a function reads: a number of items, and the function.
#[derive(Clone, Copy, Debug)]
pub struct FromFn<F> {
    /// The number of items.
    pub len: usize,
    /// Reads an item.
    pub read: F,
}

impl<I, E: Into<BoxError>, F: Fn(usize) -> Result<I, E> + Send + Sync> Dataset for FromFn<F> {
    type Item = I;

    fn len(&self) -> usize {
        self.len
    }

    fn try_get(&self, index: usize) -> Result<I, BoxError> {
        (self.read)(index).map_err(Into::into)
    }
}

/// A data set whose items a function changes, with random numbers from a generator.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::data::Augmented;
/// use nomina_nn::prelude::*;
/// dims! { N, C }
/// let noise = |x: Tensor<(C,)>, generator: &mut Generator| -> Result<Tensor<(C,)>> {
///     Ok(&x + Tensor::<(C,)>::options().generator(generator).try_randn([3])?)
/// };
/// let data = Augmented { data: vec![Tensor::<(C,)>::zeros([3]); 10], change: noise };
/// let loader = Loader::new(N, data, 10).shuffled(7);
/// let first = |epoch| loader.epoch(epoch).next().unwrap().unwrap();
/// assert!(first(0).equal(&first(0)) && !first(0).equal(&first(1)));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Augmented<D, F> {
    /// The items.
    pub data: D,
    /// The change of an item.
    pub change: F,
}

impl<D: Dataset, I, E: Into<BoxError>, F> Dataset for Augmented<D, F>
where
    F: Fn(D::Item, &mut Generator) -> Result<I, E> + Send + Sync,
{
    type Item = I;

    fn len(&self) -> usize {
        self.data.len()
    }

    fn try_get(&self, index: usize) -> Result<I, BoxError> {
        self.try_draw(index, &mut Generator::new(index as u64))
    }

    fn try_draw(&self, index: usize, generator: &mut Generator) -> Result<I, BoxError> {
        let item = self.data.try_draw(index, generator)?;
        (self.change)(item, generator).map_err(Into::into)
    }
}
