//! The public API as users write it, second part: writing, converting, elements, text, failures.

use nomina::prelude::*;

dims! { N, C, A }
dims! { Rgb = 3 }

fn counted(shape: [usize; 2]) -> Tensor<(N, C)> {
    Tensor::from_fn(shape, |i| (i[0] * shape[1] + i[1]) as f32)
}

#[test]
fn in_place_and_out() {
    let bias = tensor!([10., 20., 30.]; C);
    let mut x = counted([2, 3]);
    x.add_(&bias).mul_(2.0);
    assert_eq!(x.to_vec(), [20., 42., 64., 26., 48., 70.]);
    x.sqrt_();
    let mut out = Tensor::<(N, C)>::zeros([2, 3]);
    counted([2, 3]).add_out(&bias, &mut out);
    assert_eq!(out.to_vec(), [10., 21., 32., 13., 24., 35.]);
    let mut sums = Tensor::<(N,)>::zeros_with::<f64>([2]);
    counted([2, 3]).sum_out(C, &mut sums);
    assert_eq!(sums.to_vec(), [3., 12.]);
    assert!(counted([2, 3]).try_add(&Tensor::<(C,)>::ones([4])).is_err());
    let mut small = Tensor::<(N, C)>::zeros([1, 3]);
    assert!(counted([2, 3]).try_add_out(&bias, &mut small).is_err());
    let mut z = counted([1, 3]);
    z.copy_(&bias).cumsum_(C);
    assert_eq!(z.to_vec(), [10., 30., 60.]);
}

#[test]
fn writing_into_a_part() {
    let mut x = counted([3, 2]);
    let before = x.clone();
    let row = tensor!([7., 8.]; C);
    x.narrow_mut(N, 1..2).fill_(0.0);
    x.select_mut(N, 0).copy_(&row);
    x.transpose_mut(N, C).select_mut(N, 2).add_(1.0);
    assert_eq!(x.to_vec(), [7., 8., 0., 0., 5., 6.]);
    assert_eq!(before.to_vec(), [0., 1., 2., 3., 4., 5.]);
    let part = x.narrow(N, 0..1);
    x.fill_(1.0);
    assert_eq!(part.to_vec(), [7., 8.]);
}

#[test]
fn converting() {
    let x = counted([2, 3]);
    assert_eq!(x.to::<f64>().dtype(), DType::F64);
    assert_eq!(
        x.to::<bool>().to_vec(),
        [false, true, true, true, true, true]
    );
    assert!(x.cpu().equal(&x));
    assert!(x.try_to_device(Device::from(0)).is_err());
    assert_eq!(x.sum(..).item(), 15.0);
    let d: DynTensor = x.clone().into_dyn();
    let back = d.typed::<(N, C), f32>().unwrap();
    assert!(back.equal(&x));
    assert_eq!(d.typed::<(N,), f32>().unwrap_err().kind(), ErrorKind::Rank);
    assert_eq!(
        d.typed::<(C, N), f32>().unwrap_err().kind(),
        ErrorKind::NameMismatch
    );
    assert_eq!(
        d.typed::<(N, C), f64>().unwrap_err().kind(),
        ErrorKind::DType
    );
    assert!(d.typed::<(N, Wild), f32>().is_ok());
    let three = counted([2, 4]).rename(C, A).into_dyn();
    assert!(three.typed::<(N, C), f32>().is_err());
    assert_eq!(
        x.rename(C, Rgb)
            .narrow(N, ..1)
            .into_dyn()
            .typed::<(N, Rgb), f32>()
            .unwrap()
            .size(Rgb),
        3
    );
    assert!(counted([2, 4]).try_rename(C, Rgb).is_err());
}

#[test]
fn elements() {
    let mut x = counted([2, 3]);
    assert_eq!(x.iter().sum::<f32>(), 15.0);
    assert_eq!(
        x.indexed_iter().filter(|(i, v)| i[1] as f32 == *v).count(),
        3
    );
    assert_eq!(
        x.iter_dim(N)
            .map(|row| row.sum(C).item())
            .collect::<Vec<_>>(),
        [3., 12.]
    );
    assert_eq!(x.get((C.i(2), N.i(1))), Some(5.0));
    assert_eq!(x.get((C.i(3), N.i(1))), None);
    assert!(x.t().as_slice().is_none());
    x.as_mut_slice()[0] = 10.0;
    assert_eq!(x.as_slice().unwrap()[0], 10.0);
    assert_eq!(x.map(|v| v as i64).to_vec()[0], 10);
    let squares: Tensor<(N,), i64> = (0..3).map(|v| v * v).collect();
    assert_eq!(squares.to_vec(), [0, 1, 4]);
    let data = vec![1.0_f32; 64];
    let place = data.as_ptr();
    let back = Tensor::<(N,)>::from_vec(data, [64]).unwrap().into_vec();
    assert_eq!(back.as_ptr(), place);
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray_arrays() {
    let array = ndarray::Array2::from_shape_fn((2, 3), |(i, j)| (i * 3 + j) as f32);
    let place = array.as_ptr();
    let x: Tensor<(N, C)> = array.try_into().unwrap();
    assert_eq!(x.as_slice().unwrap().as_ptr(), place);
    assert_eq!(x.t().as_ndarray().unwrap()[[2, 1]], 5.0);
    let cube = ndarray::Array3::<f32>::zeros((1, 2, 3));
    assert!(Tensor::<(N, C)>::try_from(cube).is_err());
}

#[test]
fn showing() {
    let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    let text = x.to_string();
    assert!(text.ends_with("dims (N=2, C=3), f32"), "{text}");
    assert!(format!("{x:?}").starts_with("dims (N=2, C=3), f32: ["));
    assert!(!format!("{x:?}").contains('\n'));
}

#[test]
fn tensors_cross_threads() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Tensor<(N, C)>>();
    check::<Tensor<(Wild, C), Complex<f64>>>();
    check::<DynTensor>();
    check::<Device>();
    check::<Error>();
    const fn write<T: Send + Sync>() {}
    write::<TensorMut<'static, (N, C)>>();
}

#[test]
fn failures_name_the_operator_and_both_operands() {
    let x = counted([2, 3]);
    let y = Tensor::<(C,)>::ones([4]);
    let error = x.try_add(&y).unwrap_err();
    assert_eq!((error.op(), error.kind()), ("add", ErrorKind::Shape));
    let text = error.to_string();
    assert!(
        text.contains("(N=2, C=3)") && text.contains("(C=4,)"),
        "{text}"
    );
    let panic = std::panic::catch_unwind(|| &counted([2, 3]) + &Tensor::<(C,)>::ones([4]));
    let panic = panic.unwrap_err();
    let panic = panic.downcast_ref::<String>().expect("a text");
    assert_eq!(panic.lines().next(), text.lines().next());
}

#[test]
fn the_default_dtype_is_for_dynamic_tensors_only() {
    let x = tensor!([1, 2]; N);
    let exp = with_default_dtype(DType::F64, || x.exp());
    assert_eq!(exp.dtype(), DType::F32);
    assert_eq!(exp.to_dyn().dtype(), DType::F32);
}

#[test]
fn a_panic_points_at_the_callers_line() {
    use std::sync::Mutex;
    static PLACES: Mutex<Vec<(String, u32)>> = Mutex::new(Vec::new());
    let own = std::thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().id() == own {
            let place = info.location().expect("a place");
            PLACES
                .lock()
                .unwrap()
                .push((place.file().to_owned(), place.line()));
        }
    }));
    let (x, y) = (counted([2, 3]), Tensor::<(C,)>::ones([4]));
    let calls: [(u32, &dyn Fn()); 6] = [
        (line!(), &|| drop(&x + &y)),
        (line!(), &|| drop(x.mul(&y))),
        (line!(), &|| drop(x.clone().add_(&y).sum(C))),
        (line!(), &|| drop(x.narrow(C, 2..9))),
        (line!(), &|| drop(x.matmul(&y))),
        (line!(), &|| drop(Tensor::<(N, C)>::zeros([usize::MAX, 2]))),
    ];
    for (_, call) in &calls {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        assert!(caught.is_err());
    }
    std::panic::set_hook(before);
    let expected = calls.map(|(line, _)| (file!().to_owned(), line));
    assert_eq!(*PLACES.lock().unwrap(), expected);
}
