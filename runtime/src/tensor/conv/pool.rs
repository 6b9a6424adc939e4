//! Pooling.

use nomina_core::op::Op;
use nomina_core::rule::DimArg;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::{AvgPoolOptions, DynTensor, LpPoolOptions, MaxPoolOptions, about};
use crate::call::{self, AvgArgs, MaxArgs};
use crate::raw::Raw;
use crate::tensor::family;

fn named(x: &DynTensor, raw: Result<Raw>) -> Result<DynTensor> {
    let raw = raw.map_err(|e| about(e, &[x]))?;
    Ok(DynTensor::new(raw, x.names.clone()))
}

fn pair(x: &DynTensor, found: Result<(Raw, Option<Raw>)>) -> Result<(DynTensor, DynTensor)> {
    let (values, indices) = found.map_err(|e| about(e, &[x]))?;
    let Some(indices) = indices else {
        unreachable!("indices were asked for")
    };
    let names = x.names.clone();
    Ok((
        DynTensor::new(values, names.clone()),
        DynTensor::new(indices, names),
    ))
}

/// Computes the maximum of each window along the dims at `dims`.
pub(in crate::tensor) fn greatest(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    args: &MaxArgs<'_>,
) -> Result<DynTensor> {
    let found = call::max_pool(op, &x.raw, dims, args, false);
    named(x, found.map(|(values, _)| values))
}

/// Like [`greatest`], but also returns the indices.
pub(in crate::tensor) fn greatest_places(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    args: &MaxArgs<'_>,
) -> Result<(DynTensor, DynTensor)> {
    pair(x, call::max_pool(op, &x.raw, dims, args, true))
}

/// Computes the mean of each window along the dims at `dims`.
pub(in crate::tensor) fn averaged(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    args: &AvgArgs<'_>,
) -> Result<DynTensor> {
    named(x, call::avg_pool(op, &x.raw, dims, args))
}

/// Computes the `p`-norm of each window along the dims at `dims`.
pub(in crate::tensor) fn norm(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    p: f64,
    args: &AvgArgs<'_>,
) -> Result<DynTensor> {
    op.row()
        .check_dtype(x.dtype())
        .map_err(|e| about(e, &[x]))?;
    if p == 0.0 || p.is_nan() {
        let what = format!("a norm of order {p}");
        let error = Error::new(ErrorKind::Argument, op.name(), what).hint("use another number");
        return Err(about(error, &[x]));
    }
    let scalar = |value: f64| Scalar::Float(value);
    // In f64, since powers leave the range of narrower floats long before their roots do. Elements of f64 are scaled
    // instead.
    let wide = named(x, call::to_dtype(&x.raw, DType::F64))?;
    let factor = power_factor(&wide, p)?;
    let wide = if factor == 1.0 {
        wide
    } else {
        wide.mul(factor)?
    };
    let powers = family::pointwise(Op::Pow, &[(&wide).into(), scalar(p).into()])?;
    let means = averaged(op, &powers, dims, args).map_err(|e| about(e, &[x]))?;
    // In floats, since the product of extreme sizes overflows.
    let count: f64 = args.kernel.iter().map(|&size| size as f64).product();
    let sums = family::pointwise(Op::Mul, &[(&means).into(), scalar(count).into()])?;
    let norms = family::pointwise(Op::Pow, &[(&sums).into(), scalar(1.0 / p).into()])?;
    let norms = if factor == 1.0 {
        norms
    } else {
        norms.div(factor)?
    };
    named(x, call::to_dtype(&norms.raw, x.dtype()))
}

/// Returns a power of two that scales the greatest element to about one if its power is out of range, else one.
fn power_factor(x: &DynTensor, p: f64) -> Result<f64> {
    // Does not wait for a device.
    if !x.raw.device().is_cpu() || x.numel() == 0 {
        return Ok(1.0);
    }
    let greatest = x.detach().abs()?.amax(..)?.item()?.to_f64();
    let is_in_range = (1e-280..1e290).contains(&greatest.powf(p));
    if greatest == 0.0 || is_in_range || !greatest.is_finite() {
        return Ok(1.0);
    }
    Ok((-greatest.log2().floor()).clamp(-1022.0, 1022.0).exp2())
}

/// Computes the mean or the maximum of `sizes` equal parts of the dims at `dims`, for the maximum also its index.
pub(in crate::tensor) fn adaptive(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    sizes: &[usize],
    greatest: bool,
) -> Result<DynTensor> {
    let raw = if greatest {
        call::adaptive_max(op, &x.raw, dims, sizes, false).map(|(values, _)| values)
    } else {
        call::adaptive_avg(op, &x.raw, dims, sizes)
    };
    named(x, raw)
}

pub(in crate::tensor) fn adaptive_places(
    op: Op,
    x: &DynTensor,
    dims: &[usize],
    sizes: &[usize],
) -> Result<(DynTensor, DynTensor)> {
    pair(x, call::adaptive_max(op, &x.raw, dims, sizes, true))
}

/// Writes elements at their indices among zeros; the names of the indices unify with those of the elements.
pub(in crate::tensor) fn unpooled(
    op: Op,
    x: &DynTensor,
    indices: &DynTensor,
    dims: &[usize],
    sizes: &[usize],
) -> Result<DynTensor> {
    let both = [x, indices];
    let names = family::unified(op, &both)?;
    let raw = call::max_unpool(op, &x.raw, &indices.raw, dims, sizes);
    Ok(DynTensor::new(raw.map_err(|e| about(e, &both))?, names))
}

impl<const S: usize> MaxPoolOptions<S> {
    /// Returns the options in the form that the entries take, for a window of these sizes.
    pub fn args<'a>(&'a self, kernel: &'a [usize; S]) -> MaxArgs<'a> {
        MaxArgs {
            kernel,
            stride: self.stride.as_ref().unwrap_or(kernel),
            padding: &self.padding,
            dilation: &self.dilation,
            ceil_mode: self.ceil_mode,
        }
    }
}

impl<const S: usize> AvgPoolOptions<S> {
    /// Returns the options in the form that the entries take, for a window of these sizes.
    pub fn args<'a>(&'a self, kernel: &'a [usize; S]) -> AvgArgs<'a> {
        AvgArgs {
            kernel,
            stride: self.stride.as_ref().unwrap_or(kernel),
            padding: &self.padding,
            ceil_mode: self.ceil_mode,
            count_include_pad: self.count_include_pad,
            divisor_override: self.divisor_override,
        }
    }
}

impl<const S: usize> LpPoolOptions<S> {
    fn average(&self) -> AvgPoolOptions<S> {
        AvgPoolOptions {
            stride: self.stride,
            ceil_mode: self.ceil_mode,
            ..AvgPoolOptions::default()
        }
    }
}

macro_rules! pools {
    ($($n:literal $words:literal
        $max_op:ident $max:ident $max_with:ident $max_by:ident $max_indices:ident $max_indices_by:ident
        $avg_op:ident $avg:ident $avg_with:ident $avg_by:ident
        $lp_op:ident $lp:ident $lp_by:ident
        $mean_op:ident $mean:ident $mean_by:ident
        $top_op:ident $top:ident $top_by:ident $top_indices:ident $top_indices_by:ident
        $un_op:ident $un:ident $un_by:ident;)*) => {
        impl DynTensor {$(
            #[doc = concat!("The greatest element under a window along the last ", $words, ".")]
            ///
            /// # Errors
            /// If rank, sizes or dtype do not fit.
            pub fn $max(&self, kernel_size: [usize; $n]) -> Result<Self> {
                self.$max_with(kernel_size, MaxPoolOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($max), "`] with options.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $max_with(&self, kernel_size: [usize; $n], options: MaxPoolOptions<$n>) -> Result<Self> {
                let dims = self.sites(Op::$max_op, $n)?.spatial;
                greatest(Op::$max_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("[`DynTensor::", stringify!($max), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $max_by<'a>(&self, dims: impl Into<DimArg<'a>>, kernel_size: [usize; $n], options: MaxPoolOptions<$n>) -> Result<Self> {
                let dims = self.dims_at(Op::$max_op, &dims.into())?;
                greatest(Op::$max_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("[`DynTensor::", stringify!($max_with), "`], and where the elements stand among those of the window's dims, counted row-major.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $max_indices(&self, kernel_size: [usize; $n], options: MaxPoolOptions<$n>) -> Result<(Self, Self)> {
                let dims = self.sites(Op::$max_op, $n)?.spatial;
                greatest_places(Op::$max_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("[`DynTensor::", stringify!($max_indices), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $max_indices_by<'a>(&self, dims: impl Into<DimArg<'a>>, kernel_size: [usize; $n], options: MaxPoolOptions<$n>) -> Result<(Self, Self)> {
                let dims = self.dims_at(Op::$max_op, &dims.into())?;
                greatest_places(Op::$max_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("The mean under a window along the last ", $words, ".")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $avg(&self, kernel_size: [usize; $n]) -> Result<Self> {
                self.$avg_with(kernel_size, AvgPoolOptions::default())
            }

            #[doc = concat!("[`DynTensor::", stringify!($avg), "`] with options.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $avg_with(&self, kernel_size: [usize; $n], options: AvgPoolOptions<$n>) -> Result<Self> {
                let dims = self.sites(Op::$avg_op, $n)?.spatial;
                averaged(Op::$avg_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("[`DynTensor::", stringify!($avg), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $avg_by<'a>(&self, dims: impl Into<DimArg<'a>>, kernel_size: [usize; $n], options: AvgPoolOptions<$n>) -> Result<Self> {
                let dims = self.dims_at(Op::$avg_op, &dims.into())?;
                averaged(Op::$avg_op, self, &dims, &options.args(&kernel_size))
            }

            #[doc = concat!("The norm of order `norm_type` under a window along the last ", $words, ".")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $lp(&self, norm_type: f64, kernel_size: [usize; $n], options: LpPoolOptions<$n>) -> Result<Self> {
                let dims = self.sites(Op::$lp_op, $n)?.spatial;
                norm(Op::$lp_op, self, &dims, norm_type, &options.average().args(&kernel_size))
            }

            #[doc = concat!("[`DynTensor::", stringify!($lp), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $lp_by<'a>(&self, dims: impl Into<DimArg<'a>>, norm_type: f64, kernel_size: [usize; $n], options: LpPoolOptions<$n>) -> Result<Self> {
                let dims = self.dims_at(Op::$lp_op, &dims.into())?;
                norm(Op::$lp_op, self, &dims, norm_type, &options.average().args(&kernel_size))
            }

            #[doc = concat!("The means of so many equal parts of the last ", $words, ".")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $mean(&self, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.sites(Op::$mean_op, $n)?.spatial;
                adaptive(Op::$mean_op, self, &dims, &output_size, false)
            }

            #[doc = concat!("[`DynTensor::", stringify!($mean), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $mean_by<'a>(&self, dims: impl Into<DimArg<'a>>, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.dims_at(Op::$mean_op, &dims.into())?;
                adaptive(Op::$mean_op, self, &dims, &output_size, false)
            }

            #[doc = concat!("The greatest elements of so many equal parts of the last ", $words, ".")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $top(&self, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.sites(Op::$top_op, $n)?.spatial;
                adaptive(Op::$top_op, self, &dims, &output_size, true)
            }

            #[doc = concat!("[`DynTensor::", stringify!($top), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $top_by<'a>(&self, dims: impl Into<DimArg<'a>>, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.dims_at(Op::$top_op, &dims.into())?;
                adaptive(Op::$top_op, self, &dims, &output_size, true)
            }

            #[doc = concat!("[`DynTensor::", stringify!($top), "`], and where the elements stand.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $top_indices(&self, output_size: [usize; $n]) -> Result<(Self, Self)> {
                let dims = self.sites(Op::$top_op, $n)?.spatial;
                adaptive_places(Op::$top_op, self, &dims, &output_size)
            }

            #[doc = concat!("[`DynTensor::", stringify!($top_indices), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($max), "`].")]
            pub fn $top_indices_by<'a>(&self, dims: impl Into<DimArg<'a>>, output_size: [usize; $n]) -> Result<(Self, Self)> {
                let dims = self.dims_at(Op::$top_op, &dims.into())?;
                adaptive_places(Op::$top_op, self, &dims, &output_size)
            }

            #[doc = concat!("Puts the elements of [`DynTensor::", stringify!($max_indices), "`] back to their indices, among zeros.")]
            ///
            /// # Errors
            /// If names or sizes of both differ, or an index is out of range.
            pub fn $un(&self, indices: &Self, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.sites(Op::$un_op, $n)?.spatial;
                unpooled(Op::$un_op, self, indices, &dims, &output_size)
            }

            #[doc = concat!("[`DynTensor::", stringify!($un), "`] along dims that are named.")]
            ///
            /// # Errors
            #[doc = concat!("As [`DynTensor::", stringify!($un), "`].")]
            pub fn $un_by<'a>(&self, indices: &Self, dims: impl Into<DimArg<'a>>, output_size: [usize; $n]) -> Result<Self> {
                let dims = self.dims_at(Op::$un_op, &dims.into())?;
                unpooled(Op::$un_op, self, indices, &dims, &output_size)
            }
        )*}
    };
}

pools! {
    1 "dim"
        MaxPool1d max_pool1d max_pool1d_with max_pool1d_by max_pool1d_with_indices max_pool1d_with_indices_by
        AvgPool1d avg_pool1d avg_pool1d_with avg_pool1d_by
        LpPool1d lp_pool1d lp_pool1d_by
        AdaptiveAvgPool1d adaptive_avg_pool1d adaptive_avg_pool1d_by
        AdaptiveMaxPool1d adaptive_max_pool1d adaptive_max_pool1d_by adaptive_max_pool1d_with_indices adaptive_max_pool1d_with_indices_by
        MaxUnpool1d max_unpool1d max_unpool1d_by;
    2 "two dims"
        MaxPool2d max_pool2d max_pool2d_with max_pool2d_by max_pool2d_with_indices max_pool2d_with_indices_by
        AvgPool2d avg_pool2d avg_pool2d_with avg_pool2d_by
        LpPool2d lp_pool2d lp_pool2d_by
        AdaptiveAvgPool2d adaptive_avg_pool2d adaptive_avg_pool2d_by
        AdaptiveMaxPool2d adaptive_max_pool2d adaptive_max_pool2d_by adaptive_max_pool2d_with_indices adaptive_max_pool2d_with_indices_by
        MaxUnpool2d max_unpool2d max_unpool2d_by;
    3 "three dims"
        MaxPool3d max_pool3d max_pool3d_with max_pool3d_by max_pool3d_with_indices max_pool3d_with_indices_by
        AvgPool3d avg_pool3d avg_pool3d_with avg_pool3d_by
        LpPool3d lp_pool3d lp_pool3d_by
        AdaptiveAvgPool3d adaptive_avg_pool3d adaptive_avg_pool3d_by
        AdaptiveMaxPool3d adaptive_max_pool3d adaptive_max_pool3d_by adaptive_max_pool3d_with_indices adaptive_max_pool3d_with_indices_by
        MaxUnpool3d max_unpool3d max_unpool3d_by;
}
