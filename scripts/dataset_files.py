"""Cuts real files for nomina-data's tests and records xarray's numbers: data/tests/data/.

usage: python3 scripts/dataset_files.py      (needs xarray, netCDF4, zarr 3, cftime, iris-sample-data)
"""
import json
from pathlib import Path

import iris_sample_data
import netCDF4
import numpy as np
import xarray as xr

SAMPLES = Path(iris_sample_data.path)
OUT = Path(__file__).parent.parent / "data/tests/data"
OUT.mkdir(parents=True, exist_ok=True)


def cut(source, target, ranges, **options):
    """Copies a netCDF file with ranges along some dims, attributes as they are."""
    old, new = netCDF4.Dataset(SAMPLES / source), netCDF4.Dataset(OUT / target, "w", **options)
    old.set_auto_maskandscale(False)
    new.set_auto_maskandscale(False)
    new.setncatts({name: old.getncattr(name) for name in old.ncattrs()})
    for name, dim in old.dimensions.items():
        new.createDimension(name, len(range(*ranges.get(name, slice(None)).indices(len(dim)))))
    for name, variable in old.variables.items():
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
        fill = attributes.pop("_FillValue", None)
        compressed = {"zlib": True, "complevel": 9, "shuffle": True} if "CLASSIC" not in options.get("format", "") and variable.ndim else {}
        copy = new.createVariable(name, variable.dtype, variable.dimensions, fill_value=fill, **compressed)
        copy.setncatts(attributes)
        copy[...] = variable[tuple(ranges.get(dim, slice(None)) for dim in variable.dimensions)] if variable.ndim else variable[...]
    new.close()


cut("ostia_monthly.nc", "ostia_cut.nc", {"latitude": slice(2, 14, 2), "longitude": slice(None, None, 6)})
cut("A1B_north_america.nc", "a1b_cut.nc", {"latitude": slice(4, 36, 4), "longitude": slice(0, 49, 5)}, format="NETCDF3_CLASSIC")
cut("atlantic_profiles.nc", "profiles.nc", {}, format="NETCDF3_64BIT_OFFSET")


def made():
    """A file with what real ones have now and then."""
    file = netCDF4.Dataset(OUT / "made.nc", "w", format="NETCDF3_CLASSIC")
    file.title = "a made file"
    file.history = "written by scripts/dataset_files.py"
    file.createDimension("time", None)
    file.createDimension("station", 3)
    file.createDimension("name_len", 8)
    file.createDimension("model name", 2)
    file.createDimension("2m", 2)
    time = file.createVariable("time", "i4", ("time",))
    time.units, time.calendar = "hours since 2000-02-27 12:00:00", "noleap"
    time[:] = [0, 24, 36, 60]
    names = file.createVariable("station", "S1", ("station", "name_len"))
    names.long_name = "names of stations"
    names[:] = netCDF4.stringtochar(np.array(["Oslo", "Bergen", "Tromso"], "S8"))
    packed = file.createVariable("packed", "i2", ("time", "station"), fill_value=-32768)
    packed.scale_factor, packed.add_offset, packed.units = 0.01, 273.15, "K"
    packed.missing_value = np.int16(-9999)
    packed.coordinates = "height"
    packed.set_auto_maskandscale(False)
    packed[:] = [[0, 100, -32768], [-9999, 500, 20], [1, 2, 3], [-100, -200, 32767]]
    byte = file.createVariable("byte", "i1", ("station",))
    byte.setncattr("_Unsigned", "true")
    byte.scale_factor = np.float32(0.1)
    byte.set_auto_maskandscale(False)
    byte[:] = [0, 127, -1]
    height = file.createVariable("height", "f4", ("station",))
    height.positive = "up"
    height[:] = [23.1, 12.0, 100.7]
    scores = file.createVariable("scores", "f8", ("model name", "2m"))
    scores[:] = [[1, 2], [3, 4]]
    square = file.createVariable("square", "f8", ("station", "station"))
    square[:] = np.arange(9).reshape(3, 3)
    file.close()


made()


def text(value):
    return str(value)[:19].replace("T", " ")


def describe(path, opened):
    """All that xarray finds in a file."""
    all = {"sizes": dict(opened.sizes), "coords": sorted(opened.coords), "data": sorted(opened.data_vars), "attrs": len(opened.attrs), "variables": {}}
    for name, variable in opened.variables.items():
        values = variable.values
        entry = {"dims": variable.dims, "shape": variable.shape, "attrs": sorted(variable.attrs)}
        if values.dtype.kind in "OM":
            flat = values.ravel()
            entry["first"], entry["last"] = text(flat[0]), text(flat[-1])
        elif values.dtype.kind in "SUT":
            entry["text"] = [value.decode() if isinstance(value, bytes) else str(value) for value in values.ravel()]
        else:
            wide = values.astype("f8")
            entry["missing"] = int(np.isnan(wide).sum())
            entry["mean"], entry["min"], entry["max"] = (float(f(wide)) for f in (np.nanmean, np.nanmin, np.nanmax))
            entry["sum"] = float(np.nansum(wide))
        all["variables"][name] = entry
    return all


record = {"files": {}}
for name in ["ostia_cut.nc", "a1b_cut.nc", "profiles.nc", "made.nc"]:
    drop = ["square"] if name == "made.nc" else []
    record["files"][name] = describe(name, xr.open_dataset(OUT / name, drop_variables=drop, decode_timedelta=False))

sea = xr.open_dataset(OUT / "ostia_cut.nc")
x = sea.surface_temperature.astype("f8")
year = x.sel(time="2007")
anomaly = x.groupby("time.month") - x.groupby("time.month").mean()
record["ostia"] = {
    "mean of time": x.mean("time").values.ravel().tolist(),
    "mean of space": x.mean(["latitude", "longitude"]).values.tolist(),
    "min of time": x.min("time").values.ravel().tolist(),
    "sum of longitude": x.sum("longitude").values.ravel().tolist(),
    "2007": [year.sizes["time"], float(year.mean())],
    "2007-02 to 2008-05": [x.sel(time=slice("2007-02", "2008-05")).sizes["time"], float(x.sel(time=slice("2007-02", "2008-05")).mean())],
    "tropics": [x.sel(latitude=slice(-2, 2)).sizes["latitude"], float(x.sel(latitude=slice(-2, 2)).mean())],
    "nearest": float(x.sel(latitude=0.1, longitude=181, method="nearest").mean()),
    "nearest labels": [float(x.sel(latitude=0.1, method="nearest").latitude), float(x.sel(longitude=181, method="nearest").longitude)],
    "anomaly": [float(abs(anomaly).mean()), float(anomaly[-1].mean())],
}
north = xr.open_dataset(OUT / "a1b_cut.nc").air_temperature.astype("f8")
record["a1b"] = {
    "1900 to 1999": [north.sel(time=slice("1900", "1999")).sizes["time"], float(north.sel(time=slice("1900", "1999")).mean())],
    "mean of space": north.mean(["latitude", "longitude"]).values.tolist(),
    "years": [int(north.time[0].dt.year), int(north.time[-1].dt.year)],
}


def plain(value):
    """JSON has no NaN."""
    if isinstance(value, dict):
        return {key: plain(value) for key, value in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return None if isinstance(value, float) and np.isnan(value) else value


(OUT / "xarray.json").write_text(json.dumps(plain(record)))
(OUT / "README.md").write_text("""# Test data

`ostia_cut.nc`, `a1b_cut.nc` and `profiles.nc` are cuts of `ostia_monthly.nc`, `A1B_north_america.nc` and
`atlantic_profiles.nc` of [iris-sample-data](https://github.com/SciTools/iris-sample-data), © British Crown copyright,
2018, under the UK's [Open Government Licence](https://www.nationalarchives.gov.uk/doc/open-government-licence).
`scripts/dataset_files.py` made them, `made.nc` and xarray's numbers in `xarray.json`; `scripts/calendars.py` recorded
`calendars.json` with cftime.
""")
print(sorted((path.name, path.stat().st_size) for path in OUT.iterdir()))
