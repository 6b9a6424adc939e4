"""The PyTorch side of the speed comparison of gradients: a line of JSON a case, {"case", "seconds"}.

usage: python torch_grads.py [--threads 2] [--only SUBSTRING] [--ask | --list]
needs: pip install torch==2.11.0 numpy
`cargo bench --bench grads` prints the same cases under the same names, measured in the same way as those of
`torch_ops.py`.
"""
import argparse, json, sys
import torch
from torch.nn.functional import cross_entropy, embedding, gelu, layer_norm
from torch_ops import measure

R = torch.randn
G = lambda *s: torch.randn(*s, requires_grad=True)
CASES = {}


def both_ways(name, make, fn):
    """A number computed of leaves, and their gradients, which are dropped."""

    def ready():
        operands = make()

        def run():
            fn(*operands).backward()
            for x in operands:
                x.grad = None

        return run

    CASES[name] = ready


def forward(name, make, fn):
    def ready():
        operands = make()
        return lambda: fn(*operands)

    CASES[name] = ready


forward("add_4x4/recorded", lambda: (G(4, 4), G(4, 4)), lambda a, b: a + b)
forward("add_4x4/plain", lambda: (R(4, 4), R(4, 4)), lambda a, b: a + b)


def chain(a, b):
    x = a + b
    for _ in range(1, 100_000):
        x = x + b
    return x.sum()


both_ways("chain_100k", lambda: (G(4, 4), G(4, 4)), chain)
for name, shape in (("1M", (1000, 1000)), ("10M", (4000, 2500))):
    operands = lambda s=shape: (G(*s), G(s[1]))
    both_ways(f"exp_tanh/{name}", operands, lambda x, b: ((x + b).tanh() * 2.0).exp().sum())
    both_ways(f"fused/exp_tanh/{name}", operands, lambda x, b: ((x + b).tanh() * 2.0).exp().sum())
big = (4000, 2500)
both_ways("gelu/10M", lambda: (G(*big),), lambda x: gelu(x).sum())
both_ways("softmax/10M", lambda: (G(*big), R(*big)), lambda x, w: (x.softmax(1) * w).sum())
both_ways("layer_norm/10M", lambda: (G(*big), R(*big)), lambda x, w: (layer_norm(x, big[1:]) * w).sum())
classes = lambda: (G(4096, 1000), torch.randint(1000, (4096,)))
both_ways("cross_entropy/4096x1000", classes, cross_entropy)


def words():
    ids = torch.randint(30522, (2048,))
    return G(30522, 384), ids


both_ways("embedding/2048_of_30522x384", words, lambda weight, ids: embedding(ids, weight).sum())


def step_of(sizes):
    """A step of gradient descent of a perceptron with so many layers."""

    def ready():
        n, *sizes_ = sizes
        x, target = R(n, sizes_[0]), torch.randint(sizes_[-1], (n,))
        weights = [(R(a, b) * 0.05).requires_grad_() for a, b in zip(sizes_, sizes_[1:])]
        biases = [torch.zeros(b, requires_grad=True) for b in sizes_[1:]]

        def run():
            y = x
            for w, b in zip(weights[:-1], biases):
                y = (y @ w + b).relu()
            cross_entropy(y @ weights[-1] + biases[-1], target).backward()
            with torch.no_grad():
                for p in (*weights, *biases):
                    p -= 0.1 * p.grad
                    p.grad = None

        return run

    return ready


for sizes in ((256, 784, 512, 10), (128, 64, 256, 256, 10)):
    CASES["mlp_train_step/" + "x".join(map(str, sizes))] = step_of(sizes)

LAYER = [(384, 384)] * 4 + [(384,)] * 4 + [(384, 1536), (1536,), (1536, 384)] + [(384,)] * 5


def adamw(fused):
    """A step of AdamW of six layers of an encoder."""

    def ready():
        params = [torch.full(sizes, 0.5, requires_grad=True) for _ in range(6) for sizes in LAYER]
        for p in params:
            p.grad = torch.full_like(p, 0.5)
        return torch.optim.AdamW(params, fused=fused).step

    return ready


CASES["adamw/10.6M"] = adamw(True)
CASES["adamw_default/10.6M"] = adamw(None)

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--ask", action="store_true")
    p.add_argument("--list", action="store_true")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    asked = (line.strip() for line in sys.stdin) if a.ask else [name for name in CASES if a.only in name]
    for name in asked:
        print(name if a.list else json.dumps({"case": name, "seconds": measure(CASES[name]())}), flush=True)
