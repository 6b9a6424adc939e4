//! Splitting the cases into parts, and adding up their counts: on the emulated GPU, each processor runs one part.

#[cfg(feature = "cuda")]
use std::collections::BTreeMap;
use std::str::FromStr;

/// The operators whose spelling hashes to part `at` of `of`.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    pub at: u64,
    pub of: u64,
}

impl Part {
    pub const WHOLE: Self = Self { at: 0, of: 1 };

    /// Returns whether the cases of an operator are in this part; all forms of an operator are in the same part.
    pub fn takes(self, spelling: &str) -> bool {
        let name = spelling.rsplit('.').next().unwrap_or(spelling);
        let bytes = name.trim_end_matches('_').bytes();
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        (hash >> 32) % self.of == self.at
    }

    /// Returns the lines of the part's cases, numbered from 1, and unreadable lines. It builds no tensors of other
    /// cases.
    pub fn lines(self, text: &str) -> impl Iterator<Item = (usize, &str)> {
        let other = move |line: &str| {
            let json: Result<serde_json::Value, _> = serde_json::from_str(line);
            json.is_ok_and(|json| json["op"].as_str().is_some_and(|op| !self.takes(op)))
        };
        (1..)
            .zip(text.lines())
            .filter(move |(_, line)| !line.trim().is_empty() && (self.of == 1 || !other(line)))
    }
}

impl FromStr for Part {
    type Err = String;

    /// Parses `2/8`.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(at, of)| {
            let (at, of) = (at.parse().ok()?, of.parse().ok()?);
            (at < of).then_some(Self { at, of })
        });
        numbers.ok_or_else(|| format!("{text:?} is no part: write 0/2"))
    }
}

/// Joins the output of several parts into the output of a single run.
#[cfg(feature = "cuda")]
pub fn joined(printed: &[String]) -> String {
    let mut out = String::new();
    let (mut passed, mut failed, mut calls, mut wrong) = (0, 0, 0, 0);
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    for line in printed.iter().flat_map(|part| part.lines()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
        match (&words[..], number(0), number(2)) {
            ([_, "passed,", _, "failed"], Some(a), Some(b)) => {
                passed += a;
                failed += b;
            }
            (["operands", "on", "two", "devices:", _, "calls,", _, "wrong"], ..) => {
                calls += number(4).unwrap_or(0);
                wrong += number(6).unwrap_or(0);
            }
            (["by", "the", "host:", class, _], ..) => {
                *classes.entry((*class).to_owned()).or_default() += number(4).unwrap_or(0);
            }
            _ => out += &format!("{line}\n"),
        }
    }
    for (class, count) in classes {
        out += &format!("by the host: {class} {count}\n");
    }
    out += &format!("operands on two devices: {calls} calls, {wrong} wrong\n");
    out + &format!("{passed} passed, {failed} failed on a device\n")
}
