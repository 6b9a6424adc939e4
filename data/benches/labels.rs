//! Operators along labels and scans of files, for comparison with xarray: `cargo bench -p nomina-data --bench labels`.
//!
//! `scripts/compare.py --bench labels` measures both sides in turns. The tensors have 10 million elements of `f32`, of which
//! some are NaN; `NOMINA_ELEMENTS` sets another number. `--values` prints sums of the results, which equal those of
//! `scripts/bench/xarray_labels.py`.

#[path = "../../benches/harness/mod.rs"]
mod harness;

use std::sync::{Arc, OnceLock};

use harness::{Case, Options, case};
use nomina::labelled::{Boundary, DatePart, Fill, RollingOptions};
use nomina::prelude::*;
use nomina::{DynLabelled, InterpOptions, Labels, Timestamp, nearest};
use nomina_data::{DynDataset, Reduction, Scan};

const LATITUDES: usize = 50;
const LONGITUDES: usize = 100;
const DAY: i64 = 86_400_000_000_000;

/// The operands of all cases.
struct Data {
    x: DynLabelled,
    y: DynLabelled,
    /// The weights of latitudes.
    area: DynLabelled,
    /// A file with the values of `x`.
    file: DynDataset,
}

fn days() -> usize {
    let elements = std::env::var("NOMINA_ELEMENTS").ok();
    let elements = elements.and_then(|text| text.parse().ok());
    (elements.unwrap_or(10_000_000) / LATITUDES / LONGITUDES).max(400)
}

fn latitudes() -> Vec<f64> {
    (0..LATITUDES).map(|at| 88.2 - 3.6 * at as f64).collect()
}

/// Returns numbers between -10 and 30, and NaN at every 97th place; both sides compute the same ones.
fn values(seed: u32, count: usize) -> Vec<f32> {
    let value = |at: usize| {
        let mixed = (at as u32).wrapping_add(seed).wrapping_mul(2_654_435_761);
        if at.is_multiple_of(97) {
            f32::NAN
        } else {
            (f64::from(mixed) / 4_294_967_296.0 * 40.0 - 10.0) as f32
        }
    };
    (0..count).map(value).collect()
}

fn data() -> &'static Data {
    static DATA: OnceLock<Data> = OnceLock::new();
    DATA.get_or_init(|| build().expect("the operands of the cases"))
}

fn build() -> Result<Data> {
    let days = days();
    let shape = [days, LATITUDES, LONGITUDES];
    let times: Arc<Labels<Timestamp>> = Arc::new(Labels::new(
        (0..days as i64).map(|at| Timestamp::from_nanoseconds(at * DAY)),
    ));
    let lat = Arc::new(Labels::new(latitudes()));
    let lon = Arc::new(Labels::new((0..LONGITUDES).map(|at| 3.6 * at as f64)));
    let field = |seed: u32| {
        let values = values(seed, days * LATITUDES * LONGITUDES);
        let tensor = DynTensor::from_vec(values, &shape, ["time", "lat", "lon"])?;
        DynLabelled::new(tensor)
            .with_shared("time", Some(times.clone()))?
            .with_shared("lat", Some(lat.clone()))?
            .with_shared("lon", Some(lon.clone()))
    };
    let (x, y) = (field(0)?, field(7)?);
    let area = latitudes()
        .iter()
        .map(|at| at.to_radians().cos() as f32)
        .collect::<Vec<_>>();
    let area = DynLabelled::new(DynTensor::from_vec(area, &[LATITUDES], ["lat"])?);
    let area = area.with_shared("lat", Some(lat))?;
    // The folder stays until the system clears it.
    let folder = std::env::temp_dir().join(format!("nomina-labels-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut dataset = DynDataset::new();
    dataset.insert_labelled("x", &x)?;
    dataset.write_zarr(&folder)?;
    let file = DynDataset::open_lazy(&folder)?;
    Ok(Data { x, y, area, file })
}

/// Returns the sum of the elements that are not NaN.
fn checksum(x: &DynLabelled) -> f64 {
    let sum = x
        .tensor()
        .to_dtype(DType::F64)
        .and_then(|wide| wide.nansum(..));
    sum.and_then(|sum| sum.item())
        .map_or(f64::NAN, |sum| sum.to_f64())
}

fn new_case(name: &str, run: fn(&Data) -> Result<DynLabelled>) -> Case {
    let compute = move || run(data()).unwrap_or_else(|error| panic!("{error}"));
    case(name, data, move |data| {
        run(data).unwrap_or_else(|error| panic!("{error}"))
    })
    .values(move || vec![checksum(&compute())])
}

fn scan(
    data: &Data,
    job: impl Fn(Scan<'_>, &DynDataset) -> Result<DynDataset>,
) -> Result<DynLabelled> {
    job(
        Scan::new()
            .memory(1 << 30)
            .threads(rayon::current_num_threads()),
        &data.file,
    )?
    .labelled("x")
}

fn cases() -> Vec<Case> {
    vec![
        new_case("sel_range", |d| {
            d.x.sel("lat", -30.0..=30.0)?.sel("time", "1970-03"..)
        }),
        new_case("sel_list", |d| {
            let all = latitudes();
            d.x.sel("lat", [all[0], all[12], all[24]])
        }),
        new_case("sel_nearest", |d| {
            d.x.sel("lat", nearest(51.0))?.sel("lon", nearest(13.0))
        }),
        new_case("sel_date", |d| d.x.sel("time", "1970")),
        new_case("isel", |d| d.x.isel("time", 100..300_usize)),
        new_case("mean_time", |d| d.x.nanmean("time")),
        new_case("mean_space", |d| d.x.nanmean(["lat", "lon"])),
        new_case("std_time", |d| d.x.nanstd("time")),
        new_case("max_time", |d| d.x.nanmax("time")),
        new_case("add", |d| d.x.add(&d.y)),
        new_case("anomaly_mean", |d| d.x.sub(&d.x.nanmean("time")?)),
        new_case("group_month_mean", |d| {
            d.x.group_by_date("time", DatePart::Month, "month")?
                .nanmean()
        }),
        new_case("group_season_max", |d| {
            d.x.group_by_date("time", DatePart::Season, "season")?
                .nanmax()
        }),
        new_case("group_bins_mean", |d| {
            d.x.group_by_bins("lat", &[-90.0, -30.0, 30.0, 90.0], "zone")?
                .nanmean()
        }),
        new_case("anomaly_month", |d| {
            let months = d.x.group_by_date("time", DatePart::Month, "month")?;
            d.x.sub(&months.back(&months.nanmean()?)?)
        }),
        new_case("resample_month_mean", |d| {
            d.x.resample("time", "MS")?.nanmean()
        }),
        new_case("resample_week_max", |d| {
            d.x.resample("time", "7D")?.nanmax()
        }),
        new_case("rolling_mean", |d| {
            d.x.rolling("time", 7, RollingOptions::default())?.mean()
        }),
        new_case("rolling_max", |d| {
            d.x.rolling("time", 7, RollingOptions::default())?.max()
        }),
        new_case("coarsen_mean", |d| {
            d.x.coarsen("time", 7, Boundary::Trim)?.nanmean()
        }),
        new_case("weighted_mean", |d| d.x.weighted_nanmean(&d.area, "lat")),
        new_case("interp", |d| {
            let at = (0..2 * LATITUDES - 2).map(|at| 87.0 - 1.8 * at as f64);
            d.x.interp("lat", Arc::new(Labels::new(at)), InterpOptions::default())
        }),
        new_case("reindex_nearest", |d| {
            let at = (0..2 * LATITUDES - 2).map(|at| 87.0 - 1.8 * at as f64);
            d.x.reindex("lat", Arc::new(Labels::new(at)), Fill::Nearest(5.0))
        }),
        new_case("quantile", |d| d.x.nanquantile(0.9, "time")),
        new_case("differentiate", |d| d.x.differentiate("lat")),
        new_case("integrate", |d| d.y.fill(0.0)?.integrate("lat")),
        new_case("corr", |d| d.x.nancorr(&d.y, "time")),
        new_case("scan_mean", |d| {
            scan(d, |scan, file| {
                let mean = scan.reduce(file.variable("x")?, Reduction::NanMean, &["time"])?;
                let mut dataset = DynDataset::new();
                dataset.insert(mean)?;
                Ok(dataset)
            })
        }),
        new_case("scan_month_mean", |d| {
            scan(d, |scan, file| {
                let months = file.group_by_date("time", DatePart::Month, "month")?;
                scan.reduce_groups(&months, Reduction::NanMean, &["x"], &[])
            })
        }),
    ]
}

fn main() {
    let options = Options::read(&[]);
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    harness::run(&cases(), &options);
}
