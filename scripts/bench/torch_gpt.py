#!/usr/bin/env python3
"""Trains the GPT of `tests/cuda_models/gpt.rs` with PyTorch, from the same weights and texts.

usage: torch_gpt.py OUTPUT [--device cuda] [--compile]
OUTPUT is a file with what `cuda_models --exact gpt::trained` printed; NOMINA_GPT has the sizes, as there. Prints both sides' losses
and the characters of a step in a second, and fails if the losses of f32 differ: by a thousandth in the first ten steps, or by a
twentieth in the mean of the last tenth.
"""

import ast
import os
import pathlib
import re
import sys
import time

import numpy
import torch
import torch.nn.functional as F

TEXT = pathlib.Path(__file__).resolve().parents[2] / "examples/data/classics.txt"
HIDDEN, HEADS, LAYERS, LEN, BATCH, STEPS = map(int, os.environ.get("NOMINA_GPT", "16,2,1,12,2,3").split(","))
DEVICE = "cuda" if "cuda" in sys.argv[2:] else "cpu"


def mixed(numbers):
    x = numbers + numpy.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return x ^ (x >> numpy.uint64(31))


def shapes():
    """Returns the sizes of all weights by their paths."""
    both = {"weight": (HIDDEN,), "bias": (HIDDEN,)}
    found = {"chars.weight": (256, HIDDEN), "places.weight": (LEN, HIDDEN)}

    def add(path, sizes):
        found.update({f"{path}.{name}": size for name, size in sizes.items()})

    for layer in range(LAYERS):
        block = f"blocks.{layer}"
        for norm in range(2):
            add(f"{block}.norms.{norm}", both)
        for side in ("query", "key", "value", "out"):
            add(f"{block}.attention.{side}", {"weight": (HIDDEN, HIDDEN), "bias": (HIDDEN,)})
        add(f"{block}.up", {"weight": (4 * HIDDEN, HIDDEN), "bias": (4 * HIDDEN,)})
        add(f"{block}.down", {"weight": (HIDDEN, 4 * HIDDEN), "bias": (HIDDEN,)})
    add("norm", both)
    add("scores", {"weight": (256, HIDDEN), "bias": (256,)})
    return found


def weights():
    made = {}
    for which, (path, size) in enumerate(sorted(shapes().items())):
        if path.endswith("bias") or "norm" in path:
            values = numpy.full(size, 0.0 if path.endswith("bias") else 1.0)
        else:
            at = numpy.arange(numpy.prod(size), dtype=numpy.uint64) + numpy.uint64(which << 32)
            high = (mixed(at) >> numpy.uint64(40)).astype(numpy.float64)
            values = ((high / (1 << 24) - 0.5) * 0.08).reshape(size)
        made[path] = torch.tensor(values.astype(numpy.float32), device=DEVICE, requires_grad=True)
    return made


def loss(w, ids, following):
    def linear(x, path):
        return F.linear(x, w[f"{path}.weight"], w[f"{path}.bias"])

    def norm(x, path):
        return F.layer_norm(x, (HIDDEN,), w[f"{path}.weight"], w[f"{path}.bias"])

    def heads(x):
        return x.unflatten(-1, (HEADS, HIDDEN // HEADS)).transpose(1, 2)

    x = w["chars.weight"][ids] + w["places.weight"][: ids.shape[1]]
    for layer in range(LAYERS):
        block = f"blocks.{layer}"
        normed = norm(x, f"{block}.norms.0")
        sides = [heads(linear(normed, f"{block}.attention.{side}")) for side in ("query", "key", "value")]
        attended = F.scaled_dot_product_attention(*sides, is_causal=True).transpose(1, 2).flatten(2)
        x = linear(attended, f"{block}.attention.out") + x
        x = linear(F.gelu(linear(norm(x, f"{block}.norms.1"), f"{block}.up"), approximate="tanh"), f"{block}.down") + x
    scores = linear(norm(x, "norm"), "scores")
    return F.cross_entropy(scores.flatten(0, 1).float(), following.flatten())


def batch(text, step):
    rows = numpy.arange(step * BATCH, (step + 1) * BATCH, dtype=numpy.uint64)
    starts = (mixed(rows) >> numpy.uint64(32)).astype(numpy.int64) % (len(text) - LEN - 1)
    ids = torch.tensor(text[starts[:, None] + numpy.arange(LEN + 1)].astype(numpy.int64), device=DEVICE)
    return ids[:, :-1].contiguous(), ids[:, 1:].contiguous()


def train(text, name, way):
    w = weights()
    optimizer = torch.optim.AdamW(w.values(), lr=3e-4)

    def computed(pair):
        with torch.autocast(DEVICE, torch.bfloat16, enabled=name == "bf16"):
            return way(w, *pair)

    def step(pair):
        found = computed(pair)
        found.backward()
        optimizer.step()
        optimizer.zero_grad()
        return found

    losses = [step(batch(text, at)).item() for at in range(STEPS)]
    pair = batch(text, 0)

    def speed(act):
        waits = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None
        waits()
        start = time.perf_counter()
        for _ in range(STEPS):
            act(pair)
        waits()
        return STEPS * BATCH * LEN / (time.perf_counter() - start)

    with torch.no_grad():
        inference = speed(computed)
    return losses, {"step": speed(step), "inference": inference}


def main():
    said = pathlib.Path(sys.argv[1]).read_text()
    text = numpy.frombuffer(TEXT.read_bytes(), dtype=numpy.uint8)
    way = torch.compile(loss) if "--compile" in sys.argv else loss
    good = True
    print("| GPT | PyTorch, characters/s | nomina | ratio |\n|---|--:|--:|--:|")
    for name in ("f32", "bf16"):
        found = re.search(rf"^losses {name} (\[.*\])$", said, re.M)
        ours = numpy.array(ast.literal_eval(found.group(1)))
        theirs, speeds = train(text, name, way)
        theirs = numpy.array(theirs)
        for what, speed in re.findall(rf"^speed {name} (\w+) (\d+) ", said, re.M):
            other = speeds["inference" if what == "inference" else "step"]
            print(f"| {name}, {what} | {other:.0f} | {speed} | {float(speed) / other:.2f} |")
        apart = numpy.abs(ours / theirs - 1)
        tail = max(1, STEPS // 10)
        last = abs(ours[-tail:].mean() / theirs[-tail:].mean() - 1)
        print(f"| losses of {name} | {theirs[0]:.4f} to {theirs[-1]:.4f} | {ours[0]:.4f} to {ours[-1]:.4f} | {apart[:10].max():.1e} apart |")
        first = 1e-3 if name == "f32" else 3e-2
        good = good and apart[:10].max() < first and last < 0.05
    if not good:
        raise SystemExit("the losses differ from PyTorch's")


main()
