"""The PyTorch side of the speed comparison: a line of JSON a case, {"case", "seconds"} (median of 5, warm).

usage: python torch_ops.py [--threads 2] [--only SUBSTRING] [--device cuda] [--ask | --list]
needs: pip install torch==2.11.0 numpy
`cargo bench --bench ops` prints the same cases under the same names. Outputs are freshly allocated unless a case
says otherwise. With --ask it measures the cases that standard input names, one a line: so scripts/compare.py asks
all sides in turn; with --list it prints the names of all cases. On a GPU operands are several, used in turn, so that
they do not come from its cache; a sample ends when the GPU is done; and chains of operators are measured a second
time under `fused/`, as torch.compile makes them.
"""
import argparse, itertools, json, sys, time
import torch
from torch.nn.functional import gelu, linear

f32, f64, bf16, i64 = torch.float32, torch.float64, torch.bfloat16, torch.int64
DEVICE = "cpu"
R = lambda *s, dt=f32: torch.randn(*s, device=DEVICE).to(dt)
CASES, FUSED = {}, {}
# What `cargo bench --bench ops` has with `fuse!` too.
CHAINS = ("chain/", "chain_sum_", "softmax_steps/", "bias_gelu/", "mean_squared/")


def case(name):
    def put(make):
        CASES[name] = make
    return put


def simple(name, make, fn):
    CASES[name] = lambda: turns(make, fn)
    if name.startswith(CHAINS):
        FUSED[f"fused/{name}"] = lambda: turns(make, torch.compile(fn, dynamic=False))


def turns(make, fn):
    """Calls a function on operands that are used in turn, so many that they exceed a GPU's cache."""
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
        CASES |= FUSED
        if not a.list and not torch.cuda.is_available():
            raise SystemExit("nothing is measured: PyTorch sees no CUDA device")
    asked = (line.strip() for line in sys.stdin) if a.ask else [name for name in CASES if a.only in name]
    for name in asked:
        print(name) if a.list else tell(name)
