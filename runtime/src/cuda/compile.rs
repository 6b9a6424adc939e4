//! Modules from sources: NVRTC, for the architecture of the device.

use std::ffi::{CStr, CString, c_char, c_int};

use cudarc::nvrtc::sys::{self, nvrtcProgram, nvrtcResult};
use nomina_core::{Error, ErrorKind, Result};

use super::probe;
use super::source::{HEADERS, Source};

/// What code is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Target {
    /// Code for devices of one capability: `sm_90`.
    Cubin(u32),
    /// Code for devices of this capability and no others, newer ones neither: `sm_90a`.
    Bound(u32),
    /// Code that the driver translates for any device of this capability or a newer one.
    Ptx(u32),
}

impl Target {
    /// What a pack of kernels has a module for, in the order in which a device takes it.
    pub(super) fn shipped(source: &Source) -> &'static [Self] {
        match source.is_bound() {
            true => &[Self::Bound(90)],
            false => &[Self::Cubin(90), Self::Cubin(80), Self::Ptx(90)],
        }
    }

    /// Code of the device's own, under whose name the cache has it; PTX where the compiler does not know the device.
    pub(super) fn own(source: &Source, (major, minor): (u32, u32)) -> Self {
        match source.is_bound() {
            true => Self::Bound(major * 10 + minor),
            false => Self::Cubin(major * 10 + minor),
        }
    }

    /// As the compiler's option says it.
    fn option(self) -> String {
        match self {
            Self::Cubin(arch) => format!("--gpu-architecture=sm_{arch}"),
            Self::Bound(arch) => format!("--gpu-architecture=sm_{arch}a"),
            Self::Ptx(arch) => format!("--gpu-architecture=compute_{arch}"),
        }
    }

    /// The best for a device: code for it where the compiler knows it, else what the driver
    /// translates.
    pub(crate) fn of(
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

/// Options beside the target.
const OPTIONS: &[&CStr] = &[c"--std=c++17"];

/// The compiler's version, major and minor.
pub(crate) fn version(op: &'static str) -> Result<(i32, i32)> {
    probe::compiler(op)?;
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there, and both are places for numbers.
    let code = unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) };
    check(op, "its version", code)?;
    Ok((major, minor))
}

/// The version of a compiler whose code the driver takes.
pub(super) fn fitting(op: &'static str) -> Result<(u32, u32)> {
    let (major, minor) = version(op)?;
    let of = (major.unsigned_abs(), minor.unsigned_abs());
    probe::fits(op, "libnvrtc", "nvidia-cuda-nvrtc", of)?;
    Ok(of)
}

/// The architectures that the compiler knows, as `90`.
fn supported(op: &'static str) -> Result<Vec<u32>> {
    probe::compiler(op)?;
    let mut count: c_int = 0;
    // SAFETY: the library is there, and this is a place for a number.
    check(op, "what it knows", unsafe {
        sys::nvrtcGetNumSupportedArchs(&raw mut count)
    })?;
    let mut all = vec![0 as c_int; usize::try_from(count).unwrap_or(0)];
    // SAFETY: as above; there is room for as many as it said.
    check(op, "what it knows", unsafe {
        sys::nvrtcGetSupportedArchs(all.as_mut_ptr())
    })?;
    Ok(all.into_iter().map(c_int::unsigned_abs).collect())
}

fn check(op: &'static str, doing: &str, code: nvrtcResult) -> Result<()> {
    if code == nvrtcResult::NVRTC_SUCCESS {
        return Ok(());
    }
    // SAFETY: gives a text that lives as long as the library.
    let said = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(code)) };
    let what = format!("libnvrtc, {doing}: {}", said.to_string_lossy());
    Err(Error::new(ErrorKind::Device, op, what)
        .hint("see whether libnvrtc and libnvrtc-builtins are of one version"))
}

/// A program of the compiler's, destroyed when dropped.
struct Program(nvrtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: created by `compile`, and destroyed here alone.
        unsafe { sys::nvrtcDestroyProgram(&raw mut self.0) };
    }
}

impl Program {
    fn log(&self) -> String {
        let mut len = 0;
        // SAFETY: the program lives; this is a place for a number.
        if unsafe { sys::nvrtcGetProgramLogSize(self.0, &raw mut len) }
            != nvrtcResult::NVRTC_SUCCESS
        {
            return String::new();
        }
        let mut log = vec![0_u8; len];
        // SAFETY: as above; there is room for as many bytes as it said.
        unsafe { sys::nvrtcGetProgramLog(self.0, log.as_mut_ptr().cast()) };
        let text = log.strip_suffix(&[0]).unwrap_or(&log);
        String::from_utf8_lossy(text).into_owned()
    }

    /// The code of a compiled program; of one for a device, PTX is there too.
    fn code(&self, op: &'static str, target: Target) -> Result<Vec<u8>> {
        let mut len = 0;
        // SAFETY: the program is compiled, for the kind of code that is asked for; `len` bytes are
        // what it said it needs.
        let (code, bytes) = unsafe {
            match target {
                Target::Cubin(_) | Target::Bound(_) => {
                    let code = sys::nvrtcGetCUBINSize(self.0, &raw mut len);
                    check(op, "its result", code)?;
                    let mut bytes = vec![0_u8; len];
                    let code = sys::nvrtcGetCUBIN(self.0, bytes.as_mut_ptr().cast());
                    (code, bytes)
                }
                Target::Ptx(_) => {
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

/// A text for C.
fn terminated(op: &'static str, text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        Error::new(ErrorKind::Device, op, "a kernel's source holds a zero byte")
            .hint("this is a fault of nomina: report it")
    })
}

/// Compiles a module.
///
/// # Errors
/// When the compiler is missing, or refuses the source, with what it says.
pub(crate) fn compile(op: &'static str, source: &Source, target: Target) -> Result<Vec<u8>> {
    let program = compiled(op, source, target, &[])?;
    program.code(op, target)
}

/// A module as its device would get it, and what the compiler says of it.
pub(super) struct Inspected {
    pub(super) ptx: Vec<u8>,
    pub(super) cubin: Vec<u8>,
    /// Registers, stack frames and spills of each kernel, and warnings.
    pub(super) report: String,
}

/// Compiles a module for a capability by the options of [`compile`], with a report.
///
/// # Errors
/// As [`compile`].
pub(super) fn inspect(op: &'static str, source: &Source, arch: u32) -> Result<Inspected> {
    let target = Target::own(source, (arch / 10, arch % 10));
    let program = compiled(op, source, target, &[c"--ptxas-options=-v"])?;
    Ok(Inspected {
        ptx: program.code(op, Target::Ptx(arch))?,
        cubin: program.code(op, target)?,
        report: program.log(),
    })
}

fn compiled(op: &'static str, source: &Source, target: Target, more: &[&CStr]) -> Result<Program> {
    probe::compiler(op)?;
    let text = terminated(op, &source.text())?;
    let name = terminated(op, source.name())?;
    let headers = HEADERS
        .iter()
        .map(|(name, text)| Ok((terminated(op, name)?, terminated(op, text)?)))
        .collect::<Result<Vec<_>>>()?;
    let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
    let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
    let mut program = Program(std::ptr::null_mut());
    // SAFETY: texts that end with zero and outlive the call; as many names as texts.
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
        // Without what no kernel uses: textures, and launches by the device itself.
        options.push(c"--minimal".as_ptr());
    }
    // SAFETY: the program was made just now; the options are texts that outlive the call.
    let code =
        unsafe { sys::nvrtcCompileProgram(program.0, options.len() as c_int, options.as_ptr()) };
    if code != nvrtcResult::NVRTC_SUCCESS {
        let what = format!("`{source}` does not compile: {}", program.log());
        return Err(Error::new(ErrorKind::Device, op, what)
            .hint("this is a fault of nomina, or of libnvrtc's version: report it"));
    }
    Ok(program)
}
