#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, expression, macros, text};

const OWN: Fragments = &[
    "q[B, T, K]",
    "k[B, S, K]",
    "x[..]",
    "x[N]",
    "[N]",
    "[]",
    "[",
    "]",
    "*",
    "*",
    "->",
    "-> [B]",
    "=>",
    "..",
    "...",
    ",",
    "Prime<N>",
    "A<",
    ">",
    "a::N",
    "(&x + &y)",
    "&-x",
    "\"bt,tk->bk\"",
    "x.y",
    "f(x)",
    "N",
];

fuzz_target!(|data: &[u8]| expression(macros::einsum::einsum, &text(data, OWN)));
