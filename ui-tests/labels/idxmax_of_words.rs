use nomina::prelude::*;
use nomina::Labelled;

dims! { Station: String }

fn main() {
    let x = Labelled::new(Tensor::<(Station,)>::zeros([2])).with(Station, ["a", "b"].map(String::from));
    let y = x.idxmax(Station);
}

// fix: let y = x.tensor().argmax(Station);
