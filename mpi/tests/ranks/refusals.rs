//! Errors on all ranks, after which they continue.

use nomina::{DType, ErrorKind};
use nomina_mesh::{Combine, Job, Ranks};

use crate::elements::{Lie, piece};

/// Checks that every rank gets the same error, which names a rank.
pub fn refused(axis: &dyn Ranks) {
    let (rank, size) = (axis.rank(), axis.size());
    let odd = rank == 1;
    let piece = |dtype, count: usize| piece(dtype, &[count], rank, 0, Lie::Dense);
    let float = |count| piece(DType::F32, count);
    let reduce = |piece, combine| Job::AllReduce { piece, combine };
    let pieces = |count: usize| vec![float(count); size];
    let (add, max) = (Combine::Add, Combine::Max);
    // No rank has this much memory.
    let huge = vec![1_usize << 44];
    let shift = |shape| Job::Shift {
        piece: float(4),
        by: 1,
        shape,
    };
    let cases = [
        (
            reduce(float(if odd { 7 } else { 8 }), add),
            ErrorKind::Mesh,
            "(all_reduce, sum, f32, 7 elements)",
        ),
        (
            reduce(float(8), if odd { max } else { add }),
            ErrorKind::Mesh,
            "rank 1 starts (all_reduce, maximum",
        ),
        (
            if odd { Job::Barrier } else { shift(vec![4]) },
            ErrorKind::Mesh,
            "rank 1 starts (barrier)",
        ),
        (
            reduce(piece(if odd { DType::I32 } else { DType::F32 }, 8), add),
            ErrorKind::Mesh,
            "i32",
        ),
        (
            reduce(piece(DType::C64, 8), max),
            ErrorKind::DType,
            "rank 0 of",
        ),
        (
            reduce(float(8), Combine::Any),
            ErrorKind::DType,
            "rank 0 of",
        ),
        (
            shift(if odd { huge } else { vec![4] }),
            ErrorKind::Memory,
            "rank 1 of",
        ),
        (
            Job::ReduceScatter {
                pieces: pieces(4)[usize::from(odd)..].to_vec(),
                combine: add,
            },
            ErrorKind::Mesh,
            "rank 1 starts",
        ),
        (
            Job::AllToAll {
                pieces: pieces(4)[usize::from(odd)..].to_vec(),
                shapes: vec![vec![4]; size],
            },
            ErrorKind::Shape,
            "rank 1 of",
        ),
        (
            Job::AllGather {
                piece: float(if odd { 5 } else { 4 }),
                shapes: vec![vec![4]; size],
            },
            ErrorKind::Shape,
            "rank 1 of",
        ),
        (
            Job::Broadcast {
                piece: float(4),
                root: if odd { 0 } else { size },
            },
            ErrorKind::Mesh,
            "from rank 0",
        ),
        (
            Job::Broadcast {
                piece: float(4),
                root: size,
            },
            ErrorKind::Argument,
            "rank 0 of",
        ),
    ];
    let before = axis.sent();
    for (job, kind, text) in cases {
        let name = job.name();
        let error = axis.start(job).unwrap().wait().unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(text), "{name}: {error}");
    }
    assert_eq!(axis.sent(), before, "what is refused is not sent");
}
