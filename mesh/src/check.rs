//! All ranks of an axis do the same, in the same order: each adds what it is about to do to a hash, and hashes are compared.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::{Arc, OnceLock};

use nomina::{Error, ErrorKind, Names, Result};
use nomina_core::DType;
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

use crate::ranks::{Job, Ranks};

/// What a rank is about to do with the others.
#[derive(Clone, Debug)]
pub(crate) struct What<'a> {
    pub(crate) op: &'static str,
    pub(crate) names: &'a [Option<nomina::Name>],
    pub(crate) sizes: &'a [usize],
    pub(crate) dtype: Option<DType>,
    pub(crate) combine: Option<Combine>,
    pub(crate) at: &'static Location<'static>,
}

impl<'a> What<'a> {
    pub(crate) fn new(op: &'static str, at: &'static Location<'static>) -> Self {
        Self {
            op,
            names: &[],
            sizes: &[],
            dtype: None,
            combine: None,
            at,
        }
    }

    pub(crate) fn of(self, names: &'a Names, sizes: &'a [usize], dtype: DType) -> Self {
        Self {
            names,
            sizes,
            dtype: Some(dtype),
            ..self
        }
    }

    fn text(&self, axis: &str) -> String {
        let dims = self.names.iter().zip(self.sizes);
        let dims = dims.map(|(name, size)| match name {
            Some(name) => format!("{name}={size}"),
            None => size.to_string(),
        });
        let dims = dims.collect::<Vec<_>>().join(", ");
        let dtype = self
            .dtype
            .map_or_else(String::new, |dtype| format!(" of {dtype}"));
        let combine = self
            .combine
            .map_or_else(String::new, |by| format!(" by {by:?}"));
        format!(
            "{}({axis}){combine}{dtype} ({dims}) at {}",
            self.op, self.at
        )
    }
}

/// Bytes of a text that ranks show each other.
const SHOWN: usize = 240;

/// What was done along an axis so far.
#[derive(Debug, Default)]
pub(crate) struct Check {
    hash: u64,
    unchecked: u32,
}

/// How often hashes are compared: before every collective, or before every n-th one.
fn every() -> u32 {
    static EVERY: OnceLock<u32> = OnceLock::new();
    *EVERY.get_or_init(|| {
        let set = std::env::var("NOMINA_MESH_CHECK").ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
    })
}

impl Check {
    /// Adds what comes to the hash, and lets the ranks begin to compare theirs. Called, what it gives waits for that.
    pub(crate) fn start(
        &mut self,
        ranks: &Arc<dyn Ranks>,
        axis: &'static str,
        what: &What<'_>,
    ) -> Result<impl FnOnce() -> Result<()> + Send + use<>> {
        let text = what.text(axis);
        let mut hasher = DefaultHasher::new();
        self.hash.hash(&mut hasher);
        text.hash(&mut hasher);
        self.hash = hasher.finish();
        self.unchecked += 1;
        let mut compared = None;
        if self.unchecked >= every() {
            self.unchecked = 0;
            // The greatest of each: they are the same number where all hashes are, on all ranks.
            let own = [self.hash.cast_signed(), (!self.hash).cast_signed()];
            let piece = Raw::from_vec(own.to_vec(), &[2])?;
            let combine = Combine::Max;
            compared = Some(ranks.start(Job::AllReduce { piece, combine })?);
        }
        let (ranks, op) = (Arc::clone(ranks), what.op);
        Ok(move || {
            let Some(compared) = compared else {
                return Ok(());
            };
            let found = compared.wait_for_one()?;
            match found.as_slice::<i64>() {
                Some(&[hash, other]) if hash == !other => Ok(()),
                _ => Err(differ(&*ranks, axis, op, &text)),
            }
        })
    }
}

/// The error of ranks that do different things: what the first one does, and one that does something else.
fn differ(ranks: &dyn Ranks, axis: &str, op: &'static str, text: &str) -> Error {
    let texts = texts(ranks, text).unwrap_or_default();
    let shown = |at: usize| texts.get(at).map_or("?", String::as_str);
    let other = (1..texts.len()).find(|&at| texts[at] != texts[0]);
    let what = match other {
        Some(at) => format!(
            "the ranks of mesh axis `{axis}` do different things: rank 0 {}, rank {at} {}",
            shown(0),
            shown(at)
        ),
        None => format!("the ranks of mesh axis `{axis}` did different things before {text}"),
    };
    Error::new(ErrorKind::Mesh, op, what)
        .hint("every rank makes the same calls in the same order; what only one rank knows decides no call")
        .settled()
}

pub(crate) fn texts(ranks: &dyn Ranks, text: &str) -> Result<Vec<String>> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(SHOWN, b' ');
    let job = Job::AllGather {
        piece: Raw::from_vec(bytes, &[SHOWN])?,
        shapes: vec![vec![SHOWN]; ranks.size()],
    };
    let found = ranks.start(job)?.wait()?;
    let text = |raw: &Raw| {
        let bytes = raw.as_slice::<u8>().unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_end().to_owned()
    };
    Ok(found.iter().map(text).collect())
}
