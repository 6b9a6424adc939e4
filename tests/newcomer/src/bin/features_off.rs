//! Methods of features: `cargo xtask features-off` compares what rustc says about them if the features are off.

use nomina::prelude::*;

dims! { N, C }

fn main() -> Result<()> {
    let x = tensor!([[2., 0.], [0., 4.]]; N, C);
    println!("{}", x.fft(N).real());
    println!("{}", x.try_irfft(N, 4)?.sum(..));
    println!("{}", x.inv((N, C)));
    println!("{}", x.to_dyn().fft("N")?);
    Ok(())
}
