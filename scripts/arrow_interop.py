#!/usr/bin/env python3
"""Exchanges Arrow files with nomina-data, which `data/tests/arrow.rs` calls.

`arrow_interop.py needs` succeeds if pyarrow is here; `write FILE` writes what the test reads, and recorded
`data/tests/data/tensors.arrow`; `check FILE` checks what the test wrote.
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc


def write(path):
    images = np.arange(24, dtype="float32").reshape(2, 3, 4)
    named = pa.fixed_shape_tensor(pa.float32(), [3, 4], dim_names=["lat", "lon"])
    permuted = pa.fixed_shape_tensor(pa.float32(), [3, 4], dim_names=["lat", "lon"], permutation=[1, 0])
    plain = pa.fixed_shape_tensor(pa.int16(), [2, 2])
    storage = pa.array(images.reshape(2, 12).tolist(), pa.list_(pa.float32(), 12))
    squares = pa.array([[0, 1, 2, 3], [4, 5, 6, 7]], pa.list_(pa.int16(), 4))
    columns = {
        "time": pa.array([0, 86400], pa.timestamp("s", "UTC")),
        "named": pa.ExtensionArray.from_storage(named, storage),
        "permuted": pa.ExtensionArray.from_storage(permuted, storage),
        "plain": pa.ExtensionArray.from_storage(plain, squares),
        "lists": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float64(), 2)),
        "holes": pa.array([1.5, None], pa.float64()),
        "truth": pa.array([True, False]),
        "unsigned": pa.array([65535, 0], pa.uint16()),
        "station": pa.array(["a", "λ"]),
        "day": pa.array([0, -1], pa.date32()),
    }
    schema = pa.schema([pa.field(name, array.type) for name, array in columns.items()])
    index = schema.get_field_index("holes")
    schema = schema.set(index, schema.field(index).with_metadata({"units": "K"}))
    table = pa.Table.from_arrays(list(columns.values()), schema=schema)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


def check(path):
    table = pa.ipc.open_stream(path).read_all()
    table.validate(full=True)
    t = table.schema.field("t").type
    assert isinstance(t, pa.FixedShapeTensorType), t
    assert (t.shape, t.dim_names, t.permutation) == ([3, 4], ["lat", "lon"], None), t
    expected = np.arange(24, dtype="float32").reshape(2, 3, 4)
    column = table.column("t").combine_chunks()
    column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    assert (column.to_numpy_ndarray() == expected).all()
    assert table.schema.field("t").metadata[b"units"] == b"K"
    turned = table.column("turned").combine_chunks()
    turned = turned.chunk(0) if isinstance(turned, pa.ChunkedArray) else turned
    assert (turned.type.shape, turned.type.dim_names, turned.type.permutation) == ([3, 4], ["lat", "lon"], [1, 0])
    tensor = turned.to_tensor()
    assert (tensor.to_numpy() == expected.transpose(0, 2, 1)).all()
    assert tensor.dim_names[1:] == ["lon", "lat"], tensor.dim_names
    assert table.schema.field("time").type == pa.timestamp("ns", "UTC")
    assert table.column("time").cast(pa.int64()).to_pylist() == [0, 86400 * 10**9]
    assert table.column("name").to_pylist() == ["a", "λ"]
    assert table.column("truth").to_pylist() == [True, False]


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        assert sys.argv[1] == "needs"
