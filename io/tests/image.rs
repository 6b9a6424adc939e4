//! Images of the crate `image`, without a copy if possible.

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, LumaA, Rgb32FImage, RgbImage};
use nomina::prelude::*;
use nomina_io::image::{from_image, to_image};

dims! { H, W, C, Rgb = 3 }

#[test]
fn buffers_are_taken_over() {
    let picture = RgbImage::from_fn(4, 2, |x, y| image::Rgb([x as u8, y as u8, 7]));
    let place = picture.as_raw().as_ptr();
    let x: Tensor<(H, W, Rgb), u8> = from_image(picture.clone()).unwrap();
    assert_eq!(x.get((H.i(1), W.i(3), Rgb.i(0))), Some(3));
    assert_eq!(x.get((H.i(1), W.i(3), Rgb.i(2))), Some(7));
    let x: Tensor<(H, W, Rgb), u8> = from_image(picture).unwrap();
    assert_eq!(x.to_dyn().raw().as_ptr(), place);
    let back = to_image(x).unwrap().into_rgb8();
    assert_eq!(back.as_raw().as_ptr(), place);
    assert_eq!(back.get_pixel(3, 1).0, [3, 1, 7]);

    let floats = Rgb32FImage::from_pixel(2, 1, image::Rgb([0.5, -3.0, 1e9]));
    let place = floats.as_raw().as_ptr();
    let x: Tensor<(H, W, Rgb)> = from_image(floats).unwrap();
    let back = to_image(x).unwrap().into_rgb32f();
    assert_eq!((back.as_raw().as_ptr(), back.as_raw()[5]), (place, 1e9));

    // A shared buffer is copied.
    let x: Tensor<(H, W), u8> = from_image(GrayImage::from_pixel(2, 2, Luma([9]))).unwrap();
    let back = to_image(x.clone()).unwrap().into_luma8();
    assert_eq!((back.into_raw(), x.to_vec()), (vec![9; 4], vec![9; 4]));
}

#[test]
fn other_samples_and_layouts() {
    let wide: ImageBuffer<LumaA<u16>, Vec<u16>> = ImageBuffer::from_pixel(3, 1, LumaA([65535, 2]));
    let x: Tensor<(H, W, C), i32> = from_image(DynamicImage::ImageLumaA16(wide)).unwrap();
    assert_eq!(
        (x.shape(), x.to_vec()),
        (&[1, 3, 2][..], [65535, 2].repeat(3))
    );
    let planes: Tensor<(Rgb, H, W)> = Tensor::from_fn([3, 2, 2], |at| at[0] as f32 / 2.0);
    let picture = to_image(planes.align_to((H, W, Rgb))).unwrap();
    assert!(matches!(picture, DynamicImage::ImageRgb32F(_)));
    assert_eq!(picture.into_rgb8().get_pixel(1, 1).0, [0, 128, 255]);
    let mask = to_image(tensor!([[true, false]]; H, W)).unwrap();
    assert_eq!(mask.as_bytes(), [255, 0]);
    for channels in 1..=4 {
        let x = DynTensor::options().dtype(DType::U8);
        let picture = to_image(x.ones(&[2, 5, channels], ()).unwrap()).unwrap();
        assert_eq!(usize::from(picture.color().channel_count()), channels);
        let back: DynTensor = from_image(picture).unwrap();
        assert_eq!(
            (back.shape(), back.dtype()),
            (&[2, 5, channels][..], DType::U8)
        );
    }
}

#[test]
fn what_is_no_picture_is_an_error() {
    let error = |x: DynTensor| to_image(x).unwrap_err();
    let zeros = |shape: &[usize]| DynTensor::zeros(shape, ()).unwrap();
    assert_eq!(error(zeros(&[3])).kind(), ErrorKind::Rank);
    let text = error(DynTensor::zeros(&[3, 4, 5], ["C", "H", "W"]).unwrap()).to_string();
    assert!(
        text.contains("1 to 4 channels") && text.contains("(C=3, H=4, W=5)"),
        "{text}"
    );
    assert_eq!(
        error(zeros(&[2, 2]).to_dtype(DType::I64).unwrap()).kind(),
        ErrorKind::DType
    );
    assert_eq!(
        error(DynTensor::full(&[1, 1], f32::NAN, ()).unwrap()).kind(),
        ErrorKind::Argument
    );
    let grey = || GrayImage::new(2, 2);
    assert_eq!(
        from_image::<Tensor<(H, W)>>(grey()).unwrap_err().kind(),
        ErrorKind::DType
    );
    let error = from_image::<Tensor<(H, W, Rgb), u8>>(grey()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let error = from_image::<Tensor<(H, W), u8>>(RgbImage::new(2, 2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rank);
}
