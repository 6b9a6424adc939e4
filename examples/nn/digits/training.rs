//! Training that can be interrupted and resumed with bit-identical results.

use std::error::Error;
use std::path::Path;

use nomina::prelude::*;
use nomina_io::safetensors::{self, SafeTensors};
use nomina_nn::optim::schedule;
use nomina_nn::prelude::*;

use super::data::Digits;
use super::{Class, Classifier, N};

const BATCH: usize = 64;

/// The number of epochs, and the initial learning rate, which falls along half a cosine.
#[derive(Clone, Copy)]
pub struct Plan {
    pub epochs: u64,
    pub lr: f64,
    pub seed: u64,
}

/// A network in training, with everything that the next epoch depends on.
pub struct Training<M> {
    pub model: M,
    pub optimizer: AdamW,
    /// The number of finished epochs.
    pub epoch: u64,
    plan: Plan,
}

impl<M: Classifier> Training<M> {
    pub fn new(plan: Plan) -> Self {
        manual_seed(plan.seed);
        Self {
            model: M::new(),
            optimizer: AdamW::new(plan.lr),
            epoch: 0,
            plan,
        }
    }

    pub fn is_done(&self) -> bool {
        self.epoch >= self.plan.epochs
    }

    /// Trains on each picture once, and calls `step` with the loss and the size of each batch.
    pub fn run_epoch(&mut self, digits: &Digits, mut step: impl FnMut(f32, usize)) -> Result<()> {
        // All random numbers depend on the epoch's number only, not on what ran before.
        manual_seed(self.plan.seed + self.epoch);
        let rows = (digits.images.clone(), digits.labels.clone());
        let batches = Loader::from_tensors(N, rows, BATCH).shuffled(self.plan.seed);
        let batches = batches.epoch(self.epoch);
        let steps = batches.len() as u64;
        for (at, batch) in (self.epoch * steps..).zip(batches) {
            let (images, labels) = batch?;
            let scores = self.model.forward(&images, Mode::Train);
            let loss = scores.cross_entropy(&labels, Class);
            loss.backward();
            self.optimizer.options.lr =
                self.plan.lr * schedule::cosine(at, steps, self.plan.epochs * steps);
            self.optimizer.step(&mut self.model);
            step(loss.item(), labels.size(N));
        }
        self.epoch += 1;
        Ok(())
    }

    /// Writes the whole state to one file, atomically.
    pub fn save(&self, path: &Path) -> Result<()> {
        let under = |root, tensors: Vec<(String, DynTensor)>| {
            tensors
                .into_iter()
                .map(move |(path, tensor)| (format!("{root}.{path}"), tensor))
        };
        let tensors = under("model", self.model.state());
        let tensors = tensors.chain(under("optimizer", self.optimizer.state()));
        safetensors::save_with(path, tensors, [("epoch", self.epoch.to_string())])
    }

    /// Loads a file written by [`save`](Self::save).
    pub fn open(path: &Path, plan: Plan) -> Result<Self, Box<dyn Error>> {
        let file = SafeTensors::open(path)?;
        let mut found = Self::new(plan);
        let tensors = file.tensors()?;
        let under = |root: &'static str| {
            let tensors = tensors.iter();
            tensors.filter_map(move |(path, x)| Some((path.strip_prefix(root)?, x.clone())))
        };
        let loaded = found.model.try_load(under("model."));
        loaded.map_err(|error| error.within(path.display()))?;
        found
            .optimizer
            .try_load(&found.model, under("optimizer."))?;
        let epoch = file.metadata().get("epoch");
        let epoch = epoch.ok_or_else(|| format!("{}: no epoch is said", path.display()))?;
        found.epoch = epoch.parse()?;
        Ok(found)
    }
}
