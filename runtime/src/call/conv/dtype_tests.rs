//! Transposed convolutions and columns of every dtype against those of wide numbers. All sums are exact.

use nomina_core::DType;
use nomina_core::op::Op;

use super::tests::numbers;
use super::*;
use crate::call::to_dtype;

const SITES: ConvSites<'_> = ConvSites {
    channel: 1,
    spatial: &[2, 3],
    out: 1,
    weight_channel: 0,
    kernel: &[2, 3],
};

/// Signs, of which 16-bit floats hold the sums.
fn signs(shape: &[usize], seed: usize, dtype: DType) -> Raw {
    let x = numbers(shape, seed).to_vec::<f32>().unwrap();
    let signs = x
        .into_iter()
        .map(|x| if x == 0.0 { 0.0 } else { x.signum() });
    to_dtype(&Raw::from_vec(signs.collect(), shape).unwrap(), dtype).unwrap()
}

fn assert_same(case: &str, got: &Raw, want: &Raw) {
    let dtype = got.dtype();
    // A conversion to the narrow dtype wraps integers, as sums do.
    let want = to_dtype(want, dtype).unwrap();
    let [got, want] = [got, &want].map(|x| to_dtype(x, DType::C128).unwrap());
    let [got, want] = [got, want].map(|x| x.to_vec::<num_complex::Complex<f64>>().unwrap());
    assert_eq!(got, want, "{case} of {dtype}");
}

#[test]
fn every_dtype_is_computed_like_a_wide_one() {
    // Channels, groups, kernel, stride, dilation, padding.
    let cases = [
        [6, 1, 3, 1, 1, 1],
        [6, 2, 3, 2, 2, 1],
        [8, 1, 2, 3, 1, 0],
        [4, 4, 3, 2, 1, 1],
        [3, 1, 5, 1, 2, 0],
        [40, 1, 3, 1, 1, 1],
    ];
    let dtypes = DType::ALL.into_iter().filter(|&dtype| dtype != DType::Bool);
    for (dtype, [channels, groups, kernel, stride, dilation, padding]) in
        dtypes.flat_map(|dtype| cases.map(|case| (dtype, case)))
    {
        let wide = if dtype.is_integral() {
            DType::I64
        } else {
            DType::C128
        };
        let up = |x: &Raw| to_dtype(x, wide).unwrap();
        let x = signs(&[2, channels, 11, 18], 1, dtype);
        let w = signs(&[channels, 5, kernel, kernel], 2, dtype);
        let bias = signs(&[5 * groups], 3, dtype);
        let args = TransposedArgs {
            stride: &[stride; 2],
            padding: &[padding; 2],
            output_padding: &[0; 2],
            groups,
            dilation: &[dilation; 2],
        };
        for bias in [None, Some(&bias)] {
            let transposed = |x: &Raw, w: &Raw, bias: Option<&Raw>| {
                conv_transpose(Op::ConvTranspose2d, x, w, bias, &SITES, &args).unwrap()
            };
            let want = transposed(&up(&x), &up(&w), bias.map(up).as_ref());
            assert_same("transpose", &transposed(&x, &w, bias), &want);
        }
        let columns = Columns {
            kernel: &[kernel; 2],
            dilation: &[dilation; 2],
            padding: &[padding; 2],
            stride: &[stride; 2],
        };
        let lowered = im2col(&x, &columns).unwrap();
        assert_same("im2col", &lowered, &im2col(&up(&x), &columns).unwrap());
        let want = fold(&up(&lowered), &[11, 18], &columns).unwrap();
        assert_same("fold", &fold(&lowered, &[11, 18], &columns).unwrap(), &want);
    }
}
