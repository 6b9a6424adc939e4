"""Records how NumPy prints arrays: tests/data/display.jsonl, which `cargo test --test display` compares.

A line has a dtype, a shape, the elements' bits in row-major order (two numbers for a complex element) and the text of
`print`; `digits` is the precision, if one is set. If the middle of the text is cut out, `step` replaces the bits: the
elements are 0, step, 2 step and so on. bf16 is printed as the f32 of the same value.

    python scripts/record/display.py
"""

import json
import pathlib

import numpy as np

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "display.jsonl"

FLOATS = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
COMPLEX = {"c64": np.complex64, "c128": np.complex128}
INTEGERS = {"u8": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
WIDTHS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}

random = np.random.default_rng(19)
lines = []


def bits(array, dtype):
    """Returns the bits of the elements as integers."""
    if array.dtype.kind == "c":
        array = np.stack([array.real, array.imag], -1)
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype == "bf16":
        return [int(b) >> 16 for b in flat.view(np.uint32)]
    return [int(b) for b in flat.view(WIDTHS[flat.dtype.itemsize])]


def text(array, digits):
    if digits is None:
        return str(array)
    return np.array2string(array, precision=digits, floatmode="fixed")


def record(array, dtype, digits=None, step=None):
    line = {"dtype": dtype, "shape": list(array.shape), "text": text(array, digits)}
    if digits is not None:
        line["digits"] = digits
    if step is not None:
        line["step"] = step
    else:
        line["bits"] = bits(array, dtype)
    lines.append(line)


def floats(values, dtype, shape=None, digits=None):
    array = np.array(values, np.float64).astype(FLOATS[dtype])
    if dtype == "bf16":
        array = (array.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    record(array.reshape(shape if shape is not None else array.shape), dtype, digits)


def complexes(re, im, dtype, shape=None, digits=None):
    array = np.zeros(len(re), COMPLEX[dtype])
    array.real, array.imag = re, im
    record(array.reshape(shape if shape is not None else array.shape), dtype, digits)


inf, nan = np.inf, np.nan
ROWS = [
    [1, 2, 3],
    [1, 2.25],
    [0.1, 0.2, 0.3],
    [0, -0.0, 1],
    [-0.0],
    [0.0],
    [1e-4, 1],
    [1e-4, 0.09],
    [9.99e-5, 0.05],
    [0.5, 500.0],
    [0.5, 500.5],
    [-1.5, 22.125, 333.0625],
    [999, 1],
    [1000, 1],
    [999999, 1000],
    [1000000, 10000],
    [99999999, 1000000],
    [1e8, 1e7],
    [1e-6, nan, -inf],
    [nan, inf],
    [nan],
    [inf, inf],
    [-inf, 1.5],
    [nan, 123.456],
    [inf, -0.001, 0.1],
    [1 / 3, 2 / 3],
    [0.99999999999, 0.5],
    [0.123456785, 0.123456775],
    [1e-300, 1e300],
    [1e10, 1e-10, 1],
    [1e5, 1.5e-5],
    [2.0**-44, 2.0**-20],
    [2.0**-6, 2.0**-5],
    [65504, 6.1e-5],
    [1e-45, 5e-324],
    [3.4028235e38, 1.7976931348623157e308],
    [-1e-5, 1e-5],
    [-123456.789, 123.5],
]

for dtype in FLOATS:
    with np.errstate(over="ignore"):
        for row in ROWS:
            floats(row, dtype)
        for value in [0, -0.0, 1, 0.1, 1 / 3, 999, 1000, 1e5, 1e6, 1e15, 1e16, 1.5e20, 1e-4, 9e-5, 1.25e-7, nan, inf, -inf]:
            floats(value, dtype)
    floats(random.normal(size=24), dtype, [2, 3, 4])
    floats(random.normal(size=60) * 10.0 ** random.integers(-3, 3, 60), dtype, [3, 20])
    floats(random.normal(size=12) * 100, dtype, [1, 2, 3, 2])
    floats(2.0 ** random.integers(-14, 15, 12), dtype)
    floats(np.round(random.normal(size=40), 2), dtype, [40])
    for digits in [0, 2, 12]:
        floats([1, 22.125, -3.0625], dtype, digits=digits)
        floats([1e-6, 1, nan], dtype, digits=digits)
        floats([1, 20], dtype, digits=digits)
        floats(2.5, dtype, digits=digits)

PARTS = [
    ([1.5], [-2]),
    ([1, -2.25, 3], [0.5, 100, -7]),
    ([1e-6, 1], [1, 2]),
    ([1, 2], [1e10, -1]),
    ([nan, 1], [1, inf]),
    ([inf, nan], [nan, -inf]),
    ([0, -0.0], [-0.0, 0]),
    ([1 / 3, 20], [1e-3, 2 / 3]),
]
for dtype in COMPLEX:
    for re, im in PARTS:
        complexes(re, im, dtype)
        complexes(re, im, dtype, digits=3)
        complexes(re[:1], im[:1], dtype, [])
    complexes([0.0], [1.0], dtype, [])
    complexes([-0.0], [1e20], dtype, [])
    complexes(random.normal(size=20), random.normal(size=20), dtype, [4, 5])

for dtype, numpy in INTEGERS.items():
    info = np.iinfo(numpy)
    record(np.array([info.min, 0, info.max], numpy), dtype)
    record(np.array(info.max, numpy), dtype)
    record(random.integers(0, 100, [3, 30]).astype(numpy), dtype)
    record(random.integers(0, 9, [2, 2, 2, 2]).astype(numpy), dtype)
    record(np.zeros([2, 0], numpy), dtype)
    record(np.array([7], numpy).reshape([1] * 10), dtype)

record(np.array([True, False]), "bool")
record(np.array([True, True]), "bool")
record(np.array(True), "bool")
record(np.array(False), "bool")
record(random.integers(0, 2, [2, 20]).astype(bool), "bool")
record(np.zeros([0, 3], bool), "bool")

for step, shape in [
    (1, [1000]), (1, [1001]), (1, [7, 200]), (1, [6, 200]), (1, [200, 6]), (1, [200, 7]), (1, [10, 11, 12]), (1, [3, 400, 2]),
    (1, [1, 5000]), (1, [5000, 1]), (-3, [20, 4, 20]), (1, [4, 4, 4, 4, 5]), (10**12, [1500]), (1, [2] * 11),
]:
    numbers = np.arange(np.prod(shape)).reshape(shape) * step
    record(numbers, "i64", step=step)
    record(numbers.astype(np.float64), "f64", step=step)
    if len(shape) == 2:
        record(numbers.astype(np.float32), "f32", step=step)
        record(numbers.astype(np.complex64), "c64", step=step)

with FILE.open("w") as file:
    for line in lines:
        print(json.dumps(line, separators=(",", ":")), file=file)
print(f"{len(lines)} arrays, {FILE.stat().st_size} bytes")
