#![no_main]

#[allow(dead_code, unused_imports)]
#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[allow(dead_code, unused_imports)]
#[path = "../../tests/programs/run.rs"]
mod programs;

use libfuzzer_sys::fuzz_target;
// For its allocator.
use nomina_fuzz as _;

fuzz_target!(|data: &[u8]| {
    let run = programs::run(
        &mut bytes::Bytes::Given(data),
        &mut programs::Counts::default(),
    );
    if let Err(what) = run {
        panic!("{what}");
    }
});
