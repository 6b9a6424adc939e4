//! Optimizers: options, groups and state around a rule.

use std::fmt;
use std::sync::Arc;

use nomina::{DynTensor, Error, ErrorKind, Result};
use nomina_macros::twin;
use nomina_runtime::call::{
    AdagradOptions, AdamOptions, LionOptions, RmsPropOptions, SgdOptions, StepRule,
};

use super::muon::MuonOptions;
use super::state::StateByParam;
use crate::load::ByPath;
use crate::module::Module;

/// The kind of an [`Optimizer`].
pub trait Rule {
    /// The options, with the rule of a step.
    type Options: StepRule + Clone + fmt::Debug;
    /// The name in errors.
    const NAME: &'static str;
    /// Returns PyTorch's defaults with a learning rate.
    fn options(lr: f64) -> Self::Options;
}

/// The rules of the optimizers.
pub mod rule {
    use super::{
        AdagradOptions, AdamOptions, LionOptions, MuonOptions, RmsPropOptions, Rule, SgdOptions,
    };

    macro_rules! rules {
        ($($name:ident $op:literal $options:ident::$default:ident;)*) => {$(
            #[doc = concat!("The rule of [`optim::", stringify!($name), "`](super::super::", stringify!($name), ").")]
            #[derive(Clone, Copy, Debug)]
            pub enum $name {}

            impl Rule for $name {
                type Options = $options;
                const NAME: &'static str = $op;
                fn options(lr: f64) -> $options {
                    $options { lr, ..$options::$default() }
                }
            }
        )*};
    }
    rules! {
        Sgd "sgd" SgdOptions::default;
        Adam "adam" AdamOptions::adam;
        AdamW "adamw" AdamOptions::adamw;
        RmsProp "rmsprop" RmsPropOptions::default;
        Adagrad "adagrad" AdagradOptions::default;
        Lion "lion" LionOptions::default;
        Muon "muon" MuonOptions::default;
    }
}

/// Stochastic gradient descent, with optional momentum.
pub type Sgd = Optimizer<rule::Sgd>;
/// The Adam optimizer: scales each element's update by running means of its gradient and squared gradient. Kingma and
/// Ba, "Adam: A Method for Stochastic Optimization".
pub type Adam = Optimizer<rule::Adam>;
/// Adam with decoupled weight decay. Loshchilov and Hutter, "Decoupled Weight Decay Regularization".
pub type AdamW = Optimizer<rule::AdamW>;
/// RMSprop: divides each element's gradient by the root of the running mean of its square. Tieleman and Hinton,
/// "Lecture 6.5: rmsprop".
pub type RmsProp = Optimizer<rule::RmsProp>;
/// Adagrad: divides each element's gradient by the root of the sum of all its squares. Duchi, Hazan and Singer,
/// "Adaptive Subgradient Methods for Online Learning and Stochastic Optimization".
pub type Adagrad = Optimizer<rule::Adagrad>;
/// Lion: steps by the sign of a running mean of the gradient. Chen et al., "Symbolic Discovery of Optimization
/// Algorithms".
pub type Lion = Optimizer<rule::Lion>;
/// Muon: makes the update of each matrix orthogonal; other parameters are stepped by AdamW. Jordan et al., "Muon: An
/// optimizer for hidden layers in neural networks".
pub type Muon = Optimizer<rule::Muon>;

/// An optimizer: the type of [`Sgd`], [`Adam`], [`AdamW`], [`RmsProp`], [`Adagrad`], [`Lion`] and [`Muon`].
///
/// Groups change the options of some parameters. A step applies them to the current `options`, so a schedule of the
/// learning rate concerns all parameters.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::optim::is_bias_or_norm;
/// use nomina_nn::prelude::*;
/// dims! { In, Out }
/// let model = (Linear::new(In.of(2), Out.of(3)), LayerNorm::new(Out.of(3)));
/// let optimizer = AdamW::new(1e-3).group(is_bias_or_norm, |options| options.weight_decay = 0.0);
/// let decays = optimizer.options_of(&model).into_iter().map(|(_, options)| options.weight_decay);
/// assert_eq!(decays.collect::<Vec<_>>(), [0.01, 0.0, 0.0, 0.0]);
/// ```
pub struct Optimizer<R: Rule> {
    /// The options of the next step.
    pub options: R::Options,
    groups: Vec<Group<R::Options>>,
    state: StateByParam,
}

/// Parameters with other options.
struct Group<O> {
    /// The path, until a parameter was found there.
    unused: Option<String>,
    selects: Arc<dyn Fn(&str, &DynTensor) -> bool + Send + Sync>,
    change: Arc<dyn Fn(&mut O) + Send + Sync>,
}

impl<O> Clone for Group<O> {
    fn clone(&self) -> Self {
        Self {
            unused: self.unused.clone(),
            selects: Arc::clone(&self.selects),
            change: Arc::clone(&self.change),
        }
    }
}

impl<R: Rule> Clone for Optimizer<R> {
    fn clone(&self) -> Self {
        Self {
            options: self.options.clone(),
            groups: self.groups.clone(),
            state: self.state.clone(),
        }
    }
}

impl<R: Rule> fmt::Debug for Optimizer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(R::NAME)
            .field("options", &self.options)
            .field("groups", &self.groups.len())
            .finish_non_exhaustive()
    }
}

/// Returns whether a parameter is a bias or the weight of a norm, to which weight decay is usually not applied: it has
/// fewer than two dims, or the last component of its path begins or ends with `bias`.
#[must_use]
pub fn is_bias_or_norm(path: &str, param: &DynTensor) -> bool {
    let name = path.rsplit('.').next().unwrap_or(path);
    param.shape().len() < 2 || name.starts_with("bias") || name.ends_with("bias")
}

/// Returns whether a path is, or is below, a pattern in which `*` is any one component.
fn is_inside(path: &str, pattern: &str) -> bool {
    let mut parts = path.split('.');
    pattern.split('.').all(|wanted| {
        parts
            .next()
            .is_some_and(|part| wanted == "*" || wanted == part)
    })
}

impl<R: Rule> Optimizer<R> {
    /// Creates an optimizer with PyTorch's defaults and a learning rate.
    #[must_use]
    pub fn new(lr: f64) -> Self {
        Self::with(R::options(lr))
    }

    /// Creates an optimizer with options.
    #[must_use]
    pub fn with(options: R::Options) -> Self {
        Self {
            options,
            groups: Vec::new(),
            state: StateByParam::default(),
        }
    }

    /// Changes the options of the parameters for which `selects` returns true, given the path and the parameter. If
    /// several groups have a parameter, their changes are made in order.
    #[must_use]
    pub fn group(
        mut self,
        selects: impl Fn(&str, &DynTensor) -> bool + Send + Sync + 'static,
        change: impl Fn(&mut R::Options) + Send + Sync + 'static,
    ) -> Self {
        self.groups.push(Group {
            unused: None,
            selects: Arc::new(selects),
            change: Arc::new(change),
        });
        self
    }

    /// Like [`group`](Self::group), for the parameter or module at a path, in which `*` is any one component:
    /// `"encoder.*.norm"`. A step fails if no parameter has been there yet.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { In, Out }
    /// let mut layers = vec![Linear::new(In.of(2), Out.of(3)), Linear::new(In.of(2), Out.of(3))];
    /// let mut sgd = Sgd::new(0.1).group_at("0", |options| options.lr *= 0.1);
    /// assert_eq!(sgd.options_of(&layers)[1].1.lr, 0.1 * 0.1);
    /// sgd.step(&mut layers);
    /// let error = Sgd::new(0.1).group_at("first", |_| ()).try_step(&mut layers).unwrap_err();
    /// assert!(error.to_string().contains("no parameter is at `first`"));
    /// ```
    #[must_use]
    pub fn group_at(
        self,
        path: &str,
        change: impl Fn(&mut R::Options) + Send + Sync + 'static,
    ) -> Self {
        let pattern = path.to_owned();
        let mut all = self.group(move |path, _| is_inside(path, &pattern), change);
        if let Some(group) = all.groups.last_mut() {
            group.unused = Some(path.to_owned());
        }
        all
    }

    /// Returns the options that a step uses for each parameter of a model.
    #[must_use]
    pub fn options_of(&self, model: &impl Module) -> Vec<(String, R::Options)> {
        let params = model.params().into_iter();
        params
            .map(|(path, param)| {
                let options = changed(&self.options, &self.groups, &path, &param);
                (path, options)
            })
            .collect()
    }

    /// Updates all parameters that have a gradient, and clears the gradients.
    ///
    /// # Errors
    /// If a parameter is not a float, no parameter is at the path of a group, or an allocation fails. Nothing has
    /// changed then.
    #[twin]
    pub fn try_step(&mut self, model: &mut impl Module) -> Result<()> {
        self.find_groups(model)?;
        let (options, groups) = (&self.options, &self.groups);
        self.state.step(R::NAME, model, |path, param| {
            changed(options, groups, path, param)
        })
    }

    /// Checks that parameters are at the paths of groups.
    fn find_groups(&mut self, model: &impl Module) -> Result<()> {
        if self.groups.iter().all(|group| group.unused.is_none()) {
            return Ok(());
        }
        let paths = model.params();
        for group in &mut self.groups {
            if paths
                .iter()
                .any(|(path, param)| (group.selects)(path, param))
            {
                group.unused = None;
            }
            if let Some(path) = &group.unused {
                let what = format!("no parameter is at `{path}`, the path of a group");
                return Err(Error::new(ErrorKind::Argument, R::NAME, what)
                    .hint("`model.paths()` lists all paths"));
            }
        }
        Ok(())
    }

    /// Returns the state of each parameter by its path at its last step, which belongs in a checkpoint together with
    /// the model's state. If a model has changed since, use [`state_of`](Self::state_of), which returns the current
    /// paths. Parameters without state, such as those of gradient descent without momentum, are left out.
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state(&self) -> Vec<(String, DynTensor)> {
        self.state.state()
    }

    /// Returns the state of the parameters of `model` by their current paths.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// use nomina_nn::prelude::*;
    /// dims! { In, Out }
    /// let mut layers = vec![Linear::without_bias(In.of(2), Out.of(3)), Linear::without_bias(In.of(2), Out.of(3))];
    /// let mut optimizer = AdamW::new(0.1);
    /// (&*layers[0].weight + &*layers[1].weight).sum(..).backward();
    /// optimizer.step(&mut layers);
    /// layers.remove(0);
    /// let paths: Vec<String> = optimizer.state_of(&layers).into_iter().map(|(path, _)| path).collect();
    /// assert_eq!(paths, ["0.weight.exp_avg", "0.weight.exp_avg_sq", "0.weight.step"]);
    /// ```
    ///
    /// # Panics
    /// If an allocation fails.
    #[must_use]
    #[track_caller]
    pub fn state_of(&self, model: &impl Module) -> Vec<(String, DynTensor)> {
        self.state.state_of(model)
    }

    /// Loads the state of the trained, not frozen, parameters of `model`; other tensors of `state` are skipped. Groups
    /// are not saved: make them before loading.
    ///
    /// # Errors
    /// If a tensor is missing, or its names, sizes or dtype differ from its parameter's. Nothing has changed then.
    #[twin]
    pub fn try_load<K: Into<String>, X: Into<DynTensor>>(
        &mut self,
        model: &impl Module,
        state: impl IntoIterator<Item = (K, X)>,
    ) -> Result<()> {
        let mut given = ByPath::collect(state)?;
        let (options, groups) = (&self.options, &self.groups);
        let words = |path: &str, param: &DynTensor| {
            changed(options, groups, path, param).words(param.shape())
        };
        self.state
            .load(R::NAME, model, words, |path| given.take(path))
    }
}

/// Returns options after the changes of the groups that have a parameter.
fn changed<O: Clone>(options: &O, groups: &[Group<O>], path: &str, param: &DynTensor) -> O {
    let mut options = options.clone();
    for group in groups {
        if (group.selects)(path, param) {
            (group.change)(&mut options);
        }
    }
    options
}
