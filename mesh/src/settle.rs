//! Agreement on what each rank computed alone: all ranks go on, or none.

use nomina::{Error, ErrorKind, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

use crate::check::{What, texts};
use crate::mesh::Shared;
use crate::ranks::Job;

impl Shared {
    /// What this rank did, where no other one failed, and all have the same `count` numbers beside it; else an error, on all
    /// ranks: that of this one, or the text of another one's, of the kind `other`. It names the rank that failed, also where this
    /// one did: a launcher ends all ranks when the first one has left, and prints what that one said.
    pub(crate) fn settle<V>(
        &self,
        what: What<'_>,
        other: ErrorKind,
        count: usize,
        mut done: Result<(V, Vec<usize>)>,
    ) -> Result<V> {
        let op = what.op;
        // The greatest of a number and of its complement: they are of one number where all are equal. A rank that failed has none.
        let mut words = vec![i64::from(done.is_err())];
        for place in 0..count {
            let number = done.as_ref().ok().map(|(_, numbers)| numbers[place] as i64);
            words.extend(number.map_or([i64::MIN; 2], |number| [number, !number]));
        }
        let mut text = done
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default();
        for (number, axis) in self.axes.iter().enumerate() {
            let piece = Raw::from_vec(words.clone(), &[words.len()])?;
            let combine = Combine::Max;
            let found = self.one(number, what.clone(), Job::AllReduce { piece, combine })?;
            if let Some(found) = found.as_slice::<i64>() {
                words = found.to_vec();
            }
            if words[0] != 0 && axis.ranks.size() > 1 {
                let texts = texts(&*axis.ranks, &text)?;
                let named = |rank| format!("rank {rank} of mesh axis `{}`", axis.name);
                let own = axis.ranks.rank();
                done = done.map_err(|error| error.within(named(own)));
                let failed = match text.is_empty() {
                    true => texts.iter().position(|text| !text.is_empty()),
                    false => Some(own),
                };
                if let Some(rank) = failed {
                    text = format!("{}: {}", named(rank), texts[rank]);
                }
            }
        }
        self.all_met();
        let (value, own) = done?;
        if words[0] != 0 {
            return Err(Error::new(other, op, text));
        }
        match (0..count).find(|place| words[1 + 2 * place] != !words[2 + 2 * place]) {
            None => Ok(value),
            Some(place) => {
                let what = format!(
                    "the ranks have other sizes along the same dims: {own:?} here, and {} elsewhere instead of {}",
                    match words[1 + 2 * place] == own[place] as i64 {
                        true => !words[2 + 2 * place],
                        false => words[1 + 2 * place],
                    },
                    own[place]
                );
                Err(Error::new(ErrorKind::Shape, op, what))
            }
        }
    }
}
