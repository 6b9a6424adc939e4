//! Functions that do not take tensors: generators, sizes, memory, text.

pub mod generator {
    use nomina_runtime::Generator;

    calls! { Generator:
        new |d| { Generator::new(d.bytes.word()).seed() };
        from_entropy |_d| { Generator::from_entropy().seed() > 0 };
        seed |d| { d.generator().seed() };
        manual_seed |d| {
            let seed = d.bytes.word();
            d.generator().manual_seed(seed)
        };
        get_offset |d| { d.generator().get_offset() };
        set_offset |d| {
            let offset = d.bytes.word();
            d.generator().set_offset(offset)
        };
    }
}

pub mod random {
    use nomina_runtime::random;

    calls! { random:
        range_of |d| {
            let range = (bound(d), bound(d));
            random::range_of("hostile", &range, Given::given(d))
        };
        manual_seed |d| { random::manual_seed(d.bytes.word()) };
        seed |_d| { random::seed() };
        initial_seed |_d| { random::initial_seed() };
        with_default_generator |_d| { random::with_default_generator(|generator| generator.seed()) };
        with_generator |d| { random::with_generator(Given::given(d), |generator| generator.seed()) };
        with_seed |d| { random::with_seed(d.bytes.word(), random::initial_seed) };
    }

    use std::ops::Bound;

    use super::super::draw::Draw;
    use super::super::given::Given;

    fn bound(d: &mut Draw<'_, '_>) -> Bound<i64> {
        let at = Given::given(d);
        d.bytes
            .pick(&[Bound::Included(at), Bound::Excluded(at), Bound::Unbounded])
    }
}

pub mod bytes {
    use nomina_core::DType;
    use nomina_core::op::Op;
    use nomina_runtime::call;

    const COMBINERS: [Op; 6] = [
        Op::Add,
        Op::Mul,
        Op::Maximum,
        Op::Minimum,
        Op::LogicalOr,
        Op::Exp,
    ];

    calls! { call:
        combines |d| { call::combines(d.bytes.pick(&COMBINERS), d.bytes.pick(&DType::ALL)) };
        combine_bytes |d| {
            let (op, dtype) = (d.bytes.pick(&COMBINERS), d.bytes.pick(&DType::ALL));
            let all: Vec<u8> = (0..96).map(|_| d.bytes.below(256) as u8).collect();
            // Often the same length on both sides, and often aligned.
            let start = d.bytes.pick(&[0, 0, 0, 1, 5]);
            let len = d.bytes.pick(&[0, 16, 32, 3, 48]);
            let other = if d.bytes.once_in(4) { d.bytes.below(40) } else { len };
            let mut first = all[start..][..len].to_vec();
            call::combine_bytes(op, dtype, &mut first, &all[48 - start..][..other.min(40)])
        };
        processor |_d| { call::processor().past_caches };
    }
}

pub mod shape {
    use nomina_runtime::shape;

    calls! { shape:
        bytes(_, sizes(), _);
        row_major(sizes());
        broadcast |d| {
            let all = [d.sizes(), d.sizes(), d.sizes()];
            shape::broadcast("hostile", &all[..d.bytes.below(4)])
        };
    }
}

pub mod format {
    use nomina_runtime::raw;

    calls! { raw:
        strides_in(_, sizes(), _);
    }
}

pub mod memory {
    use nomina_runtime::memory;

    calls! { memory:
        cap |_d| { memory::cap() };
        set_cap |d| {
            let (before, new) = (memory::cap(), d.size());
            memory::set_cap(new);
            // Other tests rely on memory that is not cached.
            memory::set_cap(before)
        };
        trim |_d| { memory::trim() };
        stats |_d| { memory::stats().held };
        list |d| { memory::list::<u32, 2>("hostile", [d.size(), d.size()]) };
        try_list |d| { memory::try_list("hostile", (0..d.size().min(999)).map(Ok)) };
    }
}

pub mod display {
    use std::fmt::{self, Display, Formatter};

    use nomina_core::Names;
    use nomina_runtime::display;

    use super::super::make;

    /// The output of a function.
    struct Shown<F>(F);

    impl<F: Fn(&mut Formatter<'_>) -> fmt::Result> Display for Shown<F> {
        fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
            (self.0)(f)
        }
    }

    fn text(precision: usize, show: impl Fn(&mut Formatter<'_>) -> fmt::Result) -> usize {
        let shown = Shown(show);
        format!("{shown}").len() + format!("{shown:.precision$}").len()
    }

    calls! { display:
        values |d| {
            let (x, digits) = (d.x(), make::size(d.bytes) % 400);
            text(digits, |f| display::values(f, x, &Names::default()))
        };
        scientific |d| {
            let (x, digits) = (d.x(), make::size(d.bytes) % 400);
            text(digits, |f| display::scientific(f, x, &Names::default()))
        };
        line |d| {
            let (x, digits) = (d.x(), make::size(d.bytes) % 400);
            text(digits, |f| display::line(f, x, &Names::default()))
        };
        sparse |d| {
            let x = d.coo();
            text(3, |f| display::sparse(f, x, &Names::default()))
        };
        sparse_line |d| {
            let x = d.coo();
            text(3, |f| display::sparse_line(f, x, &Names::default()))
        };
    }
}
