"""The PyTorch side of the speed comparison: one line of JSON per case, {"case", "seconds"} (median of 5, warm).

usage: python torch_ops.py [--threads 2] [--only SUBSTRING] [--device cuda] [--ask | --list]
needs: pip install torch==2.11.0 numpy
`cargo bench --bench ops` prints the same cases under the same names. Outputs are newly allocated unless a case says
otherwise. --ask measures the cases named on standard input, one per line, so that scripts/compare.py can alternate
between all sides; --list prints the names of all cases. On a GPU, several copies of the operands are used in turn, so
that they do not come from its cache; a sample ends when the GPU has finished; there are larger cases; and chains of
operators are measured a second time under `fused/`, compiled by torch.compile.
"""
import argparse, itertools, json, sys, time
import torch
from torch.nn.functional import conv1d, conv2d, cross_entropy, embedding, gelu, layer_norm, linear, scaled_dot_product_attention, silu

f32, f64, f16, bf16, i64 = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64
DEVICE = "cpu"
R = lambda *s, dt=f32: torch.randn(*s, device=DEVICE).to(dt)
# All cases; those for a GPU only.
CASES, ON_GPU = {}, {}
# Cases that `cargo bench --bench ops` also has with `fuse!`.
CHAINS = ("chain/", "chain_sum_", "softmax_steps/", "bias_gelu/", "mean_squared/")


def case(name):
    def put(make):
        CASES[name] = make
    return put


def simple(name, make, fn, cases=CASES):
    cases[name] = lambda: turns(make, fn)
    if name.startswith(CHAINS):
        ON_GPU[f"fused/{name}"] = lambda: turns(make, torch.compile(fn, dynamic=False))


def turns(make, fn):
    """Calls a function on copies of its operands in turn, enough of them to exceed a GPU's cache."""
    before = used()
    copies = [make()]
    size = used() - before
    if size >= 1 << 20:
        copies += [make() for _ in range(min(max(-(-(256 << 20) // size), 2), 64) - 1)]
    if len(copies) == 1:
        return lambda a=copies[0]: fn(*a)
    order = itertools.cycle(copies)
    return lambda: fn(*next(order))


def used():
    return torch.cuda.memory_allocated() if DEVICE != "cpu" else 0


def wait():
    if DEVICE != "cpu":
        torch.cuda.synchronize()


big = (4000, 2500)
for n, shape in (("16", (4, 4)), ("10k", (100, 100)), ("1M", (1000, 1000)), ("10M", big)):
    simple(f"add/{n}", lambda s=shape: (R(*s), R(*s)), lambda a, b: a + b)
    simple(f"exp/{n}", lambda s=shape: (R(*s),), lambda a: a.exp())
    simple(f"chain/{n}", lambda s=shape: (R(*s), R(*s), R(s[1])), lambda a, b, c: (a * b + c).exp() * a)
for d, n in ((None, "all"), (0, "first"), (1, "last")):
    simple(f"chain_sum_{n}/10M", lambda: (R(*big), R(*big), R(big[1])), (lambda a, b, c, d=d: (a * b + c).tanh().sum(() if d is None else d)))
simple("softmax_steps/10M", lambda: (R(*big),), lambda a: (e := (a - a.amax(1, keepdim=True)).exp()) / e.sum(1, keepdim=True))
simple("bias_gelu/10M", lambda: (R(*big), R(big[1])), lambda a, b: torch.nn.functional.gelu(a + b))
simple("mean_squared/10M", lambda: (R(*big), R(*big)), lambda a, b: (a - b).square().mean())
simple("add_inplace/10M", lambda: (R(*big), R(*big)), lambda a, b: a.add_(b))
simple("add_bcast_last/10M", lambda: (R(*big), R(big[1])), lambda a, b: a + b)
simple("add_bcast_first/10M", lambda: (R(*big), R(big[0], 1)), lambda a, b: a + b)
simple("add_transposed/10M", lambda: (R(*big), R(big[1], big[0]).t()), lambda a, b: a + b)
simple("add_promote_i64_f32/1M", lambda: (torch.ones(1000, 1000, dtype=i64, device=DEVICE), R(1000, 1000)), lambda a, b: a + b)
simple("add_bf16/10M", lambda: (R(*big, dt=bf16), R(*big, dt=bf16)), lambda a, b: a + b)
simple("add_f64/1M", lambda: (R(1000, 1000, dt=f64), R(1000, 1000, dt=f64)), lambda a, b: a + b)
simple("mul_c64/1M", lambda: (R(1000, 1000, dt=torch.complex64), R(1000, 1000, dt=torch.complex64)), lambda a, b: a * b)
simple("lt/10M", lambda: (R(*big), R(*big)), lambda a, b: a < b)
simple("div_scalar/10M", lambda: (R(*big),), lambda a: a / 3.0)
for op in ("tanh", "sigmoid", "sin", "log", "erf", "sqrt", "relu"):
    simple(f"{op}/10M", lambda: (R(*big).abs() + 0.1,), lambda a, o=op: getattr(a, o)())
simple("pow2.5/1M", lambda: (R(1000, 1000).abs(),), lambda a: a.pow(2.5))
for op in ("sin", "erf"):
    simple(f"{op}_f64/1M", lambda: (R(1000, 1000, dt=f64),), lambda a, o=op: getattr(a, o)())
small, special = (100, 100), torch.special
for op, fn in (("gelu", gelu), ("silu", silu), ("erfc", torch.erfc), ("lgamma", torch.lgamma), ("digamma", torch.digamma), ("i1e", special.i1e)):
    simple(f"{op}/10k", lambda: (R(*small),), fn)
for op, fn in (("gelu", gelu), ("lgamma", torch.lgamma), ("i1e", special.i1e)):
    simple(f"{op}_f64/10k", lambda: (R(*small, dt=f64),), fn)
simple("erfinv_f64/10k", lambda: (R(*small, dt=f64).tanh(),), torch.erfinv)
simple("sqrt_c64/10k", lambda: (R(*small, dt=torch.complex64),), torch.sqrt)
simple("pow_f64/1M", lambda: (R(1000, 1000, dt=f64).abs(), R(1000, 1000, dt=f64)), lambda a, b: a.pow(b))
simple("masked_fill/10M", lambda: (R(*big), R(*big) > 0), lambda a, m: a.masked_fill(m, 0.0))
for d, n in ((None, "all"), (0, "first"), (1, "last")):
    simple(f"sum_{n}/10M", lambda: (R(*big),), (lambda a, d=d: a.sum() if d is None else a.sum(d)))
simple("sum_middle/8M", lambda: (R(200, 200, 200),), lambda a: a.sum(1))
simple("sum_bf16_last/10M", lambda: (R(*big, dt=bf16),), lambda a: a.sum(1))
short = (1_000_000, 8)
simple("sum_short/8M", lambda: (R(*short),), lambda a: a.sum(1))
simple("sum_short_middle/8M", lambda: (R(1_000_000, 4, 2),), lambda a: a.sum(1))
simple("max_short/8M", lambda: (R(*short),), lambda a: a.max(1))
simple("var_short/8M", lambda: (R(*short),), lambda a: a.var(1))
simple("softmax_short/8M", lambda: (R(*short),), lambda a: a.softmax(1))
simple("cumsum_short/8M", lambda: (R(*short),), lambda a: a.cumsum(1))
simple("max_last/10M", lambda: (R(*big),), lambda a: a.max(1))
simple("argmax_first/10M", lambda: (R(*big),), lambda a: a.argmax(0))
simple("var_last/10M", lambda: (R(*big),), lambda a: a.var(1))
simple("logsumexp_last/10M", lambda: (R(*big),), lambda a: a.logsumexp(1))
simple("softmax_last/10M", lambda: (R(*big),), lambda a: a.softmax(1))
simple("softmax_first/10M", lambda: (R(*big),), lambda a: a.softmax(0))
simple("cumsum_last/10M", lambda: (R(*big),), lambda a: a.cumsum(1))
simple("cumsum_first/10M", lambda: (R(*big),), lambda a: a.cumsum(0))
simple("median_last/1M", lambda: (R(1000, 1000),), lambda a: a.median(1))
simple("topk8_last/1M", lambda: (R(1000, 1000),), lambda a: a.topk(8, 1))
simple("nchw_to_nhwc/8M", lambda: (R(32, 64, 64, 64),), lambda a: a.permute(0, 2, 3, 1).contiguous())
simple("transpose_copy/10M", lambda: (R(*big),), lambda a: a.t().contiguous())
simple("cat_last/10M", lambda: (R(*big), R(*big)), lambda a, b: torch.cat([a, b], 1))
simple("cast_f32_bf16/10M", lambda: (R(*big),), lambda a: a.to(bf16))
simple("randn/10M", lambda: (), lambda: torch.randn(*big, device=DEVICE))
for n in (4, 64, 256, 1024, 2048):
    simple(f"matmul_f32/{n}", lambda n=n: (R(n, n), R(n, n)), lambda a, b: a @ b)
simple("matmul_f64/1024", lambda: (R(1024, 1024, dt=f64), R(1024, 1024, dt=f64)), lambda a, b: a @ b)
simple("matmul_c64/512", lambda: (R(512, 512, dt=torch.complex64), R(512, 512, dt=torch.complex64)), lambda a, b: a @ b)
simple("matmul_bf16/1024", lambda: (R(1024, 1024, dt=bf16), R(1024, 1024, dt=bf16)), lambda a, b: a @ b)
simple("matmul_nt/1024", lambda: (R(1024, 1024), R(1024, 1024)), lambda a, b: a @ b.t())
simple("matmul_skinny/2048x384x1536", lambda: (R(2048, 384), R(384, 1536)), lambda a, b: a @ b)
LAYER = lambda: (R(2048, 384), R(1536, 384), R(1536))
simple("linear_relu/2048x384x1536", LAYER, lambda x, w, b: torch.relu(linear(x, w, b)))
simple("linear_gelu/2048x384x1536", LAYER, lambda x, w, b: gelu(linear(x, w, b)))
simple("bmm/64x128x64x128", lambda: (R(64, 128, 64), R(64, 64, 128)), lambda a, b: a @ b)
simple("mv/4000x2500", lambda: (R(*big), R(big[1])), lambda a, b: a @ b)

for b, c, size, outs, k, stride in (
    (1, 3, 224, 64, 7, 2), (1, 64, 56, 64, 3, 1), (1, 128, 28, 128, 3, 1), (1, 256, 14, 256, 3, 1), (1, 512, 7, 512, 3, 1),
    (1, 256, 56, 64, 1, 1), (8, 128, 28, 128, 3, 1),
):
    simple(
        f"conv2d/{b}x{c}x{size}x{size}/{outs}/{k}x{k}s{stride}",
        lambda b=b, c=c, size=size, outs=outs, k=k: (R(b, c, size, size), R(outs, c, k, k)),
        lambda x, w, k=k, stride=stride: conv2d(x, w, stride=stride, padding=k // 2),
    )


for c, outs, k, groups in ((96, 96, 3, 96), (96, 96, 7, 96), (128, 128, 3, 32)):
    simple(
        f"conv2d/1x{c}x56x56/{outs}/{k}x{k}g{groups}",
        lambda c=c, outs=outs, k=k, groups=groups: (R(1, c, 56, 56), R(outs, c // groups, k, k)),
        lambda x, w, k=k, groups=groups: conv2d(x, w, padding=k // 2, groups=groups),
    )
simple("conv1d/1x80x3000/384/3", lambda: (R(1, 80, 3000), R(384, 80, 3)), lambda x, w: conv1d(x, w, padding=1))


def attention(sizes, causal, dt, name, cases):
    simple(
        f"attention_{'causal' if causal else 'full'}{name}/{'x'.join(map(str, sizes))}",
        lambda: (R(*sizes, dt=dt), R(*sizes, dt=dt), R(*sizes, dt=dt)),
        lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=causal),
        cases,
    )


for sizes, causal in (((16, 12, 122, 32), False), ((1, 12, 1024, 64), True)):
    attention(sizes, causal, f32, "", CASES)

# Typical work for a GPU, of sizes that would take too long on the host.
flat, below = lambda power: (R(1 << power),), lambda n, end: torch.randint(0, end, (n,), device=DEVICE)
for name, make, fn in (
    ("add/256M", lambda: (R(1 << 28), R(1 << 28)), lambda a, b: a + b),
    ("exp/256M", lambda: flat(28), torch.exp),
    ("sum_all/256M", lambda: flat(28), torch.sum),
    ("transpose_copy/256M", lambda: (R(16384, 16384),), lambda a: a.t().contiguous()),
    ("softmax_bf16/8192x4096", lambda: (R(8192, 4096, dt=bf16),), lambda a: a.softmax(1)),
    ("layer_norm/8192x4096", lambda: (R(8192, 4096),), lambda a: layer_norm(a, (4096,))),
    ("layer_norm_bf16/8192x4096", lambda: (R(8192, 4096, dt=bf16),), lambda a: layer_norm(a, (4096,))),
    ("cross_entropy/4096x32000", lambda: (R(4096, 32000), below(4096, 32000)), cross_entropy),
    ("embedding/64k_of_50000x768", lambda: (R(50_000, 768), below(65_536, 50_000)), lambda rows, at: embedding(at, rows)),
    ("sort_all/16M", lambda: flat(24), torch.sort),
    ("sort_last/10M", lambda: (R(*big),), lambda a: a.sort(1)),
):
    simple(name, make, fn, ON_GPU)
for dtype, dt, sizes in (("f16", f16, (1024, 4096, 8192)), ("bf16", bf16, (4096, 8192)), ("f32", f32, (4096,))):
    for n in sizes:
        simple(f"matmul_{dtype}/{n}", lambda n=n, dt=dt: (R(n, n, dt=dt), R(n, n, dt=dt)), lambda a, b: a @ b, ON_GPU)
for c, size, outs, k in ((64, 56, 64, 3), (128, 28, 128, 3), (256, 14, 256, 3), (256, 56, 64, 1)):
    simple(
        f"conv2d_f16/32x{c}x{size}x{size}/{outs}/{k}x{k}s1",
        lambda c=c, size=size, outs=outs, k=k: (R(32, c, size, size, dt=f16), R(outs, c, k, k, dt=f16)),
        lambda x, w, k=k: conv2d(x, w, padding=k // 2),
        ON_GPU,
    )
for sizes in ((8, 16, 2048, 64), (4, 16, 4096, 128)):
    for causal in (False, True):
        attention(sizes, causal, bf16, "_bf16", ON_GPU)


@case("mlp_train_step/256x784x512x10")
def _():
    x, y = R(256, 784), torch.randint(0, 10, (256,), device=DEVICE)
    w1, w2 = (R(784, 512) * 0.03).requires_grad_(), (R(512, 10) * 0.04).requires_grad_()
    b1, b2 = (torch.zeros(n, requires_grad=True, device=DEVICE) for n in (512, 10))
    ps = [w1, b1, w2, b2]

    def step():
        h = (x @ w1 + b1).relu()
        loss = torch.nn.functional.cross_entropy(h @ w2 + b2, y)
        loss.backward()
        with torch.no_grad():
            for p in ps:
                p -= 0.1 * p.grad
                p.grad = None
    return step


def measure(f, budget=0.25):
    for _ in range(3):
        f()
    wait()
    n = 1
    while True:
        s = time.perf_counter()
        for _ in range(n):
            f()
        wait()
        e = time.perf_counter() - s
        if e > budget / 5:
            break
        n *= 2
    best = []
    for _ in range(5):
        s = time.perf_counter()
        for _ in range(n):
            f()
        wait()
        best.append((time.perf_counter() - s) / n)
    return sorted(best)[2]


def tell(name):
    print(json.dumps({"case": name, "seconds": measure(CASES[name]())}), flush=True)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--device", default="cpu")
    p.add_argument("--ask", action="store_true")
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    DEVICE = a.device
    if DEVICE != "cpu":
        CASES |= ON_GPU
        # f32 products use TF32 only on request; convolutions use it by default, in PyTorch only.
        torch.backends.cudnn.allow_tf32 = False
        if not a.list and not torch.cuda.is_available():
            raise SystemExit("nothing is measured: PyTorch sees no CUDA device")
    asked = (line.strip() for line in sys.stdin) if a.ask else [name for name in CASES if a.only in name]
    for name in asked:
        print(name) if a.list else tell(name)
