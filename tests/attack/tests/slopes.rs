//! Derivatives: at the ends of a dtype's range, next to infinite and zero elements, of fill values.

use nomina::dynamic::{grad, gradients, hessian};
use nomina::{DType, DynTensor, Result};

type Function = fn(&DynTensor) -> Result<DynTensor>;

fn row(values: &[f64], dtype: DType) -> DynTensor {
    let x = DynTensor::from_vec(values.to_vec(), &[values.len()], ()).unwrap();
    x.to_dtype(dtype).unwrap()
}

fn numbers(x: &DynTensor) -> Vec<f64> {
    x.to_dtype(DType::F64).unwrap().to_vec().unwrap()
}

fn slope(f: Function, x: f64, dtype: DType) -> f64 {
    let found = grad(|x| f(x)?.sum(..), &row(&[x], dtype)).unwrap();
    numbers(&found)[0]
}

fn bend(f: Function, x: f64, dtype: DType) -> f64 {
    let found = hessian(|x| f(x)?.sum(..), &row(&[x], dtype)).unwrap();
    numbers(&found)[0]
}

fn gelu_tanh(x: &DynTensor) -> Result<DynTensor> {
    let approximate = nomina::Approximate::Tanh;
    x.gelu_with(nomina::GeluOptions { approximate })
}

fn is_near(got: f64, wanted: f64, share: f64) -> bool {
    got == wanted || (got - wanted).abs() <= share * wanted.abs()
}

/// First and second derivatives, computed with 60 digits.
#[test]
fn slopes_in_every_dtype() {
    let all: &[(&str, Function, f64, f64, f64)] = &[
        (
            "gelu_tanh",
            gelu_tanh,
            1.5,
            1.1277107931514332,
            -0.030518196484224946,
        ),
        (
            "gelu_tanh",
            gelu_tanh,
            -2.0,
            -0.08609925662361838,
            -0.10787507995107845,
        ),
        (
            "asinh",
            DynTensor::asinh,
            3.0,
            0.31622776601683794,
            -0.09486832980505137,
        ),
        ("atan", DynTensor::atan, 2.0, 0.2, -0.16),
        (
            "sinc",
            DynTensor::sinc,
            0.5,
            -1.2732395447351628,
            -1.1902271282389358,
        ),
        (
            "sinc",
            DynTensor::sinc,
            2.25,
            0.2698096155319418,
            -1.2271380889524741,
        ),
        (
            "erfcx",
            DynTensor::erfcx,
            2.0,
            -0.1067964618534896,
            0.0836055052070531,
        ),
        (
            "erfcx",
            DynTensor::erfcx,
            50.0,
            -0.00022554056313532387,
            9.016217115157223e-06,
        ),
        (
            "i0e",
            DynTensor::i0e,
            1.5,
            -0.14839422163323265,
            0.15076218498584823,
        ),
        (
            "i0e",
            DynTensor::i0e,
            100.0,
            -0.00020022627396642996,
            3.011017681557421e-06,
        ),
        (
            "i1e",
            DynTensor::i1e,
            2.0,
            -0.014395611319735449,
            -0.01782829401289579,
        ),
        (
            "i1e",
            DynTensor::i1e,
            100.0,
            -0.00019721525628487254,
            2.9355501838043295e-06,
        ),
        (
            "i1",
            DynTensor::i1,
            0.5,
            0.5476947599595309,
            0.1940820070354198,
        ),
        (
            "i1",
            DynTensor::i1,
            3.0,
            3.5630025133974876,
            3.204966070425959,
        ),
        (
            "rsqrt",
            DynTensor::rsqrt,
            2.0,
            -0.1767766952966369,
            0.13258252147247765,
        ),
        (
            "erf",
            DynTensor::erf,
            1.5,
            0.11893028922362937,
            -0.35679086767088813,
        ),
        (
            "silu",
            DynTensor::silu,
            -3.0,
            -0.08810410601516962,
            -0.032321404521006174,
        ),
        (
            "silu",
            DynTensor::silu,
            2.0,
            1.0907842487848955,
            0.05006216869470691,
        ),
        (
            "log_ndtr",
            DynTensor::log_ndtr,
            -5.0,
            5.186503967125842,
            -0.9673035653828878,
        ),
        (
            "log_ndtr",
            DynTensor::log_ndtr,
            3.0,
            0.004437839042125664,
            -0.013333211541740806,
        ),
    ];
    let kinds = [
        (DType::F64, 1e-11, 0.0),
        (DType::F32, 4e-6, 0.0),
        (DType::F16, 1e-3, 6e-8),
        (DType::BF16, 8e-3, 0.0),
    ];
    for &(name, f, x, first, second) in all {
        for (dtype, share, least) in kinds {
            for (got, wanted) in [(slope(f, x, dtype), first), (bend(f, x, dtype), second)] {
                let near = is_near(got, wanted, share) || (got - wanted).abs() <= least;
                assert!(near, "{name}({x}) of {dtype}: {got}, not {wanted}");
            }
        }
    }
}

/// Intermediate results overflow or underflow although the derivative does not.
#[test]
fn slopes_at_the_ends_of_the_range() {
    let near = |f: Function, x: f64, dtype: DType, wanted: [f64; 2]| {
        for (got, wanted) in [slope(f, x, dtype), bend(f, x, dtype)]
            .into_iter()
            .zip(wanted)
        {
            assert!(
                is_near(got, wanted, 1e-3),
                "at {x} of {dtype}: {got}, not {wanted}"
            );
        }
    };
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        for x in [600.0, 6e4] {
            near(gelu_tanh, x, dtype, [1.0, 0.0]);
            near(gelu_tanh, -x, dtype, [0.0, 0.0]);
        }
        for f in [
            DynTensor::gelu,
            DynTensor::silu,
            DynTensor::mish,
            gelu_tanh,
            DynTensor::hardswish,
        ] {
            let infinite = row(&[f64::NEG_INFINITY], dtype);
            assert_eq!(numbers(&f(&infinite).unwrap()), [0.0]);
            near(f, f64::NEG_INFINITY, dtype, [0.0, 0.0]);
            near(f, f64::INFINITY, dtype, [1.0, 0.0]);
        }
        let both = row(&[f64::INFINITY, f64::NEG_INFINITY], dtype);
        assert_eq!(numbers(&both.softsign().unwrap()), [1.0, -1.0]);
        near(DynTensor::softsign, f64::INFINITY, dtype, [0.0, 0.0]);
        for f in [
            DynTensor::asinh,
            DynTensor::atan,
            DynTensor::erf,
            DynTensor::i0e,
        ] {
            near(f, f64::INFINITY, dtype, [0.0, 0.0]);
        }
    }
    near(gelu_tanh, 5e19, DType::F32, [1.0, 0.0]);
    near(DynTensor::asinh, 1e15, DType::F32, [1e-15, -1e-30]);
    near(DynTensor::asinh, 1e30, DType::F32, [1e-30, 0.0]);
    near(DynTensor::atan, 1e10, DType::F32, [1e-20, -2e-30]);
    near(
        DynTensor::sinc,
        1e-12,
        DType::F32,
        [-3.289868e-12, -3.289868],
    );
    near(DynTensor::sinc, 0.0, DType::F64, [0.0, -3.289868]);
    near(DynTensor::i1, 0.0, DType::F32, [0.5, 0.0]);
    near(DynTensor::i1e, 0.0, DType::F32, [0.5, 0.0]);
    near(DynTensor::sgn, 0.0, DType::F32, [0.0, 0.0]);
    near(|x| x.pow(0.0), 0.0, DType::F32, [0.0, 0.0]);
    near(DynTensor::log_ndtr, 100.0, DType::F32, [0.0, 0.0]);
    let far = |x: &DynTensor| x.logaddexp(&DynTensor::from_vec(vec![-1000.0_f32], &[1], ())?);
    near(far, 1000.0, DType::F32, [1.0, 0.0]);
    let signed = |x: &DynTensor| x.copysign(&DynTensor::from_vec(vec![-1.0_f32], &[1], ())?);
    near(signed, 2.0, DType::F32, [-1.0, 0.0]);
    near(signed, 0.0, DType::F32, [0.0, 0.0]);
}

/// Next to elements that are ignored.
#[test]
fn what_is_left_out_has_no_slope() {
    let x = row(&[1.0, f64::NAN, 4.0], DType::F64);
    let second = hessian(|x| x.nanstd(..), &x).unwrap();
    assert!(numbers(&second).iter().all(|number| number.is_finite()));
    let x = row(&[f64::NEG_INFINITY, 0.0, 0.0], DType::F64);
    let first = grad(|x| x.logcumsumexp(0)?.sum(..), &x).unwrap();
    assert_eq!(numbers(&first), [0.0, 1.5, 0.5]);
}

/// A neighbour with weight zero, and ends whose difference overflows.
#[test]
fn between_infinite_ends() {
    let value = |x: &[f64], q: f64| {
        let x = row(x, DType::F32);
        x.quantile(q, 0).unwrap().item().unwrap().to_f64()
    };
    for q in [0.1, 0.4, 0.6, 0.9] {
        assert_eq!(value(&[0.0, f64::INFINITY], q), f64::INFINITY);
    }
    assert!(is_near(value(&[-3e38, 3e38], 0.75), 1.5e38, 1e-5));
    let (low, high) = (
        row(&[-3e38, 0.0, 1.0], DType::F32),
        row(&[3e38, f64::INFINITY, 1.0], DType::F32),
    );
    let found = numbers(&low.lerp(&high, 0.0).unwrap());
    assert_eq!(found[1..], [0.0, 1.0]);
    assert!(is_near(
        numbers(&low.lerp(&high, 0.75).unwrap())[0],
        1.5e38,
        1e-5
    ));
}

/// A value excluded by a mask may be infinite or NaN.
#[test]
fn masked_values_take_no_part() {
    let matrix = |values: &[f64]| row(values, DType::F32).reshape(&[2, 2]).unwrap();
    for bad in [f64::NAN, f64::INFINITY] {
        let query = matrix(&[1.0, 0.0, 0.0, 1.0]);
        let (key, value) = (matrix(&[1.0, 2.0, bad, bad]), matrix(&[3.0, 4.0, bad, bad]));
        let mask = DynTensor::from_vec(vec![true, false], &[1, 2], ()).unwrap();
        let attend = |query: &DynTensor| {
            query.scaled_dot_product_attention_with(
                &key,
                &value,
                &mask,
                nomina::AttentionOptions::default(),
            )
        };
        assert_eq!(numbers(&attend(&query).unwrap()), [3.0, 4.0, 3.0, 4.0]);
        let back = grad(|query| attend(query)?.sum(..), &query).unwrap();
        assert_eq!(numbers(&back), [0.0; 4]);
    }
}

/// A fill value has a gradient: the sum over the elements it filled.
#[test]
fn filled_values_have_gradients() {
    let fills: [(&str, Function, f64); 5] = [
        (
            "fill_",
            |v| {
                let mut x = DynTensor::zeros(&[2, 3], ())?;
                x.fill_(v)?;
                Ok(x)
            },
            6.0,
        ),
        (
            "fill_ of a part",
            |v| {
                let mut x = DynTensor::zeros(&[2, 3], ())?;
                x.select_mut(0, 1)?.fill_(v)?;
                Ok(x)
            },
            3.0,
        ),
        (
            "index_fill",
            |v| {
                let index = DynTensor::from_vec(vec![0_i64, 2], &[2], ())?;
                DynTensor::zeros(&[2, 3], ())?.index_fill(1, &index, v)
            },
            4.0,
        ),
        (
            "masked_fill",
            |v| {
                let mask = DynTensor::from_vec(vec![true, false, true], &[3], ())?;
                DynTensor::zeros(&[2, 3], ())?.masked_fill(&mask, v)
            },
            4.0,
        ),
        (
            "masked_fill_",
            |v| {
                let mask = DynTensor::from_vec(vec![true, false, true], &[3], ())?;
                let mut x = DynTensor::zeros(&[2, 3], ())?;
                x.masked_fill_(&mask, v)?;
                Ok(x)
            },
            4.0,
        ),
    ];
    for (name, fill, wanted) in fills {
        let mut value = DynTensor::from_vec(vec![2.0_f64], &[], ()).unwrap();
        value.requires_grad_().unwrap();
        let filled = fill(&value).unwrap();
        let found = gradients(&filled.mul(&filled).unwrap().sum(..).unwrap(), &[&value]).unwrap();
        assert!(
            is_near(numbers(&found[0])[0], 4.0 * wanted, 1e-6),
            "{name}: {found:?}"
        );
    }
}
