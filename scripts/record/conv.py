"""Convolution, pooling, padding, resampling."""

import torch

from common import D, Recorder, S, T, bf16, boolean, c64, c128, f16, f32, f64, i8, i32, i64, u8

r = Recorder("conv")
F = "torch.nn.functional."


def rand(shape, names="", dtype=f32, **k):
    return r.rand(shape, names or " ".join("_" for _ in shape), dtype, **k)


def moved(shape, names, *order, dtype=f32):
    """Returns a tensor with a permuted memory order."""
    x = rand(shape, dtype=dtype).tensor.permute(order)
    return T(x, names)


def unnamed(count):
    return " ".join("_" for _ in range(count))


# Convolutions: without names, with the input's, with the weight's, with the bias'.
for d, spatial in ((1, "L"), (2, "H W"), (3, "D H W")):
    op, size, kernel = f"{F}conv{d}d", [5, 4, 3][-d:], [3, 2, 2][-d:]
    blanks, kernels = unnamed(d), ' '.join('K' + word for word in spatial.split())
    x = rand([2, 2, *size], f"N C {spatial}")
    w = rand([3, 2, *kernel], f"O C {kernels}")
    r.case(op, x, w, names=f"N O {spatial}")
    r.case(op, x, w, rand([3], "O"), names=f"N O {spatial}")
    r.case(op, x, rand([3, 2, *kernel]), names=f"N C {spatial}")
    r.case(op, x, rand([3, 2, *kernel]), rand([3], "O"), names=f"N O {spatial}")
    r.case(op, rand([2, *size], f"C {spatial}"), w, names=f"O {spatial}")
    r.case(op, rand([2, 2, *size]), w, None, 2, 1, names=f"_ O {blanks}")
    r.case(op, x, w, None, [2] * d, [1] * d, [2] * d, names=f"N O {spatial}")
    r.case(op, x, w, padding="same", names=f"N O {spatial}")
    r.case(op, x, w, padding="same", dilation=2, names=f"N O {spatial}")
    r.case(op, x, w, padding="valid", names=f"N O {spatial}")
    x4, w4 = rand([2, 4, *size], f"N C {spatial}"), rand([6, 2, *kernel], f"O C {kernels}")
    r.case(op, x4, w4, groups=2, names=f"N O {spatial}")
    r.case(op, x4, rand([4, 1, *kernel], f"O C {kernels}"), rand([4], "O"), groups=4, names=f"N O {spatial}")
    r.case(op, x4, rand([8, 1, *kernel]), None, 2, 1, 1, 4, names=f"N C {spatial}")
    r.case(op, x4, rand([3, 4] + [1] * d), names=f"N C {spatial}")
    r.case(op, x4, rand([4, 2] + [1] * d), rand([4]), groups=2, names=f"N C {spatial}")
    r.case(op, rand([1, 1, *size]), rand([5, 1, *kernel]), padding=1, names=unnamed(d + 2))
    r.case(op, rand([0, 2, *size], f"N C {spatial}"), w, names=f"N O {spatial}")
    for dtype in (f64, f16, bf16, i64, c64):
        r.case(op, rand([2, 2, *size], f"N C {spatial}", dtype), rand([3, 2, *kernel], f"O C {kernels}", dtype),
               rand([3], "O", dtype), padding=1, names=f"N O {spatial}")
    r.case(op, rand([2, 4, *size], f"N C {spatial}", f16), rand([4, 1, *kernel], dtype=f16), groups=4,
           names=f"N C {spatial}")
    order = [0, d + 1, *range(1, d + 1)]
    last = moved([2, *size, 4], f"N C {spatial}", *order)
    r.case(op, last, rand([3, 4, *kernel], f"O C {kernels}"), rand([3]), padding=1, names=f"N O {spatial}")
    r.case(op, last, rand([4, 2, *kernel]), groups=2, stride=2, names=f"N C {spatial}")
    r.case(op, last, rand([4, 1, *kernel]), groups=4, names=f"N C {spatial}")
    r.case(op, last, rand([5, 4] + [1] * d), names=f"N C {spatial}")
    r.case(op, T(rand([2, *reversed(size), 2]).tensor.permute([0, d + 1, *range(d, 0, -1)]), f"N C {spatial}"), w,
           names=f"N O {spatial}")
    r.error(op, "name_mismatch", x, rand([3, 2, *kernel], f"O K {kernels}"))
    r.error(op, "duplicate_names", x, rand([3, 2, *kernel], f"N C {kernels}"))
    r.error(op, "name_mismatch", x, w, rand([3], "P"))
    r.error(op, "shape", x, rand([3, 3, *kernel]))
    r.error(op, "shape", x, rand([3, 2] + [9] * d))
    r.error(op, "dtype", x, rand([3, 2, *kernel], dtype=f64))
    r.error(op, "rank", rand([4] * (d + 3)), w)
    if d == 2:
        r.error(op, "misaligned", x, rand([3, 2, 2, 2], "O C W H"))
        r.case(op, x, rand([3, 2, 2, 2], "O C H W"), names="N O H W")

    # Transposed convolutions.
    op = f"{F}conv_transpose{d}d"
    w = rand([2, 3, *kernel], f"C O {kernels}")
    r.case(op, x, w, names=f"N O {spatial}")
    r.case(op, x, w, rand([3], "O"), names=f"N O {spatial}")
    r.case(op, x, rand([2, 3, *kernel]), names=f"N C {spatial}")
    r.case(op, rand([2, *size], f"C {spatial}"), w, names=f"O {spatial}")
    r.case(op, x, w, None, 2, 1, 1, names=f"N O {spatial}")
    r.case(op, x, w, stride=3, output_padding=2, names=f"N O {spatial}")
    r.case(op, x, w, dilation=2, padding=1, names=f"N O {spatial}")
    r.case(op, x4, rand([4, 3, *kernel]), rand([6]), groups=2, stride=2, names=f"N C {spatial}")
    r.case(op, x4, rand([4, 1, *kernel]), groups=4, names=f"N C {spatial}")
    r.case(op, last, rand([4, 2, *kernel], f"C O {kernels}"), names=f"N O {spatial}")
    for dtype in (f64, f16, bf16, c64):
        r.case(op, rand([2, 2, *size], f"N C {spatial}", dtype), rand([2, 3, *kernel], f"C O {kernels}", dtype),
               rand([3], "O", dtype), stride=2, names=f"N O {spatial}")
    r.error(op, "name_mismatch", x, rand([2, 3, *kernel], f"K O {kernels}"))
    r.error(op, "duplicate_names", x, rand([2, 3, *kernel], f"C N {kernels}"))
    r.error(op, "shape", x, rand([3, 3, *kernel]))
    r.error(op, "rank", rand([4] * (d + 3)), w)

# Pools.
nan, inf = float("nan"), float("inf")
for d, spatial in ((1, "L"), (2, "H W"), (3, "D H W")):
    size = {1: [7], 2: [4, 5], 3: [3, 3, 4]}[d]
    names = f"N C {spatial}"
    x = rand([2, 1, *size], names)
    one = rand([2, *size], f"C {spatial}")
    rest = dict(kernel_size=2)
    turned = T(rand([2, *size, 2]).tensor.permute([0, d + 1, *range(1, d + 1)]), names)
    op = f"{F}max_pool{d}d"
    r.case(op, x, 2, names=names)
    r.case(op, x, [2] * d, 1, names=names)
    r.case(op, one, 2, 2, 1, names=f"C {spatial}")
    r.case(op, x, 2, 1, 0, 2, names=names)
    r.case(op, x, 2, ceil_mode=True, names=names)
    r.case(op, x, 3, 2, 1, ceil_mode=True, names=names)
    r.case(op, x, 2, return_indices=True, names=names)
    r.case(op, x, 3, 2, 1, 1, True, True, names=names)
    r.case(op, turned, 2, 1, return_indices=True, names=names)
    r.case(op, turned, 2, names=names)
    r.case(op, T(torch.full([1, 1, *size], -inf), names), 2, return_indices=True, names=names)
    odd = rand([1, 1, *size]).tensor
    odd.view(-1)[1], odd.view(-1)[-1], odd.view(-1)[4] = nan, nan, inf
    r.case(op, T(odd, names), 2, 1, return_indices=True, names=names)
    r.case(op, T(odd, names), 2, 1, names=names)
    r.case(op, rand([0, 2, *size], names), 2, names=names)
    for dtype in (f64, f16, bf16):
        r.case(op, rand([1, 2, *size], names, dtype), 2, names=names)
        r.case(op, rand([1, 2, *size], names, dtype), 2, return_indices=True, names=names)
    for dtype in (i64, i32, u8):
        r.case(op, rand([1, 2, *size], names, dtype), 2, return_indices=True, names=names)
    r.error(op, "rank", rand([2] * (d + 3)), 2)
    r.error(op, "shape", x, 9)

    op = f"{F}avg_pool{d}d"
    r.case(op, x, 2, names=names)
    r.case(op, x, [2] * d, 1, names=names)
    r.case(op, one, 2, 2, 1, names=f"C {spatial}")
    r.case(op, x, 2, 1, 1, names=names)
    r.case(op, x, 3, 2, 1, True, False, names=names)
    r.case(op, x, 3, 2, 1, True, names=names)
    r.case(op, x, 2, ceil_mode=True, names=names)
    r.case(op, turned, 2, 1, names=names)
    r.case(op, rand([0, 2, *size], names), 2, names=names)
    r.case(op, T(odd, names), 2, 1, names=names)
    if d > 1:
        r.case(op, x, 2, divisor_override=3, names=names)
        r.case(op, x, 2, 1, 1, False, True, -2, names=names)
    for dtype in (f64, f16, bf16, i64) if d < 3 else (f64, i64):
        r.case(op, rand([1, 2, *size], names, dtype), 2, names=names)
    r.error(op, "rank", rand([2] * (d + 3)), 2)
    r.error(op, "dtype", rand([1, 2, *size], dtype=c64), 2)

    op = f"{F}lp_pool{d}d"
    for p in (1, 2, 3.0, 2.5):
        r.case(op, rand([1, 2, *size], names, low=0.1), p, 2, names=names)
    r.case(op, x, 2, 2, 1, names=names)
    r.case(op, x, 2.0, 3, 2, True, names=names)
    r.case(op, rand([1, 2, *size], names, f64), 2, 2, names=names)
    r.case(op, turned, 2, 2, names=names)
    r.case(op, one, 2, 2, names=f"C {spatial}")

    for kind in ("avg", "max"):
        op = f"{F}adaptive_{kind}_pool{d}d"
        for out in (1, 2, 3, 5):
            r.case(op, x, out, names=names)
        r.case(op, one, 2, names=f"C {spatial}")
        r.case(op, x, [3, 2, 1][:d], names=names)
        r.case(op, turned, 2, names=names)
        r.case(op, T(odd, names), 2, names=names)
        for dtype in (f64, f16, bf16):
            r.case(op, rand([1, 2, *size], names, dtype), 2, names=names)
        if d > 1:
            r.case(op, x, [None] * (d - 1) + [2], names=names)
        if kind == "max":
            r.case(op, x, 2, return_indices=True, names=names)
            r.case(op, turned, 3, True, names=names)
        r.error(op, "rank", rand([2] * (d + 3)), 2)

    op = f"{F}max_unpool{d}d"
    pool = getattr(torch.nn.functional, f"max_pool{d}d")

    def pooled(x, names, *args, inames=None):
        values, indices = pool(x, *args, return_indices=True)
        return T(values, names), T(indices, inames or names)

    even = [4, 4, 2][:d]
    for dtype in (f32, f64, f16, bf16):
        r.case(op, *pooled(rand([2, 1, *even], dtype=dtype).tensor, names, 2), 2, names=names)
    r.case(op, *pooled(rand([2, *even]).tensor, f"C {spatial}", 2), 2, names=f"C {spatial}")
    r.case(op, *pooled(rand([1, 1, *size]).tensor, names, 2), 2, output_size=size, names=names)
    r.case(op, *pooled(rand([1, 1, *even]).tensor, names, 2, 2), 2, 2, 0, names=names)
    r.case(op, *pooled(rand([1, 1, *even]).tensor, names, 2, inames=unnamed(d + 2)), [2] * d, names=names)
    r.error(op, "name_mismatch", *pooled(rand([1, 1, *even]).tensor, names, 2, inames=f"N K {spatial}"), 2)

# Padding.
op = F + "pad"
x = rand([2, 3], "N C")
for pad in ([1, 1], [0, 2], [1, 0, 0, 1], [-1, 1], [-1, -1, 1, 1], [0, 0], [], [-3, 0]):
    r.case(op, x, pad, names="N C")
r.case(op, x, [1, 2], "constant", 2.5, names="N C")
r.case(op, x, [1, 2], value=-1, names="N C")
r.case(op, T(x.tensor.t(), "C N"), [1, 1, 1, 1], names="C N")
for dtype in (f64, f16, bf16, i64, u8, boolean, c64, c128):
    r.case(op, rand([2, 2], "N C", dtype), [1, 1, 1, 0], value=1, names="N C")
r.case(op, rand([0, 2], "N C"), [1, 1, 1, 0], names="N C")
r.case(op, rand([1, 1, 2, 2], "N C H W"), [1, 0, 0, 1, 1, 0, 0, 1], names="N C H W")
r.case(op, rand([], ""), [], names="")
for mode in ("reflect", "replicate", "circular"):
    r.case(op, rand([2, 4], "C L"), [2, 1], mode, names="C L")
    r.case(op, rand([1, 2, 4], "N C L"), [1, 3], mode, names="N C L")
    r.case(op, rand([1, 1, 3, 3], "N C H W"), [2, 1, 1, 2], mode, names="N C H W")
    r.case(op, rand([1, 1, 2, 2, 3], "N C D H W"), [1, 1, 1, 0, 0, 1], mode, names="N C D H W")
    r.case(op, rand([1, 3, 3], "C H W", f64), [1, 1, 1, 1], mode, names="C H W")
    r.case(op, T(rand([1, 1, 3, 3]).tensor.transpose(2, 3), "N C H W"), [1, 1, 1, 1], mode, names="N C H W")
r.case(op, rand([1, 1, 2], "N C L"), [5, 4], "replicate", names="N C L")
r.error(op, "shape", rand([1, 3], "C L"), [3, 0], "reflect")
r.error(op, "shape", rand([1, 3], "C L"), [4, 0], "circular")
r.error(op, "shape", x, [-2, -2])

op = "torch.constant_pad_nd"
for pad in ([1, 1], [0, 2], [1, 0, 0, 1], [-1, 1], [-1, -1, 1, 1]):
    r.case(op, x, pad, names="N C")
r.case(op, x, [1, 2], 2.5, names="N C")
r.case(op, T(x.tensor.t(), "C N"), [1, 1, 1, 1], -1, names="C N")
for dtype in (f64, f16, i64, boolean):
    r.case(op, rand([2, 2], "N C", dtype), [1, 1], 1, names="N C")

# Resampling.
op = F + "interpolate"
L, HW, DHW = rand([1, 2, 5], "N C L"), rand([1, 2, 3, 4], "N C H W"), rand([1, 1, 2, 3, 2], "N C D H W")
for mode in ("nearest", "nearest-exact", "area"):
    for out in (1, 2, 5, 8):
        r.case(op, L, out, mode=mode, names="N C L")
    r.case(op, HW, [2, 6], mode=mode, names="N C H W")
    r.case(op, DHW, [3, 2, 4], mode=mode, names="N C D H W")
    r.case(op, HW, scale_factor=2, mode=mode, names="N C H W")
    r.case(op, L, scale_factor=0.7, mode=mode, names="N C L")
    r.case(op, L, None, [1.3], mode, None, True, names="N C L")
    for dtype in (f64, f16, bf16):
        r.case(op, rand([1, 1, 3, 3], "N C H W", dtype), 4, mode=mode, names="N C H W")
r.case(op, rand([1, 1, 3, 3], "N C H W", u8), 4, mode="nearest", names="N C H W")
for mode, x in (("linear", L), ("bilinear", HW), ("trilinear", DHW), ("bicubic", HW)):
    d = x.tensor.dim() - 2
    names = " ".join(x.names)
    for out in (1, 2, 3, 7) if d < 3 else (1, 3):
        for align in (False, True):
            r.case(op, x, out, None, mode, align, names=names)
    r.case(op, x, scale_factor=2, mode=mode, names=names)
    r.case(op, x, scale_factor=1.4, mode=mode, names=names)
    r.case(op, x, None, [1.4] * d, mode, None, True, names=names)
    r.case(op, T(x.tensor.transpose(-1, 1), names), 3, mode=mode, names=names)
    for dtype in (f64, f16, bf16):
        r.case(op, rand([1, 1] + [3] * d, names, dtype), 4, mode=mode, names=names)
    r.error(op, "rank", rand([2] * (d + 3)), 2, None, mode)
r.error(op, "shape", HW, 0)
r.error(op, "dtype", rand([1, 1, 3, 3], dtype=i64), 4, None, "bilinear")
r.case(F + "upsample", HW, 5, names="N C H W")
r.case(F + "upsample", HW, None, 2, "bilinear", True, names="N C H W")

# Columns.
op = F + "unfold"
for dtype in (f32, f64, f16, bf16, c64):
    r.case(op, rand([1, 2, 3, 4], "N C H W", dtype), 2, names="N _ _")
x = rand([2, 1, 4, 3], "N C H W")
r.case(op, x, [3, 2], names="N _ _")
r.case(op, x, 2, 2, 1, 1, names="N _ _")
r.case(op, x, 2, 1, 1, 2, names="N _ _")
r.case(op, x, [2, 1], [1, 2], [0, 1], [2, 1], names="N _ _")
r.case(op, rand([2, 3, 3], "C H W"), 2, names="_ _")
r.case(op, T(x.tensor.transpose(2, 3), "N C H W"), 2, names="N _ _")
r.error(op, "shape", x, 5)
r.error(op, "rank", rand([2, 2]), 1)
op = F + "fold"
for dtype in (f32, f64, f16, bf16, c64):
    r.case(op, rand([1, 8, 6], "N K L", dtype), [3, 4], 2, names="N _ _ _")
r.case(op, rand([2, 4, 9], "N _ _"), 4, 2, names="N _ _ _")
r.case(op, rand([2, 4, 9], "N _ _"), 5, 2, 2, names="N _ _ _")
r.case(op, rand([1, 4, 9], "N _ _"), 4, 2, 1, 1, 2, names="N _ _ _")
r.case(op, rand([8, 6], "K L"), [3, 4], 2, names="_ _ _")
r.case(op, T(rand([1, 6, 8]).tensor.transpose(1, 2), "N K L"), [3, 4], 2, names="N _ _ _")
r.error(op, "shape", rand([1, 8, 5]), [3, 4], 2)
r.error(op, "rank", rand([8]), [3, 4], 2)

# Shuffles.
for op in ("torch.pixel_shuffle", F + "pixel_shuffle"):
    for dtype in (f32, f64, i64, boolean):
        r.case(op, rand([1, 4, 2, 3], "N C H W", dtype), 2, names="N C H W")
    r.case(op, rand([9, 1, 2], "C H W"), 3, names="C H W")
    r.case(op, rand([1, 2, 4, 1, 2], "A B C H W"), 2, names="A B C H W")
    r.case(op, rand([1, 2, 2, 2], "N C H W"), 1, names="N C H W")
    r.case(op, T(rand([1, 2, 3, 8]).tensor.permute(0, 3, 1, 2), "N C H W"), 2, names="N C H W")
    r.error(op, "shape", rand([1, 3, 2, 2]), 2)
    r.error(op, "rank", rand([4, 2]), 2)
for op in ("torch.pixel_unshuffle", F + "pixel_unshuffle"):
    for dtype in (f32, f64, i64, boolean):
        r.case(op, rand([1, 1, 4, 6], "N C H W", dtype), 2, names="N C H W")
    r.case(op, rand([2, 3, 3], "C H W"), 3, names="C H W")
    r.case(op, rand([1, 2, 1, 2, 4], "A B C H W"), 2, names="A B C H W")
    r.case(op, rand([1, 2, 2, 2], "N C H W"), 1, names="N C H W")
    r.case(op, T(rand([1, 2, 4, 2]).tensor.permute(0, 3, 1, 2), "N C H W"), 2, names="N C H W")
    r.error(op, "shape", rand([1, 1, 3, 2]), 2)
op = "torch.channel_shuffle"
for dtype in (f32, f64, i64, boolean):
    r.case(op, rand([1, 4, 2, 2], "N C H W", dtype), 2, names="N C H W")
r.case(op, rand([2, 6, 2], "N C L"), 3, names="N C L")
r.case(op, rand([1, 6, 1, 2, 1], "N C D H W"), 2, names="N C D H W")
r.case(op, rand([1, 4, 2, 2], "N C H W"), 1, names="N C H W")
r.case(op, T(rand([1, 2, 3, 4]).tensor.permute(0, 3, 1, 2), "N C H W"), 4, names="N C H W")
r.error(op, "shape", rand([1, 4, 2, 2]), 3)

r.write()
