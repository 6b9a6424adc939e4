//! The command line, and the sentences to encode.

use std::io::{self, BufRead, ErrorKind};
use std::path::PathBuf;

const EXAMPLES: [&str; 6] = [
    "The cat sits on the mat.",
    "A dog is playing in the park.",
    "Rust checks the names of dimensions at compile time.",
    "Matrix multiplication contracts the inner dimension.",
    "It is raining heavily today.",
    "The weather is very wet.",
];

/// The output of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The cosines of all pairs of sentences.
    Cosines,
    /// The embeddings as JSON.
    Json,
    /// The times of sentences of two lengths.
    Times,
}

/// A parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub struct Arguments {
    pub model_dir: PathBuf,
    pub output: Output,
    pub sentences: Vec<String>,
}

impl Arguments {
    /// Parses the arguments after the program's name. All arguments after `--` are sentences.
    ///
    /// # Errors
    /// If the folder is missing, an option is unknown, or sentences are given to `--bench`.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let (mut output, mut words, mut is_text) = (Output::Cosines, Vec::new(), false);
        for argument in arguments {
            match &argument[..] {
                _ if is_text => words.push(argument),
                "--" => is_text = true,
                "--json" => output = Output::Json,
                "--bench" => output = Output::Times,
                option if option.starts_with("--") => return Err(format!("no option {option}")),
                _ => words.push(argument),
            }
        }
        let mut words = words.into_iter();
        let model_dir = words.next().ok_or("no MODEL_DIR")?.into();
        let sentences: Vec<String> = words.collect();
        if output == Output::Times && !sentences.is_empty() {
            return Err("--bench takes no sentences".into());
        }
        Ok(Self {
            model_dir,
            output,
            sentences,
        })
    }

    /// Returns the sentences of the command line; otherwise the lines of `input` that are not blank, or examples if it
    /// is a terminal.
    ///
    /// # Errors
    /// If `input` cannot be read, or has no sentences.
    pub fn sentences(self, input: impl BufRead, is_terminal: bool) -> io::Result<Vec<String>> {
        if !self.sentences.is_empty() {
            return Ok(self.sentences);
        }
        if is_terminal {
            return Ok(EXAMPLES.map(String::from).to_vec());
        }
        let mut found = Vec::new();
        for line in input.lines() {
            let line = line?;
            if !line.trim().is_empty() {
                found.push(line.trim().to_owned());
            }
        }
        if found.is_empty() {
            let error = "no sentences on standard input";
            return Err(io::Error::new(ErrorKind::InvalidInput, error));
        }
        Ok(found)
    }
}
