//! Tensors as text, compared with what NumPy prints (`scripts/record/display.py`).

use half::{bf16, f16};
use nomina::{Complex, DynTensor};
use nomina_core::{DType, Element};
use serde_json::Value as Json;

fn numbers(list: &Json) -> Vec<u64> {
    let numbers = list.as_array().expect("a list").iter();
    numbers.map(|bits| bits.as_u64().expect("bits")).collect()
}

/// Returns the recorded array as a tensor with unnamed dims.
fn array(case: &Json) -> DynTensor {
    let shape: Vec<usize> = numbers(&case["shape"])
        .iter()
        .map(|&n| n as usize)
        .collect();
    let dtype = case["dtype"].as_str().expect("a dtype");
    if let Some(step) = case["step"].as_i64() {
        let count: usize = shape.iter().product();
        let data: Vec<i64> = (0..count as i64).map(|i| i * step).collect();
        let wanted = match dtype {
            "i64" => DType::I64,
            "f32" => DType::F32,
            "f64" => DType::F64,
            "c64" => DType::C64,
            other => panic!("no steps of {other}"),
        };
        return tensor(data, &shape).to_dtype(wanted).expect("any dtype");
    }
    let bits = numbers(&case["bits"]);
    let real = |bits: u64| f32::from_bits(bits as u32);
    match dtype {
        "bool" => tensor(bits.iter().map(|&b| b != 0).collect(), &shape),
        "u8" => tensor(bits.iter().map(|&b| b as u8).collect(), &shape),
        "i8" => tensor(bits.iter().map(|&b| b as i8).collect(), &shape),
        "i16" => tensor(bits.iter().map(|&b| b as i16).collect(), &shape),
        "i32" => tensor(bits.iter().map(|&b| b as i32).collect(), &shape),
        "i64" => tensor(bits.iter().map(|&b| b as i64).collect(), &shape),
        "f16" => tensor(
            bits.iter().map(|&b| f16::from_bits(b as u16)).collect(),
            &shape,
        ),
        "bf16" => tensor(
            bits.iter().map(|&b| bf16::from_bits(b as u16)).collect(),
            &shape,
        ),
        "f32" => tensor(bits.iter().map(|&b| real(b)).collect(), &shape),
        "f64" => tensor(bits.iter().map(|&b| f64::from_bits(b)).collect(), &shape),
        "c64" => {
            let pairs = bits.chunks(2).map(|b| Complex::new(real(b[0]), real(b[1])));
            tensor(pairs.collect(), &shape)
        }
        "c128" => {
            let pairs = bits.chunks(2);
            let pairs = pairs.map(|b| Complex::new(f64::from_bits(b[0]), f64::from_bits(b[1])));
            tensor(pairs.collect(), &shape)
        }
        other => panic!("no dtype {other}"),
    }
}

fn tensor<T: Element>(data: Vec<T>, shape: &[usize]) -> DynTensor {
    DynTensor::from_vec(data, shape, ()).expect("data of the shape")
}

#[test]
fn numbers_are_written_as_numpy_prints_them() {
    let cases: Vec<Json> = include_str!("data/display.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of JSON"))
        .collect();
    let mut wrong = Vec::new();
    for case in &cases {
        let x = array(case);
        let text = match case["digits"].as_u64() {
            Some(digits) => format!("{x:.digits$}", digits = digits as usize),
            None => x.to_string(),
        };
        // A scalar is its number alone.
        let (numbers, heading) = match x.rank() {
            0 => (&text[..], ""),
            _ => text.rsplit_once('\n').expect("a closing line"),
        };
        assert!(x.rank() == 0 || heading.starts_with("dims ("), "{text}");
        let wanted = case["text"].as_str().expect("a text");
        if numbers != wanted {
            wrong.push(format!(
                "{heading} {:?}\nNumPy:\n{wanted}\nhere:\n{numbers}\n",
                case["digits"]
            ));
        }
    }
    let shown = wrong
        .iter()
        .take(12)
        .cloned()
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        wrong.is_empty(),
        "{} of {} differ\n{shown}",
        wrong.len(),
        cases.len()
    );
    assert!(cases.len() > 300, "{} cases", cases.len());
}
