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
