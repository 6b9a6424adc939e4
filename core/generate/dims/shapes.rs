//! Sizes and elements at run time.

use std::fmt::Write;

use super::spell::{bounded, generics, names, tuple};

/// Writes the impls for sizes at run time.
pub fn shapes(out: &mut String, rank: usize) {
    let a = names('A', rank);
    let s = names('S', rank);
    let sized = generics(&[&bounded(&s, "SizedDim")]);
    let dims = tuple(&s.iter().map(|x| format!("{x}::Dim")).collect::<Vec<_>>());
    let sizes: Vec<String> = (0..rank).map(|i| format!("self.{i}.size()")).collect();
    let sizes = sizes.join(", ");
    let list = tuple(&s);
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl{sized} Sizes for {list} {{\n    type Dims = {dims};\n    \
         type Unflattened<D: Dims, X: Axis> = D::Splice<X, Self::Dims>;\n    \
         type Delayed<D: Dims> = D;\n    \
         fn sizes(&self) -> Shape {{ Shape::from_slice(&[{sizes}]) }}\n}}"
    )
    .unwrap();
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl{sized} ShapeFor<{dims}> for {list} {{\n    \
         fn sizes(&self) -> Shape {{ Shape::from_slice(&[{sizes}]) }}\n}}"
    )
    .unwrap();
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl{} ShapeFor<{}, T> for [usize; {rank}] {{\n    \
         fn sizes(&self) -> Shape {{ Shape::from_slice(self) }}\n}}",
        generics(&[&bounded(&a, "Axis"), "T"]),
        tuple(&a)
    )
    .unwrap();
    array(out, rank, &a);
}

/// Writes the impl for nested arrays, which are flattened level by level.
fn array(out: &mut String, rank: usize, a: &[String]) {
    let lengths: Vec<String> = (0..rank).map(|i| format!("const K{i}: usize")).collect();
    let ty = (0..rank)
        .rev()
        .fold("T".to_string(), |ty, i| format!("[{ty}; K{i}]"));
    let fits: Vec<String> = (0..rank)
        .map(|i| format!("SizeOf<A{i}>: CanBe<A{i}, K{i}>"))
        .collect();
    let sizes: Vec<String> = (0..rank).map(|i| format!("K{i}")).collect();
    let flat = match rank {
        0 => "alloc::vec![self]".to_string(),
        1 => "Vec::from(self)".to_string(),
        _ => format!(
            "self.into_iter(){}.collect()",
            ".flatten()".repeat(rank - 1)
        ),
    };
    writeln!(
        out,
        "#[diagnostic::do_not_recommend]\nimpl{} ArrayFor<{}> for {ty}{} {{\n    type Item = T;\n    \
         fn into_parts(self) -> (Vec<T>, Shape) {{ ({flat}, Shape::from_slice(&[{}])) }}\n}}",
        generics(&[&bounded(a, "Axis"), "T: crate::Element", &lengths.join(", ")]),
        tuple(a),
        if rank == 0 { String::new() } else { format!(" where {}", fits.join(", ")) },
        sizes.join(", ")
    )
    .unwrap();
}
