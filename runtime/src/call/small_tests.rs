use nomina_core::{DType, Scalar};

use super::super::{duplicate, pointwise, pointwise_unlike};
use super::*;
use crate::cpu::parallel::{GRAIN, UNTIMED};

fn tensor(shape: &[usize], start: f32) -> Raw {
    let count: usize = shape.iter().product();
    let data: Vec<f32> = (0..count).map(|i| start + i as f32 * 0.5).collect();
    Raw::from_vec(data, shape).unwrap()
}

fn bits(x: &Raw) -> (Vec<u32>, Vec<usize>, Vec<isize>, usize) {
    let data = x.to_vec::<f32>().unwrap();
    let bits = data.iter().map(|x| x.to_bits()).collect();
    (bits, x.shape().into(), x.strides().into(), x.offset())
}

/// Both operands in both orders, new and into each of them, against the way that asks for everything.
#[test]
fn every_way_gives_what_the_others_give() {
    let pairs: &[(&[usize], &[usize])] = &[
        (&[4, 4], &[4, 4]),
        (&[4, 4], &[4]),
        (&[4, 4], &[4, 1]),
        (&[4, 4], &[1]),
        (&[4, 4], &[]),
        (&[], &[]),
        (&[1, 3], &[3]),
        (&[2, 3, 5], &[3, 5]),
        (&[2, 3, 5], &[5]),
        (&[7], &[1, 7]),
        (&[70, 90], &[70, 90]),
    ];
    for &(x, y) in pairs {
        let (x, y) = (tensor(x, 1.0), tensor(y, -7.0));
        for (x, y) in [(&x, &y), (&y, &x)] {
            for op in [Op::Sub, Op::Maximum, Op::Atan2] {
                let args = [Arg::Tensor(x), Arg::Tensor(y)];
                let wanted = bits(&pointwise_unlike(op, &args).unwrap());
                match small_binary(op, args[0], args[1]) {
                    Some(made) => assert_eq!(bits(&made), wanted, "{op:?}"),
                    // A slow function of many.
                    None => assert!(op == Op::Atan2 && x.numel() >= UNTIMED),
                }
                let (mut first, mut second) = (duplicate(x).unwrap(), duplicate(y).unwrap());
                // Loops that write over their first operand cover all of its elements.
                let fits = x.shape() == wanted.1 && (op != Op::Atan2 || x.numel() <= 64);
                let done = small_binary_in_place(op, &mut first, args[1], false);
                assert_eq!(done, fits, "{op:?}");
                assert_eq!(bits(&first), if done { wanted.clone() } else { bits(x) });
                let done = small_binary_in_place(op, &mut second, args[0], true);
                assert_eq!(done, y.shape() == wanted.1 && y.numel() <= 64, "{op:?}");
                assert_eq!(bits(&second), if done { wanted.clone() } else { bits(y) });
            }
        }
        let number = Arg::Scalar(Scalar::Float(2.5));
        for args in [[Arg::Tensor(&x), number], [number, Arg::Tensor(&x)]] {
            let wanted = bits(&pointwise_unlike(Op::Div, &args).unwrap());
            match small_binary(Op::Div, args[0], args[1]) {
                Some(made) => assert_eq!(bits(&made), wanted),
                None => assert!(x.numel() > 64),
            }
            let mut own = duplicate(&x).unwrap();
            let behind = matches!(args[0], Arg::Scalar(_));
            let done = small_binary_in_place(Op::Div, &mut own, number, behind);
            assert_eq!(done, x.numel() <= 64);
            assert_eq!(bits(&own), if done { wanted } else { bits(&x) });
        }
        let wanted = bits(&pointwise_unlike(Op::Exp, &[Arg::Tensor(&x)]).unwrap());
        assert_eq!(bits(&small_unary(Op::Exp, &x).expect("small")), wanted);
    }
}

#[test]
fn parts_of_a_buffer_are_read_where_they_begin() {
    let x = tensor(&[3, 4], 0.0);
    let (row, last) = (x.select(0, 1).unwrap(), x.select(0, 2).unwrap());
    let sum = small_binary(Op::Add, (&row).into(), (&last).into()).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [6.0, 7.0, 8.0, 9.0]);
    assert_eq!((sum.offset(), sum.nbytes()), (0, 16));
    assert!(sum.fills_buffer(sum.numel()));
    let less = small_binary(Op::Sub, (&x).into(), (&last).into()).unwrap();
    assert_eq!(
        less.to_vec::<f32>().unwrap()[..5],
        [-4.0, -4.0, -4.0, -4.0, -2.0]
    );
    // All of the buffer would be kept for it.
    let mut part = row;
    drop((x, last));
    assert!(part.is_unique());
    assert!(!small_binary_in_place(
        Op::Add,
        &mut part,
        Arg::Scalar(Scalar::Float(1.0)),
        false
    ));
    assert!(!small_unary_in_place(Op::Neg, &mut part));
}

#[test]
fn what_others_see_is_not_written_to() {
    let mut x = tensor(&[4], 0.0);
    let other = x.clone();
    assert!(!small_unary_in_place(Op::Neg, &mut x));
    assert!(!small_binary_in_place(
        Op::Add,
        &mut x,
        (&other).into(),
        false
    ));
    drop(other);
    assert!(small_unary_in_place(Op::Neg, &mut x));
    assert_eq!(x.to_vec::<f32>().unwrap(), [-0.0, -0.5, -1.0, -1.5]);
}

#[test]
fn what_is_of_another_kind_goes_another_way() {
    let x = tensor(&[2, 2], 1.0);
    let whole = Raw::from_vec(vec![1_i32; 4], &[2, 2]).unwrap();
    let turned = x.transpose(0, 1).unwrap();
    let none = tensor(&[0, 2], 0.0);
    let middle = tensor(&[1, 2, 1], 0.0);
    let three = tensor(&[3], 0.0);
    let long = tensor(&[1 << 13], 0.0);
    let many = tensor(&[1, 1, 1, 1, 2, 2], 0.0);
    for other in [&whole, &turned, &none, &middle, &three] {
        assert!(small_binary(Op::Add, (&x).into(), other.into()).is_none());
        assert!(small_binary(Op::Add, other.into(), (&x).into()).is_none());
        let mut own = duplicate(&x).unwrap();
        assert!(!small_binary_in_place(
            Op::Add,
            &mut own,
            other.into(),
            false
        ));
    }
    for alone in [&none, &long, &many, &turned] {
        assert!(small_unary(Op::Exp, alone).is_none());
        assert!(small_binary(Op::Add, alone.into(), alone.into()).is_none());
    }
    // These look at elements first, compute in another dtype, or give one.
    assert!(small_binary(Op::Fmod, (&whole).into(), (&whole).into()).is_none());
    assert!(small_binary(Op::Div, (&whole).into(), (&whole).into()).is_none());
    assert!(small_unary(Op::Exp, &whole).is_none());
    assert!(small_binary(Op::Add, (&whole).into(), Arg::Scalar(Scalar::Float(1.0))).is_none());
    let numbers = [Arg::Scalar(Scalar::Int(1)); 2];
    assert!(small_binary(Op::Add, numbers[0], numbers[1]).is_none());
    // Another number of operands than the operator takes.
    assert!(small_unary(Op::Add, &x).is_none());
    assert!(small_binary(Op::Exp, (&x).into(), (&x).into()).is_none());
    // Another dtype, so no operand is overwritten.
    let mut own = duplicate(&x).unwrap();
    assert!(!small_binary_in_place(Op::Lt, &mut own, (&x).into(), false));
    let less = small_binary(Op::Lt, (&x).into(), (&own).into()).unwrap();
    assert_eq!(
        (less.dtype(), less.to_vec::<bool>().unwrap()),
        (DType::Bool, vec![false; 4])
    );
    // And the way there is for what is refused here.
    let sum = pointwise(Op::Add, &[(&many).into(), (&many).into()]).unwrap();
    assert_eq!(sum.to_vec::<f32>().unwrap(), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn many_elements_go_the_way_of_several_threads() {
    for (count, here) in [(GRAIN, true), (GRAIN + 1, false)] {
        let (mut own, other) = (tensor(&[count], 1.0), tensor(&[count], 2.0));
        let before = bits(&own);
        assert_eq!(
            small_binary_in_place(Op::Add, &mut own, Arg::Tensor(&other), false),
            here
        );
        assert_eq!(bits(&own) == before, !here);
        assert_eq!(small_unary_in_place(Op::Neg, &mut own), here);
    }
}
