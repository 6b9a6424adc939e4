//! Operations along labels: typed forms equal those by name, gradients, mistakes.

use nomina::jiff::ToSpan;
use nomina::labelled::{Boundary, DatePart, Fill, RollingOptions, concat};
use nomina::prelude::*;
use nomina::{DynLabelled, Labelled, Labels, Timestamp, inner, outer};

dims! { Time: Timestamp, Lat: f64, Month: i64, Zone: f64, Degree: i64, Station: String }

fn x() -> Labelled<(Time, Lat)> {
    let values = (0..72).map(|i| ((i * 37) % 23) as f32).collect();
    let times = Timestamp::series("2019-01-15", 1.month(), 24).unwrap();
    Labelled::new(Tensor::from_vec(values, [24, 3]).unwrap())
        .with(Time, times)
        .with(Lat, [60.0, 45.0, 30.0])
}

#[track_caller]
fn same(typed: DynLabelled, named: nomina::Result<DynLabelled>) {
    assert_eq!(typed.to_string(), named.unwrap().to_string());
}

#[test]
fn typed_and_by_name_agree() {
    let (x, d) = (x(), x().to_dyn());
    let options = RollingOptions {
        centered: true,
        min_count: 2,
    };
    let months = x.group_by(Time, Month, |t| t.month());
    let named = d.group_by_date("Time", DatePart::Month, "Month").unwrap();
    same(months.mean().to_dyn(), named.mean());
    same(months.nanstd().to_dyn(), named.nanstd());
    same(months.count().to_dyn(), named.count());
    same(
        months.back(&months.max()).to_dyn(),
        named.back(&named.max().unwrap()),
    );
    let bins = [0.0, 45.0, 90.0];
    same(
        x.group_by_bins(Lat, Zone, &bins).sum().to_dyn(),
        d.group_by_bins("Lat", &bins, "Zone").unwrap().sum(),
    );
    same(
        x.resample(Time, 3.months()).mean().to_dyn(),
        d.resample("Time", "3 months").unwrap().mean(),
    );
    same(
        x.rolling(Time, 3).mean().to_dyn(),
        d.rolling("Time", 3, default()).unwrap().mean(),
    );
    same(
        x.rolling_with(Lat, 2, options).nanmin().to_dyn(),
        d.rolling("Lat", 2, options).unwrap().nanmin(),
    );
    same(
        x.rolling(Time, 3).count().to_dyn(),
        d.rolling("Time", 3, default()).unwrap().count(),
    );
    let blocks = d.coarsen("Time", 5, Boundary::Pad).unwrap();
    same(
        x.coarsen(Time, 5, Boundary::Pad).nanmean().to_dyn(),
        blocks.nanmean(),
    );
    let lat = std::sync::Arc::new(Labels::new([50.0, 30.0, 99.0]));
    same(
        x.interp(Lat, [50.0, 30.0, 99.0]).to_dyn(),
        d.interp("Lat", lat.clone(), default()),
    );
    same(
        x.reindex(Lat, [50.0, 30.0, 99.0]).to_dyn(),
        d.reindex("Lat", lat.clone(), Fill::Missing),
    );
    let near = Fill::Nearest(10.0);
    same(
        x.reindex_with(Lat, [50.0, 30.0, 99.0], near).to_dyn(),
        d.reindex("Lat", lat, near),
    );
    same(x.differentiate(Time).to_dyn(), d.differentiate("Time"));
    same(x.integrate(Lat).to_dyn(), d.integrate("Lat"));
    same(
        x.polyfit(Lat, Degree, 1).to_dyn(),
        d.polyfit("Lat", 1, "Degree"),
    );
    same(x.idxmax(Lat).to_dyn(), d.idxmax("Lat"));
    same(x.idxmin(Time).to_dyn(), d.idxmin("Time"));
    same(x.sort_by(Lat).to_dyn(), d.sort_by("Lat", false));
    same(x.sort_by_falling(Time).to_dyn(), d.sort_by("Time", true));
    same(x.shift(Time, -2).to_dyn(), d.shift("Time", -2));
    same(x.diff(Time).to_dyn(), d.diff("Time"));
    same(x.quantile(0.25, Time).to_dyn(), d.quantile(0.25, "Time"));
    let y = x.mean(Lat);
    same(x.corr(&y, Time).to_dyn(), d.corr(&y.to_dyn(), "Time"));
    same(
        x.nancovar(&y, Time).to_dyn(),
        d.nancovar(&y.to_dyn(), "Time"),
    );
    same(
        x.weighted_mean(&y, Time).to_dyn(),
        d.weighted_mean(&y.to_dyn(), "Time"),
    );
    let z = x.sel(Lat, [30.0, 60.0]).shift(Time, 1);
    same(
        z.drop_missing(Time).to_dyn(),
        z.to_dyn().drop_missing("Time"),
    );
    same(z.fill(1.5).to_dyn(), z.to_dyn().fill(1.5));
    same(x.reindex_like(&z).to_dyn(), d.reindex_like(&z.to_dyn()));
    let (a, b) = (inner(&x, &z), d.inner(&z.to_dyn()).unwrap());
    same(a.0.to_dyn(), Ok(b.0));
    same(a.1.to_dyn(), Ok(b.1));
    let (a, b) = (outer(&x, &z), d.outer(&z.to_dyn()).unwrap());
    same(a.1.to_dyn(), Ok(b.1));
    let (north, south) = (x.sel(Lat, 50.0..), x.sel(Lat, ..50.0));
    let all = concat(&[&north, &south], Lat).unwrap();
    same(
        all.to_dyn(),
        DynLabelled::concat(&[&north.to_dyn(), &south.to_dyn()], "Lat"),
    );
    assert_eq!(all.to_string(), x.to_string());
}

#[test]
fn order_and_products() {
    let x = x();
    let y: Labelled<(Lat, Time)> = x.permute((Lat, Time));
    assert_eq!(y.labels(Lat).values(), [60.0, 45.0, 30.0]);
    assert_eq!(x.transpose(Time, Lat).to_string(), y.to_string());
    let w = Labelled::new(tensor!([1., 2., 3.]; Lat)).with(Lat, [60.0, 45.0, 31.0]);
    let error = x.try_contract(&w, Lat).unwrap_err().to_string();
    assert!(
        error.contains("contract: labels of the operands differ along dim `Lat`"),
        "{error}"
    );
    let sum: Labelled<(Time,)> = x.contract(&w.reindex_like(&x).fill(0.0), Lat);
    assert!(sum.has_labels(Time));
    let d = x.to_dyn();
    same(y.to_dyn(), d.permute(["Lat", "Time"]));
    same(y.to_dyn(), d.transpose("Time", "Lat"));
    same(
        sum.to_dyn(),
        d.contract(&w.reindex_like(&x).fill(0.0).to_dyn(), "Lat"),
    );
    let error = d.contract(&w.to_dyn(), "Lat").unwrap_err().to_string();
    assert!(
        error.contains("contract: labels of the operands differ along dim `Lat`"),
        "{error}"
    );
    assert!(d.permute(["Lat"]).is_err() && d.contract(&w.to_dyn(), "Time").is_err());
}

#[test]
fn gradients_pass_operations() {
    let mut t = tensor!([1., 2., 4.]; Lat);
    t.requires_grad_();
    let x = Labelled::new(t.clone()).with(Lat, [2.0, 1.0, 0.0]);
    x.interp(Lat, [1.75, 0.0]).sum(..).tensor().backward();
    assert_eq!(t.grad().unwrap().to_vec(), [0.75, 0.25, 1.0]);
    t.zero_grad();
    x.group_by_bins(Lat, Zone, &[-1.0, 1.0, 3.0])
        .mean()
        .sum(..)
        .tensor()
        .backward();
    assert_eq!(t.grad().unwrap().to_vec(), [1.0, 0.5, 0.5]);
    t.zero_grad();
    x.integrate(Lat).tensor().backward();
    assert_eq!(t.grad().unwrap().to_vec(), [-0.5, -1.0, -0.5]);
}

#[test]
fn mistakes_name_the_dim_and_the_way_out() {
    let x = x();
    let said = |error: nomina::Result<DynLabelled>, parts: &[&str]| {
        let text = error.unwrap_err().to_string();
        for part in parts {
            assert!(text.contains(part), "{text}");
        }
    };
    let exact = x.coarsen(Time, 5, Boundary::Exact).try_mean();
    said(
        exact.map(Labelled::into_dyn),
        &[
            "dim `Time` of size 24 is not a multiple of 5",
            "Boundary::Trim",
        ],
    );
    let whole = Labelled::new(tensor!([1, 2, 3]; Lat)).with(Lat, [1.0, 2.0, 3.0]);
    said(
        whole.try_reindex(Lat, [1.0, 9.0]).map(Labelled::into_dyn),
        &["1 elements along dim `Lat` are missing", "to::<f64>()"],
    );
    said(
        x.try_group_by_bins(Lat, Zone, &[2.0, 1.0])
            .map(|groups| groups.mean().into_dyn()),
        &["dim `Lat` needs edges of bins that rise"],
    );
    said(
        x.try_resample(Time, "fortnight")
            .map(|groups| groups.mean().into_dyn()),
        &["dim `Time` cannot be divided into steps of \"fortnight\""],
    );
    said(
        x.try_resample(Time, 0.days())
            .map(|groups| groups.mean().into_dyn()),
        &["cannot be divided"],
    );
    said(
        x.try_resample(Time, 1.nanosecond())
            .map(|groups| groups.mean().into_dyn()),
        &["steps, for which there is no memory"],
    );
    said(
        x.try_polyfit(Lat, Degree, 3).map(Labelled::into_dyn),
        &["has 3 elements, and a polynomial of degree 3 needs 4"],
    );
    let text =
        Labelled::new(tensor!([1., 2.]; Station)).with(Station, ["b", "a"].map(String::from));
    said(
        text.to_dyn().idxmax("Station"),
        &["labels of type String", "argmax"],
    );
    said(
        text.to_dyn().differentiate("Station"),
        &["have no distance"],
    );
    said(
        text.to_dyn()
            .resample("Station", "MS")
            .map(|_| text.to_dyn()),
        &["has labels of type String, not Timestamp"],
    );
    assert_eq!(text.sort_by(Station).to_vec(), [2.0, 1.0]);
    let bare = Labelled::new(tensor!([1., 2.]; Lat));
    said(
        bare.try_sort_by(Lat).map(Labelled::into_dyn),
        &["sort_by: dim `Lat` has no labels here"],
    );
    said(
        concat(&[&bare, &bare.clone().with(Lat, [1.0, 2.0])], Lat).map(Labelled::into_dyn),
        &["only some of the tensors have labels along dim `Lat`"],
    );
}
