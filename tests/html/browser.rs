//! Pages in Chromium, if one is installed: what is where, measured by a script in the page, and pictures.
//!
//! `NOMINA_SCREENSHOTS=FOLDER cargo test --test html` keeps pictures of the pages.

use std::path::{Path, PathBuf};
use std::process::Command;

use nomina::prelude::*;
use serde_json::Value as Json;

use super::Folder;

/// Returns the command that starts a browser, or `None` if there is no Chromium.
fn browser(folder: &Path, window: (usize, usize)) -> Option<Command> {
    let is_there = |name: &&str| {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders).any(|folder| folder.join(name).is_file())
    };
    let Some(browser) = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(is_there)
    else {
        eprintln!("skipped: no Chromium in PATH");
        return None;
    };
    let mut command = Command::new(browser);
    command
        .current_dir(folder)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--disable-sync", "--hide-scrollbars"])
        .args([
            "--force-device-scale-factor=1",
            "--force-color-profile=srgb",
        ])
        .arg(format!("--window-size={},{}", window.0, window.1))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ));
    Some(command)
}

/// A page that a browser has shown.
pub struct View {
    pub report: Json,
    pub dom: String,
    folder: Folder,
    window: (usize, usize),
    url: String,
    /// The numbers of rows and columns.
    sizes: [usize; 2],
}

/// A rectangle relative to the grid, and its text.
#[derive(Debug)]
pub struct Label {
    pub text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Label {
    fn from_json(json: &Json) -> Self {
        let number = |key: &str| json[key].as_f64().unwrap();
        Self {
            text: json["text"].as_str().unwrap().into(),
            left: number("left"),
            right: number("right"),
            top: number("top"),
            bottom: number("bottom"),
        }
    }

    pub fn centre(&self) -> [f64; 2] {
        [
            f64::midpoint(self.top, self.bottom),
            f64::midpoint(self.left, self.right),
        ]
    }
}

impl View {
    /// Shows a page of which `sizes` are the rows and columns, and points at some cells.
    pub fn open(
        x: &DynTensor,
        fragment: &str,
        window: (usize, usize),
        sizes: [usize; 2],
        points: &[[usize; 2]],
    ) -> Option<Self> {
        let folder = std::env::temp_dir().join(format!("nomina-{}-{x:p}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let folder = Folder(folder);
        let path = folder.0.join("x.html");
        x.save_html(&path).unwrap();
        let page = std::fs::read_to_string(&path).unwrap();
        let script = format!(
            "<script>var sizes = {sizes:?}, points = {points:?};\n{}</script></body>",
            include_str!("measure.js")
        );
        std::fs::write(&path, page.replace("</body>", &script)).unwrap();
        let url = format!("file://{}{fragment}", path.display());
        let mut command = browser(&folder.0, window)?;
        let output = command.args(["--dump-dom", &url]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let dom = String::from_utf8(output.stdout).unwrap();
        let (_, report) = dom.split_once("id=\"report\" hidden=\"\">").expect(&dom);
        let (report, _) = report.split_once("</pre>").unwrap();
        let report = report
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&amp;", "&");
        let report = serde_json::from_str(&report).unwrap();
        Some(Self {
            report,
            dom,
            folder,
            window,
            url,
            sizes,
        })
    }

    pub fn labels(&self, kind: &str) -> Vec<Label> {
        let all = self.report[kind].as_array().unwrap();
        all.iter().map(Label::from_json).collect()
    }

    pub fn texts(&self, kind: &str) -> Vec<String> {
        self.labels(kind)
            .into_iter()
            .map(|label| label.text)
            .collect()
    }

    /// The height and width of a cell.
    pub fn cell(&self) -> [usize; 2] {
        let canvas = &self.report["canvas"];
        let side = |key: &str, count: usize| {
            let all = canvas[key].as_u64().unwrap() as usize;
            assert_eq!(all % count, 0, "cells differ: {all} pixels for {count}");
            all / count
        };
        let cell = [side("height", self.sizes[0]), side("width", self.sizes[1])];
        let shown = [canvas["shown"][1].as_f64(), canvas["shown"][0].as_f64()];
        let wanted = [0, 1].map(|i| Some((cell[i] * self.sizes[i]) as f64));
        assert_eq!(shown, wanted, "the canvas is scaled");
        cell
    }

    pub fn pixel(&self, point: usize) -> [u64; 3] {
        let pixel = &self.report["cells"][point]["pixel"];
        [0, 1, 2].map(|channel| pixel[channel].as_u64().unwrap())
    }

    pub fn tip(&self, point: usize) -> Label {
        Label::from_json(&self.report["cells"][point]["tip"])
    }

    pub fn legend(&self) -> &str {
        self.report["legend"].as_str().unwrap()
    }

    /// Checks that the label of each index is over the middle of its cell, whole, outside the grid and apart from its
    /// neighbours. `steps` are the indices between shown elements. Returns the labels of rows and columns.
    pub fn check_labels(&self, steps: [usize; 2]) -> [Vec<String>; 2] {
        let cell = self.cell();
        for (side, kind) in ["rows", "columns"].into_iter().enumerate() {
            let labels = self.labels(kind);
            for label in &labels {
                let index: usize = label.text.parse().unwrap();
                assert_eq!(index % steps[side], 0, "{label:?}");
                let wanted = ((index / steps[side]) as f64 + 0.5) * cell[side] as f64;
                let centre = label.centre()[side];
                assert!((centre - wanted).abs() <= 0.51, "{label:?}: {wanted}");
                let width = label.right - label.left;
                assert!(width >= 5.5 * label.text.len() as f64, "cut: {label:?}");
                let end = [label.right, label.bottom][side];
                assert!(
                    (-12.0..=0.0).contains(&end),
                    "not beside the grid: {label:?}"
                );
            }
            for pair in labels.windows(2) {
                let gap = [pair[1].top - pair[0].bottom, pair[1].left - pair[0].right][side];
                assert!(gap >= 0.0, "{pair:?}");
            }
            let indices: Vec<usize> = labels.iter().map(|l| l.text.parse().unwrap()).collect();
            assert!(indices.is_empty() || indices[0] == 0, "{indices:?}");
            let equal = indices.windows(3).all(|at| at[2] - at[1] == at[1] - at[0]);
            assert!(equal, "{indices:?}");
            // At least one label in each hundred pixels.
            let all = self.sizes[side] * cell[side];
            assert!(labels.len() * 100 >= all || all < 40, "{labels:?}");
        }
        [self.texts("rows"), self.texts("columns")]
    }

    /// Checks that the tip of each pointed cell is in the window, and that the mark frames the cell.
    pub fn check_tips(&self, points: &[[usize; 2]], texts: &[&str]) {
        let [high, wide] = self.cell();
        let canvas = &self.report["canvas"];
        for (point, (at, text)) in points.iter().zip(texts).enumerate() {
            let tip = self.tip(point);
            assert_eq!(tip.text, *text);
            let edge =
                |key: &str, i: usize| canvas[key].as_f64().unwrap() + [tip.right, tip.bottom][i];
            let window = &self.report["window"];
            assert!(edge("left", 0) <= window[0].as_f64().unwrap(), "{tip:?}");
            assert!(edge("top", 1) <= window[1].as_f64().unwrap(), "{tip:?}");
            let mark = Label::from_json(&self.report["cells"][point]["mark"]);
            let wanted = [at[1] * wide, at[0] * high].map(|v| v as f64);
            assert_eq!([mark.left, mark.top], wanted, "{mark:?}");
        }
        assert_eq!(
            self.report["hidden"], true,
            "the tip stays without a pointer"
        );
    }

    /// Takes a picture of the window.
    pub fn picture(&self, name: &str) -> Picture {
        let mut command = browser(&self.folder.0, self.window).unwrap();
        let output = command
            .args(["--screenshot=x.png", &self.url])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let path = self.folder.0.join("x.png");
        if let Some(kept) = std::env::var_os("NOMINA_SCREENSHOTS") {
            std::fs::copy(&path, PathBuf::from(kept).join(format!("{name}.png"))).unwrap();
        }
        Picture::read(&path)
    }

    /// Returns the position of a point relative to the grid, in the window.
    pub fn position(&self, x: f64, y: f64) -> (usize, usize) {
        let canvas = &self.report["canvas"];
        let at = |key: &str, v: f64| (canvas[key].as_f64().unwrap() + v).round() as usize;
        (at("left", x), at("top", y))
    }
}

/// A decoded image: its width and its pixels.
pub struct Picture {
    pub width: usize,
    pub pixels: Vec<[u8; 3]>,
}

impl Picture {
    fn read(path: &Path) -> Self {
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

    /// Counts the dark pixels of a label: its text.
    pub fn ink(&self, view: &View, label: &Label) -> usize {
        let (left, top) = view.position(label.left, label.top);
        let (right, bottom) = view.position(label.right, label.bottom);
        let row = |y| &self.pixels[y * self.width..][left..right];
        let is_dark = |pixel: &&[u8; 3]| pixel.iter().all(|&channel| channel < 120);
        (top..bottom)
            .map(|y| row(y).iter().filter(is_dark).count())
            .sum()
    }
}

/// Converts a colour of the page to RGB: hue in degrees, saturation 75 %, and lightness in percent.
fn hsl(hue: f64, light: f64) -> [u64; 3] {
    let light = light.round() / 100.0;
    let spread = 0.75 * light.min(1.0 - light);
    [0.0, 8.0, 4.0].map(|n| {
        let k: f64 = (n + hue / 30.0) % 12.0;
        let part = (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        ((light - spread * part) * 255.0).round() as u64
    })
}

/// Returns the colour of a value between `low` and `high`.
pub fn colour(value: f64, low: f64, high: f64) -> [u64; 3] {
    let both = low < 0.0 && high > 0.0;
    let (from, to) = if both {
        (0.0, high.max(-low))
    } else {
        (low, high)
    };
    let part = (value - from).abs() / (to - from);
    hsl(
        if both && value > 0.0 { 12.0 } else { 212.0 },
        96.0 - 46.0 * part,
    )
}

pub fn is_near(a: [u64; 3], b: [u64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 2)
}

pub const INF: [u64; 3] = [255, 190, 0];
pub const MINUS_INF: [u64; 3] = [0, 150, 90];
