//! Modules: types with parameters.

use nomina::dims::{Dims, Distinct};
use nomina::dynamic::DynTensorMut;
use nomina::{Device, DynTensor, Element, Result, Tensor};
use nomina_macros::twin;

use crate::identity::Identity;
use crate::load::{self, Strict, Unmatched};
use crate::path::Path;

/// A tensor of a module, independent of its type: a [`Param`](crate::Param), or a [`Tensor`], which is a buffer.
pub trait Slot {
    /// Returns whether the tensor is trained.
    fn is_param(&self) -> bool;
    /// Returns the tensor, as the same leaf.
    fn to_dyn(&self) -> DynTensor;
    /// Returns the parameter's identity, by which an optimizer looks up its state. `None` by default: an optimizer then
    /// uses the path.
    fn identity(&self) -> Option<&Identity> {
        None
    }
    /// Gives a parameter a new identity, without state in any optimizer. Does nothing by default.
    fn renew_identity(&mut self) {}
    /// Returns the tensor for writing.
    ///
    /// # Errors
    /// If the allocation for a copy of shared elements fails.
    fn as_dyn_mut(&mut self) -> Result<DynTensorMut<'_>>;
    /// Replaces the tensor, by a new leaf if this one is a leaf.
    ///
    /// # Errors
    /// If the names, sizes or dtype differ. Nothing has changed then.
    fn set(&mut self, value: DynTensor) -> Result<()>;
    /// Makes it a new leaf, or a constant.
    ///
    /// # Errors
    /// If a small allocation fails.
    fn track(&mut self, tracked: bool) -> Result<()>;
}

impl<D: Dims + Distinct, T: Element> Slot for Tensor<D, T> {
    fn is_param(&self) -> bool {
        false
    }
    fn to_dyn(&self) -> DynTensor {
        Tensor::to_dyn(self)
    }
    fn as_dyn_mut(&mut self) -> Result<DynTensorMut<'_>> {
        self.try_as_dyn_mut()
    }
    fn set(&mut self, value: DynTensor) -> Result<()> {
        *self = replaced(self, value)?;
        Ok(())
    }
    fn track(&mut self, _: bool) -> Result<()> {
        Ok(())
    }
}

/// Converts `value` to a replacement of `old`.
pub(crate) fn replaced<D: Dims + Distinct, T: Element>(
    old: &Tensor<D, T>,
    value: DynTensor,
) -> Result<Tensor<D, T>> {
    load::check_sizes(&old.to_dyn(), &value)?;
    let value: Tensor<D, T> = value.try_into()?;
    Ok(value.detach())
}

/// A type with parameters and buffers, each with a path: `layers.0.attention.query.weight`. Derived for structs and
/// enums ([`derive(Module)`](macro@crate::Module)); `Vec`, `Option`, `Box`, arrays and tuples of modules are modules.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no parameters",
    label = "not a module",
    note = "mark a field without parameters `#[module(skip)]`; for a struct of layers: `#[derive(Module)]`"
)]
pub trait Module {
    /// Calls `visit` with each tensor and its path, in field order.
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot));

    /// Like [`each`](Self::each), but for mutation.
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot));

    /// Returns the paths of all tensors.
    fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.each(&mut Path::default(), &mut |path, _| {
            paths.push(path.to_owned())
        });
        paths
    }

    /// Returns all parameters with their paths, as the same leaves.
    fn params(&self) -> Vec<(String, DynTensor)> {
        let mut params = Vec::new();
        self.each(&mut Path::default(), &mut |path, slot| {
            if slot.is_param() {
                params.push((path.to_owned(), slot.to_dyn()));
            }
        });
        params
    }

    /// Returns the total number of elements of its parameters.
    fn count(&self) -> usize {
        self.params().iter().map(|(_, param)| param.numel()).sum()
    }

    /// Returns a summary with a line for each tensor: its path, its dims with their sizes, its dtype, and whether it is
    /// trained.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { In, Out }
    /// let layer = Linear::new(In.of(2), Out.of(3));
    /// assert_eq!(layer.summary(), "weight  (Out=3, In=2)  f32\nbias    (Out=3,)       f32\n");
    /// ```
    fn summary(&self) -> String {
        let mut rows = Vec::new();
        self.each(&mut Path::default(), &mut |path, slot| {
            let tensor = slot.to_dyn();
            let what = match (slot.is_param(), tensor.requires_grad()) {
                (true, true) => "",
                (true, false) => "  frozen",
                (false, _) => "  buffer",
            };
            let dims = dims(&tensor);
            rows.push((path.to_owned(), dims, format!("{}{what}", tensor.dtype())));
        });
        let width = |of: fn(&(String, String, String)) -> &String| {
            rows.iter()
                .map(|row| of(row).chars().count())
                .max()
                .unwrap_or(0)
        };
        let (path, dims) = (width(|row| &row.0), width(|row| &row.1));
        let lines = rows
            .iter()
            .map(|row| format!("{:path$}  {:dims$}  {}\n", row.0, row.1, row.2));
        lines.collect()
    }

    /// Returns all parameters and buffers with their paths and current values, to be saved to a file.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_io::safetensors::{self, SafeTensors};
    /// use nomina_nn::prelude::*;
    /// dims! { In, Out }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("model.safetensors");
    ///
    /// let mut model = Linear::new(In.of(2), Out.of(3));
    /// safetensors::save(&path, model.state())?;
    /// let file = SafeTensors::open(&path)?;
    /// model.load(file.tensors()?);
    /// # Ok::<(), Error>(())
    /// ```
    fn state(&self) -> Vec<(String, DynTensor)> {
        let mut state = Vec::new();
        self.each(&mut Path::default(), &mut |path, slot| {
            state.push((path.to_owned(), slot.to_dyn().detach()));
        });
        state
    }

    /// Loads all parameters and buffers from a state: pairs of a path and a tensor, from [`state`](Self::state), a file
    /// or a map. The state must have exactly the module's paths; if a file has others, `.map(..)` changes them.
    ///
    /// Names and sizes must be equal. A tensor without names is matched by position; it may have one dim for several
    /// adjacent dims of the model: `(384, 384)` for `(Head=12, Feature=32, Hidden=384)`, and dims of size 1
    /// that the model lacks. Elements are only copied if
    /// the model is on another device. Parameters become new leaves, and keep their identity: an optimizer continues
    /// with the state it has for them, unless it loads state as well or is created anew.
    ///
    /// # Errors
    /// If the paths differ, or a tensor's names, sizes or dtype; the error includes the paths. Nothing has changed
    /// then, unless the allocation for a leaf failed.
    #[twin]
    fn try_load<K: Into<String>, X: Into<DynTensor>>(
        &mut self,
        state: impl IntoIterator<Item = (K, X)>,
    ) -> Result<()>
    where
        Self: Sized,
    {
        self.try_load_with(state, Strict::Yes).map(drop)
    }

    /// Like [`load`](Self::load), but skips the paths that only the module or only the state has, and returns them, if
    /// `strict` is [`Strict::No`].
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { In, Out }
    /// let mut layer = Linear::new(In.of(2), Out.of(3));
    /// let state = [("weight", Tensor::<(Out, In)>::ones([3, 2]).into_dyn())];
    /// let error = layer.try_load(state.clone()).unwrap_err();
    /// assert!(error.to_string().starts_with("load: the state lacks `bias`"));
    /// let unmatched = layer.load_with(state, Strict::No);
    /// assert_eq!(unmatched.missing, ["bias"]);
    /// assert!(unmatched.unexpected.is_empty());
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`load`](Self::load).
    #[twin]
    fn try_load_with<K: Into<String>, X: Into<DynTensor>>(
        &mut self,
        state: impl IntoIterator<Item = (K, X)>,
        strict: Strict,
    ) -> Result<Unmatched>
    where
        Self: Sized,
    {
        load(self, state, strict)
    }

    /// Clears all gradients.
    fn zero_grad(&self) {
        self.each(&mut Path::default(), &mut |_, slot| {
            slot.to_dyn().zero_grad()
        });
    }

    /// Stops training: all parameters become constants.
    fn freeze(&mut self) {
        self.each_mut(&mut Path::default(), &mut |_, slot| {
            crate::call::ok(slot.track(false));
        });
    }

    /// Resumes training of all parameters.
    ///
    /// # Errors
    /// If a small allocation fails.
    #[twin]
    fn try_unfreeze(&mut self) -> Result<()> {
        try_each(self, &mut |slot| slot.track(true))
    }

    /// Returns a model with the same elements and new leaves. Elements are copied when one of the two models writes to
    /// them. An optimizer has no state for the new parameters.
    ///
    /// # Errors
    /// If a small allocation fails.
    #[twin]
    fn try_fork(&self) -> Result<Self>
    where
        Self: Clone,
    {
        let mut fork = self.clone();
        try_each(&mut fork, &mut |slot| {
            let tracked = slot.to_dyn().requires_grad();
            slot.track(false)?;
            slot.track(tracked)?;
            slot.renew_identity();
            Ok(())
        })?;
        Ok(fork)
    }

    /// Moves all tensors to a device. They become new leaves without gradients. An optimizer continues with the state
    /// it has for them, and moves it at its next step.
    ///
    /// # Errors
    /// If the device does not exist, or an allocation fails. Nothing has changed then.
    #[twin]
    fn try_to_device(&mut self, device: Device) -> Result<()>
    where
        Self: Sized,
    {
        let state: Result<Vec<DynTensor>> = self
            .state()
            .into_iter()
            .map(|(_, tensor)| tensor.to_device(device))
            .collect();
        let mut state = state?.into_iter();
        try_each(self, &mut |slot| {
            state.next().map_or(Ok(()), |tensor| slot.set(tensor))
        })
    }
}

/// Formats names and sizes for errors: `(Out=3, In=2)`.
fn dims(tensor: &DynTensor) -> String {
    let each = tensor.names().iter().zip(tensor.shape());
    let each = each.map(|(name, size)| match name {
        Some(name) => format!("{name}={size}"),
        None => size.to_string(),
    });
    let all: Vec<String> = each.collect();
    match &all[..] {
        [one] => format!("({one},)"),
        _ => format!("({})", all.join(", ")),
    }
}

/// Checks all tensors, then replaces them. Changes nothing after an error, unless the allocation for a leaf failed.
fn load(
    module: &mut dyn Module,
    state: impl IntoIterator<Item = (impl Into<String>, impl Into<DynTensor>)>,
    strict: Strict,
) -> Result<Unmatched> {
    let mut given = load::ByPath::collect(state)?.rest();
    let mut unmatched = Unmatched::default();
    let mut own = Vec::new();
    module.each(&mut Path::default(), &mut |path, slot| {
        own.push((path.to_owned(), slot.to_dyn()));
    });
    let mut pairs = Vec::new();
    for (path, own) in own {
        let value = given.remove(&path);
        if value.is_none() {
            unmatched.missing.push(path.clone());
        }
        pairs.push((path, own, value));
    }
    unmatched.unexpected.extend(given.into_keys());
    if strict == Strict::Yes {
        unmatched.require_none()?;
    }
    let mut replacements = Vec::new();
    for (path, own, value) in pairs {
        let value = value.map(|value| {
            let value = load::fit_to(&own, value).and_then(|value| value.to_device(own.device()));
            value.map_err(|error| error.in_op(load::OP).within(format_args!("`{path}`")))
        });
        replacements.push(value.transpose()?);
    }
    let mut replacements = replacements.into_iter();
    let mut outcome = Ok(());
    module.each_mut(&mut Path::default(), &mut |_, slot| {
        if let (Ok(()), Some(Some(value))) = (&outcome, replacements.next()) {
            outcome = slot.set(value);
        }
    });
    outcome.map(|()| unmatched)
}

/// Calls `change` with each tensor until it fails.
fn try_each<M: Module + ?Sized>(
    module: &mut M,
    change: &mut dyn FnMut(&mut dyn Slot) -> Result<()>,
) -> Result<()> {
    let mut done = Ok(());
    module.each_mut(&mut Path::default(), &mut |_, slot| {
        if done.is_ok() {
            done = change(slot);
        }
    });
    done
}

#[diagnostic::do_not_recommend]
impl<D: Dims + Distinct, T: Element> Module for Tensor<D, T> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        visit(path.as_str(), self);
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        visit(path.as_str(), self);
    }
}

#[diagnostic::do_not_recommend]
impl<M: Module + ?Sized> Module for Box<M> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        (**self).each(path, visit);
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        (**self).each_mut(path, visit);
    }
}

#[diagnostic::do_not_recommend]
impl<M: Module> Module for Option<M> {
    fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
        if let Some(module) = self {
            module.each(path, visit);
        }
    }
    fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
        if let Some(module) = self {
            module.each_mut(path, visit);
        }
    }
}

/// Implements `Module` for sequences of modules, which are numbered.
macro_rules! numbered {
    ($([$($generics:tt)*] $list:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl<M: Module, $($generics)*> Module for $list {
            fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
                for (at, module) in self.iter().enumerate() {
                    path.enter(&at.to_string(), |path| module.each(path, visit));
                }
            }
            fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
                for (at, module) in self.iter_mut().enumerate() {
                    path.enter(&at.to_string(), |path| module.each_mut(path, visit));
                }
            }
        }
    )*};
}
numbered!([] Vec<M>, [const K: usize] [M; K]);

macro_rules! tuple {
    ($($m:ident $at:tt),*) => {
        #[diagnostic::do_not_recommend]
        impl<$($m: Module),*> Module for ($($m,)*) {
            fn each<'a>(&'a self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a dyn Slot)) {
                $(path.enter(stringify!($at), |path| self.$at.each(path, visit));)*
            }
            fn each_mut<'a>(&'a mut self, path: &mut Path, visit: &mut dyn FnMut(&str, &'a mut dyn Slot)) {
                $(path.enter(stringify!($at), |path| self.$at.each_mut(path, visit));)*
            }
        }
    };
}
tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
