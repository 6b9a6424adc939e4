//! Handwritten digits.

use std::error::Error;
use std::ops::Range;

use nomina::prelude::*;

use super::{H, N, W};

/// Pictures with pixels from 0 to 1, and their digits.
#[derive(Clone)]
pub struct Digits {
    pub images: Tensor<(N, H, W)>,
    pub labels: Tensor<(N,), i64>,
}

impl Digits {
    /// Loads all 1,797 digits of this repository: each line has 64 pixels from 0 to 16, row by row, then the digit.
    pub fn read() -> Result<Self, Box<dyn Error>> {
        let mut pixels = Vec::new();
        let mut labels = Vec::new();
        for line in include_str!("../../data/digits.csv").lines() {
            let numbers: Vec<u8> = line.split(',').map(str::parse).collect::<Result<_, _>>()?;
            let (label, image) = numbers.split_last().ok_or("an empty line")?;
            pixels.extend(image.iter().map(|&pixel| f32::from(pixel) / 16.0));
            labels.push(i64::from(*label));
        }
        let count = labels.len();
        Ok(Self {
            images: Tensor::from_vec(pixels, [count, 8, 8])?,
            labels: Tensor::from_vec(labels, [count])?,
        })
    }

    pub fn len(&self) -> usize {
        self.labels.size(N)
    }

    /// Selects pictures by index.
    pub fn pick(&self, rows: &Tensor<(N,), i64>) -> Self {
        Self {
            images: self.images.index_select(N, rows),
            labels: self.labels.index_select(N, rows),
        }
    }

    /// Selects consecutive pictures.
    #[allow(
        dead_code,
        reason = "not every example with these digits takes a part of them"
    )]
    pub fn narrow(&self, rows: Range<usize>) -> Self {
        Self {
            images: self.images.narrow(N, rows.clone()),
            labels: self.labels.narrow(N, rows),
        }
    }

    /// Splits into a training set of four fifths and a held-out set of one fifth, in a random order given by the seed.
    pub fn split(&self, seed: u64) -> (Self, Self) {
        manual_seed(seed);
        let order = Tensor::<(N,), i64>::randperm(self.len());
        let first = self.len() * 4 / 5;
        let [train, held_out] = [0..first, first..self.len()].map(|part| order.narrow(N, part));
        (self.pick(&train), self.pick(&held_out))
    }
}
