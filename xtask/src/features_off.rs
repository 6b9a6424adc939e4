//! `cargo xtask features-off`: what rustc says to a newcomer who calls a method whose feature is off. All tests of the
//! workspace have all features, so one here compiles the files of such methods without the rest of the library.

use crate::step::{Command, Outcome};

/// The program, a part of the newcomers' crate.
const PROGRAM: &str = "tests/newcomer/src/bin/features_off.rs";

/// The lines of rustc's text that say what is wrong, in order.
const TOLD: &str = r#"
error[E0277]: this method needs nomina's feature `fft`
|                      --- ^ Fourier transforms are off
= note: in Cargo.toml: `nomina = { path = "../nomina", features = ["fft"] }`
error[E0277]: this method needs nomina's feature `fft`
|                      --------- ^ Fourier transforms are off
= note: in Cargo.toml: `nomina = { path = "../nomina", features = ["fft"] }`
error[E0277]: this method needs nomina's feature `linalg`
|                      --- ^^^^^^ linear algebra is off
= note: in Cargo.toml: `nomina = { path = "../nomina", features = ["linalg"] }`
error[E0277]: this method needs nomina's feature `fft`
|                               --- ^^^ Fourier transforms are off
= note: in Cargo.toml: `nomina = { path = "../nomina", features = ["fft"] }`
"#;

/// Checks the newcomers' crate without the features, with the whole library.
pub fn run() -> Outcome {
    let check = Command::cargo(["check", "--manifest-path", "tests/newcomer/Cargo.toml"]).args([
        "--target-dir",
        "target/newcomer",
        "--no-default-features",
        "--bin",
        "features_off",
    ]);
    compare(&check)
}

/// Runs a command that compiles the program, and compares the text of its failure.
fn compare(compile: &Command) -> Outcome {
    let text = match compile.errors() {
        Ok(_) => return Err(format!("{PROGRAM} compiles without the features")),
        Err(text) => text,
    };
    let (found, wanted) = (essence(&text), TOLD.trim());
    if found == wanted {
        Ok(())
    } else {
        Err(format!("rustc says\n{found}\nand not\n{wanted}\n\n{text}"))
    }
}

/// Returns the errors of a text, each with the line that points at the program and the way out.
fn essence(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.filter(|line| {
        line.starts_with("error[")
            || line.contains("^ Fourier")
            || line.contains("^ linear")
            || line.starts_with("= note: in Cargo.toml")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::step::root;

    /// Stands in for the runtime, with the real file of methods that are off.
    const RUNTIME: &str = "
        pub mod tensor {
            pub struct DynTensor;
            #[path = \"ROOT/runtime/src/tensor/feature_off.rs\"]
            pub mod feature_off;
        }
        pub use tensor::DynTensor;
    ";

    /// Stands in for the typed library.
    const LIBRARY: &str = "
        extern crate self as nomina_core;
        pub trait Element {}
        impl Element for f32 {}
        pub mod dims {
            pub trait Dims {}
            impl<A, B> Dims for (A, B) {}
        }
        pub mod tensor {
            pub struct Tensor<D, T = f32>(pub std::marker::PhantomData<(D, T)>);
            #[path = \"ROOT/src/tensor/feature_off.rs\"]
            mod feature_off;
        }
        impl<D> tensor::Tensor<D> {
            pub fn to_dyn(&self) -> nomina_runtime::DynTensor {
                nomina_runtime::DynTensor
            }
        }
        #[macro_export]
        macro_rules! dims {
            ($($name:ident),*) => { $(#[derive(Clone, Copy)] pub struct $name;)* };
        }
        #[macro_export]
        macro_rules! tensor {
            ($values:expr; $($name:ident),*) => {{
                let _ = $values;
                $crate::tensor::Tensor::<($($name,)*)>(std::marker::PhantomData)
            }};
        }
        pub mod prelude {
            pub use crate::{dims, tensor};
            pub type Result<T> = std::result::Result<T, std::fmt::Error>;
        }
    ";

    #[test]
    fn a_method_of_a_feature_that_is_off_names_it() {
        let folder =
            std::env::temp_dir().join(format!("nomina-features-off-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let place = folder.to_string_lossy();
        let rustc = |kind: &str, name: &str, file: &str| {
            Command::new(
                "rustc",
                [
                    "--edition=2024",
                    "--emit=metadata,link",
                    "--crate-type",
                    kind,
                ],
            )
            .args(["--crate-name", name, file, "--diagnostic-width=140"])
            .args(["-L", &place, "--out-dir", &place])
        };
        let library = |name: &str, text: &str| {
            let file = folder.join(name).with_extension("rs");
            fs::write(&file, text.replace("ROOT", &root().to_string_lossy())).unwrap();
            rustc("lib", name, &file.to_string_lossy())
        };
        let known = |name: &str| {
            let file = folder.join(format!("lib{name}.rlib"));
            format!("--extern={name}={}", file.display())
        };
        let runtime = known("nomina_runtime");
        library("nomina_runtime", RUNTIME).errors().unwrap();
        library("nomina", LIBRARY)
            .args([&runtime])
            .errors()
            .unwrap();
        let program = rustc("bin", "features_off", PROGRAM).args([runtime, known("nomina")]);
        let found = compare(&program);
        // Another crate of the same program may turn the runtime's features on.
        library("nomina_runtime", RUNTIME)
            .args(["--cfg=feature=\"fft\"", "--cfg=feature=\"linalg\""])
            .errors()
            .unwrap();
        let beside = library("nomina", LIBRARY)
            .args([known("nomina_runtime")])
            .errors();
        fs::remove_dir_all(&folder).unwrap();
        found.unwrap();
        beside.unwrap();
    }

    /// The methods of a feature have their counterparts without it, for typed tensors and dynamic ones.
    #[test]
    fn every_method_is_refused() {
        let read = |file: &str| fs::read_to_string(root().join(file)).unwrap();
        let off =
            ["src", "runtime/src"].map(|folder| read(&format!("{folder}/tensor/feature_off.rs")));
        let mut count = 0;
        for (at, file) in [
            (0, "src/tensor/fft.rs"),
            (0, "src/tensor/linalg/mod.rs"),
            (0, "src/tensor/linalg/factor.rs"),
            (1, "runtime/src/tensor/fft.rs"),
            (1, "runtime/src/tensor/linalg.rs"),
        ] {
            let text = read(file);
            let methods = text
                .lines()
                .filter_map(|line| line.strip_prefix("    pub fn "));
            for method in methods.filter(|method| method.contains('<')) {
                let name = method.split('<').next().unwrap_or_default();
                let plain = name.strip_prefix("try_").unwrap_or(name);
                for form in [
                    name,
                    plain,
                    &name.replace("_with", ""),
                    &plain.replace("_with", ""),
                ] {
                    count += 1;
                    assert!(
                        off[at].contains(&format!("pub fn {form}<A: With")),
                        "{file}: {form}"
                    );
                }
            }
        }
        assert!(count > 100, "{count}");
    }
}
