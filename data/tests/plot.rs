//! Pictures: their SVG is compared with recorded files, which were looked at.
#![cfg(feature = "plot")]

use nomina::jiff::ToSpan;
use nomina::{DynLabelled, Labelled, Labels, Timestamp, prelude::*};
use nomina_data::plot::{Plot, ToPlot};

dims! { Time("time"): Timestamp, Lat("lat"): f64, Lon("lon"): f64, Station("station"): String }

/// A wave over places, with a hole.
fn field() -> Labelled<(Lat, Lon)> {
    let value = |at: usize| {
        let (lat, lon) = (at / 24, at % 24);
        if lat == 3 && lon == 5 {
            return f32::NAN;
        }
        // Sums and products of small integers, which every processor rounds alike.
        (lat as f32 - 5.5) * (lon as f32 - 8.0) / 8.0
    };
    Labelled::new(Tensor::from_vec((0..12 * 24).map(value).collect(), [12, 24]).unwrap())
        .with(Lat, (0..12).map(|at| 82.5 - 15.0 * f64::from(at)))
        .with(Lon, (0..24).map(|at| 15.0 * f64::from(at)))
}

fn series() -> Labelled<(Time,)> {
    let values = (0..48).map(|at| {
        let month = at % 12;
        if at == 30 {
            f32::NAN
        } else {
            (month * (12 - month)) as f32 + at as f32 / 4.0
        }
    });
    Labelled::new(Tensor::from_vec(values.collect(), [48]).unwrap()).with(
        Time,
        Timestamp::series("2007-01-01", 1.month(), 48).unwrap(),
    )
}

fn check(name: &str, plot: &Plot) {
    let svg = plot.to_svg().unwrap();
    let path = format!("{}/tests/data/plots/{name}.svg", env!("CARGO_MANIFEST_DIR"));
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(folder) = std::env::var_os("NOMINA_PLOTS") {
        let file = std::path::Path::new(&folder).join(format!("{name}.png"));
        plot.save(file).unwrap();
    }
    if old.lines().ne(svg.lines()) {
        std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(&path, &svg).unwrap();
        panic!("tests/data/plots/{name}.svg was stale, and is written anew: look at it");
    }
    let png = plot.to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height), (640, 400));
    let dark = pixels
        .chunks(3)
        .filter(|pixel| pixel.iter().all(|&part| part < 100))
        .count();
    assert!(dark > 200, "{name}: {dark} dark pixels, so no text");
}

#[test]
fn pictures_are_those_that_were_looked_at() {
    let map = field()
        .plot()
        .unwrap()
        .title("Anomaly")
        .value_name("temperature [K]");
    check("map", &map);
    let line = series().plot().unwrap().value_name("height [m]");
    check("line", &line);
    let bars = Plot::histogram(&field().to_dyn(), 20)
        .unwrap()
        .value_name("temperature [K]");
    check("histogram", &bars);
    let stations = Labelled::new(tensor!([3., 1., 2.]; Station))
        .with(Station, ["Oslo", "Bergen", "Tromsø"].map(String::from));
    check("stations", &stations.plot().unwrap().title("Stations"));
}

#[test]
fn the_kind_follows_the_rank() {
    let svg = |x: &DynLabelled| x.plot().unwrap().to_svg().unwrap();
    let cube = DynTensor::from_vec(
        (0..24).map(f64::from).collect::<Vec<_>>(),
        &[2, 3, 4],
        ["a", "b", "c"],
    );
    assert!(svg(&DynLabelled::new(cube.unwrap())).contains("count"));
    // Without labels, by position; one element; no finite element.
    let one = DynTensor::from_vec(vec![f64::NAN], &[1], ["a"]).unwrap();
    assert!(
        svg(&DynLabelled::new(one)).contains(">a<")
            || !svg(&DynLabelled::new(
                DynTensor::from_vec(vec![1.0], &[1], ["a"]).unwrap()
            ))
            .is_empty()
    );
    let flat = DynTensor::from_vec(vec![5_i64; 6], &[2, 3], ["a", "b"]).unwrap();
    let flat = DynLabelled::new(flat)
        .with("b", Labels::new([7_i64, 8, 9]))
        .unwrap();
    assert!(svg(&flat).contains('8'));
}

#[test]
#[cfg(feature = "netcdf")]
fn datasets_have_the_names_of_their_attributes() {
    let path = format!("{}/tests/data/ostia_cut.nc", env!("CARGO_MANIFEST_DIR"));
    let sea = nomina_data::DynDataset::open_lazy(path).unwrap();
    let svg = sea
        .isel("time", 0)
        .unwrap()
        .plot("surface_temperature")
        .unwrap()
        .to_svg()
        .unwrap();
    for text in ["latitude [degrees", "longitude [degrees", "[K]"] {
        assert!(svg.contains(text), "{text}");
    }
    let line = sea
        .isel("latitude", 0)
        .unwrap()
        .isel("longitude", 0)
        .unwrap();
    let svg = line.plot("surface_temperature").unwrap().to_svg().unwrap();
    assert!(svg.contains("2008") && svg.contains("2010"), "{svg}");
}

#[test]
fn mistakes() {
    let folder = tempfile::tempdir().unwrap();
    let plot = series().plot().unwrap();
    let error = plot
        .save(folder.path().join("x.jpg"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("ends neither in `.svg` nor in `.png`"),
        "{error}"
    );
    let error = Plot::line(&field().to_dyn()).unwrap_err().to_string();
    assert!(error.contains("the tensor has 2 dims, not 1"), "{error}");
    let none = DynLabelled::new(DynTensor::from_vec(Vec::<f32>::new(), &[0], ["a"]).unwrap());
    let error = none.plot().unwrap_err().to_string();
    assert!(error.contains("there are no elements to draw"), "{error}");
}
