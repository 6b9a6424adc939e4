//! Branches, which have no typed spelling unless a size chooses them.

use nomina_core::Result;

use crate::emit::branches::inputs_behind;
use crate::emit::expr::Expr;
use crate::emit::site::Site;

/// Refuses an `If` that is still there: its condition depends on the values of inputs.
pub fn refuse(site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
    let behind = site
        .input(0)
        .map_or(Vec::new(), |id| inputs_behind(site.emitter.graph, id));
    let names: Vec<String> = behind.iter().map(|name| format!("`{name}`")).collect();
    let what = format!(
        "its condition depends on the values of {}",
        names.join(", ")
    );
    let error = site.call.fail(what);
    Err(match &behind[..] {
        [name, ..] => error.hint(format!("set an input that chooses: `--value {name}=1`")),
        [] => error,
    })
}
