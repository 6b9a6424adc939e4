//! Programs that are not in the catalogue: every fix that is offered as sure compiles, and says what is meant.

mod package;

use std::collections::BTreeMap;

use package::Package;

/// The expected result for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    /// The program compiles after the sure fixes, and contains this.
    Sure(&'static str),
    /// After the sure fixes, the program contains this, and other errors are left.
    Partly(&'static str),
    /// Nothing is sure, and a guess contains this.
    Guess(&'static str),
    /// Nothing is offered.
    Nothing,
}

use Expected::{Guess, Nothing, Partly, Sure};

const START: &str =
    "use nomina::prelude::*;\n\ndims! { Batch, Chan, Height, Width, Time, Unit, Word }\n\n";

/// Names, the statements of `main` or whole programs, and expected results.
const PROGRAMS: [(&str, &str, Expected); 47] = [
    (
        "ids_of_another_dtype",
        "let ids = tensor!([0, 1]; Unit; usize); println!(\"{ids}\");",
        Sure("tensor!([0, 1]; Unit; i64)"),
    ),
    (
        "labels_that_are_floats",
        "let logits = Tensor::<(Batch, Word)>::ones([2, 3]);\n    let labels = tensor!([0., 2.]; Batch);\n    \
         println!(\"{}\", logits.cross_entropy(&labels, Word));",
        Sure("cross_entropy(&labels.long(), Word)"),
    ),
    (
        "a_weight_the_other_way_round",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let weight = Tensor::<(Word, Unit)>::ones([4, 3]);\n    \
         let y: Tensor<(Batch, Word)> = acts.matmul(&weight);\n    println!(\"{y}\");",
        Sure("acts.contract(&weight, Unit)"),
    ),
    (
        "rows_by_floats",
        "let table = Tensor::<(Word, Unit)>::ones([5, 2]);\n    let ids = tensor!([0., 3.]; Time);\n    \
         println!(\"{}\", table.index_select(Word, &ids));",
        Guess("index_select(Word, &ids.to::<i64>())"),
    ),
    (
        "softmax_of_counts",
        "let counts = tensor!([1, 2]; Unit);\n    println!(\"{}\", counts.softmax(Unit));",
        Sure("counts.to::<f32>().softmax(Unit)"),
    ),
    (
        "one_number_per_row",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let gain = Tensor::<(Batch,)>::ones([2]);\n    \
         println!(\"{}\", &acts * &gain);",
        Sure("&acts * gain.align_as(&acts)"),
    ),
    (
        "a_dim_in_quotes",
        "let photo = Tensor::<(Height, Width)>::ones([2, 3]);\n    println!(\"{}\", photo.mean(\"Height\"));",
        Sure("photo.mean(Height)"),
    ),
    (
        "greater_by_operator",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let mask = &acts > 0.0;\n    println!(\"{mask}\");",
        Sure("acts.gt(0.0)"),
    ),
    (
        "one_dim_twice",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    println!(\"{}\", acts.var((Unit, Unit)));",
        Guess("acts.var((Unit,))"),
    ),
    (
        "no_such_method",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    println!(\"{}\", acts.averaged(Unit));",
        Nothing,
    ),
    (
        "moved_before",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let other = acts;\n    println!(\"{acts} {other}\");",
        Nothing,
    ),
    (
        "an_unknown_name",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    println!(\"{}\", acts.sum(Units));",
        Nothing,
    ),
    (
        "two_on_one_line",
        "let film = Tensor::<(Time, Height, Width)>::ones([2, 3, 4]);\n    \
         println!(\"{}\", film.sum(\"Time\").mean((Width, Width)));",
        Partly("film.sum(Time).mean((Width, Width))"),
    ),
    (
        "beside_another_error",
        "let film = Tensor::<(Time, Height, Width)>::ones([2, 3, 4]);\n    let frames: u8 = \"two\";\n    \
         println!(\"{} {frames}\", film.sum(\"Time\"));",
        Partly("film.sum(Time)"),
    ),
    (
        "a_generic_function",
        "fn main() {\n    println!(\"{}\", centre(&tensor!([1., 2.]; Time)));\n}\n\n\
         fn centre<D: Dims>(x: &Tensor<D>) -> Tensor<D> {\n    x - x.mean(keep(Time))\n}\n",
        Sure("fn centre<D: Dims + Has<Time>>"),
    ),
    (
        "a_generic_sum",
        "fn main() {\n    println!(\"{}\", shifted(&tensor!([1., 2.]; Time), &tensor!([1., 2.]; Time)));\n}\n\n\
         fn shifted<D: Dims, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {\n    x + y\n}\n",
        Sure("D: Dims + Broadcast<E>"),
    ),
    (
        "a_bound_that_breaks_a_trait",
        "trait Score {\n    fn score<D: Dims>(&self, x: &Tensor<D>) -> f32;\n}\n\nstruct Mean;\n\n\
         impl Score for Mean {\n    fn score<D: Dims>(&self, x: &Tensor<D>) -> f32 {\n        \
         x.mean(Time).sum(..).item()\n    }\n}\n\n\
         fn main() {\n    println!(\"{}\", Mean.score(&tensor!([1., 2.]; Time)));\n}\n",
        Nothing,
    ),
    (
        "a_bound_that_breaks_a_caller",
        "fn main() {\n    println!(\"{}\", length(&tensor!([1., 2.]; Unit)));\n}\n\n\
         fn length<D: Dims>(x: &Tensor<D>) -> usize {\n    x.size(Time)\n}\n",
        Guess("fn length<D: Dims + Has<Time>>"),
    ),
    (
        "groups_in_a_generic_function",
        "fn main() {\n    println!(\"{}\", monthly(&tensor!([1., 2.]; Time), &tensor!([0, 0]; Time)));\n}\n\n\
         fn monthly<D: Dims>(x: &Tensor<D>, month: &Tensor<(Time,), i64>) -> f32 {\n    \
         x.group_by(Time, month, Word.of(12)).mean().sum(..).item()\n}\n",
        Partly("fn monthly<D: Dims + Has<Time>>"),
    ),
    (
        "groups_of_another_dim",
        "let rain = Tensor::<(Time, Chan)>::ones([3, 2]);\n    let month = tensor!([0, 0, 1]; Unit);\n    \
         println!(\"{}\", rain.group_by(Time, &month, Word.of(2)).mean());",
        Guess("&month.rename(Unit, Time)"),
    ),
    (
        "another_order_is_returned",
        "fn main() {\n    println!(\"{}\", turned(&Tensor::ones([2, 3])));\n}\n\n\
         fn turned(x: &Tensor<(Batch, Time)>) -> Tensor<(Time, Batch)> {\n    x * 2.0\n}\n",
        Guess("(x * 2.0).align_to((Time, Batch))"),
    ),
    (
        "the_other_dim_is_left",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    let total: Tensor<(Chan,)> = acts.sum(Chan);\n    \
         println!(\"{total}\");",
        Guess("acts.sum(Batch)"),
    ),
    (
        "a_mask_as_numbers",
        "let acts = Tensor::<(Batch,)>::ones([2]);\n    let mask: Tensor<(Batch,)> = acts.gt(0.0);\n    \
         println!(\"{mask}\");",
        Guess("acts.gt(0.0).to::<f32>()"),
    ),
    (
        "floats_into_counts",
        "let mut counts = tensor!([1, 2]; Unit);\n    counts += &tensor!([0.5, 1.5]; Unit);\n    println!(\"{counts}\");",
        Sure(".to::<i64>()"),
    ),
    (
        "rows_of_two_lengths",
        "println!(\"{}\", tensor!([[1., 2.], [3.]]; Batch, Chan));",
        Nothing,
    ),
    (
        "one_name_for_two_dims",
        "println!(\"{}\", tensor!([[1., 2.]]; Batch));",
        Guess("tensor!([[1., 2.]]; Batch, Chan)"),
    ),
    (
        "joined_along_a_new_dim",
        "let (a, b) = (Tensor::<(Unit,)>::ones([2]), Tensor::<(Unit,)>::ones([2]));\n    \
         println!(\"{}\", cat(&[&a, &b], Time));",
        Guess("stack(&[&a, &b], Time)"),
    ),
    (
        "a_number_by_matmul",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    let scale = acts.mean(..);\n    \
         println!(\"{}\", acts.matmul(&scale));",
        Sure("&acts * &scale"),
    ),
    (
        "einsum_of_an_unknown_dim",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    println!(\"{}\", einsum!(acts[Batch, Chan] -> [Time]));",
        Guess("acts[Batch, Chan] -> []"),
    ),
    (
        "einsum_without_arrow",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    println!(\"{}\", einsum!(acts[Batch, Chan]));",
        Guess("einsum!(acts[Batch, Chan] -> [])"),
    ),
    (
        "fused_operands",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let gain = Tensor::<(Batch,)>::ones([2]);\n    \
         println!(\"{}\", fuse!(|acts, gain| (acts * gain).tanh()));",
        Sure("|acts, gain = gain.align_as(&acts)|"),
    ),
    (
        "dims_without_comma",
        "nomina::dims! { Lat Lon }\n\nfn main() {\n    println!(\"{}\", Tensor::<(Lat, Lon)>::ones([1, 1]));\n}\n",
        Sure("dims! { Lat, Lon }"),
    ),
    (
        "dims_without_comma_and_a_type_error",
        "nomina::dims! { Lat Lon }\n\nfn main() {\n    println!(\"{}\", Tensor::<(Lat, Lon)>::ones([1, 1]).sum(\"Lat\"));\n}\n\n\
         fn far() -> u8 {\n    \"far\"\n}\n",
        Partly("dims! { Lat, Lon }"),
    ),
    (
        "flattened_backwards",
        "let photo = Tensor::<(Chan, Height, Width)>::ones([3, 2, 2]);\n    \
         println!(\"{}\", photo.flatten((Width, Height), Unit));",
        Guess("align_to((.., Width, Height)).flatten((Width, Height), Unit)"),
    ),
    (
        "renamed_to_a_neighbour",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    println!(\"{}\", acts.rename(Chan, Batch));",
        Guess("acts.rename((Chan, Batch), (Batch, Chan))"),
    ),
    (
        "an_argument_in_another_order",
        "fn main() {\n    let acts = Tensor::<(Unit, Batch)>::ones([2, 3]);\n    println!(\"{}\", score(&acts));\n}\n\n\
         fn score(x: &Tensor<(Batch, Unit)>) -> Tensor<(Batch,)> {\n    x.sum(Unit)\n}\n",
        Guess("score(&acts.align_to((Batch, Unit)))"),
    ),
    (
        "transposed_with_a_missing_dim",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    println!(\"{}\", acts.transpose(Batch, Time));",
        Guess("acts.transpose(Batch, Chan)"),
    ),
    (
        "contracted_over_a_missing_dim",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    let weight = Tensor::<(Unit, Word)>::ones([3, 4]);\n    \
         println!(\"{}\", acts.contract(&weight, Unit));",
        Guess("acts.rename(Chan, Unit).contract(&weight, Unit)"),
    ),
    (
        "in_a_macro_of_the_user",
        "macro_rules! total {\n    ($x:expr) => {\n        $x.sum(\"Time\").item()\n    };\n}\n\n\
         fn main() {\n    println!(\"{}\", total!(tensor!([1., 2.]; Time)));\n}\n",
        Nothing,
    ),
    (
        "in_a_closure",
        "let acts = Tensor::<(Batch, Chan)>::ones([2, 3]);\n    \
         let sums: Vec<f32> = (0..2).map(|at| acts.select(\"Batch\", at).sum(..).item()).collect();\n    \
         println!(\"{sums:?}\");",
        Sure("acts.select(Batch, at)"),
    ),
    (
        "an_operand_that_is_moved",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    let gain = Tensor::<(Batch,)>::ones([2]);\n    \
         let scaled = acts * gain;\n    println!(\"{scaled}\");",
        Sure("&acts * gain.align_as(&acts)"),
    ),
    (
        "a_dim_as_variable",
        "let Time = 3;\n    println!(\"{}\", Tensor::<(Time,)>::ones([Time]));",
        Guess("let time = 3;"),
    ),
    (
        "a_field_of_other_dims",
        "struct Layer {\n    bias: Tensor<(Unit,)>,\n}\n\n\
         fn main() {\n    let layer = Layer { bias: Tensor::<(Chan,)>::zeros([3]) };\n    println!(\"{}\", layer.bias);\n}\n",
        Guess("zeros([3]).rename(Chan, Unit)"),
    ),
    (
        "an_argument_too_many",
        "let noise = Tensor::<(Batch, Unit)>::ones([2, 3]).bernoulli(1);\n    println!(\"{noise}\");",
        Nothing,
    ),
    (
        "one_range_for_all",
        "let acts = Tensor::<(Batch, Unit)>::ones([2, 3]);\n    println!(\"{}\", acts.narrow(Time, 0..1));",
        Guess("acts.narrow(Unit, 0..1)"),
    ),
    (
        "broadcast_in_an_impl",
        "struct Model<D: Dims> {\n    gain: Tensor<D>,\n}\n\n\
         impl<D: Dims> Model<D> {\n    fn run<E: Dims>(&self, x: &Tensor<E>) -> Tensor<Sum<E, D>> {\n        x * &self.gain\n    }\n}\n\n\
         fn main() {\n    let model = Model { gain: tensor!([1., 2.]; Unit) };\n    println!(\"{}\", model.run(&tensor!([1., 2.]; Unit)));\n}\n",
        Sure("E: Dims + Broadcast<D>"),
    ),
    (
        "a_denied_lint",
        "#![deny(warnings)]\n#![allow(unused_crate_dependencies)]\nuse nomina::prelude::*;\n\ndims! { Time }\n\n\
         fn main() {\n    let unused = 1;\n    println!(\"{}\", tensor!([1., 2.]; Time).sum(\"Time\"));\n}\n",
        Guess("sum(Time)"),
    ),
];

fn program(body: &str) -> String {
    if body.starts_with("#!") {
        body.to_owned()
    } else if body.contains("fn main()") {
        format!("{START}{body}")
    } else {
        format!("{START}fn main() {{\n    {body}\n}}\n")
    }
}

/// The errors of a program, by code, message and line.
fn errors(messages: &str) -> Vec<String> {
    let values = messages
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut errors: Vec<String> = values
        .filter(|value| value["message"]["level"] == "error")
        .map(|value| {
            format!(
                "{} {}",
                value["message"]["code"]["code"], value["message"]["message"]
            )
        })
        .filter(|error| !error.contains("aborting due to"))
        .collect();
    errors.sort();
    errors
}

/// All fixes are shown, the sure ones are made, and each program is compiled before and after.
#[test]
fn sure_fixes_compile_and_are_meant() {
    let package = Package::new("sure");
    let mut programs = BTreeMap::new();
    for (name, body, _) in PROGRAMS {
        package.write(name, &program(body));
        programs.insert(name, program(body));
    }
    let names: Vec<String> = programs.keys().map(|name| (*name).to_owned()).collect();
    let before = package.check_all(&names);
    let (shown, said) = package.run(&["fix"]);
    for (name, old) in &programs {
        assert_eq!(package.read(name), *old, "{said}");
    }
    let (_, said) = package.run(&["fix", "--write", "--sure"]);
    let after = package.check_all(&names);
    let mut wrong = Vec::new();
    for (name, _, expected) in PROGRAMS {
        let (old, new) = (&programs[name], package.read(name));
        let of_program = |text: &str| -> Vec<String> {
            let at = format!("src/bin/{name}.rs:");
            text.lines()
                .filter(|line| line.starts_with(&at))
                .map(str::to_owned)
                .collect()
        };
        let lines = of_program(&shown);
        let result = if *old != new {
            "sure"
        } else if lines.is_empty() {
            "nothing"
        } else {
            "a guess"
        };
        let changed: Vec<&str> = new.lines().filter(|line| !old.contains(line)).collect();
        let (old_errors, new_errors) = (errors(&before[name]), errors(&after[name]));
        let is_right = match expected {
            Sure(part) => result == "sure" && new.contains(part) && after[name].is_empty(),
            Partly(part) => result == "sure" && new.contains(part) && !after[name].is_empty(),
            Guess(part) => result == "a guess" && shown.contains(part),
            Nothing => result == "nothing",
        };
        let broke = *old != new && new_errors.iter().any(|error| !old_errors.contains(error));
        if !is_right || broke || old_errors.is_empty() {
            wrong.push(format!(
                "{name}: {result}, expected {expected:?}\n  before {old_errors:#?}\n  after {new_errors:#?}\n  \
                 {changed:#?}\n  {lines:#?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{said}\n{shown}\n{}\n{} of {}",
        wrong.join("\n"),
        wrong.len(),
        PROGRAMS.len()
    );
}
