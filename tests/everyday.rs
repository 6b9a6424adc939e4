//! `& | ^ !` of masks and integers, operators of dynamic tensors, integers of any type, defaults of options.

use nomina::prelude::*;
use nomina::{DType, DynTensor, ErrorKind, Result};

dims! { N, C }

const CELLS: [(bool, bool); 4] = [(false, false), (false, true), (true, false), (true, true)];

#[test]
fn masks_combine_owned_and_borrowed() {
    let m = Tensor::<(N,), _>::from_vec(CELLS.map(|c| c.0).to_vec(), [4]).unwrap();
    let n = Tensor::<(N,), _>::from_vec(CELLS.map(|c| c.1).to_vec(), [4]).unwrap();
    let (and, or, xor) = (
        CELLS.map(|(a, b)| a & b),
        CELLS.map(|(a, b)| a | b),
        CELLS.map(|(a, b)| a ^ b),
    );
    for found in [
        &m & &n,
        m.clone() & &n,
        &m & n.clone(),
        m.clone() & n.clone(),
    ] {
        assert_eq!(found.to_vec(), and);
    }
    for found in [
        &m | &n,
        m.clone() | &n,
        &m | n.clone(),
        m.clone() | n.clone(),
    ] {
        assert_eq!(found.to_vec(), or);
    }
    for found in [
        &m ^ &n,
        m.clone() ^ &n,
        &m ^ n.clone(),
        m.clone() ^ n.clone(),
    ] {
        assert_eq!(found.to_vec(), xor);
    }
    assert_eq!((!&m).to_vec(), CELLS.map(|c| !c.0));
    assert_eq!((&m & true).to_vec(), CELLS.map(|c| c.0));
    let mut own = m.clone();
    own &= &n;
    own |= !&m;
    own ^= true;
    assert_eq!(own.to_vec(), CELLS.map(|(a, b)| !((a & b) | !a)));
    assert_eq!(m.to_vec(), CELLS.map(|c| c.0));
}

#[test]
fn names_unify_and_integers_have_bits() {
    let x = tensor!([[1, 2], [3, 4]]; N, C);
    let y = tensor!([3, 6]; C);
    let found: Tensor<(N, C), i64> = &x & &y;
    assert_eq!(found.to_vec(), [1, 2, 3, 4]);
    assert_eq!((&x | &y).to_vec(), [3, 6, 3, 6]);
    assert_eq!((&x ^ 1).to_vec(), [0_i64, 3, 2, 5]);
    // Dtypes promote as in PyTorch.
    let small = Tensor::<(C,), u8>::from_array([255, 1]);
    let wide: Tensor<(N, C), i64> = &x & &small;
    assert_eq!(wide.to_vec(), [1, 0, 3, 0]);
    let mask = x.gt(1) & x.lt(4);
    assert_eq!(x.masked_fill(&!mask, 0).to_vec(), [0, 2, 3, 0]);
}

#[test]
fn dynamic_operators_return_results() -> Result<()> {
    let x = DynTensor::from_vec(vec![1.0_f64, 2.0, 3.0, 4.0], &[2, 2], ["N", "C"])?;
    let y = DynTensor::from_vec(vec![10.0_f64, 20.0], &[2], ["C"])?;
    let is = |found: Result<DynTensor>, wanted: [f64; 4]| {
        let found = found.unwrap();
        assert_eq!(
            (found.to_vec::<f64>().unwrap(), found.names()),
            (wanted.to_vec(), x.names())
        );
    };
    let sum = [11.0, 22.0, 13.0, 24.0];
    is(&x + &y, sum);
    is(x.clone() + &y, sum);
    is(&x + y.clone(), sum);
    is(x.clone() + y.clone(), sum);
    is(&y + &x, sum);
    is(&x - &y, [-9.0, -18.0, -7.0, -16.0]);
    is(&x * 2.0, [2.0, 4.0, 6.0, 8.0]);
    is(2.0 * &x, [2.0, 4.0, 6.0, 8.0]);
    is(1 - &x, [0.0, -1.0, -2.0, -3.0]);
    is(12.0 / x.clone(), [12.0, 6.0, 4.0, 3.0]);
    is(&x / 2, [0.5, 1.0, 1.5, 2.0]);
    is(-&x, [-1.0, -2.0, -3.0, -4.0]);
    is((2.0 * (&x + &y)?)? / 2.0, sum);
    let (m, n) = (x.gt(1.0)?, x.lt(4.0)?);
    let bits = |found: Result<DynTensor>| found.unwrap().to_vec::<bool>().unwrap();
    assert_eq!(bits(&m & &n), [false, true, true, false]);
    assert_eq!(bits(&m | n.clone()), [true; 4]);
    assert_eq!(bits(m.clone() ^ &n), [true, false, false, true]);
    assert_eq!(bits(!&m), [true, false, false, false]);
    assert_eq!(bits(!m), [true, false, false, false]);

    let turned = x.align_to(["C", "N"])?;
    let error = (&x + &turned).unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::NameMismatch, "add"));
    assert_eq!((&x & &y).unwrap_err().kind(), ErrorKind::DType);
    Ok(())
}

#[test]
fn integers_of_any_type_become_i64() {
    let ids: Vec<u32> = vec![5, u32::MAX, 0];
    let x = Tensor::<(N,), i64>::from_integers(&ids, [3]).unwrap();
    assert_eq!(x.to_vec(), [5, 4_294_967_295, 0]);
    let x = Tensor::<(N, C), _>::from_integers(&[1_u16, 2], (N.of(1), C.of(2))).unwrap();
    assert_eq!((x.to_vec(), x.dtype()), (vec![1, 2], DType::I64));
    let x = DynTensor::from_integers(&[7_usize], &[1], ["N"]).unwrap();
    assert_eq!(x.to_vec::<i64>().unwrap(), [7]);
    let error = DynTensor::from_integers(&[1, u64::MAX], &[2], ["N"]).unwrap_err();
    assert_eq!(
        (error.kind(), error.op()),
        (ErrorKind::Argument, "from_integers")
    );
    assert!(error.to_string().contains("position 1"), "{error}");
    let error = Tensor::<(N,), i64>::from_integers(&ids, [2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn options_have_defaults() {
    fn check<T: Default>() {}
    macro_rules! check {
        ($($options:ty),* $(,)?) => { $(check::<$options>();)* };
    }
    use nomina::*;
    check!(
        AddOptions,
        AddcdivOptions,
        AddcmulOptions,
        AddmmOptions,
        AlphaDropoutOptions,
        AttentionOptions,
        AvgPoolOptions<2>,
        BatchNormOptions<'_, (C,), f32>,
        BinaryCrossEntropyOptions<'_, (), f32>,
        BincountOptions,
        CdistOptions,
        CeluOptions,
        CloseOptions,
        ColumnsOptions,
        ConvOptions<2>,
        ConvTransposeOptions<2>,
        CosineSimilarityOptions,
        CovOptions<'_, N>,
        CrossEntropyOptions<'_, (C,), f32>,
        DiagEmbedOptions,
        DiagonalOptions,
        DiffOptions,
        DivOptions,
        DropoutOptions,
        EluOptions,
        EmbeddingOptions,
        GaussianNllLossOptions,
        GeluOptions,
        HammingOptions,
        HardshrinkOptions,
        HardtanhOptions,
        HingeEmbeddingLossOptions,
        HistcOptions,
        HuberLossOptions,
        IndexAddOptions,
        IndexPutOptions,
        InterpOptions,
        InterpolateOptions,
        IsinOptions,
        KaiserOptions,
        KlDivOptions,
        LayerNormOptions<'_, (C,), f32>,
        LeakyReluOptions,
        LikeOptions,
        LinearOptions,
        LocalResponseNormOptions,
        LogitOptions,
        LogspaceOptions,
        LpPoolOptions<2>,
        MarginOptions,
        MaxPoolOptions<2>,
        MeshgridOptions,
        MultinomialOptions,
        NanToNumOptions,
        NormOptions,
        NormalizeOptions,
        PadOptions,
        PairwiseDistanceOptions,
        PoissonNllLossOptions,
        QuantileOptions,
        ReduceOptions<f64>,
        RmsNormOptions<'_, (C,), f32>,
        Rot90Options,
        RoundOptions,
        RreluOptions,
        ScatterOptions,
        ScatterReduceOptions,
        SearchOptions,
        SmoothL1LossOptions,
        SoftplusOptions,
        SoftshrinkOptions,
        SortOptions,
        TopkOptions,
        TrapezoidOptions,
        TripletMarginLossOptions,
        VanderOptions,
        VarOptions,
        WindowOptions,
        FftOptions,
        TriangularOptions,
    );
    assert_eq!(DivOptions::default().rounding_mode, RoundingMode::Trunc);
}

#[test]
fn a_reduction_of_a_loss_needs_no_other_types() {
    use nomina::reduction;
    let x = tensor!([[0.5, 0.25], [0.25, 0.5]]; N, C);
    let y = tensor!([[1., 1.], [0., 0.]]; N, C);
    let each = x.binary_cross_entropy_with(&y, reduction::None, default());
    let sum: Tensor<()> = x.binary_cross_entropy_with(&y, reduction::Sum, default());
    let wanted = [0.5_f32.ln(), 0.25_f32.ln(), 0.75_f32.ln(), 0.5_f32.ln()].map(|v| -v);
    for (a, b) in each.to_vec().into_iter().zip(wanted) {
        assert!((a - b).abs() < 1e-6, "{a}, not {b}");
    }
    assert!((sum.item() - wanted.iter().sum::<f32>()).abs() < 1e-6);
}

/// `%` is PyTorch's: the remainder has the sign of the right operand.
#[test]
fn remainders_have_the_sign_of_the_divisor() {
    let (left, right) = ([-7_i64, -3, 0, 5], [3_i64, -2, 4, -4]);
    let expected = |f: fn(i64, i64) -> i64| -> Vec<i64> {
        left.iter().zip(&right).map(|(&x, &y)| f(x, y)).collect()
    };
    let floored = |x: i64, y: i64| x - y * (x as f64 / y as f64).floor() as i64;
    let (x, y) = (tensor!([-7, -3, 0, 5]; N), tensor!([3, -2, 4, -4]; N));
    for found in [
        &x % &y,
        x.clone() % &y,
        &x % y.clone(),
        x.clone() % y.clone(),
    ] {
        assert_eq!(found.to_vec(), expected(floored));
    }
    let months: Tensor<(N,), i64> = &tensor!([0, 11, 12, 25]; N) % 12;
    assert_eq!(months.to_vec(), [0, 11, 0, 1]);
    assert_eq!((-5 % &y).to_vec(), right.map(|y| floored(-5, y)));
    let mut own = x.clone();
    own %= 4;
    assert_eq!(own.to_vec(), left.map(|x| floored(x, 4)));
    let angle = tensor!([-90., 370.]; N) % 360.;
    assert_eq!(angle.to_vec(), [270.0, 10.0]);
    assert_eq!((7.5 % tensor!([2.0]; N)).to_vec(), [1.5]);
    let any = (&x.to_dyn() % 4).unwrap();
    assert_eq!(any.to_vec::<i64>().unwrap(), left.map(|x| floored(x, 4)));
    let any = (9_i64 % &y.to_dyn()).unwrap();
    assert_eq!(any.to_vec::<i64>().unwrap(), right.map(|y| floored(9, y)));
    let (x, y) = (tensor!([[-1., 5.]]; N, C).with_grad(), tensor!([3., 3.]; C));
    (&x % &y).sum(..).backward();
    assert_eq!(x.grad().unwrap().to_vec(), [1.0, 1.0]);
}
