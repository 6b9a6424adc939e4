use super::{fails, kind, n};
use crate::dtype::{Category, DType};
use crate::error::ErrorKind;
use crate::name::MAX_DIMS;
use crate::rule::{
    MAX_NUMEL, broadcast_all, broadcast_into, broadcast_shapes, dtype, expand, index_in, numel,
};

#[test]
fn sizes_have_a_limit() {
    assert_eq!(numel("zeros", &[2, 3]), Ok(6));
    assert_eq!(numel("zeros", &[]), Ok(1));
    assert_eq!(numel("zeros", &[MAX_NUMEL]), Ok(MAX_NUMEL));
    assert_eq!(numel("zeros", &[MAX_NUMEL, 0]), Ok(0));
    for shape in [
        &[MAX_NUMEL + 1][..],
        &[MAX_NUMEL, 2],
        &[usize::MAX, usize::MAX],
    ] {
        assert_eq!(kind(numel("zeros", shape)), ErrorKind::Shape);
        // The sizes next to a zero are multiplied too.
        let empty: crate::rule::Shape = shape.iter().copied().chain([0]).collect();
        assert_eq!(kind(numel("zeros", &empty)), ErrorKind::Shape);
    }
    assert_eq!(numel("zeros", &[1; MAX_DIMS]), Ok(1));
    assert_eq!(kind(numel("zeros", &[1; MAX_DIMS + 1])), ErrorKind::Rank);
    // A factor of 2^8, for the size of an element and a little more, cannot wrap.
    if usize::BITS > 32 {
        assert!(MAX_NUMEL.checked_mul(1 << 8).is_some());
    }
}

#[test]
fn shapes_broadcast_from_the_right() {
    assert_eq!(
        broadcast_shapes("add", &[2, 1, 4], &[3, 1])
            .unwrap()
            .as_slice(),
        [2, 3, 4]
    );
    assert_eq!(broadcast_shapes("add", &[0], &[1]).unwrap().as_slice(), [0]);
    let all = broadcast_all("where", [&[3][..], &[2, 1], &[]]).unwrap();
    assert_eq!(all.as_slice(), [2, 3]);
    let error = broadcast_shapes("add", &[2, 3], &[2, 4])
        .map_err(|error| error.with_names([&n("N C"), &n("_ C")]));
    fails(
        error,
        ErrorKind::Shape,
        "add: dim `C` has size 3 in the first operand and 4 in the second; \
         dims (N=2, C=3) and (_=2, C=4); \
         sizes broadcast when they are equal or one of them is 1",
    );
    // Unnamed dims are counted in each operand.
    let error = broadcast_shapes("add", &[3], &[2, 4]).unwrap_err();
    assert!(alloc::format!("{error}").starts_with(
        "add: dim 0 of the first operand has size 3 and dim 1 of the second 4; \
         dims (3,) and (2, 4)"
    ));
    // With three operands, the error names the two that disagree, whatever is between them.
    let error = broadcast_all("where", [&[3][..], &[2, 1], &[4]]).unwrap_err();
    assert!(alloc::format!("{error}").starts_with(
        "where: dim 0 of the first operand has size 3 and dim 0 of the third 4; \
         dims (3,) and (2, 1) and (4,)"
    ));
}

#[test]
fn self_is_not_resized_in_place() {
    assert_eq!(broadcast_into("add_", &[2, 3], &[3]), Ok(()));
    fails(
        broadcast_into("add", &[2, 1], &[3]),
        ErrorKind::Shape,
        "add: dim 1 of the first operand has size 1 and dim 0 of the second 3; \
         dims (2, 1) and (3,); \
         in-place operators keep self's sizes: use the out-of-place one",
    );
    assert_eq!(
        kind(broadcast_into("add_", &[3], &[2, 3])),
        ErrorKind::Shape
    );
}

#[test]
fn only_dims_of_size_one_expand() {
    let (names, shape) = expand("expand", &n("N C"), &[1, 3], &[2, 5, -1]).unwrap();
    assert_eq!((names, shape.as_slice()), (n("_ N C"), &[2, 5, 3][..]));
    assert_eq!(
        expand("expand", &n("N"), &[1], &[0]).unwrap().1.as_slice(),
        [0]
    );
    fails(
        expand("expand", &n("N C"), &[2, 3], &[2, 4]),
        ErrorKind::Shape,
        "expand: can't expand to size 4 at dim `C`; dims (N=2, C=3); \
         only a dim of size 1 can grow; -1 keeps a size",
    );
    assert_eq!(
        kind(expand("expand", &n("N"), &[1], &[-1, 1])),
        ErrorKind::Shape
    );
    assert_eq!(
        kind(expand("expand", &n("N"), &[1], &[-2])),
        ErrorKind::Shape
    );
    assert_eq!(
        kind(expand("expand", &n("N C"), &[1, 1], &[2])),
        ErrorKind::Rank
    );
}

#[test]
fn an_index_says_index_dim_and_size() {
    assert_eq!(index_in("select", &n("N C"), &[2, 3], 1, -3), Ok(0));
    fails(
        index_in("select", &n("N C"), &[2, 3], 1, 3),
        ErrorKind::Index,
        "select: index 3 is out of range for size 3 at dim `C`; dims (N=2, C=3)",
    );
    assert_eq!(
        kind(index_in("select", &n("N"), &[0], 0, 0)),
        ErrorKind::Index
    );
}

#[test]
fn dtypes_of_families() {
    assert_eq!(dtype::unary_float(DType::Bool, DType::F64), DType::F64);
    assert_eq!(dtype::unary_float(DType::BF16, DType::F64), DType::BF16);
    assert_eq!(
        (dtype::sum(DType::U8), dtype::sum(DType::F16)),
        (DType::I64, DType::F16)
    );
    assert_eq!(dtype::abs(DType::C128), DType::F64);
    fails(
        dtype::require_float("mean", DType::I64),
        ErrorKind::DType,
        "mean: takes a float or complex dtype, not i64; convert it first: `x.to::<f32>()`",
    );
    assert_eq!(dtype::require_float("mean", DType::C64), Ok(DType::C64));
    assert_eq!(
        kind(dtype::require_real("lt", DType::C64)),
        ErrorKind::DType
    );
    assert_eq!(
        kind(dtype::require_numeric("neg", DType::Bool)),
        ErrorKind::DType
    );
    assert_eq!(
        kind(dtype::require_integral("bitwise_not", DType::F32)),
        ErrorKind::DType
    );
    assert_eq!(
        kind(dtype::require_same("mm", DType::F32, DType::F64)),
        ErrorKind::DType
    );
    assert_eq!(
        kind(dtype::require_sub("sub", Category::Float, Category::Bool)),
        ErrorKind::DType
    );
    fails(
        dtype::cast_to("add_", DType::F32, DType::I64),
        ErrorKind::DType,
        "add_: a result of dtype f32 can't be stored as i64; convert self first: `x.to::<f32>()`, or use the \
         out-of-place form",
    );
    assert_eq!(dtype::cast_to("add_", DType::F64, DType::F16), Ok(()));
}
