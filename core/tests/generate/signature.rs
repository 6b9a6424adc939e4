//! Signatures of Rust functions, read from source text: enough of the grammar for our own methods.

/// A public function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// What stands between `<` and `>` behind the name.
    pub generics: String,
    /// What stands between the parentheses, apart; self among them.
    pub params: Vec<String>,
    /// Behind `->`.
    pub result: String,
    /// Behind `where`, without a last comma.
    pub bounds: String,
    /// The header of the `impl` block around it, without its brace; none for a free function.
    pub block: Option<String>,
    /// What its docs say below `# Errors`, with the signs of doc comments; each line begins one.
    pub errors: String,
}

/// All public functions of a source.
pub fn functions(text: &str) -> Vec<Function> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("pub fn ") {
        let start = from + at;
        from = start + "pub fn ".len();
        if let Some(mut function) = one(&text[from..]) {
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

/// The methods that `#[twin]` makes of one.
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

/// What a method takes that is written with an `Option` of a generator.
fn given_generator(params: &[String]) -> Vec<String> {
    let given = |param: &String| param.replace("Option<&mut Generator>", "&mut Generator");
    params.iter().map(given).collect()
}

/// What a `Result` holds.
fn inner(result: &str) -> &str {
    let inner = result.strip_prefix("Result<");
    inner
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or(result)
}

/// The attributes right before a function.
fn attributes(before: &str) -> &str {
    let docs = before.rfind("///").unwrap_or(0);
    let line = before[docs..]
        .find('\n')
        .map_or(before.len(), |at| docs + at);
    let last = before.rfind("}\n").unwrap_or(0);
    &before[line.max(last)..]
}

/// The section about errors right before a function.
fn errors(before: &str) -> String {
    let comment = |line: &&str| line.starts_with("///");
    let lines = before.lines().rev().map(str::trim);
    let docs = lines.skip_while(|line| !comment(line)).take_while(comment);
    let section: Vec<&str> = docs.take_while(|line| *line != "/// # Errors").collect();
    let lines = section.iter().rev().map(|line| format!("{line}\n"));
    lines.collect()
}

/// The header of the last `impl` that begins a line.
fn block(before: &str) -> Option<String> {
    let at = before.rfind("\nimpl")? + 1;
    let ends = [" {\n", "\n{"].map(|end| before[at..].find(end));
    let end = ends.into_iter().flatten().min()?;
    Some(before[at..at + end].to_owned())
}

fn one(text: &str) -> Option<Function> {
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
    // The body begins with the first brace: no type of ours has one.
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

/// Where the bracket closes that stands open before `text`.
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

/// The parts between commas that stand in no bracket.
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

/// On one line.
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
