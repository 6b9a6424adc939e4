//! What a device works with, in words.

use std::fmt;

use super::Properties;

/// What a device works with. Versions are of CUDA, major and minor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What it is.
    pub device: Properties,
    /// What its driver knows.
    pub driver: (u32, u32),
    /// NVRTC's, or why kernels that are not kept on disk cannot be compiled.
    pub compiler: Result<(u32, u32), String>,
    /// How many modules of compiled kernels came with the program, each for one kind of device, or why they are not used.
    pub shipped: Result<usize, String>,
    /// cuBLASLt's, or why it does not multiply.
    pub cublaslt: Result<(u32, u32), String>,
    /// How many products cuBLASLt has made. A call may take several.
    pub by_cublaslt: u64,
    /// How many products our own kernels have made: small ones, those of integers, those with a vector,
    /// and all where cuBLASLt does not multiply.
    pub by_kernels: u64,
    /// cuDNN's own version, major and minor, or why it does not convolve.
    pub cudnn: Result<(u32, u32), String>,
    /// How many convolutions, transposes and gradients of weights cuDNN has made.
    pub convolved_by_cudnn: u64,
    /// How many our own kernels have made: small ones, those of integers and of complex numbers, and all where cuDNN
    /// does not convolve. A gradient of a weight may be one more of them.
    pub convolved_by_kernels: u64,
    /// Why attention of 16-bit floats does not go by products of warpgroups, which devices of capability 9.0 have, if it
    /// does not.
    pub warpgroups: Result<(), String>,
    /// How many attentions products of warpgroups have made.
    pub attended_by_warpgroups: u64,
    /// How many other kernels have made.
    pub attended_by_warps: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let said = |found: &Result<(u32, u32), String>| match found {
            Ok((major, minor)) => format!("CUDA {major}.{minor}"),
            Err(why) => format!("none: {why}"),
        };
        let (major, minor) = self.device.capability;
        writeln!(
            f,
            "device: {}, capability {major}.{minor}",
            self.device.name
        )?;
        writeln!(f, "driver: {}", said(&Ok(self.driver)))?;
        writeln!(f, "compiler: {}", said(&self.compiler))?;
        match &self.shipped {
            Ok(count) => writeln!(f, "compiled kernels: {count} modules")?,
            Err(why) => writeln!(f, "compiled kernels: none: {why}")?,
        }
        writeln!(f, "cuBLASLt: {}", said(&self.cublaslt))?;
        match &self.cudnn {
            Ok((major, minor)) => writeln!(f, "cuDNN: {major}.{minor}")?,
            Err(why) => writeln!(f, "cuDNN: none: {why}")?,
        }
        writeln!(
            f,
            "products: {} by cuBLASLt, {} by our own kernels",
            self.by_cublaslt, self.by_kernels
        )?;
        writeln!(
            f,
            "convolutions: {} by cuDNN, {} by our own kernels",
            self.convolved_by_cudnn, self.convolved_by_kernels
        )?;
        write!(
            f,
            "attention: {} by warpgroups, {} by other kernels",
            self.attended_by_warpgroups, self.attended_by_warps
        )?;
        match &self.warpgroups {
            Ok(()) => Ok(()),
            Err(why) => write!(f, " (no warpgroups: {why})"),
        }
    }
}
