//! Only one thread of a rank makes a mesh's collectives, and a panic on it ends all ranks.

use std::thread;

use nomina_mesh::prelude::*;

dims! { N }
mesh! { Line: Data }

type Leaf = Sharded<(N,), Line<Synced>>;

fn leaf(mesh: &Mesh<Line<Whole>>, size: usize) -> Result<Leaf> {
    mesh.parameter(Tensor::ones([size]))
}

#[test]
fn a_second_thread_is_refused() {
    // Two threads run the same collectives: on each rank at most one of them may, whatever their order.
    for _ in 0..20 {
        let found = Line::threads([2], |mesh| {
            let work = |value: f32| {
                let mut sums = Vec::new();
                for _ in 0..3 {
                    let x = mesh.whole(Tensor::<(N,)>::full([4], value));
                    let sum = x.cut(Data, N).sum(across(N)).try_all_reduce(Data)?;
                    sums.push(sum.item());
                }
                Ok::<_, Error>(sums)
            };
            Ok(thread::scope(|scope| {
                let both = [1.0, 2.0].map(|value| scope.spawn(move || work(value)));
                both.map(|one| one.join().expect("no panic"))
            }))
        });
        for both in found.unwrap() {
            let refused = both.iter().filter_map(|one| one.as_ref().err());
            let texts: Vec<String> = refused.map(ToString::to_string).collect();
            let is_about_threads = |text: &String| text.contains("thread of this rank");
            assert!(texts.iter().any(is_about_threads), "{texts:?}");
        }
    }
}

#[test]
fn threads_that_take_turns_are_refused_and_a_handover_is_not() {
    let found = Line::threads([2], |mesh| {
        // Nothing was exchanged before, so the mesh belongs to the thread that begins.
        let w = leaf(&mesh, 4)?;
        let step = || {
            let loss = w.whole(Data).square().sum(N).pend(Data);
            loss.try_backward()?;
            loss.try_all_reduce(Data).map(|loss| loss.item())
        };
        let elsewhere = |take_over: bool| {
            thread::scope(|scope| {
                let job = scope.spawn(|| {
                    if take_over {
                        mesh.use_on_this_thread()?;
                    }
                    step()
                });
                job.join().expect("no panic")
            })
        };
        assert_eq!(elsewhere(false)?, 4.0);
        for refused in [step(), elsewhere(false)] {
            let error = refused.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Mesh);
            assert!(error.to_string().contains("use_on_this_thread"), "{error}");
        }
        assert_eq!(elsewhere(true)?, 4.0);
        assert!(mesh.barrier().is_err() && mesh.clone().barrier().is_err());
        mesh.use_on_this_thread()?;
        mesh.barrier()?;
        step()
    });
    assert_eq!(found.unwrap(), [4.0, 4.0]);
}

#[test]
fn a_mesh_of_one_rank_serves_all_threads() {
    let mesh = Line::alone();
    mesh.barrier().unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                mesh.whole(Tensor::<(N,)>::ones([4]))
                    .pend(Data)
                    .all_reduce(Data)
            });
        }
    });
    // A simulated mesh has ranks, and so an owner.
    let mesh = Line::simulate([4], 1e-6, 1e9).unwrap();
    mesh.barrier().unwrap();
    let error = thread::scope(|scope| scope.spawn(|| mesh.barrier()).join().unwrap());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Mesh);
}

/// Panics on drop, with another value of its kind as the payload.
struct Explosive(u32);

impl Drop for Explosive {
    fn drop(&mut self) {
        if self.0 > 0 && !thread::panicking() {
            std::panic::panic_any(Self(self.0 - 1));
        }
    }
}

#[test]
fn a_panic_whose_payload_panics_ends_all_ranks() {
    for depth in [0, 1, 3] {
        let found = Line::threads([3], |mesh| {
            if mesh.rank(Data) == 1 {
                std::panic::panic_any(Explosive(depth));
            }
            mesh.barrier()
        });
        let error = found.map(drop).unwrap_err();
        assert!(error.to_string().contains("rank 1 panicked"), "{error}");
    }
}
