//! A log of the last jobs, for the report of a job that does not end.

use std::collections::VecDeque;
use std::fmt;
use std::time::Instant;

use crate::agree::JobDescription;

/// The number of jobs that are kept.
const MAX_RECORDS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobState {
    Waits,
    Runs,
    Done,
    Failed,
}

#[derive(Debug)]
struct Record {
    axis: usize,
    description: JobDescription,
    state: JobState,
    /// The time at which it entered this state.
    since: Instant,
}

/// The last jobs of this rank.
#[derive(Debug, Default)]
pub(crate) struct Records {
    last: VecDeque<Record>,
    /// The number of the first of them.
    first: u64,
}

impl Records {
    /// Records a waiting job, and returns its number.
    pub(crate) fn add(&mut self, axis: usize, description: JobDescription) -> u64 {
        if self.last.len() == MAX_RECORDS {
            self.last.pop_front();
            self.first += 1;
        }
        let (state, since) = (JobState::Waits, Instant::now());
        self.last.push_back(Record {
            axis,
            description,
            state,
            since,
        });
        self.first + self.last.len() as u64 - 1
    }

    pub(crate) fn change(&mut self, number: u64, state: JobState) {
        let at = number.checked_sub(self.first).map(|at| at as usize);
        if let Some(record) = at.and_then(|at| self.last.get_mut(at)) {
            (record.state, record.since) = (state, Instant::now());
        }
    }
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, record) in self.last.iter().enumerate() {
            let number = self.first + at as u64;
            let state = match record.state {
                JobState::Waits => "waits",
                JobState::Runs => "runs",
                JobState::Done => "is done",
                JobState::Failed => "failed",
            };
            let seconds = record.since.elapsed().as_secs_f64();
            writeln!(
                f,
                "  job {number} on axis {}: {}, {state} since {seconds:.3} s",
                record.axis, record.description
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_jobs_are_kept() {
        let mut records = Records::default();
        for number in 0..100 {
            assert_eq!(records.add(1, JobDescription::default()), number);
        }
        records.change(3, JobState::Failed);
        records.change(99, JobState::Runs);
        let text = records.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), MAX_RECORDS);
        assert!(lines[0].starts_with("  job 36 on axis 1: "), "{}", lines[0]);
        assert!(lines[63].contains("runs since"), "{}", lines[63]);
        assert!(!text.contains("failed"));
    }
}
