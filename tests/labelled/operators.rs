//! Operators: labels follow names, and never join silently.

use nomina::Labelled;
use nomina::prelude::*;

dims! { Time: i64, Lat: f64 }

fn x() -> Labelled<(Time, Lat)> {
    Labelled::new(tensor!([[1., 2., 3.], [4., 5., 9.]]; Time, Lat))
        .with(Time, [1, 2])
        .with(Lat, [60.0, 45.0, 30.0])
}

#[test]
fn labels_stay_with_dims() {
    let x = x();
    let y = (&x - x.mean(Time)).abs().exp();
    assert_eq!(y.labels(Lat).values(), [60.0, 45.0, 30.0]);
    assert_eq!(y.labels(Time).values(), [1, 2]);
    let total: Labelled<(Lat,)> = x.sum(Time);
    assert_eq!(total.labels(Lat).values(), [60.0, 45.0, 30.0]);
    let kept = x.amax(keep(Lat));
    assert!(!kept.has_labels(Lat) && kept.has_labels(Time));
    assert!(x.sum(..).coords().is_empty());
    assert_eq!(x.cumsum(Lat).labels(Lat).values(), [60.0, 45.0, 30.0]);
    let var = x.var_with(
        Lat,
        VarOptions {
            correction: 0.0,
            ..default()
        },
    );
    assert_eq!(var.labels(Time).values(), [1, 2]);
    let normal = &x / x.sum(keep(..));
    assert!((normal.sum(..).tensor().item() - 1.0).abs() < 1e-6);
    assert_eq!((2.0 * &x + 1.0).labels(Time).values(), [1, 2]);
    assert_eq!((-&x).to_vec()[0], -1.0);
}

#[test]
fn plain_tensors_take_part() {
    let y = &x() + tensor!([1., 2., 3.]; Lat);
    assert_eq!(y.labels(Lat).values(), [60.0, 45.0, 30.0]);
    let bare = Labelled::new(tensor!([[1., 1., 1.], [1., 1., 1.]]; Time, Lat));
    let y = &bare + x();
    assert_eq!(y.labels(Time).values(), [1, 2]);
    let row = Labelled::new(tensor!([1., 2., 3.]; Lat)) * x();
    assert_eq!(row.labels(Time).values(), [1, 2]);
}

#[test]
fn extremes_ignore_nan() {
    let x = Labelled::new(tensor!([[1., f32::NAN, f32::NAN], [4., 5., f32::NAN]]; Time, Lat))
        .with(Time, [1, 2])
        .with(Lat, [60.0, 45.0, 30.0]);
    let least: Labelled<(Lat,)> = x.nanmin(Time);
    assert_eq!(least.to_vec()[..2], [1.0, 5.0]);
    assert!(least.to_vec()[2].is_nan());
    assert_eq!(least.labels(Lat).values(), [60.0, 45.0, 30.0]);
    assert_eq!(x.nanmax(Lat).to_vec(), [1.0, 5.0]);
    assert_eq!(x.nanmax(..).tensor().item(), 5.0);
    assert_eq!(x.nanmin(keep(Lat)).shape(), [2, 1]);
    let named = x.to_dyn().nanmin("Time").unwrap();
    assert_eq!(named.to_string(), least.to_dyn().to_string());
    let whole = x.to_dyn().nanmax(..).unwrap();
    assert_eq!(whole.tensor().item().unwrap().to_f64(), 5.0);
}

#[test]
fn labels_never_join_silently() {
    let (x, y) = (x(), x().with(Lat, [60.0, 44.0, 30.0]));
    let error = x.try_mul(&y).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Label);
    let text = error.to_string();
    for part in [
        "mul: labels of the operands differ along dim `Lat`",
        "the first difference is at 1: 45.0 and 44.0",
        "`y.reindex_like(&x)`, `inner(&x, &y)` or `outer(&x, &y)`",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| &x + &y));
    assert!(panicked.is_err());
    // Labels that are equal but of another origin are compared.
    let z = Labelled::new(x.tensor().clone())
        .with(Time, [1, 2])
        .with(Lat, [60.0, 45.0, 30.0]);
    assert_eq!((&x - &z).sum(..).tensor().item(), 0.0);
    let error = x.to_dyn().add(&y.to_dyn()).unwrap_err().to_string();
    assert!(
        error.contains("labels of the operands differ along dim `Lat`"),
        "{error}"
    );
}

#[test]
fn by_name_equals_typed() {
    let (x, d) = (x(), x().to_dyn());
    let same = |typed: nomina::DynLabelled, named: nomina::Result<nomina::DynLabelled>| {
        assert_eq!(typed.to_string(), named.unwrap().to_string());
    };
    same(x.mean(Time).to_dyn(), d.mean("Time"));
    same(x.sum(..).to_dyn(), d.sum(..));
    same(x.exp().to_dyn(), d.exp());
    same((&x - x.mean(Time)).to_dyn(), &d - &d.mean("Time").unwrap());
    same((&x * 2.0).to_dyn(), &d * 2.0);
    same(x.cumsum(Lat).to_dyn(), d.cumsum("Lat"));
    let options = VarOptions {
        correction: 0.0,
        ..default()
    };
    same(
        x.std_with(Lat, options).to_dyn(),
        d.std_with("Lat", options),
    );
    same(x.celu().to_dyn(), d.celu());
}

#[test]
fn gradients_pass_operators() {
    let mut t = tensor!([[1., 2.], [3., 4.]]; Time, Lat);
    t.requires_grad_();
    let x = Labelled::new(t.clone())
        .with(Time, [1, 2])
        .with(Lat, [0.0, 1.0]);
    let anomaly = &x - x.mean(Time);
    (&anomaly * &anomaly).sum(..).tensor().backward();
    assert_eq!(t.grad().unwrap().to_vec(), [-2.0, -2.0, 2.0, 2.0]);
}
