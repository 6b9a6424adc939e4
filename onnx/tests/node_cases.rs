//! The node cases of the `onnx` wheel: one model per operator and option, with inputs and outputs.
//!
//! `scripts/onnx_cases.py` packs them. `NOMINA_CASE=text` runs those whose names contain the text, and prints each.

mod node;

use std::collections::BTreeMap;

use node::{Case, DataSet, Miss};

const PACKED: &[u8] = include_bytes!("data/node_cases.bin");

/// Takes a length and as many bytes.
fn part<'a>(bytes: &mut &'a [u8]) -> &'a [u8] {
    let length = number(bytes);
    let (part, rest) = bytes.split_at(length);
    *bytes = rest;
    part
}

fn number(bytes: &mut &[u8]) -> usize {
    let (head, rest) = bytes.split_first_chunk::<4>().unwrap();
    *bytes = rest;
    u32::from_le_bytes(*head) as usize
}

fn cases() -> Vec<Case> {
    let mut decoder = ruzstd::decoding::StreamingDecoder::new(PACKED).unwrap();
    let mut data = Vec::new();
    std::io::Read::read_to_end(&mut decoder, &mut data).unwrap();
    let rest = &mut &data[..];
    let messages = |rest: &mut &[u8]| (0..number(rest)).map(|_| part(rest).to_vec()).collect();
    let count = number(rest);
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let name = String::from_utf8(part(rest).to_vec()).unwrap();
        let model = part(rest).to_vec();
        let sets = (0..number(rest))
            .map(|_| DataSet {
                inputs: messages(rest),
                outputs: messages(rest),
            })
            .collect();
        all.push(Case { name, model, sets });
    }
    all
}

#[test]
fn node_cases_pass_or_are_refused() {
    let wanted = std::env::var("NOMINA_CASE").ok();
    let (mut passed, mut refused, mut failed, mut all) = (0, 0, Vec::new(), 0);
    let mut reasons = BTreeMap::<String, usize>::new();
    for case in cases() {
        if wanted
            .as_ref()
            .is_some_and(|text| !case.name.contains(&text[..]))
        {
            continue;
        }
        all += 1;
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.run()));
        let result = result.unwrap_or_else(|_| Err(Miss::Failed("a panic".into())));
        if wanted.is_some() || std::env::var_os("NOMINA_CASES").is_some() {
            println!("{}: {result:?}", case.name);
        }
        match result {
            Ok(()) => passed += 1,
            Err(Miss::Refused(why)) => {
                refused += 1;
                *reasons
                    .entry(why.split([';', '(']).next().unwrap_or("").to_owned())
                    .or_default() += 1;
            }
            Err(Miss::Failed(what)) => failed.push(format!("{}: {what}", case.name)),
        }
    }
    for (why, count) in reasons {
        println!("refused {count}: {why}");
    }
    println!(
        "node cases: {passed} passed, {refused} refused, {} failed, of {all}",
        failed.len()
    );
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(
        wanted.is_some() || passed >= PASSED,
        "{passed} passed, and {PASSED} did before"
    );
}

/// The cases that passed when this was written.
const PASSED: usize = 1564;
