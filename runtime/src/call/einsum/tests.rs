use nomina_core::{DType, ErrorKind};

use super::einsum;
use crate::raw::Raw;

fn sample(shape: &[usize], seed: usize) -> Raw {
    let count: usize = shape.iter().product();
    let data = (0..count).map(|i| ((i * 7 + seed * 13) % 11) as f64 - 5.0);
    Raw::from_vec(data.collect(), shape).unwrap()
}

/// The sum over all letters, term by term.
fn plain(operands: &[&Raw], letters: &[&[usize]], output: &[usize], sizes: &[usize]) -> Vec<f64> {
    let strides = |of: &[usize]| -> Vec<usize> {
        (0..of.len())
            .map(|i| of[i + 1..].iter().map(|&l| sizes[l]).product())
            .collect()
    };
    let data: Vec<Vec<f64>> = operands.iter().map(|x| x.to_vec().unwrap()).collect();
    let count: usize = output.iter().map(|&l| sizes[l]).product();
    let mut sums = vec![0.0; count];
    let all: usize = sizes.iter().product();
    for index in 0..all {
        let mut left = index;
        let at: Vec<usize> = sizes
            .iter()
            .map(|size| {
                let digit = left % size;
                left /= size;
                digit
            })
            .collect();
        let place =
            |of: &[usize]| -> usize { strides(of).iter().zip(of).map(|(s, &l)| s * at[l]).sum() };
        let terms = data.iter().zip(letters);
        sums[place(output)] += terms.map(|(x, l)| x[place(l)]).product::<f64>();
    }
    sums
}

fn check(letters: &[&[usize]], output: &[usize], sizes: &[usize]) {
    let used = |letter: &usize| letters.iter().any(|list| list.contains(letter));
    let sizes: Vec<usize> = (0..sizes.len())
        .map(|letter| if used(&letter) { sizes[letter] } else { 1 })
        .collect();
    let operands: Vec<Raw> = letters
        .iter()
        .enumerate()
        .map(|(seed, l)| sample(&l.iter().map(|&l| sizes[l]).collect::<Vec<_>>(), seed))
        .collect();
    let operands: Vec<&Raw> = operands.iter().collect();
    let got = einsum(&operands, letters, output).unwrap();
    let shape: Vec<usize> = output.iter().map(|&l| sizes[l]).collect();
    assert_eq!(got.shape(), shape, "{letters:?} -> {output:?}");
    let want = plain(&operands, letters, output, &sizes);
    assert_eq!(
        got.to_vec::<f64>().unwrap(),
        want,
        "{letters:?} -> {output:?}"
    );
}

#[test]
fn products_of_any_letters() {
    let sizes = &[2, 3, 4, 2];
    check(&[&[0, 1], &[1, 2]], &[0, 2], sizes);
    check(&[&[0, 1], &[1, 2]], &[2, 0], sizes);
    check(&[&[3, 0, 1], &[3, 2, 1]], &[3, 0, 2], sizes);
    check(&[&[0, 3, 1], &[2, 3, 1]], &[3, 0, 2], sizes);
    check(&[&[0, 1], &[0, 1]], &[], sizes);
    check(&[&[0, 1], &[0, 1]], &[1], sizes);
    check(&[&[0, 1], &[0, 1]], &[0, 1], sizes);
    check(&[&[0], &[1], &[2]], &[2, 0, 1], sizes);
    check(&[&[0, 1]], &[1, 0], sizes);
    check(&[&[0, 1, 2]], &[1], sizes);
    check(&[&[0, 1], &[2]], &[2], sizes);
    check(&[&[0, 1], &[1, 2], &[2, 3], &[3, 0]], &[], sizes);
    check(&[&[0, 1, 2], &[1, 2], &[2, 3]], &[3, 0], sizes);
    check(&[&[], &[0, 1], &[]], &[1, 0], sizes);
}

#[test]
fn diagonals() {
    let sizes = &[3, 2, 2];
    check(&[&[0, 0]], &[0], sizes);
    check(&[&[0, 0]], &[], sizes);
    check(&[&[0, 1, 0]], &[1, 0], sizes);
    check(&[&[0, 0, 0]], &[0], sizes);
    check(&[&[0, 1, 0, 1], &[1, 2]], &[2, 0], sizes);
}

#[test]
fn many_operands() {
    let letters: Vec<Vec<usize>> = (0..11).map(|i| vec![i % 5, (i + 1) % 5]).collect();
    let letters: Vec<&[usize]> = letters.iter().map(Vec::as_slice).collect();
    check(&letters, &[0, 2], &[1, 2, 2, 1, 2]);
}

#[test]
fn size_one_goes_with_any() {
    let (a, b) = (sample(&[2, 1], 1), sample(&[1, 3], 2));
    let got = einsum(&[&a, &b], &[&[0, 1], &[0, 1]], &[0, 1]).unwrap();
    assert_eq!(got.shape(), [2, 3]);
    let total = einsum(&[&a, &b], &[&[0, 1], &[0, 1]], &[]).unwrap();
    let sum: f64 = got.to_vec::<f64>().unwrap().iter().sum();
    assert_eq!(total.to_vec::<f64>().unwrap(), [sum]);
    let empty = sample(&[0, 3], 0);
    let got = einsum(&[&empty, &a], &[&[0, 1], &[1, 2]], &[2, 1]);
    assert_eq!(got.unwrap_err().kind(), ErrorKind::Shape);
    let got = einsum(&[&empty, &b], &[&[0, 1], &[2, 1]], &[1, 2]).unwrap();
    assert_eq!(got.to_vec::<f64>().unwrap(), [0.0; 3]);
}

#[test]
fn dtypes_promote() {
    let a = Raw::from_vec(vec![1_i32, 2], &[2]).unwrap();
    let b = Raw::from_vec(vec![0.5_f32, 0.25], &[2]).unwrap();
    let got = einsum(&[&a, &b], &[&[0], &[0]], &[]).unwrap();
    assert_eq!(got.to_vec::<f32>().unwrap(), [1.0]);
    let truth = Raw::from_vec(vec![true, false, true, true], &[2, 2]).unwrap();
    let got = einsum(&[&truth, &truth], &[&[0, 1], &[1, 2]], &[0]).unwrap();
    assert_eq!(got.dtype(), DType::Bool);
    assert_eq!(got.to_vec::<bool>().unwrap(), [true, true]);
    let sum = einsum(&[&a], &[&[0]], &[]).unwrap();
    assert_eq!(sum.to_vec::<i32>().unwrap(), [3]);
}

#[test]
fn what_fits_nothing_is_an_error() {
    let a = sample(&[2, 3], 0);
    let kind = |letters: &[&[usize]], output: &[usize]| {
        let operands = vec![&a; letters.len()];
        einsum(&operands, letters, output).unwrap_err().kind()
    };
    assert_eq!(kind(&[], &[]), ErrorKind::Argument);
    assert_eq!(kind(&[&[0]], &[0]), ErrorKind::Rank);
    assert_eq!(kind(&[&[0, 0]], &[0]), ErrorKind::Shape);
    assert_eq!(kind(&[&[0, 1], &[1, 0]], &[0]), ErrorKind::Shape);
    assert_eq!(kind(&[&[0, 1]], &[2]), ErrorKind::Argument);
    assert_eq!(kind(&[&[0, 1]], &[0, 0]), ErrorKind::Argument);
}
