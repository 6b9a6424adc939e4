"""Calls whose gradients are special: ties, zeros, non-finite numbers, no elements, one element. `gradients.py` records them."""

import torch

from common import *

r = Recorder("edges")
nan, inf = math.nan, math.inf
FN = "torch.nn.functional."


def v(data, dtype=f64):
    """Returns a tensor without names."""
    x = torch.tensor(data, dtype=dtype)
    return T(x, " ".join("_" for _ in x.shape))


def z(*data):
    """Returns a complex vector."""
    return v(list(data), c128)


def no(*shape, dtype=f64):
    return T(torch.zeros(shape, dtype=dtype), " ".join("_" for _ in shape))


def rand(*shape, dtype=f64, **k):
    return r.rand(shape, " ".join("_" for _ in shape), dtype, **k)


def each(ops, *args, **kwargs):
    for op in ops.split():
        r.case(op if op.startswith("torch.") else f"torch.{op}", *args, **kwargs)


# Ties, and selections among them.
TIES = [[2.0, 2.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0], [0.0, -0.0, 0.0, -1.0]]
each("max min median nanmedian amax amin", v(TIES))
each("max min median nanmedian", v([nan, 1.0, 2.0, nan]))
each("amax amin", v(TIES), [0, 1])
each("amax amin", v(TIES), 1, True)
each("amax amin", v([[nan, 1.0, nan], [inf, inf, 2.0], [-inf, -inf, -inf]]), 1)
each("max min median nanmedian mode sort msort", v([3.0, 3.0, 1.0, 3.0]))
each("cummax cummin logcumsumexp", v([3.0, 3.0, 1.0, 3.0]), 0)
each("max min median nanmedian mode cummax cummin", v(TIES), 1)
each("max min median nanmedian cummax cummin", v([[nan, 1.0, nan], [inf, nan, inf]]), 1)
each("topk kthvalue", v(TIES), 2)
each("topk", v([[nan, 1.0, inf, nan]]), 3, 1, False)
each("sort", v(TIES), dim=1, descending=True, stable=True)
each("sort", v([1.0, nan, -inf, 1.0, inf]), stable=True)
each("maximum minimum fmax fmin", v([2.0, nan, 1.0, inf, -inf, 0.0]), v([2.0, 1.0, nan, inf, -inf, -0.0]))
each("maximum minimum fmax fmin", v([[1.0], [2.0]]), v([1.0, 2.0, 3.0]))
each("clamp", v([1.0, 2.0, 3.0, nan, inf]), 1.0, 3.0)
each("clamp", v([1.0, 2.0, 3.0, nan]), v([1.0, 3.0, 3.0, 1.0]), v([3.0, 1.0, 3.0, 2.0]))
each("clamp", v([2.0, 0.0]), v([nan, 0.0]), None)
each(f"{FN}max_pool1d", v([[[1.0, 1.0, 2.0, 2.0, 0.0]]]), 3, 1)
each(f"{FN}max_pool2d", v([[[[1.0, 1.0, nan], [1.0, 0.0, 2.0], [3.0, 3.0, 3.0]]]]), 2, 1)
each(f"{FN}adaptive_max_pool1d", v([[[1.0, 1.0, 2.0, 2.0, 0.0]]]), 2)
each("quantile nanquantile", v([1.0, 1.0, 2.0, 2.0]), 0.5)
each("quantile nanquantile", v([[1.0, 3.0, 2.0], [4.0, 4.0, nan]]), v([0.0, 0.25, 1.0]), 1)
for mode in "lower", "higher", "nearest", "midpoint":
    each("quantile", v([3.0, 1.0, 2.0, 5.0]), 0.4, 0, interpolation=mode)

# Zeros in a quotient or a power.
for data in [0.0, 2.0, 3.0], [0.0, 2.0, 0.0], [2.0, 3.0, 4.0], [2.0, 0.0, inf], [0.0, nan, 1.0], [5.0], []:
    each("prod", v(data))
    each("cumprod", v(data), 0)
each("prod cumprod", v([[0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [1.0, 2.0, -3.0]]), 1)
each("prod", v([[0.0, 2.0], [1.0, 2.0]]), 0, True)
each("prod", z(0, 2 + 1j, 3j))
each("prod", z(1 - 1j, 2 + 1j, 3j))
each("cumprod", z(1 - 1j, 0, 3j, 2.0), 0)
for p in 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf, -inf:
    each("norm", v([0.0, 0.0, 0.0]), p)
    each("norm", v([[0.0, -2.0], [0.0, 2.0]]), p, 1)
    each("dist", v([1.0, 2.0, 0.0]), v([1.0, -1.0, 3.0]), p)
    each("cdist", v([[0.0, 1.0], [2.0, 1.0]]), v([[0.0, 1.0], [1.0, 3.0]]), abs(p))
each("norm", z(0, 3 + 4j, 1j), 2.0)
each("norm", z(0, 3 + 4j, 1j), inf)
each("norm", v([inf, 1.0]), 2.0)
each("dist", v([1.0, 2.0]), v([1.0, 2.0]), 2.0)
each(f"{FN}normalize", v([[0.0, 0.0], [3.0, 4.0]]))
each(f"{FN}cosine_similarity", v([[0.0, 0.0], [3.0, 4.0]]), v([[1.0, 2.0], [-3.0, -4.0]]))
each(f"{FN}pairwise_distance", v([[1.0, 2.0], [3.0, 4.0]]), v([[1.0, 2.0], [-3.0, -4.0]]))
each("renorm", v([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]]), 2.0, 0, 1.0)
each(f"{FN}layer_norm", v([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]), [3])
each(f"{FN}rms_norm", v([[0.0, 0.0], [1.0, 2.0]]), [2])
each("std var", v([[1.0, 1.0, 1.0], [1.0, 2.0, 4.0]]), 1)
each("std var std_mean var_mean", v([3.0]))
each("std var", v([3.0, 3.0]), correction=0)
each("std var std_mean", z(1 + 1j, 2 - 1j, 3j))
POINTS = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, inf, -inf, nan]
each("sqrt rsqrt log log2 log10 log1p abs reciprocal square exp expm1 exp2 sinc sgn sign tanh sigmoid erf erfc erfinv", v(POINTS))
each("acos asin atan acosh asinh atanh sin cos tan sinh cosh floor ceil round trunc frac digamma lgamma relu", v(POINTS))
each("special.entr special.i0 special.i0e special.i1 special.i1e special.ndtr special.log_ndtr special.erfcx", v(POINTS))
each("logit nan_to_num deg2rad angle positive neg", v(POINTS))
each("logit", v([0.0, 1.0, 0.5, 0.01]), 0.02)
each("polygamma", 1, v([0.5, 1.0, -0.5]))
for name in "silu selu mish hardswish hardsigmoid relu6 softsign tanhshrink logsigmoid elu celu leaky_relu hardtanh softplus " \
        "hardshrink softshrink gelu".split():
    each(FN + name, v([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 3.0, -3.0, 6.0, 25.0, -25.0]))
    each(FN + name, v([inf, -inf, nan]))
each(f"{FN}glu", v([1.0, 0.0, inf, -inf, nan, 1.0]))
each(f"{FN}prelu", v([[0.0, -1.0], [2.0, nan]]), v([0.25, 0.5]))
each(f"{FN}threshold", v([0.0, 1.0, 1.5, nan]), 1.0, 9.0)

# Two operands at special values.
A, B = v([0.0, 0.0, 0.0, 2.0, -2.0, inf, nan]), v([0.0, 2.0, -1.0, 0.0, 0.5, 1.0, 1.0])
each("pow xlogy special.xlog1py atan2 hypot copysign fmod remainder div logaddexp logaddexp2 special.xlogy mul", A, B)
each("pow", v([0.0, -2.0, 3.0, 0.0]), 2)
each("pow", v([0.0, -2.0, 3.0, 0.0]), 0)
each("pow", v([0.0, 2.0]), 0.5)
each("pow", 0.0, v([0.0, 1.0, 2.0]))
each("pow", 2.0, v([0.0, -1.0, inf]))
each("pow", z(0, 1 + 1j, 2), z(0, 2 - 1j, 2))
each("logaddexp logaddexp2", v([-inf, inf, inf, 1.0]), v([-inf, inf, -inf, 1.0]))
each("ldexp", v([1.0, 0.0]), v([2.0, -1.0]))
each("lerp", v([1.0, 2.0]), v([3.0, -1.0]), v([0.25, 0.75]))
each("lerp", v([1.0, inf]), v([3.0, inf]), 0.5)
each("addcdiv addcmul", v([1.0, 2.0]), v([3.0, 0.0]), v([0.0, 2.0]), value=0.5)
each("where", v([True, False], boolean), v([nan, 1.0]), v([2.0, inf]))
each("logsumexp", v([[-inf, -inf], [inf, 1.0], [1.0, 1.0], [nan, 0.0]]), 1)
each("logcumsumexp", v([-inf, -inf, 1.0, inf]), 0)
each("softmax log_softmax", v([[-inf, 0.0, 1.0], [1000.0, 0.0, -1000.0], [inf, 0.0, 0.0]]), 1)
each("sum mean nansum nanmean", v([1.0, nan, inf]))
each("nanmean nansum", v([[nan, nan], [1.0, nan]]), 1)
each("cumsum", v([1.0, inf, nan]), 0)
each("trapezoid cumulative_trapezoid", v([1.0, 2.0, 4.0]), v([0.0, 1.0, 1.0]))
each("diff", v([1.0, 4.0, 9.0, 16.0]), 2)

# Losses at the boundaries of their pieces.
X, Y = v([0.0, 1.0, -1.0, 2.0, 0.5]), v([0.0, 0.0, 0.0, 0.0, 1.0])
for reduction in "mean", "sum", "none":
    each(f"{FN}l1_loss {FN}mse_loss {FN}smooth_l1_loss {FN}huber_loss {FN}soft_margin_loss", X, Y, reduction=reduction)
    each(f"{FN}kl_div", v([-1.0, -2.0, 0.0]), v([0.0, 0.5, 0.5]), reduction=reduction)
    each(f"{FN}binary_cross_entropy", v([0.0, 1.0, 0.5, 1.0]), v([0.0, 1.0, 1.0, 0.0]), reduction=reduction)
    each(f"{FN}binary_cross_entropy_with_logits", v([0.0, 50.0, -50.0, 800.0]), v([0.0, 1.0, 1.0, 0.0]), reduction=reduction)
    each(f"{FN}hinge_embedding_loss", v([0.0, 1.0, 2.0]), v([1.0, -1.0, -1.0]), reduction=reduction)
    each(f"{FN}margin_ranking_loss", v([0.0, 1.0, 2.0]), v([0.0, 2.0, 1.0]), v([1.0, 1.0, -1.0]), reduction=reduction)
    each(f"{FN}poisson_nll_loss", v([0.0, 1.0, -1.0]), v([0.0, 1.0, 2.0]), reduction=reduction)
    each(f"{FN}gaussian_nll_loss", v([0.0, 1.0]), v([0.0, 2.0]), v([1.0, 1e-9]), reduction=reduction)
    each(f"{FN}cross_entropy {FN}nll_loss", rand(3, 4), v([1, -100, 3], i64), reduction=reduction)
    each(f"{FN}cross_entropy", rand(2, 3), rand(2, 3, low=0.0), label_smoothing=0.1, reduction=reduction)
each(f"{FN}cross_entropy", rand(2, 3), v([-100, -100], i64))
each(f"{FN}smooth_l1_loss", X, Y, beta=0.0)
each(f"{FN}triplet_margin_loss", v([[0.0, 0.0]]), v([[0.0, 0.0]]), v([[1.0, 0.0]]))
each(f"{FN}cosine_embedding_loss", v([[0.0, 0.0], [1.0, 2.0]]), v([[1.0, 0.0], [1.0, 2.0]]), v([1.0, -1.0]))

# Repeated indices.
TWICE, PLACES = v([0, 2, 0], i64), v([[0, 2, 0], [1, 1, 1]], i64)
each("index_select", rand(3, 2), 0, TWICE)
each("index_add", rand(3, 2), 0, TWICE, rand(3, 2))
each("gather", rand(2, 3), 1, PLACES)
each("scatter_add", rand(2, 3), 1, PLACES, rand(2, 3))
each("take", rand(2, 3), TWICE)
each(f"{FN}embedding", TWICE, rand(3, 2))
each(f"{FN}embedding", TWICE, rand(3, 2), padding_idx=0)
for reduce in "sum", "prod", "mean", "amax", "amin":
    for own in True, False:
        each("scatter_reduce", v([0.0, 2.0, 2.0]), 0, TWICE, v([2.0, 2.0, 0.0]), reduce, include_self=own)
        if reduce != "sum":
            each("index_reduce", v([0.0, 2.0, 2.0]), 0, TWICE, v([2.0, 2.0, 0.0]), reduce, include_self=own)
each("index_put", rand(3), [TWICE], rand(3), True)
each("put", rand(3), TWICE, rand(3), True)
each("masked_scatter", rand(3), v([True, False, True], boolean), rand(4))
each("masked_fill", v([nan, 1.0]), v([True, False], boolean), 3.0)
each("masked_select", v([nan, 1.0, inf]), v([True, True, False], boolean))
each("repeat_interleave", v([1.0, 2.0, 3.0]), v([0, 2, 1], i64))
each("torch.Tensor.repeat", v([1.0, 2.0]), 2, 3)
each("torch.Tensor.expand", v([[1.0], [2.0]]), 3, 2, 4)
each("torch.Tensor.unfold", v([1.0, 2.0, 3.0, 4.0]), 0, 3, 1)

# No elements, and one.
each("sum mean", no(0))
each("sum mean", no(2, 0), 1)
each("prod", no(2, 0), 1)
each("logsumexp", no(0, 2), 1)
each("cumsum cumprod logcumsumexp softmax log_softmax", no(0, 2), 1)
each("matmul", no(2, 0), no(0, 3))
each("matmul", no(0), no(0))
each("bmm", no(0, 2, 3), no(0, 3, 2))
each("addmm", rand(2, 3), no(2, 0), no(0, 3))
each("cat", [no(0), v([1.0]), no(0)])
each("stack", [no(0), no(0)])
each("add mul maximum", no(0, 1), rand(3))
each("norm", no(0))
each("sort", no(0))
each("diag", no(0))
each("index_select", rand(3, 2), 0, v([], i64))
each(f"{FN}mse_loss", no(0), no(0), reduction="sum")
each("sum mean prod max min median amax logsumexp cumsum cumprod", v([7.0]), 0)
each("sum mean prod max min median norm", v(7.0))
each("matmul dot", v([2.0]), v([3.0]))
each(f"{FN}softmax", v(7.0), 0)

# Complex numbers, whose derivatives are conjugated.
U, W = rand(3, dtype=c128), rand(3, dtype=c128)
each("add sub mul div dot vdot outer inner matmul pow", U, W)
each("abs angle sgn sqrt rsqrt exp log log1p expm1 sin cos tan sinh cosh tanh asinh atan acosh asin acos atanh reciprocal sigmoid "
     "square real imag conj sum mean sinc", U)
each("abs angle", z(0, 1 + 1j))
each("mul div add", U, rand(3))
each("mul div sub", rand(2, 1), U)
each("mm matmul", rand(2, 3, dtype=c128), rand(3, 2, dtype=c128))
each("mm", rand(2, 3, dtype=c64), rand(3, 2, dtype=c64))
each("addcmul addcdiv", U, W, rand(3, dtype=c128), value=0.5)
each("lerp", U, W, rand(3, dtype=c128))
each("lerp", U, W, 0.25)
each("complex polar", rand(3, low=0.1), rand(3))
each("view_as_real", U)
each("view_as_complex", rand(3, 2))
each("cumsum cumprod", U, 0)
each("kron", U, W)
each("torch.einsum", "ij,jk->ik", rand(2, 3, dtype=c128), rand(3, 2, dtype=c128))
each("addmv", rand(2, dtype=c128), rand(2, 3, dtype=c128), U, beta=0.5, alpha=2.0)
each("torch.Tensor.addmm", rand(2, 2, dtype=c128), rand(2, 3, dtype=c128), rand(3, 2, dtype=c128), beta=2, alpha=0.5)
each("trace diag tril triu", rand(2, 2, dtype=c128))
each("where", v([True, False, True], boolean), U, rand(3))
each("torch.Tensor.to", U, c64)
r.write()
