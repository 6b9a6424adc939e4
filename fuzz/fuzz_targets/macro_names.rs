#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, expression, macros, text};

const OWN: Fragments = &[
    "\"N\"", "\"C\"", "\"N''\"", "_", ",", ",", "\"N\"x", "\"\"", "\"2d\"", "None", "N", "..", ";",
    "r\"N\"", "b\"N\"", "c\"N\"", "3",
];

fuzz_target!(|data: &[u8]| expression(macros::names::names, &text(data, OWN)));
