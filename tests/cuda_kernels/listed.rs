//! The kernels that may use local memory, with the reason.

use super::report::Kernel;

/// An exception: the limits of stack frame and spills, in bytes, for matching kernels, and the reason. A kernel matches
/// if its file is `file` (`*` for any), its module's description has all words of `all` and one of `one` (or `one` is
/// empty), its name is `kernel` (`*` for any), and it was compiled for `capability` (`None` for any).
struct Allowed {
    file: &'static str,
    all: &'static [&'static str],
    one: &'static [&'static str],
    kernel: &'static str,
    capability: Option<u32>,
    frame: u32,
    spilled: u32,
    reason: &'static str,
}

/// The reason why functions of angles have a stack frame.
const ANGLES: &str = "the compiler's own reduction of angles beyond 10^5 has an array of digits, which \
                      smaller angles do not touch";

/// Functions that compute the angle of a complex number, or a complex number from an angle.
const COMPLEX: &[&str] = &[
    "cosh",
    "exp",
    "exp2",
    "expm1",
    "logaddexp",
    "pow",
    "sigmoid",
    "silu",
    "sinh",
    "tanh",
];

/// The reason for spills that ptxas chooses.
const CHOSEN: &str = "a few numbers, which ptxas puts away though it may use more registers";

const LISTED: &[Allowed] = &[
    Allowed {
        file: "topk.cu",
        all: &["INDEX=u32"],
        one: &[],
        kernel: "select_starts",
        capability: Some(80),
        frame: 8,
        spilled: 8,
        reason: CHOSEN,
    },
    Allowed {
        file: "*",
        all: &[
            "WIDTH=4",
            "T0=i32",
            "OP=Sum",
            "SHAPE=ROWS",
            "PACK=4",
            "PLAIN=1",
        ],
        one: &[],
        kernel: "reduce_rows",
        capability: Some(80),
        frame: 8,
        spilled: 8,
        reason: CHOSEN,
    },
    Allowed {
        file: "norm.cu",
        all: &[
            "OP=RootMeanSquare",
            "T0=f64",
            "PHASE=WRITE",
            "SHAPE=ROWS",
            "PACK=2",
        ],
        one: &[],
        kernel: "norm_rows",
        capability: Some(80),
        frame: 8,
        spilled: 12,
        reason: CHOSEN,
    },
    Allowed {
        file: "norm.cu",
        all: &["T0=f64", "SHAPE=HELD", "ITEMS=32", "PACK=2"],
        one: &[],
        kernel: "norm_held",
        capability: Some(90),
        frame: 16,
        spilled: 48,
        reason: CHOSEN,
    },
    Allowed {
        file: "reduce.cu",
        all: &[
            "OP=Variance",
            "T0=f32",
            "SHAPE=COLUMNS",
            "PACK=4",
            "PLAIN=0",
        ],
        one: &[],
        kernel: "reduce_columns",
        capability: Some(80),
        frame: 8,
        spilled: 20,
        reason: CHOSEN,
    },
    Allowed {
        file: "reduce.cu",
        all: &[
            "OP=NanVariance",
            "T0=f64",
            "SHAPE=ROWS",
            "PACK=2",
            "PLAIN=1",
        ],
        one: &[],
        kernel: "reduce_rows",
        capability: Some(90),
        frame: 8,
        spilled: 16,
        reason: CHOSEN,
    },
    Allowed {
        file: "reduce.cu",
        all: &[
            "OP=LogSumExp",
            "T0=f64",
            "SHAPE=COLUMNS",
            "PACK=2",
            "PLAIN=1",
        ],
        one: &[],
        kernel: "reduce_columns",
        capability: Some(90),
        frame: 16,
        spilled: 48,
        reason: CHOSEN,
    },
    Allowed {
        file: "scan.cu",
        all: &["PHASE=TOTALS", "SHAPE=ROWS", "PACK=8"],
        one: &["Cumsum", "Cumprod"],
        kernel: "scan_rows",
        capability: Some(80),
        frame: 8,
        spilled: 20,
        reason: CHOSEN,
    },
    Allowed {
        file: "scan.cu",
        all: &["OP=Cumprod", "PHASE=TOTALS", "SHAPE=ROWS", "PACK=16"],
        one: &[],
        kernel: "scan_rows",
        capability: Some(90),
        frame: 8,
        spilled: 16,
        reason: CHOSEN,
    },
    Allowed {
        file: "softmax.cu",
        all: &["T0=f64", "SHAPE=COLUMNS", "PACK=2", "PLAIN=1"],
        one: &[],
        kernel: "softmax_columns",
        capability: Some(90),
        frame: 16,
        spilled: 40,
        reason: CHOSEN,
    },
    Allowed {
        file: "softmax.cu",
        all: &["T0=f64", "PHASE=FUSED", "SHAPE=COLUMNS", "PACK=1"],
        one: &[],
        kernel: "*",
        capability: Some(90),
        frame: 40,
        spilled: 64,
        reason: CHOSEN,
    },
    Allowed {
        file: "norm.cu",
        all: &["SHAPE=HELD", "ITEMS=16", "PACK=1"],
        one: &[],
        kernel: "*",
        capability: None,
        frame: 48,
        spilled: 88,
        reason: "blocks of 1024 threads leave each 64 registers; rows that begin anywhere, and no others",
    },
    Allowed {
        file: "scan.cu",
        all: &["OP=Logcumsumexp"],
        one: &["c64", "c128"],
        kernel: "*",
        capability: None,
        frame: 40,
        spilled: 0,
        reason: ANGLES,
    },
    Allowed {
        file: "reduce.cu",
        all: &["OP=LogSumExp"],
        one: &["c64", "c128"],
        kernel: "*",
        capability: None,
        frame: 48,
        spilled: 8,
        reason: ANGLES,
    },
    Allowed {
        file: "scatter.cu",
        all: &[],
        one: &["bool", "u8", "i8", "i16", "f16", "bf16"],
        kernel: "*",
        capability: None,
        frame: 16,
        spilled: 0,
        reason: "an element is chosen from the word around it; the exchange beside it takes far longer",
    },
    Allowed {
        file: "map.cu",
        all: &[],
        one: &["sin", "cos", "tan", "sinc"],
        kernel: "*",
        capability: None,
        frame: 40,
        spilled: 0,
        reason: ANGLES,
    },
    Allowed {
        file: "map.cu",
        all: &["COMPUTE=c64"],
        one: COMPLEX,
        kernel: "*",
        capability: None,
        frame: 40,
        spilled: 0,
        reason: ANGLES,
    },
    Allowed {
        file: "map.cu",
        all: &["COMPUTE=c128"],
        one: COMPLEX,
        kernel: "*",
        capability: None,
        frame: 40,
        spilled: 0,
        reason: ANGLES,
    },
];

impl Allowed {
    fn covers(&self, kernel: &Kernel) -> bool {
        let described: Vec<&str> = kernel.module.split(' ').collect();
        let mut words = kernel
            .module
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        (self.file == "*" || kernel.file() == self.file)
            && self.all.iter().all(|word| described.contains(word))
            && (self.one.is_empty() || words.any(|word| self.one.contains(&word)))
            && (self.kernel == "*" || self.kernel == kernel.name)
            && self.capability.is_none_or(|only| only == kernel.capability)
            && kernel.frame <= self.frame
            && kernel.spilled <= self.spilled
    }
}

/// Returns whether there is a reason for a kernel's local memory.
pub fn is_listed(kernel: &Kernel) -> bool {
    LISTED.iter().any(|allowed| allowed.covers(kernel))
}

/// Returns the exceptions that no kernel needs any more.
pub fn needless(kernels: &[Kernel]) -> Vec<String> {
    let needed = |allowed: &&Allowed| {
        let mut using = kernels.iter().filter(|kernel| kernel.uses_local_memory());
        !using.any(|kernel| allowed.covers(kernel))
    };
    let line = |allowed: &Allowed| {
        let (file, kernel, reason) = (allowed.file, allowed.kernel, allowed.reason);
        format!("{file}, `{kernel}`, {reason}: nothing uses it")
    };
    LISTED.iter().filter(needed).map(line).collect()
}
