//! A transformer encoder as a user would write it: layer by layer, with named dims.
//!
//! Both forms compute the same from the same seed and print it.

use crate::program::Form;

/// The text before the layers.
const TYPED_HEAD: &str = r#"//! A transformer encoder, written by the compile-time bench.
#![allow(missing_docs)]
use nomina::prelude::*;

dims! { pub Batch, pub Seq, pub Source, pub Embed, pub Head, pub Key, pub Inner, pub Hidden, pub Class }

const EMBED: usize = 16;
const HEADS: usize = 2;
const KEY: usize = 8;
const HIDDEN: usize = 32;

/// Tokens with their features.
pub type Tokens = Tensor<(Batch, Seq, Embed)>;
"#;

const DYNAMIC_HEAD: &str = r#"//! A transformer encoder on `DynTensor`, written by the compile-time bench.
#![allow(missing_docs)]
use nomina::prelude::*;

const EMBED: usize = 16;
const HEADS: usize = 2;
const KEY: usize = 8;
const HIDDEN: usize = 32;

/// Tokens with their features: dims Batch, Seq, Embed.
pub type Tokens = DynTensor;
"#;

/// The text of a layer; `$L` is its number.
const TYPED_LAYER: &str = r#"
pub struct Layer$L {
    pub attend_scale: Tensor<(Embed,)>,
    pub attend_shift: Tensor<(Embed,)>,
    pub query: Tensor<(Embed, Inner)>,
    pub query_bias: Tensor<(Inner,)>,
    pub key: Tensor<(Embed, Inner)>,
    pub key_bias: Tensor<(Inner,)>,
    pub value: Tensor<(Embed, Inner)>,
    pub value_bias: Tensor<(Inner,)>,
    pub output: Tensor<(Inner, Embed)>,
    pub output_bias: Tensor<(Embed,)>,
    pub expand_scale: Tensor<(Embed,)>,
    pub expand_shift: Tensor<(Embed,)>,
    pub expand: Tensor<(Embed, Hidden)>,
    pub expand_bias: Tensor<(Hidden,)>,
    pub shrink: Tensor<(Hidden, Embed)>,
    pub shrink_bias: Tensor<(Embed,)>,
}

impl Layer$L {
    pub fn new() -> Self {
        let inner = HEADS * KEY;
        Self {
            attend_scale: Tensor::ones([EMBED]),
            attend_shift: Tensor::zeros([EMBED]),
            query: Tensor::randn([EMBED, inner]),
            query_bias: Tensor::zeros([inner]),
            key: Tensor::randn([EMBED, inner]),
            key_bias: Tensor::zeros([inner]),
            value: Tensor::randn([EMBED, inner]),
            value_bias: Tensor::zeros([inner]),
            output: Tensor::randn([inner, EMBED]),
            output_bias: Tensor::zeros([EMBED]),
            expand_scale: Tensor::ones([EMBED]),
            expand_shift: Tensor::zeros([EMBED]),
            expand: Tensor::randn([EMBED, HIDDEN]),
            expand_bias: Tensor::zeros([HIDDEN]),
            shrink: Tensor::randn([HIDDEN, EMBED]),
            shrink_bias: Tensor::zeros([EMBED]),
        }
    }

    pub fn attention(&self, x: &Tokens) -> Tokens {
        let x = x.layer_norm(Embed) * &self.attend_scale + &self.attend_shift;
        let heads = (Head.of(HEADS), Key.of(KEY));
        let q = x.contract(&self.query, Embed) + &self.query_bias;
        let q = q.unflatten(Inner, heads);
        let k = x.contract(&self.key, Embed) + &self.key_bias;
        let k = k.unflatten(Inner, heads).rename(Seq, Source);
        let v = x.contract(&self.value, Embed) + &self.value_bias;
        let v = v.unflatten(Inner, heads).rename(Seq, Source);
        let scores = einsum!(
            q[Batch, Seq, Head, Key] * k[Batch, Source, Head, Key] -> [Batch, Head, Seq, Source]
        );
        let weights = (scores / (KEY as f32).sqrt()).softmax(Source);
        let mixed = weights.contract(&v, Source);
        let flat = mixed.align_to((Batch, Seq, Head, Key)).flatten((Head, Key), Inner);
        flat.contract(&self.output, Inner) + &self.output_bias
    }

    pub fn mlp(&self, x: &Tokens) -> Tokens {
        let x = x.layer_norm(Embed) * &self.expand_scale + &self.expand_shift;
        let hidden = (x.contract(&self.expand, Embed) + &self.expand_bias).gelu();
        hidden.contract(&self.shrink, Hidden) + &self.shrink_bias
    }

    pub fn forward(&self, x: &Tokens) -> Tokens {
        let x = x + self.attention(x);
        &x + self.mlp(&x)
    }
}
"#;

const DYNAMIC_LAYER: &str = r#"
pub struct Layer$L {
    pub attend_scale: DynTensor,
    pub attend_shift: DynTensor,
    pub query: DynTensor,
    pub query_bias: DynTensor,
    pub key: DynTensor,
    pub key_bias: DynTensor,
    pub value: DynTensor,
    pub value_bias: DynTensor,
    pub output: DynTensor,
    pub output_bias: DynTensor,
    pub expand_scale: DynTensor,
    pub expand_shift: DynTensor,
    pub expand: DynTensor,
    pub expand_bias: DynTensor,
    pub shrink: DynTensor,
    pub shrink_bias: DynTensor,
}

impl Layer$L {
    pub fn new() -> Result<Self> {
        let inner = HEADS * KEY;
        Ok(Self {
            attend_scale: DynTensor::ones(&[EMBED], ["Embed"])?,
            attend_shift: DynTensor::zeros(&[EMBED], ["Embed"])?,
            query: DynTensor::randn(&[EMBED, inner], ["Embed", "Inner"])?,
            query_bias: DynTensor::zeros(&[inner], ["Inner"])?,
            key: DynTensor::randn(&[EMBED, inner], ["Embed", "Inner"])?,
            key_bias: DynTensor::zeros(&[inner], ["Inner"])?,
            value: DynTensor::randn(&[EMBED, inner], ["Embed", "Inner"])?,
            value_bias: DynTensor::zeros(&[inner], ["Inner"])?,
            output: DynTensor::randn(&[inner, EMBED], ["Inner", "Embed"])?,
            output_bias: DynTensor::zeros(&[EMBED], ["Embed"])?,
            expand_scale: DynTensor::ones(&[EMBED], ["Embed"])?,
            expand_shift: DynTensor::zeros(&[EMBED], ["Embed"])?,
            expand: DynTensor::randn(&[EMBED, HIDDEN], ["Embed", "Hidden"])?,
            expand_bias: DynTensor::zeros(&[HIDDEN], ["Hidden"])?,
            shrink: DynTensor::randn(&[HIDDEN, EMBED], ["Hidden", "Embed"])?,
            shrink_bias: DynTensor::zeros(&[EMBED], ["Embed"])?,
        })
    }

    pub fn attention(&self, x: &Tokens) -> Result<Tokens> {
        let x = x.layer_norm("Embed")?.mul(&self.attend_scale)?.add(&self.attend_shift)?;
        let heads = [("Head", HEADS as i64), ("Key", KEY as i64)];
        let q = x.contract(&self.query, "Embed")?.add(&self.query_bias)?;
        let q = q.unflatten("Inner", heads)?;
        let k = x.contract(&self.key, "Embed")?.add(&self.key_bias)?;
        let k = k.unflatten("Inner", heads)?.rename([("Seq", "Source")])?;
        let v = x.contract(&self.value, "Embed")?.add(&self.value_bias)?;
        let v = v.unflatten("Inner", heads)?.rename([("Seq", "Source")])?;
        let scores = DynTensor::einsum(
            "q[Batch, Seq, Head, Key] * k[Batch, Source, Head, Key] -> [Batch, Head, Seq, Source]",
            &[&q, &k],
        )?;
        let weights = scores.div((KEY as f32).sqrt())?.softmax("Source")?;
        let mixed = weights.contract(&v, "Source")?;
        let flat = mixed.align_to(["Batch", "Seq", "Head", "Key"])?.flatten(["Head", "Key"], "Inner")?;
        flat.contract(&self.output, "Inner")?.add(&self.output_bias)
    }

    pub fn mlp(&self, x: &Tokens) -> Result<Tokens> {
        let x = x.layer_norm("Embed")?.mul(&self.expand_scale)?.add(&self.expand_shift)?;
        let hidden = x.contract(&self.expand, "Embed")?.add(&self.expand_bias)?.gelu()?;
        hidden.contract(&self.shrink, "Hidden")?.add(&self.shrink_bias)
    }

    pub fn forward(&self, x: &Tokens) -> Result<Tokens> {
        let x = x.add(&self.attention(x)?)?;
        x.add(&self.mlp(&x)?)
    }
}
"#;

/// Returns the program with `layers` layers.
pub fn text(form: Form, layers: usize) -> String {
    let (head, layer) = match form {
        Form::Typed | Form::Labelled | Form::Sharded => (TYPED_HEAD, TYPED_LAYER),
        Form::Dynamic => (DYNAMIC_HEAD, DYNAMIC_LAYER),
    };
    let mut text = head.to_owned();
    let (mut made, mut passed) = (String::new(), String::new());
    let pass = match form {
        Form::Typed | Form::Labelled | Form::Sharded => "",
        Form::Dynamic => "?",
    };
    for i in 0..layers {
        text.push_str(&layer.replace("$L", &i.to_string()));
        made.push_str(&format!("    let layer{i} = Layer{i}::new(){pass};\n"));
        passed.push_str(&format!("    let x = layer{i}.forward(&x){pass};\n"));
    }
    text.push_str(&match form {
        Form::Typed | Form::Labelled | Form::Sharded => format!(
            "\nfn main() {{\n    manual_seed(1);\n{made}    \
             let class: Tensor<(Embed, Class)> = Tensor::randn([EMBED, 5]);\n    \
             let x: Tokens = Tensor::randn([2, 4, EMBED]);\n{passed}    \
             let classes = x.mean(Seq).contract(&class, Embed).softmax(Class);\n    \
             println!(\"{{classes}}\");\n}}\n"
        ),
        Form::Dynamic => format!(
            "\nfn main() -> Result<()> {{\n    manual_seed(1);\n{made}    \
             let class = DynTensor::randn(&[EMBED, 5], [\"Embed\", \"Class\"])?;\n    \
             let x = DynTensor::randn(&[2, 4, EMBED], [\"Batch\", \"Seq\", \"Embed\"])?;\n\
             {passed}    \
             let classes = x.mean(\"Seq\")?.contract(&class, \"Embed\")?.softmax(\"Class\")?;\n    \
             println!(\"{{classes}}\");\n    Ok(())\n}}\n"
        ),
    });
    text
}

/// Returns the program with an additional line in the attention of the middle layer; `n` makes each
/// edit different.
pub fn edited(form: Form, layers: usize, n: usize) -> String {
    let text = text(form, layers);
    let layer = format!("impl Layer{} {{", layers / 2);
    let line = "        let heads = ";
    let (Some(start), edit) = (text.find(&layer), format!("        let _edit = {n};\n")) else {
        return text;
    };
    let Some(at) = text[start..].find(line).map(|at| start + at) else {
        return text;
    };
    format!("{}{edit}{}", &text[..at], &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_layer_is_spelled_out() {
        for form in [Form::Typed, Form::Dynamic] {
            let text = text(form, 12);
            for i in 0..12 {
                assert_eq!(text.matches(&format!("pub struct Layer{i} {{")).count(), 1);
                assert_eq!(text.matches(&format!("layer{i}.forward(&x)")).count(), 1);
            }
            assert!(!text.contains('$'));
        }
    }

    #[test]
    fn an_edit_is_one_line() {
        for form in [Form::Typed, Form::Dynamic] {
            let (text, edited) = (text(form, 3), edited(form, 3, 5));
            assert_eq!(edited.lines().count(), text.lines().count() + 1);
            let at = edited.find("let _edit = 5;").unwrap();
            assert!(at > edited.find("impl Layer1 {").unwrap());
            assert!(at < edited.find("impl Layer2 {").unwrap());
        }
    }
}
