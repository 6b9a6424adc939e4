//! Reads signatures of Rust functions from source text. Covers the grammar that our own methods use.

/// A public function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// The generics between `<` and `>` after the name.
    pub generics: String,
    /// The parameters, including `self`.
    pub params: Vec<String>,
    /// The type after `->`.
    pub result: String,
    /// The bounds after `where`, without a trailing comma.
    pub bounds: String,
    /// The header of the enclosing `impl` block without its brace; `None` for a free function.
    pub block: Option<String>,
    /// The text below `# Errors` in its docs; each line begins with `///`.
    pub errors: String,
}

/// Returns all public functions of a source.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("pub fn ") {
        let start = from + at;
        from = start + "pub fn ".len();
        if let Some(mut function) = parse_function(&text[from..]) {
            let indented = text[..start].ends_with("    ");
            function.block = indented.then(|| block(&text[..start])).flatten();
            function.errors = errors(&text[..start]);
            let attributes = attributes(&text[..start]);
            found.extend(twins(&function, attributes));
            if attributes.contains("(from") {
                function.params = given_generator(&function.params);
            }
            found.push(function);
        }
    }
    found
}

/// Returns the methods that `#[twin]` derives from one.
fn twins(function: &Function, attributes: &str) -> Vec<Function> {
    if !attributes.contains("#[twin") {
        return Vec::new();
    }
    let panicking = |function: &Function| Function {
        name: function.name.trim_start_matches("try_").to_owned(),
        result: inner(&function.result).to_owned(),
        ..function.clone()
    };
    let mut made = vec![panicking(function)];
    if let Some((before, behind)) = function.name.rsplit_once("_from")
        && attributes.contains("#[twin(from")
    {
        made[0].params = given_generator(&function.params);
        let mut plain = function.clone();
        plain.name = format!("{before}{behind}");
        plain.params.pop();
        made.extend([panicking(&plain), plain]);
    }
    if let Some((before, behind)) = function.name.rsplit_once("_with")
        && attributes.contains("with = ")
    {
        let mut plain = function.clone();
        plain.name = format!("{before}{behind}");
        plain.params.pop();
        made.extend([panicking(&plain), plain]);
    }
    made
}

/// Replaces the optional generator of a method by a mandatory one.
fn given_generator(params: &[String]) -> Vec<String> {
    let given = |param: &String| param.replace("Option<&mut Generator>", "&mut Generator");
    params.iter().map(given).collect()
}

/// Returns the type in a `Result`.
fn inner(result: &str) -> &str {
    let inner = result.strip_prefix("Result<");
    inner
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or(result)
}

/// Returns the attributes directly before a function.
fn attributes(before: &str) -> &str {
    let docs = before.rfind("///").unwrap_or(0);
    let line = before[docs..]
        .find('\n')
        .map_or(before.len(), |at| docs + at);
    let last = before.rfind("}\n").unwrap_or(0);
    &before[line.max(last)..]
}

/// Returns the section `# Errors` directly before a function.
fn errors(before: &str) -> String {
    let comment = |line: &&str| line.starts_with("///");
    let lines = before.lines().rev().map(str::trim);
    let docs = lines.skip_while(|line| !comment(line)).take_while(comment);
    let section: Vec<&str> = docs.take_while(|line| *line != "/// # Errors").collect();
    let lines = section.iter().rev().map(|line| format!("{line}\n"));
    lines.collect()
}

/// Returns the header of the last `impl` at the beginning of a line.
fn block(before: &str) -> Option<String> {
    let at = before.rfind("\nimpl")? + 1;
    let ends = [" {\n", "\n{"].map(|end| before[at..].find(end));
    let end = ends.into_iter().flatten().min()?;
    Some(before[at..at + end].to_owned())
}

fn parse_function(text: &str) -> Option<Function> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = text.split_at(end);
    let (generics, rest) = match rest.strip_prefix('<') {
        Some(inner) => {
            let end = closing(inner, '<', '>')?;
            (&inner[..end], &inner[end + 1..])
        }
        None => ("", rest),
    };
    let inner = rest.strip_prefix('(')?;
    let end = closing(inner, '(', ')')?;
    let params = parts(&inner[..end]);
    let head = &inner[end + 1..];
    // The first brace begins the body: our types contain none.
    let head = &head[..head.find('{')?];
    let (result, bounds) = match head.split_once("where") {
        Some((result, bounds)) => (result, bounds),
        None => (head, ""),
    };
    let result = result.trim().strip_prefix("->").unwrap_or("").trim();
    Some(Function {
        name: name.to_owned(),
        generics: generics.trim().to_owned(),
        params,
        result: squeezed(result),
        bounds: bounds.trim().trim_end_matches(',').to_owned(),
        block: None,
        errors: String::new(),
    })
}

/// Returns the position of the bracket that closes the one opened before `text`.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 1;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == open {
            depth += 1;
        } else if c == close && !(close == '>' && matches!(before, '-' | '=')) {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
        before = c;
    }
    None
}

/// Splits at commas outside of brackets.
pub fn parts(text: &str) -> Vec<String> {
    let (mut depth, mut from, mut found, mut before) = (0_i32, 0, Vec::new(), ' ');
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(squeezed(&text[from..at]));
                from = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    found.push(squeezed(&text[from..]));
    found.retain(|part| !part.is_empty());
    found
}

/// Joins a text to one line.
fn squeezed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    for (from, to) in [
        ("( ", "("),
        (" )", ")"),
        ("< ", "<"),
        (",>", ">"),
        (", >", ">"),
    ] {
        line = line.replace(from, to);
    }
    line.trim_end_matches(',').to_owned()
}
