"""Writes stores with blosc, unsigned integers, consolidated metadata and groups for nomina-data's tests: data/tests/data/stores/.

usage: python3 scripts/dataset_stores.py      (needs netCDF4, numcodecs, zarr 3)
"""
import shutil
from pathlib import Path

import netCDF4
import numcodecs
import numpy as np
import zarr

OUT = Path(__file__).parent.parent / "data/tests/data/stores"
shutil.rmtree(OUT, ignore_errors=True)
OUT.mkdir(parents=True)

# Every compressor of blosc, in both versions of the format; an incomplete chunk at the end.
values = (np.arange(1500, dtype="f8") / 7).round(1)
for version in (2, 3):
    group = zarr.open_group(OUT / f"blosc_{version}.zarr", mode="w", zarr_format=version)
    for at, name in enumerate(("blosclz", "lz4", "lz4hc", "zlib", "zstd")):
        shuffle = (at + version) % 3
        old = numcodecs.Blosc(cname=name, clevel=5, shuffle=shuffle)
        new = zarr.codecs.BloscCodec(cname=name, clevel=5, shuffle=("noshuffle", "shuffle", "bitshuffle")[shuffle], typesize=8)
        array = group.create_array(name, shape=(1500,), chunks=(1000,), dtype="f8", compressors=old if version == 2 else new,
                                   **({"dimension_names": ["x"]} if version == 3 else {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}}))
        array[:] = values

# Unsigned integers, packed ones, and elements that no tensor has; consolidated.
for version in (2, 3):
    path = OUT / f"mixed_{version}.zarr"
    group = zarr.open_group(path, mode="w", zarr_format=version)

    def write(name, array, **attributes):
        named = {"dimension_names": ["x"]} if version == 3 else {}
        if version == 2:
            attributes["_ARRAY_DIMENSIONS"] = ["x"]
        made = group.create_array(name, shape=array.shape, chunks=(2,), dtype=array.dtype, attributes=attributes, compressors=None,
                                  **({"fill_value": None} if version == 2 else {}), **named)
        made[:] = array

    write("u2", np.array([0, 1, 65535], "u2"), units="counts")
    write("u4", np.array([0, 7, 4294967295], "u4"))
    write("u8", np.array([0, 7, 2**63 - 1], "u8"))
    write("packed", np.array([65535, 10, 40000], "u2"), scale_factor=0.5, _FillValue=65535)
    write("when", np.array(["2020-01-01", "2020-01-02", "NaT"], "M8[s]"))
    group.attrs["title"] = "unsigned"
    zarr.consolidate_metadata(path, zarr_format=version)

file = netCDF4.Dataset(OUT / "groups.nc", "w")
file.createDimension("time", 3)
file.createVariable("root", "f4", ("time",))[:] = [1, 2, 3]
ocean = file.createGroup("model/ocean")
ocean.title = "ocean"
ocean.createDimension("depth", 2)
depth = ocean.createVariable("depth", "f4", ("depth",))
depth[:] = [0.1, 10]
salt = ocean.createVariable("salt", "u2", ("time", "depth"))
salt.units = "1"
salt[:] = np.arange(6).reshape(3, 2) * 10000
pair = file.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
ocean.createVariable("pairs", pair, ("time",))
file.close()
print(sum(path.stat().st_size for path in OUT.rglob("*") if path.is_file()), sum(path.is_file() for path in OUT.rglob("*")))
