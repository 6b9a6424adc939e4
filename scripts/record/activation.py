"""Activation functions of neural networks."""

import torch
import torch.nn.functional as F

from common import D, Recorder, S, T, bf16, c64, f16, f32, f64, i32, i64

R = Recorder("activation")
INF, NAN = float("inf"), float("nan")
ODD = T(torch.tensor([[0.0, -0.0, 1.5], [INF, -INF, NAN]]), "N C")
FN = "torch.nn.functional."


def t(x):
    return T(x.tensor.t(), " ".join(reversed([n or "_" for n in x.names])))


def each(name, *options, dtypes=(f32, f64, f16, bf16), in_place=False):
    op = FN + name
    for dtype in dtypes:
        R.case(op, R.rand((2, 3), "N C", dtype, -7, 7), names="N C")
    R.case(op, R.rand((), "", f64), names="")
    R.case(op, R.rand((0, 3), "N _"), names="N _")
    R.case(op, t(R.rand((3, 4), "N C", f32, -7, 7)), names="C N")
    # PyTorch's gelu of infinity is NaN.
    R.case(op, T(ODD.tensor.clamp(-9, 9), "N C") if name == "gelu" else ODD, names="N C")
    for kwargs in options:
        R.case(op, R.rand((2, 4), "N C", f32, -7, 7), names="N C", **kwargs)
        R.case(op, R.rand((2, 1, 2), "N _ C", f64, -7, 7), names="N _ C", **kwargs)
        R.case(op, *[R.rand((4,), "C", f32, -7, 7), *kwargs.values()], names="C") \
            if name not in ("gelu",) else None
    if in_place:
        R.case(op, R.rand((2, 3), "N C", f32, -7, 7), inplace=True, names="N C")
        R.case(op, R.rand((2, 3), "N C", f64, -7, 7), inplace=True, names="N C")


each("relu", dtypes=(f32, f64, i32))
each("silu", dtypes=(f32, f64, f16, c64))
each("gelu", {"approximate": "tanh"}, {"approximate": "none"})
for name in "selu", "mish", "hardsigmoid", "hardswish":
    each(name, in_place=True)
each("relu6", dtypes=(f32, f64, f16, i32), in_place=True)
for name in "logsigmoid", "softsign", "tanhshrink":
    each(name, dtypes=(f32, f64, f16))
for name in "softsign", "tanhshrink":
    R.case(FN + name, R.rand((3,), "C", i32), names="C")
each("elu", {"alpha": 0.5}, in_place=True)
each("celu", {"alpha": 0.5}, in_place=True)
each("leaky_relu", {"negative_slope": 0.25}, in_place=True)
each("softplus", {"beta": 2.0}, {"beta": 0.5, "threshold": 1.0})
each("hardtanh", {"min_val": -0.5, "max_val": 2.5}, in_place=True)
each("softshrink", {"lambd": 1.25})
each("hardshrink", {"lambd": 1.25})
R.case("torch.selu", R.rand((2, 3), "N C"), names="N C")
R.case("torch.Tensor.relu_", R.rand((2, 3), "N C"), names="N C")
for dtype in f32, f64, f16, i32, i64:
    R.case(FN + "threshold", R.rand((2, 3), "N C", dtype), 1, 7, names="N C")
R.case(FN + "threshold", ODD, 0.5, -20.5, names="N C")
R.case(FN + "threshold", t(R.rand((3, 4), "N C")), threshold=0.1, value=20.0, names="C N")
R.case(FN + "threshold", R.rand((0, 3), "N C"), 0.1, 20.0, names="N C")
R.case("torch.threshold_", R.rand((2, 3), "N C"), 0.1, 20.0, names="N C")

for dtype in f32, f64, f16, bf16:
    R.case(FN + "prelu", R.rand((2, 3), "N C", dtype), R.rand((3,), "C", dtype), names="N C")
R.case(FN + "prelu", R.rand((2, 3, 2), "N C L"), R.rand((3,), "_"), names="N C L")
R.case(FN + "prelu", R.rand((2, 3, 2), "N C L"), R.rand((3,), "C"), names="N C L")
R.case(FN + "prelu", R.rand((2, 3), "N C"), R.rand((1,), "_"), names="N C")
R.case(FN + "prelu", R.rand((3,), "C"), R.rand((), ""), names="C")
R.case(FN + "prelu", t(R.rand((3, 2), "C N")), R.rand((3,), "_"), names="N C")
R.case(FN + "prelu", R.rand((2, 3), "C N"), R.rand((2,), "C"), names="C N",
       fn=lambda x, w: F.prelu(x.t(), w).t())
R.error(FN + "prelu", "name_not_found", R.rand((2, 3), "N C"), R.rand((3,), "D"))
R.error(FN + "prelu", "shape", R.rand((2, 3), "N C"), R.rand((2,), "C"))

for dtype in f32, f64, f16:
    R.case(FN + "glu", R.rand((2, 4), "N C", dtype), names="N C")
    R.case(FN + "glu", R.rand((2, 4), "N C", dtype), D("N", 0), names="N C")
R.case(FN + "glu", R.rand((2, 6, 3), "N C L"), D("C", 1), names="N C L")
R.case(FN + "glu", R.rand((2, 6, 3), "N C L"), -2, names="N C L")
R.case(FN + "glu", t(R.rand((4, 3), "N C")), dim=D("N", 1), names="C N")
R.case(FN + "glu", R.rand((2, 0), "N C"), names="N C")
R.error(FN + "glu", "shape", R.rand((2, 3), "N C"))
R.error(FN + "glu", "name_not_found", R.rand((2, 4), "N C"), "D")

R.write()
