//! The memory of reductions block by block. One test, because it counts the allocations of the whole process.
//!
//! `NOMINA_STORE` is the size of the store in MB, 7 unless set; the limit is a quarter of it. [docs/dataset_files.md] has a
//! run with 1,000 MB.
//!
//! [docs/dataset_files.md]: ../../docs/dataset_files.md

#[path = "../../tests/counting/mod.rs"]
mod counting;

use counting::peak_of_all;
use nomina::labelled::DatePart;
use nomina::{Timestamp, prelude::*};
use nomina_data::{Column, DynDataset, Reduction, Scan, Variable};

#[test]
fn the_peak_is_that_of_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("x.zarr");
    let size = std::env::var("NOMINA_STORE").ok();
    let size: usize = size.map_or(7, |size| size.parse().expect("a number of MB"));
    // Elements of `f32`; while they are reduced they are `f64`.
    let days = 1_200;
    let places = size * 1_000_000 / 4 / days;
    let mut dataset = DynDataset::new();
    // Every day is the same one, so that the tensor itself is small.
    let x = DynTensor::options()
        .dtype(DType::F32)
        .arange(0.0, places as f64, 1.0, ["place"])
        .unwrap();
    let x = x.unsqueeze(0, "time").unwrap();
    let x = x.expand(&[days as i64, places as i64]).unwrap();
    dataset.insert(Variable::new("x", x).unwrap()).unwrap();
    let day = 86_400_000_000_000;
    let times = (0..days as i64).map(|at| Timestamp::from_nanoseconds(at * day));
    dataset
        .insert(Variable::from_column("time", Column::Time(times.collect())))
        .unwrap();
    let limit = (size * 1_000_000 / 4).max(2 << 20);
    // A tensor is written in chunks of at most 4 MiB, whatever its strides; each has a few buffers.
    let (peak, ()) = peak_of_all(|| dataset.write_zarr(&store).unwrap());
    let most = (size * 1_000_000 * 6 / 7).min(20 << 20);
    assert!(peak <= most, "write_zarr: {peak} bytes");
    drop(dataset);
    let lazy = DynDataset::open_lazy(&store).unwrap();
    let months = lazy
        .group_by_date("time", DatePart::Month, "month")
        .unwrap();
    // Results: 12 months, or one mean, with their counts, and once more while they are joined.
    let results = 12 * places * 8 * 4;
    let scan = || Scan::new().memory(limit).threads(2);
    let jobs: [(&str, &dyn Fn() -> usize); 3] = [
        ("mean", &|| {
            let x = lazy.variable("x").unwrap();
            scan()
                .reduce(x, Reduction::NanMean, &["time"])
                .unwrap()
                .numel()
        }),
        ("months", &|| {
            let means = scan()
                .reduce_groups(&months, Reduction::NanMean, &[], &[])
                .unwrap();
            means.variable("x").unwrap().numel()
        }),
        ("resample", &|| {
            let steps = lazy.resample("time", "YS").unwrap();
            let means = scan()
                .reduce_groups(&steps, Reduction::NanMax, &[], &[])
                .unwrap();
            means.variable("x").unwrap().numel()
        }),
    ];
    for (name, job) in jobs {
        job();
        let (peak, numel) = peak_of_all(job);
        assert!(numel >= places, "{name}");
        println!("{name}: {peak} bytes at a limit of {limit} and results of {results}");
        assert!(peak <= limit + results, "{name}: {peak} bytes");
    }
}
