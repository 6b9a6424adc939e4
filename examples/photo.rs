//! Processes a photograph with named dims.
//!
//! ```sh
//! cargo run --release -p nomina-examples --example photo                       # the flower in this repository
//! cargo run --release -p nomina-examples --example photo -- my.jpg --out dir   # another picture, another folder
//! cargo run --release -p nomina-examples --example photo -- --mean H,W         # names that arrive as text
//! ```
//!
//! No line below refers to a dim by position. Each step checks its own result.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Cursor};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use nomina::prelude::*;
use zune_jpeg::zune_core::bytestream::ZCursor;

dims! {
    /// Rows of the picture, from the top.
    H,
    /// Columns of the picture, from the left.
    W,
    /// Red, green, blue.
    Rgb = 3,
    /// Rows of the smaller picture.
    Height,
    /// Columns of the smaller picture.
    Width,
    /// Rows of a block that becomes one pixel.
    BlockH,
    /// Columns of a block that becomes one pixel.
    BlockW,
}

/// A block of this many rows and columns becomes one pixel.
const BLOCK: usize = 4;

/// The weights of red, green and blue in perceived brightness (Rec. 601).
const LUMA: [f32; 3] = [0.299, 0.587, 0.114];

const USAGE: &str = "photo [PICTURE] [--mean NAMES] [--out FOLDER]";

fn main() -> ExitCode {
    match options(std::env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("photo: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Options {
    picture: PathBuf,
    out: PathBuf,
    mean: Option<String>,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut options = Options {
        picture: here.join("data/flower.jpg"),
        out: here.with_file_name("target").join("photo"),
        mean: None,
    };
    let mut pictures = 0;
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} what?\n{USAGE}"));
        match arg.as_str() {
            "--mean" => options.mean = Some(value()?),
            "--out" => options.out = value()?.into(),
            flag if flag.starts_with('-') => return Err(format!("no flag {flag}\n{USAGE}").into()),
            picture => {
                options.picture = picture.into();
                pictures += 1;
            }
        }
    }
    if pictures > 1 {
        return Err(format!("one picture at a time\n{USAGE}").into());
    }
    Ok(options)
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let bytes = decode(&options.picture)?;
    let decoded = start.elapsed();
    if let Some(names) = &options.mean {
        return mean_of(&bytes, names);
    }
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    let mut table = Table::default();
    table.row("decoded", &bytes, decoded);

    let image = table.step("to f32", || bytes.to::<f32>());
    let mean = table.step("mean by (H, W)", || image.mean((H, W)));
    let std = table.step("std by (H, W)", || image.std((H, W)));
    check_statistics(&bytes, &mean, &std);

    // Apply one function to two orders of dims.
    let factors = tensor!([1.1, 0.9, 0.7]; Rgb);
    let planes = image.align_to((Rgb, H, W));
    let warm = table.step("scale (H, W, Rgb)", || scale_channels(&image, &factors));
    let warm_planes = table.step("scale (Rgb, H, W)", || scale_channels(&planes, &factors));
    assert!(
        warm_planes.align_as(&warm).equal(&warm),
        "the order of dims changed the result"
    );

    let weights = Tensor::<(Rgb,)>::from_vec(LUMA.to_vec(), [3])?;
    let grey = table.step("contract Rgb", || image.contract(&weights, Rgb));
    check_grey(&image, &grey);

    let small = table.step("block means", || downsample(&image));
    let middle = table.step("crop by narrow", || crop(&image));
    assert_eq!(middle.size(H), image.size(H) / 2);
    let soft = table.step("blur 3x3", || blur(&image));
    check_blur(&image, &soft);

    let start = Instant::now();
    save_rgb(&warm, &options.out, "warm.png")?;
    save_grey(&grey, &options.out, "grey.png")?;
    save_rgb(
        &small.rename((Height, Width), (H, W)),
        &options.out,
        "small.png",
    )?;
    save_rgb(&middle, &options.out, "crop.png")?;
    save_rgb(&soft, &options.out, "blur.png")?;
    let written = start.elapsed();

    println!(
        "{} -> {}",
        options.picture.display(),
        options.out.join("*.png").display()
    );
    println!();
    table.print();
    println!("five PNGs written in {:.1} ms", written.as_secs_f64() * 1e3);
    println!();
    println!("mean per channel: {mean:?}");
    println!("std per channel:  {std:?}");
    Ok(())
}

fn decode(path: &Path) -> Result<Tensor<(H, W, Rgb), u8>, Box<dyn Error>> {
    let (bytes, [height, width]) = pixels(path).map_err(|error| {
        let path = path.display();
        format!("{path}: {error}")
    })?;
    let bytes = Tensor::from_vec(bytes, [height, width, 3])?;
    if height < 2 * BLOCK || width < 2 * BLOCK {
        let small = format!("{}: {height}x{width} pixels are too few", path.display());
        return Err(small.into());
    }
    Ok(bytes)
}

/// Decodes a JPEG, or else a PNG, into red, green and blue of each pixel, row by row. Returns them with the numbers of
/// rows and columns.
fn pixels(path: &Path) -> Result<(Vec<u8>, [usize; 2]), Box<dyn Error>> {
    let file = std::fs::read(path)?;
    if file.starts_with(&[0xff, 0xd8]) {
        let mut decoder = zune_jpeg::JpegDecoder::new(ZCursor::new(&file));
        let bytes = decoder.decode()?;
        let (width, height) = decoder.dimensions().ok_or("a picture without a size")?;
        return Ok((bytes, [height, width]));
    }
    let mut decoder = png::Decoder::new(Cursor::new(&file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let size = reader.output_buffer_size().ok_or("too many pixels")?;
    let mut bytes = vec![0; size];
    let info = reader.next_frame(&mut bytes)?;
    let channels = info.color_type.samples();
    let rgb = bytes[..info.buffer_size()].chunks_exact(channels);
    let rgb = rgb.flat_map(|pixel| match *pixel {
        [red, green, blue, ..] => [red, green, blue],
        // Grey, with or without alpha.
        _ => [pixel[0]; 3],
    });
    Ok((rgb.collect(), [info.height as usize, info.width as usize]))
}

/// Multiplies each channel by its factor, at any position of dim `Rgb`.
fn scale_channels<D: Dims>(image: &Tensor<D>, factors: &Tensor<(Rgb,)>) -> Tensor<D>
where
    (Rgb,): AlignInto<D>,
{
    image * factors.align_as(image)
}

/// Averages blocks of `BLOCK` by `BLOCK` pixels; incomplete blocks at the far edges are dropped.
fn downsample(image: &Tensor<(H, W, Rgb)>) -> Tensor<(Height, Width, Rgb)> {
    let (rows, columns) = (image.size(H) / BLOCK, image.size(W) / BLOCK);
    let whole = image
        .narrow(H, 0..rows * BLOCK)
        .narrow(W, 0..columns * BLOCK);
    let small = whole
        .unflatten(H, (Height.of(rows), BlockH.of(BLOCK)))
        .unflatten(W, (Width.of(columns), BlockW.of(BLOCK)))
        .mean((BlockH, BlockW));
    // All blocks have the same size, so the mean of their means is the overall mean.
    let (of_means, of_pixels) = (small.mean((Height, Width)), whole.mean((H, W)));
    assert!(
        (of_means - of_pixels).abs().amax(..).item() < 1e-2,
        "the means of the blocks are off"
    );
    small
}

/// Returns the middle half of rows and columns: a view, which copies no pixels.
fn crop(image: &Tensor<(H, W, Rgb)>) -> Tensor<(H, W, Rgb)> {
    let (rows, columns) = (image.size(H), image.size(W));
    let (top, left) = (rows / 4, columns / 4);
    image
        .narrow(H, top..top + rows / 2)
        .narrow(W, left..left + columns / 2)
}

/// Returns the mean of each pixel and its eight neighbours; the result lacks the outermost rows and columns.
fn blur(image: &Tensor<(H, W, Rgb)>) -> Tensor<(H, W, Rgb)> {
    // One dim after the other, which adds six views instead of nine.
    let rows = image.size(H) - 2;
    let sum = image.narrow(H, 0..rows) + image.narrow(H, 1..rows + 1);
    let sum = sum + image.narrow(H, 2..rows + 2);
    let columns = image.size(W) - 2;
    let total = sum.narrow(W, 0..columns) + sum.narrow(W, 1..columns + 1);
    (total + sum.narrow(W, 2..columns + 2)) * (1.0 / 9.0)
}

/// Runs `--mean`: the same reduction, with names known only at run time.
fn mean_of(bytes: &Tensor<(H, W, Rgb), u8>, names: &str) -> Result<(), Box<dyn Error>> {
    let image: DynTensor = bytes.to::<f32>().into_dyn();
    let names: Vec<&str> = names.split(',').map(str::trim).collect();
    let mean = image.mean(&names[..])?;
    println!("{mean}");
    Ok(())
}

/// Compares mean and standard deviation (with Bessel's correction) of each channel with plain loops.
fn check_statistics(bytes: &Tensor<(H, W, Rgb), u8>, mean: &Tensor<(Rgb,)>, std: &Tensor<(Rgb,)>) {
    let values = bytes.to_vec();
    let count = (values.len() / 3) as f64;
    for (channel, (mean, std)) in mean.to_vec().into_iter().zip(std.to_vec()).enumerate() {
        let of_channel = || {
            values
                .iter()
                .skip(channel)
                .step_by(3)
                .map(|&byte| f64::from(byte))
        };
        let want = of_channel().sum::<f64>() / count;
        let square = of_channel()
            .map(|value| (value - want).powi(2))
            .sum::<f64>();
        assert!(
            (f64::from(mean) - want).abs() < 1e-2,
            "mean {mean}, want {want}"
        );
        let want = (square / (count - 1.0)).sqrt();
        assert!(
            (f64::from(std) - want).abs() < 1e-2,
            "std {std}, want {want}"
        );
    }
}

fn check_grey(image: &Tensor<(H, W, Rgb)>, grey: &Tensor<(H, W)>) {
    let pixels = image.to_vec();
    for (pixel, grey) in pixels.chunks_exact(3).zip(grey.to_vec()) {
        let want: f32 = pixel
            .iter()
            .zip(LUMA)
            .map(|(value, weight)| value * weight)
            .sum();
        assert!((grey - want).abs() < 1e-2, "grey {grey}, want {want}");
    }
}

fn check_blur(image: &Tensor<(H, W, Rgb)>, soft: &Tensor<(H, W, Rgb)>) {
    assert_eq!(
        (soft.size(H) + 2, soft.size(W) + 2),
        (image.size(H), image.size(W))
    );
    let (row, column) = (soft.size(H) / 2, soft.size(W) / 3);
    let around = image
        .narrow(H, row..row + 3)
        .narrow(W, column..column + 3)
        .mean((H, W));
    let difference = around - soft.select(H, row).select(W, column);
    assert!(
        difference.abs().amax(..).item() < 1e-2,
        "a blurred pixel is not its neighbours' mean"
    );
}

/// Rounds to the nearest integer from 0 to 255.
fn to_bytes<D: Dims>(image: &Tensor<D>) -> Vec<u8> {
    (image.clamp(0.0, 255.0) + 0.5)
        .clamp(0.0, 255.0)
        .to::<u8>()
        .to_vec()
}

fn save_rgb(image: &Tensor<(H, W, Rgb)>, out: &Path, file: &str) -> Result<(), Box<dyn Error>> {
    let (rows, columns) = (image.size(H), image.size(W));
    save(
        &to_bytes(image),
        rows,
        columns,
        png::ColorType::Rgb,
        &out.join(file),
    )
}

fn save_grey(image: &Tensor<(H, W)>, out: &Path, file: &str) -> Result<(), Box<dyn Error>> {
    let (rows, columns) = (image.size(H), image.size(W));
    save(
        &to_bytes(image),
        rows,
        columns,
        png::ColorType::Grayscale,
        &out.join(file),
    )
}

fn save(
    bytes: &[u8],
    rows: usize,
    columns: usize,
    color: png::ColorType,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let file = File::create(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let (rows, columns) = (u32::try_from(rows)?, u32::try_from(columns)?);
    let mut encoder = png::Encoder::new(BufWriter::new(file), columns, rows);
    encoder.set_color(color);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(bytes)?;
    Ok(writer.finish()?)
}

/// The name, the sizes and the time of each step.
#[derive(Default)]
struct Table(Vec<(&'static str, String, Duration)>);

impl Table {
    fn step<D: Dims, T: Element>(
        &mut self,
        name: &'static str,
        make: impl FnOnce() -> Tensor<D, T>,
    ) -> Tensor<D, T> {
        let start = Instant::now();
        let made = make();
        self.row(name, &made, start.elapsed());
        made
    }

    fn row<D: Dims, T: Element>(
        &mut self,
        name: &'static str,
        made: &Tensor<D, T>,
        took: Duration,
    ) {
        let names = made.names();
        let dims: Vec<String> = names
            .iter()
            .zip(made.shape())
            .map(|(name, size)| match name {
                Some(name) => format!("{name}={size}"),
                None => size.to_string(),
            })
            .collect();
        self.0
            .push((name, format!("{} {}", dims.join(", "), made.dtype()), took));
    }

    fn print(&self) {
        let width = self.0.iter().map(|(_, made, _)| made.len()).max();
        let width = width.unwrap_or(0);
        println!("{:<18} {:<width$} {:>8}", "step", "names and sizes", "ms");
        for (name, made, took) in &self.0 {
            println!(
                "{name:<18} {made:<width$} {:>8.2}",
                took.as_secs_f64() * 1e3
            );
        }
    }
}
