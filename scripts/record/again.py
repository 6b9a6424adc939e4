#!/usr/bin/env python3
"""Records the calls of tests/data/cases.jsonl again with different numbers, names and dims.

    pip install torch==2.11.0 numpy
    scripts/record/again.py SEED FILE
    NOMINA_CASES=FILE cargo test --test conformance -- --nocapture

PyTorch computes with names here; calls that it rejects are recorded with the kind of the error.
"""

import json
import math
import pathlib
import random
import re
import sys
import warnings

import torch

from common import found, number

warnings.filterwarnings("ignore")
CASES = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "cases.jsonl"
NAMES = "N C H W T K D batch channels heads feat_in feat_out".split()
KINDS = {
    "specified out tensor with names": "name_mismatch_out",
    "can't be cast to the desired|could not infer output dtype|a bool tensor is not": "dtype",
    "Misaligned dims": "misaligned",
    "Error when attempting to (broadcast|cat)|^(matmul|cdist): Expected": "name_mismatch",
    "output tensor with duplicate|a tensor with duplicate": "duplicate_names",
    "Number of names": "names_len",
    "Cannot resize named": "resize",
    "Invalid name": "invalid_name",
    "^flatten.*empty|unflatten: Provided sizes": "flatten",
    "align_to: Cannot find dim": "align",
    "Please look up dimensions by name": "unnamed_dim",
    "More than one Ellipsis": "ellipsis",
    "refine_names: cannot coerce": "refine",
    "not found in Tensor|but dim .* does not exist": "name_not_found",
    "selected index k out": "index",
    "size of tensor a|cannot be multiplied|size mismatch, got|the broadcast shape|"
    "Sizes of tensors must match": "shape",
    "same number of dimensions|a tensor with <=|but the number of dims|"
    "zero-dimensional tensor": "rank",
}


def kind(message):
    return next((kind for text, kind in KINDS.items() if re.search(text, message)), None)


class Again:
    """One pass over the cases."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.names = {}

    def name(self, name):
        return None if name is None else self.names.get(name, name)

    def tensor(self, told):
        dtype, shape = getattr(torch, told["dtype"]), told["shape"]
        data = told.get("data") or [0] * math.prod(shape)
        x = torch.tensor([complex(*d) if isinstance(d, list) else float(d) for d in data])
        x = x.to(dtype)
        finite = dtype.is_floating_point and len(data) and bool(x.isfinite().all())
        if finite and self.draw.random() < 0.8:
            low, high = x.double().min(), x.double().max()
            drawn = torch.rand(len(data), generator=self.generator, dtype=torch.float64)
            drawn = (drawn * (high - low) + low).mul(1000).round().div(1000)
            x = drawn.clamp(low, high).to(dtype)
        x = x.reshape(shape)
        if told.get("stride") and len(data):
            apart = torch.empty_strided(shape, told["stride"], dtype=dtype)
            apart.copy_(x)
            x = apart
        names = [self.name(name) for name in told["names"]]
        return x.refine_names(*names) if any(names) else x

    def value(self, told):
        ((tag, value),) = told.items()
        if tag == "tensor":
            return self.tensor(value)
        if tag == "float":
            return float(value)
        if tag == "complex":
            return complex(*value)
        if tag == "str":
            return self.name(value)
        if tag == "dtype":
            return getattr(torch, value)
        if tag == "device":
            return torch.device(value)
        if tag == "list":
            return [self.value(item) for item in value]
        if tag == "dict":
            return {self.value(old): self.value(new) for old, new in value}
        return {"ellipsis": ..., "none": None}.get(tag, value)

    def rename(self):
        """Renames everything; sometimes two names become one, or one is new."""
        self.names = dict(zip(NAMES, self.draw.sample(NAMES, len(NAMES))))
        if self.draw.random() < 0.25:
            one, other = self.draw.sample(NAMES, 2)
            both = self.draw.random() < 0.3
            self.names[one] = self.names[other] if both else f"new_{one}"

    def case(self, told):
        self.rename()
        renames = "rename" in told["op"]
        kwargs = told["kwargs"].items()
        try:
            args = [self.value(arg) for arg in told["args"]]
            kwargs = {(self.name(k) if renames else k): self.value(v) for k, v in kwargs}
        except RuntimeError:
            # Two names of the same tensor became equal.
            return None
        line = {"op": told["op"], "args": [text(arg) for arg in args]}
        line["kwargs"] = {name: text(value) for name, value in kwargs.items()}
        try:
            result = found(told["op"])(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            if kind(str(error)) is None:
                return None
            return line | {"error": {"kind": kind(str(error)), "message": str(error)[:300]}}
        # PyTorch loses the names if a dim of a size other than 1 is squeezed by name.
        by_name = told["op"].endswith("squeeze") and len(args) > 1 and isinstance(args[1], str)
        if by_name and args[0].size(args[1]) != 1:
            return None
        if "out" in kwargs and not renames and isinstance(kwargs["out"], torch.Tensor):
            result = kwargs["out"]
        line["result"] = text(result)
        shown = line["result"].get("tensor", {})
        if "stride" not in told.get("result", {}).get("tensor", {}):
            shown.pop("stride", None)
        if told.get("random"):
            shown.pop("data", None)
            line["random"] = True
        return line


def text(value):
    """Formats a value as in the file."""
    if isinstance(value, torch.Tensor):
        x = value.rename(None) if any(value.names) else value
        told = {"names": list(value.names), "shape": list(x.shape)}
        told["dtype"] = str(x.dtype).removeprefix("torch.")
        told["data"] = [number(v) for v in x.detach().reshape(-1).tolist()]
        if not x.is_contiguous():
            told["stride"] = list(x.stride())
        return {"tensor": told}
    if isinstance(value, (list, tuple)):
        return {"list": [text(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[text(old), text(new)] for old, new in value.items()]}
    if value is None or value is ...:
        return {"none": True} if value is None else {"ellipsis": True}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    tags = {bool: "bool", int: "int", float: "float", complex: "complex", str: "str"}
    return {tags.get(type(value), "device"): number(value) if value == value else "nan"}


def main():
    seed, path = int(sys.argv[1]), sys.argv[2]
    again, kept = Again(seed), 0
    with open(path, "w", encoding="utf-8") as out:
        for told in map(json.loads, CASES.read_text().splitlines()):
            if told["op"].endswith("__"):
                continue
            line = again.case(told)
            if line is not None:
                line["id"] = f"again-{seed}/{told['id']}"
                out.write(json.dumps(line, default=str) + "\n")
                kept += 1
    print(f"{kept} cases")


main()
