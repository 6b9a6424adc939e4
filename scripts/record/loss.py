"""Losses."""

import torch
import torch.nn.functional as F

from common import D, Recorder, S, T, bf16, c64, f16, f32, f64, i32, i64, u8

R = Recorder("loss")
FN = "torch.nn.functional."


def t(x):
    return T(x.tensor.t(), " ".join(reversed([n or "_" for n in x.names])))


def by_dim(fn, dim):
    """Moves the classes to PyTorch's dim."""
    def f(x, *args, dim=None, at=dim, **kwargs):
        return fn(x.movedim(at, 1), *args, **kwargs)
    return f


for name in "cross_entropy", "nll_loss":
    fn, op = getattr(F, name), FN + name
    for dtype in f32, f64, f16, bf16:
        R.case(op, R.rand((4, 3), "N C", dtype), R.rand((4,), "N", i64, 0, 2), names="")
    x, y, w = R.rand((4, 3), "N C"), R.rand((4,), "N", i64, 0, 2), R.rand((3,), "C", f32, 0.5, 2)
    for reduction in "mean", "sum", "none":
        out = "N" if reduction == "none" else ""
        R.case(op, x, y, reduction=reduction, names=out)
        R.case(op, x, y, w, reduction=reduction, names=out)
        R.case(op, x, y, w, ignore_index=1, reduction=reduction, names=out)
        if name == "cross_entropy":
            for kwargs in {}, {"weight": w}, {"weight": w, "ignore_index": 2}:
                R.case(op, x, y, label_smoothing=0.25, reduction=reduction, names=out, **kwargs)
    R.case(op, R.rand((2, 3, 4), "N C W"), R.rand((2, 4), "N W", i64, 0, 2), names="")
    R.case(op, R.rand((2, 3, 4), "N C W"), R.rand((2, 4), "_ W", i64, 0, 2), reduction="none",
           names="N W")
    R.case(op, R.rand((3,), "C"), R.rand((), "", i64, 0, 2), names="")
    R.case(op, t(R.rand((3, 4), "C N")), y, names="")
    R.case(op, R.rand((0, 3), "N C"), T(torch.zeros(0, dtype=i64), "N"), reduction="sum", names="")
    R.case(op, R.rand((0, 3), "N C"), T(torch.zeros(0, dtype=i64), "N"), names="")
    R.case(op, x, T(torch.full((4,), -100), "N"), names="")
    R.case(op, R.rand((2, 4, 3), "N W C"), R.rand((2, 4), "N W", i64, 0, 2), dim=D("C", 2),
           reduction="none", names="N W", fn=by_dim(fn, 2))
    R.case(op, R.rand((3, 4), "C N"), y, dim=D("C", 0), names="", fn=by_dim(fn, 0))
    R.case(op, R.rand((4, 3), "N C"), T(y.tensor, "_"), reduction="none", names="N")
    R.error(op, "name_mismatch", x, R.rand((4,), "D", i64, 0, 2))
    R.error(op, "name_not_found", x, y, dim="D")
    R.error(op, "index", x, T(torch.tensor([0, 1, 2, 3]), "N"))
    R.error(op, "shape", x, R.rand((3,), "N", i64, 0, 2))
    R.error(op, "name_mismatch", x, y, R.rand((3,), "D"))
op = FN + "cross_entropy"
for reduction in "mean", "sum", "none":
    for kwargs in {}, {"weight": R.rand((3,), "C", f64, 0.5, 2)}, {"label_smoothing": 0.25}:
        out = "N" if reduction == "none" else ""
        x, y = R.rand((4, 3), "N C", f64), R.rand((4, 3), "N C", f64, 0, 1)
        R.case(op, x, y, reduction=reduction, names=out, **kwargs)
R.case(op, R.rand((2, 3, 4), "N C W"), R.rand((2, 3, 4), "N C W", f32, 0, 1), names="")


def pairs(name, kind=None, dtypes=(f32, f64, f16), low=-3.0, high=3.0, options=(), zero=True,
          broadcast=True):
    """Records dtypes, reductions, options, names; `kind` makes the target."""
    op = FN + name
    kind = kind or (lambda shape, names, dtype: R.rand(shape, names, dtype, low, high))
    for dtype in dtypes:
        for reduction in "mean", "sum", "none":
            x, y = R.rand((2, 3), "N C", dtype, low, high), kind((2, 3), "N C", dtype)
            R.case(op, x, y, reduction=reduction, names="N C" if reduction == "none" else "")
    for kwargs in options:
        x, y = R.rand((2, 3), "N C", f32, low, high), kind((2, 3), "N C", f32)
        R.case(op, x, y, names="", **kwargs)
        R.case(op, x, y, reduction="none", names="N C", **kwargs)
    R.case(op, t(R.rand((3, 2), "C N", f32, low, high)), kind((2, 3), "_ _", f32), reduction="none",
           names="N C")
    if broadcast:
        R.case(op, R.rand((2, 3), "N C", f32, low, high), kind((3,), "C", f32), reduction="none",
               names="N C")
    R.case(op, R.rand((0, 3), "N C"), kind((0, 3), "N C", f32), reduction="sum", names="")
    R.case(op, R.rand((), "", f32, low, high), kind((), "", f32), names="")
    R.error(op, "name_mismatch", R.rand((2, 3), "N C"), kind((2, 3), "N D", f32))
    R.error(op, "misaligned", R.rand((2, 2), "N C", f32, low, high), kind((2, 2), "C _", f32))


def signs(shape, names, dtype):
    x = R.rand(shape, names, f64).tensor.sign()
    return T(torch.where(x == 0, 1.0, x).to(dtype), names)


def shares(shape, names, dtype):
    return R.rand(shape, names, dtype, 0.01, 0.99)


pairs("mse_loss")
pairs("l1_loss")
pairs("smooth_l1_loss", options=({"beta": 0.5}, {"beta": 2.0}, {"beta": 0.0}))
pairs("huber_loss", options=({"delta": 0.5}, {"delta": 2.0}))
pairs("binary_cross_entropy", shares, low=0.01, high=0.99, dtypes=(f32, f64), broadcast=False,
      options=({"weight": R.rand((2, 3), "N C", f32, 0, 2)}, {"weight": R.rand((3,), "C", f32, 0, 2)}))
R.case(FN + "binary_cross_entropy", T(torch.tensor([0.0, 1.0, 0.0, 1.0]), "N"),
       T(torch.tensor([0.0, 1.0, 1.0, 0.0]), "N"), reduction="none", names="N")
pairs("binary_cross_entropy_with_logits", shares, dtypes=(f32, f64), broadcast=False,
      options=({"weight": R.rand((2, 3), "N C", f32, 0, 2)},
               {"pos_weight": R.rand((3,), "C", f32, 0, 2)}))
pairs("kl_div", shares, options=({"log_target": True}, ))
R.case(FN + "kl_div", R.rand((4, 3), "N C"), shares((4, 3), "N C", f32), reduction="batchmean",
       names="")
pairs("soft_margin_loss", signs)
pairs("poisson_nll_loss", lambda s, n, d: R.rand(s, n, d, 0, 4),
      options=({"full": True}, {"log_input": False, "eps": 0.5}), low=0.1)
pairs("hinge_embedding_loss", signs, options=({"margin": 2.0}, ))

op = FN + "gaussian_nll_loss"
for dtype in f32, f64:
    for reduction in "mean", "sum", "none":
        x, y = R.rand((2, 3), "N C", dtype), R.rand((2, 3), "N C", dtype)
        R.case(op, x, y, R.rand((2, 3), "N C", dtype, 0.1, 3), reduction=reduction,
               names="N C" if reduction == "none" else "")
x, y = R.rand((2, 3), "N C"), R.rand((2, 3), "N C")
R.case(op, x, y, R.rand((2, 3), "N C", f32, 0, 3), full=True, names="")
R.case(op, x, y, R.rand((2, 3), "N C", f32, 0, 3), eps=0.5, names="")
R.case(op, x, y, 0.5, names="")
R.error(op, "name_mismatch", x, R.rand((2, 3), "N D"), R.rand((2, 3), "N C", f32, 0, 3))

op = FN + "margin_ranking_loss"
for dtype in f32, f64:
    for reduction in "mean", "sum", "none":
        a, b = R.rand((4,), "N", dtype), R.rand((4,), "N", dtype)
        R.case(op, a, b, signs((4,), "N", dtype), reduction=reduction,
               names="N" if reduction == "none" else "")
R.case(op, R.rand((2, 3), "N C"), R.rand((2, 3), "_ C"), signs((2, 3), "N C", f32), margin=1.0,
       reduction="none", names="N C")
R.case(op, R.rand((4,), "N"), R.rand((4,), "N"), signs((4,), "N", f32), 0.5, names="")
R.error(op, "name_mismatch", R.rand((4,), "N"), R.rand((4,), "C"), signs((4,), "N", f32))

op = FN + "cosine_embedding_loss"
for dtype in f32, f64:
    for reduction in "mean", "sum", "none":
        a, b = R.rand((4, 3), "N C", dtype), R.rand((4, 3), "N C", dtype)
        R.case(op, a, b, signs((4,), "N", dtype), reduction=reduction,
               names="N" if reduction == "none" else "")
R.case(op, R.rand((4, 3), "N C"), R.rand((4, 3), "N C"), signs((4,), "N", f32), 0.5, names="")
R.case(op, R.rand((3, 4), "C N"), R.rand((3, 4), "C N"), signs((4,), "N", f32), dim=D("C", 0),
       names="", fn=lambda a, b, y, dim: F.cosine_embedding_loss(a.t(), b.t(), y))
R.error(op, "name_mismatch", R.rand((4, 3), "N C"), R.rand((4, 3), "N D"), signs((4,), "N", f32))

op = FN + "triplet_margin_loss"
for dtype in f32, f64:
    for reduction in "mean", "sum", "none":
        a, b, c = (R.rand((4, 3), "N C", dtype) for _ in range(3))
        R.case(op, a, b, c, reduction=reduction, names="N" if reduction == "none" else "")
a, b, c = (R.rand((4, 3), "N C") for _ in range(3))
R.case(op, a, b, c, swap=True, margin=2.0, names="")
R.case(op, a, b, c, p=1.0, names="")
R.error(op, "name_mismatch", a, b, R.rand((4, 3), "N D"))

R.write()
