//! Kernel launches.

use std::alloc::Layout;
use std::ffi::c_void;

use cudarc::driver::sys::{self, CUfunction_attribute};
use nomina_core::Result;

use super::context::Cuda;
use super::failure::failed;
use super::kernel_cache::KernelFunction;

/// The argument of a kernel: a struct of the same layout as the one in its file.
///
/// # Safety
/// The type is `repr(C)`, has at most 4,000 bytes and the fields of the kernel's struct, with explicit padding.
pub(crate) unsafe trait Argument: Copy {}

/// The numbers of blocks and threads of a launch, and its bytes of dynamic shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared: u32,
}

/// The most blocks of a launch: enough to keep any device busy. Kernels loop over the rest.
const BLOCKS: usize = 1 << 16;

/// Bytes of shared memory above which a kernel needs an attribute.
const SHARED: u32 = 48 << 10;

/// Alignment of a kernel's arguments, in bytes.
const ALIGNED: usize = 16;

impl Grid {
    /// A thread for each of `count` items, in blocks of `threads` threads; fewer if there are very many.
    pub(crate) fn linear(count: usize, threads: u32) -> Self {
        Self::blocks(count.div_ceil(threads as usize), threads)
    }

    /// A grid of `count` blocks, or fewer if there are very many.
    pub(crate) fn blocks(count: usize, threads: u32) -> Self {
        let blocks = count.clamp(1, BLOCKS) as u32;
        Self {
            blocks: [blocks, 1, 1],
            threads: [threads, 1, 1],
            shared: 0,
        }
    }

    /// Sets the bytes of shared memory.
    #[must_use]
    pub(crate) fn shared(mut self, bytes: usize) -> Self {
        self.shared = bytes as u32;
        self
    }
}

impl Cuda {
    /// Starts a kernel after all work that was started before.
    ///
    /// # Safety
    /// The struct is the one that the kernel takes. The kernel accesses only the memory that the struct's addresses
    /// name, which lives until the kernel was started or is freed in the order of the stream.
    pub(crate) unsafe fn launch<A: Argument>(
        &self,
        op: &'static str,
        function: KernelFunction,
        grid: Grid,
        args: &A,
    ) -> Result<()> {
        const { assert!(size_of::<A>() <= 4000) };
        let start = std::ptr::from_ref(args).cast();
        // SAFETY: the caller's promise.
        unsafe { self.start(op, function, grid, start, Layout::new::<A>()) }
    }

    /// Like [`Cuda::launch`], but for a generated kernel, whose argument is a list of words.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
    pub(crate) unsafe fn launch_words(
        &self,
        op: &'static str,
        function: KernelFunction,
        grid: Grid,
        words: &[u64],
    ) -> Result<()> {
        let start = words.as_ptr().cast();
        // SAFETY: the caller's promise.
        unsafe { self.start(op, function, grid, start, Layout::for_value(words)) }
    }

    /// Starts a kernel with the arguments that are at `args`.
    ///
    /// # Safety
    /// See [`Cuda::launch`].
    unsafe fn start(
        &self,
        op: &'static str,
        function: KernelFunction,
        grid: Grid,
        args: *const c_void,
        layout: Layout,
    ) -> Result<()> {
        let _bound = self.bind(op)?;
        if grid.shared > SHARED {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function is never unloaded.
            unsafe { sys::cuFuncSetAttribute(function.0, most, grid.shared as i32) }
                .result()
                .map_err(|error| failed(op, "asking for shared memory", error))?;
        }
        // All arguments in one buffer: key and address of the buffer, key and address of its size, end.
        let mut size = layout.size();
        let mut buffer: [*mut c_void; 5] = [
            sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize as *mut c_void,
            args.cast_mut(),
            sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize as *mut c_void,
            (&raw mut size).cast(),
            sys::CU_LAUNCH_PARAM_END_AS_INT as usize as *mut c_void,
        ];
        // The driver copies that buffer to the start of the arguments, which is only a multiple of 16. A struct with a
        // larger alignment may start later: it is passed by its address, and the driver puts it where the kernel
        // expects it.
        let mut one = [args.cast_mut()];
        let (parameters, extra) = if layout.align() > ALIGNED {
            (one.as_mut_ptr(), std::ptr::null_mut())
        } else {
            (std::ptr::null_mut(), buffer.as_mut_ptr())
        };
        // SAFETY: the driver copies the struct before it returns; the caller promises the rest.
        let code = unsafe {
            sys::cuLaunchKernel(
                function.0,
                grid.blocks[0],
                grid.blocks[1],
                grid.blocks[2],
                grid.threads[0],
                grid.threads[1],
                grid.threads[2],
                grid.shared,
                self.stream,
                parameters,
                extra,
            )
        };
        code.result()
            .map_err(|error| failed(op, "starting a kernel", error))
    }
}
