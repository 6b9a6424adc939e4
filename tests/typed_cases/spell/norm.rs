//! Normalisation layers and dropout.

use crate::translate::{Call, Own};

/// Returns the typed form, if it does not follow from the row.
pub fn call(_call: &Call<'_>) -> Own {
    Ok(None)
}
