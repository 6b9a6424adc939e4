use nomina_core::{DType, Scalar};
use num_complex::Complex;

use crate::tensor::DynTensor;

fn shown(x: &DynTensor) -> String {
    x.to_string()
}

#[test]
fn a_matrix_is_aligned_and_followed_by_its_dims() {
    let x = DynTensor::from_vec(vec![1.0f32, -2.5, 3.0, 40.25], &[2, 2], ["N", "C"]).unwrap();
    assert_eq!(
        shown(&x),
        "[[ 1.   -2.5 ]\n [ 3.   40.25]]\ndims (N=2, C=2), f32"
    );
    assert_eq!(
        format!("{x:.1}"),
        "[[ 1.0 -2.5]\n [ 3.0 40.2]]\ndims (N=2, C=2), f32"
    );
    assert_eq!(
        format!("{x:?}"),
        "dims (N=2, C=2), f32: [1.0, -2.5, 3.0, 40.25]"
    );
    assert_eq!(
        format!("{x:.1e}"),
        "[[ 1.0e+00 -2.5e+00]\n [ 3.0e+00  4.0e+01]]\ndims (N=2, C=2), f32"
    );
}

#[test]
fn whole_numbers_integers_and_bool() {
    let whole = DynTensor::from_vec(vec![1.0f64, 20.0], &[2], ["N"]).unwrap();
    assert_eq!(shown(&whole), "[ 1. 20.]\ndims (N=2,), f64");
    assert_eq!(format!("{whole:.2}"), "[ 1.00 20.00]\ndims (N=2,), f64");
    let ints = DynTensor::from_vec(vec![1i64, -20], &[2], [None::<&str>]).unwrap();
    assert_eq!(shown(&ints), "[  1 -20]\ndims (2,), i64");
    let half = DynTensor::from_vec(vec![1i64, -20], &[1, 2], [Some("N"), None]).unwrap();
    assert_eq!(shown(&half), "[[  1 -20]]\ndims (N=1, 2), i64");
    assert_eq!(format!("{half:?}"), "dims (N=1, 2), i64: [1, -20]");
    let bools = DynTensor::from_vec(vec![true, false], &[2], ["N"]).unwrap();
    assert_eq!(shown(&bools), "[ True False]\ndims (N=2,), bool");
}

#[test]
fn zero_dims_and_zero_sizes() {
    let number = DynTensor::full(&[], 2.5, ()).unwrap();
    assert_eq!(shown(&number), "2.5");
    assert_eq!(format!("{number:.2}"), "2.50");
    assert_eq!(format!("{number:?}"), "dims (), f32: 2.5");
    let none = DynTensor::zeros(&[2, 0], ["N", "C"]).unwrap();
    assert_eq!(shown(&none), "[]\ndims (N=2, C=0), f32");
    assert_eq!(format!("{none:?}"), "dims (N=2, C=0), f32: []");
    let rows = DynTensor::zeros(&[1 << 40, 0], ["N", "C"]).unwrap();
    let heading = "dims (N=1099511627776, C=0), f32";
    assert_eq!(shown(&rows), format!("[]\n{heading}"));
}

#[test]
fn wide_ranges_are_scientific_and_what_is_not_finite_stays() {
    let x = DynTensor::from_vec(vec![1e-6f64, f64::NAN, -f64::INFINITY], &[3], ["N"]).unwrap();
    assert_eq!(shown(&x), "[1.e-06    nan   -inf]\ndims (N=3,), f64");
}

#[test]
fn complex_numbers_show_both_parts() {
    let x = DynTensor::from_vec(vec![Complex::new(1.5f32, -2.0)], &[1], ["N"]).unwrap();
    assert_eq!(shown(&x), "[1.5-2.j]\ndims (N=1,), Complex<f32>");
}

#[test]
fn a_large_tensor_is_cut_in_the_middle() {
    let options = DynTensor::options().dtype(DType::I32);
    let long = options.full(&[2000], Scalar::Int(7), ["N"]).unwrap();
    assert_eq!(shown(&long), "[7 7 7 ... 7 7 7]\ndims (N=2000,), i32");
    let cube = options
        .full(&[100, 4, 100], Scalar::Int(7), ["A", "B", "C"])
        .unwrap();
    let text = shown(&cube);
    assert_eq!(
        text.lines().filter(|line| line.trim() == "...").count(),
        1,
        "{text}"
    );
    assert_eq!(text.matches("7 7 7 ... 7 7 7").count(), 6 * 4, "{text}");
    assert_eq!(
        format!("{long:?}"),
        "dims (N=2000,), i32: [7, 7, 7, 7, 7, 7, 7, 7, …]"
    );
}

#[test]
fn a_cube_has_a_blank_line_between_matrices() {
    let options = DynTensor::options().dtype(DType::I32);
    let cube = options
        .full(&[2, 1, 2], Scalar::Int(7), ["A", "B", "C"])
        .unwrap();
    assert_eq!(
        shown(&cube),
        "[[[7 7]]\n\n [[7 7]]]\ndims (A=2, B=1, C=2), i32"
    );
}

#[test]
fn a_view_shows_its_own_elements() {
    let x = DynTensor::from_vec(vec![1i64, 2, 3, 4], &[2, 2], ["N", "C"]).unwrap();
    let t = x.transpose("N", "C").unwrap();
    assert_eq!(shown(&t), "[[1 3]\n [2 4]]\ndims (C=2, N=2), i64");
}
