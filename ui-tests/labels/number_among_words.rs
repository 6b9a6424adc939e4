use nomina::prelude::*;
use nomina::Labelled;

dims! { Station: String }

fn main() {
    let x = Labelled::new(Tensor::<(Station,)>::zeros([2])).with(Station, ["a", "b"].map(String::from));
    let y = x.sel(Station, 1);
}

// fix: let y = x.sel(Station, "b");
