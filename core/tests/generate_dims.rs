//! Compares the generated files with their generator; rewrites stale ones, then fails.

use std::path::Path;

#[path = "../generate/mod.rs"]
mod generate;

#[test]
fn generated_files_are_fresh() {
    let mut stale = Vec::new();
    for (path, text) in generate::files() {
        let full = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        if std::fs::read_to_string(&full).ok().as_deref() != Some(&text) {
            std::fs::write(&full, text).unwrap();
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "these were stale and have been rewritten: {stale:?}"
    );
}
