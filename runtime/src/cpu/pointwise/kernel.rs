//! Kernels: loops over scalar expressions.

use nomina_core::{DType, Element};

use crate::cpu::parallel::{GRAIN, UNTIMED};
use crate::cpu::simd::{LEVELS, Level, level, transfer_level};

/// The addresses of the inputs' elements; only the first `arity` are used.
pub(crate) type Inputs = [*const u8; 4];

/// A dense loop over `n` elements; arguments: the count, the result, the inputs.
pub(crate) type DenseLoop = unsafe fn(usize, *mut u8, Inputs);

/// An operator in one compute dtype.
#[derive(Clone, Copy)]
pub(crate) struct Kernel {
    pub(crate) arity: usize,
    /// The dtypes that the loop reads.
    pub(crate) inputs: [DType; 4],
    /// The dtype that the loop writes.
    pub(crate) output: DType,
    /// The dtype of all inputs, if they have the same.
    only: Option<DType>,
    loops: [DenseLoop; LEVELS],
    /// Loops that write their results over the first input.
    own: Option<[DenseLoop; LEVELS]>,
    /// Whether a few thousand elements may already pay for a second thread.
    slow: bool,
}

impl Kernel {
    pub(super) const fn new(
        arity: usize,
        inputs: [DType; 4],
        output: DType,
        loops: [DenseLoop; LEVELS],
    ) -> Self {
        let [first, rest @ ..] = inputs;
        let one = rest[0] as u8 == first as u8
            && rest[1] as u8 == first as u8
            && rest[2] as u8 == first as u8;
        Self {
            arity,
            inputs,
            output,
            only: if one { Some(first) } else { None },
            loops,
            own: None,
            slow: false,
        }
    }

    /// Sets the field `slow`.
    pub(super) const fn slow(mut self) -> Self {
        self.slow = true;
        self
    }

    /// Adds loops for [`Kernel::pick_own`].
    pub(super) const fn with_own(mut self, loops: [DenseLoop; LEVELS]) -> Self {
        self.own = Some(loops);
        self
    }

    /// Returns whether all inputs have this dtype.
    #[inline]
    pub(crate) fn reads_only(&self, dtype: DType) -> bool {
        self.only == Some(dtype)
    }

    /// Returns whether `count` elements may be worth several threads.
    #[inline]
    pub(crate) fn is_shared(&self, count: usize) -> bool {
        count > GRAIN || self.slow && count >= UNTIMED
    }

    /// Returns the loop for this machine.
    ///
    /// Its caller guarantees `n` readable, valid elements of each of [`Kernel::inputs`], and room for `n` of
    /// [`Kernel::output`] that overlaps none of them; all aligned.
    #[inline]
    pub(crate) fn pick(&self) -> DenseLoop {
        self.loops[self.level() as usize]
    }

    /// Returns the instruction set of the loops. Operators that may write over an input are cheap, so memory limits them.
    #[inline]
    fn level(&self) -> Level {
        if self.own.is_some() {
            transfer_level()
        } else {
            level()
        }
    }

    /// Returns the loop that writes its results over the first input, if there is one. It exists for operators that are
    /// cheaper than copying a block of results.
    ///
    /// Its caller guarantees the same as for [`Kernel::pick`], except that the first input is ignored and the result
    /// holds its elements.
    #[inline]
    pub(crate) fn pick_own(&self) -> Option<DenseLoop> {
        self.own.map(|loops| loops[self.level() as usize])
    }
}

/// Returns the dtype of an expression's value.
pub(super) const fn output1<A, R: Element>(_: &impl Fn(A) -> R) -> DType {
    R::DTYPE
}

/// Returns the dtype of an expression's value.
pub(super) const fn output2<A, B, R: Element>(_: &impl Fn(A, B) -> R) -> DType {
    R::DTYPE
}

/// Returns the dtype of an expression's value.
pub(super) const fn output3<A, B, C, R: Element>(_: &impl Fn(A, B, C) -> R) -> DType {
    R::DTYPE
}

/// Returns the dtype of an expression's value.
pub(super) const fn output4<A, B, C, D, R: Element>(_: &impl Fn(A, B, C, D) -> R) -> DType {
    R::DTYPE
}

// The loops below call no iterator: its functions would be instantiated for each kernel, and unoptimised builds would
// call them for each element.

/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop1<A: Copy, R: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    f: impl Fn(A) -> R,
) {
    let (out, x) = (out.cast::<R>(), inputs[0].cast::<A>());
    let mut i = 0;
    while i < n {
        // SAFETY: guaranteed by the caller.
        unsafe { *out.add(i) = f(*x.add(i)) };
        i += 1;
    }
}

/// # Safety
/// The requirements of [`Kernel::pick_own`].
#[inline(always)]
pub(super) unsafe fn own1<A: Copy>(n: usize, out: *mut u8, _: Inputs, f: impl Fn(A) -> A) {
    // SAFETY: guaranteed by the caller.
    unsafe { loop1(n, out, [out.cast_const(); 4], f) };
}

/// # Safety
/// The requirements of [`Kernel::pick_own`].
#[inline(always)]
pub(super) unsafe fn own2<A: Copy, B: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    f: impl Fn(A, B) -> A,
) {
    let [_, y, ..] = inputs;
    // SAFETY: guaranteed by the caller.
    unsafe { loop2(n, out, [out.cast_const(), y, y, y], f) };
}

/// The number of elements that are checked at a time for arguments out of reach of the fast function: long enough for
/// vectors, and short enough to be still cached for the second pass.
const STRETCH: usize = 256;

/// Like [`loop1`], for a vectorisable function `near` that is valid for the numbers that satisfy `reaches`; `far`
/// computes the others.
///
/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop_reaching<T: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    reaches: impl Fn(T) -> bool,
    near: impl Fn(T) -> T,
    far: impl Fn(T) -> T,
) {
    let (out, x) = (out.cast::<T>(), inputs[0].cast::<T>());
    let mut start = 0;
    while start < n {
        let end = if n - start < STRETCH {
            n
        } else {
            start + STRETCH
        };
        // All elements are computed and checked, vectorised; then the exceptions are recomputed one by one. A result
        // therefore does not depend on its neighbours.
        let (mut all, mut i) = (true, start);
        while i < end {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let x = *x.add(i);
                *out.add(i) = near(x);
                all &= reaches(x);
            }
            i += 1;
        }
        while !all && start < end {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let x = *x.add(start);
                if !reaches(x) {
                    *out.add(start) = far(x);
                }
            }
            start += 1;
        }
        start = end;
    }
}

/// Like [`loop2`], for a vectorisable function `near` that also returns whether its result is valid; `far` computes the
/// others.
///
/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop_holding<T: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    near: impl Fn(T, T) -> (T, bool),
    far: fn(T, T) -> T,
) {
    let (out, x, y) = (
        out.cast::<T>(),
        inputs[0].cast::<T>(),
        inputs[1].cast::<T>(),
    );
    let mut start = 0;
    while start < n {
        let end = if n - start < STRETCH {
            n
        } else {
            start + STRETCH
        };
        let (mut all, mut i) = (true, start);
        while i < end {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let (value, holds) = near(*x.add(i), *y.add(i));
                *out.add(i) = value;
                all &= holds;
            }
            i += 1;
        }
        while !all && start < end {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let (x, y) = (*x.add(start), *y.add(start));
                if !near(x, y).1 {
                    *out.add(start) = far(x, y);
                }
            }
            start += 1;
        }
        start = end;
    }
}

/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop2<A: Copy, B: Copy, R: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    f: impl Fn(A, B) -> R,
) {
    let (out, x, y) = (
        out.cast::<R>(),
        inputs[0].cast::<A>(),
        inputs[1].cast::<B>(),
    );
    let mut i = 0;
    while i < n {
        // SAFETY: guaranteed by the caller.
        unsafe { *out.add(i) = f(*x.add(i), *y.add(i)) };
        i += 1;
    }
}

/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop3<A: Copy, B: Copy, C: Copy, R: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    f: impl Fn(A, B, C) -> R,
) {
    let [x, y, z, _] = inputs;
    let (out, x, y, z) = (out.cast::<R>(), x.cast::<A>(), y.cast::<B>(), z.cast::<C>());
    let mut i = 0;
    while i < n {
        // SAFETY: guaranteed by the caller.
        unsafe { *out.add(i) = f(*x.add(i), *y.add(i), *z.add(i)) };
        i += 1;
    }
}

/// # Safety
/// The requirements of [`Kernel::pick`].
#[inline(always)]
pub(super) unsafe fn loop4<A: Copy, B: Copy, C: Copy, D: Copy, R: Copy>(
    n: usize,
    out: *mut u8,
    inputs: Inputs,
    f: impl Fn(A, B, C, D) -> R,
) {
    let [x, y, z, w] = inputs;
    let (out, x, y) = (out.cast::<R>(), x.cast::<A>(), y.cast::<B>());
    let (z, w) = (z.cast::<C>(), w.cast::<D>());
    let mut i = 0;
    while i < n {
        // SAFETY: guaranteed by the caller.
        unsafe { *out.add(i) = f(*x.add(i), *y.add(i), *z.add(i), *w.add(i)) };
        i += 1;
    }
}

/// Builds the kernel of a function of one float from two implementations: a vectorisable one for the arguments that
/// satisfy the predicate, and one for the others.
macro_rules! reaching {
    (slow $($rest:tt)*) => {{
        const KERNEL: Kernel = reaching!($($rest)*).slow();
        &KERNEL
    }};
    ($t:ty, $reaches:expr, $near:expr, $far:expr) => {{
        const KERNEL: Kernel = {
            let loops = fused!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                // A closure has the target features of the enclosing function even if it is not inlined.
                let (near, far) = (|x: $t| $near(x), |x: $t| $far(x));
                super::kernel::loop_reaching::<$t>(n, out, inputs, $reaches, near, far)
            });
            let dtype = <$t as Element>::DTYPE;
            Kernel::new(1, [dtype; 4], dtype, loops)
        };
        &KERNEL
    }};
}
pub(super) use reaching;

/// Builds the kernel of a function of two floats whose version in `$module` needs no call for most arguments.
macro_rules! holding {
    ($module:ident, $function:ident, $t:ty) => {{
        const KERNEL: Kernel = {
            let loops = fused!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                let near = $module::$function::<FMA>;
                super::kernel::loop_holding(n, out, inputs, near, $function::<$t>)
            });
            let dtype = <$t as Element>::DTYPE;
            Kernel::new(2, [dtype; 4], dtype, loops).slow()
        };
        &KERNEL
    }};
}
pub(super) use holding;

/// Builds a kernel from an expression over typed operands. `$levels` is the macro that compiles it per instruction set.
/// A leading `slow` sets the field of that name; `own` adds loops that write over the first operand.
macro_rules! kernel {
    (slow $($rest:tt)*) => {{
        const KERNEL: Kernel = kernel!($($rest)*).slow();
        &KERNEL
    }};
    (own $levels:ident, |$x:ident: $a:ty| $e:expr) => {{
        const KERNEL: Kernel = kernel!($levels, |$x: $a| $e).with_own(
            $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                own1(n, out, inputs, |$x: $a| $e)
            }),
        );
        &KERNEL
    }};
    (own $levels:ident, |$x:ident: $a:ty, $y:ident: $b:ty| $e:expr) => {{
        const KERNEL: Kernel = kernel!($levels, |$x: $a, $y: $b| $e).with_own(
            $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                own2(n, out, inputs, |$x: $a, $y: $b| $e)
            }),
        );
        &KERNEL
    }};
    ($levels:ident, |$x:ident: $a:ty| $e:expr) => {{
        const KERNEL: Kernel = {
            let loops = $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                loop1(n, out, inputs, |$x: $a| $e)
            });
            let dtypes = [<$a as Element>::DTYPE; 4];
            Kernel::new(1, dtypes, output1(&|$x: $a| $e), loops)
        };
        &KERNEL
    }};
    ($levels:ident, |$x:ident: $a:ty, $y:ident: $b:ty| $e:expr) => {{
        const KERNEL: Kernel = {
            let loops = $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                loop2(n, out, inputs, |$x: $a, $y: $b| $e)
            });
            let second = <$b as Element>::DTYPE;
            let dtypes = [<$a as Element>::DTYPE, second, second, second];
            Kernel::new(2, dtypes, output2(&|$x: $a, $y: $b| $e), loops)
        };
        &KERNEL
    }};
    ($levels:ident, |$x:ident: $a:ty, $y:ident: $b:ty, $z:ident: $c:ty| $e:expr) => {{
        const KERNEL: Kernel = {
            let loops = $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                loop3(n, out, inputs, |$x: $a, $y: $b, $z: $c| $e)
            });
            let third = <$c as Element>::DTYPE;
            let dtypes = [<$a as Element>::DTYPE, <$b as Element>::DTYPE, third, third];
            Kernel::new(3, dtypes, output3(&|$x: $a, $y: $b, $z: $c| $e), loops)
        };
        &KERNEL
    }};
    ($levels:ident, |$x:ident: $a:ty, $y:ident: $b:ty, $z:ident: $c:ty, $w:ident: $d:ty| $e:expr) => {{
        const KERNEL: Kernel = {
            let loops = $levels!(fn(n: usize, out: *mut u8, inputs: Inputs) {
                loop4(n, out, inputs, |$x: $a, $y: $b, $z: $c, $w: $d| $e)
            });
            let dtypes = [
                <$a as Element>::DTYPE,
                <$b as Element>::DTYPE,
                <$c as Element>::DTYPE,
                <$d as Element>::DTYPE,
            ];
            Kernel::new(4, dtypes, output4(&|$x: $a, $y: $b, $z: $c, $w: $d| $e), loops)
        };
        &KERNEL
    }};
}
pub(super) use kernel;
