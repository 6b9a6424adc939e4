//! A CSV table as a tensor: columns by title, and statistics of rows grouped by their first cell.

use std::collections::BTreeSet;
use std::error::Error;

use nomina::prelude::*;
use nomina::try_stack;

dims! { pub Row, pub Column, pub Group }

/// A table: below the titles, each row has a word followed by numbers.
pub struct Table<'a> {
    titles: Vec<&'a str>,
    words: Vec<&'a str>,
    numbers: Tensor<(Row, Column), f64>,
}

impl<'a> Table<'a> {
    /// Parses lines of comma-separated cells.
    pub fn parse(text: &'a str) -> Result<Self, Box<dyn Error>> {
        let mut lines = text.lines().map(|line| line.split(','));
        let titles = lines.next().ok_or("no titles")?.skip(1).collect();
        let (mut words, mut rows) = (Vec::new(), Vec::new());
        for mut cells in lines {
            words.extend(cells.next());
            let row: Tensor<(Column,), f64> = cells.map(str::parse).collect::<Result<_, _>>()?;
            rows.push(row);
        }
        let numbers = try_stack(&rows, Row)?;
        Ok(Self {
            titles,
            words,
            numbers,
        })
    }

    /// Returns the numbers below a title.
    pub fn column(&self, title: &str) -> Option<Tensor<(Row,), f64>> {
        let at = self.titles.iter().position(|other| *other == title)?;
        self.numbers.try_select(Column, at as i64).ok()
    }

    /// Returns each distinct word in order, with the mean and the standard deviation of its rows.
    pub fn by_word(&self) -> (Vec<&str>, [Tensor<(Group, Column), f64>; 2]) {
        let groups: Vec<&str> = BTreeSet::from_iter(self.words.iter().copied())
            .into_iter()
            .collect();
        let group = |word| groups.iter().take_while(|other| *other < word).count() as i64;
        let ids: Tensor<(Row,), i64> = self.words.iter().map(group).collect();
        let mean_of =
            |x: &Tensor<(Row, Column), f64>| x.group_by(Row, &ids, Group.of(groups.len())).mean();
        let mean = mean_of(&self.numbers);
        let variance = mean_of(&(&self.numbers - mean.index_select(Group, &ids)).square());
        (groups, [mean, variance.sqrt()])
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = "city,rain,sun\nOslo,60,6\nRome,70,8\nOslo,80,4\nRome,30,10\nOslo,40,8";
    let table = Table::parse(text)?;
    println!("rain: {}", table.column("rain").ok_or("no rain")?);
    let (cities, [mean, std]) = table.by_word();
    println!("{cities:?}: {mean:.1} ± {std:.1}");
    Ok(())
}
