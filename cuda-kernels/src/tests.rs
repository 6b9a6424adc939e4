//! Tests of intact, corrupt and forged packs.

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

fn packed(modules: &[(u128, Vec<u8>)]) -> Vec<u8> {
    write(modules, |block| {
        Ok(compress_to_vec(block, CompressionLevel::Fastest))
    })
    .unwrap()
}

/// Returns modules whose names are not sorted; two blocks are full.
fn some() -> Vec<(u128, Vec<u8>)> {
    let code = |n: usize| (0..n).map(|at| (at * n / 7) as u8).collect();
    let sizes = [0, 1, 200, FULL - 1, 5000, FULL + 1, 33];
    let named = sizes.iter().enumerate();
    named
        .map(|(at, n)| ((at as u128 * 5 % 7) << 90 | 1, code(*n)))
        .collect()
}

#[test]
fn every_module_is_found_by_its_name() {
    let modules = some();
    let file = packed(&modules);
    let pack = Pack::open(&file).unwrap();
    assert_eq!((pack.len(), pack.blocks.len(), pack.torn()), (7, 3, 0));
    for (name, code) in &modules {
        assert_eq!(pack.get(*name).as_ref(), Some(code));
        assert_eq!(pack.get(*name + 1), None);
    }
    let none = packed(&[]);
    assert!(Pack::open(&none).unwrap().is_empty());
}

/// Checks that every module in a pack is equal to the original.
fn harmless(file: &[u8], modules: &[(u128, Vec<u8>)]) -> bool {
    let Ok(pack) = Pack::open(file) else {
        return false;
    };
    let all = modules.iter().all(|(name, code)| match pack.get(*name) {
        Some(found) => {
            assert_eq!(&found, code);
            true
        }
        None => false,
    });
    assert_eq!(all, pack.torn() == 0);
    all
}

#[test]
fn torn_packs_give_nothing_wrong() {
    let modules: Vec<_> = (0..40_u8).map(|n| (u128::from(n), vec![n; 20])).collect();
    let file = packed(&modules);
    assert!(harmless(&file, &modules));
    for cut in 0..file.len() {
        assert!(Pack::open(&file[..cut]).is_err(), "{cut}");
    }
    for at in 0..file.len() {
        for bit in [1, 128] {
            let mut other = file.clone();
            other[at] ^= bit;
            assert!(!harmless(&other, &modules), "{at}");
        }
    }
    assert!(Pack::open(&[file, vec![0]].concat()).is_err());
}

/// Fixes the checksums, so that every number of the table and every byte of a block is trusted.
#[test]
fn forged_packs_give_an_error_or_bytes_and_no_panic() {
    let modules: Vec<_> = (0..3_u8).map(|n| (u128::from(n), vec![n; 300])).collect();
    let file = packed(&modules);
    let blocks = HEAD + BLOCK + 3 * MODULE;
    let mut opened = 0;
    for at in 16..file.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut other = file.clone();
            other[at] = byte;
            let sum = checksum(&other[blocks..]).to_le_bytes();
            other[HEAD + 8..HEAD + BLOCK].copy_from_slice(&sum);
            let sum = checksum(&other[16..blocks]).to_le_bytes();
            other[8..16].copy_from_slice(&sum);
            if let Ok(pack) = Pack::open(&other) {
                opened += 1;
                (0..4).for_each(|name| drop(pack.get(name)));
            }
        }
    }
    assert!(opened > 500, "{opened}");
}

#[test]
fn the_embedded_pack_is_whole() {
    if !EMBEDDED.is_empty() {
        let pack = Pack::open(EMBEDDED).unwrap();
        assert!(!pack.is_empty());
        assert_eq!(pack.torn(), 0);
    }
}
