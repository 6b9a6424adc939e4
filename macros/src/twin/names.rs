//! Names of the generated methods.

/// Returns the name of a method without a part of it.
pub fn shorter(name: &str, part: &str) -> Option<String> {
    let (before, behind) = name.rsplit_once(part)?;
    Some(format!("{before}{behind}"))
}
