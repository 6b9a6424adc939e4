//! Dropout, and activation functions that draw random numbers.
//!
//! [`Tensor::dropout`], [`Tensor::dropout_from`], [`Tensor::alpha_dropout`],
//! [`Tensor::alpha_dropout_from`], [`Tensor::rrelu`], [`Tensor::rrelu_from`].

use std::cell::RefCell;

use nomina_core::dims::Dims;
use nomina_core::{Element, Float, Result};
use nomina_macros::twin;
use nomina_runtime::Generator;
use nomina_runtime::tensor::{AlphaDropoutOptions, DropoutOptions, RreluOptions};

use crate::erased::{Known, compose};
use crate::tensor::Tensor;

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Zeroes elements with a probability of one half, and doubles the rest to preserve the mean.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// manual_seed(0);
    /// let x = Tensor::<(N,)>::ones([1000]);
    /// let y = x.dropout();
    /// assert!(y.to_vec().iter().all(|&v| v == 0.0 || v == 2.0));
    /// ```
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with options.")]
    pub fn try_dropout_with(&self, options: DropoutOptions) -> Result<Self>
    where
        T: Float,
    {
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].dropout_with(options),
        ))
    }

    /// Like [`dropout_with`](Self::dropout_with), but draws from the given generator.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_dropout_from(
        &self,
        options: DropoutOptions,
        generator: &mut Generator,
    ) -> Result<Self>
    where
        T: Float,
    {
        let generator = RefCell::new(generator);
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].dropout_from(options, &mut generator.borrow_mut()),
        ))
    }

    /// Returns the tensor itself; in training, drops elements to the value that `selu` saturates
    /// at.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with options.")]
    pub fn try_alpha_dropout_with(&self, options: AlphaDropoutOptions) -> Result<Self>
    where
        T: Float,
    {
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].alpha_dropout_with(options),
        ))
    }

    /// Like [`alpha_dropout_with`](Self::alpha_dropout_with), but draws from the given generator.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_alpha_dropout_from(
        &self,
        options: AlphaDropoutOptions,
        generator: &mut Generator,
    ) -> Result<Self>
    where
        T: Float,
    {
        let generator = RefCell::new(generator);
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].alpha_dropout_from(options, &mut generator.borrow_mut()),
        ))
    }

    /// Multiplies negative elements by a number between 1/8 and 1/3: by the middle, or in training
    /// by a random one.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin(with = "but with options.")]
    pub fn try_rrelu_with(&self, options: RreluOptions) -> Result<Self>
    where
        T: Float,
    {
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].rrelu_with(options),
        ))
    }

    /// Like [`rrelu_with`](Self::rrelu_with), but draws from the given generator.
    ///
    /// # Errors
    /// If sizes, dtypes, devices, or names known only at run time do not match.
    #[twin]
    pub fn try_rrelu_from(&self, options: RreluOptions, generator: &mut Generator) -> Result<Self>
    where
        T: Float,
    {
        let generator = RefCell::new(generator);
        Tensor::try_from_erased(compose::call_for_tensor(
            &[self.erased()],
            D::STATIC,
            |given| given[0].rrelu_from(options, &mut generator.borrow_mut()),
        ))
    }
}

// The forms in place and with an out tensor.
include!("random/forms.rs");
