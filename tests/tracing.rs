//! Tracing spans of operators, with names and sizes.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use nomina::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

dims! { N, C, K }

/// The operator and dims of each span, and how often it was entered.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(String, String, usize)>>>);

impl Seen {
    fn at(&self, id: &Id, change: impl FnOnce(&mut (String, String, usize))) {
        change(&mut self.0.lock().unwrap()[id.into_u64() as usize - 1]);
    }
}

/// Stores the fields of a span by name.
struct Fields<'a>(&'a mut (String, String, usize));

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "op" => value.clone_into(&mut self.0.0),
            "dims" => value.clone_into(&mut self.0.1),
            _ => {}
        }
    }
}

impl Subscriber for Seen {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.target().starts_with("nomina")
    }
    fn new_span(&self, of: &Attributes<'_>) -> Id {
        let mut seen = (String::new(), String::new(), 0);
        of.record(&mut Fields(&mut seen));
        let mut all = self.0.lock().unwrap();
        all.push(seen);
        Id::from_u64(all.len() as u64)
    }
    fn record(&self, id: &Id, values: &Record<'_>) {
        self.at(id, |seen| values.record(&mut Fields(seen)));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, id: &Id) {
        self.at(id, |seen| seen.2 += 1);
    }
    fn exit(&self, _: &Id) {}
}

#[test]
fn an_operator_is_a_span_with_the_dims_of_its_result() {
    let seen = Seen::default();
    tracing::subscriber::with_default(seen.clone(), || {
        let x = Tensor::<(N, C)>::ones([200, 30]).exp();
        let _ = x.matmul(&Tensor::<(C, K)>::ones([30, 4]));
        let _ = tensor!([1., 2.]; N) + tensor!([3., 4.]; N);
    });
    let all = seen.0.lock().unwrap();
    for (op, dims) in [
        ("exp", "(N=200, C=30)"),
        ("matmul", "(N=200, K=4)"),
        ("add", "(N=2)"),
    ] {
        let found: Vec<_> = all.iter().filter(|span| span.0 == op).collect();
        assert_eq!(found.len(), 1, "{all:?}");
        assert_eq!((found[0].1.as_str(), found[0].2), (dims, 1), "{all:?}");
    }
}
