//! Scans and functions of slices beside naive loops: values, gradients and errors.

use nomina::loops::{
    Batch, associative_scan, map_over, scan, try_associative_scan, try_map_over, try_scan,
};
use nomina::prelude::*;
use nomina::{ErrorKind, dynamic};

dims! { N, M, T, C, H }

type Recurrence<K> = (Tensor<(N, K), f64>, Tensor<(T, N, K), f64>);

fn close<D: Dims>(a: &Tensor<D, f64>, b: &Tensor<D, f64>) {
    assert_eq!(a.shape(), b.shape());
    for (a, b) in a.to_vec().into_iter().zip(b.to_vec()) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} and {b}");
    }
}

/// Compares the gradient of a function with central differences.
fn check_gradient<D: Dims + Distinct>(
    x: &Tensor<D, f64>,
    f: impl Fn(&Tensor<D, f64>) -> Tensor<(), f64>,
) {
    let leaf = x.clone().with_grad();
    f(&leaf).backward();
    let found = leaf.grad().unwrap().to_vec();
    let (values, step) = (x.to_vec(), 1e-6);
    for (at, found) in found.into_iter().enumerate() {
        let moved = |by: f64| {
            let mut values = values.clone();
            values[at] += by;
            let d = DynTensor::from_vec(values, x.shape(), x.names()).unwrap();
            f(&d.typed().unwrap()).item()
        };
        let wanted = (moved(step) - moved(-step)) / (2.0 * step);
        assert!(
            (found - wanted).abs() < 1e-7 * (1.0 + wanted.abs()),
            "{at}: {found} and {wanted}"
        );
    }
}

/// A recurrent layer, whose carry has no `T`.
fn recurrent(
    x: &Tensor<(N, T, C), f64>,
    start: &Tensor<(N, H), f64>,
    w: &Tensor<(H, C), f64>,
    u: &Tensor<(Prime<H>, H), f64>,
) -> Recurrence<H> {
    let step = |h: Tensor<(N, H), f64>, x: Tensor<(N, C), f64>| {
        let past: Tensor<(N, H), f64> = h.contract(u, H).rename(Prime(H), H);
        let h: Tensor<(N, H), f64> = (x.contract(w, C) + past).tanh();
        (h.clone(), h)
    };
    scan(T, step, start.clone(), x)
}

#[test]
fn a_scan_is_a_loop_and_so_are_its_gradients() {
    with_seed(1, || {
        let x = Tensor::<(N, T, C), f64>::randn([2, 5, 3]);
        let start = Tensor::<(N, H), f64>::randn([2, 4]);
        let w = Tensor::<(H, C), f64>::randn([4, 3]);
        let u = Tensor::<(Prime<H>, H), f64>::randn([4, 4]);
        let (last, all) = recurrent(&x, &start, &w, &u);
        let (mut h, numbers) = (start.to_vec(), [x.to_vec(), w.to_vec(), u.to_vec()]);
        for t in 0..5 {
            let before = h.clone();
            for n in 0..2 {
                for k in 0..4 {
                    let own: f64 = (0..3)
                        .map(|c| numbers[0][(n * 5 + t) * 3 + c] * numbers[1][k * 3 + c])
                        .sum();
                    let past: f64 = (0..4)
                        .map(|j| numbers[2][k * 4 + j] * before[n * 4 + j])
                        .sum();
                    h[n * 4 + k] = (own + past).tanh();
                    let found = all.select(T, t).select(N, n).select(H, k).item();
                    assert!((found - h[n * 4 + k]).abs() < 1e-12);
                }
            }
        }
        close(&last, &all.select(T, -1));

        // Weights of the sum, so that no gradient is symmetric.
        let seed = Tensor::<(T, N, H), f64>::randn([5, 2, 4]);
        let loss = |(last, all): Recurrence<H>| (all * &seed).sum(..) + last.square().sum(..);
        check_gradient(&x, |x| loss(recurrent(x, &start, &w, &u)));
        check_gradient(&start, |start| loss(recurrent(&x, start, &w, &u)));
        check_gradient(&w, |w| loss(recurrent(&x, &start, w, &u)));
        check_gradient(&u, |u| loss(recurrent(&x, &start, &w, u)));
    });
}

#[test]
fn a_carry_may_be_of_any_type() {
    let x = tensor!([[1, 2], [3, 4], [5, 6]]; T, C);
    let mask = tensor!([true, false, true]; T);
    // A count, a tensor of another dtype, and a text; two results, one of which is a number.
    let ((count, sum, text), (sums, counts)) = scan(
        T,
        |(count, sum, mut text): (i64, Tensor<(C,), i64>, String),
         (x, keep): (Tensor<(C,), i64>, Tensor<(), bool>)| {
            let sum = if keep.item() { sum + &x } else { sum };
            text.push(if keep.item() { '+' } else { '-' });
            ((count + 1, sum.clone(), text), (sum, count))
        },
        (0, tensor!([0, 0]; C), String::new()),
        (&x, &mask),
    );
    assert_eq!((count, text.as_str(), sum.to_vec()), (3, "+-+", vec![6, 8]));
    let (sums, counts): (Tensor<(T, C), i64>, Tensor<(T,), i64>) = (sums, counts);
    assert_eq!(
        (sums.to_vec(), counts.to_vec()),
        (vec![1, 2, 1, 2, 6, 8], vec![0, 1, 2])
    );
    let (total, ()) = scan(
        T,
        |total: i64, x: Tensor<(C,), i64>| (total + x.sum(C).item(), ()),
        0,
        &x,
    );
    assert_eq!(total, 21);
}

#[test]
fn an_associative_scan_equals_a_scan_for_any_number_of_slices() {
    with_seed(2, || {
        for steps in (0..=17).chain([31, 32, 33, 100]) {
            let a = Tensor::<(N, T, C), f64>::randn([2, steps, 3]);
            let b = Tensor::<(T, C), f64>::randn([steps, 3]);
            let mut calls = 0;
            let combine =
                |(a1, b1): (Tensor<(N, T, C), f64>, Tensor<(T, C), f64>),
                 (a2, b2): (Tensor<(N, T, C), f64>, Tensor<(T, C), f64>)| {
                    calls += 1;
                    (a1 + &a2, b1 * &b2)
                };
            let (sums, products) = associative_scan(T, combine, (&a, &b));
            close(&sums, &a.cumsum(T));
            close(&products, &b.cumprod(T));
            let bound = 2.0 * (steps.max(1) as f64).log2();
            assert!(
                f64::from(calls) <= bound,
                "{calls} calls for {steps} slices"
            );
        }
    });
}

/// `h = a * h + b` for all steps, which is not commutative.
fn linear(a: &Tensor<(T, C), f64>, b: &Tensor<(T, C), f64>) -> Tensor<(T, C), f64> {
    associative_scan(T, |(a1, b1), (a2, b2)| (a1 * &a2, a2 * b1 + b2), (a, b)).1
}

#[test]
fn gradients_pass_through_an_associative_scan() {
    with_seed(3, || {
        for steps in [1, 2, 5, 8] {
            let (a, b) = (
                Tensor::<(T, C), f64>::randn([steps, 2]),
                Tensor::randn([steps, 2]),
            );
            let by_scan = |a: &Tensor<(T, C), f64>, b: &Tensor<(T, C), f64>| {
                let step =
                    |h: Tensor<(C,), f64>, (a, b): (Tensor<(C,), f64>, Tensor<(C,), f64>)| {
                        let h = a * h + b;
                        (h.clone(), h)
                    };
                let (_, all): (_, Tensor<(T, C), f64>) = scan(T, step, Tensor::zeros([2]), (a, b));
                all
            };
            close(&linear(&a, &b), &by_scan(&a, &b));
            let seed = Tensor::<(T, C), f64>::randn([steps, 2]);
            if steps > 1 {
                check_gradient(&a, |a| (linear(a, &b) * &seed).sum(..));
            }
            check_gradient(&b, |b| (linear(&a, b) * &seed).sum(..));
        }
    });
}

#[test]
fn a_function_of_slices_equals_the_operators_on_all() {
    with_seed(4, || {
        let x = Tensor::<(C, N, H), f64>::randn([3, 4, 2]);
        let w = Tensor::<(N, C), f64>::randn([4, 3]);
        let f = |(x, w): (Tensor<(C, H), f64>, Tensor<(C,), f64>)| x.contract(&w, C).tanh();
        let y: Tensor<(N, H), f64> = map_over(N, f, (&x, &w));
        let whole: Tensor<(N, H), f64> = einsum!(x[C, N, H] * w[N, C] -> [N, H]).tanh();
        close(&y, &whole);
        check_gradient(&x, |x| map_over(N, f, (x, &w)).square().sum(..));
        check_gradient(&w, |w| map_over(N, f, (&x, w)).square().sum(..));

        // Over two dims, one inside the other, and with several results.
        let pairs: Tensor<(N, H), f64> = map_over(
            N,
            |x: Tensor<(C, H), f64>| map_over(H, |x: Tensor<(C,), f64>| x.amax(C).item(), &x),
            &x,
        );
        close(&pairs, &x.amax(C));
        let (sums, counts) = map_over(H, |x: Tensor<(C, N), f64>| (x.sum(N), x.numel() as i64), &x);
        let (sums, counts): (Tensor<(H, C), f64>, Tensor<(H,), i64>) = (sums, counts);
        close(&sums, &x.sum(N).align_to((H, C)));
        assert_eq!(counts.to_vec(), [12, 12]);
    });
}

#[test]
fn names_at_run_time_follow_the_same_rules() -> Result<()> {
    let x = Tensor::<(N, T), f64>::randn([2, 5]);
    let wild: Tensor<(Wild, T), f64> = x.to_dyn().typed()?;
    let (_, sums) = scan(
        T,
        |sum: Tensor<(Wild,), f64>, x: Tensor<(Wild,), f64>| {
            let sum: Tensor<(Wild,), f64> = sum + x;
            (sum.clone(), sum)
        },
        Tensor::<(N,), f64>::zeros([2]).to_dyn().typed()?,
        &wild,
    );
    let sums: Tensor<(T, Wild), f64> = sums;
    assert_eq!(sums.names(), names!["T", "N"]);
    let products: Tensor<(Wild, T), f64> = associative_scan(T, |a, b| a * b, &wild);
    assert!(products.to_dyn().equal(&x.cumprod(T).to_dyn())? || x.numel() == 10);
    assert_eq!(products.names(), names!["N", "T"]);

    let d = x.to_dyn();
    let zero = DynTensor::zeros(&[2], ["N"])?.to_dtype(DType::F64)?;
    let (last, all) = dynamic::scan(
        "T",
        |sum, x| {
            let sum = x[0].add(&sum)?;
            Ok((sum.clone(), vec![sum, x[1].mul(2.0)?]))
        },
        zero,
        &[&d, &d],
    )?;
    assert_eq!(all[0].names(), &names!["T", "N"]);
    close(
        &all[0].typed::<(T, N), f64>()?,
        &x.cumsum(T).align_to((T, N)),
    );
    close(&last.typed::<(N,), f64>()?, &x.sum(T));
    close(&all[1].typed::<(T, N), f64>()?, &(x.align_to((T, N)) * 2.0));
    let mapped = dynamic::map_over("N", |x| Ok(vec![x[0].sum(..)?]), &[&d])?;
    close(&mapped[0].typed::<(N,), f64>()?, &x.sum(T));
    let found = dynamic::associative_scan("T", |a, b| Ok(vec![a[0].add(&b[0])?]), &[&d])?;
    close(&found[0].typed::<(N, T), f64>()?, &x.cumsum(T));
    Ok(())
}

#[test]
fn mistakes_are_errors_that_name_the_loop() {
    let (x, y) = (Tensor::<(N, T)>::zeros([2, 3]), Tensor::<(T,)>::zeros([4]));
    let error = try_map_over(T, |(x, y): (Tensor<(N,)>, Tensor<()>)| x * y, (&x, &y)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("map_over: dim `T` has size 3 in the first operand and 4 in the second;"),
        "{text}"
    );
    assert!(
        text.contains("dims (N=2, T=3) and (T=4,); all tensors have one size along the dim"),
        "{text}"
    );
    // Results of several sizes.
    let mut sizes = 1..;
    let grows = |_: Tensor<(N,)>| Tensor::<(M,)>::zeros([sizes.next().unwrap()]);
    let error = try_map_over(T, grows, &x).unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::Shape, "stack"));
    // No slices.
    let none = Tensor::<(N, T)>::zeros([2, 0]);
    assert!(try_map_over(T, |x: Tensor<(N,)>| x, &none).is_err());
    let count = |n: i64, _: Tensor<(N,)>| (n + 1, n);
    let (count, counts): (i64, Tensor<(T,), i64>) = try_scan(T, count, 7, &none).unwrap();
    assert_eq!((count, counts.shape()), (7, &[0][..]));

    let error = try_associative_scan(T, |a, _| a.narrow(N, 0..1), &x).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("associative_scan: the function returned f32 with other dims"),
        "{text}"
    );
    assert!(text.contains("dims (N=1, T=1) and (N=2, T=1)"), "{text}");

    let d = x.to_dyn();
    let error = dynamic::map_over("H", |x| Ok(x.to_vec()), &[&d]).unwrap_err();
    assert!(
        error.to_string().starts_with("map_over: dim `H` not found"),
        "{error}"
    );
    let mut more = Vec::new();
    let grows = |x: &[DynTensor]| {
        more.push(x[0].clone());
        Ok(more.clone())
    };
    let error = dynamic::map_over("T", grows, &[&d]).unwrap_err();
    assert!(error.to_string().contains("2 tensors after 1"), "{error}");
    assert!(dynamic::scan("T", |(), _| Ok(((), vec![])), (), &[]).is_err());
}

/// Pictures with labels.
#[derive(Batch)]
#[batch(name = Pictures)]
struct Picture<T: Element> {
    pixels: Tensor<(C, H), T>,
    label: i64,
    about: (f32, String),
}

#[derive(Batch)]
struct Pair(Picture<f64>, Option<Vec<u8>>);

#[test]
fn structs_are_stacked_field_by_field() {
    let picture = |label: i64| Picture {
        pixels: Tensor::full([1, 2], label as f64),
        label,
        about: (0.5, format!("picture {label}")),
    };
    let pairs = vec![Pair(picture(3), None), Pair(picture(4), Some(vec![1]))];
    let PairBatch(pictures, bytes) = Batch::try_batch(pairs, N).unwrap();
    let Pictures {
        pixels,
        label,
        about,
    } = pictures.clone();
    let pixels: Tensor<(N, C, H), f64> = pixels;
    assert_eq!(pixels.to_vec(), [3.0, 3.0, 4.0, 4.0]);
    let label: Tensor<(N,), i64> = label;
    assert_eq!(label.to_vec(), [3, 4]);
    assert_eq!(
        (about.0.shape(), about.1),
        (
            &[2][..],
            vec!["picture 3".to_owned(), "picture 4".to_owned()]
        )
    );
    assert_eq!(bytes, [None, Some(vec![1])]);
    assert!(format!("{pictures:?}").starts_with("Pictures { pixels: "));
}
