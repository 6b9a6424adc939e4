#![no_main]

use libfuzzer_sys::fuzz_target;
use nomina_fuzz::{Fragments, items, macros, text};

const OWN: Fragments = &[
    "N",
    "C",
    "Rgb",
    ",",
    ",",
    "pub",
    "pub(crate)",
    "pub(in a)",
    "= 3",
    "= \"batch\"",
    "(\"red\")",
    "= -1",
    "= 3u8",
    "= 99999999999999999999",
    "(3)",
    "= N",
    "/// doc\n",
    "#[derive(Clone, Other)]",
    "#[derive(",
    "#[deprecated]",
    "#[cfg(x)] N",
    "struct N",
    "type C",
    "r#type",
    "_",
    "self",
    "N<T>",
    "é",
    "\"N\"",
    "\"a b\"",
    ";",
    "= \"é\"",
];

fuzz_target!(|data: &[u8]| items(macros::dims::dims, &text(data, OWN)));
