//! PNG images, written and read back.
#![cfg(feature = "png")]

#[path = "png_file/mod.rs"]
mod png_file;

use std::fs;

use nomina::prelude::*;
use nomina_io::png::{load, save};

dims! { H, W, Channel, Rgb = 3 }

fn place() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.png");
    (folder, path)
}

#[test]
fn bytes_come_back_as_they_were() {
    let (_folder, path) = place();
    for channels in 1..=4 {
        let x: Tensor<(H, W, Channel), u8> = Tensor::from_fn([5, 7, channels], |at| {
            (40 * at[0] + 5 * at[1] + at[2]) as u8
        });
        save(&path, x.clone()).unwrap();
        assert!(
            load::<Tensor<(H, W, Channel), u8>>(&path)
                .unwrap()
                .equal(&x)
        );
        let dynamic = load::<DynTensor>(&path).unwrap();
        assert_eq!(dynamic.shape(), [5, 7, channels]);
        assert_eq!(dynamic.names(), &names![_, _, _]);
        // A permuted view is written in its own order.
        let turned = x.align_to((W, H, Channel));
        save(&path, turned.clone()).unwrap();
        let back: Tensor<(W, H, Channel), u8> = load(&path).unwrap();
        assert!(back.equal(&turned));
    }
}

#[test]
fn floats_are_clamped_and_rounded() {
    let (_folder, path) = place();
    let inf = f64::INFINITY;
    let x = tensor!([[0., 1., 0.5, -3.], [2., inf, -inf, 0.0979]]; H, W; f64);
    save(&path, x.clone()).unwrap();
    let grey: Tensor<(H, W), u8> = load(&path).unwrap();
    assert_eq!(grey.to_vec(), [0, 255, 128, 0, 255, 255, 0, 25]);
    for dtype in [DType::F16, DType::BF16, DType::F32] {
        save(&path, x.to_dyn().to_dtype(dtype).unwrap()).unwrap();
        assert_eq!(
            load::<Tensor<(H, W), u8>>(&path).unwrap().to_vec(),
            grey.to_vec()
        );
    }
    save(&path, x.with_grad()).unwrap();
    save(&path, grey.gt(100)).unwrap();
    let truth: Tensor<(H, W), u8> = load(&path).unwrap();
    assert_eq!(truth.to_vec(), [0, 255, 255, 0, 255, 255, 0, 0]);
}

#[test]
fn what_is_no_picture_is_an_error_and_leaves_the_file() {
    let (folder, path) = place();
    fs::write(&path, "old").unwrap();
    let ones = |shape: &[usize], dtype| DynTensor::options().dtype(dtype).ones(shape, ()).unwrap();
    let nan = DynTensor::full(&[2, 3, 1], f32::NAN, ()).unwrap();
    for (x, kind, says) in [
        (ones(&[3], DType::U8), ErrorKind::Rank, "(row, column"),
        (
            ones(&[1, 1, 1, 1], DType::U8),
            ErrorKind::Rank,
            "(row, column",
        ),
        (
            ones(&[3, 4, 5], DType::U8),
            ErrorKind::Shape,
            "not 5; dims (_=3, _=4, _=5); align",
        ),
        (ones(&[0, 5], DType::U8), ErrorKind::Shape, "0 x 5 pixels"),
        (ones(&[5, 0], DType::F32), ErrorKind::Shape, "5 x 0 pixels"),
        (ones(&[5, 5], DType::I64), ErrorKind::DType, "not i64"),
        (
            ones(&[5, 5], DType::C64),
            ErrorKind::DType,
            "not Complex<f32>",
        ),
        (nan, ErrorKind::Argument, "element [0, 0, 0] is NaN"),
    ] {
        let error = save(&path, x).unwrap_err();
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}");
        assert!(
            text.starts_with("save: ") && text.contains("a.png") && text.contains(says),
            "{text}"
        );
    }
    let last = tensor!([[0., 1.], [2., f32::NAN]]; H, W);
    assert!(
        save(&path, last)
            .unwrap_err()
            .to_string()
            .contains("element [1, 1]")
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_type_says_what_is_there() {
    let (_folder, path) = place();
    save(&path, Tensor::<(H, W, Channel)>::ones([2, 3, 4])).unwrap();
    let error = load::<Tensor<(H, W, Rgb), u8>>(&path).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(
        error.to_string().contains("a.png") && error.to_string().contains("Rgb"),
        "{error}"
    );
    assert_eq!(
        load::<Tensor<(H, W), u8>>(&path).unwrap_err().kind(),
        ErrorKind::Rank
    );
    assert_eq!(
        load::<Tensor<(H, W, Channel)>>(&path).unwrap_err().kind(),
        ErrorKind::DType
    );
    let missing = load::<DynTensor>(path.with_file_name("b")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::File);
}

#[test]
fn other_depths_and_interlaced_files() {
    let (_folder, path) = place();
    let read = |bytes: Vec<u8>| {
        fs::write(&path, bytes).unwrap();
        load::<DynTensor>(&path).unwrap()
    };
    let bits = read(png_file::file(
        [9, 1],
        [1, 0, 0],
        &[0, 0b1010_0000, 0b1000_0000],
    ));
    assert_eq!(bits.shape(), [1, 9, 1]);
    assert_eq!(
        bits.to_vec::<u8>().unwrap(),
        [255, 0, 255, 0, 0, 0, 0, 0, 255]
    );
    let wide = read(png_file::file([2, 1], [16, 0, 0], &[0, 1, 2, 255, 254]));
    assert_eq!(wide.to_vec::<i32>().unwrap(), [258, 65534]);
    for samples in [1, 3] {
        let pixels: Vec<u8> = (0..64 * samples as u8).collect();
        let rows = png_file::interlaced(&pixels, samples);
        let color = if samples == 1 { 0 } else { 2 };
        let image = read(png_file::file([8, 8], [8, color, 1], &rows));
        assert_eq!(image.shape(), [8, 8, samples]);
        assert_eq!(image.to_vec::<u8>().unwrap(), pixels);
    }
}

#[test]
fn a_header_is_believed_as_far_as_the_file_could_hold_it() {
    let (_folder, path) = place();
    for size in [[u32::MAX >> 1; 2], [1 << 30, 1], [1, 1 << 30]] {
        for interlaced in [0, 1] {
            fs::write(&path, png_file::file(size, [16, 6, interlaced], &[0; 9])).unwrap();
            let error = load::<DynTensor>(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parse, "{error}");
            assert!(error.to_string().contains("a.png"), "{error}");
        }
    }
}
