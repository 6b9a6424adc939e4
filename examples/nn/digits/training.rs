//! Training that can be cut off and goes on to the bit.

use std::error::Error;
use std::path::Path;

use nomina::prelude::*;
use nomina_io::safetensors::{self, SafeTensors};
use nomina_nn::optim::schedule;
use nomina_nn::prelude::*;

use super::data::Digits;
use super::{Class, Classifier, N};

const BATCH: usize = 64;

/// How long, and how fast at first; the rate falls along half a cosine.
#[derive(Clone, Copy)]
pub struct Plan {
    pub epochs: u64,
    pub lr: f64,
    pub seed: u64,
}

/// A network that is trained, and what its next epoch follows from.
pub struct Training<M> {
    pub model: M,
    pub optimizer: AdamW,
    /// How many epochs are done.
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

    /// Sees each picture once, and tells `step` the loss of each batch.
    pub fn run_epoch(&mut self, digits: &Digits, mut step: impl FnMut(f32)) {
        // All that is drawn follows from the number of the epoch, not from what ran before it.
        let seed = self.plan.seed + self.epoch;
        manual_seed(seed);
        let batches = Batches::shuffled(N.of(digits.len()), BATCH, seed);
        let steps = batches.len() as u64;
        for (at, rows) in (self.epoch * steps..).zip(batches) {
            let batch = digits.pick(&rows);
            let scores = self.model.forward(&batch.images, true);
            let loss = scores.cross_entropy(&batch.labels, Class);
            loss.backward();
            self.optimizer.options.lr =
                self.plan.lr * schedule::cosine(at, steps, self.plan.epochs * steps);
            self.optimizer.step(&mut self.model);
            step(loss.item());
        }
        self.epoch += 1;
    }

    /// Writes all of it to one file, which is there as a whole or not at all.
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

    /// What [`save`](Self::save) wrote.
    pub fn open(path: &Path, plan: Plan) -> Result<Self, Box<dyn Error>> {
        let file = SafeTensors::open(path)?;
        let mut found = Self::new(plan);
        let model = |path: &str| file.tensor(&format!("model.{path}"));
        found.model.try_load(model)?;
        let optimizer = |path: &str| file.tensor(&format!("optimizer.{path}"));
        found.optimizer.try_load(&found.model, optimizer)?;
        let epoch = file.metadata().get("epoch");
        let epoch = epoch.ok_or_else(|| format!("{}: no epoch is said", path.display()))?;
        found.epoch = epoch.parse()?;
        Ok(found)
    }
}
