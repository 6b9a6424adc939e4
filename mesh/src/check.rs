//! Checks that all ranks of an axis run the same collectives in the same order: each rank adds the description of each
//! collective to a hash, and the ranks compare hashes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nomina::{Error, ErrorKind, Name, Result};
use nomina_core::DType;
use nomina_core::mesh::Combine;
use nomina_core::mesh::value::Place;
use nomina_runtime::Raw;

use crate::origin::{CallSite, Origin, hash_of};
use crate::ranks::{Job, Ranks};

/// The description of a collective that a rank is about to run.
#[derive(Clone, Debug)]
pub(crate) struct Description<'a> {
    pub(crate) op: &'static str,
    pub(crate) names: &'a [Option<Name>],
    pub(crate) sizes: &'a [usize],
    /// The states of the tensor by mesh axis.
    pub(crate) places: &'a [Place],
    pub(crate) dtype: Option<DType>,
    pub(crate) combine: Option<Combine>,
    /// The dim that splits the result.
    pub(crate) to: Option<&'a Name>,
    /// The origin of the tensor; `None` if ranks may have different tensors.
    pub(crate) origin: Option<Origin>,
    /// Any other text that must be equal on all ranks.
    pub(crate) extra: &'a str,
    /// The tensors of a collective of several tensors.
    pub(crate) items: Vec<TensorDescription>,
    pub(crate) at: CallSite,
}

/// One of the tensors of a collective.
#[derive(Clone, Debug)]
pub(crate) struct TensorDescription {
    /// The role of the tensor, such as "parameter".
    pub(crate) role: &'static str,
    pub(crate) names: Vec<Option<Name>>,
    pub(crate) sizes: Vec<usize>,
    pub(crate) places: Vec<Place>,
    pub(crate) dtype: Option<DType>,
    pub(crate) origin: Option<Origin>,
    /// The call that converts it.
    pub(crate) at: Option<CallSite>,
    /// Any other text that must be equal on all ranks.
    pub(crate) extra: String,
}

/// Formats the dims of a tensor for errors.
fn format_dims(names: &[Option<Name>], sizes: &[usize]) -> String {
    let dims = names.iter().zip(sizes).map(|(name, size)| match name {
        Some(name) => format!("{name}={size}"),
        None => size.to_string(),
    });
    dims.collect::<Vec<_>>().join(", ")
}

fn format_places(places: &[Place]) -> String {
    let each = places.iter().map(|place| match place {
        Place::Split(dim) => format!("Split<{dim}>"),
        Place::Pending(Combine::Add) => "Pending".to_owned(),
        Place::Pending(combine) => format!("Pending<{combine:?}>"),
        Place::Whole => "Whole".to_owned(),
        Place::Synced => "Synced".to_owned(),
        Place::Own => "Own".to_owned(),
    });
    each.collect::<Vec<_>>().join(", ")
}

fn hash_dims(names: &[Option<Name>], sizes: &[usize], places: &[Place], state: &mut impl Hasher) {
    for name in names {
        name.as_ref().map(Name::as_str).hash(state);
    }
    sizes.hash(state);
    for place in places {
        match place {
            Place::Whole => 0_u8.hash(state),
            Place::Synced => 1_u8.hash(state),
            Place::Own => 2_u8.hash(state),
            Place::Split(dim) => (3_u8, dim.as_str()).hash(state),
            Place::Pending(combine) => (4_u8, combine).hash(state),
        }
    }
}

fn hash_at(at: CallSite, state: &mut impl Hasher) {
    (at.file(), at.line(), at.column()).hash(state);
}

impl Hash for TensorDescription {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_dims(&self.names, &self.sizes, &self.places, state);
        (self.dtype.map(|dtype| dtype as usize), self.origin).hash(state);
        self.extra.hash(state);
        if let Some(at) = self.at {
            hash_at(at, state);
        }
    }
}

impl TensorDescription {
    fn text(&self, number: usize) -> String {
        let mut text = format!("{} {}:", self.role, number + 1);
        let mut add = |part: String| {
            if !part.is_empty() {
                text += " ";
                text += &part;
            }
        };
        add(self
            .dtype
            .map_or_else(String::new, |dtype| dtype.to_string()));
        add(format!("({})", format_dims(&self.names, &self.sizes)));
        if !self.places.is_empty() {
            add(format!("<{}>", format_places(&self.places)));
        }
        add(self.extra.clone());
        add(self.at.map_or_else(String::new, |at| format!("at {at}")));
        let origin = self.origin.as_ref();
        add(origin.map_or_else(String::new, |origin| format!("({origin})")));
        text
    }
}

impl<'a> Description<'a> {
    pub(crate) fn new(op: &'static str, at: &'static Location<'static>) -> Self {
        Self {
            op,
            names: &[],
            sizes: &[],
            places: &[],
            dtype: None,
            combine: None,
            to: None,
            origin: None,
            extra: "",
            items: Vec::new(),
            at,
        }
    }

    /// Hashes the fields that the ranks compare; texts are built only when they differ.
    fn hash(&self, axis: &str, job: Option<&Job>, state: &mut impl Hasher) {
        (self.op, axis, self.extra).hash(state);
        hash_dims(self.names, self.sizes, self.places, state);
        (self.dtype.map(|dtype| dtype as usize), self.combine).hash(state);
        (self.to.map(Name::as_str), self.origin).hash(state);
        hash_at(self.at, state);
        self.items.hash(state);
        match job {
            Some(Job::Shift { by, .. }) => by.hash(state),
            Some(Job::Broadcast { root, .. }) => root.hash(state),
            _ => {}
        }
        job.map(Job::name).hash(state);
    }

    /// Collects the fields for an error message.
    fn report(self, axis: &'static str, job: Option<&Job>) -> Report {
        let mut extra = self.extra.to_owned();
        if let Some(to) = self.to {
            extra = format!("to dim `{to}`");
        }
        match job {
            Some(Job::Shift { by, .. }) => extra = format!("by {by}"),
            Some(Job::Broadcast { root, .. }) => extra = format!("of rank {root}"),
            _ => {}
        }
        let own = TensorDescription {
            role: "tensor",
            names: self.names.to_vec(),
            sizes: self.sizes.to_vec(),
            places: self.places.to_vec(),
            dtype: self.dtype,
            origin: self.origin,
            at: None,
            extra,
        };
        Report {
            op: self.op,
            axis,
            combine: self.combine,
            at: self.at,
            own,
            items: self.items,
        }
    }
}

/// A collective as error messages describe it.
struct Report {
    op: &'static str,
    axis: &'static str,
    combine: Option<Combine>,
    at: CallSite,
    own: TensorDescription,
    items: Vec<TensorDescription>,
}

impl Report {
    fn text(&self) -> String {
        let dtype = self.own.dtype;
        let dtype = dtype.map_or_else(String::new, |dtype| format!(" of {dtype}"));
        let combine = self.combine;
        let combine = combine.map_or_else(String::new, |by| format!(" by {by:?}"));
        let dims = format_dims(&self.own.names, &self.own.sizes);
        let (op, axis, at) = (self.op, self.axis, self.at);
        format!("{op}({axis}){combine}{dtype} ({dims}) at {at}")
    }

    /// Returns the tensors of the collective: those that it lists, else its own.
    fn items(&self) -> &[TensorDescription] {
        if self.items.is_empty() {
            std::slice::from_ref(&self.own)
        } else {
            &self.items
        }
    }

    /// Describes the first difference between rank 0 and another rank.
    fn difference(&self, ranks: &dyn Ranks) -> Result<Option<String>> {
        let text = self.text();
        let all = gather_texts(ranks, &text)?;
        if let Some(other) = other_than_first(&all) {
            let [first, its] = [&all[0], &all[other]];
            return Ok(Some(format!(
                "make different calls: rank 0 {first}, rank {other} {its}"
            )));
        }
        // The gather below needs the same number from each rank.
        let counts = gather_numbers(ranks, &[self.items().len() as u64])?;
        if let Some(other) = other_than_first(&counts) {
            let [first, its] = [counts[0][0], counts[other][0]];
            return Ok(Some(format!(
                "make different calls: at {text}, rank 0 gives {first} tensors, rank {other} {its}"
            )));
        }
        let hashes: Vec<u64> = self.items().iter().map(hash_of).collect();
        let all = gather_numbers(ranks, &hashes)?;
        let differs = |at: &usize| all.iter().any(|own| own[*at] != all[0][*at]);
        let Some(at) = (0..hashes.len()).find(differs) else {
            let extra = gather_texts(ranks, &self.own.extra)?;
            return Ok(other_than_first(&extra).map(|other| {
                let [first, its] = [&extra[0], &extra[other]];
                format!("make different calls: at {text}, rank 0 gives {first}, rank {other} {its}")
            }));
        };
        let shown = gather_texts(ranks, &self.items()[at].text(at))?;
        let other = all.iter().position(|own| own[at] != all[0][at]);
        let other = other.unwrap_or(0);
        let [first, its] = [&shown[0], &shown[other]];
        Ok(Some(format!(
            "make different calls: at {text}, rank 0 gives {first}, rank {other} {its}"
        )))
    }

    /// Returns the error for ranks that do different things.
    fn error(&self, ranks: &dyn Ranks) -> Error {
        let what = match self.difference(ranks) {
            Ok(Some(difference)) => difference,
            _ => format!("made different calls before {}", self.text()),
        };
        let what = format!("the ranks of mesh axis `{}` {what}", self.axis);
        Error::new(ErrorKind::Mesh, self.op, what)
            .hint(
                "all ranks must make the same calls on the same tensors in the same order, whatever their data",
            )
            .settled()
    }
}

fn other_than_first<V: PartialEq>(all: &[V]) -> Option<usize> {
    (1..all.len()).find(|&at| all[at] != all[0])
}

/// The maximum bytes of a text that ranks exchange for an error.
const MAX_TEXT: usize = 480;

/// The hash of the collectives along an axis so far.
#[derive(Debug, Default)]
pub(crate) struct Check {
    hash: u64,
    unchecked: u32,
}

/// Returns the number of collectives per comparison: `NOMINA_MESH_CHECK`, or 1.
fn check_interval() -> u32 {
    static EVERY: OnceLock<u32> = OnceLock::new();
    *EVERY.get_or_init(|| {
        let set = std::env::var("NOMINA_MESH_CHECK").ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(1).max(1)
    })
}

impl Check {
    /// Adds a collective to the hash, and starts to compare hashes: if `always`, or as often as [`check_interval`]
    /// says. The returned closure waits for the comparison.
    pub(crate) fn start(
        &mut self,
        ranks: &Arc<dyn Ranks>,
        axis: &'static str,
        description: Description<'_>,
        job: Option<&Job>,
        always: bool,
    ) -> Result<impl FnOnce() -> Result<()> + Send + use<>> {
        let mut hasher = DefaultHasher::new();
        self.hash.hash(&mut hasher);
        description.hash(axis, job, &mut hasher);
        self.hash = hasher.finish();
        self.unchecked += 1;
        let mut compared = None;
        if always || self.unchecked >= check_interval() {
            self.unchecked = 0;
            // The maxima of the hash and of its complement are complements if and only if all hashes are equal.
            let own = [self.hash.cast_signed(), (!self.hash).cast_signed()];
            let piece = Raw::from_vec(own.to_vec(), &[2])?;
            let combine = Combine::Max;
            let started = ranks.start(Job::AllReduce { piece, combine })?;
            compared = Some((started, description.report(axis, job)));
        }
        let ranks = Arc::clone(ranks);
        Ok(move || {
            let Some((compared, report)) = compared else {
                return Ok(());
            };
            let found = compared.wait_for_one()?;
            match found.as_slice::<i64>() {
                Some(&[hash, other]) if hash == !other => Ok(()),
                _ => Err(report.error(&*ranks)),
            }
        })
    }
}

/// A comparison in progress; its outcome can be read repeatedly.
pub(crate) struct Agreement(Mutex<Comparison>);

enum Comparison {
    Started(Box<dyn FnOnce() -> Result<()> + Send>),
    Done(Result<()>),
}

impl Agreement {
    pub(crate) fn new(compare: impl FnOnce() -> Result<()> + Send + 'static) -> Self {
        Self(Mutex::new(Comparison::Started(Box::new(compare))))
    }

    /// Waits for the comparison.
    pub(crate) fn wait(&self) -> Result<()> {
        let mut comparison = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = Error::new(
            ErrorKind::Mesh,
            "mesh",
            "a comparison of ranks was given up",
        );
        let found = match mem::replace(&mut *comparison, Comparison::Done(Err(lost))) {
            Comparison::Started(compare) => compare(),
            Comparison::Done(found) => found,
        };
        *comparison = Comparison::Done(found.clone());
        found
    }
}

/// Gathers the texts of all ranks, truncated to [`MAX_TEXT`] bytes.
pub(crate) fn gather_texts(ranks: &dyn Ranks, text: &str) -> Result<Vec<String>> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(MAX_TEXT, b' ');
    let job = Job::AllGather {
        piece: Raw::from_vec(bytes, &[MAX_TEXT])?,
        shapes: vec![vec![MAX_TEXT]; ranks.size()],
    };
    let found = ranks.start(job)?.wait()?;
    let text = |raw: &Raw| {
        let bytes = raw.as_slice::<u8>().unwrap_or_default();
        String::from_utf8_lossy(bytes).trim_end().to_owned()
    };
    Ok(found.iter().map(text).collect())
}

/// Gathers the numbers of all ranks; each gives the same count.
fn gather_numbers(ranks: &dyn Ranks, own: &[u64]) -> Result<Vec<Vec<u64>>> {
    let own: Vec<i64> = own.iter().map(|number| number.cast_signed()).collect();
    let count = own.len();
    let job = Job::AllGather {
        piece: Raw::from_vec(own, &[count])?,
        shapes: vec![vec![count]; ranks.size()],
    };
    let found = ranks.start(job)?.wait()?;
    let numbers = found.iter().map(|raw| {
        let all = raw.as_slice::<i64>().unwrap_or_default().iter();
        let mut all: Vec<u64> = all.map(|number| number.cast_unsigned()).collect();
        all.resize(count, 0);
        all
    });
    Ok(numbers.collect())
}
