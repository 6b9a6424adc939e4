//! Convolutions and their transposes.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef, FilterForm, Sites};
use nomina_core::{Names, Result};

use super::{ConvOptions, ConvTransposeOptions, DynTensor, Padding, about};
use crate::call::{self, ConvArgs, ConvSites, TransposedArgs};
use crate::raw::Raw;

/// Finds the weight's dims, computes, and names the result.
fn filtered(
    op: Op,
    x: &DynTensor,
    sites: &Sites,
    weight: &DynTensor,
    bias: Option<&DynTensor>,
    form: FilterForm,
    compute: impl FnOnce(&ConvSites<'_>) -> Result<Raw>,
) -> Result<DynTensor> {
    let name = op.name();
    let fail = |e| about(e, &[x, weight]);
    let filter = rule::filter(name, &x.names, sites, &weight.names, form).map_err(fail)?;
    let names: Names = match bias {
        None => filter.names,
        Some(bias) => {
            let out = weight.names[filter.out].as_ref();
            rule::filter_bias(name, filter.names, sites, out, &bias.names)
                .map_err(|e| about(e, &[bias]))?
        }
    };
    let raw = compute(&ConvSites {
        channel: sites.channel,
        spatial: &sites.spatial,
        out: filter.out,
        weight_channel: filter.channel,
        kernel: &filter.kernel,
    });
    Ok(DynTensor::new(raw.map_err(fail)?, names))
}

/// Computes a convolution; by name, the dims of the weight may be in any order.
pub(in crate::tensor) fn convolved(
    op: Op,
    x: &DynTensor,
    sites: &Sites,
    by_name: bool,
    weight: &DynTensor,
    bias: Option<&DynTensor>,
    args: &ConvArgs<'_>,
) -> Result<DynTensor> {
    let form = FilterForm {
        by_name,
        transposed: false,
    };
    filtered(op, x, sites, weight, bias, form, |at| {
        call::conv(
            op,
            &x.raw,
            &weight.raw,
            bias.map(|bias| &bias.raw),
            at,
            args,
        )
    })
}

/// Computes a transposed convolution; by name, the dims of the weight may be in any order.
pub(in crate::tensor) fn transposed(
    op: Op,
    x: &DynTensor,
    sites: &Sites,
    by_name: bool,
    weight: &DynTensor,
    bias: Option<&DynTensor>,
    args: &TransposedArgs<'_>,
) -> Result<DynTensor> {
    let form = FilterForm {
        by_name,
        transposed: true,
    };
    filtered(op, x, sites, weight, bias, form, |at| {
        call::conv_transpose(
            op,
            &x.raw,
            &weight.raw,
            bias.map(|bias| &bias.raw),
            at,
            args,
        )
    })
}

impl<const S: usize> ConvOptions<S> {
    /// Returns the options in the form that the entries take.
    #[must_use]
    pub fn args(&self) -> ConvArgs<'_> {
        ConvArgs {
            stride: &self.stride,
            padding: match &self.padding {
                Padding::Zeros(zeros) => Some(zeros),
                Padding::Same => None,
            },
            dilation: &self.dilation,
            groups: self.groups,
        }
    }
}

impl<const S: usize> ConvTransposeOptions<S> {
    /// Returns the options in the form that the entries take.
    #[must_use]
    pub fn args(&self) -> TransposedArgs<'_> {
        TransposedArgs {
            stride: &self.stride,
            padding: &self.padding,
            output_padding: &self.output_padding,
            groups: self.groups,
            dilation: &self.dilation,
        }
    }
}

macro_rules! convolutions {
    ($($n:literal $words:literal $op:ident $method:ident $with:ident $by:ident $transpose_op:ident $transpose:ident $transpose_with:ident $transpose_by:ident;)*) => {
        impl DynTensor {$(
            #[doc = concat!("Slides a kernel along the last ", $words, " and sums over the channels before them.")]
            ///
            /// # Errors
            /// If ranks, sizes, names or dtypes do not fit.
            pub fn $method(&self, weight: &Self) -> Result<Self> {
                self.$with(weight, None, ConvOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($method), "`] with a bias and options.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $with(&self, weight: &Self, bias: Option<&Self>, options: ConvOptions<$n>) -> Result<Self> {
                let sites = self.sites_for(Op::$op, $n, weight)?;
                convolved(Op::$op, self, &sites, false, weight, bias, &options.args())
            }

            #[doc = concat!("[`DynTensor::", stringify!($method), "`] along dims that are named, over a channel that is named; the weight has the channel, too, and its other dims are the output channels and the kernel.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $by<'a>(&self, channel: impl Into<DimRef<'a>>, dims: impl Into<DimArg<'a>>, weight: &Self, bias: Option<&Self>, options: ConvOptions<$n>) -> Result<Self> {
                let sites = self.named_sites(Op::$op, channel.into(), &dims.into(), $n)?;
                convolved(Op::$op, self, &sites, true, weight, bias, &options.args())
            }

            #[doc = concat!("The transpose of [`DynTensor::", stringify!($method), "`]: each element adds the kernel, times itself, to the result.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $transpose(&self, weight: &Self) -> Result<Self> {
                self.$transpose_with(weight, None, ConvTransposeOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($transpose), "`] with a bias and options.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $transpose_with(&self, weight: &Self, bias: Option<&Self>, options: ConvTransposeOptions<$n>) -> Result<Self> {
                let sites = self.sites_for(Op::$transpose_op, $n, weight)?;
                transposed(Op::$transpose_op, self, &sites, false, weight, bias, &options.args())
            }

            #[doc = concat!("[`DynTensor::", stringify!($transpose), "`] along dims that are named, over a channel that is named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($method), "`].")]
            pub fn $transpose_by<'a>(&self, channel: impl Into<DimRef<'a>>, dims: impl Into<DimArg<'a>>, weight: &Self, bias: Option<&Self>, options: ConvTransposeOptions<$n>) -> Result<Self> {
                let sites = self.named_sites(Op::$transpose_op, channel.into(), &dims.into(), $n)?;
                transposed(Op::$transpose_op, self, &sites, true, weight, bias, &options.args())
            }
        )*}
    };
}

convolutions! {
    1 "dim" Conv1d conv1d conv1d_with conv1d_by
        ConvTranspose1d conv_transpose1d conv_transpose1d_with conv_transpose1d_by;
    2 "two dims" Conv2d conv2d conv2d_with conv2d_by
        ConvTranspose2d conv_transpose2d conv_transpose2d_with conv_transpose2d_by;
    3 "three dims" Conv3d conv3d conv3d_with conv3d_by
        ConvTranspose3d conv_transpose3d conv_transpose3d_with conv_transpose3d_by;
}
