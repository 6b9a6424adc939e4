//! Selections by label and by position, typed and by name.

use std::time::Duration;

use nomina::prelude::*;
use nomina::{DynLabelled, Labelled, Labels, Timestamp, at, nearest};

dims! { Time: Timestamp, Lat: f64, Station: String, Id: i64 }

fn falling() -> Labelled<(Station, Lat)> {
    Labelled::new(tensor!([[0., 1., 2., 3.], [4., 5., 6., 7.]]; Station, Lat))
}

fn days() -> Labelled<(Time,)> {
    let x = Tensor::<(Time,)>::arange(0.0, 60.0, 1.0);
    let hours =
        |i: i64| Timestamp::from_nanoseconds(1_577_836_800_000_000_000 + i * 43_200_000_000_000);
    Labelled::new(x).with(Time, (0..60).map(hours))
}

#[test]
fn partial_dates() {
    let x = days();
    assert_eq!(x.sel(Time, "2020-01-03").to_vec(), [4.0, 5.0]);
    assert_eq!(x.sel(Time, "2020").shape(), [60]);
    assert_eq!(x.sel(Time, "2020-01-30".."2020-02").to_vec(), [58.0, 59.0]);
    assert_eq!(
        x.sel(Time, "2020-01-02"..="2020-01-02").to_vec(),
        [2.0, 3.0]
    );
    assert_eq!(x.sel(Time, .."2020-01-02").to_vec(), [0.0, 1.0]);
    assert_eq!(x.sel(Time, at("2020-01-03T12")).tensor().item(), 5.0);
    assert_eq!(
        x.sel(Time, ["2020-01-03", "2020-01-01"]).to_vec(),
        [4.0, 0.0]
    );
    let near = nearest("2020-01-03T13:00").within(Duration::from_secs(3600));
    assert_eq!(x.sel(Time, near).tensor().item(), 5.0);
    let far = nearest("2020-01-03T14:00").within(Duration::from_secs(3600));
    let error = x.try_sel(Time, far).unwrap_err().to_string();
    assert!(
        error.contains("the nearest is 2020-01-03T12:00:00"),
        "{error}"
    );
    let error = x.try_sel(Time, "2021").unwrap_err().to_string();
    assert_eq!(
        error,
        "sel: dim `Time` has no label within \"2021\"; dims (Time=60,)"
    );
    let error = x.try_sel(Time, "x").unwrap_err().to_string();
    assert!(error.contains("cannot take \"x\" as a date"), "{error}");
    let date = nomina::jiff::civil::date(2020, 1, 3);
    assert_eq!(x.sel(Time, date..=date).to_vec(), [4.0, 5.0]);
}

#[test]
fn typed_and_by_name_agree() {
    let x = days();
    let d = x.to_dyn();
    let same = |typed: Labelled<(Time,)>, named: nomina::Result<DynLabelled>| {
        let named: Labelled<(Time,)> = named.unwrap().typed().unwrap();
        assert_eq!(typed.to_vec(), named.to_vec());
        assert!(typed.labels(Time) == named.labels(Time));
    };
    same(x.sel(Time, "2020-01-03"), d.sel("Time", "2020-01-03"));
    same(
        x.sel(Time, "2020-01-03".."2020-01-09"),
        d.sel("Time", "2020-01-03".."2020-01-09"),
    );
    same(x.sel(Time, .."2020-01-09"), d.sel("Time", .."2020-01-09"));
    same(x.sel(Time, ..="2020-01-09"), d.sel("Time", ..="2020-01-09"));
    same(
        x.sel(Time, ["2020-01-09", "2020-01-02"]),
        d.sel("Time", ["2020-01-09", "2020-01-02"]),
    );
    same(x.sel(Time, ..), d.sel("Time", ..));
    same(x.isel(Time, 3..9), d.isel("Time", 3..9));
    same(x.isel(Time, -3..), d.isel("Time", -3..));
    same(x.isel(Time, [5, -1, 0]), d.isel("Time", [5, -1, 0]));
    assert_eq!(
        d.sel("Time", at("2020-01-03T12"))
            .unwrap()
            .tensor()
            .item()
            .unwrap()
            .to_f64(),
        5.0
    );
    let error = d.sel("Lat", 5.0).unwrap_err().to_string();
    assert!(error.contains("dim `Lat` not found"), "{error}");
    let error = d.sel("Time", 5.0).unwrap_err().to_string();
    assert!(
        error.contains("dim `Time` has labels of type Timestamp, and 5.0 is not one"),
        "{error}"
    );
}

#[test]
fn several_dims_keep_their_labels() {
    let x = falling()
        .with(Station, ["a", "b"].map(String::from))
        .with(Lat, [60.0, 45.0, 30.0, 15.0]);
    let south: Labelled<(Station, Lat)> = x.sel(Lat, 20.0..=45.0);
    assert_eq!(south.labels(Lat).values(), [45.0, 30.0]);
    assert_eq!(south.labels(Station).values(), ["a", "b"]);
    assert_eq!(south.to_vec(), [1.0, 2.0, 5.0, 6.0]);
    let b: Labelled<(Lat,)> = x.sel(Station, "b");
    assert_eq!(b.labels(Lat).values(), [60.0, 45.0, 30.0, 15.0]);
    assert_eq!(b.to_vec(), [4.0, 5.0, 6.0, 7.0]);
    assert_eq!(x.sel(Station, "b").sel(Lat, 15.0).tensor().item(), 7.0);
    let error = x.try_sel(Station, "c").unwrap_err().to_string();
    assert!(
        error.contains("dim `Station` has no label \"c\"; labels go from \"a\" to \"b\""),
        "{error}"
    );
    let error = x.try_isel(Lat, 4).unwrap_err().to_string();
    assert_eq!(
        error,
        "isel: dim `Lat` has size 4, and position 4 is out of range; dims (Station=2, Lat=4)"
    );
}

#[test]
fn integers_and_dims_without_names() {
    let x = Labelled::new(tensor!([1., 2., 3.]; Id)).with(Id, [7, 5, 9]);
    assert_eq!(x.sel(Id, 5).tensor().item(), 2.0);
    assert_eq!(x.sel(Id, [9, 7]).to_vec(), [3.0, 1.0]);
    assert_eq!(x.sel(Id, nearest(6)).tensor().item(), 1.0);
    let y = Labelled::new(tensor!([[1., 2., 3.]]; Lat, Id)).with(Id, [7, 5, 9]);
    let wild: Labelled<(Wild, Id)> = y.to_dyn().typed().unwrap();
    assert_eq!(wild.isel(Id, [2, 0]).to_vec(), [3.0, 1.0]);
    assert_eq!(wild.sel(Id, 5).to_dyn().names().to_string(), "(Lat,)");
}

#[test]
fn gradients_pass_selections() {
    let mut t = tensor!([1., 2., 3., 4.]; Lat);
    t.requires_grad_();
    let x = Labelled::new(t.clone()).with(Lat, [4.0, 3.0, 2.0, 1.0]);
    let y = x.sel(Lat, 1.5..3.5) * x.sel(Lat, [3.0, 2.0]) * 3.0;
    y.sum(..).tensor().backward();
    assert_eq!(t.grad().unwrap().to_vec(), [0.0, 12.0, 18.0, 0.0]);
}

#[test]
fn labels_move_with_dynamic_tensors() {
    let x = DynTensor::from_vec(vec![1.0f64, 2.0, 3.0], &[3], names!["x"]).unwrap();
    let x = DynLabelled::new(x)
        .with("x", Labels::new([0.1, 0.2, 0.3]))
        .unwrap();
    assert_eq!(
        x.sel("x", nearest(0.21))
            .unwrap()
            .tensor()
            .item()
            .unwrap()
            .to_f64(),
        2.0
    );
    assert_eq!(
        x.sel("x", vec![0.3, 0.1])
            .unwrap()
            .tensor()
            .to_vec::<f64>()
            .unwrap(),
        [3.0, 1.0]
    );
}
