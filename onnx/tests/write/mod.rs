//! Writes small models for tests.
#![allow(dead_code)]

/// A field with a length, as protobuf writes it.
pub fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![number << 3 | 2];
    let mut length = bytes.len();
    while length > 127 {
        all.push(length as u8 | 128);
        length >>= 7;
    }
    all.push(length as u8);
    all.extend(bytes);
    all
}

fn varint(number: u64, value: i64) -> Vec<u8> {
    let mut all = Vec::new();
    for mut part in [number << 3, value as u64] {
        while part > 127 {
            all.push(part as u8 | 128);
            part >>= 7;
        }
        all.push(part as u8);
    }
    all
}

/// An attribute of a node.
#[derive(Clone)]
pub enum Attr {
    Int(i64),
    Float(f32),
    Ints(Vec<i64>),
    Text(&'static str),
    Graph(Vec<u8>),
}

/// A graph that is written field by field.
#[derive(Default)]
pub struct Writer {
    graph: Vec<u8>,
}

impl Writer {
    fn value(mut self, number: u8, name: &str, kind: u8, dims: &[&str]) -> Self {
        let dim = |dim: &&str| match dim.parse::<i64>() {
            Ok(size) => field(1, &varint(1, size)),
            Err(_) => field(1, &field(2, dim.as_bytes())),
        };
        let shape: Vec<u8> = dims.iter().flat_map(dim).collect();
        let tensor = [&[0x08, kind][..], &field(2, &shape)].concat();
        let info = [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat();
        self.graph.extend(field(number, &info));
        self
    }

    /// An input of `f32` with sizes or symbols.
    pub fn input(self, name: &str, dims: &[&str]) -> Self {
        self.value(11, name, 1, dims)
    }

    /// An input of `i64`.
    pub fn indices(self, name: &str, dims: &[&str]) -> Self {
        self.value(11, name, 7, dims)
    }

    /// An output of `f32`.
    pub fn output(self, name: &str, dims: &[&str]) -> Self {
        self.value(12, name, 1, dims)
    }

    fn tensor(mut self, name: &str, kind: u8, sizes: &[usize], data: &[u8]) -> Self {
        let mut all: Vec<u8> = sizes.iter().flat_map(|&n| varint(1, n as i64)).collect();
        all.extend([0x10, kind]);
        all.extend(field(8, name.as_bytes()));
        all.extend(field(9, data));
        self.graph.extend(field(5, &all));
        self
    }

    /// A parameter of `f32`.
    pub fn weight(self, name: &str, sizes: &[usize], data: &[f32]) -> Self {
        assert_eq!(sizes.iter().product::<usize>(), data.len());
        let bytes: Vec<u8> = data.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, 1, sizes, &bytes)
    }

    /// A parameter with numbers that look random, between -1 and 1.
    pub fn random(self, name: &str, sizes: &[usize]) -> Self {
        let data = numbers(name, sizes.iter().product());
        self.weight(name, sizes, &data)
    }

    /// A parameter with positive numbers that look random, between 0.5 and 1.5.
    pub fn positive(self, name: &str, sizes: &[usize]) -> Self {
        let data = numbers(name, sizes.iter().product());
        let data: Vec<f32> = data.into_iter().map(|v| 1.0 + v / 2.0).collect();
        self.weight(name, sizes, &data)
    }

    /// A vector of `i64`.
    pub fn ints(self, name: &str, values: &[i64]) -> Self {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.tensor(name, 7, &[values.len()], &bytes)
    }

    /// A parameter whose data are in another file.
    pub fn external(mut self, name: &str, sizes: &[usize], entries: &[(&str, &str)]) -> Self {
        let mut all: Vec<u8> = sizes.iter().flat_map(|&n| varint(1, n as i64)).collect();
        all.extend([0x10, 1]);
        all.extend(field(8, name.as_bytes()));
        for (key, value) in entries {
            let entry = [field(1, key.as_bytes()), field(2, value.as_bytes())].concat();
            all.extend(field(13, &entry));
        }
        all.extend(varint(14, 1));
        self.graph.extend(field(5, &all));
        self
    }

    /// A scalar of `i64`.
    pub fn int(self, name: &str, value: i64) -> Self {
        self.tensor(name, 7, &[], &value.to_le_bytes())
    }

    /// A node called like its first output; several outputs are separated by commas, and one that is left out is empty.
    pub fn node(self, op: &str, inputs: &[&str], output: &str) -> Self {
        self.node_with(op, inputs, output, &[])
    }

    /// A node with attributes.
    pub fn node_with(
        mut self,
        op: &str,
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, Attr)],
    ) -> Self {
        let mut all: Vec<u8> = inputs
            .iter()
            .flat_map(|input| field(1, input.as_bytes()))
            .collect();
        let mut outputs = output.split(',');
        outputs
            .clone()
            .for_each(|output| all.extend(field(2, output.as_bytes())));
        let name = outputs.find(|output| !output.is_empty()).unwrap_or("");
        all.extend(field(3, format!("/{name}/{op}").as_bytes()));
        all.extend(field(4, op.as_bytes()));
        for (name, value) in attributes {
            let mut attribute = field(1, name.as_bytes());
            match value {
                Attr::Int(value) => attribute.extend([varint(3, *value), varint(20, 2)].concat()),
                Attr::Float(value) => {
                    attribute.push(2 << 3 | 5);
                    attribute.extend(value.to_le_bytes());
                    attribute.extend(varint(20, 1));
                }
                Attr::Ints(values) => {
                    attribute.extend(values.iter().flat_map(|&v| varint(8, v)));
                    attribute.extend(varint(20, 7));
                }
                Attr::Text(text) => {
                    attribute.extend([field(4, text.as_bytes()), varint(20, 3)].concat());
                }
                Attr::Graph(graph) => attribute.extend([field(6, graph), varint(20, 5)].concat()),
            }
            all.extend(field(5, &attribute));
        }
        self.graph.extend(field(1, &all));
        self
    }

    /// The graph, as an attribute.
    pub fn graph(self) -> Attr {
        Attr::Graph(self.graph)
    }

    /// The model, at opset 17.
    pub fn model(self) -> Vec<u8> {
        [field(7, &self.graph), field(8, &[0x10, 17])].concat()
    }
}

/// Numbers between -1 and 1 that depend on a text alone.
pub fn numbers(text: &str, count: usize) -> Vec<f32> {
    let mut state = text.bytes().fold(0x9e37_79b9_7f4a_7c15_u64, |s, b| {
        (s ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
    });
    let next = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32) / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(next).collect()
}
