//! Agreement on the outcomes of local work: either all ranks continue, or none does.

use nomina::{Error, ErrorKind, Result};
use nomina_core::mesh::Combine;
use nomina_runtime::Raw;

use crate::check::{Description, gather_texts};
use crate::ranks::Job;
use crate::shared::Shared;

impl Shared {
    /// Returns this rank's value if no rank failed and all ranks have the same `count` numbers. Otherwise returns an
    /// error on all ranks: a rank that failed returns its own error, the others return that rank's text as an error of
    /// kind `other`. The text names the rank that failed, also on the failing rank itself, because a launcher ends all
    /// ranks when the first one exits and prints only the error of that rank.
    pub(crate) fn agree_on_outcome<V>(
        &self,
        description: Description<'_>,
        other: ErrorKind,
        count: usize,
        mut outcome: Result<(V, Vec<usize>)>,
    ) -> Result<V> {
        let op = description.op;
        // For each number, the maximum of it and of its complement: the two maxima are complements if and only if all
        // ranks have the same number. A rank that failed has no numbers.
        let mut words = vec![i64::from(outcome.is_err())];
        for place in 0..count {
            let number = outcome
                .as_ref()
                .ok()
                .map(|(_, numbers)| numbers[place] as i64);
            words.extend(number.map_or([i64::MIN; 2], |number| [number, !number]));
        }
        let mut text = outcome
            .as_ref()
            .err()
            .map(ToString::to_string)
            .unwrap_or_default();
        for (index, axis) in self.axes.iter().enumerate() {
            let piece = Raw::from_vec(words.clone(), &[words.len()])?;
            let combine = Combine::Max;
            let found = self.run_for_one(
                index,
                description.clone(),
                Job::AllReduce { piece, combine },
            )?;
            if let Some(found) = found.as_slice::<i64>() {
                words = found.to_vec();
            }
            if words[0] != 0 && axis.ranks.size() > 1 {
                let texts = gather_texts(&*axis.ranks, &text)?;
                let rank_name = |rank| format!("rank {rank} of mesh axis `{}`", axis.name);
                let own = axis.ranks.rank();
                outcome = outcome.map_err(|error| error.within(rank_name(own)));
                let failed = if text.is_empty() {
                    texts.iter().position(|text| !text.is_empty())
                } else {
                    Some(own)
                };
                if let Some(rank) = failed {
                    text = format!("{}: {}", rank_name(rank), texts[rank]);
                }
            }
        }
        self.mark_synchronized();
        let (value, own) = outcome?;
        if words[0] != 0 {
            return Err(Error::new(other, op, text));
        }
        match (0..count).find(|place| words[1 + 2 * place] != !words[2 + 2 * place]) {
            None => Ok(value),
            Some(place) => {
                let what = format!(
                    "the ranks' sizes differ along the same dims: {own:?} here, and {} elsewhere instead of {}",
                    if words[1 + 2 * place] == own[place] as i64 {
                        !words[2 + 2 * place]
                    } else {
                        words[1 + 2 * place]
                    },
                    own[place]
                );
                Err(Error::new(ErrorKind::Shape, op, what))
            }
        }
    }
}
