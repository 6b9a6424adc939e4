"""The xarray side of examples/reanalysis.rs: a climate analysis of daily temperatures."""

import sys

import numpy as np
import xarray as xr


def analyse(t2m):
    """Returns what the page docs/analysis.md explains, for temperatures along time, lat and lon."""
    groups = t2m.groupby("time.month")
    clim = groups.mean()
    anom = groups - clim
    weights = np.cos(np.deg2rad(t2m.lat))
    index = anom.sel(lat=slice(-30, 30), lon=slice(90, 200))
    index = index.weighted(weights).mean(("lat", "lon"))
    place = t2m.sel(lat=15, lon=240)
    return xr.Dataset(
        dict(
            clim=clim,
            spread=groups.std(ddof=1),
            monthly=t2m.resample(time="MS").mean().rename(time="step"),
            world=anom.weighted(weights).mean(("lat", "lon")),
            smooth=place.rolling(time=30).mean(),
            present=place.rolling(time=30, min_periods=1).mean(),
            index=index,
            corr=xr.corr(anom, index, "time"),
            quantiles=t2m.quantile([0.1, 0.5, 0.9], "time"),
            finer=clim.interp(lat=np.arange(-60, 61, 20.0)).rename(lat="finer_lat"),
        )
    )


def main():
    source, target = sys.argv[1:]
    t2m = xr.open_zarr(source, chunks=None).t2m.load()
    found = analyse(t2m)
    print(found)
    found.to_zarr(target, mode="w")


if __name__ == "__main__":
    main()
