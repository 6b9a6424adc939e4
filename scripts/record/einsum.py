"""Products by letters, by names and of several operands."""

import torch

from common import D, Recorder, S, T, bf16, boolean, c64, c128, f16, f32, f64, i32, i64, u8

r = Recorder("einsum")
EMPTY = T(torch.zeros(0), "N")


def t(x, names):
    """Returns the same matrix in a transposed layout."""
    return T(x.tensor.t().contiguous().t(), names)


# outer
for dtype in (f32, f64, f16, i32, c64):
    r.case("torch.outer", r.rand([3], "N", dtype), r.rand([2], "M", dtype), names="N M")
r.case("torch.outer", r.rand([3], "_", i64), r.rand([2], "M", f32), names="_ M")
r.case("torch.outer", r.rand([2], "N", boolean), r.rand([2], "_", u8), names="N _")
r.case("torch.outer", EMPTY, r.rand([2], "M"), names="N M")
r.case("torch.ger", r.rand([2], "_"), r.rand([3], "_"), names="_ _")
r.case("torch.Tensor.outer", T(torch.arange(6.0)[::2], "N"), r.rand([2], "M"), names="N M")
r.error("torch.outer", "duplicate_names", r.rand([2], "N"), r.rand([3], "N"))

# inner
for dtype in (f32, f64, i32, c64):
    r.case("torch.inner", r.rand([3], "K", dtype), r.rand([3], "K", dtype), names="")
r.case("torch.inner", r.rand([2, 3], "N K"), r.rand([4, 3], "M K"), names="N M")
r.case("torch.inner", r.rand([2, 3], "N K"), r.rand([2, 2, 3], "B M K"), names="N B M")
r.case("torch.inner", r.rand([3], "_", bf16), r.rand([2, 3], "M _", bf16), names="M")
r.case("torch.inner", T(torch.tensor(2.5), ""), r.rand([2, 3], "N K"), names="N K")
r.case("torch.inner", t(r.rand([2, 3], "_ _"), "N K"), t(r.rand([2, 3], "_ _"), "M _"), names="N M")
r.case("torch.inner", r.rand([2, 0], "N K"), r.rand([3, 0], "M K"), names="N M")
r.error("torch.inner", "duplicate_names", r.rand([2, 3], "N K"), r.rand([4, 3], "N K"))

# vdot
for dtype in (f32, f64, i64, c64, u8):
    r.case("torch.vdot", r.rand([3], "N", dtype), r.rand([3], "M", dtype), names="")
r.case("torch.vdot", r.rand([4], "_", c64), r.rand([4], "N", c64), names="")
r.case("torch.vdot", EMPTY, EMPTY, names="")
r.case("torch.Tensor.vdot", T(torch.arange(6.0)[::2], "N"), r.rand([3], "N"), names="")

# kron
for dtype in (f32, f64, i32, c64):
    r.case("torch.kron", r.rand([2, 2], "N C", dtype), r.rand([2, 3], "N C", dtype), names="N C")
r.case("torch.kron", r.rand([2], "C", i64), r.rand([2, 2], "N _", f32), names="N C")
r.case("torch.kron", r.rand([2, 2, 1], "A _ _"), r.rand([2], "C"), names="A _ C")
r.case("torch.kron", r.rand([2, 3], "N C"), T(torch.arange(4.0)[None, ::2], "_ _"), names="N C")
r.case("torch.kron", T(torch.tensor(2.0), ""), r.rand([2], "C"), names="C")
r.case("torch.kron", EMPTY, r.rand([2], "N"), names="N")
r.error("torch.kron", "name_mismatch", r.rand([2], "N"), r.rand([2], "C"))

# addr
for dtype in (f32, f64, i32):
    bias, a, b = r.rand([2, 3], "N M", dtype), r.rand([2], "N", dtype), r.rand([3], "M", dtype)
    r.case("torch.addr", bias, a, b, names="N M")
    r.case("torch.addr", bias, a, b, beta=2, alpha=3, names="N M")
r.case("torch.addr", r.rand([3], "M"), r.rand([2], "_"), r.rand([3], "_"), names="_ M")
r.case("torch.addr", r.rand([2, 3], "_ _"), r.rand([2], "N", i64), r.rand([3], "M", i64), beta=0.5, alpha=1.5, names="N M")
r.case("torch.addr", T(torch.full((2, 2), float("nan")), "N M"), r.rand([2], "N"), r.rand([2], "M"), beta=0, names="N M")
r.case("torch.Tensor.addr_", r.rand([2, 2], "N M"), r.rand([2], "N"), r.rand([2], "M"), alpha=-1, names="N M")
r.error("torch.addr", "name_mismatch", r.rand([2, 2], "M N"), r.rand([2], "N"), r.rand([2], "M"))

# trace
for dtype in (f32, f64, i32, u8, c64):
    r.case("torch.trace", r.rand([3, 3], "N M", dtype), names="")
r.case("torch.trace", r.rand([2, 3], "N _"), names="")
r.case("torch.trace", t(r.rand([3, 2], "_ _"), "N M"), names="")
r.case("torch.trace", r.rand([0, 3], "N M"), names="")

# matrix_power
for n in (0, 1, 2, 3, 5):
    r.case("torch.matrix_power", r.rand([2, 2], "N M", f64), n, names="N M")
r.case("torch.matrix_power", r.rand([2, 2, 2], "B N M"), 3, names="B N M")
r.case("torch.matrix_power", r.rand([2, 2], "_ _", i64), 4, names="_ _")
r.case("torch.linalg.matrix_power", t(r.rand([2, 2], "_ _"), "N M"), 2, names="N M")

# multi_dot
chain = [r.rand([2, 3], "N K"), r.rand([3, 4], "K L"), r.rand([4, 2], "L M")]
r.case("torch.linalg.multi_dot", chain, names="N M")
r.case("torch.linalg.multi_dot", chain[:2], names="N L")
r.case("torch.linalg.multi_dot", [r.rand([3], "K"), chain[1], chain[2]], names="M")
r.case("torch.linalg.multi_dot", [chain[0], chain[1], r.rand([4], "L")], names="N")
r.case("torch.linalg.multi_dot", [r.rand([3], "_"), r.rand([3, 2], "_ _"), r.rand([2], "_")], names="")
r.case("torch.linalg.multi_dot", [r.rand([2, 2], "N K", i64), r.rand([2, 2], "K M", i64)], names="N M")
r.case("torch.linalg.multi_dot", [r.rand([2, 1], "N K", f64), r.rand([1, 3], "K _", f64), r.rand([3, 1], "_ L", f64), r.rand([1, 2], "L M", f64)], names="N M")
r.case("torch.chain_matmul", *chain, names="N M")
r.case("torch.chain_matmul", t(r.rand([2, 3], "_ _"), "N K"), chain[1], names="N L")
r.error("torch.linalg.multi_dot", "duplicate_names", [r.rand([2, 3], "N K"), r.rand([3, 2], "K N")])

# cross
for dtype in (f32, f64, i32, c64):
    r.case("torch.linalg.cross", r.rand([2, 3], "N C", dtype), r.rand([2, 3], "N C", dtype), names="N C")
r.case("torch.linalg.cross", r.rand([3, 2], "C N"), r.rand([3, 2], "_ _"), dim=D("C", 0), names="C N")
r.case("torch.linalg.cross", r.rand([2, 3], "N C"), r.rand([1, 3], "_ C"), dim=D("C", 1), names="N C")
r.case("torch.cross", r.rand([3, 2], "C N", i64), r.rand([3, 2], "C N", i64), D("C", 0), names="C N")
r.case("torch.cross", t(r.rand([2, 3], "_ _"), "N C"), t(r.rand([2, 3], "_ _"), "N C"), dim=-1, names="N C")
r.case("torch.cross", r.rand([0, 3], "N C"), r.rand([0, 3], "N C"), dim=1, names="N C")
r.error("torch.cross", "name_mismatch", r.rand([2, 3], "N C"), r.rand([2, 3], "M C"), dim=1)

# tensordot
a, b = r.rand([2, 3, 2], "N C K"), r.rand([2, 3, 2], "K C M")
r.case("torch.tensordot", a, b, S(["C", "K"], ([1, 2], [1, 0])), names="N M")
r.case("torch.tensordot", a, b, dims=([1, 2], [1, 0]), names="N M")
r.case("torch.tensordot", r.rand([2, 3], "N K"), r.rand([3, 2], "K M"), 1, names="N M")
r.case("torch.tensordot", r.rand([2, 3], "N K", i32), r.rand([3, 2], "_ _", i32), dims=1, names="N _")
r.case("torch.tensordot", r.rand([2, 3], "N K", f64), r.rand([2, 3], "N K", f64), dims=2, names="")
r.case("torch.tensordot", r.rand([2], "N"), r.rand([3], "M"), dims=0, names="N M")
r.case("torch.tensordot", t(r.rand([2, 3], "_ _"), "N K"), t(r.rand([2, 3], "_ _"), "M K"), S("K", ([1], [1])), names="N M")
r.case("torch.tensordot", a, r.rand([2, 2], "_ _"), ([-1], [0]), names="N C _")
r.case("torch.tensordot", r.rand([2, 1], "N K"), r.rand([3, 2], "K M"), 1, names="N M")
r.case("torch.tensordot", r.rand([2, 0], "N K", c64), r.rand([0, 2], "K M", c64), 1, names="N M")
r.error("torch.tensordot", "name_not_found", a, b, ["N", "K"])
r.error("torch.tensordot", "duplicate_names", a, b, ["K"])

# cdist
for p in (0.0, 0.5, 1.0, 2.0, 3.0, float("inf")):
    r.case("torch.cdist", r.rand([2, 3], "N C"), r.rand([3, 3], "M C"), p=p, names="N M")
r.case("torch.cdist", r.rand([2, 3], "N C", f64), r.rand([2, 2, 3], "B M C", f64), names="B N M")
r.case("torch.cdist", r.rand([3, 2], "N C"), r.rand([2, 2], "M _"), compute_mode="use_mm_for_euclid_dist", names="N M")
r.case("torch.cdist", t(r.rand([2, 3], "_ _"), "N C"), r.rand([2, 3], "M C"), names="N M")
r.case("torch.cdist", r.rand([2, 0], "N C"), r.rand([3, 0], "M C"), names="N M")
r.error("torch.cdist", "duplicate_names", r.rand([2, 3], "N C"), r.rand([2, 3], "N C"))

# baddbmm, addbmm
for dtype in (f32, f64, i32, f16):
    x, y = r.rand([2, 2, 3], "B N K", dtype), r.rand([2, 3, 2], "B K M", dtype)
    r.case("torch.baddbmm", r.rand([2, 2, 2], "B N M", dtype), x, y, names="B N M")
    r.case("torch.addbmm", r.rand([2, 2], "N M", dtype), x, y, names="N M")
x, y = r.rand([2, 2, 3], "B N K"), r.rand([2, 3, 2], "_ _ M")
r.case("torch.baddbmm", r.rand([2], "M"), x, y, beta=0.5, alpha=2.0, names="B N M")
r.case("torch.baddbmm", T(torch.full((2, 2, 2), float("nan")), "_ _ _"), x, y, beta=0, names="B N M")
r.case("torch.Tensor.baddbmm_", r.rand([2, 2, 2], "B N M"), x, y, alpha=-1, names="B N M")
r.case("torch.baddbmm", r.rand([0, 2, 2], "B N M"), r.rand([0, 2, 3], "B N K"), r.rand([0, 3, 2], "B K M"), names="B N M")
r.case("torch.baddbmm", r.rand([1, 2], "_ M"), T(x.tensor.transpose(1, 2).contiguous().transpose(1, 2), "B N K"), y, names="B N M")
r.case("torch.addbmm", r.rand([2], "M"), x, y, beta=0.5, alpha=2.0, names="N M")
r.case("torch.addbmm", T(torch.full((2, 2), float("nan")), "_ _"), x, y, beta=0, names="N M")
r.case("torch.Tensor.addbmm_", r.rand([2, 2], "N M"), x, y, alpha=-1, names="N M")
r.case("torch.addbmm", r.rand([2, 2], "N M"), r.rand([0, 2, 3], "B N K"), r.rand([0, 3, 2], "B K M"), names="N M")
r.case("torch.addbmm", r.rand([2, 2], "N M"), T(x.tensor.transpose(0, 1).contiguous().transpose(0, 1), "B N K"), y, names="N M")
r.error("torch.baddbmm", "name_mismatch", r.rand([2, 2, 2], "B M N"), x, y)
r.error("torch.addbmm", "name_mismatch", r.rand([2, 2], "M N"), x, y)

# einsum
def einsum(equation, *operands, names, ours=None, **kwargs):
    r.case("torch.einsum", S(ours or equation, equation), *operands, names=names, **kwargs)


q, k = r.rand([2, 3, 2], "B T K"), r.rand([2, 2, 2], "B S K")
einsum("btk,bsk->bts", q, k, names="B T S")
einsum("btk,bsk->bts", q, k, names="B T S", ours="q[B, T, K] * k[K, S, B] -> [B, T, S]")
einsum("btk,bsk->bts", q, k, names="B T S", ours="batch time key, batch source key -> batch time source")
einsum("btk,bsk->tbs", q, k, names="T B S", ours="[.., K] * [K, ..] -> [T, ..]")
einsum("btk,bsk", q, k, names="S T")
einsum("btk,bsk->kb", q, k, names="K B")
einsum("btk->", q, names="")
einsum("btk->kt", q, names="K T", ours="[B, T, K] -> [K, T]")
einsum("ii", r.rand([3, 3], "N _", f64), names="")
einsum("ii->i", r.rand([3, 3], "N N'", f64), names="N")
einsum("ij,jk,kl->il", r.rand([2, 3], "N K"), r.rand([3, 2], "K L"), r.rand([2, 3], "L M"), names="N M")
einsum("i,j,k->kij", r.rand([2], "A", i64), r.rand([3], "_", i64), r.rand([2], "C", i64), names="C A _")
einsum("ij,ij->ij", r.rand([2, 3], "N C", i32), r.rand([2, 3], "_ C", i32), names="N C")
einsum("...ij,...jk->...ik", r.rand([2, 2, 3], "B N K"), r.rand([3, 2], "K M"), names="B N M")
einsum("...ij->...ji", r.rand([2, 1, 3], "B N K"), names="B K N")
einsum("...ij->ij", r.rand([2, 2, 3], "B N K"), names="N K")
einsum("bhij,bhjd->bihd", r.rand([2, 2, 2, 2], "B H T S"), r.rand([2, 2, 2, 3], "B H S D"), names="B T H D")
einsum("ij,ij->", r.rand([2, 1], "N C"), r.rand([1, 3], "N C"), names="")
einsum("ij,jk->ik", t(r.rand([2, 3], "_ _"), "N K"), t(r.rand([3, 2], "_ _"), "K M"), names="N M")
einsum("ij,jk->ik", r.rand([2, 0], "N K"), r.rand([0, 2], "K M"), names="N M")
einsum("ij,jk->ik", r.rand([2, 3], "N K", c64), r.rand([3, 2], "K M", c64), names="N M")
einsum("ij,jk->ik", r.rand([2, 3], "N K", f16), r.rand([3, 2], "_ _", f16), names="N _")
einsum(",i->i", T(torch.tensor(2.0), ""), r.rand([3], "N"), names="N")
einsum("aB,Bc", r.rand([2, 3], "N K"), r.rand([3, 2], "K M"), names="N M")
einsum("nc,nd->cd", r.rand([3, 2], "N C"), r.rand([3, 2], "N C'"), names="C C'", ours="[N, C] * [N, C'] -> [C, C']")
r.case("torch.einsum", "ij,jk,k->i", [r.rand([2, 3], "N K"), r.rand([3, 2], "K M"), r.rand([2], "M")], names="N")
r.error("torch.einsum", "name_mismatch", "ij,jk->ik", r.rand([2, 3], "N K"), r.rand([3, 2], "L M"))
r.error("torch.einsum", "duplicate_names", "ij,kj->ik", r.rand([2, 3], "N K"), r.rand([2, 3], "N K"))
r.error("torch.einsum", "name_not_found", "[N, K] * [K, M] -> [N, L]", r.rand([2, 3], "N K"), r.rand([3, 2], "K M"))
r.error("torch.einsum", "unnamed_dim", "[N, ..] -> [N]", r.rand([2, 3], "N _"))

# linear
LINEAR = "torch.nn.functional.linear"
for dtype in (f32, f64, i32, bf16):
    w, b = r.rand([4, 3], "Out In", dtype), r.rand([4], "Out", dtype)
    r.case(LINEAR, r.rand([2, 3], "N In", dtype), w, b, names="N Out")
w, b = r.rand([4, 3], "Out In"), r.rand([4], "_")
r.case(LINEAR, r.rand([2, 2, 3], "B T In"), w, bias=b, names="B T Out")
r.case(LINEAR, r.rand([3], "In"), w, names="Out")
r.case(LINEAR, r.rand([2, 3], "_ _"), w, names="_ Out")
r.case(LINEAR, r.rand([2, 3], "N C"), r.rand([4, 3], "Out _"), b, names="N Out")
r.case(LINEAR, r.rand([2, 3], "N In"), r.rand([3], "In"), names="N")
x = r.rand([3, 2], "In N")
r.case(LINEAR, x, w, r.rand([4], "Out"), names="N Out", fn=lambda x, w, b: torch.nn.functional.linear(x.t(), w, b))
r.case(LINEAR, t(r.rand([2, 3], "_ _"), "N In"), t(r.rand([4, 3], "_ _"), "Out In"), b, names="N Out")
r.case(LINEAR, r.rand([0, 3], "N In"), w, b, names="N Out")
r.error(LINEAR, "name_not_found", r.rand([2, 3], "N C"), w)
r.error(LINEAR, "duplicate_names", r.rand([2, 3], "Out In"), w)
r.error(LINEAR, "name_mismatch", r.rand([2, 3], "N In"), w, r.rand([4], "C"))

# bilinear
BILINEAR = "torch.nn.functional.bilinear"
for dtype in (f32, f64):
    w, b = r.rand([2, 3, 2], "Out A B", dtype), r.rand([2], "Out", dtype)
    r.case(BILINEAR, r.rand([3, 3], "N A", dtype), r.rand([3, 2], "N B", dtype), w, b, names="N Out")
    r.case(BILINEAR, r.rand([2, 2, 3], "T N A", dtype), r.rand([2, 2, 2], "_ N B", dtype), w, names="T N Out")
w, b = r.rand([2, 3, 2], "Out A B"), r.rand([2], "_")
r.case(BILINEAR, r.rand([3], "A"), r.rand([2], "B"), w, bias=b, names="Out")
r.case(BILINEAR, r.rand([2, 3], "_ _"), r.rand([2, 2], "_ _"), w, names="_ Out")
r.case(BILINEAR, t(r.rand([2, 3], "_ _"), "N A"), t(r.rand([2, 2], "_ _"), "N B"), w, b, names="N Out")
r.case(BILINEAR, r.rand([0, 3], "N A"), r.rand([0, 2], "N B"), w, b, names="N Out")
r.error(BILINEAR, "name_mismatch", r.rand([2, 3], "N B"), r.rand([2, 2], "N B"), w)

# scaled_dot_product_attention
ATTENTION = "torch.nn.functional.scaled_dot_product_attention"
for dtype in (f32, f64, f16, bf16):
    q, k, v = r.rand([2, 3, 2], "B T K", dtype), r.rand([2, 2, 2], "B S K", dtype), r.rand([2, 2, 3], "B S V", dtype)
    r.case(ATTENTION, q, k, v, names="B T V")
q, k, v = r.rand([2, 3, 2], "B T K"), r.rand([2, 4, 2], "B S K"), r.rand([2, 4, 3], "B S V")
r.case(ATTENTION, q, k, v, is_causal=True, names="B T V")
r.case(ATTENTION, q, k, v, scale=0.5, names="B T V")
r.case(ATTENTION, q, k, v, r.rand([3, 4], "T S", boolean), names="B T V")
r.case(ATTENTION, q, k, v, attn_mask=r.rand([2, 3, 4], "B T S"), names="B T V")
r.case(ATTENTION, q, k, v, attn_mask=r.rand([3, 1], "_ _"), scale=1.0, names="B T V")
r.case(ATTENTION, q, k, v, T(torch.tensor([[True, False, True, False], [False] * 4, [True] * 4]), "_ _"), names="B T V")
r.case(ATTENTION, r.rand([3, 2], "T K"), r.rand([4, 2], "S K"), r.rand([4, 2], "S V"), names="T V")
x = r.rand([2, 3, 2], "B T K")
r.case(ATTENTION, x, x, x, is_causal=True, names="B T K")
r.case(ATTENTION, x, x, x, r.rand([3, 3], "T T'", boolean), names="B T K")
r.case(ATTENTION, r.rand([1, 2, 3, 2], "B H T K"), r.rand([1, 2, 2, 2], "_ H S K"), r.rand([1, 2, 2, 2], "_ _ S K"), names="B H T K")
r.case(ATTENTION, r.rand([1, 4, 2, 2], "B H T K"), r.rand([1, 2, 2, 2], "B _ S K"), r.rand([1, 2, 2, 2], "B _ S V"), enable_gqa=True, names="B H T V")
y = r.rand([2, 3, 2], "_ _ _").tensor
r.case(ATTENTION, T(y.transpose(1, 2).contiguous().transpose(1, 2), "B T K"), T(y.transpose(0, 1).contiguous().transpose(0, 1), "B S K"), T(y[..., ::2].expand(2, 3, 1), "B S V"), names="B T V")
r.case(ATTENTION, r.rand([2, 0, 2], "B T K"), k, v, names="B T V")
r.error(ATTENTION, "name_mismatch", q, r.rand([2, 4, 2], "B S C"), v)
r.error(ATTENTION, "name_mismatch", q, k, r.rand([2, 4, 2], "B C V"))
r.error(ATTENTION, "name_mismatch", q, k, r.rand([2, 4, 2], "N S V"))
r.error(ATTENTION, "duplicate_names", q, k, r.rand([2, 4, 2], "B S T"))
r.error(ATTENTION, "name_mismatch", q, k, v, r.rand([3, 4], "S T", boolean))

# vecdot
for dtype in (f32, f64, c128, c64):
    r.case("torch.linalg.vecdot", r.rand([2, 3], "N K", dtype), r.rand([2, 3], "N K", dtype), names="N")
r.case("torch.linalg.vecdot", r.rand([3, 2], "K N"), r.rand([3, 1], "_ _"), dim=D("K", 0), names="N")
r.case("torch.linalg.vecdot", r.rand([2, 3], "N K"), r.rand([3], "K"), dim=-1, names="N")
r.case("torch.linalg.vecdot", t(r.rand([2, 3], "_ _"), "N K"), t(r.rand([2, 3], "_ _"), "_ K"), names="N")
r.case("torch.linalg.vecdot", r.rand([0, 3], "N K"), r.rand([0, 3], "N K"), names="N")
r.case("torch.linalg.vecdot", r.rand([2, 0], "N K"), r.rand([2, 0], "N K"), names="N")
r.error("torch.linalg.vecdot", "name_mismatch", r.rand([2, 3], "N K"), r.rand([2, 3], "M K"))

# prime
for dtype in (f32, f64, i32, boolean, c64):
    r.case("prime", r.rand([2, 3], "N C", dtype), "C", names="N C'", fn=lambda x, dim: x)
r.case("prime", r.rand([2, 3], "N C"), -1, names="N C'", fn=lambda x, dim: x)
r.case("prime", r.rand([2, 3], "N C'"), "C'", names="N C''", fn=lambda x, dim: x)
r.case("prime", r.rand([2, 0], "N _"), 0, names="N' _", fn=lambda x, dim: x)
r.case("prime", t(r.rand([2, 3], "_ _"), "N C"), "N", names="N' C", fn=lambda x, dim: x)
r.error("prime", "name_not_found", r.rand([2, 3], "N C"), "M")
r.error("prime", "duplicate_names", r.rand([2, 3], "N N'"), "N")
r.error("prime", "unnamed_dim", r.rand([2, 3], "N _"), 1)

r.write()
