//! Gathers the fixed programs of all mistakes for `tests/fixed.rs`.

#[path = "src/catalogue.rs"]
#[allow(dead_code)]
mod catalogue;

use std::fmt::Write;
use std::path::Path;

/// Mistakes for which rustc's own help does not compile: it names a trait without its path. The label says the bound to write.
const MISADVISED: [&str; 5] = [
    "generic/generic_dim",
    "generic/generic_factory",
    "generic/generic_groups",
    "generic/generic_new_dim",
    "generic/generic_result",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = std::env::var("CARGO_MANIFEST_DIR")?;
    let root = Path::new(&root);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/catalogue.rs");
    let mut out = String::new();
    let mut rule = String::new();
    for (file, mistake) in catalogue::read(root)? {
        if mistake.rule != rule {
            if !rule.is_empty() {
                out.push_str("}\n");
            }
            writeln!(out, "mod {} {{", mistake.rule)?;
            rule.clone_from(&mistake.rule);
            println!("cargo::rerun-if-changed={rule}");
        }
        let name = &mistake.name;
        if let Some(fixed) = mistake.fixed() {
            writeln!(out, "// {} with its fix", file.display())?;
            writeln!(
                out,
                "mod {name} {{\n{fixed}\n#[test]\nfn runs() {{ main(); }}\n}}"
            )?;
        }
        let is_misadvised = MISADVISED.contains(&mistake.path().as_str());
        if let Some(advised) = mistake.advised().filter(|_| !is_misadvised) {
            writeln!(out, "// {} with rustc's own help", file.display())?;
            writeln!(out, "mod {name}_as_advised {{\n{advised}\n}}")?;
        }
    }
    if !rule.is_empty() {
        out.push_str("}\n");
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("fixed.rs"), out)?;
    Ok(())
}
