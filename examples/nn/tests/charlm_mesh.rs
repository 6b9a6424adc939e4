//! The small GPT on meshes: for every mesh, the loss on held-out pages equals that of one process, and that of the
//! model without a mesh, except for the order of additions.

#[path = "../charlm/model.rs"]
#[allow(dead_code, reason = "these tests make up no text")]
mod model;
#[path = "../charlm/sharded.rs"]
#[allow(dead_code, reason = "these tests run something smaller")]
mod sharded;

use model::{Config, Text};
use nomina_nn::Module;
use nomina_nn::optim::{AdamOptions, AdamW};
use sharded::{Grid, Run, first, plan, train};

const RUN: Run = Run {
    config: Config {
        hidden: 16,
        heads: 2,
        layers: 2,
    },
    // Not a multiple of the number of ranks, so ranks have different numbers of rows.
    count: 7,
    len: 16,
    steps: 12,
    options: AdamOptions {
        lr: 3e-3,
        ..AdamOptions::adamw()
    },
};

#[test]
fn the_loss_is_the_same_whatever_the_mesh() {
    let page = "the rose and the thorn, the thorn and the rose. ".repeat(60);
    let text = Text::new(&page, 64);

    let mut model = first(&text, RUN.config);
    let before = text.held_out(&model, RUN.len);
    let mut optimizer = AdamW::with(RUN.options);
    for step in 0..RUN.steps {
        let batch = text.batch(RUN.count, RUN.len, step);
        model.loss(&batch).backward();
        optimizer.step(&mut model);
    }
    let after = text.held_out(&model, RUN.len);
    assert!(after < before - 0.3, "{before} to {after}");

    for sizes in [[1, 1], [2, 1], [1, 2], [2, 2]] {
        let losses = Grid::threads(sizes, |mesh| train(&mesh, &text, RUN)).unwrap();
        for [first, last] in losses {
            let near = |one: f32, other: f32| (one - other).abs() < 1e-3 * other.abs();
            assert!(
                near(first, before) && near(last, after),
                "{sizes:?}: {first} to {last}, alone {before} to {after}"
            );
        }
    }
}

/// The table of docs/mesh.md: a planned step on meshes of any size, with 16 rows per rank of `Data`.
#[test]
fn the_guide_says_what_a_step_sends() {
    let guide = include_str!("../../../docs/mesh.md");
    let page = "the rose and the thorn, the thorn and the rose. ".repeat(60);
    let text = Text::new(&page, 64);
    let config = Config {
        hidden: 256,
        heads: 8,
        layers: 4,
    };
    let count = first(&text, config).count();
    let mut lines = vec![format!("of {:.1} million parameters", count as f64 / 1e6)];
    for sizes in [
        [8, 1],
        [64, 1],
        [512, 1],
        [4096, 1],
        [8, 8],
        [64, 8],
        [512, 8],
    ] {
        let mesh = Grid::simulate(sizes, 2e-6, 25e9).unwrap();
        let run = Run {
            config,
            count: 16 * sizes[0],
            ..RUN
        };
        let plan = plan(&mesh, &text, run).unwrap();
        let sent = plan.collectives().iter().filter(|one| one.ranks > 1);
        let times: u64 = sent.clone().map(|one| one.count).sum();
        let bytes: u64 = sent.clone().map(|one| one.bytes).sum();
        let seconds: f64 = sent.map(|one| one.seconds).sum();
        lines.push(format!(
            "| {} × {} | {times} | {:.1} | {:.2} |",
            sizes[0],
            sizes[1],
            bytes as f64 / f64::from(1 << 20),
            seconds * 1e3
        ));
    }
    let text = lines.join("\n");
    println!("{text}");
    let missing = lines.iter().find(|line| !guide.contains(&line[..]));
    assert!(missing.is_none(), "docs/mesh.md has not all of\n{text}");
}
