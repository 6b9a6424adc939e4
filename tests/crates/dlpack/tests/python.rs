//! Tensors of NumPy and PyTorch in one process with nomina. `NOMINA_PYTHON` names the Python; without NumPy nothing is
//! compared.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the path of the library, which cargo builds before this test.
fn library() -> PathBuf {
    let name = format!(
        "{}dlpack{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let deps = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_owned();
    let near = [deps.join(&name), deps.join("..").join(&name)];
    near.into_iter()
        .find(|path| path.exists())
        .expect("the library")
}

#[test]
fn tensors_go_both_ways_where_python_is() {
    let python = std::env::var("NOMINA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exchange.py");
    let Ok(output) = Command::new(&python).arg(script).arg(library()).output() else {
        eprintln!("not compared: there is no `{python}`");
        return;
    };
    let (out, error) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{out}{error}");
    eprintln!("{out}");
}
