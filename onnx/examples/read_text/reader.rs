//! Reads the lines of text of a picture, by two models: one finds the lines, one reads a line.

use nomina::prelude::*;
use nomina_onnx::Model;

use crate::boxes::{H, Line, W, lines};
use crate::letters::{Column, Letter, text};

dims! {
    /// Pictures.
    pub Picture,
    /// Red, green and blue.
    pub Rgb = 3,
}

/// The least height and width of a picture for the model that finds lines.
const LEAST_SIDE: usize = 736;
/// Heights and widths are multiples of this number.
const STEP: usize = 32;
/// The height of a line for the model that reads, and its least width.
const LINE: [usize; 2] = [48, 320];
/// The score below which a line is left out.
const LEAST_SCORE: f64 = 0.5;

/// Finds and reads text.
pub struct Reader {
    finder: Model,
    reader: Model,
    alphabet: Vec<String>,
}

/// A line that was read.
#[derive(Clone, Debug)]
pub struct Text {
    pub place: Line,
    pub text: String,
    pub score: f64,
}

impl Reader {
    /// Opens the two models.
    pub fn open(finder: &str, reader: &str) -> Result<Self> {
        let reader = Model::open(reader)?;
        let letters = reader.metadata().get("character").ok_or_else(|| {
            Error::new(
                ErrorKind::File,
                "read_text",
                "the model has no list of characters",
            )
        })?;
        let alphabet = letters.lines().map(str::to_owned).collect();
        Ok(Self {
            finder: Model::open(finder)?,
            reader,
            alphabet,
        })
    }

    /// Reads a picture.
    pub fn read(&self, picture: &Tensor<(H, W, Rgb), u8>) -> Result<Vec<Text>> {
        // The models learned from blue, green, red.
        let picture = picture.float().flip(Rgb);
        let sizes = [picture.size(H), picture.size(W)];
        let map = run(&self.finder, &normalized(&picture, finder_sizes(sizes)))?;
        let map: Tensor<(H, W)> = map
            .select(0, 0)?
            .select(0, 0)?
            .rename(["H", "W"])?
            .typed()?;
        let alphabet: Vec<&str> = self.alphabet.iter().map(String::as_str).collect();
        let mut all = Vec::new();
        for place in lines(&map, sizes) {
            let line = picture
                .narrow(H, place.rows.clone())
                .narrow(W, place.columns.clone());
            let scores = run(&self.reader, &padded_line(&line))?;
            let scores: Tensor<(Column, Letter)> =
                scores.select(0, 0)?.rename(["Column", "Letter"])?.typed()?;
            let (text, score) = text(&scores, &alphabet);
            if score >= LEAST_SCORE {
                all.push(Text { place, text, score });
            }
        }
        Ok(all)
    }
}

/// Returns the colours of a picture as `png::load` reads it: grey becomes three equal ones, and transparency is left out.
pub fn colours(picture: &DynTensor) -> Result<Tensor<(H, W, Rgb), u8>> {
    let colours = match picture.shape()[2] {
        1 | 2 => {
            let grey = picture.narrow(2, 0, 1)?;
            DynTensor::cat(&[&grey, &grey, &grey], 2)?
        }
        _ => picture.narrow(2, 0, 3)?,
    };
    colours.rename(["H", "W", "Rgb"])?.typed()
}

/// Runs a model of one picture and one result.
fn run(model: &Model, picture: &Tensor<(Rgb, H, W)>) -> Result<DynTensor> {
    let batch: Tensor<(Picture, Rgb, H, W)> = picture.align_to((Picture, Rgb, H, W));
    let outputs = model.run([("x", &batch.to_dyn().drop_names())])?;
    let (_, result) = outputs
        .iter()
        .next()
        .ok_or_else(|| Error::new(ErrorKind::Argument, "read_text", "the model has no output"))?;
    Ok(result.drop_names())
}

/// The sizes at which the lines of a picture are found.
pub fn finder_sizes([height, width]: [usize; 2]) -> [usize; 2] {
    let ratio = (LEAST_SIDE as f64 / height.min(width) as f64).max(1.0);
    [height, width].map(|size| {
        let steps = ((size as f64 * ratio).floor() / STEP as f64).round_ties_even();
        (steps as usize).max(1) * STEP
    })
}

/// Returns a picture of other sizes, with elements from -1 to 1.
pub fn normalized(
    picture: &Tensor<(H, W, Rgb)>,
    [height, width]: [usize; 2],
) -> Tensor<(Rgb, H, W)> {
    let resized = picture.interpolate((H.of(height), W.of(width)), InterpolateMode::Linear);
    (resized / 127.5 - 1.0).align_to((Rgb, H, W))
}

/// Returns a line with the height for the model, and zeros at its right end if it is short.
pub fn padded_line(line: &Tensor<(H, W, Rgb)>) -> Tensor<(Rgb, H, W)> {
    let [height, least] = LINE;
    let ratio = line.size(W) as f64 / line.size(H) as f64;
    let width = (height as f64 * ratio).ceil() as usize;
    let line = normalized(line, [height, width.max(1)]);
    let missing = least.saturating_sub(width);
    line.pad(W, [(0, missing as i64)])
}
