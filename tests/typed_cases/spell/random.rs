//! Random fills.

use nomina_runtime::invoke::{Form, Value};

use crate::translate::{Call, Own, Words, inexpressible, integer, missing};
use crate::words::{dtype, number, tuple};

/// The typed form, where it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let fill = |name: &str, params: [(&str, f64); 2]| {
        let arguments = params
            .iter()
            .filter(|(param, _)| !param.is_empty())
            .map(|(param, default)| float(call, param, *default))
            .collect::<Result<Vec<_>, _>>()?;
        let arguments = arguments.join(", ");
        Ok(format!("x0.try_{name}_({arguments})?; give(x0)"))
    };
    let words = match call.op.name() {
        "uniform" => fill("uniform", [("from", 0.0), ("to", 1.0)]),
        "normal_" => fill("normal", [("mean", 0.0), ("std", 1.0)]),
        "log_normal" => fill("log_normal", [("mean", 1.0), ("std", 2.0)]),
        "exponential" => fill("exponential", [("lambd", 1.0), ("", 0.0)]),
        "cauchy" => fill("cauchy", [("median", 0.0), ("sigma", 1.0)]),
        "geometric" => fill("geometric", [("p", 0.0), ("", 0.0)]),
        "random" => Ok(format!(
            "x0.try_random_({})?; give(x0)",
            range(call, "from", "to")
        )),
        "bernoulli" => bernoulli(call),
        "poisson" => Ok("give(x0.try_poisson()?)".to_owned()),
        "normal" => normal(call),
        "multinomial" => multinomial(call),
        "randint" | "randperm" => factory(call),
        "randint_like" if call.given("dtype").is_some() => {
            inexpressible("random numbers like another tensor's, of another dtype")
        }
        "randint_like" => Ok(format!(
            "give(x0.try_randint_like({})?)",
            range(call, "low", "high")
        )),
        _ => return Ok(None),
    };
    words.map(Some)
}

fn float(call: &Call<'_>, param: &str, default: f64) -> Words {
    match call.given(param) {
        None => Ok(format!("{default:?}")),
        Some(Value::Int(v)) => Ok(format!("{v}.0")),
        Some(value) => match number(value) {
            Some(number) => Ok(number),
            None => missing(format!("{} as a parameter", value.kind())),
        },
    }
}

fn range(call: &Call<'_>, from: &str, to: &str) -> String {
    let bound = |param| call.given(param).and_then(integer).unwrap_or_default();
    format!("{}..{}", bound(from), bound(to))
}

fn bernoulli(call: &Call<'_>) -> Words {
    let p = match call.given("p") {
        Some(Value::Tensor(p)) => Some(format!("&{}", call.variable(p))),
        Some(_) => Some(float(call, "p", 0.5)?),
        None => None,
    };
    match (call.form, p) {
        (Form::InPlace, p) => {
            let p = p.unwrap_or_else(|| "0.5".to_owned());
            Ok(format!("x0.try_bernoulli_({p})?; give(x0)"))
        }
        (_, Some(p)) => Ok(format!(
            "let mut y = x0.empty_like(); y.try_bernoulli_({p})?; give(y)"
        )),
        (_, None) => call.method("bernoulli", &[]),
    }
}

fn normal(call: &Call<'_>) -> Words {
    if call.given("size").is_some() {
        let (mean, std) = (float(call, "mean", 0.0)?, float(call, "std", 1.0)?);
        return made(call, "normal", &format!("{mean}, {std}, "));
    }
    let moment = |param: &str, default: f64| match call.given(param) {
        Some(Value::Tensor(x)) => Ok(format!("&{}", call.variable(x))),
        _ => float(call, param, default),
    };
    let (mean, std) = (moment("mean", 0.0)?, moment("std", 1.0)?);
    Ok(format!("give(Tensor::try_normal({mean}, {std})?)"))
}

fn multinomial(call: &Call<'_>) -> Words {
    let samples = call.bound.get("num_samples").and_then(integer);
    let last = Value::Int(-1);
    let dim = call.dim(call.bound.get("dim").unwrap_or(&last))?;
    let samples = samples.unwrap_or_default();
    match call.given("replacement") {
        Some(Value::Bool(replacement)) => Ok(format!(
            "give(x0.try_multinomial_with({samples}, {dim}, \
             MultinomialOptions {{ replacement: {replacement} }})?)"
        )),
        _ => Ok(format!("give(x0.try_multinomial({samples}, {dim})?)")),
    }
}

fn factory(call: &Call<'_>) -> Words {
    if call.given("names").is_some() {
        return inexpressible("names that are no list of types");
    }
    match call.op.name() {
        "randint" => made(
            call,
            "randint",
            &format!("{}, ", range(call, "low", "high")),
        ),
        _ => {
            let n = call.bound.get("n").and_then(integer).unwrap_or_default();
            Ok(format!(
                "give(Tensor::<(Wild,)>::options().dtype::<{}>().try_randperm({n})?)",
                element(call)
            ))
        }
    }
}

fn element(call: &Call<'_>) -> &'static str {
    match call.given("dtype") {
        Some(Value::DType(given)) => dtype(*given),
        _ if call.op.name() == "normal" => "f32",
        _ => "i64",
    }
}

fn made(call: &Call<'_>, name: &str, arguments: &str) -> Words {
    let sizes: Vec<String> = match call.bound.get("size") {
        Some(Value::List(items)) => items.iter().filter_map(integer).collect(),
        Some(one) => integer(one).into_iter().collect(),
        None => Vec::new(),
    };
    let dims = tuple(sizes.iter().map(|_| "Wild".to_owned()));
    Ok(format!(
        "give(Tensor::<{dims}>::options().dtype::<{}>().try_{name}({arguments}[{}])?)",
        element(call),
        sizes.join(", ")
    ))
}
