//! A source, with the positions of its calls, operators, tuples and declarations.

mod collect;
pub mod tokens;

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::message;
pub use collect::is_rust;
use tokens::Unread;

pub type Part = Range<usize>;

/// `receiver.name(args)`, or `name(args)` without a receiver.
#[derive(Clone, Debug)]
pub struct Call {
    pub whole: Part,
    pub receiver: Option<Part>,
    pub name: Part,
    pub args: Vec<Part>,
}

/// `left op right`.
#[derive(Clone, Debug)]
pub struct Binary {
    pub left: Part,
    pub op: Part,
    pub right: Part,
}

/// A list in brackets: a tuple or an array, of values or of types.
#[derive(Clone, Debug)]
pub struct List {
    pub whole: Part,
    pub items: Vec<Part>,
    pub of_types: bool,
}

/// `let name: ty = init`, or a parameter without `init`.
#[derive(Clone, Debug)]
pub struct Binding {
    pub name: String,
    pub pattern: Part,
    pub ty: Option<Part>,
    pub init: Option<Part>,
}

/// A function's signature.
#[derive(Clone, Debug)]
pub struct Function {
    pub whole: Part,
    /// The type parameters, each with its range.
    pub generics: Vec<(String, Part)>,
    /// The `#[relations(..)]` on the function.
    pub relations: Option<Part>,
    pub output: Option<Part>,
}

/// `name!(tokens)`.
#[derive(Clone, Debug)]
pub struct Macro {
    pub name: String,
    /// The tokens between the brackets.
    pub inner: Part,
}

/// The elements found in a source.
#[derive(Debug, Default)]
pub struct Found {
    pub calls: Vec<Call>,
    pub binaries: Vec<Binary>,
    pub lists: Vec<List>,
    pub bindings: Vec<Binding>,
    pub functions: Vec<Function>,
    pub macros: Vec<Macro>,
    /// Index expressions, `x[i]`, as base and index.
    pub brackets: Vec<(Part, Part)>,
}

/// A text with the elements found in it.
#[derive(Debug)]
pub struct Source {
    pub text: String,
    pub found: Found,
    /// The reason why nothing was found, if the text could not be parsed.
    pub unread: Option<Unread>,
}

/// Reads a source. Fails with a reason if it is not a regular file, which could block the command forever, is not
/// UTF-8, or cannot be read.
pub fn load(path: &Path) -> Result<String, String> {
    let read = || {
        if !fs::metadata(path)?.is_file() {
            return Err(std::io::Error::other("not a regular file"));
        }
        fs::read(path)
    };
    let bytes = read().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

/// Reports that a file is skipped.
pub fn skip(path: &Path, why: impl std::fmt::Display) {
    eprintln!("{}: skipped: {why}", path.display());
}

fn holds(outer: &Part, inner: &Part) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Returns the smallest of the parts that fit.
fn smallest<T>(items: &[T], part: impl Fn(&T) -> Part, fits: impl Fn(&T) -> bool) -> Option<&T> {
    items
        .iter()
        .filter(|item| fits(item))
        .min_by_key(|item| part(item).len())
}

impl Source {
    pub fn new(text: String) -> Self {
        let found = collect::collect(&text);
        Self {
            unread: found.as_ref().err().copied(),
            found: found.unwrap_or_default(),
            text,
        }
    }

    pub fn at(&self, part: &Part) -> &str {
        self.text.get(part.clone()).unwrap_or_default()
    }

    /// Returns the call with this name, or else the innermost one with this part in its arguments.
    pub fn call(&self, at: &Part) -> Option<&Call> {
        let named = |call: &&Call| call.name == *at;
        let calls = &self.found.calls;
        calls.iter().find(named).or_else(|| {
            let around = smallest(
                calls,
                |call| call.whole.clone(),
                |call| call.args.iter().any(|arg| holds(arg, at)) && !self.is_wrapper(call),
            );
            around.or_else(|| calls.iter().find(|call| call.whole == *at))
        })
    }

    /// Returns whether a call wraps a dim within an argument: `keep(C)`, `C.i(0)`, `C.of(3)`, `Prime(C)`.
    fn is_wrapper(&self, call: &Call) -> bool {
        let name = self.at(&call.name);
        name == "keep" || name == "Prime" || (name == "of" || name == "i")
    }

    /// Returns the operation with this operator.
    pub fn binary(&self, op: &Part) -> Option<&Binary> {
        self.found.binaries.iter().find(|b| b.op == *op)
    }

    /// Returns the innermost list around this part, which may be the list itself.
    pub fn list(&self, at: &Part) -> Option<&List> {
        smallest(
            &self.found.lists,
            |l| l.whole.clone(),
            |l| holds(&l.whole, at),
        )
    }

    /// Returns the innermost macro whose tokens include this part.
    pub fn macro_at(&self, at: &Part) -> Option<&Macro> {
        smallest(
            &self.found.macros,
            |m| m.inner.clone(),
            |m| holds(&m.inner, at),
        )
    }

    pub fn function(&self, at: &Part) -> Option<&Function> {
        smallest(
            &self.found.functions,
            |f| f.whole.clone(),
            |f| holds(&f.whole, at),
        )
    }

    /// Returns an expression without its leading `&` and without the parentheses around it.
    pub fn bare(&self, part: &Part) -> Part {
        let mut bare = part.clone();
        loop {
            let text = self.at(&bare);
            let cut = text.len()
                - text
                    .trim_start_matches('&')
                    .trim_start_matches("mut ")
                    .trim_start()
                    .len();
            if cut == 0 {
                return bare;
            }
            bare.start += cut;
        }
    }

    /// Returns the last binding of a name before a position.
    pub fn binding(&self, name: &str, before: usize) -> Option<&Binding> {
        self.found
            .bindings
            .iter()
            .filter(|b| b.name == name && b.pattern.end <= before)
            .max_by_key(|b| b.pattern.start)
    }

    /// Returns the dims of a variable, if its declaration gives them.
    pub fn dims_of(&self, part: &Part) -> Option<Vec<String>> {
        let bare = self.bare(part);
        let binding = self.binding(self.at(&bare), bare.start)?;
        if let Some(ty) = &binding.ty {
            return of_type(self.at(ty));
        }
        of_value(self.at(binding.init.as_ref()?))
    }

    /// Returns the first variable in a part whose dims are known and satisfy `pass`.
    pub fn variable(&self, part: &Part, pass: impl Fn(&[String]) -> bool) -> Option<Part> {
        words(self.at(part))
            .into_iter()
            .map(|word| part.start + word.start..part.start + word.end)
            .find(|word| self.dims_of(word).is_some_and(|dims| pass(&dims)))
    }

    /// Returns the dims declared in this source, without those of constant size.
    pub fn declared(&self) -> Vec<String> {
        let mut dims = Vec::new();
        for found in self.found.macros.iter().filter(|m| m.name == "dims") {
            for item in message::split(self.at(&found.inner)) {
                let name = item.rsplit(' ').next().unwrap_or(item);
                if !item.contains('=') && is_name(name) {
                    dims.push(name.to_owned());
                }
            }
        }
        dims
    }
}

/// Returns whether a text is an identifier.
pub fn is_name(text: &str) -> bool {
    tokens::parse::<syn::Ident>(text).is_some()
}

/// Returns the ranges of the identifiers in a text.
pub fn words(text: &str) -> Vec<Part> {
    let mut found: Vec<Part> = Vec::new();
    for (at, c) in text.char_indices() {
        if !(c.is_alphanumeric() || c == '_') {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == at => last.end = at + c.len_utf8(),
            _ => found.push(at..at + c.len_utf8()),
        }
    }
    found
}

/// Returns the dims of `Tensor<(N, C), f32>` and of references to it.
fn of_type(text: &str) -> Option<Vec<String>> {
    let (head, rest) = text.split_once('<')?;
    let tensor = ["Tensor", "Sparse", "TensorMut"].contains(&head.rsplit([':', '&', ' ']).next()?);
    let list = message::split(rest).into_iter().next()?;
    (tensor && list.starts_with('(')).then(|| message::dims(list.trim_end_matches('>')))
}

/// Returns the dims of `Tensor::<(N, C)>::zeros(..)`, and of `tensor!([..]; N, C)`.
fn of_value(text: &str) -> Option<Vec<String>> {
    if let Some(tokens) = text.strip_prefix("tensor!(") {
        let tokens = tokens.strip_suffix(')')?;
        let depth_ends = tokens.rfind(']')? + 1;
        let dims = tokens[depth_ends..].split(';').nth(1)?;
        return Some(
            message::split(dims)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        );
    }
    let (head, rest) = text.split_once("::<")?;
    let tensor = ["Tensor", "Sparse"].contains(&head.rsplit(':').next()?);
    let end = rest.find(">::")?;
    let list = message::split(&rest[..end]).into_iter().next()?;
    let kept = ![
        "drop_names",
        "rename",
        "sum(",
        "align",
        "flatten",
        "into_dyn",
        "refine",
    ]
    .iter()
    .any(|other| rest.contains(other));
    (tensor && kept).then(|| message::dims(list))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(source: &Source, text: &str) -> Part {
        let at = source.text.rfind(text).unwrap();
        at..at + text.len()
    }

    #[test]
    fn a_variable_has_the_dims_of_its_declaration() {
        let source = Source::new(
            "dims! { N, pub C, Rgb = 3 }\nfn f(w: &Tensor<(C, N), f64>) { let x = Tensor::<(N, C)>::zeros([2, 3]); \
             let y = tensor!([[1.]]; C, N); let z = x.sum(N); g(x, y, z, w); }"
                .to_owned(),
        );
        let dims = |name: &str| source.dims_of(&part(&source, name));
        assert_eq!(dims("x"), Some(vec!["N".to_owned(), "C".to_owned()]));
        assert_eq!(dims("y"), Some(vec!["C".to_owned(), "N".to_owned()]));
        assert_eq!(dims("w"), Some(vec!["C".to_owned(), "N".to_owned()]));
        assert_eq!(dims("z"), None);
        assert_eq!(source.declared(), ["N", "C"]);
    }

    #[test]
    fn calls_are_found_within_macros() {
        let source = Source::new("fn f() { assert!(x.sum(keep(H)) > 1.0); }".to_owned());
        let call = source.call(&part(&source, "H")).unwrap();
        assert_eq!(source.at(&call.name), "sum");
        let op = source.binary(&part(&source, ">")).unwrap();
        assert_eq!(source.at(&op.right), "1.0");
    }
}
