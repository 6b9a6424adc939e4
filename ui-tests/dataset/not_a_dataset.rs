use nomina::prelude::*;
use nomina::Labelled;
use nomina_data::Dataset;

dims! { Lat: f64, Lon: f64 }

struct Climate {
    temperature: Labelled<(Lat, Lon)>,
}

fn store<D: Dataset>(dataset: D) -> Result<()> {
    dataset.write_zarr("climate.zarr")
}

fn main() {
    let _ = store::<Climate>;
}

// fix 7: #[derive(Dataset)] struct Climate {
