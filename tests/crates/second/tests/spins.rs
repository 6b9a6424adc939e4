//! The example's results against a sum over all states of a small ring, and against known values of large rings.

// Includes its `main`, which is unused here.
#[allow(dead_code)]
#[path = "../examples/spins.rs"]
mod spins;

/// Returns the squared norm, and the mean product of spin 0 and spin `apart`, computed from all 3^`spins` amplitudes.
fn by_states(spins: u32, apart: u32) -> (f64, f64) {
    let a = first::aklt().to_vec();
    let (mut norm, mut product) = (0.0, 0.0);
    for state in 0..3_usize.pow(spins) {
        let spin = |at: u32| state / 3_usize.pow(at) % 3;
        let mut chain = [[1.0, 0.0], [0.0, 1.0]];
        for at in 0..spins {
            let m = &a[4 * spin(at)..][..4];
            chain = chain.map(|[x, y]| [x * m[0] + y * m[2], x * m[1] + y * m[3]]);
        }
        let weight = (chain[0][0] + chain[1][1]).powi(2);
        norm += weight;
        product += weight * (1.0 - spin(0) as f64) * (1.0 - spin(apart) as f64);
    }
    (norm, product / norm)
}

#[test]
fn a_small_ring_by_all_its_states() {
    for (spins, apart) in [(3, 1), (6, 1), (6, 2), (6, 3)] {
        let (norm, product) = by_states(spins, apart);
        assert!((spins::norm(spins as usize) - norm).abs() < 1e-12);
        let computed = spins::correlation(spins as usize, apart as usize);
        assert!(
            (computed - product).abs() < 1e-12,
            "{computed}, not {product}"
        );
    }
}

#[test]
fn a_large_ring_by_its_formula() {
    for spins in 1..8 {
        let wanted = 1.0 + 3.0 * (-1.0_f64 / 3.0).powi(spins);
        assert!((spins::norm(spins as usize) - wanted).abs() < 1e-12);
    }
    for apart in 1..6 {
        let wanted = 4.0 / 3.0 * (-1.0_f64 / 3.0).powi(apart);
        assert!((spins::correlation(60, apart as usize) - wanted).abs() < 1e-12);
    }
}
