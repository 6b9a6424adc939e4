//! What kernels are made from: a file of `runtime/kernels` and its defines, or a text made for one
//! call.

use std::collections::HashSet;
use std::env;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nomina_core::DType;

use crate::SmallVec;

/// Declares the class files once: their names in Rust, and their texts.
macro_rules! files {
    ($($(#[$doc:meta])* $name:ident = $file:literal),* $(,)?) => {
        /// A class of kernels.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum File {
            $($(#[$doc])* $name,)*
        }

        impl File {
            const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name in `runtime/kernels`.
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
    /// Products of matrices.
    Gemm = "gemm.cu",
    /// Chains of elementwise operators.
    Fused = "fused.cu",
    /// Copies between tensors whose innermost dims differ.
    Copy = "copy.cu",
    /// New elements from numbers.
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
    /// Running results along a dim.
    Scan = "scan.cu",
    /// Permutations, and places drawn by weight.
    Shuffle = "shuffle.cu",
    /// What windows see, as columns.
    Columns = "columns.cu",
    /// Convolution as a matrix product.
    Conv = "conv.cu",
    /// Convolution element by element.
    ConvDirect = "conv_direct.cu",
    /// Convolution of 16-bit floats on tensor cores.
    ConvTensor = "conv_tensor.cu",
    /// The transpose of convolution as matrix products.
    ConvTranspose = "conv_transpose.cu",
    /// The transpose of convolution element by element.
    ConvTransposeDirect = "conv_transpose_direct.cu",
    /// Columns added up.
    Fold = "fold.cu",
    /// The greatest or the mean under a window.
    Pool = "pool.cu",
    /// Planes at other sizes.
    Resample = "resample.cu",
    /// What undoes a pool.
    Unpool = "unpool.cu",
    /// Lines in order.
    Sort = "sort.cu",
    /// The first few of long lines.
    TopK = "topk.cu",
    /// The greatest or smallest so far.
    Extreme = "extreme.cu",
    /// Reading where an index says.
    Gather = "gather.cu",
    /// Writing where an index says.
    Scatter = "scatter.cu",
    /// Elements where a mask holds.
    Select = "select.cu",
    /// Places in sorted sequences.
    Search = "search.cu",
    /// Counting into bins.
    Count = "count.cu",
    /// Exponentials along a dim.
    Softmax = "softmax.cu",
}

/// Declares the files that class files include.
macro_rules! headers {
    ($($file:literal),* $(,)?) => {
        /// Names and texts of what class files may include.
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
    "turns.cuh",
    "types.cuh",
    "warpgroup.cuh",
    "window.cuh",
];

/// How a kept text says whether the compiler may round `x * y + z` once.
const CONTRACTED: &str = ", contracted";
const EXACT: &str = ", not contracted";

/// The value of a define.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Word {
    /// As it stands here.
    Text(&'static str),
    /// The type of an element.
    DType(DType),
    /// A whole number.
    Number(i64),
}

/// A text made for calls. There is one of each, so that two are compared, and hashed, by where they lie.
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
    /// A text of its own, with the name it has in errors.
    Own(File, Text),
    /// All that the compiler reads, as [`Source::kept`] gave it, and whether it contracts.
    Kept(File, Arc<str>, bool),
}

/// Whether positions are counted in 64 bits however few there are.
pub(crate) fn always_wide() -> bool {
    static ALWAYS: OnceLock<bool> = OnceLock::new();
    *ALWAYS.get_or_init(|| env::var("NOMINA_CUDA_INDEX").as_deref() == Ok("u64"))
}

/// A module: what is compiled as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Source {
    base: Base,
    defines: SmallVec<[(&'static str, Word); 6]>,
}

impl Source {
    /// A class file, without defines yet.
    pub(crate) fn new(file: File) -> Self {
        Self {
            base: Base::File(file),
            defines: SmallVec::new(),
        }
    }

    /// A class file behind a text made for one call, which may include the headers too.
    pub(crate) fn behind(text: Text, file: File) -> Self {
        Self {
            base: Base::Own(file, text),
            defines: SmallVec::new(),
        }
    }

    /// Whether it begins with a text made for one call.
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.base, Base::Own(..))
    }

    /// All that it is compiled from but for headers, behind a line that says how.
    pub(crate) fn kept(&self) -> String {
        let how = if self.contracts() { CONTRACTED } else { EXACT };
        format!("// {}{how}\n{}", self.name(), self.text())
    }

    /// The module whose [`Source::kept`] this is.
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

    /// With a define.
    #[must_use]
    pub(crate) fn word(mut self, name: &'static str, value: &'static str) -> Self {
        self.defines.push((name, Word::Text(value)));
        self
    }

    /// With a define that is the type of an element.
    #[must_use]
    pub(crate) fn dtype(mut self, name: &'static str, dtype: DType) -> Self {
        self.defines.push((name, Word::DType(dtype)));
        self
    }

    /// With a define that is a whole number.
    #[must_use]
    pub(crate) fn number(mut self, name: &'static str, value: i64) -> Self {
        self.defines.push((name, Word::Number(value)));
        self
    }

    /// The type that positions are counted in: `u64` when some reach 2^31, or when
    /// `NOMINA_CUDA_INDEX` says so, since tests have no such tensors.
    #[must_use]
    pub(crate) fn index(self, wide: bool) -> Self {
        let wide = wide || always_wide();
        self.word("INDEX", if wide { "u64" } else { "u32" })
    }

    /// The file's name, for errors and for the compiler's messages.
    pub(crate) fn name(&self) -> &'static str {
        match self.base {
            Base::File(file) | Base::Own(file, _) | Base::Kept(file, ..) => file.name(),
        }
    }

    /// Whether the compiler may round `x * y + z` once. Not in elementwise operators and reductions, nor in
    /// chains of them: they give the same numbers fused and one by one.
    pub(crate) fn contracts(&self) -> bool {
        match self.base {
            Base::File(file) => !matches!(file, File::Map | File::Reduce),
            Base::Own(..) => false,
            Base::Kept(_, _, contracts) => contracts,
        }
    }

    /// Whether it has instructions that devices of one capability alone have, 9.0.
    pub(crate) fn is_bound(&self) -> bool {
        match self.base {
            Base::File(file) | Base::Own(file, _) | Base::Kept(file, ..) => {
                matches!(file, File::AttentionWarpgroup)
            }
        }
    }

    /// The texts of the headers that it includes, and of those that they include.
    pub(super) fn headers(&self) -> Vec<&'static str> {
        fn look(text: &str, found: &mut Vec<&'static str>) {
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
        look(&self.text(), &mut found);
        let mut next = 0;
        while let Some(&header) = found.get(next) {
            look(header, &mut found);
            next += 1;
        }
        found
    }

    /// What the compiler reads.
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
        // Messages then name the lines of the file.
        out.push_str("#line 1\n");
        out.push_str(text);
        out
    }
}

/// What tells modules of one file apart: `map.cu T0=f32`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        if let Base::Own(_, Text(text)) | Base::Kept(_, text, _) = &self.base {
            // Which one is known by its text alone.
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

/// An element's type in kernels, as `types.cuh` declares it.
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
