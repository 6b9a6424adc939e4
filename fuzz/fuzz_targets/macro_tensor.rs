#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, expression, macros, text};

const OWN: Fragments = &[
    "[",
    "]",
    "[",
    "]",
    "1",
    "2.5",
    "-1",
    "1x",
    "0b",
    "1u8",
    "2f64",
    "1.5u8",
    "true",
    "x",
    "[1, 2]",
    "[0.; 3]",
    "; 3]",
    ",",
    ",",
    ";",
    "; N",
    "; N, C",
    "; ; f16",
    "; f64",
    "; _",
    "; (N, C)",
    "[x; LEN]",
    "b'a'",
    "-",
    "x + 1.",
    "Complex<f32>",
    "a::N<K>",
];

fuzz_target!(|data: &[u8]| expression(macros::tensor::tensor, &text(data, OWN)));
