//! Tests large operands, which several threads share.

use half::{bf16, f16};
use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::combine::{Add, Combine, Mul, Narrow, Once};
use crate::call;
use crate::cpu::numeric::Convert;
use crate::job::Update;
use crate::raw::Raw;

/// Returns pseudo-random numbers.
fn numbers(n: usize, below: i64) -> Vec<i64> {
    let mut state = 7_u64;
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as i64 % below
    };
    (0..n).map(next).collect()
}

#[test]
fn many_indices_into_few_places_add_up_in_order() {
    let n = if cfg!(miri) { 500 } else { 300_000 };
    let (ids, values) = (numbers(n, 13), numbers(n, 1000));
    let floats: Vec<f32> = values.iter().map(|&v| v as f32 / 7.0).collect();
    let mut wanted = [0.0_f64; 13];
    for (&at, &value) in ids.iter().zip(&floats) {
        wanted[at as usize] += f64::from(value);
    }
    let wanted = wanted.map(|sum| sum as f32);
    let mut own = Raw::from_vec(vec![0.0_f32; 13], &[13]).unwrap();
    let (index, src) = (
        Raw::from_vec(ids, &[n]).unwrap(),
        Raw::from_vec(floats, &[n]).unwrap(),
    );
    let dest = own.as_mut().unwrap();
    call::scatter(Op::ScatterAdd, dest, 0, &index, &src, Update::Add).unwrap();
    assert_eq!(own.to_vec::<f32>().unwrap(), wanted);
}

#[test]
fn rows_and_columns_of_any_layout() {
    let (rows, columns) = if cfg!(miri) { (7, 9) } else { (300, 400) };
    let x = Raw::from_vec(numbers(rows * columns, 1 << 40), &[rows, columns]).unwrap();
    let turned = call::contiguous(&x.transpose(0, 1).unwrap()).unwrap();
    let turned = turned.transpose(0, 1).unwrap();
    for x in [&x, &turned] {
        for dim in [0, 1] {
            let size = x.shape()[dim];
            let ids = numbers(500, size as i64);
            let index = Raw::from_vec(ids.clone(), &[ids.len()]).unwrap();
            let picked = call::index_select(Op::IndexSelect, x, dim, &index).unwrap();
            for (at, &id) in ids.iter().enumerate().step_by(97) {
                let (got, want) = (picked.select(dim, at), x.select(dim, id as usize));
                assert!(got.unwrap().scalars().eq(want.unwrap().scalars()));
            }
            let mut shape = [rows, columns];
            shape[dim] = ids.len();
            let each = index.unsqueeze(1 - dim).unwrap().expand(&shape).unwrap();
            let gathered = call::gather(Op::Gather, x, dim, &each).unwrap();
            assert!(call::equal(&gathered, &picked).unwrap());
            let dense = call::contiguous(&each).unwrap();
            let gathered = call::gather(Op::Gather, x, dim, &dense).unwrap();
            assert!(call::equal(&gathered, &picked).unwrap());
            // Writing the elements back to their origin changes nothing.
            let mut own = x.clone();
            let dest = own.as_mut().unwrap();
            let how = Update::Set;
            call::index_update(Op::IndexCopy, dest, dim, &index, &picked, how, false).unwrap();
            assert!(call::equal(&own, x).unwrap());
        }
    }
}

#[test]
fn every_place_of_a_mask() {
    let (rows, columns) = if cfg!(miri) { (9, 7) } else { (700, 130) };
    let data: Vec<bool> = numbers(rows * columns, 3).iter().map(|&v| v == 0).collect();
    let wanted: Vec<i64> = (0..data.len())
        .filter(|&i| data[i])
        .flat_map(|i| [(i / columns) as i64, (i % columns) as i64])
        .collect();
    let mask = Raw::from_vec(data, &[rows, columns]).unwrap();
    let found = call::nonzero(Op::Nonzero, &mask).unwrap();
    assert_eq!(found.to_vec::<i64>().unwrap(), wanted);
    let both = [found.select(1, 0).unwrap(), found.select(1, 1).unwrap()];
    let all = call::index(&mask, &[0, 1], &[&both[0], &both[1]]).unwrap();
    assert!(all.to_vec::<bool>().unwrap().into_iter().all(|m| m));
    let mut own = mask.clone();
    let no = call::full(&[], Scalar::Bool(false), DType::Bool, mask.device()).unwrap();
    let indices = [&both[0], &both[1]];
    call::index_put(own.as_mut().unwrap(), &[0, 1], &indices, &no, Update::Set).unwrap();
    assert_eq!(call::nonzero(Op::Nonzero, &own).unwrap().shape(), [0, 2]);
}

/// Tests small and large targets, which are widened as a whole or accumulated in the order of a sorted
/// index, in all layouts.
#[test]
fn sums_at_indices_are_rounded_once() {
    let cases = [
        (13, 500, 1),
        (13, 300, 70),
        (5000, 40, 1),
        (5000, 40, 130),
        (700, 300, 40),
        (3, 2, 5),
        (4, 1, 9),
    ];
    for (extent, count, inner) in cases {
        let ids: Vec<i64> = numbers(count, extent).iter().map(|i| i / 3 * 3).collect();
        let values = numbers(count * inner, 1000);
        let values = values.iter().map(|&v| v as f32 / 7.0).collect();
        let values = Raw::from_vec(values, &[count, inner]).unwrap();
        for dtype in [DType::F16, DType::BF16, DType::F32, DType::C64] {
            let src = call::to_dtype(&values, dtype).unwrap();
            let wide = if dtype == DType::C64 {
                DType::C128
            } else {
                DType::F64
            };
            let index = Raw::from_vec(ids.clone(), &[count]).unwrap();
            let each = index.unsqueeze(1).unwrap().expand(&[count, inner]).unwrap();
            let dense = call::contiguous(&each).unwrap();
            let sizes = [extent as usize, inner];
            // Computed in the wider dtype, in which the sum of so few numbers is exact.
            let mut wanted = Raw::zeros("zeros", &sizes, wide, src.device()).unwrap();
            let (dest, wide) = (
                wanted.as_mut().unwrap(),
                call::to_dtype(&src, wide).unwrap(),
            );
            call::scatter(Op::ScatterAdd, dest, 0, &dense, &wide, Update::Add).unwrap();
            let wanted = call::to_dtype(&wanted, dtype).unwrap();
            let zeros = || Raw::zeros("zeros", &sizes, dtype, src.device()).unwrap();
            let mut found = [zeros(), zeros(), zeros(), zeros()];
            let turned = Raw::zeros("zeros", &[inner, sizes[0]], dtype, src.device()).unwrap();
            found[3] = turned.transpose(0, 1).unwrap();
            let add = |own: &mut Raw, index: &Raw| {
                let dest = own.as_mut().unwrap();
                call::scatter(Op::ScatterAdd, dest, 0, index, &src, Update::Add).unwrap();
            };
            add(&mut found[0], &dense);
            add(&mut found[1], &each);
            add(&mut found[3], &dense);
            let dest = found[2].as_mut().unwrap();
            call::index_put(dest, &[0], &[&index], &src, Update::Add).unwrap();
            for (way, found) in found.iter().enumerate() {
                assert!(
                    call::equal(found, &wanted).unwrap(),
                    "{extent} places, {count} by {inner} {dtype}, way {way}"
                );
            }
        }
    }
}

/// Compares the combination with a single value with that in the wide type.
fn check_single<T: Narrow<Wide = f64>>(a: T, b: T)
where
    f64: Convert<T>,
{
    fn check<T: Narrow<Wide = f64>, R: Combine<f64> + Combine<T::Single>>(a: T, b: T)
    where
        f64: Convert<T>,
    {
        let wanted: T = <R as Combine<f64>>::apply(a.convert(), b.convert()).convert();
        let [found, wanted]: [f64; 2] = [Once::<R>::apply(a, b), wanted].map(T::convert);
        let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
        assert!(same, "{found} instead of {wanted}");
    }
    check::<T, Add>(a, b);
    check::<T, Mul>(a, b);
}

#[test]
fn single_values_are_combined_as_exactly_as_many() {
    let n = if cfg!(miri) { 500 } else { 500_000 };
    for pair in numbers(2 * n, 1 << 31).chunks_exact(2) {
        let [a, b] = [pair[0] as u32, pair[1] as u32];
        let halves = [(a >> 7) as u16, (b >> 7) as u16];
        let [x, y] = halves.map(f16::from_bits);
        check_single(x, y);
        let [x, y] = halves.map(bf16::from_bits);
        check_single(x, y);
        check_single(
            f32::from_bits(a << 1 | a & 1),
            f32::from_bits(b << 1 | b & 1),
        );
    }
}
