//! Parses the compiler's reports about kernels.

use std::fmt;

/// A function of a module, for one compute capability.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The module's file and defines.
    pub module: String,
    pub capability: u32,
    pub name: String,
    pub registers: u32,
    /// The stack frame of a thread, in bytes.
    pub frame: u32,
    /// The bytes spilled to the stack for lack of registers.
    pub spilled: u32,
}

impl Kernel {
    pub fn uses_local_memory(&self) -> bool {
        self.frame > 0 || self.spilled > 0
    }

    /// Returns the file of the kernel's module, or the kind of generated source.
    pub fn file(&self) -> &str {
        self.module.split([' ', '-']).next().unwrap_or(&self.module)
    }

    /// Formats a line for [`Kernel::parse`].
    pub fn line(&self) -> String {
        format!(
            "{}\t{}\t{}\t{}\t{}\t{}",
            self.module, self.capability, self.name, self.registers, self.frame, self.spilled
        )
    }

    pub fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (module, capability, name) = (fields.next()?, fields.next()?, fields.next()?);
        let mut number = || fields.next()?.parse().ok();
        Some(Self {
            module: module.to_owned(),
            capability: capability.parse().ok()?,
            name: name.to_owned(),
            registers: number()?,
            frame: number()?,
            spilled: number()?,
        })
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, `{}`, sm_{}: {} registers, {} bytes stack frame, {} bytes spilled",
            self.module, self.name, self.capability, self.registers, self.frame, self.spilled
        )
    }
}

/// Parses the number before a word.
fn before(line: &str, word: &str) -> Option<u32> {
    let (head, _) = line.split_once(word)?;
    head.trim().rsplit([' ', ',']).next()?.parse().ok()
}

/// Counts the generic accesses of a module, whose address space is resolved at run time, and its global ones: loads,
/// stores and atomics of PTX.
pub fn accesses(ptx: &str) -> [usize; 2] {
    let mut found = [0; 2];
    for line in ptx.lines() {
        // An instruction may have a predicate: `@%p1 ld.global.u32 %r1, [%rd2];`.
        let word = line.split_whitespace().find(|word| !word.starts_with('@'));
        let mut parts = word.unwrap_or_default().split('.');
        if !matches!(parts.next(), Some("ld" | "st" | "atom" | "red")) {
            continue;
        }
        let space = parts.find_map(|part| match part.split("::").next() {
            Some("global") => Some(Some(1)),
            Some("shared" | "local" | "param" | "const") => Some(None),
            _ => None,
        });
        if let Some(kind) = space.unwrap_or(Some(0)) {
            found[kind] += 1;
        }
    }
    found
}

/// Returns ptxas's warning about warpgroup products that it serialized, or whose fences it had to insert.
pub fn remark(report: &str) -> Option<&str> {
    let mut lines = report.lines();
    lines.find(|line| line.contains("wgmma") || line.contains("warpgroup"))
}

/// Parses what ptxas reports for each function: a line with its name, then its memory, then its registers.
pub fn read(module: &str, capability: u32, report: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in report.lines() {
        if let Some((_, name)) = line.split_once("Function properties for ") {
            kernels.push(Kernel {
                module: module.to_owned(),
                capability,
                name: name.trim().to_owned(),
                registers: 0,
                frame: 0,
                spilled: 0,
            });
        }
        let Some(kernel) = kernels.last_mut() else {
            continue;
        };
        if let Some(frame) = before(line, " bytes stack frame") {
            kernel.frame = frame;
            let stores = before(line, " bytes spill stores").unwrap_or(0);
            kernel.spilled = stores + before(line, " bytes spill loads").unwrap_or(0);
        }
        if let Some((_, rest)) = line.split_once(": Used ") {
            kernel.registers = before(rest, " registers").unwrap_or(0);
        }
    }
    kernels
}

/// Returns whether the parser understands the report format; an unreadable report must not pass as a good one.
pub fn understands() -> bool {
    let report = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 25 registers, used 0 barriers, 16 bytes cumulative stack size
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 7 registers, used 1 barriers, 2048 bytes smem
";
    let read = read("m.cu", 90, report);
    let numbers: Vec<_> = read
        .iter()
        .map(|k| (k.name.as_str(), k.registers, k.frame, k.spilled))
        .collect();
    let ptx = "
	@%p1 ld.global.nc.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
	ld.param.u64 %rd2, [k_param_0];
	st.u8 [%rd3], %rs1;
	@%p2 atom.cas.b64 %rd4, [%rd5], %rd6, %rd7;
	st.shared::cta.f32 [%r5], %f1;
	red.global.add.f32 [%rd8], %f2;
";
    let serial = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
                  serialized due to non wgmma instructions defining accumulator registers";
    remark(report).is_none()
        && remark(&format!("{report}{serial}\n")).is_some()
        && numbers == [("first", 25, 16, 20), ("second", 7, 0, 0)]
        && accesses(ptx) == [2, 2]
        && Kernel::parse(&read[0].line()).as_ref() == Some(&read[0])
}
