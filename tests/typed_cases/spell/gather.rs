//! Indexing: by position, by index tensors, by masks.

use crate::translate::{Call, Own};

/// The typed form, where it does not follow from the row.
pub fn call(_call: &Call<'_>) -> Own {
    Ok(None)
}
