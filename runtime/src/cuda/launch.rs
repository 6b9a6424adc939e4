//! Starting kernels.

use std::alloc::Layout;
use std::ffi::c_void;

use cudarc::driver::sys::{self, CUfunction_attribute};
use nomina_core::Result;

use super::context::Cuda;
use super::failure::failed;
use super::function::Function;

/// What a kernel takes, as the struct of the same layout in its file.
///
/// # Safety
/// `repr(C)`, at most 4,000 bytes, and the fields of the kernel's struct, padding written out.
pub(crate) unsafe trait Argument: Copy {}

/// How many blocks of how many threads, and the bytes of shared memory that are asked for at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared: u32,
}

/// More blocks than keep any device busy. Kernels go on where the grid ends.
const BLOCKS: usize = 1 << 16;

/// Above this a kernel must be told that it may.
const SHARED: u32 = 48 << 10;

/// What a device's arguments are aligned to, in bytes.
const ALIGNED: usize = 16;

impl Grid {
    /// Blocks of `threads` threads for `count` pieces of work, one a thread; fewer threads than
    /// pieces when there are very many.
    pub(crate) fn linear(count: usize, threads: u32) -> Self {
        Self::blocks(count.div_ceil(threads as usize), threads)
    }

    /// `count` blocks, or fewer when there are very many.
    pub(crate) fn blocks(count: usize, threads: u32) -> Self {
        let blocks = count.clamp(1, BLOCKS) as u32;
        Self {
            blocks: [blocks, 1, 1],
            threads: [threads, 1, 1],
            shared: 0,
        }
    }

    /// With so many bytes of shared memory.
    #[must_use]
    pub(crate) fn shared(mut self, bytes: usize) -> Self {
        self.shared = bytes as u32;
        self
    }
}

impl Cuda {
    /// Starts a kernel after all that was started before.
    ///
    /// # Safety
    /// The struct is the one that the kernel takes, and the kernel keeps to the memory that its
    /// addresses name, which lives until it was started or is freed in the stream's order.
    pub(crate) unsafe fn launch<A: Argument>(
        &self,
        op: &'static str,
        function: Function,
        grid: Grid,
        args: &A,
    ) -> Result<()> {
        const { assert!(size_of::<A>() <= 4000) };
        let start = std::ptr::from_ref(args).cast();
        // SAFETY: passed on.
        unsafe { self.start(op, function, grid, start, Layout::new::<A>()) }
    }

    /// As [`Cuda::launch`], for a kernel whose struct is written with it: words, one after the other.
    ///
    /// # Safety
    /// As [`Cuda::launch`].
    pub(crate) unsafe fn launch_words(
        &self,
        op: &'static str,
        function: Function,
        grid: Grid,
        words: &[u64],
    ) -> Result<()> {
        let start = words.as_ptr().cast();
        // SAFETY: passed on.
        unsafe { self.start(op, function, grid, start, Layout::for_value(words)) }
    }

    /// Starts a kernel with the arguments that are at `args`.
    ///
    /// # Safety
    /// As [`Cuda::launch`].
    unsafe fn start(
        &self,
        op: &'static str,
        function: Function,
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
        // One buffer for all: pointer, its address; size, its address; end.
        let mut size = layout.size();
        let mut buffer: [*mut c_void; 5] = [
            sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize as *mut c_void,
            args.cast_mut(),
            sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize as *mut c_void,
            (&raw mut size).cast(),
            sys::CU_LAUNCH_PARAM_END_AS_INT as usize as *mut c_void,
        ];
        // The driver copies that buffer to where a device's arguments begin, at a multiple of 16 alone. A struct that is
        // aligned to more may begin further on: it is passed by its address, and the driver puts it where the kernel
        // expects it.
        let mut one = [args.cast_mut()];
        let (parameters, extra) = match layout.align() > ALIGNED {
            true => (one.as_mut_ptr(), std::ptr::null_mut()),
            false => (std::ptr::null_mut(), buffer.as_mut_ptr()),
        };
        // SAFETY: the driver copies the struct before it returns; the rest is the caller's promise.
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
