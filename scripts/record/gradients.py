#!/usr/bin/env python3
"""Records gradients beyond tests/data/gradients.jsonl: the results of PyTorch's backward for the other recorders' calls, and for special cases.

    pip install torch==2.11.0 numpy && scripts/record/gradients.py

Every recorder runs with the `Backward` below in place of `Recorder`. A few calls of each spelling are kept, the shortest of
those that differ in dtypes, arguments or special values. PyTorch's errors are counted and printed.
"""

import collections
import contextlib
import io
import itertools
import json
import pathlib
import runpy
import warnings

import torch

import common
from common import FOLDER, Recorder, S, T

warnings.filterwarnings("ignore")
FAMILIES = "activation conv counts einsum gather loss memory norm parametric samples shape sorts stats table".split()
# The number of calls kept per spelling, and the maximum length of a line.
KEPT, LONGEST = 4, 3000
OUT = FOLDER.parent / "gradients_beyond.jsonl"


class Skipped(Exception):
    """A call without a gradient to record."""


def inexact(x):
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def tensors(value):
    """Returns the tensors of an argument or a result, in order."""
    if isinstance(value, (T, torch.Tensor)):
        return [value]
    if isinstance(value, S):
        return tensors(value.ours)
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in tensors(item)]
    return []


def leaf(value):
    """Copies the tensors of an argument."""
    if isinstance(value, T):
        if value.tensor.is_sparse:
            raise Skipped("sparse")
        return T(common.twin(value.tensor), " ".join(name or "_" for name in value.names))
    if isinstance(value, S):
        if any(inexact(x.tensor) for x in tensors(value.ours)):
            raise Skipped("two spellings of a tensor")
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(leaf(item) for item in value)
    return value


def given(value, writes):
    """Converts an argument for PyTorch; a tensor that is written to is not a leaf."""
    if isinstance(value, T):
        return value.tensor * 1 if writes and value.tensor.requires_grad else value.tensor
    if isinstance(value, (list, tuple)):
        return type(value)(given(item, False) for item in value)
    return common.plain(value)


def short(value):
    """Rounds numbers to the digits of their dtype."""
    if isinstance(value, dict):
        told = {key: short(item) for key, item in value.items()}
        if "data" in value and value["dtype"] in ("float32", "complex64", "float16", "bfloat16"):
            told["data"] = digits(value["data"])
        return told
    return [short(item) for item in value] if isinstance(value, list) else value


def digits(data):
    if isinstance(data, list):
        return [digits(item) for item in data]
    return float(f"{data:.8g}") if isinstance(data, float) else data


class Backward(Recorder):
    """A recorder of gradients, with the results of all families."""

    found, skipped = collections.defaultdict(list), collections.Counter()

    def case(self, op, *args, names=None, fn=None, random=False, view=False, **kwargs):
        try:
            if random or "out" in kwargs or kwargs.get("inplace"):
                raise Skipped("random, or into a tensor")
            self.all_or_some(op, args, kwargs, fn or common.found(op))
        except Skipped as why:
            self.skipped[str(why)] += 1
        except (RuntimeError, NotImplementedError, TypeError) as error:
            self.skipped[f"{op}: {str(error)[:80]}"] += 1

    def error(self, op, kind, *args, **kwargs):
        pass

    def write(self):
        pass

    def all_or_some(self, op, args, kwargs, call):
        """Differentiates by all operands, or else by those that PyTorch can differentiate by."""
        try:
            return self.keep(op, *self.backward(op, args, kwargs, call, None))
        except RuntimeError:
            places = range(len(tensors(args) + tensors(list(kwargs.values()))))
            if len(places) < 2:
                raise
        by = []
        for place in places:
            with contextlib.suppress(RuntimeError, Skipped):
                self.backward(op, args, kwargs, call, [place])
                by.append(place)
        self.keep(op, *self.backward(op, args, kwargs, call, by))

    def backward(self, op, args, kwargs, call, by):
        """Calls the function and differentiates it by the operands at some indices."""
        args, kwargs = [leaf(arg) for arg in args], {key: leaf(arg) for key, arg in kwargs.items()}
        operands = tensors(args) + tensors(list(kwargs.values()))
        for place, x in enumerate(operands):
            x.tensor.requires_grad_(inexact(x.tensor) and (by is None or place in by))
        wanted = [x.tensor for x in operands if x.tensor.requires_grad]
        if not wanted:
            raise Skipped("no operand of floats")
        writes = op.endswith("_") and not op.endswith("__") or ".__i" in op
        given_args = [given(arg, writes and at == 0) for at, arg in enumerate(args)]
        results = call(*given_args, **{key: given(arg, False) for key, arg in kwargs.items()})
        results = [x for x in tensors(results) if inexact(x)]
        seeds = [self.rand(x.shape, "_ " * x.dim(), x.dtype, -1, 1).tensor for x in results]
        pairs = [(x, seed) for x, seed in zip(results, seeds) if x.requires_grad]
        if not pairs:
            raise Skipped("nothing recorded")
        grads = torch.autograd.grad([x for x, _ in pairs], wanted, [seed for _, seed in pairs], allow_unused=True)
        if all(grad is None for grad in grads):
            raise Skipped("nothing reached")
        each = iter(grads)
        grads = [next(each) if x.tensor.requires_grad else None for x in operands]
        shown = [
            {"none": True} if grad is None else common.tensor(grad, x.names)
            for grad, x in zip(grads, operands)
        ]
        outcome = {"seeds": [common.tensor(seed, [None] * seed.dim()) for seed in seeds], "grads": shown}
        return args, kwargs, operands, outcome

    def keep(self, op, args, kwargs, operands, outcome):
        self.line(op, args, kwargs, outcome, False)
        line = short(json.loads(self.lines.pop()))
        line["id"] = f"grad/{line['id']}"
        for value, x in zip(told(line["args"]) + told(list(line["kwargs"].values())), operands):
            if x.tensor.requires_grad:
                value["requires_grad"] = True
        self.found[op].append((feature(line, operands), json.dumps(line)))


def told(values):
    """Returns the tensors of a line, in order."""
    out = []
    for value in values:
        if "tensor" in value:
            out.append(value["tensor"])
        elif "list" in value:
            out += told(value["list"])
    return out


def feature(line, operands):
    """Returns the features that distinguish calls of the same spelling."""
    odd = any(not bool(x.tensor.isfinite().all()) for x in operands)
    empty = any(x.tensor.numel() == 0 for x in operands)
    words = sorted(str(v.get("str", "")) for v in line["kwargs"].values())
    return (odd, empty, [str(x.tensor.dtype) for x in operands], sorted(line["kwargs"]), words)


def kept(cases, most):
    """Returns the shortest call of each feature, up to a number: plain, non-finite and empty ones in turn."""
    kinds, seen = collections.defaultdict(list), set()
    for feature, line in sorted(cases, key=lambda case: len(case[1])):
        if len(line) <= LONGEST and str(feature) not in seen:
            seen.add(str(feature))
            kinds[feature[:2]].append(line)
    turns = itertools.zip_longest(*[kinds[kind] for kind in sorted(kinds)])
    return [line for turn in turns for line in turn if line][:most]


def run(recorder):
    """Runs a recorder, and returns its calls by spelling."""
    Backward.found = collections.defaultdict(list)
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(pathlib.Path(__file__).parent / f"{recorder}.py"))
    return Backward.found


def main():
    common.Recorder = Backward
    found = collections.defaultdict(list)
    for family in FAMILIES:
        for op, cases in run(family).items():
            found[op] += cases
    lines = [line for op in sorted(found) for line in kept(found[op], KEPT)]
    lines += [line for cases in run("gradient_edges").values() for _, line in cases]
    OUT.write_text("\n".join(lines) + "\n")
    for why, count in Backward.skipped.most_common():
        print(f"{count:5} {why}")
    print(f"{len(lines)} cases of {len(found)} spellings, {OUT.stat().st_size} bytes")


main()
