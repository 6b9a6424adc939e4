//! The public functions of `call` with arguments that nobody should give: see `hostile/mod.rs`.
//! `NOMINA_HOSTILE=count,seed` says how many argument sets each of them gets, and where they begin; a name as a
//! third part leaves all others out.

#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[path = "hostile/mod.rs"]
mod hostile;

use bytes::Bytes;
use hostile::trial;

/// The functions that `call` makes public, by its source.
fn exported() -> Vec<String> {
    let source = include_str!("../src/call/mod.rs");
    let uses = source.split("\npub use ").skip(1);
    let lists = uses
        .filter_map(|rest| rest.split_once(';'))
        .map(|(list, _)| list);
    let names = lists.flat_map(|list| {
        let items = list.split_once('{').map_or_else(
            || list.rsplit("::").next().unwrap_or(list),
            |(_, items)| items.trim_end_matches('}'),
        );
        items
            .split(',')
            .map(|item| item.rsplit(" as ").next().unwrap_or(item).trim())
    });
    names
        .filter(|name| name.starts_with(char::is_lowercase))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_public_function_is_called() {
    let exported = exported();
    assert!(exported.len() > 50, "{exported:?}");
    let called: Vec<&str> = hostile::calls().map(|call| call.name).collect();
    let missing: Vec<&String> = exported
        .iter()
        .filter(|name| !called.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no entry for {missing:?}");
}

/// As a fuzzer does it.
#[test]
fn bytes_say_what_is_called() {
    for byte in 0..=u8::MAX {
        hostile::run(&mut Bytes::Given(&[byte, 2, 3, 1, 1, byte, 0, 2]));
    }
}

#[test]
fn no_arguments_do_harm() {
    let asked = std::env::var("NOMINA_HOSTILE").unwrap_or_default();
    let mut asked = asked.split(',');
    let mut number = |default| {
        let given = asked.next().filter(|text| !text.is_empty());
        given.map_or(default, |text| text.parse::<u64>().expect("count,seed"))
    };
    let (count, first) = (number(300), number(1));
    trial::all(count, first, asked.next());
}
