#![no_main]

#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[path = "../../runtime/tests/hostile/mod.rs"]
mod hostile;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| hostile::run(&mut bytes::Bytes::Given(data)));
