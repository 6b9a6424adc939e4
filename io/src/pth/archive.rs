//! The zip archive of a file: the pickle, and the elements of each storage.

use std::fs::File;
use std::io::{BufReader, Read, Seek};

use nomina::{Error, ErrorKind, Result};
use nomina_runtime::file::failed;
use zip::read::ZipFile;
use zip::{CompressionMethod, ZipArchive};

/// The start of files that PyTorch wrote before version 1.6: a pickle of a certain number.
const LEGACY: [u8; 15] = [
    0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.',
];

/// An archive, and the folder in it that holds the files.
pub(super) struct Archive<'f> {
    op: &'static str,
    zip: ZipArchive<BufReader<&'f File>>,
    /// Empty, or with a slash at its end.
    root: String,
}

#[cold]
fn broken(op: &'static str, what: impl ToString) -> Error {
    Error::new(ErrorKind::Parse, op, what.to_string())
}

impl<'f> Archive<'f> {
    /// Opens an archive and finds its pickle.
    pub(super) fn open(op: &'static str, file: &'f File) -> Result<Self> {
        require_zip(op, file)?;
        let zip = ZipArchive::new(BufReader::new(file)).map_err(|error| broken(op, error))?;
        let mut root: Option<String> = None;
        for name in zip.file_names() {
            let name = name.map_err(|error| broken(op, error))?;
            let folder = name.strip_suffix("data.pkl");
            let folder = folder.filter(|folder| folder.is_empty() || folder.ends_with('/'));
            if let Some(folder) = folder
                && root.as_ref().is_none_or(|root| folder.len() < root.len())
            {
                root = Some(folder.to_owned());
            }
        }
        match root {
            Some(root) => Ok(Self { op, zip, root }),
            None => Err(broken(
                op,
                "a zip archive without `data.pkl`: PyTorch did not write it",
            )),
        }
    }

    /// Returns a file of the archive, which must not be compressed.
    fn find(&mut self, name: &str) -> Result<ZipFile<'_, BufReader<&'f File>>> {
        let op = self.op;
        let about = |error: Error| error.within(format_args!("`{name}`"));
        let found = self
            .zip
            .by_name_raw(format!("{}{name}", self.root).as_bytes());
        let found = found.map_err(|error| about(broken(op, error)))?;
        let plain = found.compression() == CompressionMethod::Stored
            && !found.encrypted()
            && found.compressed_size() == found.size();
        if plain {
            Ok(found)
        } else {
            let refused = broken(
                op,
                "it is compressed or encrypted, which PyTorch does not do",
            );
            Err(about(
                refused.hint("pack the archive without compression: `zip -0`"),
            ))
        }
    }

    /// Reads the pickle, whose checksum is verified.
    pub(super) fn pickle(&mut self, len: u64) -> Result<Vec<u8>> {
        let op = self.op;
        self.find("data.pkl")?;
        let name = format!("{}data.pkl", self.root);
        let file = self.zip.by_name(&name).map_err(|error| broken(op, error))?;
        let size = file.size();
        if size > len {
            return Err(broken(
                op,
                format!("a pickle of {size} bytes in a file of {len}"),
            ));
        }
        let mut bytes = Vec::new();
        let read = file.take(size + 1).read_to_end(&mut bytes);
        read.map_err(|error| failed(op, &error).within("`data.pkl`"))?;
        Ok(bytes)
    }

    /// Returns whether elements are in big-endian order. Files of PyTorch before 2.1 do not say so.
    pub(super) fn is_big_endian(&mut self) -> Result<bool> {
        let name = format!("{}byteorder", self.root);
        if self.zip.index_for_name(&name).is_none() {
            return Ok(false);
        }
        let mut order = String::new();
        let file = self
            .zip
            .by_name(&name)
            .map_err(|error| broken(self.op, error))?;
        let read = file.take(16).read_to_string(&mut order);
        read.map_err(|error| failed(self.op, &error).within("`byteorder`"))?;
        match order.as_str() {
            "little" => Ok(false),
            "big" => Ok(true),
            other => Err(broken(self.op, format!("the byte order {other:?}"))),
        }
    }

    /// Returns the start and the length of a storage, in bytes of the file.
    pub(super) fn storage(&mut self, key: &str) -> Result<(usize, usize)> {
        let op = self.op;
        let file = self.find(&format!("data/{key}"))?;
        let start = file
            .data_start()
            .and_then(|start| usize::try_from(start).ok());
        match (start, usize::try_from(file.size())) {
            (Some(start), Ok(len)) => Ok((start, len)),
            _ => Err(broken(op, format!("`data/{key}` has no place in the file"))),
        }
    }
}

/// Returns an error that says how to convert a file if it is not a zip archive.
fn require_zip(op: &'static str, mut file: &File) -> Result<()> {
    let mut start = Vec::new();
    let io = |error: std::io::Error| failed(op, &error);
    file.take(512).read_to_end(&mut start).map_err(io)?;
    file.rewind().map_err(io)?;
    let convert = "save it again with PyTorch 1.6 or later: \
         `torch.save(torch.load(path, weights_only=True), path)`";
    if start.starts_with(b"PK") {
        Ok(())
    } else if start.starts_with(&LEGACY) {
        let what = "a file in the format of PyTorch before 1.6, which is not a zip archive";
        Err(broken(op, what).hint(convert))
    } else if start.get(257..262) == Some(b"ustar") {
        let what = "a tar file in the format of PyTorch before 0.1.10, or another one";
        Err(broken(op, what).hint(convert))
    } else if start.first() == Some(&0x80) {
        let what = "a pickle outside of a zip archive";
        Err(broken(op, what).hint(convert))
    } else {
        Err(broken(op, "not a zip archive, which PyTorch's files are"))
    }
}
