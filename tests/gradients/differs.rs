//! Recorded gradients that differ from PyTorch's on purpose.

/// Why, and the cases by their ends.
const DIFFERS: &[(&str, &[&str])] = &[
    (
        "an infinity over an infinity is NaN in PyTorch's formula, where the slope has a limit",
        &[
            "activation/nn.functional.softsign-7",
            "edges/nn.functional.softsign-2",
            "edges/special.i0-1",
            "edges/special.log_ndtr-1",
            "parametric/special.log_ndtr-7",
        ],
    ),
    (
        "NaN stays NaN, where PyTorch takes it for 0",
        &[
            "edges/special.i1-1",
            "edges/special.i1e-1",
            "parametric/special.i1e-7",
        ],
    ),
    ("outside of its domain a slope is NaN", &["edges/acosh-1"]),
    (
        "at a pole a slope is infinite, and not as large as rounding leaves it",
        &["edges/digamma-1"],
    ),
    (
        "0 times infinity is NaN, which PyTorch leaves out beside a zero",
        &["edges/cumprod-4"],
    ),
    (
        "the slope of t ln t at 0 is minus infinity, PyTorch's NaN",
        &[
            "edges/nn.functional.kl_div-1",
            "edges/nn.functional.kl_div-2",
            "edges/nn.functional.kl_div-3",
        ],
    ),
    (
        "PyTorch counts what is in self among the equal ones where self is not included",
        &[
            "edges/index_reduce-6",
            "edges/index_reduce-8",
            "edges/scatter_reduce-8",
            "edges/scatter_reduce-10",
        ],
    ),
    (
        "of equal elements the one that a stable sort puts there",
        &["edges/kthvalue-1", "edges/topk-1"],
    ),
    (
        "a NaN does not count and gets nothing, where there is nothing else, too",
        &["edges/nanmean-2"],
    ),
    (
        "zero vectors have the least length of `cosine_similarity`",
        &["edges/nn.functional.cosine_embedding_loss-1"],
    ),
    (
        "2 to the power of a negative integer is no integer, and not 0",
        &[
            "parametric/Tensor.ldexp_-1",
            "parametric/ldexp-2",
            "parametric/ldexp-3",
        ],
    ),
    (
        "a deviation is multiplied by what was drawn, which is constant",
        &[
            "samples/normal-2",
            "samples/normal-4",
            "samples/normal-6",
            "samples/normal-8",
        ],
    ),
    (
        "in a half PyTorch's rounding is larger than the gradient",
        &["norm/nn.functional.group_norm-8"],
    ),
];

/// What became of a case, where its difference is known: it is to be there.
pub fn known(id: &str, outcome: Result<(), String>) -> Result<(), String> {
    let own = |&(_, cases): &&(&str, &[&str])| {
        let mut ends = cases.iter();
        ends.any(|case| id.strip_prefix("grad/") == Some(case))
    };
    match (DIFFERS.iter().find(own), outcome) {
        (None, outcome) => outcome,
        (Some(_), Err(_)) => Ok(()),
        (Some((why, _)), Ok(())) => Err(format!("agrees, and is listed as other: {why}")),
    }
}
