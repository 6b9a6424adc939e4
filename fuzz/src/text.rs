//! Converts bytes to text that resembles a program.

/// Fragments of a macro's language.
pub type Fragments = &'static [&'static str];

/// Fragments that every macro may receive.
const COMMON: Fragments = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    ",",
    ";",
    ":",
    "::",
    "=",
    "==",
    "->",
    "=>",
    "|",
    "||",
    "&",
    "&&",
    "*",
    "+",
    "-",
    "/",
    "%",
    "!",
    "?",
    ".",
    "..",
    "...",
    "..=",
    "#",
    "$",
    "@",
    "'a",
    "_",
    "x",
    "y",
    "N",
    "C",
    "r#fn",
    "r#x",
    "größe",
    "self",
    "Self",
    "crate",
    "super",
    "fn",
    "let",
    "mut",
    "ref",
    "pub",
    "struct",
    "const",
    "as",
    "if",
    "else",
    "match",
    "move",
    "return",
    "break",
    "unsafe",
    "async",
    "dyn",
    "impl",
    "where",
    "for",
    "true",
    "0",
    "1",
    "1.",
    "1.5",
    "1e9",
    "0x0",
    "0b1",
    "1_0",
    "1x",
    "0b",
    "0_x",
    "1u8",
    "1f32",
    "1.5i64",
    "2usize",
    "7f16",
    "340282366920938463463374607431768211456",
    "1e999",
    "\"N\"",
    "\"\"",
    "\"a b\"",
    "\"N\"x",
    "\"'\\\"\"",
    "'c'",
    "b'a'",
    "b\"N\"",
    "c\"N\"",
    "r\"N\"",
    "r#\"N\"#",
    "#[cfg(a)]",
    "/// a\n",
    "#![a]",
    "f::<A, B>(x)",
    "vec![1]",
];

/// Generates text from `data`. Each byte selects a fragment; some bytes use the next byte as a count for deep nesting
/// or long repetition, and some begin raw text. Open delimiters are usually closed at the end.
pub fn text(data: &[u8], own: Fragments) -> String {
    const MOST: usize = 1 << 16;
    if let Some(plain) = data.strip_prefix(b"raw ") {
        return String::from_utf8_lossy(plain).into_owned();
    }
    let mut out = String::new();
    let mut bytes = data.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            // A fragment of the macro's own language, as frequent as the common ones together.
            0..=119 => out.push_str(own[usize::from(byte) % own.len()]),
            120..=239 => {
                let piece = usize::from(byte - 120) % COMMON.len();
                out.push_str(COMMON[piece]);
            }
            // The fragment given by the next byte, repeated.
            240..=246 => {
                let (Some(piece), Some(count)) = (bytes.next(), bytes.next()) else {
                    break;
                };
                let all = own.len() + COMMON.len();
                let piece = usize::from(piece) % all;
                let piece = own
                    .get(piece)
                    .copied()
                    .unwrap_or_else(|| COMMON[piece - own.len()]);
                for _ in 0..usize::from(count) * usize::from(byte - 239) {
                    out.push_str(piece);
                    out.push(' ');
                }
            }
            _ => {
                let raw: Vec<u8> = bytes.by_ref().take(usize::from(byte - 246)).collect();
                out.push_str(&String::from_utf8_lossy(&raw));
                continue;
            }
        }
        out.push(' ');
        if out.len() > MOST {
            break;
        }
    }
    if data.len() % 8 != 0 {
        close(&mut out);
    }
    out
}

/// Appends the missing closing delimiters.
fn close(text: &mut String) {
    let mut open = Vec::new();
    for sign in text.chars() {
        match sign {
            '(' => open.push(')'),
            '[' => open.push(']'),
            '{' => open.push('}'),
            ')' | ']' | '}' if open.last() == Some(&sign) => {
                open.pop();
            }
            _ => {}
        }
    }
    text.extend(open.into_iter().rev());
}
