//! Text from the scores of letters in each column.

use nomina::prelude::*;

dims! {
    /// Columns of a line, from the left.
    pub Column,
    /// Letters; the first one is the gap between letters.
    pub Letter,
}

/// Returns the text of a line, and the mean score of its letters. A letter that goes on in the next column is one letter.
pub fn text(scores: &Tensor<(Column, Letter)>, alphabet: &[&str]) -> (String, f64) {
    let best = scores.argmax(Letter).to_vec();
    let score = scores.amax(Letter).to_vec();
    let (mut text, mut sum, mut count) = (String::new(), 0.0, 0usize);
    for (at, &letter) in best.iter().enumerate() {
        let goes_on = at > 0 && best[at - 1] == letter;
        if letter > 0 && !goes_on {
            // After the letters of the file comes a space.
            text.push_str(alphabet.get(letter as usize - 1).unwrap_or(&" "));
            sum += f64::from(score[at]);
            count += 1;
        }
    }
    (text, sum / count.max(1) as f64)
}
