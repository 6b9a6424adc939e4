"""Normalisations, norms and cosine similarity, and random operators of training."""

import torch
import torch.nn.functional as F

from common import D, Recorder, S, T, bf16, f16, f32, f64, i32

R = Recorder("norm")
FN = "torch.nn.functional."


def t(x):
    return T(x.tensor.t(), " ".join(reversed([n or "_" for n in x.names])))


def over(*dims):
    """Returns PyTorch's normalisation over any dims, by moving them to the end and back."""
    def f(fn, x, *args, **kwargs):
        rest = [d for d in range(x.dim()) if d not in dims]
        order = rest + list(dims)
        y = x.permute(order)
        out = fn(y, [x.shape[d] for d in dims], *args, **kwargs)
        return out.permute([order.index(d) for d in range(x.dim())])
    return f


for name in "layer_norm", "rms_norm":
    fn, op = getattr(F, name), FN + name
    for dtype in f32, f64, f16, bf16:
        R.case(op, R.rand((2, 4), "N C", dtype), [4], names="N C")
        w = R.rand((4,), "C", dtype, 0.5, 2)
        R.case(op, R.rand((2, 4), "N C", dtype), [4], w, names="N C")
    R.case(op, R.rand((2, 3, 2), "N H W"), [3, 2], R.rand((3, 2), "_ _"), names="N H W")
    R.case(op, R.rand((2, 3, 2), "N H W"), [3, 2], R.rand((3, 2), "H W"), eps=1e-2, names="N H W")
    R.case(op, R.rand((2, 4), "N C"), S(["C"], [4]), weight=R.rand((4,), "C"), names="N C")
    R.case(op, R.rand((2, 4), "N C"), S("C", [4]), names="N C")
    R.case(op, t(R.rand((4, 3), "C N")), [4], R.rand((4,), "_"), names="N C")
    R.case(op, R.rand((0, 4), "N C"), [4], names="N C")
    R.case(op, R.rand((4,), "C", f64), [4], names="C")
    R.case(op, R.rand((2, 3, 2), "N C W"), S(["C"], None), names="N C W",
           fn=lambda x, _, fn=fn: over(1)(fn, x))
    R.case(op, R.rand((2, 3, 2), "N C W"), S(["C"], None), R.rand((3,), "_"), names="N C W",
           fn=lambda x, _, w, fn=fn: over(1)(fn, x, w))
    R.case(op, R.rand((2, 3, 2), "N C W", f64), S(["N", "W"], None), R.rand((2, 2), "W N", f64),
           names="N C W", fn=lambda x, _, w, fn=fn: over(0, 2)(fn, x, w.t()))
    R.error(op, "name_not_found", R.rand((2, 4), "N C"), ["D"])
    R.error(op, "shape", R.rand((2, 4), "N C"), [3])
    R.error(op, "name_not_found", R.rand((2, 4), "N C"), ["C"], R.rand((4,), "D"))
for dtype in f32, f64:
    w, b = R.rand((4,), "C", dtype), R.rand((4,), "C", dtype)
    R.case(FN + "layer_norm", R.rand((2, 4), "N C", dtype), [4], w, b, names="N C")
    R.case(FN + "layer_norm", R.rand((2, 4), "N C", dtype), [4], None, b, 1e-3, names="N C")
R.case("torch.layer_norm", R.rand((2, 4), "N C"), [4], names="N C")
R.case("torch.rms_norm", R.rand((2, 4), "N C"), [4], names="N C")

op = FN + "batch_norm"
for dtype in f32, f64, f16, bf16:
    m, v = R.rand((3,), "_", dtype), R.rand((3,), "_", dtype, 0.5, 2)
    x = R.rand((2, 3, 2), "N C W", dtype)
    R.case(op, x, m, v, names="N C W")
    R.case(op, x, m, v, training=True, names="N C W")
    w, b = R.rand((3,), "C", dtype), R.rand((3,), "C", dtype)
    R.case(op, x, m, v, w, b, False, 0.1, 1e-3, names="N C W")
    R.case(op, x, None, None, w, b, True, names="N C W")
R.case(op, R.rand((4, 3), "N C"), R.rand((3,), "C"), R.rand((3,), "C", f32, 1, 2), names="N C")
R.case(op, R.rand((4, 3), "N C"), None, None, training=True, names="N C")
R.case(op, t(R.rand((3, 4), "C N")), None, None, training=True, names="N C")
R.case(op, R.rand((2, 3, 2, 2), "N C H W"), None, None, training=True, eps=0.1, names="N C H W")
R.case(op, R.rand((4, 3), "N C"), None, None, training=True, dim=D("N", 0), names="N C",
       fn=lambda x, m, v, training, dim: F.batch_norm(x.t(), m, v, training=True).t())
R.case(op, R.rand((2, 4, 3), "N W C"), R.rand((3,), "C"), R.rand((3,), "C", f32, 1, 2),
       dim=D("C", 2), names="N W C",
       fn=lambda x, m, v, dim: F.batch_norm(x.transpose(1, 2), m, v).transpose(1, 2))
R.error(op, "name_not_found", R.rand((4, 3), "N C"), R.rand((3,), "D"), R.rand((3,), "D"))
R.error(op, "shape", R.rand((4, 3), "N C"), R.rand((2,), "C"), R.rand((2,), "C"))
R.error(op, "shape", R.rand((1, 3), "N C"), None, None, training=True)

op = FN + "group_norm"
for dtype in f32, f64, f16:
    R.case(op, R.rand((2, 4, 3), "N C W", dtype), 2, names="N C W")
    R.case(op, R.rand((2, 4), "N C", dtype), 2, R.rand((4,), "C", dtype), R.rand((4,), "C", dtype),
           names="N C")
    R.case(op, R.rand((2, 4, 3), "N C W", dtype), 1, R.rand((4,), "_", dtype), eps=0.1,
           names="N C W")
R.case(op, R.rand((2, 4, 2, 2), "N C H W"), 4, names="N C H W")
R.case(op, R.rand((2, 3, 4), "N W C"), 2, channel=D("C", 2), dim=["W"], names="N W C",
       fn=lambda x, g, channel, dim: F.group_norm(x.transpose(1, 2), g).transpose(1, 2))
R.error(op, "shape", R.rand((2, 4, 3), "N C W"), 3)
R.error(op, "name_not_found", R.rand((2, 4, 3), "N C W"), 2, channel="D")

op = FN + "instance_norm"
for dtype in f32, f64:
    R.case(op, R.rand((2, 3, 4), "N C W", dtype), names="N C W")
    R.case(op, R.rand((2, 3, 4), "N C W", dtype), weight=R.rand((3,), "C", dtype),
           bias=R.rand((3,), "_", dtype), names="N C W")
R.case(op, R.rand((2, 3, 2, 2), "N C H W"), eps=0.1, names="N C H W")
R.case(op, R.rand((2, 3, 4), "N C W"), R.rand((3,), "_"), R.rand((3,), "_", f32, 1, 2),
       use_input_stats=False, names="N C W")
R.case(op, R.rand((2, 3, 4), "N W C"), dim=["W"], names="N W C",
       fn=lambda x, dim: F.instance_norm(x.transpose(1, 2)).transpose(1, 2))
R.error(op, "name_not_found", R.rand((2, 3, 4), "N C W"), dim=["D"])
R.error(op, "shape", R.rand((2, 3, 1), "N C W"))

op = FN + "local_response_norm"
for dtype in f32, f64:
    for size in 1, 2, 3, 5:
        R.case(op, R.rand((2, 4, 2), "N C W", dtype), size, alpha=0.5, names="N C W")
R.case(op, R.rand((2, 4, 2), "N C W"), 3, 0.25, 0.5, 2.0, names="N C W")
R.case(op, R.rand((2, 2, 4), "N W C"), 3, dim=D("C", 2), names="N W C",
       fn=lambda x, size, dim: F.local_response_norm(x.transpose(1, 2), size).transpose(1, 2))

op = FN + "normalize"
for dtype in f32, f64, f16:
    R.case(op, R.rand((2, 3), "N C", dtype), names="N C")
    R.case(op, R.rand((2, 3), "N C", dtype), dim=D("N", 0), names="N C")
for p in 1.0, 3.0, float("inf"):
    R.case(op, R.rand((2, 3), "N C"), p, names="N C")
R.case(op, R.rand((2, 3, 2), "N C W"), dim=-1, names="N C W")
R.case(op, T(torch.zeros(2, 3), "N C"), eps=0.5, names="N C")
R.case(op, t(R.rand((3, 2), "C N")), names="N C")
R.case(op, R.rand((0, 3), "N C"), names="N C")
R.error(op, "name_not_found", R.rand((2, 3), "N C"), dim="D")

op = FN + "cosine_similarity"
for dtype in f32, f64:
    a, b = R.rand((2, 3), "N C", dtype), R.rand((2, 3), "N C", dtype)
    R.case(op, a, b, names="N")
    R.case(op, a, b, D("N", 0), names="C")
    R.case(op, a, R.rand((3,), "C", dtype), names="N")
R.case(op, R.rand((2, 3, 2), "N C W"), R.rand((2, 3, 2), "_ _ _"), dim=-1, names="N C")
R.case(op, T(torch.zeros(2, 3), "N C"), R.rand((2, 3), "N C"), names="N")
R.case(op, R.rand((2, 1), "N _"), R.rand((1, 3), "_ C"), names="N")
R.case(op, t(R.rand((3, 2), "C N")), R.rand((2, 3), "N C"), eps=1e-3, names="N")
R.error(op, "name_mismatch", R.rand((2, 3), "N C"), R.rand((2, 3), "N D"))

op = FN + "pairwise_distance"
for dtype in f32, f64:
    a, b = R.rand((2, 3), "N C", dtype), R.rand((2, 3), "N C", dtype)
    R.case(op, a, b, names="N")
    R.case(op, a, b, 1.0, names="N")
    R.case(op, a, b, keepdim=True, names="N C")
R.case(op, R.rand((2, 3), "N C"), R.rand((3,), "C"), eps=0.1, names="N")
R.case(op, t(R.rand((3, 2), "C N")), R.rand((2, 3), "N C"), float("inf"), names="N")
R.case(op, R.rand((2, 3), "N C"), R.rand((2, 3), "N C"), dim=D("N", 0), names="C",
       fn=lambda x, y, dim: F.pairwise_distance(x.t(), y.t()))
R.error(op, "name_mismatch", R.rand((2, 3), "N C"), R.rand((2, 3), "N D"))

for name in "dropout", "alpha_dropout":
    op = FN + name
    for dtype in f32, f64, f16:
        R.case(op, R.rand((2, 3), "N C", dtype), 0.25, False, names="N C")
        R.case(op, R.rand((2, 3), "N C", dtype), 0.25, True, names="N C", random=True)
    R.case(op, R.rand((2, 3), "N C"), p=0.0, training=True, names="N C")
    R.case(op, T(R.rand((2, 3), "N C").tensor.abs(), "N C"), p=1.0, training=True, names="N C")
    R.case(op, R.rand((2, 3), "N C"), training=False, names="N C")
    R.case(op, t(R.rand((3, 2), "C N")), 0.5, True, names="N C", random=True)
    R.case(op, R.rand((0, 3), "N C"), 0.5, True, names="N C")
R.case("torch.dropout", R.rand((2, 3), "N C"), 0.5, False, names="N C")
for dtype in f32, f64, bf16:
    R.case(FN + "rrelu", R.rand((2, 3), "N C", dtype), names="N C")
    R.case(FN + "rrelu", R.rand((2, 3), "N C", dtype), 0.25, 0.75, names="N C")
    R.case(FN + "rrelu", R.rand((2, 3), "N C", dtype), training=True, names="N C", random=True)
R.case("torch.rrelu_", R.rand((2, 3), "N C"), names="N C")

R.write()
