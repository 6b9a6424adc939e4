//! Models with random changes cause no panic, and opening them needs no more memory than twice the file and a constant.
//!
//! `NOMINA_FILES=count,seed` sets the number of files, 20,000 by default, and the seed. For the count of releases:
//!
//! ```sh
//! NOMINA_FILES=200000,2 cargo test --workspace --test onnx_hostile changed_models_cause -- --nocapture
//! ```

#[allow(dead_code)]
#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[path = "../../tests/counting/mod.rs"]
mod counting;
mod node;
#[path = "node/packed.rs"]
mod packed;
mod write;

use bytes::Bytes;
use nomina_onnx::Model;
use write::field;

/// The memory of small files and error texts, beyond twice the file.
const FLAT: usize = 4 << 20;

/// The models of the node cases.
fn models() -> Vec<Vec<u8>> {
    packed::cases().into_iter().map(|case| case.model).collect()
}

fn mutated(random: &mut Bytes<'_>, seed: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1));
        match random.below(24) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at.min(bytes.len()), random.word() as u8),
            2 if !bytes.is_empty() => drop(bytes.remove(at)),
            3 => {
                let part = bytes[at..(at + random.below(40)).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
            4 => bytes.splice(at..at, [0xff; 9]).for_each(drop),
            _ if !bytes.is_empty() => bytes[at] = random.word() as u8,
            _ => {}
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn changed_models_cause_no_panic_and_need_little_memory() {
    let given = std::env::var("NOMINA_FILES").unwrap_or_default();
    let mut numbers = given.split(',').map(|n| n.parse::<u64>().ok());
    let (count, seed) = (
        numbers.next().flatten().unwrap_or(20_000),
        numbers.next().flatten().unwrap_or(1),
    );
    let seeds = models();
    let mut random = Bytes::Random(seed);
    let (mut opened, mut most) = (0, 0);
    for file in 0..count {
        let which = random.below(seeds.len());
        let bytes = mutated(&mut random, &seeds[which]);
        let open = || std::panic::catch_unwind(|| Model::from_bytes(&bytes).is_ok());
        let (peak, result) = counting::peak(open);
        let Ok(ok) = result else {
            panic!("file {file} of seed {seed} panics: {bytes:?}")
        };
        opened += u64::from(ok);
        most = most.max(peak.saturating_sub(2 * bytes.len()));
        assert!(
            peak <= 2 * bytes.len() + FLAT,
            "file {file} of {} bytes needs {peak}",
            bytes.len()
        );
    }
    println!("{count} changed models: {opened} open, at most {most} bytes beyond twice the file");
}

#[test]
fn files_that_ask_for_much_are_refused() {
    let ints = field(7, &field(1, &field(5, &field(8, &vec![1; 1 << 20]))));
    let nodes = field(7, &[0x0a, 0].repeat(1 << 19));
    let mut nested = Vec::new();
    for _ in 0..20_000 {
        nested = field(1, &field(5, &field(6, &nested)));
    }
    let sizes = field(
        7,
        &field(
            5,
            &[
                0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x10, 1,
            ],
        ),
    );
    for (what, bytes) in [
        ("integers", ints),
        ("nodes", nodes),
        ("graphs in graphs", field(7, &nested)),
        ("sizes", sizes),
    ] {
        let (peak, result) = counting::peak(|| Model::from_bytes(&bytes).map(drop));
        let error = result.expect_err(what).to_string();
        assert!(
            peak <= 2 * bytes.len() + FLAT,
            "{what}: {peak} bytes for a file of {}",
            bytes.len()
        );
        println!("{what}: {error}");
    }
}

/// Runs changed models as well; for machines with memory to spare, since such a model may ask for much of it.
#[test]
#[ignore = "a changed model may allocate much"]
fn changed_models_run_without_a_panic() {
    let given = std::env::var("NOMINA_FILES").unwrap_or_default();
    let count = given
        .split(',')
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(4000);
    let seeds = models();
    let mut random = Bytes::Random(7);
    let (mut ran, mut panics) = (0, Vec::new());
    for _ in 0..count {
        let seed = &seeds[random.below(seeds.len())];
        let mut bytes = seed.clone();
        let at = random.below(bytes.len());
        bytes[at] = random.pick(&[0, 1, 2, 3, 4, 7, 9, 0x7f, 0xff]);
        let run = || -> nomina_core::Result<()> {
            let model = Model::from_bytes(&bytes)?;
            let inputs = model.inputs().iter().map(|port| {
                let sizes = port.sizes.iter().flatten();
                let shape: Vec<usize> = sizes
                    .map(|size| {
                        if let nomina_onnx::StatedSize::Fixed(n) = size {
                            (*n).min(64)
                        } else {
                            2
                        }
                    })
                    .collect();
                let dtype = port.dtype.unwrap_or(nomina::DType::F32);
                Ok((
                    port.name.clone(),
                    nomina::DynTensor::ones(&shape, ())?.to_dtype(dtype)?,
                ))
            });
            let inputs = inputs.collect::<nomina_core::Result<Vec<_>>>()?;
            model
                .run(inputs.iter().map(|(name, tensor)| (name, tensor)))
                .map(drop)
        };
        match std::panic::catch_unwind(run) {
            Ok(result) => ran += usize::from(result.is_ok()),
            Err(_) => panics.push(Model::from_bytes(seed).map_or(0, |_| at)),
        }
    }
    println!("{count} changed models: {ran} ran, {} panics", panics.len());
    assert!(panics.is_empty());
}
