//! JSON from untrusted files, limited to sizes that a tensor could have.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

/// A limit above the number of dims of any tensor.
pub(crate) const MOST_DIMS: usize = 64;

/// A list of at most `N` items. Deserializing a longer list fails without using more memory.
#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct AtMost<T, const N: usize>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for AtMost<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(AtMostVisitor(PhantomData))
    }
}

struct AtMostVisitor<T, const N: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for AtMostVisitor<T, N> {
    type Value = AtMost<T, N>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {N}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<AtMost<T, N>, A::Error> {
        let mut list = Vec::new();
        while let Some(one) = seq.next_element()? {
            if list.len() == N {
                return Err(A::Error::invalid_length(N + 1, &self));
            }
            list.push(one);
        }
        Ok(AtMost(list))
    }
}
