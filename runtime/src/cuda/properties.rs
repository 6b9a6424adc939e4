//! The properties of a device and its memory statistics.

/// The properties of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    /// The name the driver reports.
    pub name: String,
    /// The compute capability, major and minor.
    pub capability: (u32, u32),
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The total memory in bytes.
    pub memory: usize,
}

/// Memory of a device used by this process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Bytes in tensors and in the workspaces of running kernels.
    pub in_use: usize,
    /// Bytes reserved from the device, in use or cached for later allocations.
    pub held: usize,
    /// The largest value of `in_use` so far.
    pub peak: usize,
}
