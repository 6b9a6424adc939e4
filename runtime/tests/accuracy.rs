//! The accuracy of elementwise operators, compared with exact results.
//!
//! Whole tensors, contiguous and strided, go through the loops of the current instruction set (selected by
//! `NOMINA_SIMD`). `f32` and `f64` are compared with tables of exact results (from `scripts/special_tables.py`), and
//! `f32` also with the operator in `f64`, which the tables have verified, at numbers from its whole range; 16-bit
//! floats are compared everywhere.

use std::fmt::{Display, Write};
use std::path::PathBuf;

use half::{bf16, f16};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::Element;
use nomina_core::op::Op;
use nomina_runtime::DynTensor;
use num_complex::Complex;

/// Functions accurate to 2 units in the last place, in `f32` and `f64`, except some of [`WIDER`]; the others are
/// accurate to 4 and 8.
const VECTOR: &[&str] = &[
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "tanh",
    "sigmoid",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "erf",
    "erfc",
    "erfinv",
    "rsqrt",
    "sqrt",
    "reciprocal",
    "pow",
    "gelu",
    "gelu_tanh",
    "silu",
    "mish",
    "logsigmoid",
    "softplus",
    "ndtr",
    "asin",
    "acos",
    "atan",
    "atan2",
    "asinh",
    "acosh",
    "atanh",
    "hypot",
    "xlogy",
    "xlog1py",
    "entr",
];

/// Functions accurate in `f64` to 4 units in the last place at the numbers of the tables; `gelu` and `ndtr` to 5
/// elsewhere.
const WIDER: &[&str] = &["erfc", "gelu", "mish", "ndtr"];

/// Functions with zeros that are not floats: close to a zero the absolute error counts.
const CROSSING: &[&str] = &[
    "lgamma", "digamma", "sinc", "logit", "entr", "log_ndtr", "ndtri",
];

/// A function with a table: an operator, and an argument that selects one of its functions.
#[derive(Clone, Copy)]
struct Function<'a> {
    name: &'a str,
    op: Op,
    /// The integer that it takes first.
    order: Option<i64>,
}

impl<'a> Function<'a> {
    fn new(name: &'a str) -> Self {
        let op = name.strip_suffix("_tanh").unwrap_or(name);
        let op = Op::ALL.iter().copied().find(|one| one.name() == op);
        let op = op.unwrap_or_else(|| panic!("{name}: no such operator"));
        Self {
            name,
            op,
            order: None,
        }
    }

    /// Returns the results for columns of numbers, which are contiguous or strided.
    fn of<T: Element>(self, columns: &[Vec<T>], apart: bool) -> Vec<T> {
        let tensor = |column: &Vec<T>| {
            let x = DynTensor::from_vec(column.clone(), &[column.len()], ()).unwrap();
            let x = if apart {
                let pair = DynTensor::stack(&[&x, &x], 1, None).unwrap();
                pair.select(1, 1).unwrap()
            } else {
                x
            };
            Value::Tensor(x)
        };
        let order = self.order.map(Value::from);
        let args = order
            .into_iter()
            .chain(columns.iter().map(tensor))
            .collect();
        let kwargs = match self.name {
            "gelu_tanh" => vec![("approximate".to_owned(), Value::from("tanh"))],
            _ => vec![],
        };
        let bound = Bound::new(self.op, args, kwargs).unwrap();
        match invoke(self.op, Form::Function, bound) {
            Ok(Value::Tensor(x)) => x.to_vec::<T>().unwrap(),
            other => panic!("{}: {other:?}", self.name),
        }
    }
}

fn tables() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/special")
}

/// Returns the names of all tables, of complex or of real functions.
fn names(complex: bool) -> Vec<String> {
    let files = std::fs::read_dir(tables()).unwrap();
    let stem = |file: PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
    let mut all: Vec<String> = files.map(|file| stem(file.unwrap().path())).collect();
    // It takes an integer first, and has a separate test.
    all.retain(|name| name.starts_with("complex_") == complex && name != "polygamma");
    all.sort();
    assert!(all.len() > 20, "{all:?}");
    all
}

/// A real dtype.
trait Float: Element + PartialEq + Display {
    /// The hexadecimal digits of its bits.
    const DIGITS: usize;
    fn parse(hex: &str) -> Self;
    fn wide(self) -> f64;
    /// Returns the nearest number.
    fn narrow(wide: f64) -> Self;
    /// Returns the index in the order of all floats; both zeros have 0.
    fn rank(self) -> i64;
}

macro_rules! float {
    ($($t:ident $bits:ident $signed:ident: $wide:expr, $narrow:expr;)*) => {$(
        impl Float for $t {
            const DIGITS: usize = size_of::<$t>() * 2;
            fn parse(hex: &str) -> Self {
                match hex {
                    "nan" => Self::NAN,
                    hex => Self::from_bits($bits::from_str_radix(hex, 16).unwrap()),
                }
            }
            fn wide(self) -> f64 {
                let wide: fn($t) -> f64 = $wide;
                wide(self)
            }
            fn narrow(wide: f64) -> Self {
                let narrow: fn(f64) -> $t = $narrow;
                narrow(wide)
            }
            fn rank(self) -> i64 {
                let bits = self.to_bits() as $signed;
                i64::from(if bits < 0 { $signed::MIN - bits } else { bits })
            }
        }
    )*};
}
float! {
    f16 u16 i16: |x| x.to_f64(), f16::from_f64;
    bf16 u16 i16: |x| x.to_f64(), bf16::from_f64;
    f32 u32 i32: f64::from, |x| x as f32;
    f64 u64 i64: |x| x, |x| x;
}

/// Returns the distance in units in the last place; NaN equals only NaN.
fn apart<T: Float>(got: T, want: T) -> u64 {
    match (got.wide().is_nan(), want.wide().is_nan()) {
        (true, true) => 0,
        (false, false) => got.rank().abs_diff(want.rank()),
        _ => u64::MAX,
    }
}

/// The observations on a function.
#[derive(Default)]
struct Seen {
    count: usize,
    worst: u64,
    wrong: String,
}

impl Seen {
    fn check<T: Float>(&mut self, inputs: &[T], got: T, want: T, limit: u64, granted: f64) {
        self.count += 1;
        let scale = inputs.iter().map(|x| x.wide().abs()).fold(1.0, f64::max);
        if (got.wide() - want.wide()).abs() <= granted * scale {
            return;
        }
        let distance = apart(got, want);
        self.worst = self.worst.max(distance);
        if distance > limit && self.wrong.len() < 400 {
            let inputs: Vec<f64> = inputs.iter().map(|x| x.wide()).collect();
            let (got, want) = (got.wide(), want.wide());
            let _ = writeln!(
                self.wrong,
                "    {inputs:?}: {got:e}, not {want:e}: {distance}"
            );
        }
    }

    fn report(&self, what: &str, failed: &mut String) {
        println!(
            "{what:<20} {:>6} numbers, at most {:>3} apart",
            self.count, self.worst
        );
        if self.count < 20 || !self.wrong.is_empty() {
            let _ = write!(failed, "  {what}, {} numbers:\n{}", self.count, self.wrong);
        }
    }
}

/// Returns the error allowed close to a zero, per max(1, |x|).
fn granted(name: &str) -> f64 {
    if CROSSING.contains(&name) {
        1.0 / f64::from(1 << 24)
    } else {
        -1.0
    }
}

fn table(name: &str) -> String {
    std::fs::read_to_string(tables().join(name).with_extension("csv")).unwrap()
}

/// Returns the cells of a table's lines for a dtype.
fn lines_of<T: Float>(text: &str) -> Vec<Vec<&str>> {
    let lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    lines.filter(|cells| cells[0].len() == T::DIGITS).collect()
}

/// Compares a function with its table.
fn by_table<T: Float>(name: &str, limit: u64, near_zero: f64, failed: &mut String) {
    let text = table(name);
    let lines = lines_of::<T>(&text);
    let marked = |cells: &[&str]| usize::from(cells.last() == Some(&"z"));
    let count = lines[0].len() - marked(&lines[0]) - 1;
    let column = |i: usize| lines.iter().map(|cells| T::parse(cells[i])).collect();
    let columns: Vec<Vec<T>> = (0..count).map(column).collect();
    let function = Function::new(name);
    let mut seen = Seen::default();
    for strided in [false, true] {
        let found = function.of(&columns, strided);
        for (i, cells) in lines.iter().enumerate() {
            let inputs: Vec<T> = columns.iter().map(|column| column[i]).collect();
            let granted = if marked(cells) == 1 { near_zero } else { -1.0 };
            seen.check(&inputs, found[i], T::parse(cells[count]), limit, granted);
        }
    }
    seen.report(&format!("{name} {}", T::DTYPE), failed);
}

#[test]
fn real_functions_meet_their_tables() {
    let mut failed = String::new();
    for name in names(false) {
        let limit = if VECTOR.contains(&&*name) { 2 } else { 4 };
        by_table::<f32>(&name, limit, 1.0 / f64::from(1 << 24), &mut failed);
        let limit = match () {
            () if WIDER.contains(&&*name) => 4,
            () if VECTOR.contains(&&*name) => 2,
            () => 8,
        };
        by_table::<f64>(&name, limit, f64::EPSILON, &mut failed);
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// Compares `polygamma`, whose table has the order in the second column.
fn by_order<T: Float>(limit: u64, failed: &mut String) {
    let text = table("polygamma");
    let lines = lines_of::<T>(&text);
    let mut seen = Seen::default();
    for order in 1..=6_i64 {
        let of_it = |cells: &&Vec<&str>| T::parse(cells[1]).wide() == order as f64;
        let some: Vec<&Vec<&str>> = lines.iter().filter(of_it).collect();
        let inputs: Vec<T> = some.iter().map(|cells| T::parse(cells[0])).collect();
        let function = Function {
            order: Some(order),
            ..Function::new("polygamma")
        };
        for strided in [false, true] {
            let found = function.of(std::slice::from_ref(&inputs), strided);
            for (i, cells) in some.iter().enumerate() {
                seen.check(&[inputs[i]], found[i], T::parse(cells[2]), limit, -1.0);
            }
        }
    }
    assert_eq!(seen.count, 2 * lines.len(), "an order is missing");
    seen.report(&format!("polygamma {}", T::DTYPE), failed);
}

#[test]
fn polygamma_meets_its_table() {
    let mut failed = String::new();
    by_order::<f32>(4, &mut failed);
    by_order::<f64>(8, &mut failed);
    assert!(failed.is_empty(), "\n{failed}");
}

/// Compares functions of two numbers at special values, with the standard library or with their definition.
fn at_the_ends<T: Float>(near_zero: f64, failed: &mut String) {
    let sum = |x: f64, y: f64, of_difference: fn(f64) -> f64| match (x, y) {
        _ if x.is_nan() || y.is_nan() => f64::NAN,
        _ if x == y && x.is_infinite() => x,
        _ => x.max(y) + of_difference(-(x - y).abs()),
    };
    let wanted = |name: &str, x: f64, y: f64| match name {
        "atan2" => x.atan2(y),
        "hypot" => x.hypot(y),
        "pow" => x.powf(y),
        "logaddexp" => sum(x, y, |d| d.exp().ln_1p()),
        _ => sum(x, y, |d| d.exp2().ln_1p() / std::f64::consts::LN_2),
    };
    let ends = [
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        3.0,
    ];
    let pairs = ends.iter().flat_map(|&x| ends.map(|y| [x, y]));
    let pairs: Vec<[f64; 2]> = pairs.collect();
    let columns = [0, 1].map(|i| pairs.iter().map(|pair| T::narrow(pair[i])).collect());
    for name in ["atan2", "hypot", "pow", "logaddexp", "logaddexp2"] {
        let function = Function::new(name);
        let mut seen = Seen::default();
        for strided in [false, true] {
            let found = function.of(&columns, strided);
            for (i, &[x, y]) in pairs.iter().enumerate() {
                let inputs = [columns[0][i], columns[1][i]];
                seen.check(
                    &inputs,
                    found[i],
                    T::narrow(wanted(name, x, y)),
                    4,
                    near_zero,
                );
            }
        }
        seen.report(&format!("{name} {}", T::DTYPE), failed);
    }
}

#[test]
fn two_numbers_that_are_not_usual() {
    let mut failed = String::new();
    at_the_ends::<f32>(1.0 / f64::from(1 << 24), &mut failed);
    at_the_ends::<f64>(f64::EPSILON, &mut failed);
    assert!(failed.is_empty(), "\n{failed}");
}

/// Compares a function with its result in `f64`, at numbers from the whole range.
fn by_double<T: Float>(name: &str, inputs: &[T], limit: u64, granted: f64, failed: &mut String) {
    let function = Function::new(name);
    let wide = inputs.iter().map(|x| x.wide()).collect();
    let wanted = function.of::<f64>(&[wide], false);
    let mut seen = Seen::default();
    for strided in [false, true] {
        let found = function.of(&[inputs.to_vec()], strided);
        for (i, &x) in inputs.iter().enumerate() {
            seen.check(&[x], found[i], T::narrow(wanted[i]), limit, granted);
        }
    }
    seen.report(&format!("{name} {}", T::DTYPE), failed);
}

/// Returns the functions of one number.
fn unary() -> Vec<String> {
    const TWO: &[&str] = &[
        "atan2",
        "hypot",
        "logaddexp",
        "logaddexp2",
        "pow",
        "xlog1py",
        "xlogy",
        "zeta",
    ];
    let mut all = names(false);
    all.retain(|name| !TWO.contains(&&**name));
    all
}

#[test]
fn f32_holds_everywhere() {
    let inputs: Vec<f32> = (0..=u32::MAX).step_by(99_991).map(f32::from_bits).collect();
    let mut failed = String::new();
    for name in unary() {
        let limit = if VECTOR.contains(&&*name) { 2 } else { 4 };
        by_double(&name, &inputs, limit, granted(&name), &mut failed);
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// Computed in `f32` and rounded once: off by at most one neighbour.
#[test]
fn sixteen_bits_hold_at_every_number() {
    let mut failed = String::new();
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for name in unary() {
        by_double(&name, &halves, 1, granted(&name), &mut failed);
        by_double(&name, &brains, 1, granted(&name), &mut failed);
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// Compares with a complex table. Distances are relative to the magnitude, because a part may be close to its zero.
fn by_complex_table<T: Float>(name: &str, unit: f64, failed: &mut String)
where
    Complex<T>: Element,
{
    let text = table(name);
    let lines = lines_of::<T>(&text);
    let at = |cells: &[&str], i: usize| Complex {
        re: T::parse(cells[i]),
        im: T::parse(cells[i + 1]),
    };
    let inputs: Vec<Complex<T>> = lines.iter().map(|cells| at(cells, 0)).collect();
    let function = Function::new(name.trim_start_matches("complex_"));
    let mut worst = 0.0_f64;
    for strided in [false, true] {
        let found = function.of(std::slice::from_ref(&inputs), strided);
        for (i, cells) in lines.iter().enumerate() {
            let wide = |z: Complex<T>| Complex::new(z.re.wide(), z.im.wide());
            let (got, want) = (wide(found[i]), wide(at(cells, 2)));
            let error = (got - want).norm() / want.norm() / unit;
            worst = if error.is_nan() {
                f64::INFINITY
            } else {
                worst.max(error)
            };
        }
    }
    println!(
        "{name:<20} {} {:>4} numbers, at most {worst:.2} apart",
        T::DTYPE,
        lines.len()
    );
    if worst > 8.0 || lines.len() < 20 {
        let _ = writeln!(failed, "  {name}: {worst} of {} numbers", lines.len());
    }
}

#[test]
fn complex_functions_meet_their_tables() {
    let mut failed = String::new();
    for name in names(true) {
        by_complex_table::<f32>(&name, 1.0 / f64::from(1 << 24), &mut failed);
        by_complex_table::<f64>(&name, f64::EPSILON, &mut failed);
    }
    assert!(failed.is_empty(), "\n{failed}");
}

/// Elements beyond the range of the fast functions are recomputed, from operands that must still be there.
#[test]
fn in_place_is_the_same_beyond_the_fast_functions() {
    let numbers: Vec<f64> = (0..600).map(|i| 1.0 - 0.5_f64.powi(i % 40 + 1)).collect();
    let angles: Vec<f64> = numbers.iter().map(|x| x * 1e9).collect();
    let of = |data: &[f64]| DynTensor::from_vec(data.to_vec(), &[data.len()], ()).unwrap();
    let (mut x, mut angle) = (of(&numbers), of(&angles));
    let wanted = [x.erfinv(), angle.sin()].map(Result::unwrap);
    x.erfinv_().unwrap();
    angle.sin_().unwrap();
    for (found, wanted) in [x, angle].iter().zip(&wanted) {
        assert!(found.equal(wanted).unwrap());
    }
}
