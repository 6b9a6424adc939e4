//! The header: a Python dict in ASCII, `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
//!
//! Parsed here rather than by a crate: the existing crates multiply sizes without overflow checks, and allocate as much
//! for the header as the file says.

use std::io::Read;

use nomina::{DType, Error, ErrorKind, Result};

use nomina_runtime::file::failed;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The maximum header of the format's first version, which suffices for any tensor.
const MAX_HEADER: usize = u16::MAX as usize;

/// A limit above the number of dims of any tensor.
const MOST_DIMS: usize = 64;

/// The names of dtypes; the digits are the bytes of an element.
const DTYPES: [(DType, &str); 11] = [
    (DType::Bool, "b1"),
    (DType::U8, "u1"),
    (DType::I8, "i1"),
    (DType::I16, "i2"),
    (DType::I32, "i4"),
    (DType::I64, "i8"),
    (DType::F16, "f2"),
    (DType::F32, "f4"),
    (DType::F64, "f8"),
    (DType::C64, "c8"),
    (DType::C128, "c16"),
];

/// Unsigned integers, as signed ones of the same size.
const UNSIGNED: [(DType, &str); 3] = [(DType::I16, "u2"), (DType::I32, "u4"), (DType::I64, "u8")];

/// A parsed header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) dtype: DType,
    /// Whether the elements are unsigned integers, to be widened to `i64`.
    pub(crate) unsigned: bool,
    /// Whether the byte order of the numbers differs from this machine's.
    pub(crate) swapped: bool,
    /// Whether the elements are in Fortran order: the first dim varies fastest.
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<usize>,
    /// The offset of the elements from the start of the file.
    pub(crate) start: usize,
}

#[cold]
fn broken(op: &'static str, what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Parse, op, what)
}

/// Reads a header, and nothing after it.
pub(crate) fn read(op: &'static str, from: &mut impl Read) -> Result<Header> {
    let mut take = |count: usize| {
        let mut bytes = Vec::new();
        from.take(count as u64)
            .read_to_end(&mut bytes)
            .map_err(|error| failed(op, &error))?;
        if bytes.len() == count {
            Ok(bytes)
        } else {
            Err(broken(op, "it ends within the header"))
        }
    };
    let begin = take(8)?;
    if begin[..6] != MAGIC[..] {
        return Err(broken(op, "it does not begin like npy files"));
    }
    let width = match begin[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(broken(
                op,
                format!("version {version} of the format is unknown"),
            ));
        }
    };
    let count = take(width)?;
    let count = count
        .iter()
        .rev()
        .fold(0, |all, &byte| all << 8 | usize::from(byte));
    if count > MAX_HEADER {
        return Err(broken(
            op,
            format!("a header of {count} bytes exceeds the limit of {MAX_HEADER}"),
        ));
    }
    let text = take(count)?;
    let header = parse(&text).map_err(|error| error.in_op(op))?;
    Ok(Header {
        start: 8 + width + count,
        ..header
    })
}

/// Returns the header of elements in this order.
pub(crate) fn encode(
    op: &'static str,
    dtype: DType,
    fortran: bool,
    shape: &[usize],
) -> Result<Vec<u8>> {
    let name = DTYPES
        .iter()
        .find(|pair| pair.0 == dtype)
        .map(|pair| pair.1);
    let name = name.ok_or_else(|| {
        let what = format!("npy files have no elements of {dtype}");
        Error::new(ErrorKind::DType, op, what).hint("convert it with `to` to f32")
    })?;
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let fortran = if fortran { "True" } else { "False" };
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one item needs a comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let sizes = format!("({}{comma})", sizes.join(", "));
    let mut text =
        format!("{{'descr': '{order}{name}', 'fortran_order': {fortran}, 'shape': {sizes}, }}");
    // The elements are aligned to 64 bytes, a cache line.
    let end = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(end - 1 - text.len()));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // The length always fits: 64 sizes of 20 digits are far fewer characters.
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    Ok(bytes)
}

/// Parses the text of a dict.
fn parse(text: &[u8]) -> Result<Header> {
    let wrong = |what: &str| broken("load", format!("the header: {what}"));
    let mut text = Cursor(text);
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    text.expect(b"{").ok_or_else(|| wrong("not a dict"))?;
    while text.expect(b"}").is_none() {
        let key = text
            .string()
            .ok_or_else(|| wrong("a key is not a string"))?;
        text.expect(b":")
            .ok_or_else(|| wrong("a key has no value"))?;
        let twice = match key {
            b"descr" => {
                let name = text.string();
                let name = name.ok_or_else(|| wrong("`descr` is not text, as for records"))?;
                descr.replace(name).is_some()
            }
            b"fortran_order" => {
                let value = text
                    .boolean()
                    .ok_or_else(|| wrong("`fortran_order` is not a bool"))?;
                fortran.replace(value).is_some()
            }
            b"shape" => {
                let sizes = text
                    .tuple()
                    .ok_or_else(|| wrong("`shape` is not a tuple"))?;
                shape.replace(sizes).is_some()
            }
            _ => return Err(wrong("a key is unknown to the format")),
        };
        if twice {
            return Err(wrong("a key is repeated"));
        }
        if text.expect(b",").is_none() {
            text.expect(b"}").ok_or_else(|| wrong("it does not end"))?;
            break;
        }
    }
    if !text.is_at_end() {
        return Err(wrong("data follows it"));
    }
    let (Some(descr), Some(fortran), Some(shape)) = (descr, fortran, shape) else {
        return Err(wrong("`descr`, `fortran_order` or `shape` is missing"));
    };
    let (dtype, unsigned, swapped) = dtype(descr)?;
    Ok(Header {
        dtype,
        unsigned,
        swapped,
        fortran,
        shape,
        start: 0,
    })
}

/// Returns the dtype, whether the elements are unsigned integers of that size, and whether their bytes are reversed.
fn dtype(descr: &[u8]) -> Result<(DType, bool, bool)> {
    let find = |pairs: &[(DType, &str)], name: &[u8]| {
        let found = pairs.iter().find(|pair| pair.1.as_bytes() == name);
        found.map(|pair| pair.0)
    };
    let found = descr.split_first().and_then(|(order, name)| {
        let own = find(&DTYPES, name).map(|dtype| (dtype, false));
        let known = own.or_else(|| find(&UNSIGNED, name).map(|dtype| (dtype, true)));
        Some((order, known?))
    });
    match found {
        Some((b'<' | b'=', (dtype, unsigned))) => Ok((dtype, unsigned, false)),
        Some((b'>', (dtype, unsigned))) => Ok((dtype, unsigned, dtype.size() > 1)),
        Some((b'|', (dtype, _))) if dtype.size() == 1 => Ok((dtype, false, false)),
        _ => {
            let what = format!("elements of `{}` are not supported", descr.escape_ascii());
            Err(Error::new(ErrorKind::DType, "load", what).hint("convert it before saving"))
        }
    }
}

/// The rest of a text.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn skip(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip();
        self.0.is_empty()
    }

    fn expect(&mut self, word: &[u8]) -> Option<()> {
        self.skip();
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    /// Parses a quoted string.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.skip();
        let (&quote, rest) = self
            .0
            .split_first()
            .filter(|(quote, _)| b"'\"".contains(quote))?;
        let end = rest.iter().position(|&byte| byte == quote)?;
        self.0 = &rest[end + 1..];
        Some(&rest[..end])
    }

    fn boolean(&mut self) -> Option<bool> {
        match self.expect(b"True") {
            Some(()) => Some(true),
            None => self.expect(b"False").map(|()| false),
        }
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        let mut sizes = Vec::new();
        self.expect(b"(")?;
        while self.expect(b")").is_none() {
            if sizes.len() == MOST_DIMS {
                return None;
            }
            sizes.push(self.size()?);
            if self.expect(b",").is_none() {
                // In Python, `(3)` is not a tuple.
                return self
                    .expect(b")")
                    .filter(|()| sizes.len() > 1)
                    .map(|()| sizes);
            }
        }
        Some(sizes)
    }

    fn size(&mut self) -> Option<usize> {
        self.skip();
        let end = self
            .0
            .iter()
            .position(|byte| !byte.is_ascii_digit())
            .unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest.strip_prefix(b"L").unwrap_or(rest);
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for (dtype, _) in DTYPES {
            for shape in [&[][..], &[3], &[2, 0], &[1, 2, 3]] {
                for fortran in [false, true] {
                    let bytes = encode("save", dtype, fortran, shape).unwrap();
                    assert_eq!((bytes.len() % 64, bytes.last()), (0, Some(&b'\n')));
                    let wanted = Header {
                        dtype,
                        unsigned: false,
                        swapped: false,
                        fortran,
                        shape: shape.to_vec(),
                        start: bytes.len(),
                    };
                    assert_eq!(read("load", &mut &bytes[..]).unwrap(), wanted);
                }
            }
        }
        let error = encode("save", DType::BF16, false, &[2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DType);
        // The longest possible header.
        let bytes = encode("save", DType::C128, false, &[usize::MAX; 64]).unwrap();
        assert_eq!(
            read("load", &mut &bytes[..]).unwrap().shape,
            [usize::MAX; 64]
        );
    }

    #[test]
    fn other_spellings_of_the_same() {
        let header =
            parse(b" {\"shape\":(2,3L,),'descr':\n'>i4' , 'fortran_order':True} ").unwrap();
        assert_eq!(
            (header.shape, header.swapped, header.fortran),
            (vec![2, 3], true, true)
        );
    }

    #[test]
    fn what_is_no_header_is_refused() {
        let rest = "'fortran_order': False, 'shape': (2,)";
        for text in [
            "",
            "{",
            "{}",
            "[]",
            "3",
            "{'descr': '<f4'}",
            &format!("{{'descr': [('a', '<f4')], {rest}}}"),
            &format!("{{'descr': '<f4', {rest}}} 3"),
            &format!("{{'descr': '<f4', {rest}"),
            &format!("{{'descr': '<f4' {rest}}}"),
            &format!("{{'descr': '<f4', 'descr': '<f4', {rest}}}"),
            &format!("{{'descr': '<f4', 'more': 3, {rest}}}"),
            &format!("{{'descr': '<f4, {rest}}}"),
            &format!("{{'descr': '', {rest}}}"),
            &format!("{{'descr': '|f4', {rest}}}"),
            &format!("{{'descr': '<u3', {rest}}}"),
            &format!("{{'descr': '|O', {rest}}}"),
            "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}",
            &format!(
                "{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}",
                "1,".repeat(65)
            ),
            &"(".repeat(60_000),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_header_that_is_not_there_costs_nothing() {
        for bytes in [
            &b""[..],
            b"\x93NUMPY",
            b"\x93NUMPX\x01\x00\x02\x00{}",
            b"\x93NUMPY\x09\x00\x02\x00{}",
            b"\x93NUMPY\x01\x00\xff\xff{}",
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}",
        ] {
            assert_eq!(
                read("load", &mut &bytes[..]).unwrap_err().kind(),
                ErrorKind::Parse
            );
        }
    }
}
