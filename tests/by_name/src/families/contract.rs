//! Matrix products.

use nomina_core::Result;
use nomina_core::op::Op;

use super::pure;
use crate::bind::Bound;
use crate::generated::Contract;
use crate::value::{Value, wrong};
use crate::{Form, computed};
use nomina_runtime::call::CdistMode;
use nomina_runtime::tensor::{AddmmOptions, CdistOptions};

/// Calls operator `op`, given as `which` of this family.
pub(crate) fn call(which: Contract, op: Op, form: Form, mut args: Bound) -> Result<Value> {
    let args = &mut args;
    match which {
        Contract::Mm | Contract::Bmm => two(which, op, form, args, "mat2"),
        Contract::Mv => two(which, op, form, args, "vec"),
        Contract::Dot => two(which, op, form, args, "tensor"),
        Contract::Matmul => two(which, op, form, args, "other"),
        Contract::Addmm => added(which, op, form, args, ["mat1", "mat2"]),
        Contract::Addmv => added(which, op, form, args, ["mat", "vec"]),
        Contract::Baddbmm | Contract::Addbmm => added(which, op, form, args, ["batch1", "batch2"]),
        Contract::Cdist => pure(op, form, args, |a| {
            let options = CdistOptions {
                p: a.float("p")?,
                compute_mode: mode(a)?,
            };
            a.tensor("x1")?.cdist_with(a.tensor("x2")?, options)
        }),
        Contract::Contract => pure(op, form, args, |a| {
            a.tensor("self")?
                .contract(a.tensor("other")?, a.dims("dim", false)?)
        }),
    }
}

fn two(which: Contract, op: Op, form: Form, args: &mut Bound, other: &str) -> Result<Value> {
    computed(op, form, args, |a| {
        let (x, y) = (a.tensor("self")?, a.tensor(other)?);
        match which {
            Contract::Mm => x.mm(y),
            Contract::Bmm => x.bmm(y),
            Contract::Mv => x.mv(y),
            Contract::Dot => x.dot(y),
            _ => x.matmul(y),
        }
    })
}

fn added(
    which: Contract,
    op: Op,
    form: Form,
    args: &mut Bound,
    factors_of: [&str; 2],
) -> Result<Value> {
    let [first, second] = factors_of;
    computed(op, form, args, |a| {
        let (x, y) = (a.tensor(first)?, a.tensor(second)?);
        let (bias, factors) = (a.tensor("self")?, factors(a)?);
        match which {
            Contract::Addmm => bias.addmm_with(x, y, factors),
            Contract::Addmv => bias.addmv_with(x, y, factors),
            Contract::Baddbmm => bias.baddbmm_with(x, y, factors),
            _ => bias.addbmm_with(x, y, factors),
        }
    })
}

/// Returns `beta` and `alpha`.
pub(super) fn factors(args: &Bound) -> Result<AddmmOptions> {
    Ok(AddmmOptions {
        beta: args.scalar("beta")?,
        alpha: args.scalar("alpha")?,
    })
}

fn mode(args: &Bound) -> Result<CdistMode> {
    let wanted = "`use_mm_for_euclid_dist_if_necessary`, `use_mm_for_euclid_dist` or \
                  `donot_use_mm_for_euclid_dist`";
    match args.given("compute_mode") {
        None => Ok(CdistMode::IfNecessary),
        Some(Value::Str(text)) => match text.as_str() {
            "use_mm_for_euclid_dist_if_necessary" => Ok(CdistMode::IfNecessary),
            "use_mm_for_euclid_dist" => Ok(CdistMode::Always),
            "donot_use_mm_for_euclid_dist" => Ok(CdistMode::Never),
            _ => Err(wrong(
                "cdist",
                "compute_mode",
                wanted,
                &Value::Str(text.clone()),
            )),
        },
        Some(other) => Err(wrong("cdist", "compute_mode", wanted, other)),
    }
}
