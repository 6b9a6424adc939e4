//! The sources of modules: a file of `runtime/kernels` with its defines, or also a generated text.

use std::collections::HashSet;
use std::env;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nomina_core::DType;

use crate::SmallVec;

/// Declares the class files: their names in Rust, and their texts.
macro_rules! files {
    ($($(#[$doc:meta])* $name:ident = $file:literal),* $(,)?) => {
        /// A class of kernels.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum File {
            $($(#[$doc])* $name,)*
        }

        impl File {
            const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns its name in `runtime/kernels`.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $file,)*
                }
            }

            fn text(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../../kernels/", $file)),)*
                }
            }
        }
    };
}

files! {
    /// Attention.
    Attention = "attention.cu",
    /// Attention of 16-bit floats.
    AttentionHalf = "attention_half.cu",
    /// Attention of 16-bit floats by warpgroups.
    AttentionWarpgroup = "attention_warpgroup.cu",
    /// Distances of rows.
    Distance = "distance.cu",
    /// Matrix products.
    Gemm = "gemm.cu",
    /// Chains of elementwise operators.
    Fused = "fused.cu",
    /// Copies between tensors with different innermost dims.
    Copy = "copy.cu",
    /// Tensors filled with numbers.
    Fill = "fill.cu",
    /// Elementwise operators.
    Map = "map.cu",
    /// Cross entropy.
    Entropy = "entropy.cu",
    /// Normalisation of rows.
    Norm = "norm.cu",
    /// Random numbers from words.
    Random = "random.cu",
    /// Reductions of dims.
    Reduce = "reduce.cu",
    /// Scans along a dim.
    Scan = "scan.cu",
    /// Permutations, and positions drawn by weight.
    Shuffle = "shuffle.cu",
    /// Unfolding of windows to columns.
    Columns = "columns.cu",
    /// Convolution as a matrix product.
    Conv = "conv.cu",
    /// Convolution element by element.
    ConvDirect = "conv_direct.cu",
    /// Convolution of 16-bit floats on tensor cores.
    ConvTensor = "conv_tensor.cu",
    /// Transposed convolution as matrix products.
    ConvTranspose = "conv_transpose.cu",
    /// Transposed convolution element by element.
    ConvTransposeDirect = "conv_transpose_direct.cu",
    /// Folding of columns.
    Fold = "fold.cu",
    /// Pooling: the maximum or mean of windows.
    Pool = "pool.cu",
    /// Resampling of planes.
    Resample = "resample.cu",
    /// Unpooling.
    Unpool = "unpool.cu",
    /// Sorting of lines.
    Sort = "sort.cu",
    /// The first few elements of long lines.
    TopK = "topk.cu",
    /// Running extremes.
    Extreme = "extreme.cu",
    /// Gathering by an index.
    Gather = "gather.cu",
    /// Scattering by an index.
    Scatter = "scatter.cu",
    /// Selection by a mask.
    Select = "select.cu",
    /// Search in sorted sequences.
    Search = "search.cu",
    /// Counting into bins.
    Count = "count.cu",
    /// Softmax along a dim.
    Softmax = "softmax.cu",
}

/// Declares the headers that class files include.
macro_rules! headers {
    ($($file:literal),* $(,)?) => {
        /// The names and texts of the headers.
        pub(crate) const HEADERS: &[(&str, &str)] = &[
            $(($file, include_str!(concat!("../../kernels/", $file))),)*
        ];
    };
}

headers![
    "attention.cuh",
    "block.cuh",
    "chain.cuh",
    "complex.cuh",
    "conv.cuh",
    "convert.cuh",
    "digits.cuh",
    "exp_sum.cuh",
    "group.cuh",
    "exact.cuh",
    "index.cuh",
    "keys.cuh",
    "lines.cuh",
    "lookback.cuh",
    "moments.cuh",
    "mma.cuh",
    "numeric.cuh",
    "real.cuh",
    "reduce.cuh",
    "philox.cuh",
    "slices.cuh",
    "running.cuh",
    "special.cuh",
    "special_activation.cuh",
    "special_bessel.cuh",
    "special_dd.cuh",
    "special_erf.cuh",
    "special_gamma.cuh",
    "special_slope.cuh",
    "special_whole.cuh",
    "tile.cuh",
    "types.cuh",
    "warpgroup.cuh",
    "window.cuh",
];

/// The marks in a kept text that say whether the compiler may round `x * y + z` once.
const CONTRACTED: &str = ", contracted";
const EXACT: &str = ", not contracted";

/// The value of a define.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// A literal text.
    Text(&'static str),
    /// The type of an element.
    DType(DType),
    /// A whole number.
    Number(i64),
}

/// A generated text. Equal texts share one allocation, so that they are compared and hashed by address.
#[derive(Clone, Debug)]
pub(crate) struct Text(Arc<str>);

impl Text {
    pub(crate) fn new(text: String) -> Self {
        static ALL: Mutex<Option<HashSet<Arc<str>>>> = Mutex::new(None);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        let all = all.get_or_insert_default();
        if let Some(text) = all.get(&*text) {
            return Self(Arc::clone(text));
        }
        let text: Arc<str> = text.into();
        all.insert(Arc::clone(&text));
        Self(text)
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Text {}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_ptr().hash(state);
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Base {
    File(File),
    /// A class file behind a generated text.
    Own(File, Text),
    /// The complete text of [`Source::kept`], and whether it may be contracted.
    Kept(File, Arc<str>, bool),
}

/// Returns whether positions always have 64 bits.
pub(crate) fn always_wide() -> bool {
    static ALWAYS: OnceLock<bool> = OnceLock::new();
    *ALWAYS.get_or_init(|| env::var("NOMINA_CUDA_INDEX").as_deref() == Ok("u64"))
}

/// The source of a module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    base: Base,
    defines: SmallVec<[(&'static str, Word); 6]>,
}

impl Source {
    /// Returns a class file without defines.
    pub(crate) fn new(file: File) -> Self {
        Self {
            base: Base::File(file),
            defines: SmallVec::new(),
        }
    }

    /// Returns a class file behind a generated text, which may also include headers.
    pub(crate) fn behind(text: Text, file: File) -> Self {
        Self {
            base: Base::Own(file, text),
            defines: SmallVec::new(),
        }
    }

    /// Returns whether it begins with a generated text.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.base, Base::Own(..))
    }

    /// Returns all that it is compiled from except for headers, behind a line with its name and options.
    pub(crate) fn kept(&self) -> String {
        let how = if self.contracts() { CONTRACTED } else { EXACT };
        format!("// {}{how}\n{}", self.name(), self.text())
    }

    /// Parses the result of [`Source::kept`].
    pub(crate) fn of_kept(kept: &str) -> Option<Self> {
        let (how, text) = kept.strip_prefix("// ")?.split_once('\n')?;
        let (name, contracts) = match how.strip_suffix(CONTRACTED) {
            Some(name) => (name, true),
            None => (how.strip_suffix(EXACT)?, false),
        };
        let file = File::ALL.iter().find(|file| file.name() == name)?;
        Some(Self {
            base: Base::Kept(*file, text.into(), contracts),
            defines: SmallVec::new(),
        })
    }

    /// Adds a define.
    #[must_use]
    pub(crate) fn word(mut self, name: &'static str, value: &'static str) -> Self {
        self.defines.push((name, Word::Text(value)));
        self
    }

    /// Adds a define of an element type.
    #[must_use]
    pub(crate) fn dtype(mut self, name: &'static str, dtype: DType) -> Self {
        self.defines.push((name, Word::DType(dtype)));
        self
    }

    /// Adds a define of an integer.
    #[must_use]
    pub(crate) fn number(mut self, name: &'static str, value: i64) -> Self {
        self.defines.push((name, Word::Number(value)));
        self
    }

    /// Adds the type of positions: `u64` if some reach 2^31, or if `NOMINA_CUDA_INDEX` asks for it, because tests have
    /// no tensors of that size.
    #[must_use]
    pub(crate) fn index(self, wide: bool) -> Self {
        let wide = wide || always_wide();
        self.word("INDEX", if wide { "u64" } else { "u32" })
    }

    /// Returns the file's name, for errors and for the compiler's messages.
    pub(crate) fn name(&self) -> &'static str {
        match self.base {
            Base::File(file) | Base::Own(file, _) | Base::Kept(file, ..) => file.name(),
        }
    }

    /// Returns whether the compiler may round `x * y + z` once. It may not in elementwise operators, reductions and
    /// chains of them, so that a chain computes the same numbers as its separate operators.
    pub(crate) fn contracts(&self) -> bool {
        match self.base {
            Base::File(file) => !matches!(file, File::Map | File::Reduce),
            Base::Own(..) => false,
            Base::Kept(_, _, contracts) => contracts,
        }
    }

    /// Returns whether it has instructions that only devices of capability 9.0 have.
    pub(crate) fn is_bound(&self) -> bool {
        match self.base {
            Base::File(file) | Base::Own(file, _) | Base::Kept(file, ..) => {
                matches!(file, File::AttentionWarpgroup)
            }
        }
    }

    /// Returns the texts of the headers that it includes, directly or indirectly.
    pub(super) fn headers(&self) -> Vec<&'static str> {
        fn add_includes(text: &str, found: &mut Vec<&'static str>) {
            for line in text.lines() {
                let name = line.trim().strip_prefix("#include \"");
                let name = name.and_then(|rest| rest.split('"').next());
                let header = HEADERS.iter().find(|(header, _)| Some(*header) == name);
                if let Some((_, text)) = header
                    && !found.contains(text)
                {
                    found.push(text);
                }
            }
        }
        let mut found = Vec::new();
        add_includes(&self.text(), &mut found);
        let mut next = 0;
        while let Some(&header) = found.get(next) {
            add_includes(header, &mut found);
            next += 1;
        }
        found
    }

    /// Returns the text that the compiler reads.
    pub(crate) fn text(&self) -> String {
        let (own, text) = match &self.base {
            Base::File(file) => ("", file.text()),
            Base::Own(file, text) => (&*text.0, file.text()),
            Base::Kept(_, text, _) => return text.to_string(),
        };
        let mut out = String::with_capacity(text.len() + 64 * self.defines.len());
        for (name, value) in &self.defines {
            // Writing to a string does not fail.
            let _ = writeln!(out, "#define {name} {value}");
        }
        out.push_str(own);
        // Messages then refer to lines of the file.
        out.push_str("#line 1\n");
        out.push_str(text);
        out
    }
}

/// Writes the file and its defines: `map.cu T0=f32`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Base::Own(_, Text(text)) | Base::Kept(_, text, _) = &self.base {
            // Generated texts are told apart by a hash.
            write!(
                f,
                "-{:08x}",
                text.bytes().fold(0_u32, |sum, byte| {
                    (sum ^ u32::from(byte)).wrapping_mul(16_777_619)
                })
            )?;
        }
        for (name, value) in &self.defines {
            write!(f, " {name}={value}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::DType(dtype) => f.write_str(type_name(*dtype)),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Returns the name of an element type in `types.cuh`.
pub(crate) fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::U8 => "u8",
        DType::I8 => "i8",
        DType::I16 => "i16",
        DType::I32 => "i32",
        DType::I64 => "i64",
        DType::F16 => "f16",
        DType::BF16 => "bf16",
        DType::F32 => "f32",
        DType::F64 => "f64",
        DType::C64 => "c64",
        DType::C128 => "c128",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_the_same_module() {
        let scan = Source::new(File::Scan).dtype("T0", DType::F32);
        let map = Source::new(File::Map).word("EXPR1", "x");
        let chain = Source::behind(Text::new("// a chain\n".to_owned()), File::Fused);
        for source in [scan, map, chain] {
            let again = Source::of_kept(&source.kept()).unwrap();
            assert_eq!(again.text(), source.text());
            assert_eq!(again.contracts(), source.contracts());
            assert_eq!(again.name(), source.name());
            assert_eq!(again.headers(), source.headers());
        }
        for torn in [
            "",
            "// map.cu",
            "// map.cu, contracted",
            "// none.cu, contracted\n",
        ] {
            assert_eq!(Source::of_kept(torn), None, "{torn}");
        }
    }
}
