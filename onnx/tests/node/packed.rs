//! The node cases of the `onnx` wheel, which `scripts/onnx_cases.py` packs: one model per operator and option, with inputs and outputs.

use crate::node::{Case, DataSet};

const PACKED: &[u8] = include_bytes!("../data/node_cases.bin");

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

/// Returns all cases.
pub fn cases() -> Vec<Case> {
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
