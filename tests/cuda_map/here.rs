//! A device for tests: a GPU where there is one, else the host that stands for one, in a program of its own.

use nomina::Device;

#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "other tests use more of it")]
#[path = "../cuda/host.rs"]
mod host;

/// Runs `test`, which is this program's test of that name. Where there is no GPU, it runs in programs
/// that have one made of software, one after the other for each order of blocks.
pub fn on_device(name: &str, orders: &[&str], test: impl FnOnce(Device)) {
    match Device::cuda(0) {
        Ok(device) => test(device),
        Err(error) => without_gpu(name, orders, &error.to_string()),
    }
}

#[cfg(target_os = "linux")]
fn without_gpu(name: &str, orders: &[&str], missing: &str) {
    assert!(!host::is_fake(), "{missing}");
    if let Err(error) = std::process::Command::new(host::compiler())
        .arg("--version")
        .output()
    {
        println!("{name}: left out: {missing}; and no C++ compiler: {error}");
        return;
    }
    for order in orders {
        let args = ["--exact", name, "--nocapture", "--test-threads=1"];
        let output = host::rerun_with_fake(&args, &[("NOMINA_FAKE_ORDER", order)]).unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        // Above all that the test was run, and not left out by its name.
        let ran = text.contains("1 passed");
        assert!(
            output.status.success() && ran,
            "order {order}:\n{text}{said}"
        );
        for line in text.lines().filter(|line| line.contains(" failures")) {
            println!("order {order}: {line}");
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn without_gpu(name: &str, _: &[&str], missing: &str) {
    println!("{name}: left out: {missing}");
}
