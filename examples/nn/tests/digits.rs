//! Tests of `examples/nn/digits.rs`: interrupted training, the accuracy after short training, and the pictures.

// Includes its `main`, which is unused here.
#[allow(dead_code)]
#[path = "../digits.rs"]
mod digits;

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use digits::data::Digits;
use digits::training::{Plan, Training};
use digits::{Class, Classifier, Cnn, Mlp, N, pictures, report};
use nomina::prelude::*;
use nomina_nn::prelude::autocast;

fn plan(epochs: u64) -> Plan {
    Plan {
        epochs,
        lr: 4e-3,
        seed: 3,
    }
}

fn first(count: usize) -> Digits {
    let digits = Digits::read().unwrap();
    digits.pick(&Tensor::arange(0, count as i64, 1))
}

/// Returns a path for one test.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("digits");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn run<M: Classifier>(training: &mut Training<M>, digits: &Digits, epochs: usize) -> Vec<f32> {
    let mut losses = Vec::new();
    for _ in 0..epochs {
        training
            .run_epoch(digits, |loss, _| losses.push(loss))
            .unwrap();
    }
    losses
}

/// Returns the bits of everything that the next epoch depends on.
fn bits<M: Classifier>(training: &Training<M>) -> Vec<(String, Vec<u64>)> {
    let tensors = [training.model.state(), training.optimizer.state()].concat();
    let bits = |tensor: &DynTensor| {
        // Every f32 and every number of steps here is exactly representable in f64.
        let numbers = tensor.to_dtype(DType::F64).unwrap().to_vec::<f64>();
        numbers.unwrap().into_iter().map(f64::to_bits).collect()
    };
    let mut all: Vec<_> = tensors
        .iter()
        .map(|(path, x)| (path.clone(), bits(x)))
        .collect();
    all.push(("epoch".to_owned(), vec![training.epoch]));
    all
}

fn goes_on_to_the_bit<M: Classifier>(name: &str) {
    with_seed(0, || {
        let digits = first(150);
        let mut whole = Training::<M>::new(plan(4));
        let losses = run(&mut whole, &digits, 4);
        assert!(whole.is_done());

        let mut cut = Training::<M>::new(plan(4));
        assert_eq!(run(&mut cut, &digits, 2), losses[..losses.len() / 2]);
        assert_ne!(bits(&cut), bits(&whole));
        let path = file(name);
        cut.save(&path).unwrap();
        drop(cut);

        // Other random numbers in between have no effect.
        manual_seed(99);
        let mut again = Training::<M>::open(&path, plan(4)).unwrap();
        assert_eq!(again.epoch, 2);
        assert_eq!(run(&mut again, &digits, 2), losses[losses.len() / 2..]);
        assert_eq!(bits(&again), bits(&whole));
    });
}

#[test]
fn training_of_an_mlp_goes_on_to_the_bit() {
    goes_on_to_the_bit::<Mlp>("mlp.safetensors");
}

#[test]
fn training_of_a_cnn_goes_on_to_the_bit() {
    goes_on_to_the_bit::<Cnn>("cnn.safetensors");
}

#[test]
fn a_checkpoint_of_another_network_or_a_broken_one_is_refused() {
    with_seed(0, || {
        let mut training = Training::<Mlp>::new(plan(1));
        run(&mut training, &first(64), 1);
        let path = file("whole.safetensors");
        training.save(&path).unwrap();
        let text = Training::<Cnn>::open(&path, plan(1))
            .err()
            .unwrap()
            .to_string();
        assert!(
            text.contains("`strokes.weight`") && text.contains("whole.safetensors"),
            "{text}"
        );

        let bytes = std::fs::read(&path).unwrap();
        let path = file("broken.safetensors");
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let text = Training::<Mlp>::open(&path, plan(1))
            .err()
            .unwrap()
            .to_string();
        assert!(text.contains("broken.safetensors"), "{text}");
    });
}

#[test]
fn a_short_training_tells_most_digits_right() {
    with_seed(0, || {
        let (train, held_out) = Digits::read().unwrap().split(7);
        assert_eq!((train.len(), held_out.len()), (1437, 360));
        let out = file("");

        let mut mlp = Training::<Mlp>::new(plan(8));
        run(&mut mlp, &train, 8);
        report("short-mlp", &mlp.model, &held_out, 0.9, &out).unwrap();
        let missed = report("short-mlp", &mlp.model, &held_out, 1.01, &out);
        assert!(missed.unwrap_err().to_string().contains("101 %"));

        let mut cnn = Training::<Cnn>::new(plan(2));
        run(&mut cnn, &train, 2);
        report("short-cnn", &cnn.model, &held_out, 0.9, &out).unwrap();
    });
}

#[test]
fn a_split_has_each_digit_once() {
    with_seed(0, || {
        let all = Digits::read().unwrap();
        let (train, held_out) = all.split(5);
        let pictures = |digits: &Digits| -> Vec<(Vec<u32>, i64)> {
            let pixels = digits.images.to_vec();
            let pixels = pixels
                .chunks(64)
                .map(|image| image.iter().map(|x| x.to_bits()).collect());
            let mut pictures: Vec<_> = pixels.zip(digits.labels.to_vec()).collect();
            pictures.sort();
            pictures
        };
        let mut both = [pictures(&train), pictures(&held_out)].concat();
        both.sort();
        assert_eq!(both, pictures(&all));
        assert_ne!(pictures(&all.split(6).1), pictures(&held_out));
    });
}

/// Opens a PNG. Returns its size and a function from a position to red, green and blue.
fn reader(path: PathBuf) -> ((u32, u32), impl Fn(u32, u32) -> [u8; 3]) {
    let file = BufReader::new(File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let width = info.width;
    let at = move |x: u32, y: u32| {
        let at = 3 * (y * width + x) as usize;
        [bytes[at], bytes[at + 1], bytes[at + 2]]
    };
    ((info.width, info.height), at)
}

#[test]
fn pictures_show_what_was_told_right_and_wrong() {
    // Four correct predictions, and one 2 that is classified as 7.
    let counts: Tensor<(Class, Prime<Class>), i64> = Tensor::from_fn([10; 2], |at| match at {
        [3, 3] => 4,
        [2, 7] => 1,
        _ => 0,
    });
    let path = file("confusion.png");
    pictures::confusion(&path, &counts).unwrap();
    let (size, at) = reader(path);
    assert_eq!(size, (550, 550));
    let corner = |class: u32, told: u32| at(50 + 50 * told + 3, 50 + 50 * class + 3);
    assert!(corner(3, 3)[2] > corner(3, 3)[0] + 50, "{:?}", corner(3, 3));
    assert!(corner(2, 7)[0] > corner(2, 7)[2] + 50, "{:?}", corner(2, 7));
    assert_eq!(corner(7, 2), [255; 3]);

    let digits = first(5);
    let told = tensor!([0, 1, 2, 3, 9]; N);
    let losses = tensor!([0.5, 0.25, 2.0, 1.0, 4.0]; N);
    let path = file("worst.png");
    pictures::worst(&path, &digits, &told, &losses).unwrap();
    let (size, at) = reader(path);
    assert_eq!(size, (720, 400));
    // The centre of each pixel.
    for (place, pixel) in digits.images.select(N, 4).iter().enumerate() {
        let (row, column) = ((place / 8) as u32, (place % 8) as u32);
        let [grey, ..] = at(18 + 18 * column + 9, 200 + 6 + 18 * row + 9);
        assert!(
            (f32::from(grey) / 255.0 - (1.0 - pixel)).abs() < 0.01,
            "{place}: {grey}"
        );
    }
    // Only the last one is misclassified.
    let red = |left: u32, top: u32| {
        let points = (0..180 * 200).map(|at| (left + at % 180, top + at / 180));
        points.filter(|&(x, y)| at(x, y) == [255, 0, 0]).count()
    };
    assert!(red(0, 200) > 100);
    assert_eq!([0, 180, 360, 540].map(|left| red(left, 0)), [0; 4]);
}

/// With products in 16 bits, losses are those of `f32` to 3 % of the first loss, at each of 60 steps, and so is the mean
/// of the last 10 to 5 % of itself.
#[test]
fn mixed_precision_learns_as_well() {
    with_seed(0, || {
        let digits = first(640);
        let wide = run(&mut Training::<Cnn>::new(plan(6)), &digits, 6);
        let mut training = Training::<Cnn>::new(plan(6));
        let mixed = autocast(DType::BF16, || run(&mut training, &digits, 6));
        assert_ne!(wide, mixed);
        for (step, (wide, mixed)) in wide.iter().zip(&mixed).enumerate() {
            assert!((wide - mixed).abs() < 0.03 * 2.3, "{step}: {wide}, {mixed}");
        }
        let last = |losses: &[f32]| losses[losses.len() - 10..].iter().sum::<f32>();
        let (wide, mixed) = (last(&wide), last(&mixed));
        assert!((wide - mixed).abs() < 0.05 * wide, "{wide}, {mixed}");
    });
}
