"""Elementwise operators with parameters, special functions, operators of two and three operands."""

import torch
import torch.nn.functional as F

from common import D, Recorder, S, T, bf16, boolean, c64, c128, f16, f32, f64, i8, i16, i32, i64, u8

R = Recorder("parametric")
INF, NAN = float("inf"), float("nan")
ODD = T(torch.tensor([[0.0, -0.0, 1.5], [INF, -INF, NAN]]), "N C")


def t(x):
    """Returns the transposed tensor, which is not contiguous."""
    return T(x.tensor.t(), " ".join(reversed([n or "_" for n in x.names])))


def unary(op, low=-3.0, high=3.0, dtypes=(f32, f64, f16, bf16, i32, boolean), odd=True, out=False,
          in_place=False, **kwargs):
    """Records dtypes, ranks, empty tensors, strides, special values, and the other forms."""
    for dtype in dtypes:
        R.case(op, R.rand((2, 3), "N C", dtype, low, high), names="N C", **kwargs)
    R.case(op, R.rand((), "", f64, low, high), names="", **kwargs)
    R.case(op, R.rand((0, 3), "N _", f32, low, high), names="N _", **kwargs)
    R.case(op, t(R.rand((3, 4), "N C", f32, low, high)), names="C N", **kwargs)
    R.case(op, R.rand((2, 1, 3), "_ C _", f64, low, high), names="_ C _", **kwargs)
    if odd:
        R.case(op, ODD, names="N C", **kwargs)
    if in_place:
        R.case(op.replace("torch.", "torch.Tensor.") + "_", R.rand((2, 3), "N C", f32, low, high),
               names="N C", **kwargs)


def binary(op, low=-3.0, high=3.0, dtypes=((f32, f32), (f64, f32), (f16, f16), (i32, f32), (i64, i16)),
           scalars=(), zero=False, in_place=True, odd=True):
    """Records dtypes, broadcasting, unification, errors."""
    for a, b in dtypes:
        R.case(op, R.rand((2, 3), "N C", a, low, high), R.rand((2, 3), "N C", b, low, high),
               names="N C")
    a, b = dtypes[0]
    R.case(op, R.rand((2, 3), "N C", a, low, high), R.rand((3,), "C", b, low, high), names="N C")
    R.case(op, R.rand((2, 1), "N _", a, low, high), R.rand((1, 3), "_ C", b, low, high),
           names="N C")
    R.case(op, t(R.rand((3, 2), "C N", a, low, high)), R.rand((2, 3), "_ _", b, low, high),
           names="N C")
    R.case(op, R.rand((0, 3), "N C", a, low, high), R.rand((3,), "_", b, low, high), names="N C")
    for value in scalars:
        R.case(op, R.rand((2, 3), "N C", a, low, high), value, names="N C")
    if odd:
        R.case(op, ODD, T(ODD.tensor.flip(1), "N C"), names="N C")
    if in_place:
        R.case(op.replace("torch.", "torch.Tensor.") + "_", R.rand((2, 3), "N C", a, low, high),
               R.rand((3,), "C", b, low, high), names="N C")
    x = R.rand((2, 3), "N C", a, low, high)
    R.error(op, "name_mismatch", x, R.rand((2, 3), "N D", b, low, high))
    R.error(op, "misaligned", x, R.rand((3, 2), "C _", b, low, high))


for op in "square", "isnan", "isinf", "isfinite":
    unary(f"torch.{op}", dtypes=(f32, f64, f16, i32, c64), in_place=op == "square")
unary("torch.isreal", dtypes=(f32, c64, c128, i32, boolean))
R.case("torch.isreal", T(torch.tensor([1 + 0j, 1 + 2j]), "C"), names="C")
for op in "isposinf", "isneginf":
    unary(f"torch.{op}", dtypes=(f32, f64, f16, i32, boolean))
unary("torch.signbit", dtypes=(f32, f64, f16, i32, u8), odd=True)
unary("torch.positive", dtypes=(f32, f64, i32, u8, c64))
unary("torch.angle", dtypes=(f32, f64, i32, boolean, c64, c128))
for op in "erfcx", "ndtr", "log_ndtr", "i0e", "i1", "i1e":
    # PyTorch's i1 of infinity is NaN.
    unary(f"torch.special.{op}", dtypes=(f32, f64, i32, boolean), odd=op != "i1")
unary("torch.i0", dtypes=(f32, f64, f16, i32, boolean), odd=False, in_place=True)
for n in 0, 1, 2, 3:
    for dtype in f32, f64, i32:
        R.case("torch.polygamma", n, R.rand((2, 3), "N C", dtype, 1, 9), names="N C")
    R.case("torch.Tensor.polygamma", R.rand((2, 3), "N C", f64, 0.1, 3), n, names="N C")
R.case("torch.polygamma", 1, T(torch.tensor([-0.5, -1.25, -3.75, 0.25]), "C"), names="C")
R.case("torch.Tensor.polygamma_", R.rand((3,), "C", f32, 0.1, 3), 1, names="C")
for p in 1, 2, 3, 5:
    for dtype in f32, f64:
        R.case("torch.mvlgamma", R.rand((2, 3), "N C", dtype, 3, 9), p, names="N C")
R.case("torch.special.multigammaln", R.rand((0, 3), "N C", f32, 3, 9), 2, names="N C")
R.case("torch.Tensor.mvlgamma_", R.rand((3,), "C", f32, 3, 9), 2, names="C")
binary("torch.special.zeta", 1.5, 6, dtypes=((f32, f32), (f64, f32), (i32, i32)), scalars=(2, 3.5),
       in_place=False, odd=False)
R.case("torch.special.zeta", 3, R.rand((3,), "C", f64, 0.1, 5), names="C")
unary("torch.special.ndtri", 0.01, 0.99, dtypes=(f32, f64), odd=False)
R.case("torch.special.ndtri", T(torch.tensor([0.0, 1.0, 0.5, 2.0, -1.0, NAN]), "C"), names="C")
for dtype in i32, boolean, f64:
    R.case("torch.special.ndtri", R.rand((4,), "C", dtype, 0, 1), names="C")
unary("torch.special.entr", 0, 3, dtypes=(f32, f64, i32, boolean))
unary("torch.special.expit", dtypes=(f32, f64))
unary("torch.sinc", dtypes=(f32, f64, i32), in_place=True)
unary("torch.exp2", dtypes=(f32, f64, i32), in_place=True)
unary("torch.logit", 0.01, 0.99, dtypes=(f32, f64, f16), in_place=True)
R.case("torch.logit", R.rand((2, 3), "N C", f32, -1, 2), 0.1, names="N C")
R.case("torch.logit", R.rand((2, 3), "N C", f64, -1, 2), eps=1e-3, names="N C")
R.case("torch.Tensor.logit_", R.rand((2, 3), "N C", f64, -1, 2), 0.25, names="N C")

unary("torch.nan_to_num", dtypes=(f32, f64, f16, bf16, i32, boolean, c64), in_place=True)
for dtype in f32, f64, f16, bf16:
    R.case("torch.nan_to_num", T(ODD.tensor.to(dtype), "N C"), names="N C")
R.case("torch.nan_to_num", ODD, 2.5, names="N C")
R.case("torch.nan_to_num", ODD, nan=1.0, posinf=7.0, neginf=-9.0, names="N C")
R.case("torch.nan_to_num", ODD, posinf=7.0, names="N C")
R.case("torch.Tensor.nan_to_num_", ODD, 4.0, None, -3.0, names="N C")
R.case("torch.nan_to_num", T(torch.tensor([complex(NAN, 1), complex(2, INF)]), "C"), names="C")

unary("torch.round", -30, 30, dtypes=(f32, f64, f16, i32), in_place=True)
for decimals in 1, 2, -1, 0, 3:
    R.case("torch.round", R.rand((2, 3), "N C", f64, -300, 300), decimals=decimals, names="N C")
R.case("torch.Tensor.round_", R.rand((2, 3), "N C", f32, -30, 30), decimals=1, names="N C")

for op in "fmax", "fmin", "maximum", "minimum":
    binary(f"torch.{op}", in_place=False,
           dtypes=((f32, f32), (f64, f32), (f16, f16), (i32, f32), (i64, i16), (boolean, boolean)))
binary("torch.copysign", scalars=(-1, 2.5))
binary("torch.nextafter", dtypes=((f32, f32), (f64, f64)))
binary("torch.hypot", dtypes=((f32, f32), (f64, f64), (f16, f16), (f64, f32)))
for op in "logaddexp", "logaddexp2":
    binary(f"torch.{op}", in_place=False, dtypes=((f32, f32), (f64, f64), (f16, f16)))
binary("torch.xlogy", 0.1, 3, scalars=(2, 0.5), dtypes=((f32, f32), (f64, f32), (i32, i32)))
R.case("torch.xlogy", 2.0, R.rand((3,), "C", f32, 0.1, 3), names="C")
binary("torch.special.xlog1py", 0.1, 3, scalars=(2, 0.5), in_place=False,
       dtypes=((f32, f32), (f64, f32), (i32, i32)))
R.case("torch.special.xlog1py", 2.0, R.rand((3,), "C", f32, 0.1, 3), names="C")
binary("torch.heaviside", -2, 2, dtypes=((f32, f32), (f64, f64), (i32, i32), (boolean, boolean)))
R.case("torch.heaviside", R.rand((2, 6), "N C", i32, -1, 1), R.rand((6,), "C", i32), names="N C")
for op in "gcd", "lcm":
    binary(f"torch.{op}", -12, 12, odd=False,
           dtypes=((i32, i32), (i64, i64), (i16, i32), (u8, u8), (i8, i8)))
binary("torch.float_power", 0.1, 3, scalars=(2, 0.5, -1.5), odd=False, in_place=False,
       dtypes=((f32, f32), (f64, f32), (i32, i32), (f16, i64), (c64, f32)))
R.case("torch.float_power", 2, R.rand((3,), "C", i32, 0, 3), names="C")
R.case("torch.Tensor.float_power_", R.rand((3,), "C", f64, 0, 3), 2, names="C")
binary("torch.ldexp", -3, 3, dtypes=((f32, i32), (f64, i32), (i32, i32), (f16, i16)), odd=False)
for op in "clamp_min", "clamp_max":
    binary(f"torch.{op}", scalars=(0, 0.5, -1))

for op in "fmod", "remainder", "floor_divide":
    for a, b in (f32, f32), (f64, f32), (i32, i32), (i64, i16), (u8, u8), (f16, f16), (i32, f32):
        x, y = R.rand((2, 3), "N C", a, -9, 9), R.rand((3,), "C", b, 1, 4)
        R.case(f"torch.{op}", x, y, names="N C")
    R.case(f"torch.{op}", R.rand((2, 3), "N C", i32, -9, 9), -3, names="N C")
    R.case(f"torch.{op}", R.rand((2, 3), "N C", f64, -9, 9), 1.5, names="N C")
    R.case(f"torch.{op}", ODD, T(torch.tensor([[2.0, -2.0, 0.0], [1.0, 2.0, 3.0]]), "N C"),
           names="N C")
    R.case(f"torch.Tensor.{op}_", R.rand((2, 3), "N C", i32, -9, 9), 4, names="N C")
    R.case(f"torch.{op}", t(R.rand((3, 2), "C N", f32, -9, 9)), R.rand((2, 1), "_ _", f32, 1, 3),
           names="N C")
    R.error(f"torch.{op}", "name_mismatch", R.rand((2,), "N"), R.rand((2,), "C"))
    R.error(f"torch.{op}", "misaligned", R.rand((2, 3), "N C"), R.rand((3, 2), "C _"))
for mode in None, "trunc", "floor":
    for a, b in (f32, f32), (i32, i32), (f64, i64), (u8, u8), (f16, f16), (i64, f32):
        x, y = R.rand((2, 3), "N C", a, -9, 9), R.rand((3,), "C", b, 1, 4)
        R.case("torch.div", x, y, rounding_mode=mode, names="N C")
    R.case("torch.div", R.rand((3,), "C", i64, -9, 9), -4, rounding_mode=mode, names="C")
    R.case("torch.divide", R.rand((3,), "C", f32, -9, 9), 1.5, rounding_mode=mode, names="C")
    R.case("torch.Tensor.div_", R.rand((3,), "C", f32, -9, 9), 1.5, rounding_mode=mode, names="C")
R.case("torch.true_divide", R.rand((3,), "C", i32, -9, 9), 2, names="C")
R.error("torch.div", "name_mismatch", R.rand((2,), "N"), R.rand((2,), "C"), rounding_mode="floor")

for op in "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift":
    high = 5 if "shift" in op else 100
    low = 0 if "shift" in op else -100
    kinds = [(i32, i32), (i64, i64), (u8, u8), (i8, i8), (i16, i32)]
    if "shift" not in op:
        kinds.append((boolean, boolean))
    for a, b in kinds:
        R.case(f"torch.{op}", R.rand((2, 3), "N C", a, -100, 100), R.rand((3,), "C", b, low, high),
               names="N C")
    R.case(f"torch.{op}", R.rand((2, 3), "N C", i32, -100, 100), 3, names="N C")
    R.case(f"torch.{op}", t(R.rand((3, 2), "C N", i64, -100, 100)),
           R.rand((2, 1), "N _", i64, low, high), names="N C")
    R.case(f"torch.{op}", R.rand((0, 3), "N C", i64), R.rand((3,), "_", i64, low, high),
           names="N C")
    R.case(f"torch.Tensor.{op}_", R.rand((2, 3), "N C", i64), 2, names="N C")
    R.error(f"torch.{op}", "name_mismatch", R.rand((2,), "N", i32), R.rand((2,), "C", i32))

for op in "addcmul", "addcdiv":
    kinds = [(f32, 1), (f64, 0.5), (f16, 1), (c64, 2)] + ([(i32, 3)] if op == "addcmul" else [])
    for dtype, value in kinds:
        x, y, z = (R.rand((2, 3), "N C", dtype, 1, 4) for _ in range(3))
        R.case(f"torch.{op}", x, y, z, value=value, names="N C")
    x, y, z = R.rand((2, 3), "N C"), R.rand((3,), "C"), R.rand((2, 1), "N _", f32, 1, 3)
    R.case(f"torch.{op}", x, y, z, names="N C")
    R.case(f"torch.{op}", x, y, z, value=-2.5, names="N C")
    R.case(f"torch.Tensor.{op}_", x, y, z, value=0.25, names="N C")
    R.case(f"torch.Tensor.{op}_", x, y, z, names="N C")
    R.case(f"torch.{op}", t(x), T(y.tensor.unsqueeze(1), "_ N"), T(z.tensor.t(), "_ N"),
           names="C N")
    R.case(f"torch.{op}", R.rand((0, 3), "N C"), y, y, names="N C")
    R.error(f"torch.{op}", "name_mismatch", x, y, R.rand((3,), "D"))
    R.error(f"torch.{op}", "misaligned", x, R.rand((3, 2), "C _"), z)

for dtype in f32, f64, f16, c64:
    x, y = R.rand((2, 3), "N C", dtype), R.rand((2, 3), "N C", dtype)
    R.case("torch.lerp", x, y, 0.25, names="N C")
    R.case("torch.lerp", x, y, R.rand((2, 3), "N C", dtype), names="N C")
    R.case("torch.lerp", x, R.rand((3,), "C", dtype), 1.5, names="N C")
R.case("torch.lerp", R.rand((2, 3), "N C"), R.rand((3,), "C"), R.rand((2, 1), "N _"), names="N C")
R.case("torch.lerp", R.rand((0, 3), "N C"), R.rand((3,), "C"), 0.5, names="N C")
R.case("torch.Tensor.lerp_", R.rand((2, 3), "N C"), R.rand((3,), "C"), 0.5, names="N C")
R.error("torch.lerp", "name_mismatch", R.rand((2, 3), "N C"), R.rand((3,), "D"), 0.5)

CLOSE = T(torch.tensor([[1.0, 2.0, 3.0], [INF, -INF, NAN]]), "N C")
NEAR = T(torch.tensor([[1.00001, 2.1, 3.0], [INF, INF, NAN]]), "N C")
for kwargs in {}, {"rtol": 0.1}, {"atol": 0.2, "rtol": 0.0}, {"equal_nan": True}, {"rtol": 0.0, "atol": 0.0}:
    R.case("torch.isclose", CLOSE, NEAR, names="N C", **kwargs)
    R.case("torch.allclose", CLOSE, NEAR, names=None, **kwargs)
for dtype in f64, f16, i32, c64, boolean:
    x = R.rand((2, 3), "N C", dtype)
    R.case("torch.isclose", x, R.rand((3,), "C", dtype), names="N C")
    R.case("torch.allclose", x, x, names=None)
R.case("torch.allclose", T(torch.zeros(0, 3), "N C"), T(torch.zeros(0, 3), "N C"), names=None)
R.case("torch.isclose", T(torch.zeros(0, 3), "N C"), T(torch.zeros(3), "_"), names="N C")
R.error("torch.isclose", "name_mismatch", CLOSE, R.rand((2, 3), "N D"))
R.error("torch.isclose", "misaligned", CLOSE, R.rand((3, 2), "C _"))

R.write()
