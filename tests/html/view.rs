//! Rendered pages: positions of labels, colours of cells, the tip at the pointer.

use nomina::prelude::*;

use super::browser::{INF, MINUS_INF, View, colour, is_near};
use super::{Lat, Lon, Time};

const WINDOW: (usize, usize) = (1280, 800);

#[test]
fn the_slice_is_that_of_the_slider() {
    let x = Tensor::<(Time, Lat, Lon)>::from_fn([5, 2, 3], |at| {
        (100 * at[0] + 10 * at[1] + at[2]) as f32 + if at[0] == 3 { 0.25 } else { 0.0 }
    });
    let mut x = x.into_dyn();
    let nan = x.eq(311.25).unwrap();
    x.masked_fill_(&nan, f32::NAN).unwrap();
    let Some(view) = View::open(&x, "", WINDOW, [2, 3], &[]) else {
        return;
    };
    assert_eq!(view.texts("values"), ["0", "1", "2", "10", "11", "12"]);
    let points = [[1, 2], [1, 1]];
    let view = View::open(&x, "#slice=Time:3", WINDOW, [2, 3], &points).unwrap();
    let values = ["300.25", "301.25", "302.25", "310.25", "nan", "312.25"];
    assert_eq!(view.texts("values"), values);
    let tips = ["Time=3, Lat=1, Lon=2: 312.25", "Time=3, Lat=1, Lon=1: nan"];
    view.check_tips(&points, &tips);
    assert!(view.dom.contains("3 of 5"), "{}", view.dom);
    view.check_labels([1, 1]);
}

#[test]
fn cells_have_the_colours_of_their_numbers() {
    let inf = f32::INFINITY;
    let x = tensor!([[0., 1., f32::NAN], [-2., inf, 4.], [2., -inf, -1.]]; Lat, Lon).into_dyn();
    let points: Vec<[usize; 2]> = (0..9).map(|i| [i / 3, i % 3]).collect();
    let Some(view) = View::open(&x, "", WINDOW, [3, 3], &points) else {
        return;
    };
    let finite = |value| colour(value, -2.0, 4.0);
    let wanted = [
        finite(0.0),
        finite(1.0),
        [0; 3],
        finite(-2.0),
        INF,
        finite(4.0),
    ];
    let wanted = [&wanted[..], &[finite(2.0), MINUS_INF, finite(-1.0)]].concat();
    for (i, wanted) in wanted.into_iter().enumerate() {
        // The stripes of NaN are magenta or black.
        let nan = i == 2 && [[255, 0, 255], [0; 3]].contains(&view.pixel(i));
        assert!(
            nan || is_near(view.pixel(i), wanted),
            "{i}: {:?}",
            view.pixel(i)
        );
    }
    let values = ["0", "1", "nan", "-2", "inf", "4", "2", "-inf", "-1"];
    assert_eq!(view.texts("values"), values);
    let [high, wide] = view.cell().map(|side| side as f64);
    for (at, value) in points.iter().zip(view.labels("values")) {
        let wanted = [(at[0] as f64 + 0.5) * high, (at[1] as f64 + 0.5) * wide];
        for (a, b) in value.centre().into_iter().zip(wanted) {
            assert!((a - b).abs() <= 0.51, "{value:?}: {wanted:?}");
        }
    }
    // The bar and its ends, and the other colours by name.
    assert_eq!(view.legend(), "-24(0 is white)naninf-inf");
    let swatch = |at: usize, end: usize| {
        [0, 1, 2].map(|channel| view.report["swatches"][at][end][channel].as_u64().unwrap())
    };
    assert!(is_near(swatch(0, 0), finite(-2.0)) && is_near(swatch(0, 1), finite(4.0)));
    assert!(is_near(swatch(2, 0), INF) && is_near(swatch(3, 0), MINUS_INF));
    let picture = view.picture("3x3");
    assert_eq!(picture.width, WINDOW.0);
    for label in ["rows", "columns", "axes", "values"]
        .map(|kind| view.labels(kind))
        .iter()
        .flatten()
    {
        assert!(picture.ink(&view, label) > 5, "{label:?}");
    }
    for (i, at) in points.iter().enumerate().filter(|(i, _)| *i != 2) {
        // Beside the number.
        let (x, y) = view.position(at[1] as f64 * wide + 4.0, at[0] as f64 * high + 4.0);
        let seen = picture.pixels[y * picture.width + x].map(u64::from);
        assert!(is_near(seen, view.pixel(i)), "{i}: {seen:?}");
    }
}

/// Labels of columns were cut to the width of a cell: 10, 20, 30 were 1, 2, 3.
#[test]
fn labels_are_over_their_cells_in_any_window() {
    let value = |at: &[usize]| (at[0] as f32 / 4.0).sin() + at[1] as f32 / 36.0;
    let x = Tensor::<(Lat, Lon)>::from_fn([18, 36], value).into_dyn();
    let all: Vec<[usize; 2]> = (0..18 * 36).map(|i| [i / 36, i % 36]).collect();
    let ends = all.iter().map(|&at| f64::from(value(&at)));
    let (low, high) = ends.fold((f64::MAX, f64::MIN), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    for (window, step) in [(WINDOW, 1), ((700, 600), 2), ((420, 400), 5)] {
        let Some(view) = View::open(&x, "", window, [18, 36], &all) else {
            return;
        };
        let labels: Vec<String> = (0..36).step_by(step).map(|i| i.to_string()).collect();
        assert_eq!(view.check_labels([1, 1])[1], labels, "{window:?}");
        assert_eq!(view.report["scroll"], 0, "{window:?}");
        for (i, &at) in all.iter().enumerate() {
            let wanted = colour(f64::from(value(&at)), low, high);
            assert!(
                is_near(view.pixel(i), wanted),
                "{at:?}: {:?}",
                view.pixel(i)
            );
        }
        assert!(
            view.tip(40).text.starts_with("Lat=1, Lon=4: "),
            "{:?}",
            view.tip(40)
        );
        // The grid fills the window: neither side has room for a larger cell.
        let [tall, wide] = view.cell();
        assert_eq!(tall, wide);
        let canvas = &view.report["canvas"];
        let rest = |key: &str, from: &str, i: usize| {
            let taken = canvas[key].as_f64().unwrap() + canvas[from].as_f64().unwrap();
            view.report["window"][i].as_f64().unwrap() - taken
        };
        let room = [
            rest("height", "top", 1) - 70.0,
            rest("width", "left", 0) - 50.0,
        ];
        assert!(
            room[0] < 18.0 || room[1] < 36.0,
            "{room:?} for cells of {tall}"
        );
        if window == WINDOW {
            let _ = view.picture("18x36");
        }
    }
}

#[test]
fn one_dim_is_a_row_and_one_number_a_cell() {
    let x = Tensor::<(Time,), i64>::arange(0, 100, 1).into_dyn();
    let points = [[0, 0], [0, 99]];
    let Some(view) = View::open(&x, "", WINDOW, [1, 100], &points) else {
        return;
    };
    let [rows, columns] = view.check_labels([1, 1]);
    assert!(
        rows.is_empty() && columns.len() >= 20,
        "{rows:?} {columns:?}"
    );
    view.check_tips(&points, &["Time=0: 0", "Time=99: 99"]);
    assert!(view.cell()[0] >= 20, "{:?}", view.cell());
    assert_eq!(view.texts("axes"), ["Time"]);
    assert_eq!(view.legend(), "099");
    let _ = view.picture("1d");
    let few = x.narrow("Time", 0, 9).unwrap();
    let view = View::open(&few, "", WINDOW, [1, 9], &[]).unwrap();
    assert_eq!(
        view.texts("values"),
        ["0", "1", "2", "3", "4", "5", "6", "7", "8"]
    );
    let number = DynTensor::full(&[], 2.5, ()).unwrap();
    let view = View::open(&number, "", WINDOW, [1, 1], &[[0, 0]]).unwrap();
    view.check_tips(&[[0, 0]], &["2.5"]);
    assert_eq!(
        (view.texts("values"), view.legend()),
        (vec!["2.5".into()], "2.5")
    );
    let mask = tensor!([true, false]; Time).into_dyn();
    let view = View::open(&mask, "", WINDOW, [1, 2], &[]).unwrap();
    assert_eq!(view.texts("values"), ["True", "False"]);
    assert_eq!(view.legend(), "FalseTrue");
}

#[test]
fn a_sample_has_the_indices_of_the_whole() {
    let x = Tensor::<(Lat, Lon), i64>::from_fn([1000, 1000], |at| (1000 * at[0] + at[1]) as i64);
    let x = x.into_dyn();
    let points = [[0, 0], [249, 249], [25, 50]];
    let Some(view) = View::open(&x, "", WINDOW, [250, 250], &points) else {
        return;
    };
    let [rows, columns] = view.check_labels([4, 4]);
    let hundreds: Vec<String> = (0..10).map(|i| (100 * i).to_string()).collect();
    assert_eq!((&rows, &columns), (&hundreds, &hundreds));
    let tips = [
        "Lat=0, Lon=0: 0",
        "Lat=996, Lon=996: 996996",
        "Lat=100, Lon=200: 100200",
    ];
    view.check_tips(&points, &tips);
    let axes = ["Lon (0, 4, 8, … of 1000)", "Lat (0, 4, 8, … of 1000)"];
    assert_eq!(view.texts("axes"), axes);
    assert_eq!(view.legend(), "0996996sample: 62500 of 1000000 elements");
    let _ = view.picture("1000x1000");
    // Round indices if the sample has them, else round multiples of its step.
    for (size, shown, step, wanted) in [
        (1800, 225, 8, ["0", "200", "400"]),
        (1600, 229, 7, ["0", "140", "280"]),
    ] {
        let x = Tensor::<(Time,), i64>::arange(0, size, 1).into_dyn();
        let view = View::open(&x, "", (700, 400), [1, shown], &[]).unwrap();
        let [_, columns] = view.check_labels([1, step]);
        assert_eq!(columns[..3], wanted);
    }
}

#[test]
fn an_image_has_its_own_colours() {
    dims! { H, W, Rgb = 3 }
    let x = Tensor::<(H, W, Rgb), u8>::from_fn([60, 80, 3], |at| {
        [4 * at[0], 3 * at[1], 255 - at[0] - at[1]][at[2]] as u8
    });
    let x = x.into_dyn();
    let points = [[0, 0], [10, 20], [59, 79]];
    let Some(view) = View::open(&x, "", WINDOW, [60, 80], &points) else {
        return;
    };
    let pixels = [[0, 0, 255], [40, 60, 225], [236, 237, 117]];
    for (i, pixel) in pixels.into_iter().enumerate() {
        assert_eq!(view.pixel(i), pixel);
    }
    let tips = [
        "H=0, W=0, Rgb=..: (0, 0, 255)",
        "H=10, W=20, Rgb=..: (40, 60, 225)",
    ];
    view.check_tips(&points, &tips);
    view.check_labels([1, 1]);
    assert_eq!(view.legend(), "true colours: 0 is dark, 255 is bright");
    let controls = view.texts("controls");
    assert!(
        !controls.iter().any(|text| text.starts_with("Rgb ")),
        "{controls:?}"
    );
    let _ = view.picture("image");
    // Floats from 0 to 1, with the channels first.
    let planes = x.to_dtype(DType::F32).unwrap().div(255.0).unwrap();
    let planes = planes.align_to(["Rgb", "H", "W"]).unwrap();
    let view = View::open(&planes, "", WINDOW, [60, 80], &points).unwrap();
    for (i, pixel) in pixels.into_iter().enumerate() {
        assert_eq!(view.pixel(i), pixel);
    }
}
