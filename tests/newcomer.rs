//! The programs of newcomers in `tests/newcomer`, with the profile of all tests. `cargo xtask nightly` runs them in
//! their own crate, with cargo's default profiles.

#[path = "newcomer/tests/first_hours.rs"]
mod first_hours;
#[path = "newcomer/tests/first_month.rs"]
mod first_month;
#[path = "newcomer/tests/networks.rs"]
mod networks;
#[path = "newcomer/tests/products.rs"]
mod products;
