//! Tensors as HTML: the data in the page; `html/view.rs` checks how a browser renders it.

use std::path::PathBuf;
use std::process::Command;

#[path = "html/browser.rs"]
mod browser;
#[path = "html/view.rs"]
mod view;

use nomina::prelude::*;
use serde_json::Value as Json;

dims! { Time, Lat, Lon }

/// Parses the JSON in a page.
fn data(page: &str) -> Json {
    let (_, from) = page
        .split_once("<script type=\"application/json\">")
        .expect("data");
    let (text, _) = from.split_once("</script>").expect("the data's end");
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn a_small_tensor_is_in_the_page_as_a_whole() {
    let inf = f32::INFINITY;
    let page = tensor!([[1., f32::NAN, 2.5], [-inf, 0.1, -4.]]; Lat, Lon)
        .to_html()
        .unwrap();
    let data = data(&page);
    assert_eq!(
        data["values"].to_string(),
        r#"[1.0,"nan",2.5,"-inf",0.1,-4.0]"#
    );
    assert_eq!(
        data["dims"].to_string(),
        r#"[{"name":"Lat","shown":2,"size":2,"step":1},{"name":"Lon","shown":3,"size":3,"step":1}]"#
    );
    assert_eq!(
        (data["low"].as_f64(), data["high"].as_f64()),
        (Some(-4.0), Some(2.5))
    );
    assert!(page.contains("<b>dims (Lat=2, Lon=3), f32</b>"));
    assert!(
        page.contains(
            "all 6 elements; min -4.000000 · max 2.500000 · mean -0.100000 · 1 NaN · 1 infinite"
        ),
        "{page}"
    );
    // Shown without scripts.
    assert!(
        page.contains("<pre>[[ 1.   nan  2.5]\n [-inf  0.1 -4. ]]</pre>"),
        "{page}"
    );
}

#[test]
fn numbers_that_scripts_lack_are_texts() {
    let values = |x: DynTensor| data(&x.to_html().unwrap())["values"].to_string();
    let most = i64::MAX;
    let whole = tensor!([3, most, -5]; Lat).into_dyn();
    assert_eq!(
        values(whole),
        r#"[3,["9223372036854775807",9.223372036854776e+18],-5]"#
    );
    assert_eq!(
        values(tensor!([true, false]; Lat).into_dyn()),
        "[true,false]"
    );
    let one = DynTensor::full(&[1], Complex::new(3.0, -4.0), ()).unwrap();
    assert_eq!(values(one), r#"[["(3-4j)",5.0]]"#);
    assert_eq!(values(DynTensor::full(&[], 2.5, ()).unwrap()), "[2.5]");
    assert_eq!(values(DynTensor::zeros(&[2, 0], ()).unwrap()), "[]");
    for dtype in DType::ALL {
        let x = DynTensor::options().dtype(dtype).ones(&[2], ["N"]).unwrap();
        assert!(
            [
                "[1,1]",
                "[1.0,1.0]",
                "[true,true]",
                r#"[["(1+0j)",1.0],["(1+0j)",1.0]]"#
            ]
            .contains(&values(x).as_str())
        );
    }
}

#[test]
fn no_text_becomes_a_tag() {
    let one = Complex::new(1.0_f32, 0.0);
    let x = DynTensor::full(&[1, 2], one, names!["N'", _]).unwrap();
    let page = x.to_html().unwrap();
    assert!(
        page.contains("<b>dims (N&#39;=1, 2), Complex&lt;f32&gt;</b>"),
        "{page}"
    );
    assert_eq!(data(&page)["dims"][0]["name"], "N'");
    assert_eq!(data(&page)["dims"][1]["name"], "dim 1");
    // Names are the only text from outside, and these are not valid names.
    for name in ["</script>", "<b>", "\"", "a b", "&amp;"] {
        assert!(DynTensor::ones(&[1], [Some(name)]).is_err(), "{name}");
    }
}

#[test]
fn a_large_tensor_gives_a_sample_and_says_so() {
    // A hundred million elements, only a few of which are read.
    let row = Tensor::<(Lon,), i64>::arange(0, 10_000, 1);
    let x = row.to_dyn().expand(&[10_000, 10_000]).unwrap();
    let page = x.to_html().unwrap();
    let data = data(&page);
    let values = data["values"].as_array().unwrap();
    assert_eq!(values.len(), 250 * 250);
    assert_eq!(
        (&values[0], &values[1], &values[249]),
        (&0.into(), &40.into(), &9960.into())
    );
    assert_eq!(
        data["dims"][1].to_string(),
        r#"{"name":"Lon","shown":250,"size":10000,"step":40}"#
    );
    assert!(page.contains("a sample: 62500 of 100000000 elements, evenly spaced"));

    for shape in [
        &[70_000_000][..],
        &[40; 6],
        &[2; 26],
        &[1 << 30, 0],
        &[3, 1000, 500, 700],
    ] {
        let x = DynTensor::zeros(&[1], ())
            .unwrap()
            .expand(&shape.iter().map(|&n| n as i64).collect::<Vec<_>>())
            .unwrap();
        let page = x.to_html().unwrap();
        let shown = self::data(&page)["values"].as_array().unwrap().len();
        assert!(shown <= 1 << 16, "{shown} of {shape:?}");
        assert!(shown >= x.numel().min(100), "{shown} of {shape:?}");
        assert!(page.len() < 4 << 20, "{} bytes", page.len());
    }
}

#[test]
fn images_keep_their_proportion_and_true_colours() {
    let picture = |x: &DynTensor| {
        let data = data(&x.to_html().unwrap());
        let sides = data["dims"].as_array().unwrap().iter();
        let sides = sides.map(|dim| dim["step"].as_u64().unwrap()).collect();
        let white = data.get("white").map(|white| white.as_u64().unwrap());
        (white, data.get("colours").cloned(), sides)
    };
    let options = DynTensor::options();
    let bytes = options.dtype(DType::U8);
    let x = bytes.zeros(&[1200, 300, 3], ["H", "W", "Rgb"]).unwrap();
    assert_eq!(picture(&x), (Some(255), Some(2.into()), vec![5, 5, 1]));
    let x = bytes.zeros(&[4, 10, 20], ["RGBA", "H", "W"]).unwrap();
    assert_eq!(picture(&x), (Some(255), Some(0.into()), vec![1, 1, 1]));
    let floats = |value: f64| DynTensor::full(&[2, 2, 3], value, ["H", "W", "rgb"]).unwrap();
    for (value, white) in [
        (0.0, Some(1)),
        (1.0, Some(1)),
        (128.0, Some(255)),
        (-0.5, None),
        (256.0, None),
    ] {
        assert_eq!(picture(&floats(value)).0, white, "{value}");
    }
    // Another name, another size, no other dims, truth values: numbers.
    let no = [
        bytes.zeros(&[2, 2, 3], ["H", "W", "C"]).unwrap(),
        bytes.zeros(&[2, 2, 4], ["H", "W", "Rgb"]).unwrap(),
        bytes.zeros(&[2, 3], ["W", "Rgb"]).unwrap(),
        options
            .dtype(DType::Bool)
            .zeros(&[2, 2, 3], ["H", "W", "Rgb"])
            .unwrap(),
    ];
    for x in no {
        assert_eq!((picture(&x).0, picture(&x).1), (None, None), "{x:?}");
    }
}

#[test]
fn a_page_is_there_as_a_whole_or_not_at_all() {
    let folder = std::env::temp_dir().join(format!("nomina-html-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let x = tensor!([1., 2.]; Lat);
    let path = folder.join("x.html");
    std::fs::write(&path, "old").unwrap();
    x.save_html(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains(&x.to_html().unwrap()));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    let error = x.save_html(folder.join("no/x.html")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    assert!(error.to_string().contains("x.html"), "{error}");
    // The path is an existing folder.
    assert!(x.to_dyn().save_html(&folder).is_err());
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Pages are written like all other files; `io/tests/files.rs` tests more cases.
#[cfg(unix)]
#[test]
fn a_page_replaces_no_pipe_and_follows_links() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let name = format!("nomina-html-links-{}", std::process::id());
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).unwrap();
    let at = |name: &str| folder.0.join(name);
    let kind = |name: &str| std::fs::symlink_metadata(at(name)).unwrap().file_type();
    let x = tensor!([1., 2.]; Lat);

    assert!(
        Command::new("mkfifo")
            .arg(at("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let reader = std::thread::spawn({
        let pipe = at("pipe");
        move || std::fs::read_to_string(pipe).unwrap()
    });
    x.save_html(at("pipe")).unwrap();
    assert!(reader.join().unwrap().ends_with("</html>\n"));
    assert!(kind("pipe").is_fifo());

    symlink("target", at("link")).unwrap();
    x.save_html(at("link")).unwrap();
    assert!(kind("link").is_symlink() && kind("target").is_file());

    symlink("b", at("a")).unwrap();
    symlink("a", at("b")).unwrap();
    assert_eq!(x.save_html(at("a")).unwrap_err().kind(), ErrorKind::File);
    assert!(kind("a").is_symlink());
    let error = x.save_html(&folder.0).unwrap_err().to_string();
    assert!(error.contains("folder"), "{error}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 5);
}

/// A folder that is deleted on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
