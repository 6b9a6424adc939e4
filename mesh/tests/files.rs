//! Files that a mesh writes can be read by any other mesh and by a single process. If a rank fails to write, no file is
//! left.

use std::fs;
use std::path::{Path, PathBuf};

use nomina::Result;
use nomina_core::mesh::value::Place as At;
use nomina_mesh::optim::{AdamOptions, AdamW, Param};
use nomina_mesh::prelude::*;
use nomina_mesh::safetensors::{self, Checkpoint};
use nomina_mesh::{DynSharded, zarr};
use tempfile::TempDir;

dims! { N, C, K }
mesh! { Grid: Data, Model }

/// The sizes of meshes, some with more ranks than elements.
const MESHES: [[usize; 2]; 5] = [[1, 1], [2, 1], [2, 2], [3, 2], [1, 5]];

fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

fn whole(sizes: &[usize], dtype: DType) -> DynTensor {
    let numel: usize = sizes.iter().product();
    let all = DynTensor::arange(0, numel as i64, 1, ["N"]).unwrap();
    let names: Vec<(&str, i64)> = ["N", "C"]
        .iter()
        .zip(sizes)
        .map(|(name, size)| (*name, *size as i64))
        .collect();
    let all = all.to_dtype(dtype).unwrap();
    all.unflatten("N", names).unwrap()
}

/// Returns all placements of a tensor with dims `N` and `C` over two axes in which nothing is pending.
fn placements() -> Vec<[At; 2]> {
    let name = |name| nomina::Name::new(name).unwrap();
    let states = [
        At::Whole,
        At::Synced,
        At::Split(name("N")),
        At::Split(name("C")),
    ];
    let pairs = states
        .iter()
        .flat_map(|one| states.iter().map(|other| [one.clone(), other.clone()]));
    pairs.collect()
}

fn cut(mesh: &Mesh<Grid>, tensor: &DynTensor, places: &[At; 2]) -> Result<DynSharded> {
    let mut cut = mesh.whole_dyn(tensor.clone());
    for (axis, place) in ["Data", "Model"].iter().zip(places) {
        if let At::Split(dim) = place {
            cut = cut.cut(axis, dim.as_str())?;
        }
    }
    Ok(cut)
}

/// Checks that a rank's box of a loaded tensor equals its cut of the whole tensor.
fn same(mesh: &Mesh<Grid>, read: &DynSharded, all: &DynTensor, places: &[At; 2]) -> Result<()> {
    let expected = cut(mesh, all, places)?;
    assert_eq!(read.shape(), all.shape());
    assert_eq!(read.local().shape(), expected.local().shape());
    assert_eq!(
        (read.dtype(), read.names()),
        (all.dtype(), expected.names())
    );
    assert!(read.local().equal(expected.local())?);
    Ok(())
}

#[test]
fn every_placement_on_every_mesh_is_read_in_every_other() {
    let sizes = [[5, 3], [1, 7], [4, 4], [0, 3]];
    let dtypes = [DType::F32, DType::BF16, DType::Bool, DType::I64];
    let tensors: Vec<(String, DynTensor)> = (sizes.iter().zip(dtypes))
        .map(|(sizes, dtype)| (format!("{sizes:?}"), whole(sizes, dtype)))
        .collect();
    let mut read = 0;
    for from in MESHES {
        let (_folder, path) = place("checkpoint");
        Grid::threads(from, |mesh| {
            let mut all = Vec::new();
            for (name, tensor) in &tensors {
                for (at, places) in placements().iter().enumerate() {
                    all.push((format!("{name}.{at}"), cut(&mesh, tensor, places)?));
                }
            }
            safetensors::save(&mesh, &path, all)
        })
        .unwrap();
        // Without a mesh.
        let files = nomina_io::safetensors::Checkpoint::open(&path).unwrap();
        for (name, tensor) in &tensors {
            for at in 0..placements().len() {
                let same: DynTensor = files.tensor(&format!("{name}.{at}")).unwrap();
                assert_eq!(same.names(), tensor.names());
                assert!(same.equal(tensor).unwrap(), "{from:?} {name}.{at}");
                read += 1;
            }
        }
        for to in MESHES {
            let counts = Grid::threads(to, |mesh| {
                let checkpoint = Checkpoint::open(&mesh, &path)?;
                let mut count = 0;
                // A tensor saved in one placement is loaded in another.
                for (name, tensor) in &tensors {
                    for (at, places) in placements().iter().enumerate() {
                        let name = format!("{name}.{}", (at * 7 + 3) % placements().len());
                        let read = checkpoint.tensor_dyn(&name, places)?;
                        same(&mesh, &read, tensor, places)?;
                        count += 1;
                    }
                }
                Ok(count)
            });
            read += counts.unwrap().iter().sum::<usize>();
        }
    }
    println!("{read} tensors were read");
    // For each mesh 64 tensors: read by a single process, and by the 18 ranks of all meshes.
    assert_eq!(read, MESHES.len() * 64 * (1 + 18));
}

#[test]
fn types_are_checked() {
    let (_folder, path) = place("checkpoint");
    let x: Tensor<(N, C)> = Tensor::from_vec((0..15).map(|i| i as f32).collect(), [5, 3]).unwrap();
    Grid::threads([2, 1], |mesh| {
        let plain = DynTensor::from_vec(vec![1.0_f32, 2.0], &[2], ())?;
        let x = mesh.whole(x.clone()).cut(Data, N);
        let all = [("x", x.to_dyn()), ("plain", mesh.whole_dyn(plain))];
        safetensors::save(&mesh, &path, all)
    })
    .unwrap();
    Grid::threads([1, 2], |mesh| {
        type Half<D, T = f32> = Sharded<D, Grid<Whole, Split<N>>, T>;
        let checkpoint = Checkpoint::open(&mesh, &path)?;
        assert_eq!(checkpoint.keys().collect::<Vec<_>>(), ["plain", "x"]);
        let same: Half<(N, C)> = checkpoint.tensor("x")?;
        assert_eq!(same.all_gather(Model).to_vec(), x.to_vec());
        let error = |result: Result<()>, text: &str| {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        };
        let other: Result<Half<(C, N)>> = checkpoint.tensor("x");
        error(other.map(drop), "dim `N` is not `C`");
        let other: Result<Half<(N, C), i64>> = checkpoint.tensor("x");
        error(other.map(drop), "f32");
        let other: Result<Half<(N,)>> = checkpoint.tensor("x");
        error(other.map(drop), "2 dims");
        let other: Result<Half<(N,)>> = checkpoint.tensor("y");
        error(other.map(drop), "tensor not found");
        // A file of another program has no names.
        let other: Result<Half<(N,)>> = checkpoint.tensor("plain");
        error(other.map(drop), "refine");
        let named: Half<(N,)> = checkpoint.refine("plain")?;
        assert_eq!(named.all_gather(Model).to_vec(), [1.0, 2.0]);
        Ok(())
    })
    .unwrap();
}

/// Returns the entries of a folder, including hidden files.
fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

#[test]
fn what_one_rank_cannot_write_is_an_error_on_all_and_no_checkpoint() {
    let (folder, path) = place("checkpoint");
    let errors = Grid::threads([2, 2], |mesh| {
        let x = whole(&[4, 4], DType::F32);
        let x = cut(&mesh, &x, &placements()[11])?;
        assert_eq!(x.local().shape(), [2, 2]);
        // One rank gets another folder, which does not exist.
        let path = match (mesh.rank(Data), mesh.rank(Model)) {
            (1, 0) => Path::new("/no/such/folder/checkpoint"),
            _ => &path,
        };
        let one = safetensors::save(&mesh, path, [("x", x.clone())]).unwrap_err();
        let other = zarr::save(path, &x).unwrap_err();
        Ok([one, other])
    });
    for errors in errors.unwrap() {
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::File, "{error}");
            assert!(error.to_string().contains("/no/such/folder"), "{error}");
        }
    }
    assert!(entries(folder.path()).is_empty());
}

#[test]
fn a_checkpoint_is_never_written_over_and_what_was_left_is_no_checkpoint() {
    let (folder, path) = place("checkpoint");
    // Left over from a program that was killed while it wrote.
    let left = folder.path().join(".checkpoint.partial");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("model-00001-of-00009.safetensors"), "half").unwrap();
    let save = |value: f32| {
        Grid::threads([2, 1], |mesh| {
            let x = mesh.whole(Tensor::<(N,)>::full([3], value)).cut(Data, N);
            safetensors::save(&mesh, &path, [("x", x.to_dyn())])
        })
    };
    assert!(Checkpoint::open(&Grid::alone(), &path).is_err());
    save(1.0).unwrap();
    let error = save(2.0).unwrap_err();
    assert!(error.to_string().contains("it already exists"), "{error}");
    assert_eq!(entries(folder.path()), ["checkpoint"]);
    let x: Tensor<(N,)> = nomina_io::safetensors::Checkpoint::open(&path)
        .unwrap()
        .tensor("x")
        .unwrap();
    assert_eq!(x.to_vec(), [1.0; 3]);
    let mut files = entries(&path);
    files.sort();
    assert_eq!(
        files,
        [
            "model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors",
            "model.safetensors.index.json"
        ]
    );
}

#[test]
fn what_is_no_tensor_is_refused() {
    let (_folder, path) = place("checkpoint");
    let refused = |program: &(dyn Fn(&Mesh<Grid>) -> Result<DynSharded> + Sync), text: &str| {
        let errors = Grid::threads([2, 1], |mesh| {
            let x = program(&mesh)?;
            Ok([
                safetensors::save(&mesh, &path, [("x", x.clone())]).unwrap_err(),
                zarr::save(&path, &x).unwrap_err(),
            ])
        });
        for error in errors.unwrap().into_iter().flatten() {
            assert!(error.to_string().contains(text), "{error}");
        }
    };
    let ones = || Tensor::<(N,)>::ones([3]);
    let pending = "a sum over mesh axis `Data` is still pending";
    refused(&|mesh| Ok(mesh.whole(ones()).pend(Data).to_dyn()), pending);
    refused(&|mesh| Ok(mesh.own(ones()).to_dyn()), "each rank's own");
    let two = Grid::threads([2, 1], |mesh| {
        let x = mesh.whole(ones()).to_dyn();
        safetensors::save(&mesh, &path, [("x", x.clone()), ("x", x)])
    });
    assert!(two.unwrap_err().to_string().contains("`x` is repeated"));
    let others = Grid::threads([2, 1], |mesh| {
        let x = mesh.whole(Tensor::<(N,)>::ones([3 + mesh.rank(Data)]));
        safetensors::save(&mesh, &path, [("x", x.to_dyn())])
    });
    assert!(
        others
            .unwrap_err()
            .to_string()
            .contains("make different calls")
    );
    let absent = Grid::simulate([8, 8], 1e-6, 1e9).unwrap();
    let x = absent.whole(ones()).to_dyn();
    assert!(safetensors::save(&absent, &path, [("x", x)]).is_err());
    assert!(!path.exists());
}

#[test]
fn each_rank_opens_the_files_that_its_box_meets() {
    let (_folder, path) = place("checkpoint");
    let x = whole(&[8, 3], DType::F32);
    Grid::threads([4, 1], |mesh| {
        let x = mesh.whole_dyn(x.clone()).cut("Data", "N")?;
        safetensors::save(&mesh, &path, [("x", x)])
    })
    .unwrap();
    // The second half of the rows is in the last two files; the first of them has the dtype and the names.
    fs::remove_file(path.join("model-00002-of-00004.safetensors")).unwrap();
    let files = nomina_io::safetensors::Checkpoint::open(&path).unwrap();
    let part: DynTensor = files.part("x", &[4..8, 1..2]).unwrap();
    assert_eq!(part.to_vec::<f32>().unwrap(), [13.0, 16.0, 19.0, 22.0]);
    let error = files.part::<DynTensor>("x", &[2..5, 0..3]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
}

#[test]
fn arrays_of_zarr_go_from_mesh_to_mesh() {
    let mut read = 0;
    for (sizes, from) in [
        ([6, 4], [2, 2]),
        ([5, 4], [2, 1]),
        ([7, 3], [3, 1]),
        ([2, 5], [1, 5]),
        ([0, 3], [2, 1]),
    ] {
        let x = whole(&sizes, DType::F64);
        for (number, places) in placements().iter().enumerate() {
            let (_folder, path) = place(&format!("x{number}"));
            Grid::threads(from, |mesh| zarr::save(&path, &cut(&mesh, &x, places)?)).unwrap();
            let array = nomina_io::zarr::Zarr::<DynTensor>::open(&path).unwrap();
            assert!(array.read().unwrap().equal(&x).unwrap());
            for to in MESHES {
                type Rows = Sharded<(N, C), Grid<Split<N>, Split<C>>, f64>;
                Grid::threads(to, |mesh| {
                    let read: Rows = zarr::open(&mesh, &path)?;
                    same(&mesh, &read.to_dyn(), &x, &placements()[11])
                })
                .unwrap();
                read += to[0] * to[1];
            }
        }
    }
    println!("{read} boxes of arrays were read");
}

#[test]
fn chunks_fit_the_boxes_or_are_refused() {
    let saved = |sizes: [usize; 2], ranks: usize, chunks: Option<[usize; 2]>| {
        let (_folder, path) = place("x");
        let done = Grid::threads([ranks, 1], |mesh| {
            let x: Sharded<(N, C), Grid<Split<N>, Whole>> = mesh.zeros(sizes)?;
            match &chunks {
                None => zarr::save(&path, &x.to_dyn()),
                Some(chunks) => zarr::save_with(&path, &x.to_dyn(), chunks),
            }
        });
        done?;
        let array = nomina_io::zarr::Zarr::<DynTensor>::open(&path)?;
        Ok(array.chunks().to_vec())
    };
    let found = |sizes, ranks, chunks| -> Vec<usize> { saved(sizes, ranks, chunks).unwrap() };
    assert_eq!(found([8, 3], 4, None), [2, 3]);
    // Parts of 3 and 2 rows, then of 3, 2 and 2: the chunk divides 3 and 5.
    assert_eq!(found([5, 3], 2, None), [3, 3]);
    assert_eq!(found([7, 3], 3, None), [1, 3]);
    assert_eq!(found([8, 3], 2, Some([2, 1])), [2, 1]);
    // 64 MiB of parts in chunks of 16 MiB.
    assert_eq!(found([1 << 14, 1 << 10], 1, None), [1 << 12, 1 << 10]);
    let error: Error = saved([8, 3], 2, Some([3, 3])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let text = error.to_string();
    assert!(
        text.contains("begins at 4: two ranks would write one chunk"),
        "{text}"
    );
    let error: Error = saved([100_002, 1], 4, None).map_or_else(|error| error, |_| unreachable!());
    assert!(error.to_string().contains("allow only chunks"), "{error}");
}

const OPTIONS: AdamOptions = AdamOptions {
    lr: 0.05,
    ..AdamOptions::adamw()
};

type Weights = Sharded<(C, K), Grid<Whole, Split<K>>>;
type Bias = Sharded<(K,), Grid<Synced, Split<K>>>;
type Scale = Sharded<(), Grid<Synced, Synced>>;

struct Model1 {
    w: Weights,
    b: Bias,
    scale: Scale,
    optimizer: AdamW<Data>,
}

impl Model1 {
    fn step(&mut self, mesh: &Mesh<Grid>) -> Result<f32> {
        let x: Sharded<(N, C), Grid<Split<N>, Whole>> = mesh.randn([7, 5])?;
        let y: Sharded<(N, K), Grid<Split<N>, Split<K>>> =
            x.contract(&self.w, C) + self.b.whole(Data);
        let y = y * self.scale.whole(Data).whole(Model);
        let loss = (y - 1.0).square().mean(across(..));
        loss.try_backward()?;
        self.optimizer
            .try_step(&mut [&mut self.w, &mut self.b, &mut self.scale])?;
        Ok(loss.all_reduce(Data).all_reduce(Model).item())
    }

    fn params(&self) -> [(&'static str, &dyn Param<Data>); 3] {
        [("w", &self.w), ("b", &self.b), ("scale", &self.scale)]
    }
}

#[test]
fn training_goes_on_on_another_mesh() {
    let numbers = |count: usize| (0..count).map(|i| (i as f32 * 0.7).sin()).collect();
    let new = |mesh: &Mesh<Grid>| -> Result<Model1> {
        let w = mesh.whole(Tensor::from_vec(numbers(15), [5, 3])?);
        let b = mesh.parameter(Tensor::from_vec(numbers(3), [3])?)?;
        Ok(Model1 {
            w: w.cut(Model, K).detach().with_grad(),
            b: b.detach().cut(Model, K).with_grad(),
            scale: mesh.parameter(Tensor::full([], 0.5))?,
            optimizer: AdamW::with(Data, OPTIONS),
        })
    };
    let mut resumed = 0;
    for from in MESHES {
        let (_folder, path) = place("step-3");
        let losses = Grid::threads(from, |mesh| {
            let mut model = new(&mesh)?;
            mesh.manual_seed(3);
            for _ in 0..3 {
                model.step(&mesh)?;
            }
            let state = model.optimizer.state(model.params())?;
            let own = [
                ("w".to_owned(), model.w.to_dyn().into()),
                ("b".to_owned(), model.b.to_dyn().into()),
                ("scale".to_owned(), model.scale.to_dyn().into()),
                ("rng".to_owned(), mesh.get_rng_state()?.into()),
            ];
            safetensors::save(&mesh, &path, own.into_iter().chain(state))?;
            (0..3)
                .map(|_| model.step(&mesh))
                .collect::<Result<Vec<f32>>>()
        })
        .unwrap();
        for to in MESHES {
            let again = Grid::threads(to, |mesh| {
                let checkpoint = Checkpoint::open(&mesh, &path)?;
                let w: Weights = checkpoint.tensor("w")?;
                let b: Bias = checkpoint.tensor("b")?;
                let scale: Scale = checkpoint.tensor("scale")?;
                let mut model = Model1 {
                    w: w.with_grad(),
                    b: b.with_grad(),
                    scale: scale.with_grad(),
                    optimizer: AdamW::with(Data, OPTIONS),
                };
                let mut optimizer = AdamW::with(Data, OPTIONS);
                optimizer.load(model.params(), &checkpoint)?;
                model.optimizer = optimizer;
                mesh.set_rng_state(&checkpoint.tensor_dyn("rng", &[])?)?;
                (0..3)
                    .map(|_| model.step(&mesh))
                    .collect::<Result<Vec<f32>>>()
            })
            .unwrap();
            for (before, after) in losses[0].iter().zip(&again[0]) {
                if from == to {
                    assert_eq!(before, after, "to the bit on the same mesh");
                }
                assert!(
                    (before - after).abs() < 1e-5 * before.abs().max(1.0),
                    "{from:?} to {to:?}: {before} and {after}"
                );
            }
            resumed += 1;
        }
        // A single process reads what nn's optimizer asks for.
        let files = nomina_io::safetensors::Checkpoint::open(&path).unwrap();
        let mean: Tensor<(C, K)> = files.tensor("w.exp_avg").unwrap();
        let steps: Tensor<(), i64> = files.tensor("w.step").unwrap();
        assert_eq!((mean.shape(), steps.item()), (&[5, 3][..], 3));
    }
    println!("{resumed} pairs of meshes");
}

#[test]
fn an_optimizer_takes_nothing_that_does_not_fit() {
    let (_folder, path) = place("checkpoint");
    let error = Grid::threads([2, 1], |mesh| {
        let mut w = mesh.parameter(Tensor::<(N,)>::ones([3]))?;
        let mut optimizer = AdamW::with(Data, OPTIONS);
        w.square().sum(N).backward();
        optimizer.step(&mut [&mut w]);
        let state = optimizer.state([("w", &w as &dyn Param<Data>)])?;
        safetensors::save(&mesh, &path, state)?;
        let checkpoint = Checkpoint::open(&mesh, &path)?;
        let other = mesh.parameter(Tensor::<(N,)>::ones([4]))?;
        let kept = optimizer.kept();
        let error = optimizer
            .load([("w", &other as &dyn Param<Data>)], &checkpoint)
            .unwrap_err();
        assert_eq!(optimizer.kept(), kept);
        // A parameter that was never stepped has no state.
        let none = checkpoint.keys().all(|key| !key.starts_with("b."));
        optimizer.load([("b", &other as &dyn Param<Data>)], &checkpoint)?;
        assert!(none && optimizer.kept() == 0);
        Ok(error)
    });
    let error = error.unwrap().remove(0);
    assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
}
