//! Random tensors do not depend on the mesh: each rank draws its box alone, bitwise equal to that of a single process.

use nomina::Result;
use nomina::{Float, Generator};
use nomina_mesh::placement::AllFinished;
use nomina_mesh::prelude::*;

dims! { N, C, K }
mesh! { Grid: Data, Model }

/// Draws twice from one generator, in a single process.
fn alone<T: Float>(sizes: [usize; 3]) -> [DynTensor; 2] {
    let mut generator = Generator::new(7);
    let drawn = || {
        DynTensor::options()
            .dtype(T::DTYPE)
            .empty(&sizes, ["N", "C", "K"])
            .unwrap()
    };
    let (mut one, mut other) = (drawn(), drawn());
    one.normal_from_(0.0, 1.0, &mut generator).unwrap();
    other.uniform_from_(0.0, 1.0, &mut generator).unwrap();
    [one, other]
}

fn same<P, T: Float>(mesh: &Mesh<Grid>, sizes: [usize; 3]) -> Result<()>
where
    P: nomina_mesh::placement::Placement<Mesh = Grid> + AllFinished,
{
    mesh.manual_seed(7);
    let one: Sharded<(N, C, K), P, T> = mesh.randn(sizes)?;
    let other: Sharded<(N, C, K), P, T> = mesh.rand(sizes)?;
    let [first, second] = alone::<T>(sizes);
    for (drawn, all) in [(one, first), (other, second)] {
        let ranges = [drawn.range(N), drawn.range(C), drawn.range(K)];
        let mut expected = all;
        for (dim, range) in ranges.into_iter().enumerate() {
            expected = expected.narrow(dim as i64, range.start as i64, range.len())?;
        }
        assert!(drawn.local().to_dyn().equal(&expected)?, "{sizes:?}");
    }
    Ok(())
}

fn every_placement<T: Float>(mesh: &Mesh<Grid>, sizes: [usize; 3]) -> Result<()> {
    same::<Grid<Whole, Whole>, T>(mesh, sizes)?;
    same::<Grid<Split<N>, Whole>, T>(mesh, sizes)?;
    same::<Grid<Split<C>, Synced>, T>(mesh, sizes)?;
    same::<Grid<Whole, Split<K>>, T>(mesh, sizes)?;
    same::<Grid<Split<N>, Split<N>>, T>(mesh, sizes)?;
    same::<Grid<Split<N>, Split<K>>, T>(mesh, sizes)?;
    same::<Grid<Split<C>, Split<K>>, T>(mesh, sizes)
}

#[test]
fn boxes_are_those_of_one_tensor() {
    // Rows of odd lengths, not aligned to blocks of random words; rows drawn one by one, and many at once.
    let all = [
        [5, 3, 7],
        [1, 2, 1],
        [3, 0, 2],
        [4, 5, 6000],
        [2, 40, 501],
        [700, 3, 2],
    ];
    for mesh in [[1, 1], [2, 2], [3, 1], [1, 5]] {
        Grid::threads(mesh, |mesh| {
            for sizes in all {
                every_placement::<f32>(&mesh, sizes)?;
                every_placement::<f64>(&mesh, sizes)?;
                every_placement::<nomina::bf16>(&mesh, sizes)?;
            }
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn a_tensor_larger_than_memory_is_drawn_by_its_box() {
    // The first rank of many: 4 MiB of 16 TiB.
    let mesh = Grid::simulate([1 << 12, 1 << 10], 1e-6, 1e9).unwrap();
    let x: Sharded<(N, C, K), Grid<Split<N>, Split<C>>> =
        mesh.randn([1 << 16, 1 << 16, 1 << 10]).unwrap();
    assert_eq!(x.local().shape(), [16, 64, 1 << 10]);
    let number: Sharded<(), Grid<Synced, Synced>> = mesh.randn([]).unwrap();
    assert!(number.item().is_finite());
}
