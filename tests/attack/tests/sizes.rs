//! Sizes: of views that repeat elements, of empty tensors, of the scratch memory of kernels.

use nomina::{DType, DynTensor, ErrorKind, Result};

const ALL: [DType; 12] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

fn ones(shape: &[usize], dtype: DType) -> DynTensor {
    DynTensor::ones(shape, ()).unwrap().to_dtype(dtype).unwrap()
}

/// Returns one element, expanded to any shape.
fn repeated(shape: &[i64], dtype: DType) -> Result<DynTensor> {
    ones(&vec![1; shape.len()], dtype).expand(shape)
}

fn kind<T>(result: Result<T>) -> ErrorKind {
    match result {
        Ok(_) => panic!("a result"),
        Err(error) => error.kind(),
    }
}

#[test]
fn views_have_a_limit_in_every_dtype() {
    for dtype in ALL {
        for bits in 55..63 {
            assert_eq!(kind(repeated(&[1 << bits], dtype)), ErrorKind::Shape);
            assert_eq!(
                kind(repeated(&[1 << (bits - 20), 1 << 20], dtype)),
                ErrorKind::Shape
            );
            // Also if another size is zero.
            let none = ones(&[1, 0], dtype);
            assert_eq!(kind(none.expand(&[1 << bits, 0])), ErrorKind::Shape);
            let x = ones(&[1], dtype);
            assert_eq!(kind(x.as_strided(&[1 << bits], &[0], 0)), ErrorKind::Shape);
            assert_eq!(
                kind(x.as_strided(&[1 << bits, 0], &[0, 1], 0)),
                ErrorKind::Shape
            );
            let sizes = [1 << bits, 2];
            assert_eq!(kind(DynTensor::zeros(&sizes, ())), ErrorKind::Shape);
        }
        let most = repeated(&[(1 << 55) - 1], dtype).unwrap();
        assert_eq!(most.numel(), (1 << 55) - 1);
        assert!(most.unsqueeze(0, None).unwrap().expand(&[2, -1]).is_err());
    }
}

/// Products pack a vector that they read often: with this many elements, packing exceeds any memory.
#[test]
fn products_of_views_that_no_memory_holds_are_refused() {
    for bits in [50, 52, 54] {
        for dtype in [DType::F32, DType::F64, DType::C64, DType::C128, DType::I64] {
            let long = 1 << bits;
            let x = repeated(&[long], dtype).unwrap();
            let row = repeated(&[1, long], dtype).unwrap();
            let column = repeated(&[long, 1], dtype).unwrap();
            let matrix = repeated(&[long >> 4, 1 << 4], dtype).unwrap();
            let one = ones(&[1, 1], dtype);
            let refused = [
                kind(x.outer(&x)),
                kind(matrix.matmul(&matrix.t().unwrap())),
                kind(column.matmul(&row)),
                kind(column.addmm(&column, &row)),
                kind(x.kron(&x)),
                kind(x.repeat(&[2])),
                kind(x.to_dtype(DType::U8).and_then(|x| x.add(&one))),
            ];
            for kind in refused {
                assert!(
                    matches!(kind, ErrorKind::Memory | ErrorKind::Shape),
                    "{kind:?}"
                );
            }
        }
    }
}

/// Scratch memory is refused at any size.
#[test]
fn scratch_that_no_memory_holds_is_refused() {
    for bits in [47, 50, 54] {
        let x = repeated(&[1 << bits], DType::F32).unwrap();
        let refused = [
            kind(x.median(..).map(drop)),
            kind(x.kthvalue(1, -1).map(drop)),
            kind(x.mode(-1).map(drop)),
            kind(x.topk(1, -1).map(drop)),
        ];
        for kind in refused {
            assert_eq!(kind, ErrorKind::Memory);
        }
    }
}

/// A matrix times a vector: packing a long operand is refused, and short operands are not packed.
#[test]
fn inner_products_of_views_are_refused_or_right() {
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128, DType::I64] {
        let x = repeated(&[1 << 54], dtype).unwrap();
        let matrix = repeated(&[3, 1 << 52], dtype).unwrap();
        let vector = repeated(&[1 << 52], dtype).unwrap();
        let bias = ones(&[3], dtype);
        let refused = [
            kind(x.dot(&x)),
            kind(x.vdot(&x)),
            kind(x.inner(&x)),
            kind(matrix.mv(&vector)),
            kind(matrix.matmul(&vector)),
            kind(bias.addmv(&matrix, &vector)),
            kind(DynTensor::einsum("ij,j->i", &[&matrix, &vector])),
        ];
        for kind in refused {
            assert_eq!(kind, ErrorKind::Memory);
        }
        let four = repeated(&[4], dtype).unwrap();
        assert_eq!(four.dot(&four).unwrap().item().unwrap().to_f64(), 4.0);
    }
}

/// Sizes next to a zero cost no time.
#[test]
fn what_has_no_elements_costs_nothing() {
    let none = DynTensor::zeros(&[1 << 40, 0], ()).unwrap();
    let rows = DynTensor::zeros(&[3_000_000, 0], ()).unwrap();
    for x in [&none, &rows] {
        assert!(x.to_string().len() < 2000, "{}", x.to_string().len());
        assert!(format!("{x:?}").len() < 2000);
        assert!(x.exp().unwrap().add(x).unwrap().equal(x).unwrap());
        assert_eq!(x.sum(0).unwrap().shape(), [0]);
        assert_eq!(x.transpose(0, 1).unwrap().contiguous().unwrap().numel(), 0);
        assert_eq!(x.nonzero().unwrap().shape(), [0, 2]);
        assert!(x.to_vec::<f32>().unwrap().is_empty());
    }
    // One result per row, with more rows than memory can hold.
    assert_eq!(kind(none.sum(1)), ErrorKind::Memory);
    assert_eq!(kind(none.unbind(0).map(drop)), ErrorKind::Memory);
    assert_eq!(kind(none.split(1, 0).map(drop)), ErrorKind::Memory);
}

#[test]
fn resizing_what_goes_backwards_ends() {
    for (sizes, strides, offset) in [
        ([2, 2], [-2, -1], 3),
        ([4, 1], [-1, 5], 3),
        ([2, 2], [1, -1], 2),
    ] {
        let x = DynTensor::from_vec(vec![1_i64, 2, 3, 4], &[4], ()).unwrap();
        let view = x.as_strided(&sizes, &strides, offset).unwrap();
        let values = view.to_vec::<i64>().unwrap();
        for wanted in [&[1][..], &[4], &[2, 3], &[0], &[7, 1, 1]] {
            let mut resized = view.clone();
            resized.resize_(wanted).unwrap();
            let got = resized.to_vec::<i64>().unwrap();
            let mut expected = values.clone();
            expected.resize(got.len(), 0);
            assert_eq!(got, expected, "{sizes:?} to {wanted:?}");
        }
        let mut other = view.clone();
        other
            .resize_as_(&DynTensor::zeros(&[3, 3], ()).unwrap())
            .unwrap();
        assert_eq!(other.shape(), [3, 3]);
    }
}

#[test]
fn every_factory_knows_the_most_dims() {
    let sizes = [1; 65];
    let x = DynTensor::zeros(&[1; 64], ()).unwrap();
    let ranks = [
        kind(DynTensor::zeros(&sizes, ())),
        kind(DynTensor::ones(&sizes, ())),
        kind(DynTensor::rand(&sizes, ())),
        kind(DynTensor::full(&sizes, 1.0, ())),
        kind(DynTensor::randint(0..2, &sizes, ())),
        kind(x.as_strided(&sizes, &[1; 65], 0)),
        kind(x.clone().resize_(&sizes).map(drop)),
        kind(x.unsqueeze(0, None)),
        kind(x.expand(&[1; 65])),
        kind(x.tensordot(&x, 0)),
        kind(x.inner(&x)),
        kind(x.outer(&x)),
        kind(x.reshape(&[1; 65])),
        kind(DynTensor::from_vec(vec![1.0_f32], &sizes, ())),
    ];
    for kind in ranks {
        assert_eq!(kind, ErrorKind::Rank);
    }
}

/// Views of empty tensors, whose other sizes alone would be too large.
#[test]
fn views_count_their_elements() {
    let x = repeated(&[1 << 34], DType::F32).unwrap();
    assert_eq!(kind(x.unfold(0, 1 << 31, 1, None)), ErrorKind::Shape);
    let complex = repeated(&[(1 << 55) - 1], DType::C64).unwrap();
    assert_eq!(kind(complex.view_as_real(None)), ErrorKind::Shape);
}

/// A stride longer than the input, along dims that are not contiguous.
#[test]
fn windows_of_any_stride() {
    for dtype in [DType::I16, DType::F32, DType::F64, DType::C64] {
        for stride in [1 << 31, isize::MAX as usize - 8, isize::MAX as usize] {
            let x = ones(&[1, 3, 5, 7], dtype);
            let turned = ones(&[7, 5, 3, 1], dtype).permute([3, 2, 1, 0]).unwrap();
            let weight = ones(&[2, 3, 2, 2], dtype);
            for x in [&x, &turned] {
                let options = nomina::ConvOptions {
                    stride: [stride; 2],
                    ..nomina::ConvOptions::default()
                };
                let found = x.conv2d_with(&weight, None, options).unwrap();
                assert_eq!(found.shape(), [1, 2, 1, 1]);
                let sum = found.sum(..).unwrap().item().unwrap().to_complex();
                assert_eq!(sum.re, 24.0, "{dtype}");
                let options = nomina::MaxPoolOptions {
                    stride: Some([stride; 2]),
                    ..nomina::MaxPoolOptions::default()
                };
                if dtype != DType::C64 {
                    let found = x.max_pool2d_with([2, 2], options).unwrap();
                    assert_eq!(found.shape(), [1, 3, 1, 1]);
                }
            }
        }
    }
}
