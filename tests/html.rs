//! Tensors as HTML: the data in the page, and how a browser renders it.

use std::path::PathBuf;
use std::process::Command;

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
    assert_eq!(values.len(), 127 * 127);
    assert_eq!(
        (&values[0], &values[1], &values[126]),
        (&0.into(), &79.into(), &9954.into())
    );
    assert_eq!(
        data["dims"][1].to_string(),
        r#"{"name":"Lon","shown":127,"size":10000,"step":79}"#
    );
    assert!(page.contains("a sample: 16129 of 100000000 elements, evenly spaced"));

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
        assert!(shown <= 1 << 15, "{shown} of {shape:?}");
        assert!(shown >= x.numel().min(100), "{shown} of {shape:?}");
        assert!(page.len() < 4 << 20, "{} bytes", page.len());
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

/// Opens a page in Chromium. Returns its output and its folder, or `None` if there is no Chromium.
fn in_browser(x: &DynTensor, fragment: &str, mode: &[&str]) -> Option<(String, Folder)> {
    let there = |name: &&str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(there)
    else {
        eprintln!("skipped: no Chromium in PATH");
        return None;
    };
    let name = format!("nomina-{}-{:p}", std::process::id(), x);
    let folder = Folder(std::env::temp_dir().join(name));
    std::fs::create_dir_all(&folder.0).unwrap();
    let path = folder.0.join("x.html");
    x.save_html(&path).unwrap();
    let output = Command::new(browser)
        .current_dir(&folder.0)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(mode)
        .arg(format!(
            "--user-data-dir={}",
            folder.0.join("profile").display()
        ))
        .arg(format!("file://{}{fragment}", path.display()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    Some((said, folder))
}

/// A folder that is deleted on drop.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the DOM after the page's scripts ran.
fn dom(x: &DynTensor, fragment: &str) -> Option<String> {
    let (dom, _) = in_browser(x, fragment, &["--dump-dom"])?;
    assert!(dom.contains("data-ready"), "{dom}");
    Some(dom)
}

/// Returns the text of each cell.
fn cells(dom: &str) -> Vec<&str> {
    let cells = dom.split("<td").skip(1);
    cells
        .map(|cell| {
            let (_, from) = cell.split_once('>').expect("a tag");
            from.split_once("</td>").expect("a cell").0
        })
        .collect()
}

#[test]
fn a_browser_shows_the_slice_that_a_slider_says() {
    let x = Tensor::<(Time, Lat, Lon)>::from_fn([5, 2, 3], |at| {
        (100 * at[0] + 10 * at[1] + at[2]) as f32 + if at[0] == 3 { 0.25 } else { 0.0 }
    });
    let mut x = x.into_dyn();
    let nan = x.eq(311.25).unwrap();
    x.masked_fill_(&nan, f32::NAN).unwrap();
    let Some(dom) = dom(&x, "") else {
        return;
    };
    assert_eq!(cells(&dom), ["0", "1", "2", "10", "11", "12"]);
    let dom = self::dom(&x, "#slice=Time:3").unwrap();
    assert_eq!(
        cells(&dom),
        ["300.25", "301.25", "302.25", "310.25", "nan", "312.25"]
    );
    assert!(
        dom.contains("title=\"Time=3, Lat=1, Lon=2: 312.25\""),
        "{dom}"
    );
    assert!(
        dom.contains("<td class=\"nan\" title=\"Time=3, Lat=1, Lon=1: nan\""),
        "{dom}"
    );
    assert!(dom.contains("3 of 5"), "{dom}");
    // Colours differ, and zero has the lightest.
    let colours: std::collections::BTreeSet<&str> = dom
        .split("background: ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next())
        .filter(|colour| colour.starts_with("rgb"))
        .collect();
    assert!(colours.len() >= 2, "{colours:?}");
}

/// A decoded image: its width and its pixels.
struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

/// A rectangle of pixels; both ends are inclusive.
#[derive(Clone, Copy, Debug)]
struct Region {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
}

impl Picture {
    fn read(path: &std::path::Path) -> Self {
        let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        assert_eq!(info.bit_depth, png::BitDepth::Eight);
        let pixels = bytes.chunks_exact(info.color_type.samples());
        Self {
            width: info.width as usize,
            pixels: pixels.map(|p| [p[0], p[1], p[2]]).collect(),
        }
    }

    /// Returns the number of pixels of a colour, and their bounding box.
    fn of(&self, colour: [u8; 3]) -> (usize, Region) {
        let mut region = Region {
            left: usize::MAX,
            right: 0,
            top: usize::MAX,
            bottom: 0,
        };
        let same = |pixel: &[u8; 3]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 1);
        let all = self.pixels.iter().enumerate();
        let count = all
            .filter(|(_, pixel)| same(pixel))
            .fold(0, |count, (i, _)| {
                let (x, y) = (i % self.width, i / self.width);
                region.left = region.left.min(x);
                region.right = region.right.max(x);
                region.top = region.top.min(y);
                region.bottom = region.bottom.max(y);
                count + 1
            });
        assert!(count > 0, "no pixel of {colour:?}");
        (count, region)
    }

    /// Counts the dark pixels of a region: text.
    fn ink(&self, region: Region) -> usize {
        let rows = region.top..=region.bottom;
        let row = |y| &self.pixels[y * self.width..][region.left..=region.right];
        let dark = |pixel: &&[u8; 3]| pixel.iter().all(|&channel| channel < 120);
        rows.map(|y| row(y).iter().filter(dark).count()).sum()
    }
}

/// Converts a colour of the page to RGB: hue in degrees, saturation 75 %, and lightness.
fn hsl(hue: f64, light: f64) -> [u8; 3] {
    let spread = 0.75 * light.min(1.0 - light);
    [0.0, 8.0, 4.0].map(|n| {
        let k: f64 = (n + hue / 30.0) % 12.0;
        let part = (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        ((light - spread * part) * 255.0).round() as u8
    })
}

#[test]
fn a_picture_of_the_page_has_the_colours_of_its_numbers() {
    let x = tensor!([[0., 1., f32::NAN], [-2., 2., 4.]]; Lat, Lon).into_dyn();
    let mode = [
        "--screenshot=x.png",
        "--window-size=600,400",
        "--hide-scrollbars",
        "--force-device-scale-factor=1",
        "--force-color-profile=srgb",
    ];
    let Some((_, folder)) = in_browser(&x, "", &mode) else {
        return;
    };
    let picture = Picture::read(&folder.0.join("x.png"));
    assert_eq!(picture.width, 600);
    // Red above zero and blue below, lighter closer to zero; NaN is striped.
    let expected = [
        [hsl(212.0, 0.96), hsl(12.0, 0.85), [255, 0, 255]],
        [hsl(212.0, 0.73), hsl(12.0, 0.73), hsl(12.0, 0.50)],
    ];
    let cells = expected.map(|row| row.map(|colour| picture.of(colour)));
    for row in &cells {
        for pair in row.windows(2) {
            assert!(pair[0].1.right < pair[1].1.left, "{cells:?}");
        }
    }
    for (above, below) in cells[0].iter().zip(&cells[1]) {
        assert!(above.1.bottom < below.1.top, "{cells:?}");
    }
    for (count, cell) in cells.iter().flatten() {
        let (width, height) = (cell.right - cell.left + 1, cell.bottom - cell.top + 1);
        assert!(width >= 8 && height >= 8, "{cell:?}");
        // The other pixels are the number; half of a striped cell has the colour.
        assert!(3 * count > width * height, "{count} pixels in {cell:?}");
    }
    // Numbers are drawn in the cells, and the names and indices of both dims next to them.
    let first = cells[0][0].1;
    let last = cells[1][2].1;
    assert!(picture.ink(first) > 5, "0");
    let (_, heads) = picture.of([0xee, 0xee, 0xee]);
    assert!(
        heads.left < first.left && heads.top < first.top,
        "{heads:?}"
    );
    let corner = Region {
        right: first.left - 1,
        bottom: first.top - 1,
        ..heads
    };
    assert!(picture.ink(corner) > 40, "no `Lat \\ Lon` in {corner:?}");
    let along = Region {
        left: first.left,
        right: last.right,
        ..corner
    };
    let down = Region {
        right: first.left - 1,
        top: first.top,
        bottom: last.bottom,
        ..heads
    };
    assert!(picture.ink(along) > 20 && picture.ink(down) > 10);
}
