//! Plans on disk, next to compiled modules: a later process asks the library for nothing, and compiles nothing.

use super::super::disk;
use super::query::ConvQuery;

/// The version of the files' contents, and of the identifiers in `graph.rs`.
const FORMAT: u32 = 1;

/// A plan as the library writes it.
pub(super) struct SavedPlan {
    pub(super) adds_bias: bool,
    pub(super) text: Vec<u8>,
}

/// Returns the first line of a plan's file: all that the choice depends on.
pub(super) fn key(place: &str, asked: &ConvQuery) -> String {
    format!("plan {FORMAT}, {place}, {asked:?}")
}

/// Returns the plan of a key. A file with another key, whose name has the same hash, is not read.
pub(super) fn load(key: &str) -> Option<SavedPlan> {
    let file = disk::load_file(&disk::text_name(key))?;
    let rest = file.strip_prefix(key.as_bytes())?.strip_prefix(b"\n")?;
    let (&adds_bias, text) = rest.split_first()?;
    Some(SavedPlan {
        adds_bias: adds_bias == b'+',
        text: text.to_vec(),
    })
}

/// Writes a plan for later processes.
pub(super) fn store(key: &str, plan: &SavedPlan) {
    let adds_bias = if plan.adds_bias { b'+' } else { b'-' };
    let file = [key.as_bytes(), b"\n", &[adds_bias], &plan.text].concat();
    disk::store_file(&disk::text_name(key), &file);
}
