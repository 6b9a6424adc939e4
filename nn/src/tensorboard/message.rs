//! Messages of protocol buffers, as far as events need them.

/// A message whose fields are appended in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Message(Vec<u8>);

/// The wire types.
const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const DELIMITED: u64 = 2;
const FIXED32: u64 = 5;

impl Message {
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn key(&mut self, field: u64, wire: u64) {
        self.varint(field << 3 | wire);
    }

    pub(super) fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.key(field, VARINT);
        self.varint(value);
        self
    }

    pub(super) fn double(&mut self, field: u64, value: f64) -> &mut Self {
        self.key(field, FIXED64);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn float(&mut self, field: u64, value: f32) -> &mut Self {
        self.key(field, FIXED32);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) -> &mut Self {
        self.key(field, DELIMITED);
        self.varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    pub(super) fn text(&mut self, field: u64, value: &str) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn message(&mut self, field: u64, value: &Self) -> &mut Self {
        self.bytes(field, value.as_bytes())
    }

    pub(super) fn doubles(&mut self, field: u64, values: &[f64]) -> &mut Self {
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.bytes(field, &bytes)
    }
}

/// Size and channels of a PNG.
pub(super) struct PngHeader {
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) channels: u64,
}

impl PngHeader {
    /// Reads the header; `None` if the bytes are not a PNG.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")?;
        let (sizes, rest) = rest.split_at_checked(8)?;
        let [width, height] = [&sizes[..4], &sizes[4..]].map(|size| {
            size.iter()
                .fold(0, |size, &byte| size << 8 | u64::from(byte))
        });
        // By colour type: grey, colours, a palette of colours, grey with alpha, colours with alpha.
        let channels = match rest.get(1)? {
            0 => 1,
            2 | 3 => 3,
            4 => 2,
            6 => 4,
            _ => return None,
        };
        Some(Self {
            width,
            height,
            channels,
        })
    }
}
