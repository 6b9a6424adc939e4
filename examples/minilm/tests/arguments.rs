//! The command line of the example, without the model.

#[path = "../arguments.rs"]
mod arguments;

use std::io::{self, BufRead, Read};
use std::path::Path;

use arguments::{Arguments, Output};

fn parse(line: &[&str]) -> Result<Arguments, String> {
    Arguments::parse(line.iter().map(ToString::to_string))
}

/// An input that must not be read.
struct Closed;

impl Read for Closed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("read")
    }
}

impl BufRead for Closed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        panic!("read")
    }
    fn consume(&mut self, _: usize) {}
}

#[test]
fn options_and_sentences_in_any_order() {
    let found = parse(&["model", "One.", "--json", "Two words."]).unwrap();
    assert_eq!(found.model_dir, Path::new("model"));
    assert_eq!(found.output, Output::Json);
    assert_eq!(found.sentences, ["One.", "Two words."]);
    assert_eq!(parse(&["model"]).unwrap().output, Output::Cosines);
    assert_eq!(parse(&["--bench", "model"]).unwrap().output, Output::Times);
    let found = parse(&["model", "--", "--json", "--"]).unwrap();
    assert_eq!(
        (found.output, &found.sentences[..]),
        (Output::Cosines, &["--json".to_owned(), "--".to_owned()][..])
    );
}

#[test]
fn mistakes_are_errors() {
    for (line, error) in [
        (&[][..], "no MODEL_DIR"),
        (&["--json"], "no MODEL_DIR"),
        (&["model", "--jsn"], "no option --jsn"),
        (&["model", "--bench", "One."], "--bench takes no sentences"),
    ] {
        assert_eq!(parse(line).unwrap_err(), error);
    }
}

#[test]
fn sentences_come_from_the_command_line_or_the_input() {
    let given = parse(&["model", "One."]).unwrap();
    assert_eq!(given.sentences(Closed, false).unwrap(), ["One."]);
    let piped = parse(&["model"]).unwrap();
    let lines = &b"First.\n\n  Second one. \r\n\t\nThird"[..];
    assert_eq!(
        piped.sentences(lines, false).unwrap(),
        ["First.", "Second one.", "Third"]
    );
    let examples = parse(&["model"]).unwrap().sentences(Closed, true).unwrap();
    assert_eq!(
        (examples.len(), &examples[0][..]),
        (6, "The cat sits on the mat.")
    );
}

#[test]
fn an_input_without_sentences_is_an_error() {
    for lines in [&b""[..], b" \n\n", b"\xff\n"] {
        let error = parse(&["model"]).unwrap().sentences(lines, false);
        assert!(error.is_err(), "{lines:?}");
    }
}
