use alloc::string::String;
use alloc::vec::Vec;

use super::einsum;
use crate::error::ErrorKind;
use crate::name::{Name, Names};

fn names(text: &str) -> Names {
    let each = text.split_whitespace();
    Names::new(each.map(|name| (name != "_").then(|| Name::new(name).expect("a name"))))
        .expect("names")
}

/// Returns the operands' letters, the result's letters, and the result's names as text.
fn read(
    equation: &str,
    operands: &[&str],
) -> Result<(Vec<Vec<usize>>, Vec<usize>, String), ErrorKind> {
    let operands: Vec<Names> = operands.iter().map(|text| names(text)).collect();
    let operands: Vec<&Names> = operands.iter().collect();
    let read = einsum("einsum", equation, &operands).map_err(|e| e.kind())?;
    Ok((
        read.operands.iter().map(|list| list.to_vec()).collect(),
        read.output.to_vec(),
        alloc::format!("{}", read.names),
    ))
}

fn result(equation: &str, operands: &[&str]) -> Result<String, ErrorKind> {
    read(equation, operands).map(|(_, _, names)| names)
}

#[test]
fn letters_words_and_names() {
    let operands = ["B T K", "B S K"];
    for equation in [
        "btk,bsk->bts",
        " b t k , bsk -> b ts",
        "batch time key, batch source key -> batch time source",
        "b1 t k, b1 s k -> b1 t s",
        "[B, T, K] * [B, S, K] -> [B, T, S]",
        "q[K, B, T] * (k)[..] -> [B, T, S]",
        "[.., K] * [.., S, K] -> [.., S]",
    ] {
        let (letters, output, names) = read(equation, &operands).expect(equation);
        assert_eq!(names, "(B, T, S)", "{equation}");
        assert_eq!(letters[0][0], letters[1][0], "{equation}");
        assert_eq!(letters[0][2], letters[1][2], "{equation}");
        assert_eq!(
            output,
            [letters[0][0], letters[0][1], letters[1][1]],
            "{equation}"
        );
    }
}

#[test]
fn results_that_are_not_spelled() {
    assert_eq!(result("ba", &["N C"]), Ok("(C, N)".into()));
    assert_eq!(result("ij,jk", &["N K", "K M"]), Ok("(N, M)".into()));
    assert_eq!(
        result("...ij,...jk", &["B N K", "K M"]),
        Ok("(B, N, M)".into())
    );
    assert_eq!(result("ij,ij", &["N K", "N K"]), Ok("()".into()));
}

#[test]
fn ellipses_align_from_the_right() {
    let (letters, output, names) = read("...i,i...->...", &["A B K", "K B"]).unwrap();
    assert_eq!(letters, [[0, 1, 2].as_slice(), &[2, 1]]);
    assert_eq!(
        (output.as_slice(), names.as_str()),
        ([0, 1].as_slice(), "(A, B)")
    );
    assert_eq!(result("i...->i", &["N"]), Ok("(N,)".into()));
    assert_eq!(result("...->...", &[""]), Ok("()".into()));
}

#[test]
fn one_letter_has_one_name() {
    assert_eq!(result("ij,jk->ik", &["N _", "K M"]), Ok("(N, M)".into()));
    assert_eq!(result("ij,ij->ij", &["N _", "_ _"]), Ok("(N, _)".into()));
    assert_eq!(
        result("ij,jk->ik", &["N K", "L M"]),
        Err(ErrorKind::NameMismatch)
    );
    assert_eq!(
        result("ij,kj->ik", &["N K", "N K"]),
        Err(ErrorKind::DuplicateNames)
    );
    assert_eq!(result("ii->i", &["N N'"]), Ok("(N,)".into()));
    assert_eq!(result("ii->i", &["N M"]), Ok("(_,)".into()));
    assert_eq!(result("ii->", &["N M"]), Ok("()".into()));
}

#[test]
fn equations_that_say_nothing() {
    for (equation, operands, kind) in [
        ("", &[][..], ErrorKind::Argument),
        ("ij", &["N C", "N C"], ErrorKind::Argument),
        ("i1,i2", &["N C"], ErrorKind::Argument),
        ("i$", &["N C"], ErrorKind::Argument),
        ("ij->ii", &["N C"], ErrorKind::Argument),
        ("ij->k", &["N C"], ErrorKind::Argument),
        ("i", &["N C"], ErrorKind::Rank),
        ("ijk", &["N C"], ErrorKind::Rank),
        ("...i...", &["N C"], ErrorKind::Ellipsis),
        ("[N, C]", &["N C"], ErrorKind::Argument),
        ("[N, C -> [N]", &["N C"], ErrorKind::Argument),
        ("[N] -> [N]", &["N C"], ErrorKind::NamesLen),
        ("[N, K] -> [N]", &["N C"], ErrorKind::NameNotFound),
        ("[N, C] -> [K]", &["N C"], ErrorKind::NameNotFound),
        ("[N, C] -> [N, N]", &["N C"], ErrorKind::DuplicateNames),
        ("[N, N] -> [N]", &["N C"], ErrorKind::DuplicateNames),
        ("[.., ..] -> []", &["N C"], ErrorKind::Ellipsis),
        ("[N, ..] -> [N]", &["N _"], ErrorKind::UnnamedDim),
        ("[N] -> [..]", &["N"], ErrorKind::Argument),
        ("ä->", &["N"], ErrorKind::Argument),
    ] {
        assert_eq!(result(equation, operands), Err(kind), "{equation}");
    }
}
