//! Loaders: the order of batches for any number of threads, errors and panics of items, and threads that end.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nomina::ErrorKind;
use nomina::prelude::*;
use nomina_nn::data::{
    Augmented, BoxError, InOrder, Position, Sampler, Shard, Shuffled, Subset, Weighted,
    WithReplacement, try_length_mask,
};
use nomina_nn::prelude::*;

dims! { N, T, C, H, W }

type Labels = Tensor<(N,), i64>;

/// Returns all labels of an epoch.
fn labels(loader: &Loader<Labels>, epoch: u64) -> Vec<Vec<i64>> {
    loader
        .epoch(epoch)
        .map(|batch| batch.unwrap().to_vec())
        .collect()
}

fn numbers(count: i64, size: usize) -> Loader<Labels> {
    Loader::new(N, Vec::from_iter(0..count), size)
}

#[test]
fn any_number_of_threads_gives_the_same_batches() {
    let loader = numbers(103, 8).shuffled(7);
    let expected = labels(&loader, 0);
    assert_eq!(expected.len(), 13);
    assert_eq!(expected[12].len(), 7);
    let mut all = expected.concat();
    assert_ne!(all, Vec::from_iter(0..103));
    all.sort();
    assert_eq!(all, Vec::from_iter(0..103));
    for (workers, prefetch) in [(1, 1), (1, 4), (2, 1), (3, 2), (5, 20), (40, 3)] {
        let loader = loader.clone().workers(workers).prefetch(prefetch);
        assert_eq!(
            labels(&loader, 0),
            expected,
            "{workers} threads, {prefetch} ahead"
        );
    }
    // Another permutation for each epoch and each seed, and a smaller last batch that is dropped.
    let orders = (0..20).map(|epoch| labels(&loader, epoch));
    let other = labels(&loader.clone().shuffled(8), 0);
    let orders: BTreeSet<_> = orders.chain([other]).collect();
    assert_eq!(orders.len(), 21);
    let whole = loader.clone().drop_last().workers(2);
    assert_eq!(labels(&whole, 0), expected[..12]);
    assert_eq!(
        (whole.batches().unwrap(), loader.batches().unwrap()),
        (12, 13)
    );
}

#[test]
fn an_epoch_resumes_from_any_position() {
    let loader = numbers(50, 6).shuffled(3);
    let all = labels(&loader, 4);
    for workers in [0, 3] {
        let loader = loader.clone().workers(workers);
        for batch in 0..=all.len() {
            let mut epoch = loader.epoch(4);
            epoch.by_ref().take(batch).for_each(drop);
            let position = epoch.position();
            assert_eq!(position, Position { epoch: 4, batch });
            let resumed = loader.resume(position);
            assert_eq!(resumed.len(), all.len() - batch);
            let rest: Vec<_> = resumed.map(|batch| batch.unwrap().to_vec()).collect();
            assert_eq!(rest, all[batch..]);
        }
        // Beyond the end.
        assert_eq!(
            loader
                .resume(Position {
                    epoch: 4,
                    batch: 99
                })
                .count(),
            0
        );
    }
}

#[test]
fn rows_of_tensors_are_the_same_as_items() {
    let x = Tensor::<(C, N), f64>::randn([3, 20]);
    let y = Labels::arange(0, 20, 1);
    let items: Vec<(Tensor<(C,), f64>, i64)> = x.unbind(N).into_iter().zip(y.to_vec()).collect();
    let rows = Loader::from_tensors(N, (x, y), 6).shuffled(1).workers(2);
    let items = Loader::new(N, items, 6).shuffled(1);
    for (rows, items) in rows.epoch(5).zip(items.epoch(5)) {
        let ((x, y), (z, w)) = (rows.unwrap(), items.unwrap());
        let (x, z): (Tensor<(C, N), f64>, Tensor<(N, C), f64>) = (x, z);
        assert!(y.equal(&w) && x.align_to((N, C)).equal(&z));
    }
    let short = (Tensor::<(N, C)>::zeros([3, 2]), Labels::zeros([4]));
    let error = Loader::try_from_tensors(N, short, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(
        error
            .to_string()
            .contains("3 rows in the first tensor and 4"),
        "{error}"
    );
}

/// A picture and its label.
#[derive(Batch)]
struct Sample {
    image: Tensor<(H, W)>,
    label: i64,
}

#[test]
fn structs_have_the_batch_dim_in_their_types() {
    let read = |index: usize| -> Result<Sample, BoxError> {
        Ok(Sample {
            image: Tensor::full([2, 3], index as f32),
            label: index as i64,
        })
    };
    let loader: Loader<SampleBatch<N>> = Loader::from_fn(N, 10, read, 4).workers(2);
    let batches: Vec<SampleBatch<N>> = loader.epoch(0).map(Result::unwrap).collect();
    let image: &Tensor<(N, H, W)> = &batches[2].image;
    assert_eq!(
        (image.shape(), image.select(N, 1).max(..).item()),
        (&[2, 2, 3][..], 9.0)
    );
    assert_eq!(batches[1].label.to_vec(), [4, 5, 6, 7]);
}

#[test]
fn random_changes_are_the_same_for_any_number_of_threads() {
    let change = |x: f32, generator: &mut Generator| -> Result<Tensor<(C,)>> {
        Tensor::<(C,)>::options()
            .generator(generator)
            .try_randn([2])?
            .try_add(x)
    };
    let data = Augmented {
        data: vec![1.0_f32; 30],
        change,
    };
    let loader = Loader::new(N, data, 7).shuffled(11);
    let all = |workers, epoch| -> Vec<Vec<f32>> {
        let loader = loader.clone().workers(workers);
        loader
            .epoch(epoch)
            .map(|batch| batch.unwrap().to_vec())
            .collect()
    };
    let expected = all(0, 0);
    assert_eq!(all(1, 0), expected);
    assert_eq!(all(4, 0), expected);
    assert_ne!(all(4, 1), expected);
    let bits: BTreeSet<u32> = expected.concat().iter().map(|x| x.to_bits()).collect();
    assert_eq!(bits.len(), 60);
}

#[test]
fn errors_and_panics_name_their_item() {
    let read = |index: usize| -> Result<i64, BoxError> {
        match index {
            5 => Err(io::Error::new(io::ErrorKind::NotFound, "no such picture").into()),
            9 => panic!("a picture of {index} colours"),
            13 => Err(Tensor::<(C,)>::try_zeros([1])
                .and_then(|x| x.try_narrow(C, 0..2))
                .unwrap_err()
                .into()),
            _ => Ok(index as i64),
        }
    };
    for workers in [0, 1, 3] {
        let loader = Loader::from_fn(N, 20, read, 4).workers(workers);
        let found: Vec<Result<Labels>> = loader.epoch(2).collect();
        assert_eq!(found.len(), 5);
        let texts = [1, 2, 3].map(|batch| found[batch].as_ref().unwrap_err().to_string());
        assert_eq!(
            texts[0],
            "loader: item 5 (batch 1 of epoch 2): no such picture"
        );
        assert_eq!(
            texts[1],
            "loader: item 9 (batch 2 of epoch 2): a panic: a picture of 9 colours"
        );
        assert!(
            texts[2].starts_with("loader: item 13 (batch 3 of epoch 2): narrow: "),
            "{}",
            texts[2]
        );
        let kinds = [1, 2, 3].map(|batch| found[batch].as_ref().unwrap_err().kind());
        assert_eq!(kinds[0], ErrorKind::File);
        assert_eq!(kinds[2], ErrorKind::Index);
        // Batches after an error follow.
        assert_eq!(found[4].as_ref().unwrap().to_vec(), [16, 17, 18, 19]);
    }
    // Items that do not fit together.
    let read = |index: usize| -> Result<Tensor<(T,)>> { Ok(Tensor::zeros([index + 1])) };
    let error = Loader::from_fn(N, 3, read, 3)
        .epoch(0)
        .next()
        .unwrap()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("loader: batch 0 of epoch 0: stack: "),
        "{error}"
    );
    // A sampler that does not fit.
    let loader = numbers(5, 2).sampler(Subset {
        indices: vec![7],
        sampler: InOrder,
    });
    let found: Vec<_> = loader.epoch(0).collect();
    assert!(found.len() == 1 && found[0].is_err() && loader.batches().is_err());
}

/// Counts items in progress, and holds them until it is opened.
#[derive(Default)]
struct Gate {
    open: Mutex<bool>,
    opened: Condvar,
    started: AtomicUsize,
    ended: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        self.started.fetch_add(1, SeqCst);
        let open = self.open.lock().unwrap();
        drop(self.opened.wait_while(open, |open| !*open).unwrap());
        self.ended.fetch_add(1, SeqCst);
    }

    fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    /// Waits until a number of items have started, and none starts any more.
    fn wait_for(&self, items: usize) {
        for _ in 0..2000 {
            if self.started.load(SeqCst) >= items {
                break;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(self.started.load(SeqCst), items);
    }
}

#[test]
fn no_more_than_the_prefetched_batches_are_loaded_ahead() {
    let gate = Arc::new(Gate::default());
    gate.open();
    let own = Arc::clone(&gate);
    let read = move |index: usize| -> Result<i64> {
        own.pass();
        Ok(index as i64)
    };
    let loader = Loader::from_fn(N, 100, read, 2).workers(3).prefetch(4);
    let mut epoch = loader.epoch(0);
    gate.wait_for(8);
    epoch.next();
    gate.wait_for(10);
    epoch.next();
    epoch.next();
    gate.wait_for(14);
    assert_eq!(epoch.count(), 47);
    assert_eq!(gate.ended.load(SeqCst), 100);
}

#[test]
fn dropping_an_epoch_ends_its_threads() {
    // Full, with nothing in progress; the data set's last owner is then the loader.
    let data = Arc::new(Vec::from_iter(0..1000_i64));
    let loader = Loader::new(N, Arc::clone(&data), 1).workers(4).prefetch(6);
    let mut epoch = loader.epoch(0);
    epoch.next();
    std::thread::sleep(Duration::from_millis(30));
    drop(epoch);
    drop(loader);
    assert_eq!(Arc::strong_count(&data), 1);

    // In the middle of items of batches of 50: no thread reads another item.
    let gate = Arc::new(Gate::default());
    let own = Arc::clone(&gate);
    let read = move |index: usize| -> Result<i64> {
        own.pass();
        Ok(index as i64)
    };
    let loader = Loader::from_fn(N, 1000, read, 50).workers(3);
    let epoch = loader.epoch(0);
    gate.wait_for(3);
    let later = Arc::clone(&gate);
    let opens = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        later.open();
    });
    drop(epoch);
    opens.join().unwrap();
    assert_eq!((gate.started.load(SeqCst), gate.ended.load(SeqCst)), (3, 3));
    drop(loader);
    assert_eq!(Arc::strong_count(&gate), 1);
}

#[test]
fn samplers_draw_what_they_say() -> Result<()> {
    let shuffled = Shuffled { seed: 1 };
    assert_eq!(InOrder.try_order(4, 9)?, [0, 1, 2, 3]);
    assert_eq!(shuffled.try_order(0, 0)?, [0; 0]);

    let drawn = WithReplacement {
        count: 6000,
        seed: 2,
    }
    .try_order(3, 0)?;
    let shares = |order: &[usize], size: usize| -> Vec<f64> {
        let count = |index| order.iter().filter(|&&found| found == index).count() as f64;
        (0..size)
            .map(|index| count(index) / order.len() as f64)
            .collect()
    };
    for share in shares(&drawn, 3) {
        // Five standard deviations.
        assert!((share - 1.0 / 3.0).abs() < 0.031, "{share}");
    }
    let mut weighted = Weighted {
        weights: vec![1.0, 0.0, 3.0],
        count: 6000,
        replacement: true,
        seed: 2,
    };
    let found = shares(&weighted.try_order(3, 0)?, 3);
    assert!(
        (found[0] - 0.25).abs() < 0.028 && found[1] == 0.0,
        "{found:?}"
    );
    assert_ne!(weighted.try_order(3, 0)?, weighted.try_order(3, 1)?);
    (weighted.count, weighted.replacement) = (2, false);
    let mut both = weighted.try_order(3, 0)?;
    both.sort();
    assert_eq!(both, [0, 2]);
    weighted.count = 3;
    assert!(weighted.try_order(3, 0).is_err() && weighted.try_order(4, 0).is_err());

    let subset = Subset {
        indices: vec![9, 4, 6, 1],
        sampler: shuffled,
    };
    let mut found = subset.try_order(10, 3)?;
    found.sort();
    assert_eq!(found, [1, 4, 6, 9]);

    // All ranks together have each item, and some twice.
    let whole = shuffled.try_order(103, 5)?;
    for drop_last in [false, true] {
        let ranks = (0..4).map(|rank| {
            Shard {
                sampler: shuffled,
                rank,
                ranks: 4,
                drop_last,
            }
            .try_order(103, 5)
        });
        let ranks = ranks.collect::<Result<Vec<_>>>()?;
        let each = if drop_last { 25 } else { 26 };
        assert!(ranks.iter().all(|rank| rank.len() == each));
        let turns: Vec<usize> = (0..4 * each).map(|at| ranks[at % 4][at / 4]).collect();
        let expected: Vec<usize> = whole.iter().cycle().copied().take(4 * each).collect();
        assert_eq!(turns, expected);
    }
    // More ranks than items.
    assert_eq!(
        Shard {
            sampler: InOrder,
            rank: 6,
            ranks: 7,
            drop_last: false
        }
        .try_order(2, 0)?,
        [0]
    );
    assert!(
        Shard {
            sampler: InOrder,
            rank: 2,
            ranks: 2,
            drop_last: false
        }
        .try_order(2, 0)
        .is_err()
    );
    Ok(())
}

#[test]
fn sequences_are_padded_along_any_dim() -> Result<()> {
    let sequences = [2, 0, 3].map(|size| Tensor::<(C, T), f64>::ones([2, size]).with_grad());
    let (x, lengths) = pad_sequences(N, T, &sequences, 0.5);
    let x: Tensor<(N, C, T), f64> = x;
    assert_eq!(lengths.to_vec(), [2, 0, 3]);
    let expected = [[1., 1., 0.5], [0.5, 0.5, 0.5], [1., 1., 1.]].map(|row| [row; 2]);
    assert_eq!(x.to_vec(), expected.concat().concat());
    (&x * &x * 3.0).sum(..).backward();
    assert_eq!(sequences[0].grad().unwrap().to_vec(), [6.0; 4]);
    let mask = length_mask(&lengths, T.of(3));
    assert_eq!(
        mask.to_vec(),
        [true, true, false, false, false, false, true, true, true]
    );
    assert!(try_length_mask(&lengths, T.of(2)).is_err());
    assert!(try_pad_sequences(N, T, &[] as &[Tensor<(T,)>], 0.0).is_err());
    Ok(())
}
