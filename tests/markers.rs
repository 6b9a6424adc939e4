//! Markers of `dims!` as arguments of `DynTensor`: each means its name.

use nomina::prelude::*;

dims! { N, C, Height = "height" }

fn tensor() -> Result<DynTensor> {
    let x = DynTensor::arange(0, 24, 1, ())?.view(&[2, 3, 4])?;
    x.rename(["N", "C", "height"])
}

/// Asserts that both spellings give the same tensor or the same error.
fn alike(marked: Result<DynTensor>, named: Result<DynTensor>) {
    match (marked, named) {
        (Ok(marked), Ok(named)) => {
            assert_eq!(marked.names(), named.names());
            assert!(marked.equal(&named).unwrap());
        }
        (Err(marked), Err(named)) => assert_eq!(marked.to_string(), named.to_string()),
        (marked, named) => panic!("{marked:?}, {named:?}"),
    }
}

#[test]
fn a_marker_is_its_name() -> Result<()> {
    let x = tensor()?;
    alike(x.sum(C), x.sum("C"));
    alike(x.sum((N, Height)), x.sum(("N", "height")));
    alike(x.sum([C, C]), x.sum(["C", "C"]));
    let kept = x.amax(keep((N, C)))?;
    assert_eq!((kept.names(), kept.shape()), (x.names(), &[1, 1, 4][..]));
    alike(x.select(Height, -1), x.select("height", -1));
    alike(x.transpose(N, "C"), x.transpose("N", C));
    alike(x.align_to((Height, N, C)), x.align_to(["height", "N", "C"]));
    alike(x.align_to((Height, ..)), x.align_to(["height", "..."]));
    alike(x.cumsum(C), x.cumsum("C"));
    Ok(())
}

#[test]
fn a_marker_that_is_not_there_is_told() -> Result<()> {
    dims! { M }
    let x = tensor()?;
    alike(x.sum(M), x.sum("M"));
    alike(x.sum(Prime(N)), x.sum("N'"));
    let text = x.sum(M).unwrap_err().to_string();
    assert!(text.contains("`M`"), "{text}");
    Ok(())
}
