use nomina::prelude::*;

dims! { N, Time = 8 }

fn main() {
    let x = Tensor::<(N, Time)>::zeros((N.of(2), Time));
    let half = x.rfft(Time);
}

// fix 3: dims! { N, Time = 8, Frequency }
// fix: let half = x.rename(Time, Frequency).rfft(Frequency);
