//! Random calls of each relation, with the verdict of its rule.

use nomina::{Error, ErrorKind, Name, Names};
use nomina_core::rule::{self, DimArg, DimRef, NameItem};

use crate::draw::Draw;
use crate::products;

/// A typed call: operands with the given names, an expression, and the rule's verdict.
pub struct Call {
    operands: Vec<(&'static str, Names)>,
    expression: String,
    pub verdict: Result<Names, Error>,
    /// Whether the expression is a statement, with no result to annotate.
    statement: bool,
}

impl Call {
    pub fn new(
        operands: Vec<(&'static str, Names)>,
        expression: String,
        verdict: Result<Names, Error>,
    ) -> Self {
        Self {
            operands,
            expression,
            verdict,
            statement: false,
        }
    }

    /// Returns whether this is a batched product with an unnamed dim.
    pub fn is_late(&self) -> bool {
        let batched = ["matmul", "bmm", "cdist", "attention"]
            .iter()
            .any(|op| self.expression.contains(op));
        batched && self.operands.iter().any(|(_, names)| !names.fully_named())
    }

    /// Returns the body of the function, on one line.
    pub fn text(&self) -> String {
        let operands: Vec<String> = self
            .operands
            .iter()
            .map(|(name, names)| {
                let dtype = match *name {
                    "mask" => ", bool",
                    name if name.starts_with("ids") => ", i64",
                    _ => "",
                };
                let mutable = if *name == "own" { "mut " } else { "" };
                format!("{name}: &{mutable}Tensor<{}{dtype}>", tuple(names))
            })
            .collect();
        let annotation = match &self.verdict {
            Ok(names) if !self.statement => format!(": Tensor<{}>", tuple(names)),
            _ => String::new(),
        };
        let statement = if self.statement {
            self.expression.clone()
        } else {
            format!("let result{annotation} = {}", self.expression)
        };
        format!("({}) {{ {statement}; }}", operands.join(", "))
    }
}

fn tuple(names: &Names) -> String {
    names.to_string().replace('_', "Wild")
}

fn shape(names: &Names) -> Vec<usize> {
    vec![4; names.len()]
}

/// The relations; each function draws one call.
pub const RELATIONS: [fn(&mut Draw) -> Call; 34] = [
    add,
    sum,
    sum_of_two,
    keep,
    select,
    softmax,
    align_to,
    align_to_rest,
    align_as,
    transpose,
    t,
    rename,
    rename_all,
    flatten,
    unflatten,
    unsqueeze,
    stack,
    matmul,
    mm,
    mv,
    bmm,
    addmm,
    contract,
    products::contract_two,
    products::tensordot,
    products::outer,
    products::inner,
    products::cdist,
    products::attention,
    products::einsum,
    cat,
    choose,
    in_place,
    refine,
];

fn one(draw: &mut Draw) -> Names {
    let rank = draw.below(5);
    draw.names(rank)
}

fn two(draw: &mut Draw) -> (Names, Names) {
    let x = one(draw);
    let y = if draw.chance(75) {
        draw.alike(&x)
    } else {
        one(draw)
    };
    if draw.chance(50) { (x, y) } else { (y, x) }
}

fn add(draw: &mut Draw) -> Call {
    let (x, y) = two(draw);
    let verdict = rule::unify("add", &x, &y);
    Call::new(vec![("x", x), ("y", y)], "x + y".into(), verdict)
}

fn removed(x: &Names, dims: &[&str], keepdim: bool) -> Result<Names, Error> {
    let at = DimArg::list(dims.iter().copied()).positions("sum", x)?;
    Ok(rule::reduce(x, &at, keepdim))
}

fn sum(draw: &mut Draw) -> Call {
    let x = one(draw);
    let dim = draw.of(&x);
    let verdict = removed(&x, &[dim], false);
    Call::new(vec![("x", x)], format!("x.sum({dim})"), verdict)
}

fn sum_of_two(draw: &mut Draw) -> Call {
    let x = one(draw);
    let (a, b) = (draw.of(&x), draw.of(&x));
    let verdict = removed(&x, &[a, b], false);
    Call::new(vec![("x", x)], format!("x.sum(({a}, {b}))"), verdict)
}

fn keep(draw: &mut Draw) -> Call {
    let x = one(draw);
    let (a, b) = (draw.of(&x), draw.of(&x));
    let verdict = removed(&x, &[a, b], true);
    Call::new(vec![("x", x)], format!("x.mean(keep(({a}, {b})))"), verdict)
}

fn select(draw: &mut Draw) -> Call {
    let x = one(draw);
    let dim = draw.of(&x);
    let verdict = removed(&x, &[dim], false);
    Call::new(vec![("x", x)], format!("x.select({dim}, 0)"), verdict)
}

fn softmax(draw: &mut Draw) -> Call {
    let x = one(draw);
    let dim = draw.of(&x);
    let verdict = removed(&x, &[dim], false).map(|_| x.clone());
    Call::new(vec![("x", x)], format!("x.softmax({dim})"), verdict)
}

fn aligned(x: &Names, items: &[NameItem<'_>]) -> Result<Names, Error> {
    rule::align_to("align_to", x, items).map(|aligned| aligned.names)
}

/// Draws an order of names, usually with every dim, and sometimes with additional ones.
fn order(draw: &mut Draw, x: &Names) -> Vec<&'static str> {
    let mut order: Vec<&'static str> = Vec::new();
    for name in draw.known(6) {
        let own = x.iter().flatten().any(|own| own == name);
        if (own && !draw.chance(8)) || (!own && draw.chance(15)) {
            order.push(name);
        }
    }
    if draw.chance(8) {
        order.push(draw.name());
    }
    order
}

fn align_to(draw: &mut Draw) -> Call {
    let x = one(draw);
    let order = order(draw, &x);
    let items: Vec<NameItem<'_>> = order.iter().map(|name| NameItem::Name(name)).collect();
    let verdict = aligned(&x, &items);
    let order: String = order.iter().map(|name| format!("{name}, ")).collect();
    Call::new(vec![("x", x)], format!("x.align_to(({order}))"), verdict)
}

fn align_to_rest(draw: &mut Draw) -> Call {
    let x = one(draw);
    let mut order: Vec<&'static str> = (0..draw.below(3)).map(|_| draw.of(&x)).collect();
    order.insert(draw.below(order.len() + 1), "..");
    let item = |name: &&'static str| match *name {
        ".." => NameItem::Rest,
        name => NameItem::Name(name),
    };
    let items: Vec<NameItem<'_>> = order.iter().map(item).collect();
    let verdict = aligned(&x, &items);
    let order: String = order.iter().map(|name| format!("{name}, ")).collect();
    Call::new(vec![("x", x)], format!("x.align_to(({order}))"), verdict)
}

fn align_as(draw: &mut Draw) -> Call {
    let (x, y) = two(draw);
    let verdict = rule::align_as("align_as", &x, &y).map(|aligned| aligned.names);
    Call::new(vec![("x", x), ("y", y)], "x.align_as(y)".into(), verdict)
}

fn transpose(draw: &mut Draw) -> Call {
    let x = one(draw);
    let (a, b) = (draw.of(&x), draw.of(&x));
    let verdict = rule::transpose("transpose", &x, DimRef::Name(a), DimRef::Name(b));
    let verdict = verdict.map(|order| rule::kept(&x, &order));
    Call::new(vec![("x", x)], format!("x.transpose({a}, {b})"), verdict)
}

fn t(draw: &mut Draw) -> Call {
    let x = one(draw);
    let verdict = rule::t("t", &x).map(|order| rule::kept(&x, &order));
    Call::new(vec![("x", x)], "x.t()".into(), verdict)
}

fn rename(draw: &mut Draw) -> Call {
    let x = one(draw);
    let (from, to) = (draw.of(&x), draw.name());
    let verdict = rule::rename_map("rename", &x, &[(from, NameItem::Name(to))]);
    Call::new(vec![("x", x)], format!("x.rename({from}, {to})"), verdict)
}

fn rename_all(draw: &mut Draw) -> Call {
    let x = draw.below(3) + 1;
    let x = draw.names(x);
    let rank = if draw.chance(70) {
        x.len()
    } else {
        1 + draw.below(3)
    };
    let to: Vec<&'static str> = (0..rank).map(|_| draw.name()).collect();
    let items: Vec<NameItem<'_>> = to.iter().map(|name| NameItem::Name(name)).collect();
    let verdict = rule::rename("rename", &x, &items);
    let to: String = to.iter().map(|name| format!("{name}, ")).collect();
    Call::new(vec![("x", x)], format!("x.rename(.., ({to}))"), verdict)
}

fn flatten(draw: &mut Draw) -> Call {
    let rank = 2 + draw.below(3);
    let x = draw.names(rank);
    let len = 2 + draw.below(rank - 1);
    let start = draw.below(rank - len + 1);
    let mut dims: Vec<&'static str> = Vec::new();
    for name in &x[start..start + len] {
        let known = ["A", "B", "C", "D", "E", "F"];
        let known = known
            .into_iter()
            .find(|known| name.as_ref().is_some_and(|n| n == known));
        dims.push(if draw.chance(10) {
            draw.name()
        } else {
            known.unwrap_or("A")
        });
    }
    let out = draw.name();
    let verdict = rule::flatten(
        "flatten",
        &x,
        &DimArg::list(dims.iter().copied()),
        Some(out),
    );
    let verdict = verdict.map(|flattened| flattened.names);
    Call::new(
        vec![("x", x)],
        format!("x.flatten(({}), {out})", dims.join(", ")),
        verdict,
    )
}

fn unflatten(draw: &mut Draw) -> Call {
    let x = one(draw);
    let (dim, a, b) = (draw.of(&x), draw.name(), draw.name());
    let sizes = [(NameItem::Name(a), 2), (NameItem::Name(b), 2)];
    let verdict = rule::unflatten("unflatten", &x, &shape(&x), DimRef::Name(dim), &sizes);
    let verdict = verdict.map(|unflattened| unflattened.names);
    Call::new(
        vec![("x", x)],
        format!("x.unflatten({dim}, ({a}.of(2), {b}.of(2)))"),
        verdict,
    )
}

fn unsqueeze(draw: &mut Draw) -> Call {
    let x = one(draw);
    let dim = draw.name();
    let verdict = rule::unsqueeze("unsqueeze", &x, 0, Some(dim)).map(|(_, names)| names);
    Call::new(vec![("x", x)], format!("x.unsqueeze({dim})"), verdict)
}

fn stack(draw: &mut Draw) -> Call {
    let x = one(draw);
    let dim = draw.name();
    let shape = shape(&x);
    let verdict = rule::stack("stack", &[(&x, &shape), (&x, &shape)], 0, Some(dim));
    let verdict = verdict.map(|stacked| stacked.names);
    Call::new(vec![("x", x)], format!("stack(&[x, x], {dim})"), verdict)
}

type Product = fn(&'static str, &Names, &Names) -> Result<Names, Error>;

fn product(draw: &mut Draw, op: &'static str, ranks: [usize; 2], rule: Product) -> Call {
    let mut ranks = ranks;
    if draw.chance(10) {
        ranks[draw.below(2)] = draw.below(4);
    }
    let (x, y) = (draw.names(ranks[0]), draw.names(ranks[1]));
    let verdict = rule(op, &x, &y);
    Call::new(vec![("x", x), ("y", y)], format!("x.{op}(y)"), verdict)
}

fn matmul(draw: &mut Draw) -> Call {
    let rank = 2 + draw.below(3);
    let x = draw.names(rank);
    let mut y = draw.alike(&x);
    for i in y.len().saturating_sub(2)..y.len() {
        let name = Name::from_static(draw.name());
        if draw.chance(60) && y.position(&name).is_none() {
            y[i] = Some(name);
        }
    }
    let (x, y) = if draw.chance(50) { (x, y) } else { (y, x) };
    let verdict = rule::matmul("matmul", &x, &y);
    Call::new(vec![("x", x), ("y", y)], "x.matmul(y)".into(), verdict)
}

fn mm(draw: &mut Draw) -> Call {
    product(draw, "mm", [2, 2], rule::mm)
}

fn mv(draw: &mut Draw) -> Call {
    let [op, rule] = [("mv", rule::mv as Product), ("dot", rule::dot as Product)].map(Some);
    let (name, rule) = if draw.chance(50) { op } else { rule }.unwrap_or(("mv", rule::mv));
    product(draw, name, if name == "mv" { [2, 1] } else { [1, 1] }, rule)
}

fn bmm(draw: &mut Draw) -> Call {
    product(draw, "bmm", [3, 3], rule::bmm)
}

fn addmm(draw: &mut Draw) -> Call {
    let (x, y) = (draw.names(2), draw.names(2));
    let product = rule::mm("mm", &x, &y);
    let bias = match &product {
        Ok(names) => draw.alike(names),
        Err(_) => draw.names(2),
    };
    let verdict = rule::addmm("addmm", &bias, &x, &y);
    Call::new(
        vec![("bias", bias), ("x", x), ("y", y)],
        "bias.addmm(x, y)".into(),
        verdict,
    )
}

fn contract(draw: &mut Draw) -> Call {
    let (x, y) = (draw.below(4), draw.below(4));
    let (x, y) = (draw.names(x), draw.names(y));
    let dim = draw.of(&x);
    let verdict = rule::contract("contract", &x, &y, &DimArg::list([dim]));
    let verdict = verdict.map(|contraction| contraction.names);
    Call::new(
        vec![("x", x), ("y", y)],
        format!("x.contract(y, {dim})"),
        verdict,
    )
}

fn cat(draw: &mut Draw) -> Call {
    let rank = 1 + draw.below(3);
    let x = draw.names(rank);
    let y = draw.alike(&x);
    let dim = draw.of(&x);
    let operands = [(&x, &*shape(&x)), (&y, &*shape(&y))];
    let verdict = rule::cat("cat", &operands, DimRef::Name(dim)).map(|joined| joined.names);
    Call::new(
        vec![("x", x), ("y", y)],
        format!("cat((x, y), {dim})"),
        verdict,
    )
}

fn choose(draw: &mut Draw) -> Call {
    let (x, y) = two(draw);
    let mask = draw.alike(&x);
    let verdict = rule::unify("where", &x, &y).and_then(|both| rule::unify("where", &mask, &both));
    let operands = vec![("mask", mask), ("x", x), ("y", y)];
    Call::new(operands, "mask.where_cond(x, y)".into(), verdict)
}

/// Draws an in-place call. Run-time names of `Wild` dims are checked at run time; the types check
/// that no known name and no rank would change.
fn in_place(draw: &mut Draw) -> Call {
    let (x, y) = two(draw);
    let verdict = rule::unify("add", &x, &y).and_then(|names| {
        let fits = |(own, name): (&Option<Name>, &Option<Name>)| own.is_none() || own == name;
        if names.len() != x.len() {
            return Err(Error::new(
                ErrorKind::Shape,
                "add",
                "the result has more dims",
            ));
        }
        if x.iter().zip(&names).all(fits) {
            Ok(names)
        } else {
            rule::in_place("add", &x, &names)
        }
    });
    let mut call = Call::new(vec![("own", x), ("y", y)], "*own += y".into(), verdict);
    call.statement = true;
    call
}

fn refine(draw: &mut Draw) -> Call {
    let rank = draw.below(4);
    let x: Names = draw
        .names(rank)
        .iter()
        .map(|n| n.clone().filter(|_| draw.chance(60)))
        .collect();
    let to: Vec<&'static str> = x
        .iter()
        .map(|own| match own {
            Some(own) if !draw.chance(5) => {
                let known = ["A", "B", "C", "D", "E", "F"];
                known.into_iter().find(|known| own == known).unwrap_or("A")
            }
            _ => draw.name(),
        })
        .collect();
    let items: Vec<NameItem<'_>> = to.iter().map(|name| NameItem::Name(name)).collect();
    let verdict = rule::refine_names("refine_names", &x, &items);
    let to: String = to.iter().map(|name| format!("{name}, ")).collect();
    Call::new(vec![("x", x)], format!("x.refine_names(({to}))"), verdict)
}
