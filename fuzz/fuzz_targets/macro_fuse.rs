#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, expression, macros, text};

const OWN: Fragments = &[
    "|x, b|",
    "|x = &y * 2.0, b|",
    "x",
    "b",
    "h",
    "+",
    "-",
    "*",
    "/",
    ".exp()",
    ".tanh()",
    ".sum(C)",
    ".sum(keep(C))",
    ".mean((N, C))",
    ".argmax(\"C\")",
    ".to::<f32>()",
    ".to()",
    ".atan2(",
    ".where_cond(",
    "(",
    ")",
    "{",
    "}",
    "{ rate }",
    "let h =",
    "let mut h =",
    ";",
    "0.5",
    "2",
    "-",
    "!",
    "|",
    ",",
    ".add_(1.0)",
    ".clamp(0.0, 1.0)",
    "&x",
    "x?",
    "x[0]",
];

fuzz_target!(|data: &[u8]| expression(macros::fuse::fuse, &text(data, OWN)));
