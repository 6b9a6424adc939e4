"""Writes files in the format of `torch.save`, without PyTorch.

usage: python scripts/pth_files.py record          # rewrites io/tests/data/pth
       python scripts/pth_files.py check           # compares it with what `record` would write
       python scripts/pth_files.py train           # trains the network of examples/nn/pytorch by NumPy, and writes its checkpoint
needs: pip install numpy

The pickles are Python's own, of objects whose classes and functions have the names of PyTorch's. The archives follow
`caffe2/serialize/inline_container.cc` and miniz to the byte: files are stored, begin at multiples of 64, and have data
descriptors; the end is that of a zip64 archive. The order of files is that of PyTorch 2.6.
"""

import collections
import io
import pathlib
import pickle
import struct
import sys
import tarfile
import types
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Modules with the names of PyTorch's, so that the pickler finds classes and functions in them.
MODULES = {}


def declare(module, name, value):
    parent = MODULES.setdefault(module, types.ModuleType(module))
    sys.modules[module] = parent
    if isinstance(value, (type, types.FunctionType)):
        value.__module__, value.__qualname__, value.__name__ = module, name, name
    setattr(parent, name, value)
    return value


class Named:
    """A global that is neither a class nor a function, such as `torch.float32`."""

    def __init__(self, module, name):
        self.name = name
        declare(module, name, self)

    def __reduce__(self):
        return self.name

    @property
    def __module__(self):
        return "torch"


STORAGES = {
    "bool": "Bool", "uint8": "Byte", "int8": "Char", "int16": "Short", "int32": "Int", "int64": "Long", "float16": "Half",
    "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}
STORAGES = {dtype: declare("torch", f"{name}Storage", type(name, (), {})) for dtype, name in STORAGES.items()}
UNTYPED = declare("torch.storage", "UntypedStorage", type("UntypedStorage", (), {}))
DTYPES = {name: Named("torch", name) for name in [*STORAGES, "float8_e4m3fn", "float8_e5m2", "uint16", "uint32", "uint64"]}
REBUILD = {
    name: declare("torch._utils", name, types.FunctionType((lambda *_: None).__code__, {}))
    for name in ["_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_parameter"]
}
SIZES = {"bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}


class Size(tuple):
    def __reduce__(self):
        return (Size, (tuple(self),))


declare("torch", "Size", Size)


class Device:
    def __init__(self, name):
        self.name = name

    def __reduce__(self):
        return (Device, (self.name,))


declare("torch", "device", Device)


def element_size(dtype):
    return SIZES.get(dtype) or np.dtype(dtype).itemsize


class Storage:
    """Elements that several tensors may share."""

    def __init__(self, dtype, data, untyped=False):
        self.dtype, self.data, self.untyped = dtype, data, untyped

    def swapped(self):
        size = element_size(self.dtype) // (2 if self.dtype.startswith("complex") else 1)
        return np.frombuffer(self.data, np.uint8).reshape(-1, size)[:, ::-1].tobytes()


def row_major(shape):
    return tuple(int(np.prod(shape[at + 1 :], dtype=int)) for at in range(len(shape)))


class Tensor:
    def __init__(self, storage, shape, strides=None, offset=0, requires_grad=False, metadata=None):
        self.storage, self.shape, self.offset, self.requires_grad = storage, tuple(shape), offset, requires_grad
        self.strides = row_major(self.shape) if strides is None else tuple(strides)
        self.metadata = metadata

    def __reduce__(self):
        hooks = collections.OrderedDict()
        args = (self.storage, self.offset, self.shape, self.strides, self.requires_grad, hooks)
        name = "_rebuild_tensor_v2"
        if self.storage.untyped:
            name, args = "_rebuild_tensor_v3", (*args, DTYPES[self.storage.dtype])
        if self.metadata:
            args = (*args, self.metadata)
        return (REBUILD[name], args)


class Parameter:
    def __init__(self, data):
        self.data = data

    def __reduce__(self):
        return (REBUILD["_rebuild_parameter"], (self.data, True, collections.OrderedDict()))


def tensor(array, **options):
    """A tensor of numpy's elements in row-major order."""
    array = np.asarray(array, order="C")
    return Tensor(Storage(array.dtype.name, array.tobytes()), array.shape, **options)


class Pickler(pickle.Pickler):
    def __init__(self, out, protocol):
        super().__init__(out, protocol=protocol)
        self.storages = []

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        if value not in self.storages:
            self.storages.append(value)
        kind = UNTYPED if value.untyped else STORAGES[value.dtype]
        numel = len(value.data) // (1 if value.untyped else element_size(value.dtype))
        return ("storage", kind, str(self.storages.index(value)), "cpu", numel)


class Archive:
    """A zip archive as PyTorch's writer makes it."""

    def __init__(self, folder):
        self.folder, self.out, self.entries = folder, b"", []

    def add(self, name, data):
        name = f"{self.folder}/{name}".encode()
        at, crc = len(self.out), zlib.crc32(data)
        padding = -(at + 30 + len(name) + 4) % 64
        extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
        # Sizes and checksum follow the data, unless there is none.
        flags = 0x0808 if data else 0x0800
        self.out += struct.pack("<4s5H3I2H", b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(name), len(extra))
        self.out += name + extra + data
        if data:
            self.out += struct.pack("<4s3I", b"PK\7\10", crc, len(data), len(data))
        self.entries.append((name, flags, crc, len(data), at))

    def finish(self):
        start, directory = len(self.out), b""
        for name, flags, crc, size, at in self.entries:
            numbers = (0, 0, flags, 0, 0, 0, crc, size, size, len(name), 0, 0, 0, 0, 0, at)
            directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", *numbers) + name
        count, end = len(self.entries), start + len(directory)
        zip64 = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0x031E, 45, 0, 0, count, count, len(directory), start)
        locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
        last = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), start, 0)
        return self.out + directory + zip64 + locator + last


def save(value, protocol=2, order="little", folder="archive"):
    """Returns the bytes of a file."""
    out = io.BytesIO()
    pickler = Pickler(out, protocol)
    pickler.dump(value)
    archive = Archive(folder)
    archive.add("data.pkl", out.getvalue())
    archive.add(".format_version", b"1")
    archive.add(".storage_alignment", b"64")
    archive.add("byteorder", order.encode())
    for at, storage in enumerate(pickler.storages):
        archive.add(f"data/{at}", storage.swapped() if order == "big" else storage.data)
    archive.add("version", b"3\n")
    archive.add(".data/serialization_id", b"0" * 40)
    return archive.finish()


def legacy(value):
    """Returns the bytes of a file of PyTorch before 1.6: pickles, and the elements after them."""
    out = io.BytesIO()
    for part in [0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}]:
        pickle.dump(part, out, protocol=2)
    pickler = Pickler(out, 2)
    pickler.dump(value)
    pickle.dump([str(at) for at in range(len(pickler.storages))], out, protocol=2)
    for storage in pickler.storages:
        out.write(struct.pack("<Q", len(storage.data) // element_size(storage.dtype)) + storage.data)
    return out.getvalue()


def tar():
    """Returns the bytes of a file of PyTorch before 0.1.10."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as file:
        for name in ["sys_info", "pickle", "tensors", "storages"]:
            file.addfile(tarfile.TarInfo(name), io.BytesIO())
    return out.getvalue()


def numbers(dtype, *shape):
    """Element i is (7 i) % 23, as in `io_interop.py`."""
    number = np.arange(np.prod(shape, dtype=int)) * 7 % 23
    if dtype == "bool":
        number = number % 2
    if dtype.startswith("complex"):
        number = number + 1j * (number + 1)
    return number.astype(dtype).reshape(shape)


def bfloat16(*shape):
    data = (numbers("float32", *shape).view(np.uint32) >> 16).astype(np.uint16)
    return Tensor(Storage("bfloat16", data.tobytes()), shape)


def state_dict():
    """That of `Sequential(Linear(3, 4), BatchNorm1d(4), Linear(4, 2))`."""
    state = collections.OrderedDict()
    for name, shape in [
        ("0.weight", (4, 3)), ("0.bias", (4,)), ("1.weight", (4,)), ("1.bias", (4,)), ("1.running_mean", (4,)),
        ("1.running_var", (4,)), ("1.num_batches_tracked", ()), ("2.weight", (2, 4)), ("2.bias", (2,)),
    ]:
        state[name] = tensor(numbers("int64" if name.endswith("tracked") else "float32", *shape) + len(state))
    versions = [("", 1), ("0", 1), ("1", 2), ("2", 1)]
    state._metadata = collections.OrderedDict((name, {"version": version}) for name, version in versions)
    return state


def checkpoint():
    moments = {at: {"step": tensor(np.float32(3)), "exp_avg": tensor(numbers("float32", *shape))} for at, shape in enumerate([(4, 3), (4,)])}
    group = {"lr": 0.5, "betas": (0.9, 0.999), "amsgrad": False, "foreach": None, "params": [0, 1]}
    return {
        "epoch": 3,
        "model": state_dict(),
        "optimizer": {"state": moments, "param_groups": [group]},
        "scheduler": {"milestones": collections.Counter([30, 80]), "seen": {1}},
        "seed": 2**70,
        "arch": "mlp",
        "size": Size((4, 3)),
        "device": Device("cpu"),
        "dtype": DTYPES["float32"],
    }


def layouts():
    """Tensors of all dtypes, and views of one storage."""
    all = {dtype: tensor(numbers(dtype, 2, 3, 4)) for dtype in STORAGES if dtype != "bfloat16"}
    all["bfloat16"] = bfloat16(2, 3, 4)
    flat = Storage("float32", numbers("float32", 24).tobytes())
    pairs = Storage("complex64", numbers("complex64", 6).tobytes())
    views = {
        "whole": Tensor(flat, (4, 6)),
        "again": Tensor(flat, (4, 6)),
        "transposed": Tensor(flat, (6, 4), (1, 6)),
        "column": Tensor(flat, (4,), (6,), 2),
        "expanded": Tensor(flat, (3, 6), (0, 1), 6),
        "number": Tensor(flat, (), (), 5),
        "parameter": Parameter(Tensor(flat, (2, 2), (6, 1), 1, requires_grad=True)),
        "conjugated": Tensor(pairs, (2, 3), metadata={"conj": True}),
        "negated": Tensor(flat, (3,), metadata={"neg": True}),
        "empty": tensor(numbers("float32", 0, 3)),
        "list": [tensor(numbers("int64", 2)), (tensor(numbers("int64", 3)), None)],
    }
    return {"dtypes": all, "views": views}


def foreign():
    """Tensors of dtypes that nomina lacks."""
    every = np.arange(256, dtype=np.uint8)
    wide = {"uint16": [0, 1, 65535], "uint32": [0, 1, 2**32 - 1], "uint64": [0, 1, 2**64 - 1]}
    all = {dtype: Storage(dtype, every.tobytes(), True) for dtype in ["float8_e4m3fn", "float8_e5m2"]}
    all |= {dtype: Storage(dtype, np.array(values, dtype).tobytes(), True) for dtype, values in wide.items()}
    all = {dtype: Tensor(storage, (len(storage.data) // element_size(dtype),)) for dtype, storage in all.items()}
    all["float8_e5m2"] = Tensor(all["float8_e5m2"].storage, (16, 16), (1, 16))
    return all


class Model:
    pass


def files():
    """Returns the contents of all files, by their paths."""
    Model.__module__ = "__main__"
    io_data = {
        "state.pth": save(state_dict()),
        "checkpoint.pt": save(checkpoint()),
        "layouts.pt": save(layouts()),
        "big_endian.pt": save(layouts()["dtypes"], order="big"),
        "foreign.pt": save(foreign()),
        "tensor.pt": save(tensor(numbers("float32", 2, 3)), folder="tensor"),
        "class.pt": save({"model": Model()}),
        "legacy.pt": legacy(state_dict()),
        "tar.pt": tar(),
    }
    io_data |= {f"protocol{version}.pt": save(checkpoint(), version) for version in [3, 4, 5]}
    return {ROOT / "io/tests/data/pth" / name: data for name, data in io_data.items()}


def train(epochs=60, rate=0.003):
    """Trains `Linear(64, 32)`, ReLU, `Linear(32, 10)` by Adam on the first four fifths of the digits."""
    rows = np.loadtxt(ROOT / "examples/data/digits.csv", delimiter=",", dtype=np.float32)
    rows = rows[: len(rows) * 4 // 5]
    x, labels = rows[:, :64] / 16, rows[:, 64].astype(int)
    random = np.random.default_rng(0)
    shapes = {"hidden.weight": (32, 64), "hidden.bias": (32,), "out.weight": (10, 32), "out.bias": (10,)}
    weights = {name: random.uniform(-1, 1, shape) * (0.125 if "hidden" in name else 0.177) for name, shape in shapes.items()}
    moments = {name: [np.zeros(shape), np.zeros(shape)] for name, shape in shapes.items()}
    step = 0
    for _ in range(epochs):
        order = random.permutation(len(x))
        for batch in np.array_split(order, len(x) // 32):
            step += 1
            inner = np.maximum(x[batch] @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
            scores = inner @ weights["out.weight"].T + weights["out.bias"]
            scores = np.exp(scores - scores.max(1, keepdims=True))
            slope = scores / scores.sum(1, keepdims=True)
            slope[np.arange(len(batch)), labels[batch]] -= 1
            slope /= len(batch)
            below = (slope @ weights["out.weight"]) * (inner > 0)
            gradients = {
                "out.weight": slope.T @ inner, "out.bias": slope.sum(0), "hidden.weight": below.T @ x[batch], "hidden.bias": below.sum(0),
            }
            for name, gradient in gradients.items():
                first, second = moments[name]
                first += 0.1 * (gradient - first)
                second += 0.001 * (gradient**2 - second)
                weights[name] -= rate * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    state = collections.OrderedDict((name, tensor(value.astype(np.float32))) for name, value in weights.items())
    state._metadata = collections.OrderedDict((name, {"version": 1}) for name in ["", "hidden", "out"])
    path = ROOT / "examples/nn/pytorch/mlp.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(save({"epoch": epochs, "model_state_dict": state}))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["train"]:
            train()
        case ["record"]:
            for path, data in files().items():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        case ["check"]:
            different = [str(path) for path, data in files().items() if not path.exists() or path.read_bytes() != data]
            if different:
                sys.exit("\n".join(different))
        case _:
            sys.exit(__doc__)
