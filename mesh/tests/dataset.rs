//! Variables of datasets over meshes of every shape: each rank reads its box.

use nomina_data::{DynDataset, Variable};
use nomina_mesh::dataset;
use nomina_mesh::prelude::*;

dims! { Time("time"), Lat("lat"), Lon("lon") }
mesh! { Grid: Data, Model }

fn sea() -> DynDataset {
    let values: Vec<f32> = (0..105).map(|i| i as f32).collect();
    let t = DynTensor::from_vec(values, &[7, 5, 3], ["time", "lat", "lon"]).unwrap();
    let mut sea = DynDataset::new();
    sea.insert(Variable::new("t", t).unwrap()).unwrap();
    sea
}

#[test]
fn every_mesh_reads_its_boxes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sea.zarr");
    sea().write_zarr(&path).unwrap();
    for sizes in [[1, 1], [2, 1], [1, 3], [2, 2], [8, 1]] {
        Grid::threads(sizes, |mesh| {
            for part in [0..7_usize, 2..6] {
                let sea = DynDataset::open_lazy(&path)?.isel("time", part)?;
                let whole = sea.variable("t")?.tensor()?;
                let t: Sharded<(Time, Lat, Lon), Grid<Split<Time>, Split<Lat>>> =
                    dataset::tensor(&mesh, &sea, "t")?;
                let expected = mesh
                    .whole_dyn(whole)
                    .cut("Data", "time")?
                    .cut("Model", "lat")?;
                assert_eq!(t.shape(), expected.shape());
                assert!(t.local().to_dyn().equal(expected.local())?);
                let t: Sharded<(Time, Lat, Lon), Grid<Whole, Split<Lon>>> =
                    dataset::tensor(&mesh, &sea, "t")?;
                assert_eq!(t.shape(), expected.shape());
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_variable_that_does_not_fit_is_an_error_on_all_ranks() {
    type Rows<D, T = f32> = Sharded<D, Grid<Split<Time>, Whole>, T>;
    let errors = Grid::threads([2, 1], |mesh| {
        let sea = sea();
        let no_variable = dataset::tensor(&mesh, &sea, "u").map(|_: Rows<(Time, Lat, Lon)>| ());
        let dims = dataset::tensor(&mesh, &sea, "t").map(|_: Rows<(Time, Lon, Lat)>| ());
        let dtype = dataset::tensor(&mesh, &sea, "t").map(|_: Rows<(Time, Lat, Lon), f64>| ());
        Ok([no_variable, dims, dtype].map(|result| result.unwrap_err().kind()))
    })
    .unwrap();
    let expected = [
        ErrorKind::NameNotFound,
        ErrorKind::NameMismatch,
        ErrorKind::DType,
    ];
    assert_eq!(errors, [expected, expected]);
}
