//! The entries of `call`, which validate their arguments: dims, steps of programs, operators, formats.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, MemoryFormat, Names, Result, Scalar};
use nomina_runtime::call::{self, Affine, Node, Target, Update};
use nomina_runtime::raw::RawCoo;
use nomina_runtime::{Device, DynTensor, Raw};

fn counted(shape: &[usize]) -> Raw {
    let count: usize = shape.iter().product();
    Raw::from_vec((0..count).map(|i| i as f32).collect(), shape).unwrap()
}

fn numbers(all: &[i64]) -> Raw {
    Raw::from_vec(all.to_vec(), &[all.len()]).unwrap()
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("a result"),
        Err(error) => error.kind(),
    }
}

/// An offset that is counted twice is beyond the end of the buffer.
#[test]
fn indices_of_one_dim_stand_once() {
    let (x, at) = (counted(&[4, 3]), numbers(&[3, 3]));
    let values = counted(&[2, 3]);
    for (dims, wrong) in [
        (&[0, 0][..], ErrorKind::Argument),
        (&[1, 0], ErrorKind::Argument),
        (&[0], ErrorKind::Argument),
        (&[0, 2], ErrorKind::Index),
        (&[usize::MAX, 0], ErrorKind::Argument),
        (&[0, usize::MAX], ErrorKind::Index),
    ] {
        let indices = [&at, &at];
        assert_eq!(kind(call::index(&x, dims, &indices)), wrong, "{dims:?}");
        let mut own = counted(&[4, 3]);
        let dest = own.as_mut().unwrap();
        let put = call::index_put(dest, dims, &indices, &values, Update::Set);
        assert_eq!(kind(put), wrong, "{dims:?}");
        assert!(call::equal(&own, &x).unwrap());
    }
    assert_eq!(kind(call::index(&x, &[2], &[&at])), ErrorKind::Index);
}

/// If a dim counted twice, there would be more rows than room for them.
#[test]
fn rows_lie_along_dims_that_stand_once() {
    let x = counted(&[4, 3]);
    let along = |dims: &[usize]| {
        call::normalize(
            Op::LayerNorm,
            &x,
            dims,
            (false, 1e-5),
            Affine::default(),
            true,
        )
    };
    assert_eq!(kind(along(&[1, 1])), ErrorKind::Argument);
    assert_eq!(kind(along(&[0, 1, 0])), ErrorKind::Argument);
    assert_eq!(kind(along(&[2])), ErrorKind::Index);
    assert!(along(&[1, 0]).is_ok());
}

#[test]
fn steps_read_what_is_there() {
    let x = counted(&[2, 2]);
    let one = [Scalar::Int(1)];
    for step in [
        Node::Apply(Op::Add, &[0, 2]),
        Node::Apply(Op::Add, &[0, 15]),
        Node::Apply(Op::Add, &[0, usize::MAX]),
        Node::To(DType::F32, 1),
        Node::To(DType::F32, 9),
        Node::Tensor(1),
        Node::Scalar(usize::MAX),
    ] {
        let program = [Node::Tensor(0), step, Node::Apply(Op::Add, &[0, 1])];
        assert!(call::fused_small(&program, &[&x], &one).is_none());
        let fused = call::fused(&program, &[&x], &one);
        assert_eq!(kind(fused), ErrorKind::Argument, "{step:?}");
        let program = [Node::Tensor(0), step];
        assert!(call::fused_small(&program, &[&x], &one).is_none());
        let sum = call::FusedReduction {
            op: Op::Sum,
            dims: &[0],
            keepdim: false,
        };
        let reduced = call::fused_reduce(&program, &[&x], &one, None, sum);
        assert_eq!(kind(reduced), ErrorKind::Argument, "{step:?}");
    }
}

/// With fewer dims than the tensor, an index would read beyond the tensor's end.
#[test]
fn an_index_has_a_dim_for_each_of_the_tensors() {
    let (x, flat, values) = (counted(&[4, 3]), numbers(&[1, 2]), counted(&[2]));
    assert_eq!(
        kind(call::gather(Op::Gather, &x, 0, &flat)),
        ErrorKind::Rank
    );
    let row = flat.unsqueeze(0).unwrap();
    assert_eq!(
        kind(call::gather(Op::Gather, &x, 2, &row)),
        ErrorKind::Index
    );
    let mut own = counted(&[4, 3]);
    let dest = own.as_mut().unwrap();
    let put = call::scatter(Op::Scatter, dest, 0, &flat, &values, Update::Add);
    assert_eq!(kind(put), ErrorKind::Rank);
    let dest = own.as_mut().unwrap();
    let put = call::index_update(Op::IndexAdd, dest, 9, &flat, &values, Update::Add, true);
    assert_eq!(kind(put), ErrorKind::Index);
    let at = Target {
        dim: 2,
        index: &flat,
        slices: true,
    };
    let sum = call::ScatterReduce::Sum;
    let reduced = call::reduced(Op::IndexReduce, &mut own, at, &values, sum, true);
    assert_eq!(kind(reduced), ErrorKind::Index);
    assert!(call::equal(&own, &x).unwrap());
}

/// An operator of another entry has different dtypes, and no kernel here.
#[test]
fn an_entry_takes_its_own_operators() {
    let x = counted(&[4, 3]);
    let refused = [
        kind(call::reduce(
            Op::Sin,
            &x,
            &[0],
            false,
            call::ReduceOptions::default(),
        )),
        kind(call::arg_reduce(Op::Sum, &x, 0, false)),
        kind(call::arg_position(Op::Max, &x, None, false)),
        kind(call::scan(Op::Sum, &x, 0, None)),
        kind(call::softmax(Op::Cumsum, &x, 0, None)),
    ];
    assert_eq!(refused, [ErrorKind::Argument; 5]);
    let complex = call::to_dtype(&x, DType::C128).unwrap();
    let refused = [
        kind(call::sort(Op::Add, &complex, 0, false)),
        kind(call::topk(Op::Add, &complex, 1, 0, true)),
        kind(call::typical(Op::Add, &complex, 0, false)),
        kind(call::typical_of_all(Op::Add, &complex)),
        kind(call::running_extreme(Op::Add, &complex, 0)),
        kind(call::unique(Op::Add, &complex, None, false)),
    ];
    assert_eq!(refused, [ErrorKind::DType; 6]);
    let many = [
        x.clone(),
        x.clone(),
        x.clone(),
        x.clone(),
        x.clone(),
        x.clone(),
    ];
    let args: Vec<call::Arg<'_>> = many.iter().map(call::Arg::from).collect();
    assert_eq!(kind(call::pointwise(Op::Add, &args)), ErrorKind::Argument);
}

/// The strides of a format address one element per size, from the start of the buffer.
#[test]
fn a_format_is_for_a_new_tensor() {
    let format = MemoryFormat::ChannelsLast;
    let one = counted(&[1, 1, 1, 1]).expand(&[2, 3, 4, 5]).unwrap();
    assert_eq!(
        kind(one.clone().in_format("zeros", format)),
        ErrorKind::Layout
    );
    let part = counted(&[3, 3, 4, 5]).narrow(0, 1, 2).unwrap();
    assert_eq!(kind(part.in_format("zeros", format)), ErrorKind::Layout);
    let small = counted(&[2, 2]);
    assert_eq!(
        kind(small.in_format_like("zeros", &one, format)),
        ErrorKind::Layout
    );
    let fits = counted(&[2, 3, 4, 5]).in_format("zeros", format).unwrap();
    assert_eq!(fits.strides(), [60, 1, 15, 3]);
}

#[test]
fn no_dim_is_there_by_its_number_alone() {
    let x = counted(&[2, 3]);
    assert_eq!(kind(call::roll(&x, 1, 2)), ErrorKind::Index);
    assert_eq!(kind(call::roll(&counted(&[]), 1, 0)), ErrorKind::Index);
    assert_eq!(
        kind(call::interleave("repeat_interleave", &x, usize::MAX, 2)),
        ErrorKind::Index
    );
    assert_eq!(
        kind(call::linear(&x, &x, None, usize::MAX, None)),
        ErrorKind::Index
    );
    let sparse = RawCoo::new(
        "sparse",
        &Raw::from_vec(vec![0_i64; 2], &[2, 1]).unwrap(),
        &numbers(&[5]),
        None,
    )
    .unwrap();
    for order in [&[0, 0][..], &[0], &[0, 1, 2], &[2, 0]] {
        assert!(
            call::sparse_permute("permute", &sparse, order).is_err(),
            "{order:?}"
        );
    }
    let letters = [&[0, usize::MAX][..], &[0, 1 << 40]];
    for own in letters {
        assert_eq!(kind(call::einsum(&[&x], &[own], &[0])), ErrorKind::Argument);
    }
}

/// Empty tensors take no time, whatever their sizes.
#[test]
fn nothing_is_not_counted_one_by_one() {
    let long = 1 << 50;
    let none = counted(&[1, 0]).expand(&[long, 0]).unwrap();
    let twice = numbers(&[0]);
    assert_eq!(
        call::repeated_places("repeat_interleave", &twice, long)
            .unwrap()
            .numel(),
        0
    );
    for offset in [0, 5, i64::MIN, i64::MAX] {
        for (sizes, upper) in [((long, 0), false), ((0, long), true), ((long, 3), true)] {
            let all = call::triangle_indices(
                "tril_indices",
                sizes,
                offset,
                upper,
                DType::I64,
                Device::Cpu,
            );
            if let Ok(all) = all {
                assert!(all.numel() <= 16, "{sizes:?} {offset}");
            }
        }
    }
    assert_eq!(call::diff(&none, 1 << 49, 0).unwrap().shape(), [1 << 49, 0]);
    assert_eq!(
        kind(call::unique(Op::UniqueConsecutive, &none, Some(0), true)),
        ErrorKind::Memory
    );
    let shown = DynTensor::from_parts(none, Names::unnamed(2))
        .unwrap()
        .to_string();
    assert!(shown.len() < 1000, "{shown}");
}

#[test]
fn a_spline_starts_anywhere() {
    let x = counted(&[1, 1, 4]);
    for factor in [f64::MIN_POSITIVE, 1e-300, 1e300] {
        let resize = call::Resize {
            dim: 2,
            size: 3,
            factor: Some(factor),
        };
        let out = call::interpolate(&x, &[resize], call::InterpolateMode::Cubic, false).unwrap();
        assert_eq!(out.shape(), [1, 1, 3]);
    }
}
