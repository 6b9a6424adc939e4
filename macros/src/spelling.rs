//! Spellings of dims, and their identity as a type.
//!
//! Two dims are the same if they have the same spelling, whichever crates declare them. So the
//! spelling itself is encoded as a type: a list of symbols from an alphabet of 64.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};

/// The maximum length of an encoded spelling; longer ones are hashed. rustc's recursion limit ends
/// such lists at about 55 symbols.
const MAX_SPELLED: usize = 40;

/// The prefix of a hash; no character has this symbol.
const HASHED: u8 = 63;

/// Returns the reason why `spelling` is not a valid name, if it is not one: names are ASCII
/// identifiers.
pub fn problem(spelling: &str) -> Option<String> {
    let bytes = spelling.as_bytes();
    let is_char = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if bytes.is_empty() {
        Some("the name of a dim cannot be empty".into())
    } else if bytes[0].is_ascii_digit() {
        Some(format!(
            "the name of a dim cannot begin with a digit: `{spelling}`"
        ))
    } else {
        spelling.chars().find(|&c| !is_char(c)).map(|c| {
            format!(
                "the name of a dim has only ASCII letters, digits and `_`; {spelling:?} has {c:?}"
            )
        })
    }
}

/// Returns a run-time name without its trailing quotes, which mark it as primed.
pub fn unprimed(name: &str) -> &str {
    name.trim_end_matches('\'')
}

/// Returns a valid spelling similar to `text`, for the dim that replaces a misspelled one.
pub fn repair(text: &str) -> String {
    let mut out: String = "_".into();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            out.push(c);
        } else {
            out.push_str(&format!("u{:x}", u32::from(c)));
        }
    }
    out
}

/// Returns the type of `spelling`, e.g. `S39<End>`; `dims` is the path of its module.
pub fn id(spelling: &str, dims: &TokenStream, span: Span) -> TokenStream {
    list(&symbols(spelling), dims, span)
}

/// Returns the type by which lists are searched for `spelling`, e.g. `H17`: a hash, which
/// distinguishes most spellings in one comparison.
pub fn head(spelling: &str, dims: &TokenStream, span: Span) -> TokenStream {
    let head = format_ident!("H{}", short_hash(spelling), span = span);
    quote_spanned!(span=> #dims::head::#head)
}

/// Returns a type-level list of symbols.
pub fn list(symbols: &[u8], dims: &TokenStream, span: Span) -> TokenStream {
    let end = quote_spanned!(span=> #dims::id::End);
    symbols.iter().rev().fold(end, |rest, symbol| {
        let symbol = format_ident!("S{symbol}", span = span);
        quote_spanned!(span=> #dims::id::#symbol<#rest>)
    })
}

/// Returns the symbols of the characters, or a hash if there are too many.
fn symbols(spelling: &str) -> Vec<u8> {
    if spelling.len() <= MAX_SPELLED {
        spelling.bytes().map(symbol).collect()
    } else {
        let hash = long_hash(spelling);
        let hash = (0..128).step_by(6).map(|shift| (hash >> shift & 63) as u8);
        std::iter::once(HASHED).chain(hash).collect()
    }
}

/// Returns the symbol of a letter, a digit or `_`: 0 to 62.
pub fn symbol(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' => byte - b'a',
        b'A'..=b'Z' => byte - b'A' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        _ => 62,
    }
}

/// Computes FNV-1a in 32 bits, mixed so that the low 6 bits depend on all.
fn short_hash(spelling: &str) -> u8 {
    let mut hash = spelling.bytes().fold(0x811c_9dc5_u32, |h, b| {
        (h ^ u32::from(b)).wrapping_mul(0x0100_0193)
    });
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x2c1b_3c6d);
    hash ^= hash >> 12;
    (hash & 63) as u8
}

/// Computes FNV-1a in 128 bits over the bytes and the length, mixed downwards.
fn long_hash(spelling: &str) -> u128 {
    const PRIME: u128 = (1 << 88) + 0x13b;
    let length = spelling.len().to_le_bytes();
    let mut hash = spelling
        .bytes()
        .chain(length)
        .fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |h, b| {
            (h ^ u128::from(b)).wrapping_mul(PRIME)
        });
    hash ^= hash >> 67;
    hash = hash.wrapping_mul(PRIME);
    hash ^ hash >> 59
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_has_its_symbol() {
        let alphabet: Vec<u8> = (b'a'..=b'z')
            .chain(b'A'..=b'Z')
            .chain(b'0'..=b'9')
            .chain([b'_'])
            .map(symbol)
            .collect();
        assert_eq!(alphabet, (0..63).collect::<Vec<u8>>());
    }

    #[test]
    fn short_spellings_are_spelled_out() {
        assert_eq!(symbols("aZ9_"), [0, 51, 61, 62]);
        assert_eq!(symbols(&"x".repeat(40)).len(), 40);
        assert_ne!(
            short_hash("NC"),
            short_hash("CN"),
            "the hash sees the order"
        );
    }

    #[test]
    fn long_spellings_are_hashed_and_told_apart() {
        let long = "x".repeat(41);
        let symbols_of_long = symbols(&long);
        assert_eq!(symbols_of_long.len(), 23);
        assert_eq!(symbols_of_long[0], HASHED);
        let mut seen = std::collections::HashSet::from([symbols_of_long]);
        for at in 0..41 {
            let mut other = long.clone();
            other.replace_range(at..=at, "y");
            assert!(seen.insert(symbols(&other)), "{other}");
        }
        assert!(seen.insert(symbols(&"x".repeat(42))));
    }

    #[test]
    fn long_hashes_fill_all_symbols() {
        let all: Vec<Vec<u8>> = (0..256)
            .map(|i| symbols(&format!("{i:_>41}").replace(' ', "_")))
            .collect();
        for at in 1..22 {
            let distinct: std::collections::HashSet<u8> = all.iter().map(|s| s[at]).collect();
            assert!(
                distinct.len() > 40,
                "symbol {at} takes {} values",
                distinct.len()
            );
        }
    }

    #[test]
    fn problems_and_repairs() {
        assert_eq!(problem("Batch_2"), None);
        assert!(problem("").unwrap().contains("empty"));
        assert!(problem("2d").unwrap().contains("begin with a digit"));
        assert!(problem("a b").unwrap().contains("\"a b\" has ' '"));
        assert!(problem("größe").unwrap().contains("'ö'"));
        for bad in ["", "2d", "a b", "größe"] {
            assert_eq!(problem(&repair(bad)), None);
        }
    }
}
