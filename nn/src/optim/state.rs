//! The per-parameter state of an optimizer.

use std::collections::{BTreeMap, HashMap};

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{StepParam, StepRule};

use crate::call::ok;
use crate::identity::WeakIdentity;
use crate::load::fit_to;
use crate::module::{Module, Slot};
use crate::path::Path;

/// The state tensors of each parameter, and the number of its steps.
///
/// They are looked up by the parameter's identity. Its path is only used in files, and may change between steps.
#[derive(Clone, Debug, Default)]
pub(super) struct StateByParam {
    kept: BTreeMap<Key, ParamState>,
    /// The number of steps taken so far, by any parameters.
    clock: u64,
}

/// The key of a parameter's state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The address of an identity, and the number of preceding parameters of the model with that identity: clones of a
    /// parameter in one model have separate states.
    Identity(usize, usize),
    /// The path of a parameter without an identity.
    Path(String),
}

#[derive(Clone, Debug)]
struct ParamState {
    /// `None` for a parameter without an identity.
    identity: Option<WeakIdentity>,
    /// The path at the last step.
    path: String,
    /// The clock at the last step.
    stepped: u64,
    names: Names,
    /// The names of the tensors in a file: those that the last step used, then those that earlier steps used.
    words: Vec<&'static str>,
    state: Vec<Raw>,
    steps: u64,
}

/// Counts the parameters of a model that share an identity.
#[derive(Default)]
struct Keys(HashMap<usize, usize>);

impl Keys {
    /// Returns the key of a model's next parameter. Must be called for every parameter of the model, in order.
    fn next(&mut self, path: &str, slot: &dyn Slot) -> (Key, Option<WeakIdentity>) {
        let Some(identity) = slot.identity() else {
            return (Key::Path(path.to_owned()), None);
        };
        let weak = identity.downgrade();
        let before = self.0.entry(weak.address()).or_insert(0);
        let key = Key::Identity(weak.address(), *before);
        *before += 1;
        (key, Some(weak))
    }
}

/// A parameter to be stepped.
struct SteppedParam<'a, O> {
    path: String,
    key: Key,
    identity: Option<WeakIdentity>,
    slot: &'a mut dyn Slot,
    grad: DynTensor,
    options: O,
    words: &'static [&'static str],
}

/// The name of the step count in a file.
const STEP: &str = "step";

impl StateByParam {
    /// Steps all parameters that have a gradient, and clears the gradients.
    pub(super) fn step<O: StepRule>(
        &mut self,
        op: &'static str,
        model: &mut dyn Module,
        options_for: impl Fn(&str, &DynTensor) -> O,
    ) -> Result<()> {
        let mut all: Vec<SteppedParam<'_, O>> = Vec::new();
        let mut keys = Keys::default();
        model.each_mut(&mut Path::default(), &mut |path, slot| {
            if !slot.is_param() {
                return;
            }
            let (key, identity) = keys.next(path, slot);
            let param = slot.to_dyn();
            if let Some(grad) = param.grad() {
                let options = options_for(path, &param);
                let words = options.words(param.shape());
                let path = path.to_owned();
                all.push(SteppedParam {
                    path,
                    key,
                    identity,
                    slot,
                    grad,
                    options,
                    words,
                });
            }
        });
        self.forget_dropped();
        // The states are taken out, so that the buffers to write to are not shared; after an error, they are all put
        // back.
        let mut kept: Vec<ParamState> = Vec::new();
        let mut done = Ok(());
        for one in &all {
            match self.take(one) {
                Ok(taken) => kept.push(taken),
                Err(error) => {
                    done = Err(error.in_op(op).within(format_args!("`{}`", one.path)));
                    break;
                }
            }
        }
        let mut params: Vec<StepParam<'_, O>> = Vec::new();
        for (one, kept) in all.iter_mut().zip(&mut kept) {
            match one.slot.as_dyn_mut() {
                Ok(param) => params.push(StepParam {
                    param: param.into_parts().0,
                    grad: one.grad.raw(),
                    state: &mut kept.state[..one.words.len()],
                    step: kept.steps + 1,
                    options: &one.options,
                }),
                Err(error) => {
                    done = Err(error.in_op(op).within(format_args!("`{}`", one.path)));
                }
            }
        }
        let done = done.and_then(|()| O::step(op, &mut params));
        drop(params);
        self.clock += u64::from(done.is_ok());
        for (one, mut kept) in all.into_iter().zip(kept) {
            if done.is_ok() {
                kept.steps += 1;
                (kept.path, kept.stepped) = (one.path, self.clock);
                one.slot.to_dyn().zero_grad();
            }
            if !kept.words.is_empty() {
                self.kept.insert(one.key, kept);
            }
        }
        done
    }

    /// Drops the state of parameters that no longer exist.
    fn forget_dropped(&mut self) {
        self.kept.retain(|_, kept| kept.is_alive());
    }

    /// Takes out the state of a parameter, initially zeros, and converts it to the parameter's device and dtype. Changes
    /// nothing after an error.
    fn take<O>(&mut self, one: &SteppedParam<'_, O>) -> Result<ParamState> {
        let param = one.slot.to_dyn();
        let (shape, dtype, device) = (param.shape(), param.dtype(), param.device());
        // Options without state leave that of earlier steps where it is.
        let kept = self.kept.get(&one.key).filter(|_| !one.words.is_empty());
        let (words, old) = kept.map_or((&[][..], &[][..]), |kept| (&kept.words, &kept.state));
        if old.iter().any(|raw| raw.shape() != shape) {
            let what = "the parameter's sizes changed since the last step";
            return Err(Error::new(ErrorKind::Shape, "step", what)
                .operand(param.names(), param.shape())
                .hint("make a new optimizer for another model"));
        }
        let fits = |raw: &Raw| raw.device() == device && raw.dtype() == dtype;
        let mut fitted = None;
        if !old.iter().all(fits) {
            let moved = old.iter().map(|raw| {
                let tensor = DynTensor::from_parts(raw.clone(), param.names().clone())?;
                Ok(tensor.to_dtype(dtype)?.to_device(device)?.into_parts().0)
            });
            fitted = Some(moved.collect::<Result<Vec<_>>>()?);
        }
        let missing = one.words.iter().filter(|word| !words.contains(word));
        let missing: Vec<&'static str> = missing.copied().collect();
        let zeros = missing
            .iter()
            .map(|_| Raw::zeros("step", shape, dtype, device));
        let zeros = zeros.collect::<Result<Vec<_>>>()?;
        // Nothing fails from here on.
        let mut taken = kept
            .is_some()
            .then(|| self.kept.remove(&one.key))
            .flatten()
            .unwrap_or_else(|| ParamState {
                identity: one.identity.clone(),
                path: one.path.clone(),
                stepped: 0,
                names: param.names().clone(),
                words: Vec::new(),
                state: Vec::new(),
                steps: 0,
            });
        taken.state = fitted.unwrap_or(taken.state);
        if missing.len() == one.words.len() {
            taken.steps = 0;
        }
        taken.words.extend(missing);
        taken.state.extend(zeros);
        for (at, word) in one.words.iter().enumerate() {
            if let Some(from) = taken.words.iter().position(|own| own == word) {
                taken.words.swap(at, from);
                taken.state.swap(at, from);
            }
        }
        Ok(taken)
    }

    /// Returns all states, sorted by path, then by name: `layers.0.weight.exp_avg`. Paths are those of the last step.
    #[track_caller]
    pub(super) fn state(&self) -> Vec<(String, DynTensor)> {
        // If two models share a path, the one stepped later wins.
        let mut by_path: BTreeMap<&str, &ParamState> = BTreeMap::new();
        for kept in self.kept.values().filter(|kept| kept.is_alive()) {
            let other = by_path.get(&kept.path[..]);
            if other.is_none_or(|other| other.stepped <= kept.stepped) {
                by_path.insert(&kept.path, kept);
            }
        }
        self.tensors(by_path)
    }

    /// Returns the states of a model's parameters, sorted by their current paths.
    #[track_caller]
    pub(super) fn state_of(&self, model: &dyn Module) -> Vec<(String, DynTensor)> {
        let mut by_path: BTreeMap<String, &ParamState> = BTreeMap::new();
        let mut keys = Keys::default();
        model.each(&mut Path::default(), &mut |path, slot| {
            if slot.is_param()
                && let Some(kept) = self.kept.get(&keys.next(path, slot).0)
            {
                by_path.insert(path.to_owned(), kept);
            }
        });
        self.tensors(by_path)
    }

    #[track_caller]
    fn tensors<P: AsRef<str>>(
        &self,
        by_path: BTreeMap<P, &ParamState>,
    ) -> Vec<(String, DynTensor)> {
        let mut state = Vec::new();
        for (path, kept) in by_path {
            let path = path.as_ref();
            for (word, raw) in kept.words.iter().zip(&kept.state) {
                let tensor = DynTensor::from_parts(raw.clone(), kept.names.clone());
                state.push((format!("{path}.{word}"), ok(tensor)));
            }
            let steps = i64::try_from(kept.steps).unwrap_or(i64::MAX);
            let steps = DynTensor::full(&[], steps, ());
            state.push((format!("{path}.{STEP}"), ok(steps)));
        }
        state
    }

    /// Loads the states of a model's trained parameters from `of`. Changes nothing after an error.
    pub(super) fn load(
        &mut self,
        op: &'static str,
        model: &dyn Module,
        words: impl Fn(&str, &DynTensor) -> &'static [&'static str],
        mut of: impl FnMut(&str) -> Result<DynTensor>,
    ) -> Result<()> {
        let mut all = BTreeMap::new();
        let (mut trained, mut keys) = (Vec::new(), Keys::default());
        model.each(&mut Path::default(), &mut |path, slot| {
            if slot.is_param() {
                let found = keys.next(path, slot);
                let param = slot.to_dyn();
                if param.requires_grad() {
                    trained.push((path.to_owned(), found, param));
                }
            }
        });
        for (path, (key, identity), param) in trained {
            let words = words(&path, &param);
            if words.is_empty() {
                continue;
            }
            let mut one = |word: &str| {
                let path = format!("{path}.{word}");
                let found = of(&path);
                found.map_err(|error| error.in_op(op).within(format_args!("`{path}`")))
            };
            let mut state = Vec::new();
            for word in words {
                let found = fit_to(&param, one(word)?);
                let found = found
                    .map_err(|error| error.in_op(op).within(format_args!("`{path}.{word}`")))?;
                state.push(found.to_device(param.device())?.into_parts().0);
            }
            let steps = one(STEP)?.item()?.to_f64();
            let kept = ParamState {
                identity,
                path,
                stepped: self.clock,
                names: param.names().clone(),
                words: words.to_vec(),
                state,
                // The cast saturates.
                steps: steps as u64,
            };
            all.insert(key, kept);
        }
        self.kept = all;
        Ok(())
    }
}

impl ParamState {
    /// Returns whether its parameter may still be stepped.
    fn is_alive(&self) -> bool {
        self.identity.as_ref().is_none_or(WeakIdentity::is_alive)
    }
}
