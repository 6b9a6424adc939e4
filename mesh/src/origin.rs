//! The origin of a tensor on a mesh: the call that created it and the operators applied since. Every rank computes it
//! locally, and collectives compare it, so that ranks cannot mix up different tensors.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// A call in a user's program.
pub(crate) type CallSite = &'static Location<'static>;

/// The origin of a tensor, equal on all ranks of a program that makes the same calls on all of them.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// The hash of the calls that created the tensor or its operands, and of all operators since.
    hash: u64,
    at: CallSite,
    /// The number of tensors that the call created before this one, since the last collective.
    before: u32,
    /// The number of collectives before, see [`Origins`].
    epoch: u32,
    /// The last operator; empty if no operator was applied.
    op: &'static str,
}

/// Mixes a number into a hash.
fn mix(hash: u64, more: u64) -> u64 {
    // FNV-1a on words, plus a shift: without it, high bits of a word would reach only high bits of the product.
    let mixed = (hash ^ more).wrapping_mul(0x0000_0100_0000_01b3);
    mixed ^ (mixed >> 29)
}

fn mix_text(hash: u64, text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(hash, |hash, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(word))
    })
}

impl Origin {
    fn new(at: CallSite, before: u32, epoch: u32) -> Self {
        let hash = mix_text(0xcbf2_9ce4_8422_2325, at.file());
        let place = u64::from(at.line()) << 32 | u64::from(at.column());
        let count = u64::from(epoch) << 32 | u64::from(before);
        Self {
            hash: mix(mix(hash, place), count),
            at,
            before,
            epoch,
            op: "",
        }
    }

    /// Returns the origin of a tensor that is local to each rank: only the call counts, since ranks may make it
    /// different numbers of times.
    pub(crate) fn of_local(at: CallSite) -> Self {
        Self::new(at, 0, 0)
    }

    /// Returns the origin of an operator's result.
    pub(crate) fn then(self, op: &'static str) -> Self {
        Self {
            hash: mix_text(self.hash, op).rotate_left(7),
            op,
            ..self
        }
    }

    /// Returns the origin of a result that depends on another operand, too.
    pub(crate) fn combined_with(self, other: Self) -> Self {
        self.with_number(other.hash)
    }

    /// Returns the origin of a tensor that depends on a number.
    pub(crate) fn with_number(self, number: u64) -> Self {
        Self {
            // Rotated, so that the order of two operands counts.
            hash: mix(self.hash.rotate_left(29), number),
            ..self
        }
    }

    /// Returns the origin of a tensor that is read under a name.
    #[cfg(feature = "safetensors")]
    pub(crate) fn with_name(self, name: &str) -> Self {
        Self {
            hash: mix_text(self.hash, name),
            ..self
        }
    }
}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.op.is_empty() {
            write!(f, "{} of ", self.op)?;
        }
        let (number, at) = (self.before + 1, self.at);
        write!(f, "tensor {number} made at {at}")?;
        if self.epoch > 0 {
            write!(f, " after {} collectives", self.epoch)?;
        }
        Ok(())
    }
}

/// Numbers the tensors that a rank creates.
///
/// The tensors of one call are counted from the last collective on. A rank that calls a shared function a few times for
/// local tensors is therefore in step with the others again after the next collective.
#[derive(Debug, Default)]
pub(crate) struct Origins(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    created: Vec<(CallSite, u32)>,
    epoch: u32,
}

impl Origins {
    /// Returns the origin of a tensor that a call creates.
    pub(crate) fn create(&self, at: CallSite) -> Origin {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(other, _): &&mut (CallSite, u32)| {
            std::ptr::eq(*other, at) || (other.line() == at.line() && **other == *at)
        };
        let before = match counts.created.iter_mut().find(same) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                counts.created.push((at, 0));
                0
            }
        };
        Origin::new(at, before, counts.epoch)
    }

    /// Restarts the counts after a collective. `all_ranks_took_part` says whether all ranks of the mesh took part. Only
    /// those collectives advance the epoch, since ranks along one axis may run more collectives than their neighbours
    /// along another.
    pub(crate) fn restart(&self, all_ranks_took_part: bool) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts.created.clear();
        counts.epoch = counts.epoch.wrapping_add(u32::from(all_ranks_took_part));
    }
}

/// Returns the hash of a value, equal in all processes of a program.
pub(crate) fn hash_of(words: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::panic::Location;

    use super::*;

    #[track_caller]
    fn here(origins: &Origins) -> Origin {
        origins.create(Location::caller())
    }

    #[test]
    fn tensors_of_one_call_and_of_several_have_origins_of_their_own() {
        let origins = Origins::default();
        let mut all: Vec<Origin> = (0..3).map(|_| here(&origins)).collect();
        all.push(here(&origins));
        all.push(all[0].then("exp"));
        all.push(all[0].then("sin"));
        all.push(all[0].then("exp").then("exp"));
        all.push(all[0].combined_with(all[1]));
        all.push(all[1].combined_with(all[0]));
        origins.restart(true);
        all.push(here(&origins));
        let mut hashes: Vec<u64> = all.iter().map(|origin| origin.hash).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), all.len());
        assert!(all[2].to_string().starts_with("tensor 3 made at "));
        assert!(all[9].to_string().ends_with(" after 1 collectives"));
    }

    #[test]
    fn a_collective_brings_ranks_in_step() {
        let (one, other) = (Origins::default(), Origins::default());
        let make = |origins: &Origins| here(origins);
        make(&one);
        make(&one);
        make(&other);
        assert_ne!(make(&one).hash, make(&other).hash);
        one.restart(false);
        other.restart(false);
        assert_eq!(make(&one).hash, make(&other).hash);
    }
}
