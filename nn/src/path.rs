//! The path of a tensor in a module.

/// The fields that lead to a tensor, separated by dots: `layers.0.attention.query.weight`.
#[derive(Debug, Default)]
pub struct Path(String);

impl Path {
    /// Returns the path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Runs `inside` with a component appended to the path.
    pub fn enter(&mut self, part: &str, inside: impl FnOnce(&mut Self)) {
        let before = self.0.len();
        if before > 0 {
            self.0.push('.');
        }
        self.0.push_str(part);
        inside(self);
        self.0.truncate(before);
    }
}
