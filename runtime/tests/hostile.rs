//! Calls the public functions of `call` with hostile arguments: see `hostile/mod.rs`. `NOMINA_HOSTILE=count,seed` sets
//! the number of argument sets per function, and the first seed; a function name as a third part excludes all others.

#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[path = "hostile/mod.rs"]
mod hostile;

use bytes::Bytes;
use hostile::trial;

/// Returns the public methods in a source file.
fn methods(source: &str) -> Vec<String> {
    let public = source
        .split("pub fn ")
        .skip(1)
        .chain(source.split("pub const fn ").skip(1));
    let names = public.filter_map(|rest| rest.split(['(', '<']).next());
    names
        .filter(|name| !name.starts_with('$'))
        .map(str::to_owned)
        .collect()
}

/// Returns the public functions of `call`, from its source.
#[cfg(all(feature = "fft", feature = "linalg"))]
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

/// Checks the rest of the package, file by file; for views the list in the macro.
#[test]
fn every_public_method_is_called() {
    let sources = [
        (&["Raw"][..], include_str!("../src/raw/mod.rs")),
        (&["Raw"], include_str!("../src/raw/access.rs")),
        (&["Raw"], include_str!("../src/autograd/leaf.rs")),
        (&["grad"], include_str!("../src/autograd/backward.rs")),
        (
            &["Raw", "Strided", "raw", "call"],
            include_str!("../src/raw/format.rs"),
        ),
        (&["Raw"], include_str!("../src/call/allocate.rs")),
        (&["Raw", "RawMut"], include_str!("../src/call/elements.rs")),
        (&["RawCoo"], include_str!("../src/call/coo.rs")),
        (&["Raw", "RawMut"], include_str!("../src/raw/views.rs")),
        (&["Raw", "RawMut"], include_str!("../src/raw/exclusive.rs")),
        (&["RawCoo"], include_str!("../src/raw/coo.rs")),
        (&["Strided"], include_str!("../src/raw/strided/mod.rs")),
        (&["Strided"], include_str!("../src/raw/strided/views.rs")),
        (
            &["Generator", "random"],
            include_str!("../src/random/mod.rs"),
        ),
        (&["random"], include_str!("../src/random/distribution.rs")),
        (&["shape"], include_str!("../src/shape.rs")),
        (&["memory"], include_str!("../src/memory/mod.rs")),
        (&["memory"], include_str!("../src/memory/scratch.rs")),
        (&["display"], include_str!("../src/display/mod.rs")),
    ];
    let mut missing = Vec::new();
    for (of, source) in sources {
        let methods = methods(source);
        assert!(!methods.is_empty());
        let called =
            |name: &String| hostile::calls().any(|call| of.contains(&call.of) && call.name == name);
        missing.extend(methods.into_iter().filter(|name| !called(name)));
    }
    assert!(missing.is_empty(), "no entry for {missing:?}");
}

#[cfg(all(feature = "fft", feature = "linalg"))]
#[test]
fn every_public_function_is_called() {
    let exported = exported();
    assert!(exported.len() > 50, "{exported:?}");
    let of_call = hostile::calls().filter(|call| call.of == "call");
    let called: Vec<&str> = of_call.map(|call| call.name).collect();
    let missing: Vec<&String> = exported
        .iter()
        .filter(|name| !called.contains(&name.as_str()))
        .collect();
    assert!(missing.is_empty(), "no entry for {missing:?}");
}

/// Runs like a fuzzer does.
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
