//! Impls of traits for tuples, one for each length.

/// Turns the impl for a tuple of one element into the impl for the element itself.
pub fn alone(of_one: &str, element: &str) -> String {
    of_one
        .replace(&format!("({element}, )"), element)
        .replace("self.0.", "self.")
}

/// `x.get((N.i(0), C.i(2)))`: one index for each dim, in any order.
pub fn indices(arity: usize) -> String {
    let list = |text: &str| {
        (0..arity)
            .map(|i| text.replace('#', &i.to_string()))
            .collect::<String>()
    };
    let (axes, dims) = (list("A#: OneDim, I#: Whole + Subscript, "), list("A#, "));
    let arguments = match arity {
        0 => "()".to_owned(),
        _ => format!("({})", list("At<A#, I#>, ")),
    };
    let bounds = match arity {
        0 => String::new(),
        _ => format!(
            "where D: {} SameRankAs<({dims})>, ({dims}): Dims + Distinct",
            list("Has<A#> + ")
        ),
    };
    let lines = list("index[position::<A#, D>()] = self.#.index.whole();");
    let body = match arity {
        0 => "[0; 8]".to_owned(),
        _ => format!("let mut index = [0; 8]; {lines} index"),
    };
    format!(
        "#[diagnostic::do_not_recommend]\n\
         impl<{axes} D: Dims> Indices<D> for {arguments} {bounds} {{\n\
         fn indices(&self) -> [i64; 8] {{ {body} }}\n}}\n"
    )
}

/// `x.at((N.i(0), H.i(2..), C.i(&ids)))`: dims with numbers, ranges and tensors along them.
pub fn subscripts(arity: usize) -> String {
    let list = |text: &str| {
        (0..arity)
            .map(|i| text.replace('#', &i.to_string()))
            .collect::<String>()
    };
    let fold = |what: &str, from: String| {
        (0..arity).fold(from, |dims, i| {
            format!("<I{i} as Subscript>::{what}<{dims}, A{i}>")
        })
    };
    let (arguments, dims) = match arity {
        0 => ("()".to_owned(), "()".to_owned()),
        _ => (
            format!("({})", list("At<A#, I#>, ")),
            format!("({})", list("A#, ")),
        ),
    };
    // Each tensor applies to the dims that result from those before it.
    let mut met = fold("Removed", "D".to_owned());
    let mut checks = String::new();
    for i in 0..arity {
        checks += &format!("I{i}: SubscriptOf<{met}, A{i}>, ");
        met = format!("<I{i} as Subscript>::Placed<{met}, A{i}>");
    }
    let bounds = match arity {
        0 => String::new(),
        1 => format!("where {checks}"),
        _ => format!(
            "where {checks} NamesOf<{dims}>: StandsOnce<<{dims} as DimList>::Repeated, {dims}>"
        ),
    };
    let picks = list("(position::<A#, D>(), self.#.index.pick()), ");
    format!(
        "#[diagnostic::do_not_recommend]\n\
         impl<{}> Subscripts for {arguments} {{\n\
         type Of<D: Dims> = {met};\n\
         fn picks<D: Dims>(&self) -> Picks<'_> {{ SmallVec::from_iter([{picks}]) }}\n}}\n\
         impl<{} D: Dims> EachSubscript<D> for {arguments} {bounds} {{}}\n\
         #[diagnostic::do_not_recommend]\n\
         impl<{}> SubscriptViews for {arguments} {{}}\n",
        list("A#: OneDim, I#: AsPick, "),
        list("A#: DimOf<D>, I#: AsPick, "),
        list("A#: OneDim, I#: AsPick + SubscriptView, "),
    )
}

/// `x.index((N.i(&a), C.i(&b)))`: index tensors that unify, one for each of some dims.
pub fn points(arity: usize) -> String {
    let list = |text: &str| {
        (0..arity)
            .map(|i| text.replace('#', &i.to_string()))
            .collect::<String>()
    };
    let (mut joint, mut left) = ("E0".to_owned(), "D".to_owned());
    let mut checks = String::new();
    for i in 1..arity {
        checks += &format!("{joint}: BroadcastWith<E{i}>, ");
        joint = format!("Sum<{joint}, E{i}>");
        left = format!("<{left} as DimList>::Remove<A{i}>");
    }
    let arguments = format!("({})", list("At<A#, &Tensor<E#, I#>>, "));
    let dims = format!("({})", list("A#, "));
    let distinct = match arity {
        1 => String::new(),
        _ => format!("NamesOf<{dims}>: StandsOnce<<{dims} as DimList>::Repeated, {dims}>, "),
    };
    format!(
        "#[diagnostic::do_not_recommend]\n\
         impl<{}> Points for {arguments} {{\n\
         type Of<D: Dims> = IndexedBy<{left}, A0, {joint}>;\n\
         fn operands<D: Dims>(&self) -> OperandList<'_> {{ SmallVec::from_iter([{}]) }}\n}}\n\
         impl<{} D: Dims> EachPoint<D> for {arguments} where {checks} {distinct} {joint}: IndexOf<{left}, A0> {{}}\n",
        list("A#: OneDim, E#: Dims, I#: IndexElement, "),
        list("(position::<A#, D>(), self.#.index.erased()), "),
        list("A#: DimOf<D>, E#: Dims, I#: IndexElement, "),
    )
}

/// `cat((&a, &b), N)`: tensors whose dims unify and whose dtypes promote.
pub fn tensor_list(arity: usize) -> String {
    let list = |text: &str| {
        (0..arity)
            .map(|i| text.replace('#', &i.to_string()))
            .collect::<String>()
    };
    let (mut total, mut check) = (String::from("I0: TensorItem,"), String::new());
    let (mut dims, mut dtype) = ("I0::Dims".to_owned(), "I0::Dtype".to_owned());
    for i in 1..arity {
        let rule = format!("DtypeRule<{dims}, I{i}::Dims>");
        total += &format!("I{i}: TensorItem, {dtype}: Promote<I{i}::Dtype, {rule}>,");
        check += &format!("{dims}: BroadcastWith<I{i}::Dims> + SameRankAs<I{i}::Dims>,");
        dtype = format!("Promoted<{dtype}, I{i}::Dtype, {rule}>");
        dims = format!("Sum<{dims}, I{i}::Dims>");
    }
    format!(
        "impl<{}> TensorList for ({}) where {total} {{\n\
         type First = I0::Dims;\ntype Dims = {dims};\ntype Dtype = {dtype};\n\
         fn operands(&self, _: &'static str) -> Result<Vec<ErasedRef<'_>>> {{ Ok(Vec::from([{}])) }}\n}}\n\
         impl<{}> JoinEach for ({}) where {total} {check} {{}}\n",
        list("I#, "),
        list("I#, "),
        list("self.#.item_look(), "),
        list("I#, "),
        list("I#, "),
    )
}
