//! Kernels that may use local memory, with the reason.

use super::report::Kernel;

/// A module whose description has all of these words, a kernel in it (or any, for `*`), at most so
/// many bytes of stack frame, and why.
struct Allowed {
    module: &'static [&'static str],
    kernel: &'static str,
    frame: u32,
    #[allow(dead_code)]
    reason: &'static str,
}

/// Spilled registers are never allowed: the kernel needs other bounds, or less at once.
const LISTED: &[Allowed] = &[];

impl Allowed {
    fn covers(&self, kernel: &Kernel) -> bool {
        let mut words = self.module.iter();
        words.all(|word| kernel.module.split(' ').any(|has| has == *word))
            && (self.kernel == "*" || self.kernel == kernel.name)
            && kernel.frame <= self.frame
    }
}

/// Whether there is a reason for a kernel's local memory.
pub fn is_listed(kernel: &Kernel) -> bool {
    kernel.spilled == 0 && LISTED.iter().any(|allowed| allowed.covers(kernel))
}

/// Lines that no kernel needs any more.
pub fn needless(kernels: &[Kernel]) -> Vec<String> {
    let needed = |allowed: &&Allowed| {
        let mut using = kernels.iter().filter(|kernel| kernel.uses_local_memory());
        !using.any(|kernel| allowed.covers(kernel))
    };
    let listed = LISTED.iter().filter(needed);
    listed
        .map(|allowed| {
            format!(
                "{:?}, `{}`: nothing uses it",
                allowed.module, allowed.kernel
            )
        })
        .collect()
}
