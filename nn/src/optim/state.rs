//! The per-parameter state of an optimizer.

use std::collections::{BTreeMap, HashMap};

use nomina::{DynTensor, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::StepParam;

use crate::call::ok;
use crate::identity::WeakIdentity;
use crate::load::fit_to;
use crate::module::{Module, Slot};
use crate::path::Path;

/// `K` tensors for each parameter, and the number of its steps.
///
/// They are looked up by the parameter's identity. Its path is only used in files, and may change between steps.
#[derive(Clone, Debug)]
pub(super) struct StateByParam<const K: usize> {
    kept: BTreeMap<Key, ParamState<K>>,
    /// The names of the state tensors in a file.
    words: [&'static str; K],
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
struct ParamState<const K: usize> {
    /// `None` for a parameter without an identity.
    identity: Option<WeakIdentity>,
    /// The path at the last step.
    path: String,
    /// The clock at the last step.
    stepped: u64,
    names: Names,
    state: [Raw; K],
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
struct SteppedParam<'a> {
    path: String,
    key: Key,
    identity: Option<WeakIdentity>,
    slot: &'a mut dyn Slot,
    grad: DynTensor,
}

/// The name of the step count in a file.
const STEP: &str = "step";

impl<const K: usize> StateByParam<K> {
    pub(super) fn new(words: [&'static str; K]) -> Self {
        Self {
            kept: BTreeMap::new(),
            words,
            clock: 0,
        }
    }

    /// Steps all parameters that have a gradient, and clears the gradients.
    pub(super) fn step(
        &mut self,
        op: &'static str,
        model: &mut dyn Module,
        apply: impl FnOnce(&mut [StepParam<'_, K>]) -> Result<()>,
    ) -> Result<()> {
        let mut all: Vec<SteppedParam<'_>> = Vec::new();
        let mut keys = Keys::default();
        model.each_mut(&mut Path::default(), &mut |path, slot| {
            if !slot.is_param() {
                return;
            }
            let (key, identity) = keys.next(path, slot);
            if let Some(grad) = slot.to_dyn().grad() {
                let path = path.to_owned();
                all.push(SteppedParam {
                    path,
                    key,
                    identity,
                    slot,
                    grad,
                });
            }
        });
        self.forget_dropped();
        // The states are taken out, so that the buffers to write to are not shared; after an error, they are all put
        // back.
        let mut kept: Vec<ParamState<K>> = Vec::new();
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
        let mut params: Vec<StepParam<'_, K>> = Vec::new();
        for (one, kept) in all.iter_mut().zip(&mut kept) {
            match one.slot.as_dyn_mut() {
                Ok(param) => params.push(StepParam {
                    param: param.into_parts().0,
                    grad: one.grad.raw(),
                    state: kept.state.each_mut(),
                    step: kept.steps + 1,
                }),
                Err(error) => {
                    done = Err(error.in_op(op).within(format_args!("`{}`", one.path)));
                }
            }
        }
        let done = done.and_then(|()| apply(&mut params));
        drop(params);
        self.clock += u64::from(done.is_ok());
        for (one, mut kept) in all.into_iter().zip(kept) {
            if done.is_ok() {
                kept.steps += 1;
                (kept.path, kept.stepped) = (one.path, self.clock);
                one.slot.to_dyn().zero_grad();
            }
            self.kept.insert(one.key, kept);
        }
        done
    }

    /// Drops the state of parameters that no longer exist.
    fn forget_dropped(&mut self) {
        self.kept.retain(|_, kept| kept.is_alive());
    }

    /// Takes out the state of a parameter, initially zeros, and moves it to the parameter's device. Changes nothing
    /// after an error.
    fn take(&mut self, one: &SteppedParam<'_>) -> Result<ParamState<K>> {
        let param = one.slot.to_dyn();
        let (shape, dtype, device) = (param.shape(), param.dtype(), param.device());
        let Some(kept) = self.kept.get(&one.key) else {
            let zeros = (0..K).map(|_| Raw::zeros("step", shape, dtype, device));
            return Ok(ParamState {
                identity: one.identity.clone(),
                path: one.path.clone(),
                stepped: 0,
                names: param.names().clone(),
                state: array(zeros.collect::<Result<_>>()?),
                steps: 0,
            });
        };
        if kept.state.iter().any(|raw| raw.shape() != shape) {
            let what = "the parameter's sizes changed since the last step";
            return Err(Error::new(ErrorKind::Shape, "step", what)
                .operand(param.names(), param.shape())
                .hint("make a new optimizer for another model"));
        }
        if kept.state.iter().any(|raw| raw.device() != device) {
            let moved = kept.state.iter().map(|raw| {
                let tensor = DynTensor::from_parts(raw.clone(), kept.names.clone())?;
                Ok(tensor.to_device(device)?.into_parts().0)
            });
            let state = array(moved.collect::<Result<_>>()?);
            let kept = kept.clone();
            self.kept.remove(&one.key);
            return Ok(ParamState { state, ..kept });
        }
        match self.kept.remove(&one.key) {
            Some(kept) => Ok(kept),
            None => unreachable!("the state was there"),
        }
    }

    /// Returns all states, sorted by path, then by name: `layers.0.weight.exp_avg`. Paths are those of the last step.
    #[track_caller]
    pub(super) fn state(&self) -> Vec<(String, DynTensor)> {
        // If two models share a path, the one stepped later wins.
        let mut by_path: BTreeMap<&str, &ParamState<K>> = BTreeMap::new();
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
        let mut by_path: BTreeMap<String, &ParamState<K>> = BTreeMap::new();
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
        by_path: BTreeMap<P, &ParamState<K>>,
    ) -> Vec<(String, DynTensor)> {
        let mut state = Vec::new();
        for (path, kept) in by_path {
            let path = path.as_ref();
            for (word, raw) in self.words.iter().zip(&kept.state) {
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
            let mut one = |word: &str| {
                let path = format!("{path}.{word}");
                let found = of(&path);
                found.map_err(|error| error.in_op(op).within(format_args!("`{path}`")))
            };
            let mut state = Vec::new();
            for word in self.words {
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
                state: array(state),
                // The cast saturates.
                steps: steps as u64,
            };
            all.insert(key, kept);
        }
        self.kept = all;
        Ok(())
    }
}

impl<const K: usize> ParamState<K> {
    /// Returns whether its parameter may still be stepped.
    fn is_alive(&self) -> bool {
        self.identity.as_ref().is_none_or(WeakIdentity::is_alive)
    }
}

/// Converts to an array of the vector's length.
fn array<const K: usize>(all: Vec<Raw>) -> [Raw; K] {
    match all.try_into() {
        Ok(array) => array,
        Err(all) => unreachable!("{} tensors are kept for a parameter, not {K}", all.len()),
    }
}
