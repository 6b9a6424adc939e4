//! The report on a device: versions, and counts of calls by implementation.

use std::fmt;

use super::properties::Properties;

/// The versions of a device's driver, compiler and libraries, and how many calls each implementation has computed.
/// Versions are those of CUDA, major and minor, unless noted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// The properties of the device.
    pub device: Properties,
    /// The newest CUDA version that the driver supports.
    pub driver: (u32, u32),
    /// The version of NVRTC, or why kernels that are not in the cache on disk cannot be compiled.
    pub compiler: Result<(u32, u32), String>,
    /// The number of modules of compiled kernels in the program, each for one kind of device, or why they are not used.
    pub shipped: Result<usize, String>,
    /// The version of cuBLASLt, or why it is not used.
    pub cublaslt: Result<(u32, u32), String>,
    /// The number of products computed by cuBLASLt. A call may take several.
    pub by_cublaslt: u64,
    /// The number of products computed by our own kernels: small products, those of integers, those with a vector, and
    /// all if cuBLASLt is not used.
    pub by_kernels: u64,
    /// The version of cuDNN itself, or why it is not used.
    pub cudnn: Result<(u32, u32), String>,
    /// The number of convolutions, transposed convolutions and gradients of weights computed by cuDNN.
    pub convolved_by_cudnn: u64,
    /// The number computed by our own kernels: small convolutions, those of integers and complex numbers, and all if
    /// cuDNN is not used. A gradient of a weight may add one to it.
    pub convolved_by_kernels: u64,
    /// Why attention of 16-bit floats does not use warpgroup products, which devices of capability 9.0 have; `Ok` if it
    /// may use them.
    pub warpgroups: Result<(), String>,
    /// The number of attentions computed by warpgroup products.
    pub attended_by_warpgroups: u64,
    /// The number of attentions computed by other kernels.
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
