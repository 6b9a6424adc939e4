//! Tensors of more than 2³¹ elements on a GPU, where positions no longer fit into 32 bits.
//!
//! The tests need 40 GiB of device memory. With less they run over few elements, which checks the tests but not the
//! device, and say so; without a device they say that.
//!
//! `cargo test --release --features cuda --test cuda_large -- --nocapture --test-threads=1`

use std::sync::{Mutex, MutexGuard, PoisonError};

use nomina::{DType, Device, DynTensor, Generator, Scalar, bf16, cuda, f16};

/// The device memory that the largest case needs, with a margin.
const NEEDED: usize = 40 << 30;

/// Serializes the cases, so that only one holds memory at a time.
static TURN: Mutex<()> = Mutex::new(());

/// A device, and the element count of a large tensor on it.
struct Here {
    device: Device,
    count: usize,
    _turn: MutexGuard<'static, ()>,
}

impl Here {
    /// Returns `None` and prints a message if there is no device.
    fn new(case: &str) -> Option<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let device = match Device::cuda(0) {
            Ok(device) => device,
            Err(error) => {
                eprintln!("{case}: left out: {error}");
                return None;
            }
        };
        cuda::trim(0).unwrap();
        let properties = cuda::properties(0).unwrap();
        let count = if properties.memory >= NEEDED {
            (1 << 31) + 17
        } else {
            eprintln!(
                "{case}: few elements only: {} has {} MiB, and many take {}",
                properties.name,
                properties.memory >> 20,
                NEEDED >> 20
            );
            10_007
        };
        Some(Self {
            device,
            count,
            _turn: turn,
        })
    }

    fn full(&self, size: &[usize], dtype: DType, value: i64, names: &[&'static str]) -> DynTensor {
        let options = DynTensor::options().device(self.device).dtype(dtype);
        let names: Vec<Option<&str>> = names.iter().copied().map(Some).collect();
        options.full(size, Scalar::Int(value), &names[..]).unwrap()
    }
}

fn number(x: &DynTensor) -> i64 {
    x.item().unwrap().to_i64()
}

/// Returns the last elements, copied to the host.
fn last(x: &DynTensor, many: usize) -> Vec<i64> {
    let start = x.numel() - many;
    let tail = x.narrow(0, start as i64, many).unwrap();
    let tail = tail.to_device(Device::Cpu).unwrap().to::<i64>().unwrap();
    tail.to_vec::<i64>().unwrap()
}

#[test]
fn filled_and_written_in_part() {
    let Some(here) = Here::new("fill") else {
        return;
    };
    let mut x = here.full(&[here.count], DType::U8, 7, &["N"]);
    assert_eq!(number(&x.sum("N").unwrap()), 7 * here.count as i64);
    let mut end = x.narrow_mut("N", here.count - 3, 2).unwrap();
    end.fill_(9).unwrap();
    assert_eq!(last(&x, 4), [7, 9, 9, 7]);
    assert_eq!(number(&x.sum("N").unwrap()), 7 * here.count as i64 + 4);
    assert_eq!(number(&x.argmax("N").unwrap()), here.count as i64 - 3);
}

#[test]
fn element_by_element() {
    let Some(here) = Here::new("elementwise") else {
        return;
    };
    let a = here.full(&[here.count], DType::U8, 200, &["N"]);
    let mut b = here.full(&[here.count], DType::U8, 50, &["N"]);
    b.narrow_mut("N", here.count - 1, 1)
        .unwrap()
        .fill_(60)
        .unwrap();
    // Bytes wrap around.
    assert_eq!(last(&a.add(&b).unwrap(), 3), [250, 250, 4]);
    assert_eq!(last(&a.lt(&b).unwrap(), 2), [0, 0]);
    drop(a);
    let wide = b.to::<f16>().unwrap();
    assert_eq!(last(&wide, 2), [50, 60]);
    assert_eq!(
        last(&wide.add(1).unwrap().to::<bf16>().unwrap(), 2),
        [51, 61]
    );
}

#[test]
fn strided_and_broadcast() {
    let Some(here) = Here::new("strides") else {
        return;
    };
    let columns = here.count.div_ceil(3);
    let x = here.full(&[3, columns], DType::U8, 1, &["N", "C"]);
    let mut row = here.full(&[columns], DType::U8, 0, &["C"]);
    row.narrow_mut("C", columns - 2, 1)
        .unwrap()
        .fill_(5)
        .unwrap();
    let y = x.add(&row).unwrap();
    drop(x);
    let turned = y.transpose("N", "C").unwrap().contiguous().unwrap();
    let flat = turned.flatten(["C", "N"], "F").unwrap();
    assert_eq!(last(&flat, 7), [1, 6, 6, 6, 1, 1, 1]);
    assert_eq!(number(&flat.sum("F").unwrap()), (3 * columns + 15) as i64);
}

#[test]
fn reduced_over_rows_and_columns() {
    let Some(here) = Here::new("reduce") else {
        return;
    };
    let rows = 1 << 8;
    let columns = here.count.div_ceil(rows);
    let mut x = here.full(&[rows, columns], DType::U8, 1, &["N", "C"]);
    let mut corner = x.narrow_mut("C", columns - 1, 1).unwrap();
    corner.fill_(3).unwrap();
    assert_eq!(last(&x.sum("C").unwrap(), 1), [columns as i64 + 2]);
    assert_eq!(
        last(&x.sum("N").unwrap(), 2),
        [rows as i64, 3 * rows as i64]
    );
    assert_eq!(last(&x.amax("N").unwrap(), 2), [1, 3]);
    assert_eq!(last(&x.argmax("C").unwrap(), 1), [columns as i64 - 1]);
}

#[test]
fn picked_by_index() {
    let Some(here) = Here::new("index") else {
        return;
    };
    let end = here.count - 1;
    let mut x = here.full(&[here.count], DType::U8, 1, &["N"]);
    x.narrow_mut("N", end, 1).unwrap().fill_(4).unwrap();
    let ids = DynTensor::from_vec(vec![end as i64, 0, end as i64 - 1], &[3], ["K"]).unwrap();
    let ids = ids.to_device(here.device).unwrap();
    let picked = x.index_select("N", &ids).unwrap();
    assert_eq!(last(&picked, 3), [4, 1, 1]);
    let joined = DynTensor::cat(&[&x, &x], "N").unwrap();
    assert_eq!(
        number(&joined.sum("N").unwrap()),
        2 * (here.count as i64 + 3)
    );
}

#[test]
fn a_product_with_many_results() {
    let Some(here) = Here::new("product") else {
        return;
    };
    let rows = (here.count as f64).sqrt().ceil() as usize;
    let mut a = here.full(&[rows, 16], DType::F16, 1, &["N", "K"]);
    a.narrow_mut("N", rows - 1, 1).unwrap().fill_(2).unwrap();
    let b = here.full(&[16, rows + 1], DType::F16, 3, &["K", "C"]);
    let product = a.matmul(&b).unwrap();
    let flat = product.flatten(["N", "C"], "F").unwrap();
    assert_eq!(last(&flat, 2), [96, 96]);
    let before = flat
        .narrow("F", (flat.numel() - rows - 3) as i64, 2)
        .unwrap();
    assert_eq!(last(&before, 2), [48, 48]);
}

#[test]
fn random_numbers_go_on_as_the_words_do() {
    let Some(here) = Here::new("random") else {
        return;
    };
    let fill = |many: usize, generator: &mut Generator| {
        let mut x = here.full(&[many], DType::F16, 0, &["N"]);
        x.uniform_from_(0.0, 100.0, generator).unwrap();
        x
    };
    // One word per element, four elements per position of the generator.
    let position = here.count / 4 - 4;
    let all = fill(here.count, &mut Generator::new(5));
    let mut later = Generator::new(5);
    drop(fill(position, &mut later));
    let rest = here.count - 4 * position;
    assert_eq!(last(&all, rest), last(&fill(rest, &mut later), rest));
}
