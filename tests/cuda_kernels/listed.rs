//! Kernels that may use local memory, with the reason.

use super::report::Kernel;

/// Modules whose description has all of these words, a kernel in them (or any, for `*`), on one
/// capability, at most so many bytes of stack frame and of spills, and why.
struct Allowed {
    module: &'static [&'static str],
    kernel: &'static str,
    capability: u32,
    frame: u32,
    spilled: u32,
    reason: &'static str,
}

const LISTED: &[Allowed] = &[
    Allowed {
        module: &["gemm.cu", "INDEX=u32"],
        kernel: "tiles",
        capability: 80,
        frame: 8,
        spilled: 8,
        reason: "one number of the whole kernel, written once; two blocks on a multiprocessor are worth it",
    },
    Allowed {
        module: &[
            "WIDTH=4",
            "T0=i32",
            "OP=Sum",
            "SHAPE=ROWS",
            "PACK=4",
            "PLAIN=1",
        ],
        kernel: "reduce_rows",
        capability: 80,
        frame: 8,
        spilled: 8,
        reason: "one number, which ptxas puts away at 48 registers though nothing limits it to so few",
    },
    arguments_of_waves(80, &["map.cu"]),
    arguments_of_waves(90, &["map.cu"]),
    arguments_of_waves(80, &["reduce.cu", "OP=LogSumExp", "T1=c128"]),
    arguments_of_waves(90, &["reduce.cu", "OP=LogSumExp", "T1=c128"]),
    arguments_of_waves(80, &["scan.cu", "OP=Logcumsumexp", "T1=c64"]),
    arguments_of_waves(90, &["scan.cu", "OP=Logcumsumexp", "T1=c64"]),
    arguments_of_waves(80, &["scan.cu", "OP=Logcumsumexp", "T1=c128"]),
    arguments_of_waves(90, &["scan.cu", "OP=Logcumsumexp", "T1=c128"]),
];

/// Sine, cosine and tangent, which complex functions use too.
const fn arguments_of_waves(capability: u32, module: &'static [&'static str]) -> Allowed {
    Allowed {
        module,
        kernel: "*",
        capability,
        frame: 40,
        spilled: 0,
        reason: "large arguments are reduced by digits of pi, which the compiler's functions keep there",
    }
}

impl Allowed {
    fn covers(&self, kernel: &Kernel) -> bool {
        let mut words = self.module.iter();
        words.all(|word| kernel.module.split(' ').any(|has| has == *word))
            && (self.kernel == "*" || self.kernel == kernel.name)
            && self.capability == kernel.capability
            && kernel.frame <= self.frame
            && kernel.spilled <= self.spilled
    }
}

/// Whether there is a reason for a kernel's local memory.
pub fn is_listed(kernel: &Kernel) -> bool {
    LISTED.iter().any(|allowed| allowed.covers(kernel))
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
                "{:?}, `{}`: nothing uses it ({})",
                allowed.module, allowed.kernel, allowed.reason
            )
        })
        .collect()
}
