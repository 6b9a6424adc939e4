//! The text of a module with the types of a file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use nomina::DType;
use nomina_io::{Format, TensorDescription};

use super::dim_names;
use super::tree::{Branch, Segment, camel, separator};

/// Names that the text uses, or that a reader expects to be those of the standard library.
const RESERVED: [&str; 21] = [
    "AsRef",
    "Box",
    "Complex",
    "DType",
    "Debug",
    "DynTensor",
    "Err",
    "Error",
    "ForeignDType",
    "None",
    "Ok",
    "Option",
    "Path",
    "Prime",
    "Result",
    "Some",
    "String",
    "Tensor",
    "Vec",
    "Wild",
    "Clone",
];

/// The largest number of dims of a typed tensor.
const MOST_DIMS: usize = 8;

/// How a format is opened.
struct Reader {
    /// The path of its type in `nomina_io`.
    import: &'static str,
    /// The type that fields are read from.
    source: &'static str,
    /// Opens `path`.
    open: &'static str,
    /// The parts of the expression of a field, around the text of its name.
    field: [&'static str; 2],
}

impl Reader {
    fn find(format: Format) -> Self {
        let opened = |import, source, open| Self {
            import,
            source,
            open,
            field: ["file.refine(&", ")?"],
        };
        match format {
            Format::Pth => opened("pth::Pth", "Pth", "Pth::open(path)?"),
            Format::Checkpoint => opened(
                "safetensors::Checkpoint",
                "Checkpoint",
                "Checkpoint::open(path)?",
            ),
            Format::Npz => Self {
                field: ["file.load(&", ")?"],
                ..opened("npz::Npz", "Npz", "Npz::open(path)?")
            },
            Format::Zarr => Self {
                field: ["Zarr::refine(file.join(", "))?"],
                ..opened("zarr::Zarr", "std::path::Path", "path.as_ref()")
            },
            _ => opened(
                "safetensors::SafeTensors",
                "SafeTensors",
                "SafeTensors::open(path)?",
            ),
        }
    }
}

/// Writes the module of a file.
pub struct Printer {
    format: Format,
    reader: Reader,
    sizes: bool,
    /// The sizes of each dim, by its name at run time.
    dims: BTreeMap<String, BTreeSet<usize>>,
    /// The names of structs and of dims.
    taken: BTreeSet<String>,
    foreign: BTreeMap<String, String>,
    structs: Vec<String>,
}

impl Printer {
    /// Creates a printer for a file of a format; with `sizes`, sizes are part of the dims.
    pub fn new(format: Format, sizes: bool) -> Self {
        let reader = Reader::find(format);
        let kind = reader
            .import
            .rsplit(':')
            .next()
            .unwrap_or_default()
            .to_owned();
        Self {
            format,
            reader,
            sizes,
            dims: BTreeMap::new(),
            taken: RESERVED
                .map(str::to_owned)
                .into_iter()
                .chain([kind])
                .collect(),
            foreign: BTreeMap::new(),
            structs: Vec::new(),
        }
    }

    /// Returns the text of the module.
    pub fn module(mut self, file: &str, root: &str, tree: &Branch<'_>) -> String {
        self.collect(&[], tree);
        let dims: Vec<String> = self.dims.keys().map(|name| dim_ident(name)).collect();
        self.taken.extend(dims);
        let root = self.unique(root);
        self.write_struct(&root, &[], tree, Some(file));

        let mut out = format!(
            "//! The tensors of `{file}`, written by `cargo nomina types`.\n\nuse nomina::prelude::*;\n"
        );
        if !self.foreign.is_empty() {
            out += "use nomina_io::ForeignDType;\n";
        }
        let _ = writeln!(out, "use nomina_io::{};", self.reader.import);
        if !self.dims.is_empty() {
            out += "\ndims! {\n";
            for (name, sizes) in &self.dims {
                out += &self.dim(name, sizes);
            }
            out += "}\n";
        }
        for text in &self.structs {
            out.push('\n');
            out += text;
        }
        out
    }

    /// Collects the dims and the foreign dtypes of all tensors.
    fn collect(&mut self, module: &[String], branch: &Branch<'_>) {
        for (segment, below) in &branch.below {
            if let Some(tensor) = below.tensor {
                let names = dim_list(module, branch, segment, tensor);
                for (name, &size) in names.iter().zip(&tensor.shape) {
                    let plain = name.trim_end_matches('\'').to_owned();
                    self.dims.entry(plain).or_default().insert(size);
                }
                if let Some(foreign) = tensor.foreign {
                    let dtype = format!("{:?}", tensor.dtype);
                    self.foreign.insert(foreign.to_string(), dtype);
                }
            }
            let module = nested(module, segment);
            match below.repeated() {
                Some(_) => below
                    .below
                    .values()
                    .take(1)
                    .for_each(|block| self.collect(&module, block)),
                None => self.collect(&module, below),
            }
        }
    }

    fn dim(&self, name: &str, sizes: &BTreeSet<usize>) -> String {
        let ident = dim_ident(name);
        let list: Vec<String> = sizes.iter().map(usize::to_string).collect();
        let noun = if list.len() == 1 { "Size" } else { "Sizes" };
        let doc = format!("    /// {noun} {}.\n", list.join(", "));
        let size = list.first().filter(|_| self.sizes && list.len() == 1);
        let declared = match (ident == name, size) {
            (true, None) => ident,
            (true, Some(size)) => format!("{ident} = {size}"),
            (false, None) => format!("{ident} = \"{name}\""),
            (false, Some(size)) => format!("{ident}(\"{name}\") = {size}"),
        };
        format!("{doc}    pub {declared},\n")
    }

    /// Returns a name that is not taken yet, and takes it.
    fn unique(&mut self, name: &str) -> String {
        let mut found = name.to_owned();
        let mut number = 2;
        while !self.taken.insert(found.clone()) {
            found = format!("{name}{number}");
            number += 1;
        }
        found
    }

    /// Writes a struct, and those of the paths below it. The outermost one opens the file of this name.
    fn write_struct(
        &mut self,
        name: &str,
        module: &[String],
        branch: &Branch<'_>,
        file: Option<&str>,
    ) {
        let at = self.structs.len();
        self.structs.push(String::new());
        let dot = separator(self.format).map(String::from).unwrap_or_default();
        let (mut fields, mut values) = (String::new(), String::new());
        let mut idents = BTreeSet::new();
        let mut add = |ident: String, doc: String, kind: String, value: String| {
            let _ = writeln!(fields, "    /// {doc}.\n    pub {ident}: {kind},");
            let _ = writeln!(values, "            {ident}: {value},");
        };
        let all_alike = file.and(branch.repeated());
        if let (Some(count), Some(block)) = (all_alike, branch.below.values().next()) {
            let kind = self.unique(&format!("{name}Layer"));
            self.write_struct(&kind, module, block, None);
            let value = vec_of(&kind, count, &format!("\"{{at}}{{i}}{dot}\""));
            let doc = format!("The blocks from `0` to `{}`", count - 1);
            add("layers".to_owned(), doc, format!("Vec<{kind}>"), value);
        }
        let each = branch.below.iter().filter(|_| all_alike.is_none());
        for (segment, below) in each {
            let text = segment.text();
            if let Some(tensor) = below.tensor {
                let ident = field_ident(&mut idents, segment);
                let kind = self.kind(module, branch, segment, tensor);
                let [before, after] = self.reader.field;
                let value = format!("{before}format!({}){after}", literal(&text, ""));
                let sizes: Vec<String> = tensor.shape.iter().map(usize::to_string).collect();
                let sizes = if sizes.is_empty() {
                    "a number".to_owned()
                } else {
                    sizes.join(" × ")
                };
                add(ident, format!("`{}`: {sizes}", escaped(&text)), kind, value);
            }
            if below.below.is_empty() {
                continue;
            }
            let ident = field_ident(&mut idents, segment);
            let module = nested(module, segment);
            let kind = self.unique(&camel(module.iter().map(String::as_str)));
            match (below.repeated(), below.below.values().next()) {
                (Some(count), Some(block)) => {
                    self.write_struct(&kind, &module, block, None);
                    let value = vec_of(&kind, count, &literal(&text, &format!("{dot}{{i}}{dot}")));
                    let doc = format!("The {count} blocks of `{}`", escaped(&text));
                    add(ident, doc, format!("Vec<{kind}>"), value);
                }
                _ => {
                    self.write_struct(&kind, &module, below, None);
                    let value = format!("{kind}::read(file, &format!({}))?", literal(&text, &dot));
                    add(
                        ident,
                        format!("The tensors below `{}`", escaped(&text)),
                        kind,
                        value,
                    );
                }
            }
        }
        let source = self.reader.source;
        let open = file.map(|_| self.open_function()).unwrap_or_default();
        let doc = match file {
            Some(file) => format!("The tensors of `{file}`"),
            None => format!(
                "A part of the file: the tensors below `{}`",
                escaped(&module.join(dot.as_str()))
            ),
        };
        self.structs[at] = format!(
            "/// {doc}.\n#[derive(Clone, Debug)]\npub struct {name} {{\n{fields}}}\n\nimpl {name} {{\n{open}    \
             fn read(file: &{source}, at: &str) -> Result<Self> {{\n        Ok(Self {{\n{values}        }})\n    }}\n}}\n"
        );
    }

    fn open_function(&self) -> String {
        let read_as: String = self
            .foreign
            .iter()
            .map(|(from, to)| format!(".read_as(ForeignDType::{from}, DType::{to})"))
            .collect();
        let opened = if self.format == Format::Zarr {
            self.reader.open.to_owned()
        } else {
            format!("&{}{read_as}", self.reader.open)
        };
        format!(
            "    /// Opens a file with these tensors.\n    ///\n    /// # Errors\n    /// If it cannot be read, or a tensor is \
             missing or has other dims or another dtype.\n    pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> \
             {{\n        Self::read({opened}, \"\")\n    }}\n\n"
        )
    }

    /// Returns the type of a tensor's field.
    fn kind(
        &self,
        module: &[String],
        branch: &Branch<'_>,
        leaf: &Segment,
        tensor: &TensorDescription,
    ) -> String {
        let names = dim_list(module, branch, leaf, tensor);
        let dims: Vec<String> = names
            .iter()
            .map(|name| {
                let plain = name.trim_end_matches('\'');
                let primes = name.len() - plain.len();
                let (before, after) = ("Prime<".repeat(primes), ">".repeat(primes));
                format!("{before}{}{after}", dim_ident(plain))
            })
            .collect();
        let dtype = match tensor.dtype {
            DType::F32 => String::new(),
            dtype => format!(", {dtype}"),
        };
        let tensor = match &dims[..] {
            all if all.len() > MOST_DIMS => "DynTensor".to_owned(),
            [dim] => format!("Tensor<({dim},){dtype}>"),
            all => format!("Tensor<({}){dtype}>", all.join(", ")),
        };
        if self.format == Format::Zarr {
            format!("Zarr<{tensor}>")
        } else {
            tensor
        }
    }
}

/// Returns the names of a tensor's dims, each once.
fn dim_list(
    module: &[String],
    branch: &Branch<'_>,
    leaf: &Segment,
    tensor: &TensorDescription,
) -> Vec<String> {
    let mut names = dim_names::names(module, branch, leaf, tensor);
    for at in 1..names.len() {
        while names[..at].contains(&names[at]) {
            names[at].push('X');
        }
    }
    names
}

fn nested(module: &[String], segment: &Segment) -> Vec<String> {
    let mut module = module.to_vec();
    module.push(segment.text());
    module
}

/// Returns the identifier of a dim, whose spelling may be a keyword or the name of a type.
fn dim_ident(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() && !RESERVED.contains(&name) {
        name.to_owned()
    } else {
        format!("{}Dim", camel([name]))
    }
}

/// Returns the identifier of a field that none of the others has.
fn field_ident(taken: &mut BTreeSet<String>, segment: &Segment) -> String {
    let mut ident = match segment {
        Segment::Number(number) => format!("layer_{number}"),
        Segment::Word(word) => {
            let letter = |c: char| {
                if c.is_ascii_alphanumeric() {
                    c.to_ascii_lowercase()
                } else {
                    '_'
                }
            };
            word.chars().map(letter).collect()
        }
    };
    if ident.is_empty() {
        ident.push_str("tensor");
    }
    if ident.starts_with(|c: char| c.is_ascii_digit()) {
        ident.insert(0, '_');
    }
    while syn::parse_str::<syn::Ident>(&ident).is_err() || !taken.insert(ident.clone()) {
        ident.push('_');
    }
    ident
}

/// Returns a format string of `at`, a part of a path, and an end.
fn literal(text: &str, end: &str) -> String {
    let text = format!("{text:?}").replace('{', "{{").replace('}', "}}");
    let text = &text[1..text.len() - 1];
    format!("\"{{at}}{text}{end}\"")
}

/// Returns the text as one line of a comment.
fn escaped(text: &str) -> String {
    text.escape_debug().to_string().replace('`', "'")
}

/// Returns the expression of blocks whose paths have the number `i`.
fn vec_of(kind: &str, count: usize, path: &str) -> String {
    format!(
        "(0..{count})\n                .map(|i| {kind}::read(file, &format!({path})))\n                .collect::<Result<_>>()?"
    )
}
