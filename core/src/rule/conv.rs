//! Windows that slide along dims: their positions, and the channels of a convolution.
//!
//! PyTorch matches by position: an input `(N, C, H, W)`, or `(C, H, W)` without a batch; a weight
//! `(O, C, KH, KW)`, for a transposed convolution `(C, O, KH, KW)`. By name, the channel dim and
//! the spatial dims are given and may be anywhere, and all others are batch dims.
//!
//! A pool keeps names. A convolution replaces the input's channel by the weight's output channel;
//! if the weight does not name it, the input's name stays. In the weight, the dim contracted with
//! the input's channel must have the same name if both are named. By name, it is found by that
//! name, wherever it is; the first of the other dims is the output channel, and the rest is the
//! kernel. A kernel dim may have the name of the spatial dim it slides along, or a name that the
//! input lacks.

use alloc::format;

use smallvec::SmallVec;

use super::Positions;
use super::item::distinct;
use super::lookup::find;
use super::unify::unify;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// The positions of an input's channel and spatial dims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sites {
    /// The channel dim.
    pub channel: usize,
    /// The spatial dims, outermost first.
    pub spatial: Positions,
}

/// The positions of a weight's dims, and the names of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The output channels.
    pub out: usize,
    /// The dim contracted with the input's channels.
    pub channel: usize,
    /// The kernel dims, outermost first.
    pub kernel: Positions,
    /// The names of the result.
    pub names: Names,
}

/// The convention by which a weight's dims are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterForm {
    /// By name if the weight has the channel's name; else by position.
    pub by_name: bool,
    /// The input's channels come first in the weight, as in a transposed convolution.
    pub transposed: bool,
}

/// Returns the sites in PyTorch's order, for `spatial` spatial dims: the last ones, and the channel
/// before them. The caller adds the operands to the error, since there may be a weight, too.
///
/// # Errors
/// [`ErrorKind::Rank`] for another number of dims, with or without a batch dim.
pub fn sites(op: &'static str, names: &Names, spatial: usize) -> Result<Sites> {
    let rank = names.len();
    if rank != spatial + 1 && rank != spatial + 2 {
        let what = format!(
            "{rank} dims, expected {}, or {} without a batch dim",
            spatial + 2,
            spatial + 1
        );
        return Err(Error::new(ErrorKind::Rank, op, what)
            .hint("add a dim with `unsqueeze`, or name the spatial dims"));
    }
    Ok(Sites {
        channel: rank - spatial - 1,
        spatial: (rank - spatial..rank).collect(),
    })
}

/// Checks that there are `count` spatial dims, and that the channel is not one of them.
///
/// # Errors
/// [`ErrorKind::Argument`] for another number, [`ErrorKind::DuplicateNames`] for the channel.
pub fn check_sites(op: &'static str, names: &Names, sites: &Sites, count: usize) -> Result<()> {
    if sites.spatial.len() != count {
        let what = format!("{} spatial dims, expected {count}", sites.spatial.len());
        return Err(Error::new(ErrorKind::Argument, op, what)
            .operand(names, &[])
            .hint("the operator's name gives the number of dims"));
    }
    if sites.spatial.contains(&sites.channel) {
        let what = "the channel dim is also a spatial dim";
        return Err(Error::new(ErrorKind::DuplicateNames, op, what)
            .operand(names, &[])
            .at(0, sites.channel)
            .hint("channels are summed over, not slid along"));
    }
    Ok(())
}

/// Finds the weight's dims, and the names of the result.
///
/// ```
/// use nomina_core::{Names, rule};
/// let x = Names::from_static(&[Some("N"), Some("H"), Some("W"), Some("C")]);
/// let w = Names::from_static(&[Some("O"), Some("C"), None, None]);
/// let sites = rule::Sites { channel: 3, spatial: [1, 2].as_slice().into() };
/// let form = rule::FilterForm { by_name: true, transposed: false };
/// let filter = rule::filter("conv2d", &x, &sites, &w, form)?;
/// assert_eq!(filter.names, Names::from_static(&[Some("N"), Some("H"), Some("W"), Some("O")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Rank`] for another number of dims, [`ErrorKind::NameMismatch`] if the dim
/// contracted with the input's channels has another name, [`ErrorKind::Misaligned`] if a kernel dim
/// has the name of another dim of the input, [`ErrorKind::DuplicateNames`] if the input already has
/// a dim with the output channel's name.
pub fn filter(
    op: &'static str,
    x: &Names,
    sites: &Sites,
    weight: &Names,
    form: FilterForm,
) -> Result<Filter> {
    let both = |error: Error| error.operand(x, &[]).operand(weight, &[]);
    let spatial = &sites.spatial;
    if weight.len() != spatial.len() + 2 {
        let what = format!(
            "the weight has {} dims, expected {}",
            weight.len(),
            spatial.len() + 2
        );
        return Err(both(Error::new(ErrorKind::Rank, op, what))
            .hint("a weight has output channels, input channels, and the kernel's dims"));
    }
    let name = x[sites.channel].as_ref();
    let named = name
        .filter(|_| form.by_name)
        .and_then(|name| find(weight, name.as_str()));
    let channel = named.unwrap_or(usize::from(!form.transposed));
    let mut others: SmallVec<[usize; 8]> = (0..weight.len()).filter(|&at| at != channel).collect();
    let out = others.remove(0);
    if let (Some(name), Some(other)) = (name, &weight[channel])
        && name != other
    {
        let what = format!("channels `{name}` are `{other}` in the weight");
        return Err(both(Error::new(ErrorKind::NameMismatch, op, what))
            .hint("rename one, or align the weight to output channels, input channels, kernel"));
    }
    for (&at, &along) in others.iter().zip(spatial) {
        let Some(kernel) = &weight[at] else { continue };
        if find(x, kernel.as_str()).is_some_and(|found| found != along) {
            let what = format!("the kernel's `{kernel}` is not in the input's order");
            return Err(both(Error::new(ErrorKind::Misaligned, op, what))
                .at(1, at)
                .hint("order the kernel's dims like the spatial dims, or rename"));
        }
    }
    let mut names = x.clone();
    if let Some(out) = &weight[out] {
        names[sites.channel] = Some(out.clone());
    }
    Ok(Filter {
        out,
        channel,
        kernel: others,
        names: distinct(op, names).map_err(both)?,
    })
}

/// Returns the names of the result with a bias of one dim, which may also name the output channels.
///
/// # Errors
/// [`ErrorKind::Rank`] if the bias does not have one dim, [`ErrorKind::NameMismatch`] if its name
/// for the channels differs from the weight's, [`ErrorKind::DuplicateNames`] like [`filter`].
pub fn filter_bias(
    op: &'static str,
    mut names: Names,
    sites: &Sites,
    out: Option<&Name>,
    bias: &Names,
) -> Result<Names> {
    if bias.len() != 1 {
        let what = format!("the bias has {} dims", bias.len());
        return Err(Error::new(ErrorKind::Rank, op, what)
            .operand(bias, &[])
            .hint("expected one: output channels"));
    }
    let out = Names::unchecked([out.cloned()]);
    let unified = unify(op, &out, bias)?;
    if let Some(name) = &unified[0] {
        names[sites.channel] = Some(name.clone());
    }
    distinct(op, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Names {
        let each = text.split_whitespace();
        Names::unchecked(each.map(|word| (word != "_").then(|| Name::new(word).unwrap())))
    }

    fn positional(x: &str, weight: &str) -> Result<Filter> {
        let x = names(x);
        let form = FilterForm {
            by_name: false,
            transposed: false,
        };
        let weight = names(weight);
        let sites = sites("conv", &x, weight.len() - 2)?;
        filter("conv", &x, &sites, &weight, form)
    }

    #[test]
    fn the_weight_names_the_channels() {
        assert_eq!(
            positional("N C H W", "O C _ _").unwrap().names,
            names("N O H W")
        );
        assert_eq!(
            positional("N C H W", "_ _ _ _").unwrap().names,
            names("N C H W")
        );
        assert_eq!(
            positional("C H W", "O C H W").unwrap().names,
            names("O H W")
        );
        assert_eq!(positional("_ _ _", "O C K").unwrap().names, names("_ O _"));
    }

    #[test]
    fn what_does_not_fit() {
        let kind = |x, weight| positional(x, weight).unwrap_err().kind();
        assert_eq!(kind("N C H W", "O D _ _"), ErrorKind::NameMismatch);
        assert_eq!(kind("N C H W", "O C W H"), ErrorKind::Misaligned);
        assert_eq!(kind("N C H W", "N C _ _"), ErrorKind::DuplicateNames);
        assert_eq!(kind("H W", "O C _ _"), ErrorKind::Rank);
    }

    #[test]
    fn by_name_the_weight_stands_in_any_order() {
        let x = names("H N W C");
        let sites = Sites {
            channel: 3,
            spatial: [0, 2].as_slice().into(),
        };
        let form = FilterForm {
            by_name: true,
            transposed: true,
        };
        let found = filter("conv", &x, &sites, &names("O KH KW C"), form).unwrap();
        assert_eq!((found.out, found.channel), (0, 3));
        assert_eq!(found.kernel.as_slice(), [1, 2]);
        assert_eq!(found.names, names("H N W O"));
    }

    #[test]
    fn a_bias_may_name_them_too() {
        let x = names("N C L");
        let sites = sites("conv", &x, 1).unwrap();
        let with =
            |out: Option<&Name>, bias| filter_bias("conv", x.clone(), &sites, out, &names(bias));
        assert_eq!(with(None, "O").unwrap(), names("N O L"));
        let out = Name::new("O").unwrap();
        assert_eq!(with(Some(&out), "_").unwrap(), names("N O L"));
        assert_eq!(
            with(Some(&out), "P").unwrap_err().kind(),
            ErrorKind::NameMismatch
        );
        assert_eq!(with(None, "A B").unwrap_err().kind(), ErrorKind::Rank);
    }
}
