//! Names of dims: inferred, from `names.toml`, and split.

mod write;

use nomina_core::{ErrorKind, Result};
use nomina_onnx::{DimNames, Model};
use write::{Attr, Writer};

/// The names of a value that is an output.
fn output(model: &Model, name: &str) -> String {
    let port = model
        .outputs()
        .iter()
        .find(|port| port.name == name)
        .unwrap();
    port.names.as_ref().unwrap().to_string()
}

/// Scores of each token with each: both dims are one class.
fn scores() -> Vec<u8> {
    let perm = [("perm", Attr::Ints(vec![0, 2, 1]))];
    Writer::default()
        .input("x", &["batch", "seq", "8"])
        .random("q.weight", &[8, 4])
        .random("k.weight", &[8, 4])
        .node("MatMul", &["x", "q.weight"], "q")
        .node("MatMul", &["x", "k.weight"], "k")
        .node_with("Transpose", &["k"], "turned", &perm)
        .node("MatMul", &["q", "turned"], "scores")
        .output("scores", &["batch", "seq", "seq"])
        .output("k", &["batch", "seq", "4"])
        .model()
}

#[test]
fn a_class_that_occurs_twice_is_primed_or_split() -> Result<()> {
    let model = Model::from_bytes(&scores())?;
    assert_eq!(output(&model, "scores"), "(Batch, Seq, Seq')");
    assert_eq!(output(&model, "k"), "(Batch, Seq, Q)");

    let names = DimNames::parse(
        "[names]\n\"x.1\" = \"Query\"\n[[split]]\nnode = \"/k/MatMul\"\ndim = 1\nname = \"Key\"\n",
    )?;
    let model = Model::from_bytes_with_names(&scores(), &names)?;
    assert_eq!(output(&model, "scores"), "(Batch, Query, Key)");
    assert_eq!(output(&model, "k"), "(Batch, Key, Q)");
    // The name of the result is one of the node.
    let by_result = DimNames::default()
        .name("x.1", "Query")?
        .split("k", 1, "Key")?;
    let model = Model::from_bytes_with_names(&scores(), &by_result)?;
    assert_eq!(output(&model, "scores"), "(Batch, Query, Key)");
    Ok(())
}

#[test]
fn splits_that_have_no_effect_are_refused() -> Result<()> {
    let residual = Writer::default()
        .input("x", &["batch", "seq"])
        .node("Relu", &["x"], "y")
        .node("Add", &["x", "y"], "z")
        .output("z", &["batch", "seq"])
        .model();
    let names = DimNames::default().split("y", 1, "Token")?;
    let error = Model::from_bytes_with_names(&residual, &names)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the split at `y` has no effect"), "{error}");
    for (node, dim) in [("nothing", 0), ("y", 2)] {
        let names = DimNames::default().split(node, dim, "Token")?;
        let error = Model::from_bytes_with_names(&residual, &names)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains(&format!("no node `{node}` has dim {dim}")),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn names_of_the_user_win_and_join_classes() -> Result<()> {
    let model = Writer::default()
        .input("a", &["batch", "left"])
        .input("b", &["batch", "right"])
        .node("Relu", &["a"], "x")
        .node("Relu", &["b"], "y")
        .output("x", &["batch", "left"])
        .output("y", &["batch", "right"])
        .model();
    let plain = Model::from_bytes(&model)?;
    assert_eq!(
        (output(&plain, "x"), output(&plain, "y")),
        ("(Batch, Left)".into(), "(Batch, Right)".into())
    );
    let names = DimNames::default()
        .name("x.1", "Token")?
        .name("y.1", "Token")?;
    let joined = Model::from_bytes_with_names(&model, &names)?;
    assert_eq!(
        (output(&joined, "x"), output(&joined, "y")),
        ("(Batch, Token)".into(), "(Batch, Token)".into())
    );
    assert_eq!(
        joined
            .dims()
            .iter()
            .filter(|dim| dim.name == "Token")
            .count(),
        1
    );

    let names = DimNames::default().name("x.1", "A")?.name("a.1", "B")?;
    let error = Model::from_bytes_with_names(&model, &names)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be"), "{error}");
    for place in ["x.2", "c.0", "x", "x.-1"] {
        let names = DimNames::default().name(place, "A")?;
        let error = Model::from_bytes_with_names(&model, &names).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NameNotFound);
        assert!(
            error.to_string().contains(&format!("no dim `{place}`")),
            "{error}"
        );
    }
    Ok(())
}

#[test]
fn the_text_of_names_can_be_edited_and_read_again() -> Result<()> {
    let model = Model::from_bytes(&scores())?;
    let text = model.names_toml();
    assert_eq!(
        text,
        Model::from_bytes(&scores())?.names_toml(),
        "the order is stable"
    );
    assert!(text.contains("# any size; from dim_param; x.1, scores.1, scores.2, k.1 and 2 more\n\"x.1\" = \"Seq\"\n"), "{text}");
    assert!(text.contains("# size 4; from parameter; "), "{text}");
    let names = DimNames::parse(&text)?;
    let again = Model::from_bytes_with_names(&scores(), &names)?;
    for (a, b) in model.dims().iter().zip(again.dims()) {
        assert_eq!((&a.name, &a.places), (&b.name, &b.places));
        assert_eq!(b.source, "names.toml");
    }
    let edited = text.replace("\"Seq\"", "\"Token\"")
        + "\n[[split]]\nnode = \"k\"\ndim = 1\nname = \"Key\"\n";
    let edited = Model::from_bytes_with_names(&scores(), DimNames::parse(&edited)?)?;
    assert_eq!(output(&edited, "scores"), "(Batch, Token, Key)");
    assert!(
        edited
            .names_toml()
            .contains("[[split]]\nnode = \"k\"\noutput = 0\ndim = 1\nname = \"Key\"\n")
    );
    Ok(())
}

#[test]
fn odd_names_of_values_are_quoted() -> Result<()> {
    let odd = "a\"b\\c\nd\u{7f}";
    let model = Writer::default()
        .input(odd, &["batch"])
        .node("Relu", &[odd], "y")
        .output("y", &["batch"])
        .model();
    let model = Model::from_bytes(&model)?;
    let names = DimNames::parse(&model.names_toml())?;
    assert_eq!(names.get(&format!("{odd}.0")), Some("Batch"));
    Ok(())
}

#[test]
fn broken_files_of_names_are_refused() {
    for (text, part) in [
        ("[names]\n\"x.0\" = 3", "the name of `x.0` is no text"),
        ("[name]\n\"x.0\" = \"A\"", "the table `name` is unknown"),
        ("[names]\n\"x.0\" = \"1 a\"", "1 a"),
        ("[[split]]\nnode = \"n\"\ndim = 0", "no text `name`"),
        (
            "[[split]]\nnode = \"n\"\ndim = -1\nname = \"A\"",
            "`dim` of a split is no position",
        ),
        (
            "[[split]]\nnode = \"n\"\nname = \"A\"",
            "a split has no `dim`",
        ),
        (
            "[[split]]\nnode = \"n\"\ndim = 0\nname = \"A\"\nplace = 1",
            "unknown key `place`",
        ),
        ("names = [", ""),
    ] {
        let error = DimNames::parse(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn dims_of_size_1_that_broadcast_stay_apart() -> Result<()> {
    let model = Writer::default()
        .input("x", &["batch", "channel"])
        .input("scale", &["batch", "1"])
        .node("Mul", &["x", "scale"], "y")
        .output("y", &["batch", "channel"])
        .output("scale", &["batch", "1"])
        .model();
    let model = Model::from_bytes(&model)?;
    assert_eq!(output(&model, "y"), "(Batch, Channel)");
    assert_eq!(
        model.inputs()[1].to_string(),
        "scale: (Batch, Scale1=1) f32"
    );
    Ok(())
}

/// Exporters write an `Expand` to computed sizes, among which -1 is replaced by 1.
#[test]
fn sizes_that_are_compared_and_chosen_are_followed() -> Result<()> {
    let model = Writer::default()
        .input("x", &["batch", "1", "seq"])
        .ints("two", &[2])
        .ints("one", &[1])
        .ints("minus", &[-1])
        .ints("heads", &[4])
        .node("Shape", &["x"], "shape")
        .node("Gather", &["shape", "two"], "seq")
        .node_with(
            "Concat",
            &["minus", "heads", "seq"],
            "wanted",
            &[("axis", Attr::Int(0))],
        )
        .node("Equal", &["wanted", "minus"], "free")
        .node("Where", &["free", "one", "wanted"], "sizes")
        .node("Expand", &["x", "sizes"], "y")
        .output("y", &["a", "b", "c"])
        .model();
    let model = Model::from_bytes(&model)?;
    let port = &model.outputs()[0];
    assert_eq!(port.names.as_ref().map(|names| names.len()), Some(3));
    assert!(
        port.to_string().starts_with("y: (Batch, ") && port.to_string().contains("Seq)"),
        "{port}"
    );
    Ok(())
}

#[test]
fn reshapes_keep_dims_and_name_products() -> Result<()> {
    let model = Writer::default()
        .input("x", &["batch", "3", "8", "5"])
        .random("conv.weight", &[6, 3, 1, 1])
        .ints("flat", &[0, 6, 40])
        .ints("heads", &[0, 2, 3, 40])
        .node("Conv", &["x", "conv.weight"], "y")
        .node("Reshape", &["y", "flat"], "z")
        .node("Reshape", &["z", "heads"], "h")
        .output("z", &["batch", "6", "40"])
        .output("h", &["batch", "2", "3", "40"])
        .model();
    let model = Model::from_bytes(&model)?;
    assert_eq!(
        model.inputs()[0].to_string(),
        "x: (Batch, Channel=3, H=8, W=5) f32"
    );
    assert_eq!(
        output(&model, "z"),
        "(Batch, Conv, Z2)".replace("Z2", &product(&model))
    );
    assert!(
        output(&model, "h").starts_with("(Batch, Head, HeadSize, "),
        "{}",
        output(&model, "h")
    );
    Ok(())
}

/// The name of the dim of size 40.
fn product(model: &Model) -> String {
    model
        .dims()
        .iter()
        .find(|dim| dim.sizes == [40])
        .unwrap()
        .name
        .clone()
}

#[test]
fn names_of_roles_and_paths_say_something() -> Result<()> {
    let model = Writer::default()
        .indices("tokens", &["batch", "length"])
        .random("encoder.embedding.weight", &[50, 8])
        .random("encoder.0.linear.weight", &[8, 6])
        .random("encoder.1.linear.weight", &[6, 6])
        .node("Gather", &["encoder.embedding.weight", "tokens"], "x")
        .node("MatMul", &["x", "encoder.0.linear.weight"], "y")
        .node("MatMul", &["y", "encoder.1.linear.weight"], "z")
        .output("z", &["batch", "length", "6"])
        .model();
    let model = Model::from_bytes(&model)?;
    assert_eq!(output(&model, "z"), "(Batch, Length, Encoder1)");
    let names: Vec<_> = model.dims().iter().map(|dim| &dim.name[..]).collect();
    for name in ["Embedding", "Encoder0", "Vocabulary"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(model.dims().iter().all(|dim| dim.meaningful));
    let sums: usize = model.dims().iter().map(|dim| dim.activations).sum();
    assert_eq!(sums, 9, "three results of three dims");
    Ok(())
}
