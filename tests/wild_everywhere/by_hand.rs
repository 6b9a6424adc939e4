//! Operators whose typed form takes different arguments than PyTorch's call, with `Wild` dims: an order of dims by
//! name, a new name, a window.

use crate::draw::Draw;
use crate::generated_crate::Krate;
use crate::program::{self, by_case};
use crate::veil::{Outcome, is_ours};

/// Operands with their sizes (with a `!`, the types know the names), the typed call on `x`, `y`, `z`, and the
/// equivalent call on the dynamic tensors `dx`, `dy`, `dz`, with dims by position.
type Call = (&'static [&'static str], &'static str, &'static str);

const CALLS: &[Call] = &[
    (
        &["N=2 C=3"],
        "x.try_permute((C, ..))?",
        "dx.permute(&[1, 0][..])?",
    ),
    (
        &["N=2 C=3"],
        "x.try_align_to((.., H))?",
        "dx.unsqueeze(2, \"H\")?",
    ),
    (
        &["N=2 C=3"],
        "x.try_unsqueeze(H)?",
        "dx.unsqueeze(0, \"H\")?",
    ),
    (
        &["N=2 C=3", "N=2 C=3"],
        "try_stack((&x, &y), H)?",
        "DynTensor::stack(&[&dx, &dy], 0, \"H\")?",
    ),
    (&["N=2 C=3", "C=3"], "&x + &y", "dx.add(&dy)?"),
    (&["N=2 C=3", "C=3"], "x.clone() * &y", "dx.mul(&dy)?"),
    (
        &["N=2 C=3", "N=2 C=3"],
        "{ x += &y; x }",
        "{ dx.add_(&dy)?; dx }",
    ),
    (
        &["N=2 C=3", "C=3"],
        "{ x.narrow_mut(N, ..1).try_copy_(&y)?; x }",
        "{ dx.narrow_mut(0, 0, 1)?.copy_(&dy)?; dx }",
    ),
    (
        &["N=2 C=3", "C=3"],
        "{ x.try_select_mut(N, 0)?.try_add_(&y)?; x }",
        "{ dx.select_mut(0, 0)?.add_(&dy)?; dx }",
    ),
    (
        &["N=2 K=3", "O=4 K=3", "O=4"],
        "x.try_linear(&y, &z)?",
        "dx.linear(&dy, &dz)?",
    ),
    (
        &["N=2 K=3", "O=4 K=3", "O=4"],
        "x.try_linear_with(&y, &z, LinearOptions { activation: Some(Activation::Tanh) })?",
        "dx.linear_with(&dy, &dz, LinearOptions { activation: Some(Activation::Tanh) })?",
    ),
    (
        &["N=2 H=3 K=4", "K=4"],
        "try_einsum!(x[.., K] * y[K] -> [..])?",
        "DynTensor::einsum(\"...k,k->...\", &[&dx, &dy])?",
    ),
    (
        &["N=2 K=3", "K=3 M=4"],
        "x.try_tensordot(&y, K)?",
        "dx.tensordot(&dy, 1)?",
    ),
    (
        &["N=1 T=2 C=3", "N=1 S=4 C=3", "N=1 S=4 M=5"],
        "x.try_scaled_dot_product_attention(&y, &z)?",
        "dx.scaled_dot_product_attention(&dy, &dz)?",
    ),
    (
        &["N=2 C=3", "N=2 C=3"],
        "x.try_cross_entropy(&y, C)?",
        "dx.cross_entropy(&dy, 1)?",
    ),
    (&["N=2 C=3"], "x.try_layer_norm(C)?", "dx.layer_norm(1)?"),
    (&["N=2 C=3"], "x.try_rms_norm((C,))?", "dx.rms_norm(1)?"),
    (
        &["N=2 C=3", "C=3!"],
        "x.try_layer_norm_with(C, LayerNormOptions { weight: Some(&y), ..default() })?",
        "dx.layer_norm_with(1, nomina_runtime::tensor::LayerNormOptions { weight: Some(&dy), ..default() })?",
    ),
    (&["N=2 C=3"], "x.try_normalize(C)?", "dx.normalize(1)?"),
    (
        &["N=2 C=4 H=3"],
        "x.try_group_norm(C, H, 2)?",
        "dx.group_norm(1, 2, 2)?",
    ),
    (&["N=2 C=3"], "x.try_batch_norm(C)?", "dx.batch_norm(1)?"),
    (
        &["N=2 C=3 H=4"],
        "x.try_instance_norm(H)?",
        "dx.instance_norm(2)?",
    ),
    (
        &["N=2 C=3"],
        "x.try_local_response_norm(C, 2)?",
        "dx.local_response_norm(1, 2)?",
    ),
    (
        &["N=2 C=3", "N=2 C=3", "N=2 C=3"],
        "x.try_gaussian_nll_loss(&y, &z)?",
        "dx.gaussian_nll_loss(&dy, &dz)?",
    ),
    (
        &["N=2 C=3"],
        "x.try_repeat(C.of(2))?",
        "dx.repeat(&[1, 2])?",
    ),
    (&["N=2 C=3"], "x.try_tile((C.of(2),))?", "dx.tile(&[1, 2])?"),
    (
        &["N=2 C=3"],
        "x.try_repeat_interleave(2, C)?",
        "dx.repeat_interleave(2, 1)?",
    ),
    (&["N=2 C=3"], "x.try_roll(1, C)?", "dx.roll(&[1], 1)?"),
    (&["N=2 C=3"], "x.try_rot90(N, C)?", "dx.rot90(&[0, 1][..])?"),
    (
        &["N=2 C=4"],
        "x.try_unfold(C, 2, 1, H)?",
        "dx.unfold(1, 2, 1, \"H\")?",
    ),
    (
        &["N=2 C=2"],
        "x.try_view_as_complex(C)?",
        "dx.view_as_complex()?",
    ),
    (&["N=3 C=3"], "x.try_diag(H)?", "dx.diag([\"H\"])?"),
    (
        &["N=2 C=3"],
        "x.try_diagflat(H, K)?",
        "dx.diagflat([\"H\", \"K\"])?",
    ),
    (
        &["N=2 C=3"],
        "x.try_ravel(H)?",
        "dx.drop_names().reshape(&[6])?.rename([\"H\"])?",
    ),
    (
        &["N=2 C=3"],
        "x.try_tensor_split(C, 2)?",
        "dx.tensor_split(2, 1)?",
    ),
    (
        &["N=2 C=3", "H=2 K=3"],
        "try_block_diag((&x, &y))?",
        "DynTensor::block_diag(&[&dx, &dy])?",
    ),
    (&["N=2"], "x.try_vander(H)?", "dx.vander(\"H\")?"),
    (
        &["N=2 C=3"],
        "x.try_flatten((N, C), H)?",
        "dx.flatten(&[0, 1][..], \"H\")?",
    ),
    (
        &["N=2 C=3 H=4"],
        "x.try_flatten((C, H), K)?",
        "dx.flatten(&[1, 2][..], \"K\")?",
    ),
    (
        &["N=2 C=6"],
        "x.try_unflatten(C, (H.of(2), K.of(3)))?",
        "dx.unflatten(1, &[(\"H\", 2), (\"K\", 3)])?",
    ),
    (
        &["N=2 C=3"],
        "x.try_diagonal(N, C, H)?",
        "dx.diagonal(0, 1, \"H\")?",
    ),
    (
        &["N=2 C=3", "N=2"],
        "x.try_align_as(&y)?",
        "dx.align_as(&dy)?",
    ),
];

/// A call with `Wild` dims, and their names at run time.
struct Veiled {
    call: &'static Call,
    types: Vec<String>,
    /// The run-time name of each dim of each operand.
    names: Vec<Vec<Option<&'static str>>>,
}

fn draw(call: &'static Call, draw: &mut Draw) -> Veiled {
    let often = [30, 60, 100][draw.below(3)];
    let (mut types, mut all) = (Vec::new(), Vec::new());
    for operand in call.0 {
        let (mut dims, mut names) = (String::new(), Vec::new());
        for dim in operand.trim_end_matches('!').split(' ') {
            let name = dim.split('=').next().unwrap_or_default();
            let wild = !operand.ends_with('!') && draw.chance(often);
            dims += if wild { "Wild" } else { name };
            dims += ",";
            names.push((!wild || draw.chance(60)).then_some(name));
        }
        types.push(format!("({dims})"));
        all.push(names);
    }
    Veiled {
        call,
        types,
        names: all,
    }
}

/// Draws `count` versions of each call, and compares the typed with the dynamic results.
pub fn run(source: &mut Draw, count: usize) -> (usize, Outcome) {
    let calls: Vec<Veiled> = CALLS
        .iter()
        .flat_map(|call| std::iter::repeat_n(call, count))
        .map(|call| draw(call, source))
        .collect();
    let krate = Krate::new("wild_by_hand");
    let mut outcome = Outcome::default();
    let mut left: Vec<&Veiled> = calls.iter().collect();
    loop {
        let head = write(&krate, &left);
        let mut refused = by_case(krate.build(), head, left.len());
        if refused.is_empty() {
            break;
        }
        outcome.refused += refused.len();
        let mut i = 0;
        left.retain(|one| {
            let said = refused.remove(&i);
            i += 1;
            if let Some(text) = said.as_ref().filter(|text| !is_ours(text)) {
                outcome
                    .wrong
                    .push(format!("{}: rustc says: {text}", shown(one)));
            }
            said.is_none()
        });
    }
    outcome.told(program::run(&krate), |at| shown(left[at]));
    (calls.len(), outcome)
}

fn shown(one: &Veiled) -> String {
    format!(
        "{} on {:?}, at run time {:?}\n    ",
        one.call.1, one.types, one.names
    )
}

fn write(krate: &Krate, calls: &[&Veiled]) -> usize {
    let mut source = String::from(
        "#![allow(unused, clippy::all)]\nmod prelude; mod case; mod compare;\nuse prelude::*;\n\
         dims! { N, C, H, K, M, O, S, T }\n",
    );
    let head = source.lines().count();
    for (i, one) in calls.iter().enumerate() {
        let (mut typed, mut dynamic) = (String::new(), String::new());
        for (k, of) in one.types.iter().enumerate() {
            let x = ["x", "y", "z"][k];
            typed += &format!("let mut {x}: Tensor<{of}> = d[{k}].typed()?; ");
            dynamic += &format!("let mut d{x} = d[{k}].clone(); ");
        }
        source += &format!(
            "fn case_{i}(d: &[DynTensor], t: bool) -> Result<Value> {{ if t {{ {typed} \
             give({}) }} else {{ {dynamic} give({}) }} }}\n",
            one.call.1, one.call.2
        );
    }
    source += "pub const CALLS: &[prelude::Hand] = &[\n";
    for (i, one) in calls.iter().enumerate() {
        let sizes: Vec<Vec<usize>> = one.call.0.iter().map(|operand| sizes(operand)).collect();
        let borrowed = |list: String| list.replace('[', "&[");
        let (sizes, names) = (format!("{sizes:?}"), format!("{:?}", one.names));
        source += &format!("({}, {}, case_{i}),\n", borrowed(sizes), borrowed(names));
    }
    source += "];\nfn main() { prelude::by_hand(CALLS) }\n";
    krate.write("main.rs", &source);
    let prelude = [
        include_str!("../typed_cases/prelude.in"),
        include_str!("both.in"),
        include_str!("by_hand.in"),
    ];
    krate.write("prelude.rs", &prelude.concat());
    program::copy_parts(krate);
    head
}

fn sizes(operand: &str) -> Vec<usize> {
    let size = |dim: &str| dim.split('=').nth(1).and_then(|size| size.parse().ok());
    let dims = operand.trim_end_matches('!').split(' ');
    dims.filter_map(size).collect()
}
