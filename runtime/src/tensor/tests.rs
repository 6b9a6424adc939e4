use crate::Device;
use nomina_core::rule::DimArg;
use nomina_core::{DType, ErrorKind, Names, Scalar};

use super::*;

fn x() -> DynTensor {
    DynTensor::from_vec(vec![1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3], ["N", "C"]).unwrap()
}

fn names(x: &DynTensor) -> String {
    x.names().to_string()
}

fn vec(x: &DynTensor) -> Vec<f32> {
    x.to_vec().unwrap()
}

#[test]
fn names_arrive_in_every_form() {
    let fixed = Names::from_static(&[Some("N"), None]);
    for x in [
        DynTensor::zeros(&[2, 3], ["N", "C"]),
        DynTensor::zeros(&[2, 3], [Some("N"), None]),
        DynTensor::zeros(&[2, 3], fixed.clone()),
        DynTensor::zeros(&[2, 3], &fixed),
        DynTensor::zeros(&[2, 3], &["N".to_owned(), "C".to_owned()].each_ref()[..]),
        DynTensor::zeros(&[2, 3], ()),
    ] {
        assert_eq!(x.unwrap().shape(), [2, 3]);
    }
    let kind = |names: [&str; 2]| DynTensor::zeros(&[2, 3], names).unwrap_err().kind();
    assert_eq!(kind(["N", "N"]), ErrorKind::DuplicateNames);
    assert_eq!(kind(["N", "2d"]), ErrorKind::InvalidName);
    assert_eq!(
        DynTensor::zeros(&[2], ["N", "C"]).unwrap_err().kind(),
        ErrorKind::NamesLen
    );
}

#[test]
fn from_parts_checks_names() {
    let (raw, names) = x().into_parts();
    assert!(DynTensor::from_parts(raw.clone(), names).is_ok());
    let one = Names::from_static(&[Some("N")]);
    let error = DynTensor::from_parts(raw.clone(), one).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NamesLen);
    let twice = Names::from_static(&[Some("N"), Some("N")]);
    let error = DynTensor::from_parts(raw, twice).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DuplicateNames);
}

#[test]
fn reductions_take_dims_in_every_form() {
    let x = x();
    assert_eq!(vec(&x.sum("N").unwrap()), [5.0, 7.0, 9.0]);
    assert_eq!(vec(&x.sum(-1).unwrap()), [6.0, 15.0]);
    assert_eq!(vec(&x.sum(["C", "N"]).unwrap()), [21.0]);
    assert_eq!(vec(&x.sum(..).unwrap()), [21.0]);
    let kept = x.sum(DimArg::from("C").keep()).unwrap();
    assert_eq!(
        (names(&kept).as_str(), kept.shape()),
        ("(N, C)", &[2, 1][..])
    );
    let options = ReduceOptions {
        dtype: Some(DType::F64),
        keepdim: true,
    };
    let wide = x.sum_with("C", options).unwrap();
    assert_eq!((wide.dtype(), wide.shape()), (DType::F64, &[2, 1][..]));
    let population = VarOptions {
        correction: 0.0,
        ..VarOptions::default()
    };
    assert_eq!(vec(&x.var_with("N", population).unwrap()), [2.25; 3]);
    assert_eq!(vec(&x.var("N").unwrap()), [4.5; 3]);
}

#[test]
fn extrema_give_pairs_along_a_dim_and_the_value_over_all() {
    let x = x();
    let (values, indices) = x.max("C").unwrap();
    assert_eq!(
        (vec(&values), indices.to_vec::<i64>().unwrap()),
        (vec![3.0, 6.0], vec![2, 2])
    );
    assert_eq!(
        (names(&values), names(&indices)),
        ("(N,)".into(), "(N,)".into())
    );
    assert_eq!(x.min(..).unwrap().item().unwrap(), Scalar::Float(1.0));
    assert_eq!(x.argmax(..).unwrap().item().unwrap(), Scalar::Int(5));
    let number = DynTensor::scalar(2.5f32).unwrap();
    let (value, index) = number.max(-1).unwrap();
    assert_eq!((value.rank(), index.item().unwrap()), (0, Scalar::Int(0)));
}

#[test]
fn a_failed_call_in_place_changes_nothing() {
    let mut own = x();
    let other = DynTensor::ones(&[2, 3], ["C", "N"]).unwrap();
    assert_eq!(
        own.add_(&other).unwrap_err().kind(),
        ErrorKind::NameMismatch
    );
    let larger = DynTensor::ones(&[4, 2, 3], ["K", "N", "C"]).unwrap();
    assert_eq!(own.add_(&larger).unwrap_err().kind(), ErrorKind::Shape);
    let mut ints = own.to::<i64>().unwrap();
    assert_eq!(ints.add_(0.5).unwrap_err().kind(), ErrorKind::DType);
    assert_eq!((vec(&own), names(&own)), (vec(&x()), "(N, C)".into()));
    assert_eq!(ints.to_vec::<i64>().unwrap(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn writing_to_a_clone_leaves_the_other_alone() {
    let first = x();
    let mut second = first.clone();
    second.mul_(2).unwrap();
    second.add_(&first).unwrap();
    assert_eq!(vec(&first), vec(&x()));
    assert_eq!(vec(&second), [3.0, 6.0, 9.0, 12.0, 15.0, 18.0]);
    // Self as its own operand, through a clone that shares the buffer.
    let mut own = x();
    let shared = own.clone();
    own.sub_(&shared).unwrap();
    assert_eq!((vec(&own), vec(&shared)), (vec![0.0; 6], vec(&x())));
}

#[test]
fn in_place_names_are_taken_by_what_has_none() {
    let mut own = DynTensor::zeros(&[2, 3], ()).unwrap();
    own.add_(&x()).unwrap();
    assert_eq!(names(&own), "(N, C)");
    let mut half = DynTensor::zeros(&[2, 3], [Some("N"), None]).unwrap();
    assert_eq!(
        half.add_(&x()).unwrap_err().kind(),
        ErrorKind::NameMismatchOut
    );
    assert_eq!(names(&half), "(N, _)");
}

#[test]
fn an_out_tensor_is_named_resized_or_refused() {
    let x = x();
    let mut out = DynTensor::empty(&[0], ()).unwrap();
    x.add_out(1, &mut out).unwrap();
    assert_eq!((names(&out).as_str(), out.shape()), ("(N, C)", &[2, 3][..]));
    let mut named = DynTensor::zeros(&[2], ["K"]).unwrap();
    assert_eq!(
        x.add_out(1, &mut named).unwrap_err().kind(),
        ErrorKind::Resize
    );
    let mut ints = DynTensor::options()
        .dtype(DType::I64)
        .zeros(&[2, 3], ())
        .unwrap();
    assert_eq!(
        x.add_out(1, &mut ints).unwrap_err().kind(),
        ErrorKind::DType
    );
    let mut shared = DynTensor::zeros(&[3], ()).unwrap();
    let other = shared.clone();
    x.sum_out("N", &mut shared).unwrap();
    assert_eq!(
        (vec(&shared), vec(&other)),
        (vec![5.0, 7.0, 9.0], vec![0.0; 3])
    );
}

#[test]
fn add_and_sub_take_a_factor() {
    let x = x();
    let two = AddOptions { alpha: 2.into() };
    assert_eq!(vec(&x.add_with(&x, two).unwrap())[..2], [3.0, 6.0]);
    assert_eq!(vec(&x.sub_with(1, two).unwrap())[..2], [-1.0, 0.0]);
    let mut own = x.clone();
    own.sub_with_(&x, two).unwrap();
    assert_eq!(vec(&own)[..2], [-1.0, -2.0]);
    let mut out = DynTensor::empty(&[0], ()).unwrap();
    x.add_with_out(&x, two, &mut out).unwrap();
    assert_eq!(vec(&out)[..2], [3.0, 6.0]);
    let ints = x.to::<i32>().unwrap();
    let error = ints
        .add_with(&ints, AddOptions { alpha: 0.5.into() })
        .unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::DType, "add"));
}

#[test]
fn addcmul_clamp_and_where() {
    let x = x();
    assert_eq!(vec(&x.addcmul(&x, &x).unwrap())[..2], [2.0, 6.0]);
    assert_eq!(
        vec(&x
            .addcmul_with(&x, &x, super::AddcmulOptions { value: 0.5.into() })
            .unwrap())[..2],
        [1.5, 4.0]
    );
    assert_eq!(
        vec(&x.clamp(Operand::from(2), Operand::from(4)).unwrap())[..4],
        [2., 2., 3., 4.]
    );
    let mut own = x.clone();
    own.clamp_(None, Operand::from(2.5)).unwrap();
    assert_eq!(vec(&own)[..3], [1.0, 2.0, 2.5]);
    assert_eq!(x.clamp(None, None).unwrap_err().kind(), ErrorKind::Argument);
    let small = x.lt(3).unwrap();
    assert_eq!(vec(&small.where_cond(&x, 0).unwrap())[..3], [1.0, 2.0, 0.0]);
    assert_eq!(x.where_cond(&x, 0).unwrap_err().kind(), ErrorKind::DType);
}

#[test]
fn masks_fill_and_select() {
    let x = x();
    let mask = x.gt(4).unwrap();
    assert_eq!(
        vec(&x.masked_fill(&mask, -1).unwrap())[3..],
        [4.0, -1.0, -1.0]
    );
    let mut ints = x.to::<i64>().unwrap();
    ints.masked_fill_(&mask, 2.75).unwrap();
    assert_eq!(ints.to_vec::<i64>().unwrap()[3..], [4, 2, 2]);
    let picked = x.masked_select(&mask).unwrap();
    assert_eq!(
        (vec(&picked), names(&picked)),
        (vec![5.0, 6.0], "(_,)".into())
    );
    assert_eq!(x.masked_select(&x).unwrap_err().kind(), ErrorKind::DType);
}

#[test]
fn views_share_the_buffer() {
    let x = x();
    for view in [
        x.transpose("N", "C"),
        x.t(),
        x.permute(["C", "N"]),
        x.align_to(["C", "...", "K"]),
        x.flatten(["N", "C"], "F"),
        x.unflatten("C", [("A", 1), ("B", -1)]),
        x.unsqueeze(0, "K"),
        x.expand(&[4, -1, -1]),
        x.select("C", -1),
        x.narrow("C", -2, 2),
        x.rename(["A", "B"]),
        x.refine_names(["N", "..."]),
    ] {
        let view = view.unwrap();
        assert!(view.raw().shares_storage(x.raw()), "{view:?}");
    }
    assert_eq!(names(&x.align_to(["C", "...", "K"]).unwrap()), "(C, N, K)");
    assert_eq!(vec(&x.narrow("C", -2, 2).unwrap()), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(x.narrow("C", 2, 2).unwrap_err().kind(), ErrorKind::Index);
}

#[test]
fn pieces() {
    let x = x();
    let shapes = |pieces: Vec<DynTensor>| pieces.iter().map(|p| p.shape()[1]).collect::<Vec<_>>();
    assert_eq!(shapes(x.split(2, "C").unwrap()), [2, 1]);
    assert_eq!(shapes(x.split([1, 0, 2], "C").unwrap()), [1, 0, 2]);
    assert_eq!(x.split([1, 1], "C").unwrap_err().kind(), ErrorKind::Shape);
    assert_eq!(x.split(-1, "C").unwrap_err().kind(), ErrorKind::Shape);
    let columns = x.unbind("C").unwrap();
    assert_eq!((columns.len(), vec(&columns[1])), (3, vec![2.0, 5.0]));
}

#[test]
fn rename_takes_a_list_pairs_or_nothing() {
    let x = x();
    assert_eq!(names(&x.rename(["...", "B"]).unwrap()), "(N, B)");
    let owned = vec!["A".to_owned(), "B".to_owned()];
    assert_eq!(names(&x.rename(&owned).unwrap()), "(A, B)");
    assert_eq!(names(&x.rename(&owned[..]).unwrap()), "(A, B)");
    assert_eq!(names(&x.rename(owned.clone()).unwrap()), "(A, B)");
    assert_eq!(names(&x.rename(("A", "B")).unwrap()), "(A, B)");
    assert_eq!(names(&x.rename_dim("C", "B").unwrap()), "(N, B)");
    let pairs = vec![("N".to_owned(), "A".to_owned())];
    assert_eq!(names(&x.rename(&pairs).unwrap()), "(A, C)");
    let no_pairs: [(&str, &str); 0] = [];
    assert_eq!(names(&x.rename(no_pairs).unwrap()), "(N, C)");
    for new in [
        DynTensor::zeros(&[2, 3], &owned),
        DynTensor::zeros(&[2, 3], owned.clone()),
        DynTensor::zeros(&[2, 3], ("A", "B")),
    ] {
        assert_eq!(names(&new.unwrap()), "(A, B)");
    }
    let own = ["N".to_owned(), "C".to_owned()];
    assert_eq!(x.sum(&own).unwrap().rank(), 0);
    assert_eq!(x.sum(x.names()).unwrap().rank(), 0);
    let turned = vec!["C".to_owned(), "N".to_owned()];
    assert_eq!(names(&x.align_to(turned).unwrap()), "(C, N)");
    assert_eq!(names(&x.rename([("N", "A")]).unwrap()), "(A, C)");
    assert_eq!(names(&x.rename([("N", None)]).unwrap()), "(_, C)");
    assert_eq!(names(&x.rename(()).unwrap()), "(_, _)");
    let mut own = x.clone();
    own.rename_([("C", "K")]).unwrap();
    assert_eq!(names(&own), "(N, K)");
    assert_eq!(
        x.rename([("K", "A")]).unwrap_err().kind(),
        ErrorKind::NameNotFound
    );
}

#[test]
fn products_carry_names() {
    let x = x();
    let w = DynTensor::ones(&[3, 4], ["C", "K"]).unwrap();
    for product in [x.mm(&w), x.matmul(&w), x.contract(&w, "C")] {
        let product = product.unwrap();
        assert_eq!(
            (names(&product).as_str(), vec(&product)[3..5].to_vec()),
            ("(N, K)", vec![6.0, 15.0])
        );
    }
    let bias = DynTensor::ones(&[4], ["K"]).unwrap();
    let options = AddmmOptions {
        beta: 10.into(),
        alpha: 2.into(),
    };
    let sum = bias.addmm_with(&x, &w, options).unwrap();
    assert_eq!((names(&sum).as_str(), vec(&sum)[0]), ("(N, K)", 22.0));
    let error = x.mm(&x).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(error.to_string().contains("N=2"), "{error}");
}

#[test]
fn joining() {
    let x = x();
    let unnamed = x.drop_names();
    let both = DynTensor::cat(&[&x, &unnamed], "N").unwrap();
    assert_eq!(
        (names(&both).as_str(), both.shape()),
        ("(N, C)", &[4, 3][..])
    );
    let stacked = DynTensor::stack(&[&x, &x], -1, "K").unwrap();
    assert_eq!(
        (names(&stacked).as_str(), stacked.shape()),
        ("(N, C, K)", &[2, 3, 2][..])
    );
    assert!(DynTensor::cat(&[], 0).is_err());
}

#[test]
fn writing_converts_and_obeys_names() {
    let mut ints = x().to::<i32>().unwrap();
    ints.fill_(7.9).unwrap();
    assert_eq!(ints.to_vec::<i32>().unwrap(), [7; 6]);
    ints.copy_(&x().rename([Some("N"), None]).unwrap()).unwrap();
    assert_eq!(
        (ints.to_vec::<i32>().unwrap()[5], names(&ints)),
        (6, "(N, C)".into())
    );
    let mut unnamed = DynTensor::zeros(&[2, 3], ()).unwrap();
    unnamed.copy_(&x()).unwrap();
    assert_eq!(names(&unnamed), "(N, C)");
    assert_eq!(ints.fill_(&x()).unwrap_err().kind(), ErrorKind::Rank);
}

#[test]
fn factories_and_their_options() {
    let half = DynTensor::options().dtype(DType::F16);
    assert_eq!(half.ones(&[2], ["N"]).unwrap().dtype(), DType::F16);
    assert_eq!(DynTensor::full(&[2], 3, ()).unwrap().dtype(), DType::I64);
    assert_eq!(
        DynTensor::arange(0, 5, 2, ["N"])
            .unwrap()
            .to_vec::<i64>()
            .unwrap(),
        [0, 2, 4]
    );
    assert_eq!(
        DynTensor::arange(0, 1.0, 0.5, ["N"]).unwrap().dtype(),
        DType::F32
    );
    assert_eq!(
        vec(&DynTensor::eye(2, ["R", "C"]).unwrap()),
        [1.0, 0.0, 0.0, 1.0]
    );
    let like = x().rand_like().unwrap();
    assert_eq!(
        (names(&like).as_str(), like.shape()),
        ("(N, C)", &[2, 3][..])
    );
    assert!(vec(&like).iter().all(|v| (0.0..1.0).contains(v)));
    let gpu = DynTensor::options()
        .device(Device::Cuda(None))
        .zeros(&[2], ());
    assert_eq!(gpu.unwrap_err().kind(), ErrorKind::Device);
    let default = crate::with_default_dtype(DType::F64, || DynTensor::zeros(&[1], ()));
    assert_eq!(default.unwrap().dtype(), DType::F64);
}

#[test]
fn as_strided_stays_within_the_buffer() {
    let x = x();
    assert_eq!(
        vec(&x.as_strided(&[2, 2], &[1, 2], 1).unwrap()),
        [2.0, 4.0, 3.0, 5.0]
    );
    assert_eq!(vec(&x.as_strided(&[3], &[-2], 5).unwrap()), [6.0, 4.0, 2.0]);
    for (size, stride, offset) in [
        (&[7][..], &[1][..], 0),
        (&[2], &[-1], 0),
        (&[1], &[1], 6),
        (&[usize::MAX], &[1], 0),
    ] {
        assert!(
            x.as_strided(size, stride, offset).is_err(),
            "{size:?} {stride:?} {offset}"
        );
    }
}

#[test]
fn questions() {
    let x = x();
    assert_eq!((x.size("C").unwrap(), x.stride("N").unwrap()), (3, 3));
    assert_eq!(x.size("K").unwrap_err().kind(), ErrorKind::NameNotFound);
    assert_eq!(x.item().unwrap_err().kind(), ErrorKind::Shape);
    assert!(x.equal(&x.clone()).unwrap() && !x.equal(&x.drop_names()).unwrap());
    assert!(x.has_names() && x.is_contiguous() && !x.t().unwrap().is_contiguous());
}

#[test]
fn errors_show_every_operand_with_names_and_sizes() {
    let other = DynTensor::ones(&[4], ["C"]).unwrap();
    let error = x().add(&other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let text = error.to_string();
    assert!(
        text.starts_with("add: ") && text.contains("(N=2, C=3) and (C=4,)"),
        "{text}"
    );
    let error = x().sum("K").unwrap_err();
    assert!(error.to_string().contains("(N=2, C=3)"), "{error}");
}

#[test]
fn threads_may_share_it() {
    fn shared<T: Send + Sync + 'static>() {}
    shared::<DynTensor>();
}
