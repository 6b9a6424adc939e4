use nomina::prelude::*;

dims! { Row, Col }

fn main() {
    let a = Tensor::<(Row, Col)>::eye([3, 3]);
    let inverse = a.inv(Row);
}

// fix: let inverse = a.inv((Row, Col));
