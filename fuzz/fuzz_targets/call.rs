#![no_main]

#[allow(dead_code, unused_imports)]
#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[allow(dead_code, unused_imports)]
#[path = "../../runtime/tests/hostile/mod.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;
// For its allocator.
use nomina_fuzz as _;

fuzz_target!(|data: &[u8]| hostile::run(&mut bytes::Bytes::Given(data)));
