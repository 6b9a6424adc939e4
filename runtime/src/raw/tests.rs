use proptest::prelude::*;

use super::*;

fn range(shape: &[usize]) -> Raw {
    Raw::from_vec((0..shape.iter().product::<usize>() as i64).collect(), shape).unwrap()
}

fn values(raw: &Raw) -> Vec<i64> {
    raw.to_vec().unwrap()
}

#[test]
fn a_vector_goes_in_and_out() {
    let data = vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let address = data.as_ptr();
    let raw = Raw::from_vec(data, &[2, 3]).unwrap();
    assert_eq!(
        raw.transpose(0, 1).unwrap().to_vec::<f32>().unwrap(),
        [1., 4., 2., 5., 3., 6.]
    );
    assert_eq!(raw.get::<f32>(&[1, 0]).unwrap(), 4.0);
    let back = raw.into_vec::<f32>().unwrap();
    assert_eq!(back.as_ptr(), address);
    let error = Raw::from_vec(vec![1_u8; 5], &[2, 3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn a_shared_or_partial_tensor_gives_a_copy() {
    let raw = range(&[2, 3]);
    let row = raw.select(0, 1).unwrap();
    assert_eq!(row.clone().into_vec::<i64>().unwrap(), [3, 4, 5]);
    drop(row);
    assert_eq!(
        raw.narrow(0, 0, 1).unwrap().into_vec::<i64>().unwrap(),
        [0, 1, 2]
    );
    let alone = raw.narrow(0, 1, 1).unwrap();
    drop(raw);
    assert_eq!(alone.into_vec::<i64>().unwrap(), [3, 4, 5]);
}

#[test]
fn dtypes_are_checked() {
    let raw = range(&[2]);
    assert!(raw.as_slice::<f64>().is_none() && raw.as_slice::<i64>().is_some());
    for error in [
        raw.to_vec::<i32>().unwrap_err(),
        raw.get::<u8>(&[0]).unwrap_err(),
        raw.iter::<bool>().unwrap_err(),
        raw.clone().as_mut_slice::<f32>().unwrap_err(),
        raw.into_vec::<f64>().unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::DType);
    }
}

#[test]
fn views_share_and_writing_copies() {
    let mut raw = range(&[2, 3]);
    let view = raw.transpose(0, 1).unwrap();
    assert!(raw.shares_storage(&view) && !raw.is_unique());
    raw.as_mut_slice::<i64>().unwrap()[0] = 100;
    assert!(!raw.shares_storage(&view));
    assert_eq!((values(&raw)[0], values(&view)[0]), (100, 0));
    let before = raw.as_ptr();
    raw.as_mut().unwrap().set::<i64>(&[1, 2], -1).unwrap();
    assert_eq!((raw.as_ptr(), values(&raw)[5]), (before, -1));
    let error = raw.as_mut().unwrap().set::<i64>(&[2, 0], 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);

    let mut view = view;
    view.as_mut()
        .unwrap()
        .select(0, 0)
        .unwrap()
        .set::<i64>(&[1], 7)
        .unwrap();
    assert_eq!(
        (view.strides(), values(&view)),
        (&[1, 3][..], vec![0, 7, 1, 4, 2, 5])
    );
    assert_eq!(view.as_mut_slice::<i64>().unwrap(), [0, 7, 1, 4, 2, 5]);
}

#[test]
fn each_view_by_hand() {
    let raw = range(&[2, 3, 4]);
    let at = |a: i64, b: i64, c: i64| a * 12 + b * 4 + c;
    let permuted = raw.permute(&[2, 0, 1]).unwrap();
    assert_eq!(permuted.get::<i64>(&[3, 1, 2]).unwrap(), at(1, 2, 3));
    let stepped = raw
        .slice(2, 3, 2, -2)
        .unwrap()
        .select(0, 1)
        .unwrap()
        .select(0, 0)
        .unwrap();
    assert_eq!(values(&stepped), [at(1, 0, 3), at(1, 0, 1)]);
    let flipped = raw
        .flip(1)
        .unwrap()
        .select(2, 0)
        .unwrap()
        .select(0, 0)
        .unwrap();
    assert_eq!(values(&flipped), [8, 4, 0]);
    assert_eq!(raw.unsqueeze(1).unwrap().shape(), [2, 1, 3, 4]);
    assert_eq!(
        raw.unsqueeze(3).unwrap().squeeze(3).unwrap().layout(),
        raw.layout()
    );
    assert_eq!(raw.squeeze(0).unwrap().shape(), raw.shape());
    let square = range(&[3, 4]);
    assert_eq!(values(&square.diagonal(0, 1, 0).unwrap()), [0, 5, 10]);
    assert_eq!(values(&square.diagonal(0, 1, 2).unwrap()), [2, 7]);
    assert_eq!(values(&square.diagonal(1, 0, 2).unwrap()), [8]);
    assert_eq!(values(&square.diagonal(0, 1, -2).unwrap()), [8]);
    assert!(values(&square.diagonal(0, 1, 9).unwrap()).is_empty());
    let wide = range(&[3, 1]).expand(&[2, 3, 2]).unwrap();
    assert_eq!(values(&wide), [0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2]);
    assert!(!wide.layout().is_disjoint() && raw.layout().is_disjoint());
}

#[test]
fn reshapes_are_views_where_strides_allow() {
    let raw = range(&[2, 3, 4]);
    assert!(raw.reshape(&[6, 4]).unwrap().shares_storage(&raw));
    // The outer two dims of a permutation still merge into one.
    let permuted = raw.permute(&[2, 0, 1]).unwrap();
    let merged = permuted.view(&[4, 6]).unwrap().unwrap();
    assert_eq!(merged.strides(), [1, 4]);
    assert_eq!(values(&merged), values(&permuted));
    assert!(permuted.view(&[8, 3]).unwrap().is_none());
    assert_eq!(
        values(&permuted.reshape(&[8, 3]).unwrap()),
        values(&permuted)
    );
    let backwards = range(&[4]).flip(0).unwrap();
    assert_eq!(
        values(&backwards.view(&[2, 2]).unwrap().unwrap()),
        [3, 2, 1, 0]
    );
    assert_eq!(range(&[1]).view(&[]).unwrap().unwrap().rank(), 0);
    assert_eq!(
        range(&[0, 3]).view(&[7, 0]).unwrap().unwrap().shape(),
        [7, 0]
    );
    assert_eq!(raw.reshape(&[5]).unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn wrong_positions_are_errors() {
    let raw = range(&[2, 3]);
    for error in [
        raw.permute(&[0, 2]).unwrap_err(),
        raw.transpose(0, 2).unwrap_err(),
        raw.narrow(1, 2, 2).unwrap_err(),
        raw.narrow(1, 1, usize::MAX).unwrap_err(),
        raw.narrow(2, 0, 0).unwrap_err(),
        raw.slice(1, 0, 2, -1).unwrap_err(),
        raw.slice(1, 1, 2, isize::MAX).unwrap_err(),
        raw.select(0, 2).unwrap_err(),
        raw.unsqueeze(3).unwrap_err(),
        raw.squeeze(2).unwrap_err(),
        raw.flip(2).unwrap_err(),
        raw.diagonal(0, 2, 0).unwrap_err(),
        raw.get::<i64>(&[0, 3]).unwrap_err(),
        raw.get::<i64>(&[0]).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
    }
    assert_eq!(raw.permute(&[0, 0]).unwrap_err().kind(), ErrorKind::Rank);
    assert_eq!(raw.expand(&[2, 4]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(raw.expand(&[3]).unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(raw.item().unwrap_err().kind(), ErrorKind::Shape);
    assert!(range(&[1]).expand(&[usize::MAX, usize::MAX]).is_err());
}

#[test]
fn numbers_of_any_dtype() {
    use nomina_core::Scalar;
    let halves = Raw::from_vec(vec![half::f16::from_f32(0.5)], &[]).unwrap();
    assert_eq!(halves.item().unwrap(), Scalar::Float(0.5));
    assert_eq!(halves.rank(), 0);
    let truth = Raw::from_vec(vec![true, false], &[2]).unwrap();
    assert_eq!(
        truth.scalars().collect::<Vec<_>>(),
        [Scalar::Bool(true), Scalar::Bool(false)]
    );
    assert_eq!(truth.iter::<bool>().unwrap().len(), 2);
}

/// One view of a chain.
#[derive(Clone, Debug)]
enum View {
    Permute(usize),
    Narrow(usize, usize, usize),
    Slice(usize, usize),
    Flip(usize),
    Diagonal(usize, usize, isize),
    Unsqueeze(usize),
    Select(usize, usize),
    Flatten,
}

fn views() -> impl Strategy<Value = Vec<View>> {
    let small = 0_usize..4;
    let view = prop_oneof![
        small.clone().prop_map(View::Permute),
        (small.clone(), small.clone(), small.clone()).prop_map(|(d, a, b)| View::Narrow(d, a, b)),
        (small.clone(), small.clone()).prop_map(|(d, a)| View::Slice(d, a)),
        small.clone().prop_map(View::Flip),
        (small.clone(), small.clone(), -2_isize..3).prop_map(|(a, b, o)| View::Diagonal(a, b, o)),
        small.clone().prop_map(View::Unsqueeze),
        (small.clone(), small).prop_map(|(d, i)| View::Select(d, i)),
        Just(View::Flatten),
    ];
    prop::collection::vec(view, 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 512 }))]

    /// A chain of views of a shared tensor has the same elements as the same views of copies, and
    /// every index stays within the buffer.
    #[test]
    fn views_of_views(shape in prop::collection::vec(0_usize..5, 1..4), chain in views()) {
        let mut lazy = range(&shape);
        let mut eager = lazy.clone();
        for view in chain {
            let step = |raw: &Raw| match view {
                View::Permute(by) => {
                    let rank = raw.rank().max(1);
                    raw.permute(&(0..raw.rank()).map(|i| (i + by) % rank).collect::<Vec<_>>())
                }
                View::Narrow(dim, start, len) => raw.narrow(dim, start, len),
                View::Slice(dim, start) => raw.slice(dim, start, start / 2 + 1, -2),
                View::Flip(dim) => raw.flip(dim),
                View::Diagonal(a, b, offset) => raw.diagonal(a, b, offset),
                View::Unsqueeze(at) => raw.unsqueeze(at),
                View::Select(dim, index) => raw.select(dim, index),
                View::Flatten => raw.reshape(&[raw.numel()]),
            };
            let (a, b) = (step(&lazy), step(&eager));
            prop_assert_eq!(a.is_ok(), b.is_ok());
            let (Ok(a), Ok(b)) = (a, b) else { continue };
            // An independent row-major copy, created without strides.
            let shape = b.shape().to_vec();
            (lazy, eager) = (a, Raw::from_vec(values(&b), &shape).unwrap());
            prop_assert_eq!(lazy.shape(), eager.shape());
            prop_assert_eq!(values(&lazy), values(&eager));
            prop_assert_eq!(values(&crate::call::contiguous(&lazy).unwrap()), values(&eager));
            prop_assert_eq!(values(&crate::call::duplicate(&lazy).unwrap()), values(&eager));
        }
    }
}
