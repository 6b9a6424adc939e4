//! The place of a node in the emitted text: its operands as expressions, and the dims of its results.

use std::collections::{BTreeSet, HashMap};

use nomina::{DType, DynTensor};
use nomina_core::{Error, ErrorKind, Result};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::expr::{Expr, Form};
use super::names::Spellings;
use super::params::{Param, Params};
use super::paths;
use super::sample::{Guard, Samples};
use crate::call::{Call, reshape};
use crate::graph::{Graph, Node, ValueId};
use crate::proto::READ;

/// The state of the text that is written.
pub struct Emitter<'a> {
    /// The graph.
    pub graph: &'a Graph,
    /// Its sample runs.
    pub samples: &'a Samples,
    /// The names of dims.
    pub names: Spellings,
    /// The parameters.
    pub params: Params,
    /// The variables of values.
    pub variables: HashMap<ValueId, Ident>,
    /// Values that are the same as another one.
    pub aliases: HashMap<ValueId, ValueId>,
    /// The values that the current function computes.
    pub own: BTreeSet<ValueId>,
    /// The values that the current function takes.
    pub taken: BTreeSet<ValueId>,
    /// Why values that follow from sizes have no variable.
    pub unspelled: HashMap<ValueId, String>,
    /// Values whose sizes the model computes with.
    pub measured: Vec<ValueId>,
    /// Sizes of which the branch of an `If` was chosen, and which are not checked yet.
    pub guards: Vec<Guard>,
    /// Statements before that of the current node.
    pub prelude: Vec<TokenStream>,
    /// The variables that there are.
    pub identifiers: BTreeSet<String>,
}

/// A node, and the state.
pub struct Site<'a, 'b> {
    /// The node with the values of the first sample run.
    pub call: Call<'b>,
    /// The state.
    pub emitter: &'a mut Emitter<'b>,
}

impl<'b> Site<'_, 'b> {
    /// Returns the node.
    pub fn node(&self) -> &'b Node {
        self.call.node
    }

    /// Returns the value that is input `at`.
    pub fn input(&self, at: usize) -> Option<ValueId> {
        self.node().inputs.get(at).copied().flatten()
    }

    /// Returns the value that is output `at`.
    pub fn output(&self, at: usize) -> Option<ValueId> {
        self.node().outputs.get(at).copied().flatten()
    }

    /// Returns the sizes of a value in the first run.
    pub fn shape(&self, id: ValueId) -> &'b [usize] {
        self.emitter.samples.shape(id)
    }

    /// Returns the names that output `at` is to have.
    pub fn target(&self, at: usize) -> Option<Vec<String>> {
        let id = self.output(at)?;
        self.emitter.names.get(id, self.shape(id).len())
    }

    /// Returns the names that output 0 is to have; those of the first input if nothing is known.
    pub fn target_or(&self, other: &[String]) -> Vec<String> {
        self.target(0).unwrap_or_else(|| other.to_vec())
    }

    /// Returns an input that no input of the model changes.
    pub fn constant(&self, at: usize) -> Option<&'b DynTensor> {
        self.emitter.samples.constant(self.input(at)?)
    }

    /// Returns an input that is one constant number, as text.
    pub fn number(&self, at: usize) -> Option<TokenStream> {
        let tensor = self.constant(at).filter(|x| x.numel() == 1)?;
        number(tensor, false)
    }

    /// Returns the integers of an attribute or of an input, in each run.
    pub fn integers(&self, name: &str, at: usize) -> Result<Option<Vec<Vec<i64>>>> {
        if let Some(id) = self.input(at) {
            let all = self.emitter.samples.integers(id);
            return all.map(Some).ok_or_else(|| {
                self.call
                    .fail(format!("input {at} depends on the model's inputs"))
            });
        }
        let runs = self.emitter.samples.runs();
        Ok(self.call.ints(name)?.map(|ints| vec![ints; runs]))
    }

    /// Returns the integers of an attribute or of an input that are the same for all sizes.
    pub fn fixed_integers(&self, name: &str, at: usize) -> Result<Option<Vec<i64>>> {
        let Some(all) = self.integers(name, at)? else {
            return Ok(None);
        };
        self.call.require(
            all.windows(2).all(|pair| pair[0] == pair[1]),
            "an argument depends on sizes",
        )?;
        Ok(all.into_iter().next())
    }

    /// Returns an input as an expression with its own dims.
    pub fn x(&mut self, at: usize) -> Result<Expr> {
        let id = self
            .input(at)
            .ok_or_else(|| self.call.fail(format!("input {at} is missing")))?;
        let rank = self.shape(id).len();
        let dims = self.emitter.names.get(id, rank);
        if self.emitter.samples.constant(id).is_some() {
            let dims = dims.unwrap_or_else(|| self.emitter.names.invented(rank, &[]));
            return self.parameter(at, id, dims);
        }
        self.value(id)
    }

    /// Returns an input as an expression whose dims are `dims`.
    pub fn x_as(&mut self, at: usize, dims: &[String]) -> Result<Expr> {
        let constant = self
            .input(at)
            .filter(|&id| self.emitter.samples.constant(id).is_some());
        let x = match constant {
            Some(id) => self.parameter(at, id, dims.to_vec())?,
            None => self.x(at)?,
        };
        self.rename(x, dims)
    }

    fn value(&mut self, id: ValueId) -> Result<Expr> {
        let id = self.emitter.resolved(id);
        let Some(variable) = self.emitter.variables.get(&id).cloned() else {
            let reason = self.emitter.unspelled.get(&id);
            return Err(self.call.fail(match reason {
                Some(reason) => {
                    format!("an operand that is computed from sizes has no spelling ({reason})")
                }
                None => format!("`{}` has no spelling", self.emitter.graph.values[id]),
            }));
        };
        let form = if self.emitter.own.contains(&id) {
            Form::Place
        } else {
            self.emitter.taken.insert(id);
            Form::Reference
        };
        let rank = self.shape(id).len();
        let dtype = self
            .emitter
            .samples
            .dtype(id)
            .ok_or_else(|| self.call.fail("an operand is no tensor"))?;
        let dims = self
            .emitter
            .names
            .get(id, rank)
            .ok_or_else(|| self.call.fail("an operand has no names"))?;
        Ok(Expr {
            text: quote!(#variable),
            dims,
            dtype,
            form,
        })
    }

    fn parameter(&mut self, at: usize, id: ValueId, dims: Vec<String>) -> Result<Expr> {
        let tensor = self
            .emitter
            .samples
            .constant(id)
            .ok_or_else(|| self.call.fail("no constant"))?
            .clone();
        self.derived(at, id, "", tensor, dims)
    }

    /// Returns a parameter made of a constant input; `form` tells apart what is made of one constant.
    pub fn derived(
        &mut self,
        at: usize,
        id: ValueId,
        form: &str,
        tensor: DynTensor,
        dims: Vec<String>,
    ) -> Result<Expr> {
        let dtype = tensor.dtype();
        let (text, dims) = match self.emitter.params.find(id, form) {
            Some((ident, param)) => (ident, param.dims.clone()),
            None => {
                let mut path = paths::parameter(self.emitter.graph, id, self.node(), at);
                if let Some(last) = path.last_mut().filter(|_| form.starts_with('_')) {
                    last.push_str(form);
                }
                let param = Param {
                    path,
                    dims: dims.clone(),
                    tensor,
                };
                (self.emitter.params.add(id, form, param), dims)
            }
        };
        Ok(Expr {
            text: quote!(#text),
            dims,
            dtype,
            form: Form::Place,
        })
    }

    /// Renames the dims of an expression to `dims`, in place.
    pub fn rename(&mut self, x: Expr, dims: &[String]) -> Result<Expr> {
        self.call.require(
            x.dims.len() == dims.len(),
            "the dims of a value have no names",
        )?;
        let changed: Vec<usize> = (0..dims.len())
            .filter(|&at| x.dims[at] != dims[at])
            .collect();
        if changed.is_empty() {
            return Ok(x);
        }
        let pick = |all: &[String]| {
            changed
                .iter()
                .map(|&at| all[at].clone())
                .collect::<Vec<_>>()
        };
        let from = self.emitter.names.list_value(&pick(&x.dims));
        let to = self.emitter.names.list_value(&pick(dims));
        Ok(x.then_dims(quote!(.rename(#from, #to)), dims.to_vec()))
    }

    /// Brings the dims of an expression, which are those of `dims`, in their order.
    pub fn align(&mut self, x: Expr, dims: &[String]) -> Expr {
        if x.dims == dims {
            return x;
        }
        let order = self.emitter.names.tuple_value(dims);
        x.then_dims(quote!(.align_to(#order)), dims.to_vec())
    }

    /// Returns an operand that broadcasts to the last of `dims`.
    pub fn broadcast(&mut self, at: usize, dims: &[String]) -> Result<Expr> {
        let id = self
            .input(at)
            .ok_or_else(|| self.call.fail(format!("input {at} is missing")))?;
        let shape = self.shape(id);
        self.call
            .require(shape.len() <= dims.len(), "an operand has too many dims")?;
        let last = &dims[dims.len() - shape.len()..];
        let Some(tensor) = self
            .emitter
            .samples
            .constant(id)
            .filter(|_| shape.contains(&1))
        else {
            return self.x_as(at, last);
        };
        // Dims of size 1 are no dims of the weight: `align_to` adds them.
        let kept: Vec<usize> = (0..shape.len()).filter(|&at| shape[at] != 1).collect();
        let sizes: Vec<usize> = kept.iter().map(|&at| shape[at]).collect();
        let own: Vec<String> = kept.iter().map(|&at| last[at].clone()).collect();
        let x = self.derived(at, id, "squeezed", reshape(tensor, &sizes)?, own.clone())?;
        let x = self.rename(x, &own)?;
        let from = kept.first().copied().unwrap_or(shape.len());
        Ok(self.align(x, &last[from..]))
    }

    /// Returns a size as text, by its value in each run: a number, or an expression of sizes of values at hand.
    pub fn size(&mut self, sizes: &[usize]) -> Result<TokenStream> {
        let whole = |n: usize| Literal::usize_unsuffixed(n);
        let first = sizes.first().copied().unwrap_or(0);
        if sizes.iter().all(|&size| size == first) {
            let n = whole(first);
            return Ok(quote!(#n));
        }
        let mut bases = Vec::new();
        let inputs = self.node().inputs.iter().flatten();
        for &id in inputs
            .chain(&self.emitter.graph.inputs)
            .chain(&self.emitter.measured)
        {
            let id = self.emitter.resolved(id);
            if self.emitter.variables.contains_key(&id) {
                bases.extend((0..self.shape(id).len()).map(|axis| (id, axis)));
            }
        }
        type Relation = (
            fn(usize, usize) -> Option<usize>,
            fn(TokenStream, Literal) -> TokenStream,
        );
        let relations: [Relation; 5] = [
            (|n, base| (n == base).then_some(0), |base, _| base),
            (|n, base| n.checked_sub(base), |base, k| quote!(#base + #k)),
            (|n, base| base.checked_sub(n), |base, k| quote!(#base - #k)),
            (
                |n, base| (n % base == 0).then(|| n / base),
                |base, k| quote!(#base * #k),
            ),
            (
                |n, base| (n > 0 && base % n == 0).then(|| base / n),
                |base, k| quote!(#base / #k),
            ),
        ];
        for (relation, spell) in relations {
            for &(id, axis) in &bases {
                let own = self.emitter.samples.extent(id, axis);
                if own.contains(&0) || own.len() != sizes.len() {
                    continue;
                }
                let all: Option<Vec<usize>> = sizes
                    .iter()
                    .zip(&own)
                    .map(|(&n, &base)| relation(n, base))
                    .collect();
                let Some(all) = all.filter(|all| all.windows(2).all(|pair| pair[0] == pair[1]))
                else {
                    continue;
                };
                let base = self.value(id)?;
                let dim = self.emitter.names.dim_value(&base.dims[axis]);
                let text = base.text;
                return Ok(spell(quote!(#text.size(#dim)), whole(all[0])));
            }
        }
        Err(self.call.fail(format!(
            "a size has no spelling: {sizes:?} for other sizes of the inputs"
        )))
    }
}

impl Emitter<'_> {
    /// Follows aliases.
    pub fn resolved(&self, id: ValueId) -> ValueId {
        let mut id = id;
        while let Some(&other) = self.aliases.get(&id) {
            id = other;
        }
        id
    }

    /// Gives a value a variable.
    pub fn variable(&mut self, id: ValueId) -> Ident {
        let ident = self.identifier(&paths::variable(&self.graph.values[id]));
        self.variables.insert(id, ident.clone());
        ident
    }

    /// Returns an identifier that is not taken yet.
    pub fn identifier(&mut self, wanted: &str) -> Ident {
        format_ident!("{}", super::params::unique(wanted, &mut self.identifiers))
    }

    /// Returns the size that dim `axis` of a value must have, because it chose a branch.
    pub fn guarded(&self, id: ValueId, axis: usize) -> Option<usize> {
        let mut guards = self.guards.iter();
        let guard = guards.find(|guard| guard.id == id && guard.axis == axis)?;
        Some(guard.size)
    }

    /// Adds checks of the sizes of a value that chose branches.
    pub fn guard(&mut self, id: ValueId, statements: &mut Vec<TokenStream>) {
        let all = std::mem::take(&mut self.guards);
        let (own, others) = all.into_iter().partition(|guard: &Guard| guard.id == id);
        self.guards = others;
        let resolved = self.resolved(id);
        for guard in own {
            let variable = self.variables[&resolved].clone();
            let dims = self.names.get(id, self.samples.shape(id).len());
            let Some(dim) = dims.and_then(|dims| dims.get(guard.axis).cloned()) else {
                self.guards.push(guard);
                continue;
            };
            let dim = self.names.dim_value(&dim);
            let size = Literal::usize_unsuffixed(guard.size);
            statements.push(
                quote!(assert_eq!(#variable.size(#dim), #size, "another branch of the model needs other sizes");),
            );
        }
    }

    /// Checks that all sizes that chose branches are checked.
    ///
    /// # Errors
    /// If one is that of a value without a variable.
    pub fn require_no_guards(&self) -> Result<()> {
        let inputs = &self.graph.inputs;
        let open = self
            .guards
            .iter()
            .find(|guard| !inputs.contains(&guard.id) && self.samples.constant(guard.id).is_none());
        open.map_or(Ok(()), |guard| {
            let what = format!(
                "an `If` depends on the size of dim {} of `{}`, which the text does not have",
                guard.axis, self.graph.values[guard.id]
            );
            Err(Error::new(ErrorKind::Argument, READ, what))
        })
    }
}

/// Returns the only element of a tensor as text.
pub fn number(tensor: &DynTensor, typed: bool) -> Option<TokenStream> {
    let scalar = reshape(tensor, &[]).ok()?.item().ok()?;
    let dtype = tensor.dtype();
    if dtype == DType::Bool {
        let value = scalar.to_bool();
        return Some(quote!(#value));
    }
    if dtype.is_integral() {
        let value = scalar.to_i64();
        let digits = Literal::u64_unsuffixed(value.unsigned_abs());
        return Some(if value < 0 {
            quote!(-#digits)
        } else {
            quote!(#digits)
        });
    }
    let value = scalar.to_f64();
    Some(float(value, dtype, typed))
}

/// Returns a float as text, with the fewest digits that give the same number of the dtype.
pub fn float(value: f64, dtype: DType, typed: bool) -> TokenStream {
    if value.is_nan() {
        return quote!(f32::NAN);
    }
    if value.is_infinite() {
        return if value > 0.0 {
            quote!(f32::INFINITY)
        } else {
            quote!(f32::NEG_INFINITY)
        };
    }
    let size = value.abs();
    let digits = match (dtype, typed) {
        (DType::F64, false) => Literal::f64_unsuffixed(size),
        (DType::F64, true) => Literal::f64_suffixed(size),
        (_, false) => Literal::f32_unsuffixed(size as f32),
        (_, true) => Literal::f32_suffixed(size as f32),
    };
    if value.is_sign_negative() {
        quote!(-#digits)
    } else {
        quote!(#digits)
    }
}
