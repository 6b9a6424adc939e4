"""Shared by the recorders: calls of PyTorch without names, to which names are added by hand.

A recorder makes calls; each becomes a line of tests/data/beyond/<family>.jsonl, in the form of
tests/data/cases.jsonl. PyTorch computes without names: a dim is written `D("C", 1)`, a name for nomina
and a position for PyTorch, and the author of a case writes out the names of its result.
"""

import json
import math
import pathlib

import torch

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "beyond"

f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64
i8, i16, i32, i64, u8 = torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8
boolean, c64, c128 = torch.bool, torch.complex64, torch.complex128


class T:
    """A tensor and the names of its dims, separated by spaces: T(x, "N C"); `_` is an unnamed dim."""

    def __init__(self, tensor, names=""):
        self.tensor = tensor
        self.names = words(names)
        assert len(self.names) == tensor.dim(), f"{names!r} for {tuple(tensor.shape)}"


class D:
    """A dim: its name and position; `D(None, 1)` is a position in both libraries."""

    def __init__(self, name, at):
        self.name, self.at = name, at


class S:
    """An argument that the libraries spell differently: nomina's value, and PyTorch's."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs


def words(names):
    """Parses `"N _ C"` into names."""
    return [None if word == "_" else word for word in (names or "").split()]


def twin(x):
    """Copies with the same layout, including gaps and repeated elements."""
    if x.is_sparse:
        return x.clone()
    storage = x.untyped_storage().clone()
    return torch.empty(0, dtype=x.dtype).set_(storage, x.storage_offset(), x.shape, x.stride())


def plain(value):
    """Converts an argument for PyTorch."""
    if isinstance(value, T):
        return twin(value.tensor)
    if isinstance(value, D):
        return value.at
    if isinstance(value, S):
        return value.theirs
    if isinstance(value, (list, tuple)):
        return type(value)(plain(item) for item in value)
    return value


def number(value):
    if isinstance(value, complex):
        return [number(value.real), number(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def tensor(x, names, random=False, view=False):
    out = {"names": names, "shape": list(x.shape), "dtype": str(x.dtype).removeprefix("torch.")}
    if not random:
        out["data"] = [number(v) for v in x.detach().reshape(-1).tolist()]
    if view:
        out["stride"] = list(x.stride())
    return {"tensor": out}


def sparse(x, names):
    """Records the entries as stored; those of a result are sorted and summed."""
    return {
        "sparse": {
            "names": names,
            "shape": list(x.shape),
            "dtype": str(x.dtype).removeprefix("torch."),
            "indices": x._indices().tolist(),
            "values": [number(v) for v in x._values().reshape(-1).tolist()],
            "coalesced": x.is_coalesced(),
        }
    }


def ours(value):
    """Formats an argument as in the file."""
    if isinstance(value, T):
        x = value.tensor
        if x.is_sparse:
            return sparse(x, value.names)
        return tensor(x, value.names, view=x.stride() != torch.empty(x.shape).stride())
    if isinstance(value, D):
        return {"int": value.at} if value.name is None else {"str": value.name}
    if isinstance(value, S):
        return ours(value.ours)
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    if isinstance(value, float):
        return {"float": number(value)}
    if isinstance(value, complex):
        return {"complex": number(value)}
    if isinstance(value, str):
        return {"str": value}
    if value is None:
        return {"none": True}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, torch.memory_format):
        return {"str": str(value).removeprefix("torch.")}
    if isinstance(value, torch.dtype):
        return {"dtype": str(value).removeprefix("torch.")}
    if isinstance(value, (list, tuple)):
        return {"list": [ours(item) for item in value]}
    raise TypeError(type(value))


def found(op):
    """Returns the function that PyTorch spells `op`."""
    at = torch
    for part in op.split(".")[1:]:
        at = getattr(at, part)
    return at


class Recorder:
    """The cases of one family."""

    def __init__(self, family):
        self.family, self.lines, self.counts = family, [], {}
        self.generator = torch.Generator().manual_seed(sum(map(ord, family)))

    def rand(self, shape, names, dtype=f32, low=-3.0, high=3.0):
        """Returns a tensor of numbers with three decimals (integers: whole numbers, bool: both values)."""
        if dtype == boolean:
            x = torch.rand(shape, generator=self.generator) < 0.5
        elif dtype.is_complex:
            parts = [self.rand(shape, names, f64, low, high).tensor for _ in range(2)]
            x = torch.complex(*parts).to(dtype)
        elif dtype.is_floating_point:
            x = torch.rand(shape, generator=self.generator, dtype=f64) * (high - low) + low
            x = (x * 1000).round().div(1000).to(dtype)
        else:
            low = max(low, 0) if dtype == u8 else low
            x = torch.randint(int(low), int(high) + 1, shape, generator=self.generator).to(dtype)
        return T(x, names)

    def case(self, op, *args, names, fn=None, random=False, view=False, **kwargs):
        """Calls PyTorch and records the result. `names` are the result's names: a string, or a list of
        them for several results; None if the result is not a tensor. `fn` replaces the function,
        `fn=(lambda ...)`, if PyTorch has none of that spelling."""
        call = fn or found(op)
        result = call(*[plain(a) for a in args], **{k: plain(v) for k, v in kwargs.items()})
        self.line(op, args, kwargs, {"result": self.shown(result, names, random, view)}, random)

    def error(self, op, kind, *args, **kwargs):
        """Records a call that the names forbid; PyTorch without names accepts it."""
        self.line(op, args, kwargs, {"error": {"kind": kind, "message": ""}}, False)

    def shown(self, result, names, random, view):
        if isinstance(result, torch.Tensor):
            names = words(names)
            assert len(names) == result.dim(), f"{names} for {tuple(result.shape)}"
            if result.is_sparse:
                return sparse(result.coalesce(), names)
            return tensor(result, names, random, view)
        if isinstance(result, (list, tuple)) and names is not None:
            each = names if isinstance(names, (list, tuple)) else [names] * len(result)
            assert len(each) == len(result), f"{names} for {len(result)} results"
            return {"list": [self.shown(r, n, random, view) for r, n in zip(result, each)]}
        return ours(result)

    def line(self, op, args, kwargs, outcome, random):
        count = self.counts[op] = self.counts.get(op, 0) + 1
        line = {"op": op, "args": [ours(a) for a in args]}
        line["kwargs"] = {k: ours(v) for k, v in kwargs.items()}
        line |= outcome | ({"random": True} if random else {})
        line["id"] = f"{self.family}/{op.removeprefix('torch.')}-{count}"
        self.lines.append(json.dumps(line))

    def write(self):
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{self.family}.jsonl").write_text("\n".join(self.lines) + "\n")
        print(f"{self.family}: {len(self.lines)} cases of {len(self.counts)} spellings")
