"""Memory orders of dims: memory formats, and the strides of results."""

import torch
from common import T, Recorder, bf16, f32, f64, i32

r = Recorder("memory")
last, last3d = torch.channels_last, torch.channels_last_3d
rows, kept = torch.contiguous_format, torch.preserve_format


def layouts(dtype=f32):
    """Returns four-dim tensors in various memory orders."""
    x = r.rand((2, 3, 2, 2), "N C H W", dtype)
    yield x
    yield T(x.tensor.contiguous(memory_format=last), "N C H W")
    yield T(x.tensor.permute(3, 1, 0, 2), "W C N H")
    yield T(x.tensor[:, :, :, :1], "N C H W")
    yield T(x.tensor.contiguous(memory_format=last)[:, 1:], "N _ H W")
    yield T(x.tensor[:, :1].contiguous(memory_format=last), "N C H W")
    yield T(x.tensor[:1, :, :1].expand(2, 3, 3, 2), "N C H W")
    yield r.rand((2, 0, 2, 3), "N C H W", dtype)


def joined(names):
    return " ".join("_" if name is None else name for name in names)


volume = r.rand((1, 2, 2, 2, 3), "N C D H W")
for x in layouts():
    names = joined(x.names)
    for form in (rows, last):
        r.case("torch.Tensor.contiguous", x, memory_format=form, names=names, view=True)
        r.case("torch.Tensor.is_contiguous", x, memory_format=form, names=None)
    for form in (rows, last, kept):
        r.case("torch.clone", x, memory_format=form, names=names, view=True)
        r.case("torch.Tensor.to", x, f64, memory_format=form, names=names, view=True)
        r.case("torch.zeros_like", x, memory_format=form, names=names, view=True)
    r.case("torch.Tensor.to", x, f32, memory_format=last, names=names, view=True)
    r.case("torch.Tensor.to", x, dtype=i32, names=names, view=True)
    r.case("torch.ones_like", x, names=names, view=True)
    r.case("torch.full_like", x, 3.0, memory_format=last, names=names, view=True)
    r.case("torch.rand_like", x, names=names, view=True, random=True)
    r.case("torch.randn_like", x, memory_format=last, names=names, view=True, random=True)
    r.case("torch.empty_like", x, dtype=bf16, names=names, view=True, random=True)
    for op in ("exp", "neg", "relu"):
        r.case(f"torch.{op}", x, names=names, view=True)
    r.case("torch.add", x, x, names=names, view=True)
    r.case("torch.mul", x, 2.0, names=names, view=True)
    r.case("torch.pow", x, 2.0, names=names, view=True)
    r.case("torch.clamp", x, -1.0, 1.0, names=names, view=True)
    r.case("torch.lt", x, 0.5, names=names, view=True)
    r.case("torch.mul", T(torch.tensor(2.0)), x, names=names, view=True)
    r.case("torch.mul", x, T(torch.tensor(2.0)), names=names, view=True)
    r.case("torch.cumsum", x, 1, names=names, view=True)
    r.case("torch.softmax", x, 1, names=names, view=True)
    r.case("torch.sum", x, 1, True, names=names, view=True)
    r.case("torch.cat", [x, x], 1, names=names, view=True)
    r.case("torch.cat", [x, x], 3, names=names, view=True)
    r.case("torch.stack", [x, x], 0, names="_ " + names, view=True)
    r.case("torch.stack", [x, x], -1, names=names + " _", view=True)

a, b = r.rand((2, 3, 2, 2), "N C H W"), r.rand((2, 3, 2, 2), "N C H W")
c = T(b.tensor.contiguous(memory_format=last), "N C H W")
bias = r.rand((3, 1, 1), "C H W")
row = T(r.rand((2, 2), "H W").tensor.t(), "H W")
mask = T(torch.rand((2, 3, 2, 2), generator=r.generator) < 0.5, "N C H W")
for x, y in ((a, c), (c, a), (c, bias), (bias, c), (c, row), (row, c), (c, c)):
    r.case("torch.add", x, y, names="N C H W", view=True)
    r.case("torch.atan2", x, y, names="N C H W", view=True)
for x, y in ((a, c), (c, a), (c, c)):
    r.case("torch.where", mask, x, y, names="N C H W", view=True)
    r.case("torch.cat", [x, y], 1, names="N C H W", view=True)
r.case("torch.Tensor.masked_fill", c, mask, 1.0, names="N C H W", view=True)
r.case("torch.Tensor.masked_fill", a, mask, 1.0, names="N C H W", view=True)

cube = T(volume.tensor.contiguous(memory_format=last3d), "N C D H W")
for x in (volume, cube):
    names = "N C D H W"
    r.case("torch.Tensor.contiguous", x, memory_format=last3d, names=names, view=True)
    r.case("torch.Tensor.is_contiguous", x, memory_format=last3d, names=None)
    r.case("torch.Tensor.is_contiguous", x, memory_format=last, names=None)
    r.case("torch.Tensor.to", x, memory_format=last3d, names=names, view=True)
    r.case("torch.Tensor.to", x, f64, memory_format=rows, names=names, view=True)
    r.case("torch.exp", x, names=names, view=True)
    r.case("torch.mul", x, 2.0, names=names, view=True)
    r.case("torch.cat", [x, x], 2, names=names, view=True)
    r.case("torch.zeros_like", x, names=names, view=True)
r.case("torch.empty", [2, 3, 2, 4], memory_format=last, names="_ _ _ _", view=True, random=True)
r.case("torch.empty", [1, 2, 3, 2, 2], memory_format=last3d, names="_ _ _ _ _", view=True, random=True)

# Transposed and thin matrices, and sizes of one.
m = r.rand((3, 4), "N C")
for x in (T(m.tensor.t(), "C N"), T(m.tensor[:, :1].t(), "C N"), T(m.tensor[:, ::2], "N C"),
          T(m.tensor[:1].t(), "C N"), T(m.tensor[:0].t(), "C N")):
    names = joined(x.names)
    r.case("torch.exp", x, names=names, view=True)
    r.case("torch.add", x, x, names=names, view=True)
    r.case("torch.mul", x, 2, names=names, view=True)
    r.case("torch.zeros_like", x, names=names, view=True)
    r.case("torch.Tensor.to", x, f64, names=names, view=True)
    r.case("torch.clone", x, names=names, view=True)
    r.case("torch.Tensor.contiguous", x, names=names, view=True)

for x in layouts():
    names = joined(x.names)
    r.case("torch.Tensor.double", x, names=names, view=True)
    r.case("torch.Tensor.half", x, memory_format=rows, names=names, view=True)
    r.case("torch.Tensor.int", x, memory_format=last, names=names, view=True)
plain = r.rand((2, 3, 2, 2), "_ _ _ _")
for size in ((2, 3, 2, 2), (1, 3, 2, 2), (3, 2, 2, 1)):
    names = "_ _ _ _"
    r.case("torch.Tensor.resize_", plain, list(size), memory_format=last, names=names, view=True)
    r.case("torch.Tensor.resize_", plain, list(size), memory_format=rows, names=names, view=True)
r.error("torch.Tensor.resize_", "rank", plain, [3, 2], memory_format=last)

for op in ("torch.Tensor.contiguous", "torch.clone", "torch.Tensor.to", "torch.zeros_like"):
    r.error(op, "rank", m, memory_format=last)
    r.error(op, "rank", a, memory_format=last3d)
r.write()
