//! Operators by definition: element by element, in `f64`, for dtypes and values that are exact there.

use nomina::{DType, DynTensor};
use nomina_by_name::Value;
use nomina_core::op::{Class, Op};

use super::same::near;

/// Elements in row-major order.
pub struct Array {
    shape: Vec<usize>,
    data: Vec<f64>,
}

/// Computes an operator by its definition; `None` if it has none here or the operands are unsupported.
pub fn result(op: Op, given: &[(&str, Value)]) -> Option<Array> {
    let arg = |name: &str| {
        given
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    };
    let array = |name: &str| arg(name).and_then(of);
    let plain = |names: &[&str]| given.iter().all(|(name, _)| names.contains(name));
    let row = op.row();
    let first = row.params().next()?.name;
    let x = array(first)?;
    match row.class {
        Class::Unary(_) if plain(&[first]) => {
            let f = unary(row.name)?;
            Some(Array {
                data: x.data.iter().map(|&x| f(x)).collect(),
                shape: x.shape,
            })
        }
        Class::Binary(_) if plain(&[first, "other"]) => {
            let f = binary(row.name)?;
            let y = array("other")?;
            broadcast(&x, &y, f)
        }
        Class::Reduce if plain(&[first, "dim", "keepdim"]) => {
            let dims = dims(arg("dim"), x.shape.len())?;
            let keep = matches!(arg("keepdim"), Some(Value::Bool(true)));
            reduced(row.name, &x, &dims, keep)
        }
        Class::Scan if plain(&[first, "dim"]) && !x.shape.is_empty() => {
            let dims = dims(arg("dim"), x.shape.len())?;
            scanned(row.name, x, *dims.first()?)
        }
        Class::View | Class::Index | Class::Copy => moved(row.name, x, &arg),
        Class::Gemm if matches!(row.name, "matmul" | "mm" | "mv" | "dot" | "bmm") => {
            let other = row.params().nth(1)?.name;
            plain(&[first, other])
                .then(|| product(&x, &array(other)?))
                .flatten()
        }
        _ => None,
    }
}

/// Compares a result with the definition.
pub fn agrees(got: &Value, expected: &Array) -> Result<(), String> {
    let got = match got {
        Value::Tensor(got) => got,
        Value::List(_) => return Ok(()),
        other => return Err(format!("{other:?}")),
    };
    if got.shape() != expected.shape {
        return Err(format!("sizes {:?}, not {:?}", got.shape(), expected.shape));
    }
    if got.numel() != expected.data.len() {
        return Err(format!("{} elements", got.numel()));
    }
    let dtype = got.dtype();
    for (at, (x, &y)) in got
        .raw()
        .try_scalars()
        .map_err(|e| e.to_string())?
        .zip(&expected.data)
        .enumerate()
    {
        let x = x.to_f64();
        // Results that do not fit into the dtype are not compared.
        let fits = match dtype {
            DType::F16 => y.abs() < 6e4,
            DType::F32 | DType::BF16 => y.abs() < 1e38,
            DType::F64 => true,
            DType::Bool => y == 0.0 || y == 1.0,
            DType::U8 => (0.0..256.0).contains(&y),
            DType::I8 => (-128.0..128.0).contains(&y),
            DType::I16 => (-32768.0..32768.0).contains(&y),
            DType::I32 => y.abs() < 2e9,
            _ => y.abs() < 9e15,
        };
        if fits && y.is_finite() && !near(x, y, 64.0, dtype) {
            return Err(format!("element {at} is {x}, not {y}"));
        }
    }
    Ok(())
}

fn of(value: &Value) -> Option<Array> {
    match value {
        Value::Tensor(x) => tensor(x),
        Value::Int(x) if x.unsigned_abs() < 1 << 20 => Some(Array {
            shape: vec![],
            data: vec![*x as f64],
        }),
        _ => None,
    }
}

fn tensor(x: &DynTensor) -> Option<Array> {
    // Special values and narrow dtypes are tested elsewhere.
    let exact = matches!(
        x.dtype(),
        DType::F32 | DType::F64 | DType::I64 | DType::I32 | DType::I16
    );
    let data: Vec<f64> = x.raw().try_scalars().ok()?.map(|x| x.to_f64()).collect();
    let small = data.iter().all(|x| x.abs() <= 1e4);
    (exact && small).then(|| Array {
        shape: x.shape().to_vec(),
        data,
    })
}

fn unary(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "neg" | "negative" => |x| -x,
        "abs" | "absolute" => f64::abs,
        "sqrt" => f64::sqrt,
        "exp" => f64::exp,
        "log" => f64::ln,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tanh" => f64::tanh,
        "floor" => f64::floor,
        "ceil" => f64::ceil,
        "trunc" => f64::trunc,
        "square" => |x| x * x,
        "sign" | "sgn" => |x| if x == 0.0 { 0.0 } else { x.signum() },
        "relu" => |x| x.max(0.0),
        "reciprocal" => f64::recip,
        "logical_not" => |x| f64::from(x == 0.0),
        "isnan" => |x| f64::from(x.is_nan()),
        _ => return None,
    })
}

fn binary(name: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match name {
        "add" => |x, y| x + y,
        "sub" | "subtract" => |x, y| x - y,
        "mul" | "multiply" => |x, y| x * y,
        "maximum" => f64::max,
        "minimum" => f64::min,
        "eq" => |x, y| f64::from(x == y),
        "ne" | "not_equal" => |x, y| f64::from(x != y),
        "lt" | "less" => |x, y| f64::from(x < y),
        "le" | "less_equal" => |x, y| f64::from(x <= y),
        "gt" | "greater" => |x, y| f64::from(x > y),
        "ge" | "greater_equal" => |x, y| f64::from(x >= y),
        "logical_and" => |x, y| f64::from(x != 0.0 && y != 0.0),
        "logical_or" => |x, y| f64::from(x != 0.0 || y != 0.0),
        "logical_xor" => |x, y| f64::from((x != 0.0) != (y != 0.0)),
        _ => return None,
    })
}

/// Returns the index of a position in row-major order.
fn index(shape: &[usize], mut at: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i = at % size;
        at /= size;
    }
    index
}

fn position(shape: &[usize], index: &[usize]) -> usize {
    shape
        .iter()
        .zip(index)
        .fold(0, |at, (size, i)| at * size + i)
}

fn made(shape: Vec<usize>, f: impl Fn(&[usize]) -> f64) -> Array {
    let count = shape.iter().product();
    let data = (0..count).map(|at| f(&index(&shape, at))).collect();
    Array { shape, data }
}

impl Array {
    fn at(&self, index: &[usize]) -> f64 {
        self.data[position(&self.shape, index)]
    }

    /// Returns the element of a broadcast operand at an index of the result.
    fn spread(&self, index: &[usize]) -> f64 {
        let own = &index[index.len() - self.shape.len()..];
        let own: Vec<usize> = own
            .iter()
            .zip(&self.shape)
            .map(|(&i, &size)| if size == 1 { 0 } else { i })
            .collect();
        self.at(&own)
    }
}

fn broadcast(x: &Array, y: &Array, f: fn(f64, f64) -> f64) -> Option<Array> {
    let rank = x.shape.len().max(y.shape.len());
    let size = |a: &Array, dim: usize| {
        (dim + a.shape.len())
            .checked_sub(rank)
            .map_or(1, |dim| a.shape[dim])
    };
    let shape = (0..rank).map(|dim| match (size(x, dim), size(y, dim)) {
        (1, other) => other,
        (own, _) => own,
    });
    Some(made(shape.collect(), |index| {
        f(x.spread(index), y.spread(index))
    }))
}

/// Converts dims to positions: all dims if omitted, `None` for dims by name.
fn dims(arg: Option<&Value>, rank: usize) -> Option<Vec<usize>> {
    let one = |value: &Value| match value {
        Value::Int(dim) => usize::try_from(if *dim < 0 { dim + rank as i64 } else { *dim })
            .ok()
            .filter(|&dim| dim < rank),
        _ => None,
    };
    match arg {
        None | Some(Value::None) => Some((0..rank).collect()),
        Some(Value::List(all)) if all.is_empty() => Some((0..rank).collect()),
        Some(Value::List(all)) => all.iter().map(one).collect(),
        Some(value) => Some(vec![one(value)?]),
    }
}

fn reduced(name: &str, x: &Array, dims: &[usize], keep: bool) -> Option<Array> {
    let f: fn(&[f64]) -> f64 = match name {
        "sum" => |all| all.iter().sum(),
        "prod" => |all| all.iter().product(),
        "mean" => |all| all.iter().sum::<f64>() / all.len() as f64,
        "amax" => |all| all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        "amin" => |all| all.iter().copied().fold(f64::INFINITY, f64::min),
        "any" => |all| f64::from(all.iter().any(|&x| x != 0.0)),
        "all" => |all| f64::from(all.iter().all(|&x| x != 0.0)),
        "count_nonzero" => |all| all.iter().filter(|&&x| x != 0.0).count() as f64,
        _ => return None,
    };
    let kept: Vec<usize> = x
        .shape
        .iter()
        .enumerate()
        .map(|(dim, &size)| if dims.contains(&dim) { 1 } else { size })
        .collect();
    let out = made(kept.clone(), |at| {
        let inside = x.data.iter().enumerate().filter(|(i, _)| {
            let index = index(&x.shape, *i);
            (0..kept.len()).all(|dim| dims.contains(&dim) || index[dim] == at[dim])
        });
        f(&inside.map(|(_, &x)| x).collect::<Vec<f64>>())
    });
    let shape = if keep {
        kept
    } else {
        (0..x.shape.len())
            .filter(|dim| !dims.contains(dim))
            .map(|dim| x.shape[dim])
            .collect()
    };
    Some(Array {
        shape,
        data: out.data,
    })
}

fn scanned(name: &str, x: Array, dim: usize) -> Option<Array> {
    let f: fn(f64, f64) -> f64 = match name {
        "cumsum" => |a, b| a + b,
        "cumprod" => |a, b| a * b,
        _ => return None,
    };
    let out = made(x.shape.clone(), |at| {
        let mut index = at.to_vec();
        (0..=at[dim])
            .map(|i| {
                index[dim] = i;
                x.at(&index)
            })
            .reduce(f)
            .unwrap_or(0.0)
    });
    Some(out)
}

fn moved<'a>(name: &str, x: Array, arg: &dyn Fn(&str) -> Option<&'a Value>) -> Option<Array> {
    let rank = x.shape.len();
    let one = |name: &str| {
        dims(Some(arg(name)?), rank)
            .filter(|dims| dims.len() == 1)
            .map(|dims| dims[0])
    };
    match name {
        "clone" | "contiguous" | "detach" => Some(x),
        "transpose" | "swapaxes" | "swapdims" => {
            let (a, b) = match name {
                "swapaxes" => (one("axis0")?, one("axis1")?),
                _ => (one("dim0")?, one("dim1")?),
            };
            let mut shape = x.shape.clone();
            shape.swap(a, b);
            Some(made(shape, |index| {
                let mut own = index.to_vec();
                own.swap(a, b);
                x.at(&own)
            }))
        }
        "flip" => {
            let dims = match arg("dims")? {
                Value::List(all) if all.is_empty() => Vec::new(),
                some => dims(Some(some), rank)?,
            };
            Some(made(x.shape.clone(), |index| {
                let own = index.iter().enumerate().map(|(dim, &i)| {
                    if dims.contains(&dim) {
                        x.shape[dim] - 1 - i
                    } else {
                        i
                    }
                });
                x.at(&own.collect::<Vec<_>>())
            }))
        }
        "tril" | "triu" => {
            let diagonal = match arg("diagonal") {
                None => 0,
                Some(Value::Int(n)) => i128::from(*n),
                _ => return None,
            };
            let lower = name == "tril";
            Some(made(x.shape.clone(), |index| {
                let across = index[rank - 1] as i128 - index[rank - 2] as i128;
                let kept = if lower {
                    across <= diagonal
                } else {
                    across >= diagonal
                };
                if kept { x.at(index) } else { 0.0 }
            }))
        }
        _ => None,
    }
}

fn product(a: &Array, b: &Array) -> Option<Array> {
    let (row, column) = (a.shape.len() == 1, b.shape.len() == 1);
    let widened = |x: &Array, at: usize| {
        let mut shape = x.shape.clone();
        if shape.len() == 1 {
            shape.insert(at, 1);
        }
        Array {
            shape,
            data: x.data.clone(),
        }
    };
    let (a, b) = (widened(a, 0), widened(b, 1));
    let (ra, rb) = (a.shape.len(), b.shape.len());
    let (m, k, n) = (a.shape[ra - 2], a.shape[ra - 1], b.shape[rb - 1]);
    let rank = ra.max(rb);
    let size = |x: &Array, dim: usize| {
        (dim + x.shape.len())
            .checked_sub(rank)
            .map_or(1, |dim| x.shape[dim])
    };
    let mut shape: Vec<usize> = (0..rank - 2)
        .map(|dim| {
            if size(&a, dim) == 1 {
                size(&b, dim)
            } else {
                size(&a, dim)
            }
        })
        .collect();
    shape.extend([m, n]);
    let mut out = made(shape, |index| {
        let (batch, at) = index.split_at(rank - 2);
        (0..k)
            .map(|l| {
                a.spread(&[batch, &[at[0], l]].concat()) * b.spread(&[batch, &[l, at[1]]].concat())
            })
            .sum()
    });
    if column {
        out.shape.pop();
    }
    if row {
        let at = out.shape.len() - if column { 1 } else { 2 };
        out.shape.remove(at);
    }
    Some(out)
}
