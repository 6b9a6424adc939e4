"""Exchanges files of named tensors between nomina-io and the Python packages of their formats.

usage: python scripts/io_interop.py write FOLDER    # writes one file of each format by the Python packages
       python scripts/io_interop.py check FOLDER    # checks the files that nomina-io wrote there: values, dtypes, names
       python scripts/io_interop.py record          # rewrites io/tests/data
       python scripts/io_interop.py needs           # prints the formats that the installed packages can write, one per line
needs: pip install numpy safetensors zarr xarray ml_dtypes

`io/tests/python.rs` calls `write` and `check`. Element i of a tensor is (7 i) % 23; for booleans, whether that is odd; for complex
numbers, that as the real part and one more as the imaginary part.
"""

import json
import pathlib
import sys

import numpy as np

DATA = pathlib.Path(__file__).resolve().parents[1] / "io" / "tests" / "data"
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SHAPE, NAMES = (2, 3, 4), ["Time", "Lat", "Lon"]


def values(dtype, shape=SHAPE):
    number = np.arange(np.prod(shape, dtype=int)) * 7 % 23
    if dtype == "bool":
        number = number % 2
    if dtype.startswith("complex"):
        number = number + 1j * (number + 1)
    return number.astype(dtype).reshape(shape)


def same(name, array, dtype, shape=SHAPE):
    expected = values(dtype, shape)
    assert array.dtype == expected.dtype, f"{name}: {array.dtype} for {dtype}"
    assert array.shape == expected.shape, f"{name}: {array.shape}"
    assert (np.asarray(array) == expected).all(), f"{name}: {array}"


class Safetensors:
    def write(folder):
        import ml_dtypes
        from safetensors.numpy import save_file

        all = {dtype: values(dtype) for dtype in DTYPES if dtype != "complex128"}
        all["bfloat16"] = values("float32").astype(ml_dtypes.bfloat16)
        names = {dtype: NAMES for dtype in all if dtype != "int64"}
        save_file(all, folder / "python.safetensors", {"nomina.dims": json.dumps(names), "format": "np"})

    def check(folder):
        import ml_dtypes  # makes numpy support bfloat16
        from safetensors import safe_open

        assert ml_dtypes
        with safe_open(folder / "rust.safetensors", framework="np") as file:
            names = json.loads(file.metadata()["nomina.dims"])
            assert sorted(file.keys()) == sorted({*DTYPES, "bfloat16"} - {"complex128"}), file.keys()
            for dtype in file.keys():
                array = file.get_tensor(dtype)
                if dtype == "bfloat16":
                    assert str(array.dtype) == dtype
                    array, dtype = array.astype("float32"), "float32"
                same(dtype, array, dtype)
                assert names[dtype] == NAMES, names


class Numpy:
    def write(folder):
        np.save(folder / "python.npy", values("float32"))
        np.save(folder / "fortran.npy", np.asfortranarray(values("float64")))
        np.save(folder / "big_endian.npy", values("int32").astype(">i4"))
        np.savez(folder / "python.npz", **{dtype: values(dtype) for dtype in DTYPES})
        np.savez_compressed(folder / "compressed.npz", **{dtype: values(dtype) for dtype in DTYPES})

    def check(folder):
        same("rust.npy", np.load(folder / "rust.npy"), "float32")
        array = np.load(folder / "rust_fortran.npy")
        same("rust_fortran.npy", array, "float64")
        assert array.flags.f_contiguous
        with np.load(folder / "rust.npz") as file:
            assert sorted(file.files) == sorted(DTYPES), file.files
            for dtype in DTYPES:
                same(dtype, file[dtype], dtype)


class Zarr:
    def write(folder):
        import shutil

        import xarray
        import zarr

        path = folder / "python.zarr"
        shutil.rmtree(path, ignore_errors=True)
        data = xarray.Dataset({dtype: (NAMES, values(dtype)) for dtype in DTYPES})
        encoding = {dtype: {"chunks": (2, 2, 4)} for dtype in DTYPES}
        # xarray would store booleans as numbers and treat a fill value as missing.
        data.drop_vars("bool").to_zarr(path, zarr_format=3, consolidated=False, encoding={k: v for k, v in encoding.items() if k != "bool"})
        group = zarr.open_group(path, mode="a")
        from zarr.codecs import BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec

        first = ShardingCodec(chunk_shape=(1, 2, 2), codecs=[BytesCodec(), GzipCodec()], index_codecs=[BytesCodec()], index_location="start")
        options = {
            "bool": {},
            "sharded": {"shards": (2, 4, 4)},
            "index_first": {"serializer": first, "compressors": None},
            "gzipped": {"compressors": [GzipCodec()]},
            "summed": {"compressors": [ZstdCodec(checksum=True), Crc32cCodec()]},
            "turned": {"filters": [TransposeCodec(order=(2, 0, 1))], "serializer": BytesCodec(endian="big")},
            "plain": {"compressors": None, "chunk_key_encoding": {"name": "v2", "separator": "."}},
        }
        for name, more in options.items():
            array = values("bool" if name == "bool" else "float64")
            names = None if name == "plain" else NAMES
            group.create_array(name, data=array, chunks=(2, 2, 4), dimension_names=names, **more)
        # Only one chunk of two within one shard of two is written.
        group.create_array("holes", shape=(8, 2), chunks=(2, 2), shards=(4, 2), dtype="float32", fill_value=float("nan"))[:2] = 1
        Zarr.pack(folder / "packed.zarr")

    def pack(path):
        """Writes arrays that xarray packs, each with the values 1, missing and 3."""
        import shutil

        import xarray

        shutil.rmtree(path, ignore_errors=True)
        options = {
            "int16": {"dtype": "int16", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -32767},
            "int8": {"dtype": "int8", "_Unsigned": "true", "_FillValue": -1},
            "float32": {"dtype": "float32", "_FillValue": 1e20},
            "float64": {"dtype": "float64", "scale_factor": 2.0},
        }
        packed = {name: ("Time", np.array([1, np.nan, 3]), {"units": "K"}) for name in options}
        xarray.Dataset(packed, attrs={"title": "packed"}).to_zarr(path, zarr_format=3, consolidated=False, encoding=options)

    def check(folder):
        import xarray
        import zarr

        data = xarray.open_zarr(folder / "rust.zarr", consolidated=False, mask_and_scale=False)
        for dtype in DTYPES:
            assert data[dtype].dims == tuple(NAMES), data[dtype].dims
            same(dtype, data[dtype].values, dtype)
        assert data["float32"].isel(Lat=slice(1, 3), Time=0).shape == (2, 4)
        # The values missing, 2 and 4, packed into arrays with the recorded encoding.
        data = xarray.open_zarr(folder / "repacked.zarr", consolidated=False)
        for name in ["int16", "int8", "float32", "float64"]:
            assert np.allclose(data[name].values, [np.nan, 2, 4], rtol=0, atol=0.005, equal_nan=True), data[name].values
        # The values written into arrays with the recorded encoding: zeros in the middle.
        group = zarr.open_group(folder / "rewritten.zarr", mode="r")
        for name in ["gzipped", "index_first", "plain", "sharded", "summed", "turned", "complex64"]:
            array = group[name][:]
            assert (array[:, 1] == 0).all(), name
            assert (array[:, ::2] == values(array.dtype.name)[:, ::2]).all(), name
        array = zarr.open_group(folder / "rust.zarr", mode="r")["float32"]
        assert array.chunks == (1, 2, 3) and array.metadata.dimension_names == tuple(NAMES), array.metadata


FORMATS = {"safetensors": Safetensors, "npy": Numpy, "zarr": Zarr}


def able():
    import importlib.util

    needed = {"safetensors": ["safetensors", "ml_dtypes"], "npy": ["numpy"], "zarr": ["zarr", "xarray"]}
    for name in FORMATS:
        if all(importlib.util.find_spec(package) for package in needed[name]):
            yield name


def main():
    task, *rest = sys.argv[1:] or ["help"]
    if task == "needs":
        print("\n".join(able()))
    elif task == "record":
        DATA.mkdir(exist_ok=True)
        for format in FORMATS.values():
            format.write(DATA)
    elif task in ("write", "check") and rest:
        for name in rest[1:] or FORMATS:
            getattr(FORMATS[name], task)(pathlib.Path(rest[0]))
    else:
        sys.exit(__doc__)


main()
