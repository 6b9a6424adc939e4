use super::{fails, kind, n};
use crate::error::ErrorKind;
use crate::name::Names;
use crate::rule::{
    addmm, baddbmm, bmm, bmm_shape, cdist, cdist_shape, contract, contract_shape, dot, matmul,
    matmul_shape, mm, mm_shape, mv,
};

#[test]
fn products_by_position() {
    assert_eq!(mm("mm", &n("N K"), &n("J M")).unwrap(), n("N M"));
    assert_eq!(mv("mv", &n("N K"), &n("J")).unwrap(), n("N"));
    assert_eq!(dot("dot", &n("N"), &n("K")).unwrap(), Names::default());
    assert_eq!(bmm("bmm", &n("_ N K"), &n("B K M")).unwrap(), n("B N M"));
    assert_eq!(matmul("matmul", &n("K"), &n("B K M")).unwrap(), n("B M"));
    assert_eq!(
        matmul("matmul", &n("A B N K"), &n("K")).unwrap(),
        n("A B N")
    );
    assert_eq!(
        cdist("cdist", &n("B P K"), &n("_ R K")).unwrap(),
        n("B P R")
    );
    assert_eq!(
        addmm("addmm", &n("_ M"), &n("N K"), &n("K _")).unwrap(),
        n("N M")
    );
    assert_eq!(
        baddbmm("baddbmm", &n("M"), &n("B N K"), &n("B K _")).unwrap(),
        n("B N M")
    );
    assert_eq!(kind(mm("mm", &n("N"), &n("N M"))), ErrorKind::Rank);
    assert_eq!(kind(matmul("matmul", &n(""), &n("N"))), ErrorKind::Rank);
}

#[test]
fn a_product_never_holds_a_name_twice() {
    fails(
        mm("mm", &n("N K"), &n("K N")),
        ErrorKind::DuplicateNames,
        "mm: dim `N` appears more than once in (N, N); dims (N, K) and (K, N); \
         rename a dim of one operand first: `x.rename(..)`",
    );
    // PyTorch accepts this case.
    assert_eq!(
        kind(matmul("matmul", &n("M N K"), &n("K M"))),
        ErrorKind::DuplicateNames
    );
}

#[test]
fn a_batch_dim_that_stands_elsewhere_conflicts_even_among_features() {
    assert_eq!(
        kind(matmul("matmul", &n("_ N K"), &n("K J M"))),
        ErrorKind::Misaligned
    );
    assert_eq!(
        kind(matmul("matmul", &n("K J M"), &n("_ N K"))),
        ErrorKind::Misaligned
    );
    // Without a batch dim, nothing is searched.
    assert_eq!(
        matmul("matmul", &n("N K"), &n("B K M")).unwrap(),
        n("B N M")
    );
    assert_eq!(
        kind(bmm("bmm", &n("B N K"), &n("A K M"))),
        ErrorKind::NameMismatch
    );
}

#[test]
fn shapes_of_products() {
    assert_eq!(mm_shape("mm", &[2, 3], &[3, 4]).unwrap().as_slice(), [2, 4]);
    assert_eq!(
        matmul_shape("matmul", &[3], &[3]).unwrap().as_slice(),
        [0; 0]
    );
    let batched = matmul_shape("matmul", &[5, 1, 2, 3], &[6, 3, 4]).unwrap();
    assert_eq!(batched.as_slice(), [5, 6, 2, 4]);
    assert_eq!(
        cdist_shape("cdist", &[7, 2, 3], &[4, 3])
            .unwrap()
            .as_slice(),
        [7, 2, 4]
    );
    assert_eq!(
        kind(bmm_shape("bmm", &[1, 2, 3], &[5, 3, 4])),
        ErrorKind::Shape
    );
    assert_eq!(kind(mm_shape("mm", &[2], &[2, 3])), ErrorKind::Rank);
    let error = matmul_shape("matmul", &[2, 3], &[4, 4])
        .map_err(|error| error.with_names([&n("N K"), &n("K M")]));
    fails(
        error,
        ErrorKind::Shape,
        "matmul: dim `K` has size 3 in the first operand and 4 in the second; \
         dims (N=2, K=3) and (K=4, M=4); \
         the left operand's last size must be the right one's second to last",
    );
    assert_eq!(
        kind(matmul_shape("matmul", &[5, 2, 3], &[6, 3, 4])),
        ErrorKind::Shape
    );
}

#[test]
fn contraction_by_name() {
    let (q, k) = (n("T B K"), n("K S B"));
    let plan = contract("contract", &q, &k, &"K".into()).unwrap();
    assert_eq!(plan.names, n("T B S"));
    assert_eq!(
        (plan.batch.as_slice(), plan.sum.as_slice()),
        (&[(1, 2)][..], &[(2, 0)][..])
    );
    assert_eq!(
        (plan.left.as_slice(), plan.right.as_slice()),
        (&[0][..], &[1][..])
    );
    // The natural order is (B, T, S); requested is (T, B, S).
    assert_eq!(plan.order.as_slice(), [1, 0, 2]);
    let shape = contract_shape("contract", (&q, &[5, 7, 3]), (&k, &[3, 4, 7]), &plan).unwrap();
    assert_eq!(shape.as_slice(), [5, 7, 4]);
    let all = contract("contract", &n("N K"), &n("K N"), &["N", "K"].into()).unwrap();
    assert_eq!(
        (all.sum.as_slice(), all.names),
        (&[(0, 1), (1, 0)][..], n(""))
    );
    fails(
        contract_shape("contract", (&q, &[5, 7, 3]), (&k, &[4, 4, 7]), &plan),
        ErrorKind::Shape,
        "contract: dim `K` has size 3 in the first operand and 4 in the second; \
         dims (T=5, B=7, K=3) and (K=4, S=4, B=7); a shared dim has one size in both operands",
    );
    let kinds = |a: &str, b: &str, dim: &str| kind(contract("contract", &n(a), &n(b), &dim.into()));
    assert_eq!(kinds("N K", "J M", "K"), ErrorKind::NameNotFound);
    assert_eq!(kinds("N _", "N M", "N"), ErrorKind::UnnamedDim);
    assert_eq!(
        kind(contract("contract", &q, &k, &0.into())),
        ErrorKind::Argument
    );
    assert_eq!(
        kind(contract("contract", &q, &k, &(..).into())),
        ErrorKind::Argument
    );
}
