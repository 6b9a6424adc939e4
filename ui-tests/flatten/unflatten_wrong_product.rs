use nomina::prelude::*;

dims! { Rows = 14, Columns = 16, Pixels = 256 }

fn main() {
    let x = Tensor::<(Pixels,)>::zeros([256]);
    let y = x.unflatten(Pixels, (Rows, Columns));
}

// fix 3: dims! { Rows = 16, Columns = 16, Pixels = 256 }
