//! Compilation of modules by NVRTC, for the architecture of the device.

use std::ffi::{CStr, CString, c_char, c_int};

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use nomina_core::{Error, ErrorKind, Result};

use super::probe;
use super::source::{HEADERS, Source};

/// The devices that code is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CompileTarget {
    /// Machine code for a capability and later minor versions: `sm_90`.
    Cubin(u32),
    /// Machine code for one capability alone: `sm_90a`.
    Bound(u32),
    /// PTX, which the driver translates for any device of this capability or a newer one.
    Ptx(u32),
}

impl CompileTarget {
    /// Lists the targets of a module in the package of compiled kernels, the preferred ones first.
    pub(super) fn shipped(source: &Source) -> &'static [Self] {
        if source.is_bound() {
            &[Self::Bound(90)]
        } else {
            &[Self::Cubin(90), Self::Cubin(80), Self::Ptx(90)]
        }
    }

    /// Returns the target that names a device's file in the cache. The file has PTX if the compiler does not know the
    /// device.
    pub(super) fn own(source: &Source, (major, minor): (u32, u32)) -> Self {
        if source.is_bound() {
            Self::Bound(major * 10 + minor)
        } else {
            Self::Cubin(major * 10 + minor)
        }
    }

    /// Returns the option of the compiler.
    fn option(self) -> String {
        match self {
            Self::Cubin(arch) => format!("--gpu-architecture=sm_{arch}"),
            Self::Bound(arch) => format!("--gpu-architecture=sm_{arch}a"),
            Self::Ptx(arch) => format!("--gpu-architecture=compute_{arch}"),
        }
    }

    /// Returns whether a device can run the code. Machine code also runs on later minor versions unless it is bound to
    /// one, PTX on all later devices.
    #[cfg(feature = "cuda-kernels")]
    pub(super) fn runs_on(self, (major, minor): (u32, u32)) -> bool {
        match self {
            Self::Cubin(arch) => arch / 10 == major && arch % 10 <= minor,
            Self::Bound(arch) => arch == major * 10 + minor,
            Self::Ptx(arch) => arch <= major * 10 + minor,
        }
    }

    /// Returns the best target for a device: machine code if the compiler knows the device, PTX otherwise.
    ///
    /// # Errors
    /// Returns an error if the compiler is missing or does not support the device.
    pub(crate) fn best(
        op: &'static str,
        source: &Source,
        (major, minor): (u32, u32),
    ) -> Result<Self> {
        fitting(op)?;
        if source.is_bound() {
            return Ok(Self::own(source, (major, minor)));
        }
        let arch = major * 10 + minor;
        let known = supported(op)?;
        if known.contains(&arch) {
            return Ok(Self::Cubin(arch));
        }
        match known.iter().copied().filter(|&known| known < arch).max() {
            Some(older) => Ok(Self::Ptx(older)),
            None => {
                let what =
                    format!("the device's capability {major}.{minor} is too old for libnvrtc");
                Err(Error::new(ErrorKind::Device, op, what).hint("use an older libnvrtc, or `cpu`"))
            }
        }
    }
}

/// The options of all modules, besides the target.
const OPTIONS: &[&CStr] = &[c"--std=c++17"];

/// Returns the compiler's version, major and minor.
pub(crate) fn version(op: &'static str) -> Result<(i32, i32)> {
    probe::compiler(op)?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there, and both pointers are to numbers.
    let code = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    check(op, "its version", code)?;
    Ok((major, minor))
}

/// Returns the compiler's version, after checking that the driver supports its code.
pub(super) fn fitting(op: &'static str) -> Result<(u32, u32)> {
    let (major, minor) = version(op)?;
    let of = (major.unsigned_abs(), minor.unsigned_abs());
    probe::fits(op, "libnvrtc", "nvidia-cuda-nvrtc", of)?;
    Ok(of)
}

/// Returns the architectures that the compiler supports, such as `90`.
fn supported(op: &'static str) -> Result<Vec<u32>> {
    probe::compiler(op)?;
    let mut count: c_int = 0;
    // SAFETY: the library is there, and the pointer is to a number.
    check(op, "what it knows", unsafe {
        sys::nvrtcGetNumSupportedArchs(&raw mut count)
    })?;
    let mut all = vec![0 as c_int; usize::try_from(count).unwrap_or(0)];
    // SAFETY: as above; the list has the length that the library returned.
    check(op, "what it knows", unsafe {
        sys::nvrtcGetSupportedArchs(all.as_mut_ptr())
    })?;
    Ok(all.into_iter().map(c_int::unsigned_abs).collect())
}

/// Converts a status of the compiler.
fn check(op: &'static str, doing: &str, code: nvrtcResult) -> Result<()> {
    if code == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: the text lives as long as the library.
    let said = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(code)) };
    let what = format!("libnvrtc, {doing}: {}", said.to_string_lossy());
    Err(Error::new(ErrorKind::Device, op, what)
        .hint("check that libnvrtc and libnvrtc-builtins match"))
}

/// A program of the compiler, destroyed when dropped.
struct NvrtcProgram(nvrtcProgram);

impl Drop for NvrtcProgram {
    fn drop(&mut self) {
        // SAFETY: created by `compiled`, and destroyed only here.
        unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

impl NvrtcProgram {
    fn log(&self) -> String {
        let mut len = 0;
        // SAFETY: the program lives; the pointer is to a number.
        if unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut len) }
            != nvrtcResult::NVRTC_SUCCESS
        {
            return String::new();
        }
        let mut log = vec![0_u8; len];
        // SAFETY: as above; the buffer has the length that the library returned.
        unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) };
        let text = log.strip_suffix(&[0]).unwrap_or(&log);
        String::from_utf8_lossy(text).into_owned()
    }

    /// Returns the code of a compiled program. A program for a device has PTX as well.
    fn code(&self, op: &'static str, target: CompileTarget) -> Result<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the program is compiled for this kind of code; the buffer has the length `len` that the library
        // returned.
        let (code, bytes) = unsafe {
            match target {
                CompileTarget::Cubin(_) | CompileTarget::Bound(_) => {
                    let code = sys::nvrtcGetCUBINSize(self.0, &raw mut len);
                    check(op, "its result", code)?;
                    let mut bytes = vec![0_u8; len];
                    let code = sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast());
                    (code, bytes)
                }
                CompileTarget::Ptx(_) => {
                    let code = sys::nvrtcGetPTXSize(self.0, &raw mut len);
                    check(op, "its result", code)?;
                    let mut bytes = vec![0_u8; len];
                    let code = sys::nvrtcGetPTX(self.0, bytes.as_mut_ptr().cast());
                    (code, bytes)
                }
            }
        };
        check(op, "its result", code)?;
        Ok(bytes)
    }
}

/// Converts a text to a C string.
fn terminated(op: &'static str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        Error::new(ErrorKind::Device, op, "a kernel's source holds a zero byte")
            .hint("this is a bug in nomina: report it")
    })
}

/// Compiles a module.
///
/// # Errors
/// Returns an error if the compiler is missing, or with its message if it rejects the source.
pub(crate) fn compile(op: &'static str, source: &Source, target: CompileTarget) -> Result<Vec<u8>> {
    let program = compiled(op, source, target, &[])?;
    program.code(op, target)
}

/// The code of a module, and the compiler's report.
pub(super) struct Inspected {
    pub(super) ptx: Vec<u8>,
    pub(super) cubin: Vec<u8>,
    /// The registers, stack frame and spills of each kernel, and warnings.
    pub(super) report: String,
}

/// Compiles a module for a capability with the options of [`compile`], and reports on it.
///
/// # Errors
/// Returns the errors of [`compile`].
pub(super) fn inspect(op: &'static str, source: &Source, arch: u32) -> Result<Inspected> {
    let target = CompileTarget::own(source, (arch / 10, arch % 10));
    let program = compiled(op, source, target, &[c"--ptxas-options=-v"])?;
    Ok(Inspected {
        ptx: program.code(op, CompileTarget::Ptx(arch))?,
        cubin: program.code(op, target)?,
        report: program.log(),
    })
}

fn compiled(
    op: &'static str,
    source: &Source,
    target: CompileTarget,
    more: &[&CStr],
) -> Result<NvrtcProgram> {
    probe::compiler(op)?;
    let text = terminated(op, &source.text())?;
    let name = terminated(op, source.name())?;
    let headers = HEADERS
        .iter()
        .map(|(name, text)| Ok((terminated(op, name)?, terminated(op, text)?)))
        .collect::<Result<Vec<_>>>()?;
    let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
    let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
    let mut program = NvrtcProgram(std::ptr::null_mut());
    // SAFETY: texts that end with zero and outlive the call; both lists have `headers.len()` items.
    let code = unsafe {
        sys::nvrtcCreateProgram(
            &raw mut program.0,
            text.as_ptr(),
            name.as_ptr(),
            headers.len() as c_int,
            texts.as_ptr(),
            names.as_ptr(),
        )
    };
    check(op, "a new program", code)?;
    let target_option = terminated(op, &target.option())?;
    let mut options: Vec<*const c_char> = OPTIONS
        .iter()
        .chain(more)
        .map(|option| option.as_ptr())
        .collect();
    options.push(target_option.as_ptr());
    if !source.contracts() {
        options.push(c"--fmad=false".as_ptr());
    }
    if version(op)? >= (12, 8) {
        // Omits headers that no kernel uses: textures, and launches by the device.
        options.push(c"--minimal".as_ptr());
    }
    // SAFETY: the program was just created; the options are texts that outlive the call.
    let code =
        unsafe { sys::nvrtcCompileProgram(program.0, options.len() as c_int, options.as_ptr()) };
    if code != nvrtcResult::NVRTC_SUCCESS {
        let what = format!("`{source}` does not compile: {}", program.log());
        return Err(Error::new(ErrorKind::Device, op, what)
            .hint("this is a bug in nomina or this libnvrtc: report it"));
    }
    Ok(program)
}

#[cfg(all(test, feature = "cuda-kernels"))]
mod tests {
    use crate::cuda::compile::CompileTarget::{self, Bound, Cubin, Ptx};
    use crate::cuda::source::{File, Source};

    #[test]
    fn what_a_device_takes_of_a_pack() {
        let fitting = |file, capability| {
            let mut targets = CompileTarget::shipped(&Source::new(file)).iter().copied();
            targets.find(|target| target.runs_on(capability))
        };
        for (capability, target, bound) in [
            ((7, 5), None, None),
            ((8, 0), Some(Cubin(80)), None),
            ((8, 9), Some(Cubin(80)), None),
            ((9, 0), Some(Cubin(90)), Some(Bound(90))),
            ((10, 0), Some(Ptx(90)), None),
            ((12, 1), Some(Ptx(90)), None),
        ] {
            assert_eq!(fitting(File::Map, capability), target, "{capability:?}");
            let found = fitting(File::AttentionWarpgroup, capability);
            assert_eq!(found, bound, "{capability:?}");
        }
    }
}
