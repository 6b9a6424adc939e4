//! A table of figures and their limits.

/// The limit of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No limit.
    None,
    /// The typed program's figure is at most this.
    AtMost(f64),
    /// The typed program's figure exceeds `DynTensor`'s by at most this.
    Over(f64),
    /// The typed program's figure exceeds `DynTensor`'s by at most this many per cent.
    Percent(f64),
}

/// A figure of a program, typed and on `DynTensor`.
#[derive(Clone, Debug)]
pub struct Row {
    pub program: String,
    /// The measured quantity, with its unit.
    pub figure: &'static str,
    pub typed: f64,
    /// `None` if there is no such program.
    pub dynamic: Option<f64>,
    pub limit: Limit,
}

impl Row {
    /// Returns the value to compare with the limit.
    pub fn judged(&self) -> f64 {
        let dynamic = self.dynamic.unwrap_or(0.0);
        match self.limit {
            Limit::AtMost(_) => self.typed,
            Limit::None | Limit::Over(_) => self.typed - dynamic,
            Limit::Percent(_) => (self.typed / dynamic - 1.0) * 100.0,
        }
    }

    pub fn bound(&self) -> Option<f64> {
        match self.limit {
            Limit::None => None,
            Limit::AtMost(bound) | Limit::Over(bound) | Limit::Percent(bound) => Some(bound),
        }
    }

    pub fn holds(&self) -> bool {
        // NaN exceeds any limit.
        self.bound().is_none_or(|bound| self.judged() <= bound)
    }

    /// Formats a line of the table.
    pub fn line(&self) -> String {
        let dynamic = self.dynamic.map_or(String::new(), |n| format!("{n:.2}"));
        let unit = match self.limit {
            Limit::Percent(_) => "%",
            _ => "",
        };
        let over = match (self.dynamic, self.limit) {
            (None, _) => String::new(),
            (Some(dynamic), Limit::AtMost(_)) => format!("{:+.2}", self.typed - dynamic),
            (Some(_), _) => format!("{:+.2}{unit}", self.judged()),
        };
        let (sign, bound, verdict) = match (self.limit, self.bound()) {
            (Limit::AtMost(_), Some(bound)) => ("", format!("{bound}"), self.holds()),
            (_, Some(bound)) => ("+", format!("{bound}{unit}"), self.holds()),
            (_, None) => ("", String::new(), true),
        };
        let verdict = match (bound.is_empty(), verdict) {
            (true, _) => "",
            (false, true) => "holds",
            (false, false) => "FAILS",
        };
        let line = format!(
            "{:<13} {:<18} {:>9.2} {dynamic:>9} {over:>9} {:>7}  {verdict}",
            self.program,
            self.figure,
            self.typed,
            format!("{sign}{bound}"),
        );
        line.trim_end().to_owned()
    }

    /// Formats a JSON object.
    pub fn json(&self) -> String {
        let number = |n: Option<f64>| match n {
            Some(n) if n.is_finite() => format!("{n:.4}"),
            _ => "null".to_owned(),
        };
        let held = match self.limit {
            Limit::None => "none",
            Limit::AtMost(_) => "typed",
            Limit::Over(_) => "typed - dynamic",
            Limit::Percent(_) => "percent bigger than dynamic",
        };
        format!(
            "{{\"program\":{:?},\"figure\":{:?},\"typed\":{},\"dynamic\":{},\"judged\":{},\
             \"limit\":{},\"limit_on\":{held:?},\"holds\":{}}}",
            self.program,
            self.figure,
            number(Some(self.typed)),
            number(self.dynamic),
            number(Some(self.judged())),
            number(self.bound()),
            self.holds()
        )
    }
}

/// A table that prints its rows as they are added.
pub struct Table {
    json: bool,
    /// If false, nothing fails: a quick run is too inexact.
    judge: bool,
    failed: Vec<String>,
}

impl Table {
    pub fn start(json: bool, judge: bool) -> Self {
        if !json {
            println!(
                "{:<13} {:<18} {:>9} {:>9} {:>9} {:>7}",
                "", "", "typed", "DynTensor", "over", "limit"
            );
        }
        Self {
            json,
            judge,
            failed: Vec::new(),
        }
    }

    pub fn add(&mut self, mut row: Row) {
        if !self.judge {
            row.limit = Limit::None;
        }
        println!("{}", if self.json { row.json() } else { row.line() });
        if !row.holds() {
            self.failed.push(format!("{}, {}", row.program, row.figure));
        }
    }

    /// Returns the figures that exceed their limits.
    pub fn failed(&self) -> &[String] {
        &self.failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(typed: f64, dynamic: Option<f64>, limit: Limit) -> Row {
        Row {
            program: "mix".to_owned(),
            figure: "check, ms/op",
            typed,
            dynamic,
            limit,
        }
    }

    #[test]
    fn limits_are_held_against_what_they_name() {
        assert!(row(1.0, Some(0.6), Limit::Over(0.5)).holds());
        assert!(!row(1.2, Some(0.6), Limit::Over(0.5)).holds());
        assert!(row(1.2, Some(0.6), Limit::AtMost(1.5)).holds());
        assert!(!row(1.6, Some(1.6), Limit::AtMost(1.5)).holds());
        assert!(row(10.5, Some(10.0), Limit::Percent(10.0)).holds());
        assert!(!row(11.5, Some(10.0), Limit::Percent(10.0)).holds());
        assert!(row(9.0, None, Limit::None).holds());
        assert!(!row(f64::NAN, None, Limit::AtMost(1.0)).holds());
    }

    #[test]
    fn a_line_shows_the_limit_and_the_verdict() {
        let line = row(1.0, Some(0.25), Limit::Over(0.5)).line();
        assert!(
            line.contains("+0.75") && line.ends_with("+0.5  FAILS"),
            "{line}"
        );
        let line = row(10.5, Some(10.0), Limit::Percent(10.0)).line();
        assert!(
            line.contains("+5.00%") && line.ends_with("+10%  holds"),
            "{line}"
        );
        let line = row(3.0, None, Limit::AtMost(5.0)).line();
        assert!(line.ends_with(" 5  holds") && !line.contains('+'), "{line}");
        let line = row(3.0, Some(2.0), Limit::None).line();
        assert!(line.ends_with("+1.00"), "{line}");
        let line = row(3.0, Some(2.0), Limit::AtMost(2.5)).line();
        assert!(line.contains("+1.00     2.5  FAILS"), "{line}");
    }

    #[test]
    fn json_is_an_object_a_row() {
        let text = row(1.0, None, Limit::AtMost(5.0)).json();
        assert_eq!(
            text,
            "{\"program\":\"mix\",\"figure\":\"check, ms/op\",\"typed\":1.0000,\
             \"dynamic\":null,\"judged\":1.0000,\"limit\":5.0000,\"limit_on\":\"typed\",\
             \"holds\":true}"
        );
    }

    #[test]
    fn a_quick_run_judges_nothing() {
        for judge in [false, true] {
            let mut table = Table::start(true, judge);
            table.add(row(9.0, None, Limit::AtMost(5.0)));
            assert_eq!(table.failed().len(), usize::from(judge));
        }
    }
}
