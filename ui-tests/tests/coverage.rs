//! Every message in the code occurs in the text of at least one mistake.
//!
//! Messages are read from the sources: all texts of each `on_unimplemented`, and every piece
//! of a sentence in the macros.

use std::fs;
use std::path::{Path, PathBuf};

use nomina_ui_tests::catalogue;
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Sentences of the macros that no mistake in the catalogue can cause, with the reason.
const NEVER_SAID: [(&str, &str); 7] = [
    (
        "a union holds no parameters: a module is a struct or an enum",
        "std's own error about fields that need no drop is printed as well",
    ),
    (
        "these are more than the {OPERATORS} operators that macros of `nomina` read in one expression: give the first \
         part a name with `let`",
        "a page of operators: `macros/src/depth/tests.rs` has it",
    ),
    (
        "Several [`{own}`] in a batch: each field is stacked along `BatchDim`.",
        "the documentation of a struct that `#[derive(Batch)]` declares",
    ),
    (
        "an operand is missing",
        "what syn parsed has all its operands",
    ),
    (
        "expected values, such as `[1., 2.]; N`",
        "`tensor!()` has no token to point at, so rustc names the macro behind it as well",
    ),
    (
        "call the macro of the same name in crate `nomina`",
        "only a program that calls the macros' crate itself gets there",
    ),
    (
        "expected `x[N, C] -> [N]`",
        "an equation that cannot be made out has its mistake noted already",
    ),
];

/// The reason that a message has no mistake in the catalogue yet.
const IN_GENERIC_CODE: &str = "stands among several errors about one forgotten bound";
const TWICE: &str = "is said twice about one argument";
const LONG: &str = "comes with a list of all impls";
const HIDDEN: &str = "rustc prefers the message of the trait above";

/// The reason for checks that combine several questions: rustc shows the fault, and a separate test asks for each one.
const FAULT: &str = "rustc goes down to the fault, and says that";

const LINT: &str = "is asked by `cargo nomina check` alone";

const OFF: &str = "is said without a feature that this crate has";

/// Traits whose message no mistake shows yet, with the reason.
const UNTOLD: [(&str, &str); 36] = [
    ("Adjacent", IN_GENERIC_CODE),
    ("Along", FAULT),
    ("AlongDim", HIDDEN),
    ("AxisOf", HIDDEN),
    ("CanBe", HIDDEN),
    ("Contractible", LINT),
    ("Dim", LONG),
    ("EachIn", IN_GENERIC_CODE),
    ("EachResizable", IN_GENERIC_CODE),
    ("ExpandArg", HIDDEN),
    ("FlattenOthers", HIDDEN),
    ("FlattensIn", FAULT),
    ("HasAllValues", FAULT),
    ("IsLoss", FAULT),
    ("Label", TWICE),
    ("LabelledOperand", TWICE),
    ("Number", TWICE),
    ("Over", HIDDEN),
    ("OverBoth", FAULT),
    ("OverIn", FAULT),
    ("PlacedWith", FAULT),
    ("PlacedWithNumber", FAULT),
    ("Points", TWICE),
    ("ReduceDims", HIDDEN),
    ("Reducing", FAULT),
    ("ScatterFrom", LONG),
    ("Slides", FAULT),
    ("SubscriptOf", HIDDEN),
    ("SubscriptView", HIDDEN),
    ("Subscripts", TWICE),
    ("Summed", IN_GENERIC_CODE),
    ("TensorList", TWICE),
    ("UnflattenAs", HIDDEN),
    ("Vectors", TWICE),
    ("WithFft", OFF),
    ("WithLinalg", OFF),
];

fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("a folder in the workspace").into()
}

/// Returns the Rust files below a folder, without those of tests.
fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
            && !path.ends_with("testing.rs")
        {
            out.push(path);
        }
    }
}

fn tokens(path: &Path) -> TokenStream {
    let text = fs::read_to_string(path).expect("a readable source");
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn string(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else {
        return None;
    };
    match syn::Lit::new(literal.clone()) {
        syn::Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// A message with holes: the texts between them, in order.
#[derive(Debug)]
struct Pattern(Vec<String>);

impl Pattern {
    /// Reads `a {hole} b {{brace}}`.
    fn new(message: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut rest = message.chars().peekable();
        while let Some(c) = rest.next() {
            let last = parts.last_mut().expect("never empty");
            match c {
                '{' | '}' if rest.peek() == Some(&c) => {
                    last.push(c);
                    rest.next();
                }
                '{' => {
                    rest.by_ref().find(|&c| c == '}');
                    parts.push(String::new());
                }
                _ => last.push(c),
            }
        }
        Self(parts)
    }

    /// Returns whether `line` ends with this message, and begins with it if `whole`.
    fn is(&self, line: &str, whole: bool) -> bool {
        let (first, others) = self.0.split_first().expect("never empty");
        let Some((last, middle)) = others.split_last() else {
            return line == first || (!whole && line.ends_with(first));
        };
        let starts: Vec<usize> = if whole {
            if line.starts_with(first) {
                vec![0]
            } else {
                Vec::new()
            }
        } else {
            line.match_indices(first.as_str())
                .map(|(at, _)| at)
                .collect()
        };
        starts.iter().any(|start| {
            let mut rest = &line[start + first.len()..];
            for part in middle {
                match rest.find(part.as_str()) {
                    Some(at) => rest = &rest[at + part.len()..],
                    None => return false,
                }
            }
            rest.ends_with(last.as_str())
        })
    }

    /// Returns whether `line` contains it.
    fn within(&self, line: &str) -> bool {
        let mut rest = line;
        self.0.iter().all(|part| match rest.find(part.as_str()) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    }
}

/// An `on_unimplemented` attribute.
struct Message {
    file: PathBuf,
    owner: String,
    /// `message`, `label` or `note`, and its text.
    texts: Vec<(String, String)>,
}

impl Message {
    /// Returns whether `text` contains all of it.
    fn told_by(&self, text: &str) -> bool {
        self.texts.iter().all(|(key, said)| {
            let pattern = Pattern::new(said);
            text.lines().any(|line| match key.as_str() {
                "message" => line
                    .strip_prefix("error[E0277]: ")
                    .is_some_and(|line| pattern.is(line, true)),
                "note" => line
                    .trim_start()
                    .strip_prefix("= note: ")
                    .is_some_and(|line| pattern.is(line, true)),
                _ => pattern.is(line, false),
            })
        })
    }
}

/// Returns the messages in `tokens`, each with its trait.
fn messages(file: &Path, tokens: TokenStream, out: &mut Vec<Message>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            continue;
        };
        let inner: Vec<TokenTree> = group.stream().into_iter().collect();
        let is_message = inner.len() == 5
            && inner[0].to_string() == "diagnostic"
            && inner[3].to_string() == "on_unimplemented";
        if !is_message {
            messages(file, group.stream(), out);
            continue;
        }
        let TokenTree::Group(arguments) = &inner[4] else {
            continue;
        };
        let arguments: Vec<TokenTree> = arguments.stream().into_iter().collect();
        let mut texts = Vec::new();
        for argument in arguments.split(|token| token.to_string() == ",") {
            if let [key, _, value] = argument {
                texts.push((key.to_string(), string(value).expect("a text")));
            }
        }
        let behind = &tokens[at..];
        let owner = behind
            .iter()
            .position(|token| token.to_string() == "trait")
            .and_then(|at| behind.get(at + 1))
            .map(ToString::to_string)
            .unwrap_or_default();
        out.push(Message {
            file: file.into(),
            owner,
            texts,
        });
    }
}

/// Returns the sentences in `tokens`: strings of more than one word, outside of attributes, tests and
/// `expect`.
fn sentences(tokens: TokenStream, out: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let before = |back: usize| at.checked_sub(back).map(|at| tokens[at].to_string());
        match token {
            TokenTree::Group(group) => {
                let attribute = group.delimiter() == Delimiter::Bracket
                    && before(1).is_some_and(|token| token == "#" || token == "!");
                let of_tests = before(1).is_some_and(|token| token == "tests")
                    && before(2).is_some_and(|token| token == "mod");
                let expect = before(1).is_some_and(|token| token == "expect");
                if !(attribute || of_tests || expect) {
                    sentences(group.stream(), out);
                }
            }
            _ => out.extend(string(token).filter(|text| text.trim().contains(' '))),
        }
    }
}

fn texts() -> Vec<(String, String)> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mistakes = catalogue::read(own).expect("the catalogue of mistakes");
    mistakes
        .into_iter()
        .map(|(_, mistake)| (mistake.path(), mistake.text))
        .collect()
}

#[test]
fn every_message_of_a_trait_is_told() {
    let mut files = Vec::new();
    for folder in [
        "core/src",
        "src",
        "runtime/src",
        "nn/src",
        "mesh/src",
        "data/src",
    ] {
        sources(&root().join(folder), &mut files);
    }
    let mut found = Vec::new();
    for file in &files {
        messages(file, tokens(file), &mut found);
    }
    assert!(found.len() >= 90, "only {} messages are found", found.len());
    let texts = texts();
    let told: Vec<&str> = found
        .iter()
        .filter(|message| texts.iter().any(|(_, text)| message.told_by(text)))
        .map(|message| message.owner.as_str())
        .filter(|owner| UNTOLD.iter().any(|(untold, _)| untold == owner))
        .collect();
    assert!(
        told.is_empty(),
        "told by now, take them off UNTOLD: {told:?}"
    );
    let untold: Vec<String> = found
        .iter()
        .filter(|message| !texts.iter().any(|(_, text)| message.told_by(text)))
        .filter(|message| !UNTOLD.iter().any(|(untold, _)| *untold == message.owner))
        .map(|message| {
            let file = message.file.strip_prefix(root()).unwrap_or(&message.file);
            format!("{} {}: {:?}", file.display(), message.owner, message.texts)
        })
        .collect();
    assert!(
        untold.is_empty(),
        "{} of {} messages have no ui-test:\n{}",
        untold.len(),
        found.len(),
        untold.join("\n")
    );
}

#[test]
fn every_message_of_a_macro_is_told() {
    let mut files = Vec::new();
    sources(&root().join("macros/src"), &mut files);
    sources(&root().join("data/macros/src"), &mut files);
    // Its strings become documentation, or are shown to authors of nomina's own methods.
    files.retain(|file| !file.ends_with("expand.rs") && !file.ends_with("parts.rs"));
    files.retain(|file| !file.iter().any(|part| part == "twin"));
    let mut found = Vec::new();
    for file in &files {
        sentences(tokens(file), &mut found);
    }
    found.retain(|sentence| !NEVER_SAID.iter().any(|(never, _)| never == sentence));
    assert!(
        found.len() >= 40,
        "only {} sentences are found",
        found.len()
    );
    let texts = texts();
    let said = |sentence: &str| {
        let pattern = Pattern::new(sentence);
        let mut lines = texts.iter().flat_map(|(_, text)| text.lines());
        lines.any(|line| pattern.within(line))
    };
    let untold: Vec<&String> = found.iter().filter(|sentence| !said(sentence)).collect();
    assert!(
        untold.is_empty(),
        "{} of {} sentences of the macros have no ui-test:\n{untold:#?}",
        untold.len(),
        found.len()
    );
}

#[test]
fn patterns() {
    let message = Pattern::new("dim `{X}` not found in dims {Self}");
    assert!(message.is("dim `H` not found in dims (N, C)", true));
    assert!(!message.is("dim `H` not found among dims (N, C)", true));
    let end = Pattern::new("`{Self}` is not a dim");
    assert!(end.is("`u32` is not a dim", true));
    assert!(!end.is("`u32` is not a dim with a size", true));
    assert!(Pattern::new("not a dim").is("  |   ^ not a dim", false));
    assert!(!Pattern::new("not a dim").is("not a dim here", true));
    assert!(Pattern::new("`dims! {{ N }}`").is("declare `dims! { N }`", false));
    assert!(Pattern::new("{} has {}").within("this row has 1 value"));
}

/// Types and values report a fault of placements in the same words.
#[test]
fn every_fault_of_a_placement_is_told() {
    let texts = texts();
    let untold: Vec<_> = nomina_mesh::placement::Fault::ALL
        .iter()
        .filter(|fault| {
            let (message, _) = fault.texts("{axis}", ["{dim}", "{other}"]);
            let pattern = Pattern::new(&message);
            let told = |line: &str| {
                line.strip_prefix("error[E0277]: ")
                    .is_some_and(|line| pattern.is(line, true))
            };
            !texts.iter().any(|(_, text)| text.lines().any(told))
        })
        .collect();
    assert!(untold.is_empty(), "faults without a ui-test: {untold:?}");
}
