"""Random fills and samples, seeds, attributes, conversions, resizing."""

import torch

from common import (
    D, S, T, Recorder, bf16, boolean, c64, c128, f16, f32, f64, i8, i16, i32, i64, u8,
)

r = Recorder("samples")
M = "torch.Tensor."
turned = lambda x, names: T(x.tensor.t(), names)


def fills(name, args, dtypes, wrong):
    """Records in-place fills of every dtype, of a non-contiguous matrix, of an empty tensor."""
    for at, dtype in enumerate(dtypes):
        x = [r.rand((2, 3), "N C", dtype), r.rand((4,), "_", dtype), r.rand((2, 1, 3), "N _ C", dtype)]
        x = x[at % 3]
        r.case(M + name, x, *args, names=" ".join(n or "_" for n in x.names), random=True)
    r.case(M + name, turned(r.rand((2, 3), "N C", dtypes[0]), "C N"), *args, names="C N", random=True)
    r.case(M + name, r.rand((0, 3), "N C", dtypes[0]), *args, names="N C", random=True)
    r.case(M + name, r.rand((), "", dtypes[0]), *args, names="", random=True)
    for dtype in wrong:
        r.error(M + name, "dtype", r.rand((2, 3), "N C", dtype), *args)


floats = [f32, f64, f16, bf16]
whole = [u8, i8, i16, i32, i64]
fills("uniform_", (-1.0, 2.0), floats, [i64, boolean, c64])
fills("normal_", (1.0, 2.0), floats + [c64, c128], [i32, boolean])
fills("log_normal_", (0.0, 0.5), floats, [i64, c128])
fills("exponential_", (2.0,), floats, [u8, c64])
fills("cauchy_", (1.0, 0.5), floats, [i16, c64])
fills("geometric_", (0.25,), floats + whole, [boolean, c64])
fills("random_", (1, 5), floats + whole, [c64])
fills("bernoulli_", (0.25,), floats + whole + [boolean], [c64])

# The result is known if nothing is random.
for dtype in floats:
    r.case(M + "uniform_", r.rand((2, 2), "N C", dtype), 2.0, 2.0, names="N C")
    r.case(M + "normal_", r.rand((2, 2), "N C", dtype), 1.5, 0.0, names="N C")
for dtype in floats + whole + [boolean]:
    r.case(M + "random_", r.rand((3,), "N", dtype), 1, names="N")
    r.case(M + "bernoulli_", r.rand((3,), "N", dtype), 1.0, names="N")
r.case(M + "random_", r.rand((3,), "N", i64), 4, 5, names="N")
r.case(M + "random_", r.rand((2, 2), "N C", i8), names="N C", random=True)
r.case(M + "random_", r.rand((2, 2), "N C", f64), 7, None, names="N C", random=True)
zeros_and_ones = T(torch.tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]]), "N C")
r.case(M + "bernoulli_", r.rand((2, 3), "N C"), zeros_and_ones, names="N C")
r.case(M + "bernoulli_", r.rand((2, 3), "N C", i64), T(zeros_and_ones.tensor[0], "C"), names="N C")
r.case(M + "bernoulli_", r.rand((2, 3), "_ _", f64), zeros_and_ones, names="N C")
r.error(M + "bernoulli_", "name_mismatch", r.rand((2, 3), "N C"), T(zeros_and_ones.tensor, "N D"))
r.error(M + "bernoulli_", "shape", r.rand((2, 2), "N C"), zeros_and_ones)

for dtype in floats:
    p = T(zeros_and_ones.tensor.to(dtype), "N C")
    r.case("torch.bernoulli", p, names="N C")
    r.case("torch.bernoulli", turned(p, "C N"), names="C N")
    r.case(M + "bernoulli", r.rand((2, 3), "N _", dtype, 0, 1), names="N _", random=True)
    r.case("torch.bernoulli", r.rand((2, 3), "N C", dtype), 0.5, names="N C", random=True)
r.case("torch.bernoulli", r.rand((0, 3), "N C"), names="N C")
r.error("torch.bernoulli", "dtype", r.rand((2, 3), "N C", i64))

for dtype in floats:
    r.case("torch.poisson", r.rand((2, 3), "N C", dtype, 0, 9), names="N C", random=True)
    r.case("torch.poisson", T(torch.zeros(2, 2, dtype=dtype), "N C"), names="N C")
r.case("torch.poisson", turned(r.rand((2, 3), "N C", low=0, high=50), "C N"), names="C N", random=True)
r.case("torch.poisson", r.rand((0,), "N"), names="N")
r.error("torch.poisson", "dtype", r.rand((2,), "N", i64))

for dtype in floats:
    mean, std = r.rand((2, 3), "N C", dtype), r.rand((2, 3), "N C", dtype, 0, 1)
    none = T(torch.zeros(3, dtype=dtype), "C")
    r.case("torch.normal", mean, std, names="N C", random=True)
    r.case("torch.normal", mean, 0.0, names="N C")
    r.case("torch.normal", 2.0, none, names="C")
    r.case("torch.normal", T(mean.tensor, "_ _"), T(std.tensor, "N _"), names="N _", random=True)
r.case("torch.normal", r.rand((2, 3), "N C"), names="N C", random=True)
r.case("torch.normal", 1.0, 2.0, [2, 3], names="_ _", random=True)
r.case("torch.normal", 1.0, 0.0, (4,), names="_", dtype=f64)
r.case("torch.normal", r.rand((2, 3), "N C"), T(torch.zeros(2, 3, dtype=f64), "N C"), names="N C")
r.error("torch.normal", "name_mismatch", r.rand((2, 3), "N C"), T(torch.ones(3), "N"))
r.error("torch.normal", "dtype", r.rand((2, 3), "N C", i64), 1.0)

one = T(torch.tensor([[0.0, 2.0, 0.0], [3.0, 0.0, 0.0]]), "N C")
for dtype in floats:
    w = T(one.tensor.to(dtype), "N C")
    r.case("torch.multinomial", w, 1, names="N C")
    r.case(M + "multinomial", w, 3, True, names="N C")
    r.case("torch.multinomial", r.rand((2, 5), "N C", dtype, 1, 3), 4, names="N C", random=True)
r.case("torch.multinomial", T(one.tensor[0], "C"), 2, replacement=True, names="C")
r.case("torch.multinomial", turned(r.rand((3, 2), "C N", low=1), "N C"), 2, names="N C", random=True)
r.case("torch.multinomial", T(one.tensor.t(), "C N"), 1, dim=D("C", 0), names="C N",
       fn=lambda w, k, dim: torch.multinomial(w.t(), k).t())
r.error("torch.multinomial", "dtype", r.rand((2, 3), "N C", i64), 1)
r.error("torch.multinomial", "name_not_found", one, 1, dim="H")

for dtype in [None, f32, f64, u8, i32, boolean]:
    r.case("torch.randint", 1, 2, [2, 3], dtype=dtype, names="_ _")
    r.case("torch.randint", 2, [4], dtype=dtype, names="_", random=True)
r.case("torch.randint", 0, 9, [0, 3], names="_ _")
r.case("torch.randint", 0, 9, [], names="", random=True)
r.error("torch.randint", "names_len", 0, 4, [2, 2], names=["N"])
r.error("torch.randint", "duplicate_names", 0, 4, [2, 2], names=["N", "N"])
for dtype in [f32, f64, f16, u8, i8, i64]:
    r.case("torch.randint_like", r.rand((2, 3), "N C", dtype), 5, 6, names="N C")
    r.case("torch.randint_like", turned(r.rand((2, 3), "N C", dtype), "C N"), 9, names="C N", random=True)
r.case("torch.randint_like", r.rand((2, 3), "N C"), 1, 2, dtype=i64, names="N C")
for n, dtype in [(0, None), (1, None), (1, f32), (5, None), (5, f64), (7, i16), (9, u8), (3, f16), (4, i32)]:
    r.case("torch.randperm", n, dtype=dtype, names="_", random=n > 1)
r.error("torch.randperm", "names_len", 3, names=["N", "C"])

# Attributes and conversions beyond the page.
every = floats + whole + [boolean, c64, c128]
for dtype in every:
    x = r.rand((2, 3), "N C", dtype)
    for name in ["cfloat", "cdouble"]:
        r.case(M + name, x, names="N C")
    r.case(M + "type", x, names=None)
    r.case(M + "is_nonzero", r.rand((1, 1), "N C", dtype), names=None)
    r.case(M + "is_cpu.__get__", x, names=None, fn=lambda x: x.is_cpu)
    r.case(M + "get_device", x, names=None)
    r.case("torch.is_complex", x, names=None)
    r.case(M + "is_same_size", x, r.rand((2, 3), "C N"), names=None)
    r.case(M + "detach_", x, names="N C")
    r.case(M + "zero_", turned(x, "C N"), names="C N")
r.case(M + "is_same_size", r.rand((2, 3), "N C"), r.rand((3, 2), "N C"), names=None)
r.case(M + "type", r.rand((2,), "N"), i64, names="N")
r.error(M + "is_nonzero", "shape", r.rand((2,), "N"))
for size in [(6,), (2, 2), (3, 2), (), (0, 4), (2, 3)]:
    r.case(M + "resize_", r.rand((2, 3), "_ _"), list(size), names=" ".join("_" for _ in size))
r.case(M + "resize_", turned(r.rand((2, 3), "_ _"), "_ _"), [4], names="_")
r.case(M + "resize_", turned(r.rand((2, 3), "_ _"), "_ _"), [3, 2], names="_ _")
r.error(M + "resize_", "resize", r.rand((2, 3), "N C"), [3, 2])
r.write()
