//! Conversions from run-time dims to static dims: rank, names, dtype and constant sizes are each
//! checked, the error says what was expected and what was found, and the tensor is not lost.
//!
//! `NOMINA_SEED` selects different tensors.

#[path = "static_dynamic/draw.rs"]
#[allow(dead_code, reason = "names are drawn from a list of this test's own")]
mod draw;

use draw::Draw;
use nomina::prelude::*;
use nomina::{Name, dims::Distinct};

dims! { N, C }
dims! { Rgb = 3 }

type Found = Result<DynTensor>;

/// A type: the name and the constant size of each dim, and the conversions to it.
struct Type {
    dims: &'static [(Option<&'static str>, Option<usize>)],
    dtype: DType,
    ways: fn(&DynTensor) -> [Found; 4],
}

fn ways<D: Dims + Distinct, T: Element>(x: &DynTensor) -> [Found; 4] {
    let dynamic = |x: Tensor<D, T>| x.into_dyn();
    let owned = x.clone().into_typed::<D, T>().map_err(|(back, error)| {
        assert!(
            back.names() == x.names() && back.raw().shares_storage(x.raw()),
            "another tensor came back"
        );
        error
    });
    [
        x.typed::<D, T>().map(dynamic),
        owned.map(dynamic),
        Tensor::<D, T>::try_from(x).map(dynamic),
        Tensor::<D, T>::try_from(x.clone()).map(dynamic),
    ]
}

macro_rules! types {
    ($(($($dim:ident),*)),* $(,)?) => {
        vec![$(
            types!(@ ($($dim,)*) f32 F32),
            types!(@ ($($dim,)*) i64 I64),
            types!(@ ($($dim,)*) bool Bool),
        )*]
    };
    (@ ($($dim:ident,)*) $element:ident $dtype:ident) => {
        Type {
            dims: &[$(types!(% $dim)),*],
            dtype: DType::$dtype,
            ways: ways::<($($dim,)*), $element>,
        }
    };
    (% Wild) => { (None, None) };
    (% Rgb) => { (Some("Rgb"), Some(3)) };
    (% $dim:ident) => { (Some(stringify!($dim)), None) };
}

fn all_types() -> Vec<Type> {
    types![
        (),
        (N),
        (Rgb),
        (Wild),
        (N, C),
        (C, N),
        (Rgb, N),
        (N, Rgb),
        (Wild, C),
        (N, Wild),
        (Rgb, Wild),
        (Wild, Wild),
        (N, C, Rgb),
        (N, Wild, Rgb),
        (Wild, Wild, C),
        (Wild, Wild, Wild),
    ]
}

/// Returns a tensor that matches the type, or nearly does.
fn near(of: &Type, draw: &mut Draw) -> DynTensor {
    const NAMES: [&str; 4] = ["N", "C", "Rgb", "H"];
    let mut rank = of.dims.len();
    if draw.chance(10) {
        rank = draw.below(5);
    }
    let mut left: Vec<&str> = NAMES.to_vec();
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut shape = Vec::new();
    for dim in 0..rank {
        let (name, size) = of.dims.get(dim).copied().unwrap_or_default();
        let name = match name.filter(|name| left.contains(name) && !draw.chance(10)) {
            Some(name) => Some(name),
            None => (!draw.chance(40)).then(|| left[draw.below(left.len())]),
        };
        left.retain(|other| Some(*other) != name);
        names.push(name);
        shape.push(match size.filter(|_| !draw.chance(15)) {
            Some(size) => size,
            None => draw.below(5),
        });
    }
    let dtype = if draw.chance(85) {
        of.dtype
    } else {
        [DType::F32, DType::I64, DType::Bool, DType::F64][draw.below(4)]
    };
    let names: Names = names
        .into_iter()
        .map(|name| name.map(Name::from_static))
        .collect();
    // Sometimes a view, with strides of a different order.
    let turned: Vec<usize> = shape.iter().rev().copied().collect();
    let x = if draw.chance(50) {
        DynTensor::ones(&shape, ())
    } else {
        DynTensor::ones(&turned, ()).and_then(|x| {
            let order: Vec<i64> = (0..rank as i64).rev().collect();
            x.permute(&order[..])
        })
    };
    let x = x.and_then(|x| x.to_dtype(dtype)).expect("a small tensor");
    DynTensor::from_parts(x.into_parts().0, names).expect("names of their own")
}

/// Returns the error that a conversion must give, and the two texts it must contain: what the type
/// expects and what the tensor has.
fn wanted(of: &Type, x: &DynTensor) -> Option<(ErrorKind, [String; 2])> {
    if x.rank() != of.dims.len() {
        let has = format!("has {} dims", x.rank());
        let wants: Vec<&str> = of.dims.iter().map(|dim| dim.0.unwrap_or("_")).collect();
        return Some((
            ErrorKind::Rank,
            [has, format!("the type has dims ({}", wants.join(", "))],
        ));
    }
    for ((name, _), own) in of.dims.iter().zip(x.names()) {
        match (name, own) {
            (Some(name), Some(own)) if own != name => {
                return Some((
                    ErrorKind::NameMismatch,
                    [format!("`{own}`"), format!("`{name}`")],
                ));
            }
            (Some(name), None) => {
                let has = "a dim without a name".to_owned();
                return Some((ErrorKind::UnnamedDim, [has, format!("`{name}`")]));
            }
            _ => {}
        }
    }
    if x.dtype() != of.dtype {
        let has = format!("the elements are {}", x.dtype());
        return Some((ErrorKind::DType, [has, format!("not {}", of.dtype)]));
    }
    let sizes = of.dims.iter().zip(x.shape());
    let mut wrong = sizes.filter_map(|(dim, size)| Some((dim.1?, *size)));
    wrong.find(|(wants, has)| wants != has).map(|(wants, has)| {
        let has = format!("size {has}");
        (ErrorKind::Shape, [has, format!("says {wants}")])
    })
}

fn check(of: &Type, x: &DynTensor) -> Option<ErrorKind> {
    let wanted = wanted(of, x);
    for found in (of.ways)(x) {
        match (&found, &wanted) {
            (Ok(y), None) => {
                assert_eq!(
                    (y.names(), y.shape(), y.strides(), y.dtype()),
                    (x.names(), x.shape(), x.strides(), x.dtype())
                );
                assert!(y.raw().shares_storage(x.raw()), "the elements were copied");
            }
            (Err(error), Some((kind, words))) => {
                let text = error.to_string();
                let said = words.iter().all(|word| text.contains(word));
                assert!(
                    error.kind() == *kind && said,
                    "{kind:?} {words:?}: {error:?}"
                );
                assert_eq!(error.op(), "typed");
                // The text shows the tensor with all its names.
                let rank = x.rank();
                let names = error.operands().first().map(|x| x.names.len());
                assert_eq!(names, Some(rank), "{text}");
            }
            (Ok(_), Some((kind, _))) => panic!("{} {:?} passes {kind:?}", x.names(), of.dims),
            (Err(error), None) => panic!("{} {:?}: {error:?}", x.names(), of.dims),
        }
    }
    wanted.map(|(kind, _)| kind)
}

#[test]
fn each_part_of_a_type_is_checked() {
    let seed = std::env::var("NOMINA_SEED").ok();
    let seed = seed.and_then(|seed| seed.parse().ok()).unwrap_or(20_262);
    let mut draw = Draw::new(seed);
    let mut counts = std::collections::BTreeMap::new();
    for of in &all_types() {
        for _ in 0..200 {
            let x = near(of, &mut draw);
            *counts.entry(format!("{:?}", check(of, &x))).or_insert(0) += 1;
        }
    }
    println!("seed {seed}: {counts:?}");
    for kind in [
        "None",
        "Some(Rank)",
        "Some(NameMismatch)",
        "Some(UnnamedDim)",
        "Some(DType)",
        "Some(Shape)",
    ] {
        assert!(
            counts.get(kind).is_some_and(|count| *count > 50),
            "a poor draw: {counts:?}"
        );
    }
}

#[test]
fn an_owned_tensor_is_written_to_without_a_copy() -> Result<()> {
    let x = DynTensor::zeros(&[2, 3], names!["N", "C"])?;
    let place = x.raw().as_ptr();
    let Ok(mut x) = x.into_typed::<(N, C), f32>() else {
        panic!("the type is right");
    };
    x.fill_(1.0);
    assert_eq!(
        (x.to_dyn().raw().as_ptr(), x.to_vec()),
        (place, vec![1.0; 6])
    );
    // A shared buffer is copied before it changes.
    let d = x.into_dyn();
    let mut y: Tensor<(Wild, C)> = (&d).try_into()?;
    y.fill_(2.0);
    assert_eq!(d.to_vec::<f32>()?, [1.0; 6]);
    assert_eq!(y.names(), names!["N", "C"]);
    Ok(())
}
