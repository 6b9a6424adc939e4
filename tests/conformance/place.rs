//! Cases on a device.

use nomina_by_name::Value;
use nomina_core::Error;
use nomina_core::op::ParamKind;
use nomina_runtime::Device;

use super::case::{Case, Recorded, Wanted};
use super::compare;

/// Makes factory calls, which have no tensor arguments, create their result on the device.
pub fn factories(case: &mut Case, device: Device) {
    let Some((op, _)) = nomina_by_name::parse(&case.op) else {
        return;
    };
    let takes = op
        .row()
        .params()
        .any(|param| param.kind == ParamKind::Device && param.name == "device");
    // An out tensor determines the device, too.
    let says = |(name, _): &(String, Value)| name == "device" || name == "out";
    let given = case.kwargs.iter().any(says);
    let tensors = case.args.iter().any(holds_tensor);
    if takes && !given && !tensors {
        case.kwargs
            .push(("device".to_owned(), Value::Device(device)));
    }
}

fn holds_tensor(value: &Value) -> bool {
    match value {
        Value::Tensor(_) | Value::Sparse(_) => true,
        Value::List(items) => items.iter().any(holds_tensor),
        _ => false,
    }
}

/// Returns the last component of the operator's name.
fn name(case: &Case) -> &str {
    let spelling = case.op.trim_end_matches(".__get__");
    spelling.rsplit('.').next().unwrap_or(spelling)
}

/// Replaces the recorded attributes of a host tensor by those of a device tensor.
pub fn expect(case: &mut Case, device: Device) {
    let Device::Cuda(Some(ordinal)) = device else {
        return;
    };
    let said = match name(case) {
        "device" => Value::Device(device),
        "is_cuda" => Value::Bool(true),
        "is_cpu" => Value::Bool(false),
        "get_device" => Value::Int(ordinal as i64),
        "type" => match &case.wanted {
            Wanted::Result {
                value: Recorded::Plain(value),
                ..
            } => match &**value {
                Value::Str(text) => Value::Str(text.replace("torch.", "torch.cuda.")),
                _ => return,
            },
            _ => return,
        },
        _ => return,
    };
    if let Wanted::Result { value, .. } = &mut case.wanted {
        *value = Recorded::Plain(Box::new(said));
    }
}

/// Returns the error that the device detected while it ran the call.
pub fn found(device: Device) -> Option<Error> {
    match device {
        Device::Cuda(ordinal) => nomina_runtime::cuda::synchronize(ordinal).err(),
        Device::Cpu => None,
    }
}

/// Returns whether a case asks for a result on the host.
pub fn leaves(case: &Case) -> bool {
    let says = |value: &Value| match value {
        Value::Device(device) => device.is_cpu(),
        Value::Str(text) => text == "cpu",
        _ => false,
    };
    name(case) == "cpu"
        || case
            .args
            .iter()
            .chain(case.kwargs.iter().map(|(_, v)| v))
            .any(says)
}

/// Checks that all tensors of a result are on a device.
pub fn lies_on(value: &Value, device: Device) -> Result<(), String> {
    let found = match value {
        Value::Tensor(x) => x.device(),
        Value::Sparse(x) => x.device(),
        Value::List(items) => return items.iter().try_for_each(|item| lies_on(item, device)),
        _ => return Ok(()),
    };
    if found == device {
        return Ok(());
    }
    Err(format!("the result is on `{found}`, not on `{device}`"))
}

/// Checks that a random case draws the same numbers on the host and on the device.
pub fn same_numbers(case: &Case, line: &str) -> Result<(), String> {
    let host = Case::parse(line)?;
    nomina_runtime::manual_seed(7);
    let want = nomina_by_name::call(&host.op, host.args, host.kwargs).map_err(|e| e.to_string())?;
    nomina_runtime::manual_seed(7);
    let got = nomina_by_name::call(&case.op, case.args.clone(), case.kwargs.clone());
    compare::alike(&case.op, &got.map_err(|e| e.to_string())?, &want)
}
