"""Exchanges tensors with the library whose path is the first argument, by NumPy and, where it is, PyTorch."""

import ctypes
import gc
import sys

try:
    import numpy as np

    np.from_dlpack(np.zeros(1)).__dlpack__(max_version=(1, 0))
except Exception as error:
    print("skip:", error)
    sys.exit()
try:
    import torch
except ImportError:
    torch = None

VERSIONED, OLDER = b"dltensor_versioned", b"dltensor"
USED = {VERSIONED: b"used_dltensor_versioned", OLDER: b"used_dltensor"}

python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetName.restype = ctypes.c_char_p
python.PyCapsule_GetName.argtypes = [ctypes.py_object]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]

library = ctypes.CDLL(sys.argv[1])
library.error_text.restype = ctypes.c_char_p
for function in ("share", "double", "increment", "share_older"):
    getattr(library, function).argtypes = [ctypes.c_void_p]
    getattr(library, function).restype = ctypes.c_void_p
library.count.argtypes = [ctypes.c_bool]
library.count.restype = ctypes.c_void_p


class Exported:
    """A tensor of the library, for `from_dlpack`."""

    def __init__(self, pointer, name=VERSIONED):
        if not pointer:
            raise ValueError(library.error_text().decode())
        self.pointer, self.name = pointer, name

    def __dlpack__(self, **_):
        return python.PyCapsule_New(self.pointer, self.name, None)

    def __dlpack_device__(self):
        return (1, 0)


def taken(x, name=VERSIONED):
    """Takes the struct out of a tensor's capsule."""
    capsule = x.__dlpack__(max_version=(1, 0)) if name == VERSIONED else x.__dlpack__()
    assert python.PyCapsule_GetName(capsule) == name, python.PyCapsule_GetName(capsule)
    pointer = python.PyCapsule_GetPointer(capsule, name)
    python.PyCapsule_SetName(capsule, USED[name])
    return pointer


def through(function, x, name=VERSIONED):
    return Exported(getattr(library, function)(taken(x, name)), name)


# Every dtype of NumPy and strides of every kind.
dtypes = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
for dtype in dtypes:
    x = (np.arange(24).reshape(2, 3, 4) % 5).astype(dtype)
    for view in (x, x.T, x[:, ::-1, ::2], x[1:], x[0, 0, 0, ...], x[:, :0], np.broadcast_to(x[0], (5, 3, 4))):
        y = np.from_dlpack(through("share", view))
        assert (y.dtype, y.shape) == (view.dtype, view.shape) and (y == view).all(), (dtype, view.shape)
        assert y.size == 0 or y.ctypes.data == view.ctypes.data
        assert y.size == 0 or not y.flags.writeable
        if dtype != "bool":
            y = np.from_dlpack(through("double", view))
            assert (y == view + view).all(), (dtype, view.shape)

# Elements live as long as a tensor, and no longer.
x = np.arange(6.0)
before = sys.getrefcount(x)
y = np.from_dlpack(through("share", x))
z = np.from_dlpack(through("share", y))
assert sys.getrefcount(x) > before
del y
assert z.tolist() == [0, 1, 2, 3, 4, 5]
del z
gc.collect()
assert sys.getrefcount(x) == before

# The library copies before it writes.
y = np.from_dlpack(through("increment", x))
assert x.tolist() == [0, 1, 2, 3, 4, 5] and y.tolist() == [1, 2, 3, 4, 5, 6]
assert y.flags.writeable

# A buffer that has no other owner may be written to.
for transposed in (False, True):
    y = np.from_dlpack(Exported(library.count(transposed)))
    y += 1
    expected = np.arange(1, 7).reshape(2, 3)
    assert (y == (expected.T if transposed else expected)).all()

try:
    through("share", np.zeros(3, "uint16"))
    raise AssertionError("uint16 is no dtype")
except ValueError as error:
    assert "elements of code 1 with 16 bits" in str(error), error

y = np.from_dlpack(through("share_older", x, OLDER))
assert y.tolist() == x.tolist() and y.ctypes.data != x.ctypes.data
print("NumPy", np.__version__)

if torch is not None:
    names = [name for name in dtypes if name != "bool"] + ["bfloat16", "bool"]
    for dtype in (getattr(torch, name) for name in names):
        x = (torch.arange(24).reshape(2, 3, 4) % 5).to(dtype)
        for view in (x, x.permute(2, 0, 1), x[:, 1:, ::2], x[0, 0, 0], x[:1].expand(3, 3, 4)):
            y = torch.from_dlpack(through("share", view))
            assert y.dtype == dtype and y.shape == view.shape and torch.equal(y, view)
            assert y.data_ptr() == view.data_ptr()
            if dtype != torch.bool:
                y = torch.from_dlpack(through("double", view))
                assert torch.equal(y, view + view), dtype
    y = torch.from_dlpack(through("share", np.arange(4)))
    assert y.tolist() == [0, 1, 2, 3]
    y = np.from_dlpack(through("share", torch.arange(4)))
    assert y.tolist() == [0, 1, 2, 3]
    x = torch.arange(4)
    y = torch.from_dlpack(through("increment", x))
    assert (x.tolist(), y.tolist()) == ([0, 1, 2, 3], [1, 2, 3, 4])
    y = torch.from_dlpack(through("share_older", x, OLDER))
    assert y.tolist() == [0, 1, 2, 3] and y.data_ptr() != x.data_ptr()
    print("PyTorch", torch.__version__)
