//! `Wild`: a dim whose name is known only at run time. Types check what they can, the rest is
//! checked at run time, and names are kept.

use nomina::prelude::*;

dims! { N, C, H, K, M, Features }
dims! { Rgb = 3 }

/// Returns a tensor whose first dim has the given run-time name, or none.
fn first(name: Option<&str>, shape: [usize; 2]) -> Tensor<(Wild, C)> {
    let names = Names::new([
        name.map(|n| nomina::Name::new(n).unwrap()),
        Some("C".try_into().unwrap()),
    ]);
    DynTensor::ones(&shape, names.unwrap())
        .unwrap()
        .typed()
        .unwrap()
}

#[test]
fn names_are_kept_where_types_cannot_know() {
    let x = first(Some("N"), [2, 3]);
    assert_eq!(x.names(), names!["N", "C"]);
    assert_eq!(x.sum(C).names(), names!["N"]);
    assert_eq!(x.exp().names(), names!["N", "C"]);
    assert_eq!((&x + 1.0).names(), names!["N", "C"]);
    assert_eq!(x.t().names(), names!["C", "N"]);
    assert_eq!(x.mean(keep(C)).names(), names!["N", "C"]);
    assert_eq!(x.narrow(C, ..2).names(), names!["N", "C"]);
    assert_eq!(x.select(C, 0).names(), names!["N"]);
    assert_eq!(x.unsqueeze(H).names(), names!["H", "N", "C"]);
    assert_eq!(x.align_to((C, ..)).names(), names!["C", "N"]);
    assert_eq!(
        x.unflatten(C, (H.of(1), K.of(3))).names(),
        names!["N", "H", "K"]
    );
    assert_eq!(x.to::<f64>().names(), names!["N", "C"]);
    assert_eq!(x.rename(C, M).names(), names!["N", "M"]);
    assert_eq!(x.drop_names().names(), names![_, _]);
    assert_eq!(x.zeros_like().names(), names!["N", "C"]);
    assert_eq!(x.clone().into_dyn().names(), &names!["N", "C"]);
    assert_eq!(stack(&[&x, &x], H).names(), names!["H", "N", "C"]);
    assert_eq!(cat(&[&x, &x], C).names(), names!["N", "C"]);
    let (values, indices) = x.max(C);
    assert_eq!(
        (values.names(), indices.names()),
        (names!["N"], names!["N"])
    );
    assert_eq!(
        x.matmul(&Tensor::<(C, M)>::ones([3, 4])).names(),
        names!["N", "M"]
    );
    assert!(!first(None, [2, 3]).sum(C).has_names());
}

#[test]
fn names_stay_where_the_result_s_type_has_a_wild() {
    let x = Tensor::<(N, C)>::ones([1, 3]);
    let like = first(None, [2, 3]);
    assert_eq!(x.expand_as(&like).names(), names!["N", "C"]);
    let error = first(Some("H"), [1, 3]).try_expand((N.of(2), C.of(3)));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::NameMismatch);
    // A new dim takes the name that the other tensor has at its position.
    let c = Tensor::<(C,)>::ones([3]);
    assert_eq!(
        c.align_as(&first(Some("N"), [2, 3])).names(),
        names!["N", "C"]
    );
    assert!(!first(Some("N"), [2, 3]).allclose(&first(None, [2, 3])));
}

#[test]
fn a_known_name_makes_an_unknown_one_known() {
    let named = Tensor::<(N, C)>::ones([2, 3]);
    let sum: Tensor<(N, C)> = &first(None, [2, 3]) + &named;
    assert_eq!(sum.names(), names!["N", "C"]);
    let sum: Tensor<(N, C)> = &first(Some("N"), [2, 3]) + &named;
    assert_eq!(sum.names(), names!["N", "C"]);
    let error = first(Some("H"), [2, 3]).try_add(&named).unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::NameMismatch, "add"));
    assert!(
        error.to_string().contains("(H=2, C=3) and (N=2, C=3)"),
        "{error}"
    );
}

#[test]
fn two_unknown_names_are_compared_at_run_time() {
    let (a, b) = (first(Some("N"), [2, 3]), first(Some("H"), [2, 3]));
    assert_eq!(a.try_add(&b).unwrap_err().kind(), ErrorKind::NameMismatch);
    assert_eq!((&a + &first(None, [2, 3])).names(), names!["N", "C"]);
    let error = a.gt(0.0).try_where_cond(&a, &b).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameMismatch);
}

#[test]
fn in_place_takes_the_names_of_the_result() {
    let mut x: Tensor<(Wild, Wild)> = Tensor::<(N, C)>::ones([2, 3]).drop_names();
    x += &Tensor::<(N, C)>::ones([2, 3]);
    assert_eq!(x.names(), names!["N", "C"]);
    assert_eq!(x.to_vec(), [2.0; 6]);
    // One dim already has a name, so all names must equal those of the result.
    let mut y = first(None, [2, 3]);
    let error = y.try_add_(Tensor::<(N, C)>::ones([2, 3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameMismatchOut);
    assert_eq!(y.to_vec(), [1.0; 6]);
    let mut z = first(Some("N"), [2, 3]);
    z.add_(Tensor::<(N, C)>::ones([2, 3]));
    assert_eq!(z.to_vec(), [2.0; 6]);
    let mut out: Tensor<(Wild, Wild)> = Tensor::<(N, C)>::zeros([1, 1]).drop_names();
    z.add_out(1.0, &mut out);
    assert_eq!((out.names(), out.shape()), (names!["N", "C"], &[2, 3][..]));
    let mut part: Tensor<(Wild, C)> = first(Some("N"), [2, 3]);
    part.narrow_mut(C, 1..).fill_(0.0);
    assert_eq!((part.names(), part.sum(..).item()), (names!["N", "C"], 2.0));
}

#[test]
fn refining_is_checked() {
    let x: Tensor<(N, C)> = first(None, [2, 3]).refine_names((N, ..));
    assert_eq!(x.names(), names!["N", "C"]);
    let x: Tensor<(N, C)> = first(Some("N"), [2, 3]).refine_names((N, C));
    assert_eq!(x.size(N), 2);
    let error = first(Some("H"), [2, 3])
        .try_refine_names((N, C))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refine);
    // The constant size that comes with a name is checked too.
    assert!(first(None, [3, 3]).try_refine_names((Rgb, C)).is_ok());
    let error = first(None, [2, 3]).try_refine_names((Rgb, C)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn a_name_of_the_run_time_does_not_stand_twice() {
    let x = first(Some("N"), [2, 3]);
    assert_eq!(
        x.try_align_to((N, ..)).unwrap_err().kind(),
        ErrorKind::DuplicateNames
    );
    assert_eq!(
        x.try_rename(C, N).unwrap_err().kind(),
        ErrorKind::DuplicateNames
    );
    assert_eq!(
        x.try_unflatten(C, (N.of(3), H.of(1))).unwrap_err().kind(),
        ErrorKind::DuplicateNames
    );
    let y: Tensor<(H, K, Wild)> = Tensor::<(H, K, N)>::ones([1, 2, 3])
        .into_dyn()
        .typed()
        .unwrap();
    assert_eq!(
        y.try_flatten((H, K), N).unwrap_err().kind(),
        ErrorKind::DuplicateNames
    );
    assert_eq!(y.flatten((H, K), Features).names(), names!["Features", "N"]);
    let panic = std::panic::catch_unwind(|| first(Some("N"), [2, 3]).unsqueeze(N)).unwrap_err();
    assert!(
        panic
            .downcast_ref::<String>()
            .unwrap()
            .contains("refine_names")
    );
    // In a product, a batch dim of one operand may align with a feature dim of the other.
    let a: Tensor<(Wild, H, K)> = Tensor::<(N, H, K)>::ones([2, 3, 4])
        .into_dyn()
        .typed()
        .unwrap();
    let b = Tensor::<(N, K, M)>::ones([2, 4, 5]);
    assert_eq!(a.matmul(&b).names(), names!["N", "H", "M"]);
    let a = Tensor::<(N, H, K)>::ones([2, 3, 4]);
    let b: Tensor<(Wild, N, M)> = Tensor::<(C, N, M)>::ones([2, 4, 5])
        .drop_names()
        .refine_names((Wild, N, M));
    assert_eq!(a.try_bmm(&b).unwrap_err().kind(), ErrorKind::Misaligned);
}

#[test]
fn masks_choose_into_a_dim_without_a_name() {
    let x = first(Some("N"), [2, 3]);
    let mask: Tensor<(N, C), bool> = Tensor::<(N, C)>::ones([2, 3]).gt(0.0);
    assert_eq!(x.masked_fill(&mask, 0.0).names(), names!["N", "C"]);
    assert_eq!(x.masked_select(&mask).names(), names![_]);
    let wrong = mask.rename(N, H);
    assert_eq!(
        x.try_masked_fill(&wrong, 0.0).unwrap_err().kind(),
        ErrorKind::NameMismatch
    );
    assert_eq!(
        x.try_masked_select(&wrong).unwrap_err().kind(),
        ErrorKind::NameMismatch
    );
}
