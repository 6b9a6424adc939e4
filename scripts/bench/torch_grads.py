"""The PyTorch side of the speed comparison of gradients: one line of JSON per case, {"case", "seconds"}.

usage: python torch_grads.py [--threads 2] [--only SUBSTRING] [--ask | --list | --values | --memory forward|backward|step]
needs: pip install torch==2.11.0 numpy
`cargo bench --bench grads` prints the same cases under the same names, measured like those of `torch_ops.py`.
`--values` prints the results of ADBench's models: a number, and its gradients. `--memory` prints the peak memory of a model, as
`cargo bench --bench grads -- --memory` does.
"""
import argparse, json, math, sys
import torch
import torch.nn.functional as F
from torch.nn.functional import cross_entropy, embedding, gelu, layer_norm
from torch_ops import measure

R = torch.randn
G = lambda *s: torch.randn(*s, requires_grad=True)
CASES = {}


def both_ways(name, make, fn):
    """Computes a number from leaves, and their gradients, which are dropped."""

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
    """Returns a gradient descent step of a perceptron with these layer sizes."""

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
    """Returns an AdamW step for six layers of an encoder."""

    def ready():
        params = [torch.full(sizes, 0.5, requires_grad=True) for _ in range(6) for sizes in LAYER]
        for p in params:
            p.grad = torch.full_like(p, 0.5)
        return torch.optim.AdamW(params, fused=fused).step

    return ready


CASES["adamw/10.6M"] = adamw(True)
CASES["adamw_default/10.6M"] = adamw(None)
for n, c, size, outs, k, stride, groups in ((8, 64, 56, 64, 3, 1, 1), (8, 64, 56, 128, 3, 2, 1), (8, 96, 28, 96, 7, 1, 96)):
    both_ways(
        f"conv2d/{n}x{c}x{size}x{size}/{outs}/{k}x{k}s{stride}g{groups}",
        lambda n=n, c=c, size=size, outs=outs, k=k, groups=groups: (G(n, c, size, size), G(outs, c // groups, k, k)),
        lambda x, w, k=k, stride=stride, groups=groups: F.conv2d(x, w, stride=stride, padding=k // 2, groups=groups).sum(),
    )


def trained(make):
    """Returns an AdamW step for a model, given by a function of its loss and its parameters."""

    def ready():
        loss, params = make()
        optimizer = torch.optim.AdamW(params, lr=1e-3, fused=True)

        def run():
            loss().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

        return run

    return ready


def layer():
    """Returns an encoder layer: its parameters, and the function of its input."""
    heads = torch.nn.ModuleDict({name: torch.nn.Linear(384, 384) for name in ("q", "k", "v", "out")})
    norms = torch.nn.ModuleList([torch.nn.LayerNorm(384), torch.nn.LayerNorm(384)])
    inner, outer = torch.nn.Linear(384, 1536), torch.nn.Linear(1536, 384)
    split = lambda y: y.view(16, 128, 12, 32).transpose(1, 2)

    def forward(x):
        found = F.scaled_dot_product_attention(*(split(heads[name](x)) for name in ("q", "k", "v")))
        y = norms[0](heads["out"](found.transpose(1, 2).reshape(16, 128, 384)) + x)
        return norms[1](outer(F.gelu(inner(y))) + y)

    return [p for module in (heads, norms, inner, outer) for p in module.parameters()], forward


def encoder_block():
    params, forward = layer()
    x, w = torch.randn(16, 128, 384), torch.randn(16, 128, 384)
    return lambda: (forward(x) * w).sum(), params


def resident(name):
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def print_peak(phase):
    """Prints the peak of resident memory above that of the process before the model was created, after three runs."""
    torch.randn(16, 128).exp()
    before = resident("VmRSS")
    words, places = torch.nn.Embedding(30522, 384), torch.nn.Embedding(512, 384)
    norm = torch.nn.LayerNorm(384)
    layers = [layer() for _ in range(6)]
    params = [*words.parameters(), *places.parameters(), *norm.parameters(), *(p for own, _ in layers for p in own)]
    optimizer = torch.optim.AdamW(params, lr=1e-3, fused=True)
    ids = torch.randint(30522, (16, 128))

    def forward():
        x = norm(words(ids) + places(torch.arange(128)))
        for _, each in layers:
            x = each(x)
        return F.normalize(x.mean(1), dim=1)

    for _ in range(3):
        if phase == "forward":
            with torch.no_grad():
                forward()
            continue
        forward().sum().backward()
        if phase == "step":
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(json.dumps({"phase": phase, "mib": round(resident("VmHWM") - before)}))


def convolutions():
    layers = torch.nn.Conv2d(1, 32, 3, padding=1), torch.nn.Conv2d(32, 64, 3, padding=1), torch.nn.Linear(64, 10)
    x, target = torch.randn(64, 1, 8, 8), torch.randint(0, 10, (64,))

    def loss():
        y = layers[1](layers[0](x).relu()).relu()
        return F.cross_entropy(layers[2](y.mean((2, 3))), target)

    return loss, [p for layer in layers for p in layer.parameters()]


CASES["encoder_block/16x128x384"] = trained(encoder_block)
CASES["conv_step/64x1x8x8x32x64"] = trained(convolutions)

# Objectives of ADBench, with the numbers of `benches/grads/inputs.rs`.
VALUES = {}


def term(i):
    return (31 * i * i + 7919 * i) % 10_007


def numbers(stream, *shape):
    terms = term(torch.arange(math.prod(shape)) + 100_003 * stream)
    return (terms.double() / 5003 - 1).reshape(shape)


def model(name, make, fn):
    """Computes a number from leaves and constant inputs, and the gradients of the leaves."""

    def operands():
        leaves, given = make()
        return [x.requires_grad_() for x in leaves] + given, leaves

    def ready():
        x, leaves = operands()

        def run():
            fn(*x).backward()
            for leaf in leaves:
                leaf.grad = None

        return run

    def values():
        x, leaves = operands()
        value = fn(*x)
        grads = torch.autograd.grad(value, leaves)
        return torch.cat([x.detach().flatten() for x in (value, *grads)]).tolist()

    CASES[name], VALUES[name] = ready, values


GAMMA, M = 1.0, 0


def mixture(n, d, k):
    parameters = [numbers(0, k), numbers(1, k, d), numbers(2, k, d * (d + 1) // 2) * 0.3]
    return parameters, [numbers(3, n, d)]


def log_density(alphas, means, factors, x):
    """The log-likelihood of points in a Gaussian mixture with full covariances and a Wishart prior."""
    (n, d), k = x.shape, len(alphas)
    log_diagonal, lower = factors[:, :d], factors[:, d:]
    diagonal, log_det = log_diagonal.exp(), log_diagonal.sum(1)
    factor = torch.diag_embed(diagonal)
    rows, columns = torch.tril_indices(d, d, -1)
    factor[:, rows, columns] = lower
    scaled = torch.einsum("nkd,krd->nkr", x[:, None] - means, factor)
    by_component = alphas + log_det - 0.5 * scaled.square().sum(2)
    points = by_component.logsumexp(1).sum() - n * alphas.logsumexp(0)
    squares = diagonal.square().sum() + lower.square().sum()
    freedom = d + M + 1
    prior = M * log_det.sum() - 0.5 * GAMMA**2 * squares
    multigamma = torch.special.multigammaln(torch.tensor(freedom / 2, dtype=torch.float64), d).item()
    constant = k * (freedom * d * math.log(GAMMA / math.sqrt(2)) - multigamma)
    return points - 0.5 * n * d * math.log(2 * math.pi) + prior + constant


for sizes in ((1000, 10, 25), (1000, 32, 25)):
    model("gmm_" + "x".join(map(str, sizes)), lambda sizes=sizes: mixture(*sizes), log_density)


def text(layers, characters, kinds):
    parameters = [numbers(0, layers, 4, kinds), numbers(1, layers, 4, kinds), numbers(2, 3, kinds)]
    rows = torch.nn.functional.one_hot(term(torch.arange(characters)) % kinds, kinds).double()
    return parameters, [rows, numbers(3, layers, kinds), numbers(4, layers, kinds)]


def lstm_loss(weights, biases, ends, text, hidden, cell):
    """The loss of predicting the next characters of a text, with layers of diagonal weights."""
    layers = list(zip(weights.unbind(), biases.unbind()))
    hidden, cell, above = list(hidden.unbind()), list(cell.unbind()), []
    for x in (text[:-1] * ends[0]).unbind():
        for i, (weight, bias) in enumerate(layers):
            forget, into, out, change = (torch.stack((x, hidden[i], x, hidden[i])) * weight + bias).unbind()
            cell[i] = cell[i] * forget.sigmoid() + into.sigmoid() * change.tanh()
            x = hidden[i] = out.sigmoid() * cell[i].tanh()
        above.append(x)
    scores = torch.stack(above) * ends[1] + ends[2]
    return -(scores.log_softmax(1) * text[1:]).mean()


model("lstm_2x1024", lambda: text(2, 1024, 14), lstm_loss)

if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--only", default="")
    p.add_argument("--ask", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("--values", action="store_true")
    p.add_argument("--memory", choices=("forward", "backward", "step"))
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    if a.memory:
        print_peak(a.memory)
        sys.exit()
    asked = (line.strip() for line in sys.stdin) if a.ask else [name for name in CASES if a.only in name]
    for name in asked:
        if a.values:
            if name in VALUES:
                print(json.dumps({"case": name, "values": VALUES[name]()}), flush=True)
            continue
        print(name if a.list else json.dumps({"case": name, "seconds": measure(CASES[name]())}), flush=True)
