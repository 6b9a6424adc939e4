//! The programs of newcomers in `tests/newcomer`, with the profile of all tests. `cargo xtask nightly` runs them in
//! their own crate, with cargo's default profiles.

#[path = "newcomer/tests/first_hours.rs"]
#[allow(
    clippy::reversed_empty_ranges,
    reason = "an empty range is an error at run time"
)]
mod first_hours;
#[path = "newcomer/tests/first_month.rs"]
mod first_month;
#[path = "newcomer/tests/generic_crate.rs"]
mod generic_crate;
#[path = "newcomer/tests/layers.rs"]
mod layers;
#[path = "newcomer/tests/networks.rs"]
mod networks;
#[path = "newcomer/tests/products.rs"]
mod products;

#[test]
fn every_file_is_a_module_here() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/newcomer/tests");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("#[path = \"newcomer/tests/{name}\"]");
        assert!(include_str!("newcomer.rs").contains(&path), "{path}");
    }
}

/// The tables of `newcomer/src/lib.rs` name functions of tests, and mistakes of `ui-tests`.
#[test]
fn the_tables_name_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let tables = include_str!("newcomer/src/lib.rs").lines();
    let rows = tables.filter_map(|line| line.strip_prefix("//! | ")?.split_once(" | "));
    let mut count = 0;
    for name in rows.flat_map(|(_, held)| held.split('`').skip(1).step_by(2)) {
        count += 1;
        let Some((file, function)) = name.split_once("::") else {
            let text = root.join("ui-tests").join(name).with_extension("stderr");
            assert!(text.is_file(), "{name}");
            continue;
        };
        let folder = if file.contains('/') {
            ""
        } else {
            "tests/newcomer/tests"
        };
        let text = std::fs::read_to_string(root.join(folder).join(file)).unwrap();
        assert!(text.contains(&format!("fn {function}()")), "{name}");
    }
    assert!(count > 40, "{count}");
}
