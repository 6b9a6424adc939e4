//! The results of the examples, against plain loops, formulas and known values.

// Includes their `main`s, which are unused here.
#[allow(dead_code)]
#[path = "../climate.rs"]
mod climate;
#[allow(dead_code)]
#[path = "../csv.rs"]
mod csv;
#[allow(dead_code)]
#[path = "../filters.rs"]
mod filters;
#[allow(dead_code)]
#[path = "../heat.rs"]
mod heat;
#[allow(dead_code)]
#[path = "../k_means.rs"]
mod k_means;
#[allow(dead_code)]
#[path = "../service.rs"]
mod service;
#[allow(dead_code)]
#[path = "../threads.rs"]
mod threads;
#[allow(dead_code)]
#[path = "../transformer.rs"]
mod transformer;

use nomina::prelude::*;

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not {b}");
}

/// Returns a deterministic number between -1 and 1.
fn number(at: usize) -> f64 {
    (at as f64 * 12.9898).sin()
}

fn numbers<D: Dims + Distinct>(shape: impl ShapeFor<D>) -> Tensor<D> {
    let mut at = 0;
    Tensor::from_fn(shape, |_| {
        at += 1;
        number(at) as f32
    })
}

#[test]
fn k_means_is_lloyds_algorithm() {
    use k_means::{Axis, Cluster, Point, k_means};
    let points: Tensor<(Point, Axis)> = numbers([60, 2]);
    let first: Tensor<(Cluster, Axis)> =
        numbers((Cluster.of(4), Axis.of(2))) + tensor!([[0.], [0.], [0.], [9.]]; Cluster, Axis);
    let (centres, labels) = k_means(&points, first.clone());

    let place = |x: &[f32]| -> Vec<[f32; 2]> { x.chunks(2).map(|x| [x[0], x[1]]).collect() };
    let (points, mut wanted) = (place(&points.to_vec()), place(&first.to_vec()));
    let mut groups = vec![usize::MAX; points.len()];
    loop {
        let closest = |[x, y]: [f32; 2]| {
            let far = |at: usize| (wanted[at][0] - x).hypot(wanted[at][1] - y);
            (0..4).min_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap()
        };
        let next: Vec<usize> = points.iter().map(|&point| closest(point)).collect();
        if next == groups {
            break;
        }
        groups = next;
        for (at, centre) in wanted.iter_mut().enumerate() {
            let inside = points
                .iter()
                .zip(&groups)
                .filter(|(_, group)| **group == at);
            let inside: Vec<[f32; 2]> = inside.map(|(point, _)| *point).collect();
            if !inside.is_empty() {
                *centre =
                    [0, 1].map(|i| inside.iter().map(|p| p[i]).sum::<f32>() / inside.len() as f32);
            }
        }
    }
    assert!(labels.iter().map(|label| label as usize).eq(groups));
    assert!(wanted[3][0] > 8.0, "the last cluster has no points");
    for (computed, wanted) in centres.iter().zip(wanted.as_flattened()) {
        close(computed.into(), (*wanted).into(), 1e-5);
    }
}

#[test]
fn a_transformer_block_by_loops() {
    use transformer::{Batch, Block, Feature, Time};
    let (times, features, heads, keys, hidden) = (5, 8, 4, 2, 32);
    let block = Block {
        query: numbers([features, heads, keys]),
        key: numbers([features, heads, keys]) * 0.5,
        value: numbers([features, heads, keys]) * 0.25,
        out: numbers([heads, keys, features]),
        up: numbers([features, hidden]) * 0.5,
        up_bias: numbers([hidden]),
        down: numbers([hidden, features]) * 0.5,
        down_bias: numbers([features]) * 2.0,
    };
    let x: Tensor<(Batch, Time, Feature)> = numbers([2, times, features]);
    let computed = block.forward(&x);

    let list = |x: Vec<f32>| -> Vec<f64> { x.into_iter().map(f64::from).collect() };
    let [query, key, value] = [&block.query, &block.key, &block.value].map(|w| list(w.to_vec()));
    let (out, up, down) = (block.out.to_vec(), block.up.to_vec(), block.down.to_vec());
    let (out, up, down) = (list(out), list(up), list(down));
    let (up_bias, down_bias) = (list(block.up_bias.to_vec()), list(block.down_bias.to_vec()));
    let normed = |x: &[f64]| -> Vec<f64> {
        let mean = x.iter().sum::<f64>() / x.len() as f64;
        let var = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / x.len() as f64;
        x.iter().map(|x| (x - mean) / (var + 1e-5).sqrt()).collect()
    };
    // Multiplies a row by a row-major matrix.
    let times_matrix = |x: &[f64], w: &[f64]| -> Vec<f64> {
        let columns = w.len() / x.len();
        let column = |j: usize| {
            x.iter()
                .enumerate()
                .map(|(i, x)| x * w[i * columns + j])
                .sum()
        };
        (0..columns).map(column).collect()
    };
    let gelu = |x: f64| 0.5 * x * (1.0 + (0.797_884_560_8 * (x + 0.044_715 * x.powi(3))).tanh());
    for (sequence, computed) in x.iter_dim(Batch).zip(computed.iter_dim(Batch)) {
        let rows: Vec<Vec<f64>> = sequence
            .iter_dim(Time)
            .map(|row| list(row.to_vec()))
            .collect();
        let seen: Vec<Vec<f64>> = rows.iter().map(|row| normed(row)).collect();
        let by = |w: &[f64]| -> Vec<Vec<f64>> { seen.iter().map(|y| times_matrix(y, w)).collect() };
        let (query, key, value) = (by(&query), by(&key), by(&value));
        for (time, computed) in computed.iter_dim(Time).enumerate() {
            let mut mixed = vec![0.0; heads * keys];
            for head in 0..heads {
                let part = head * keys..(head + 1) * keys;
                let score = |other: usize| {
                    let products = query[time][part.clone()]
                        .iter()
                        .zip(&key[other][part.clone()]);
                    (products.map(|(q, k)| q * k).sum::<f64>() / (keys as f64).sqrt()).exp()
                };
                let total: f64 = (0..=time).map(score).sum();
                for (other, value) in value.iter().enumerate().take(time + 1) {
                    for at in part.clone() {
                        mixed[at] += score(other) / total * value[at];
                    }
                }
            }
            let attended = times_matrix(&mixed, &out);
            let x: Vec<f64> = rows[time]
                .iter()
                .zip(&attended)
                .map(|(x, y)| x + y)
                .collect();
            let inner = times_matrix(&normed(&x), &up);
            let inner: Vec<f64> = inner
                .iter()
                .zip(&up_bias)
                .map(|(x, b)| gelu(x + b))
                .collect();
            let added = times_matrix(&inner, &down);
            for (at, computed) in computed.iter().enumerate() {
                close(computed.into(), x[at] + added[at] + down_bias[at], 5e-3);
            }
        }
    }
}

#[test]
fn filters_by_loops() {
    use filters::{H, W, blur, edges, flower};
    let image = flower().unwrap();
    assert_eq!(image.shape(), [427, 640, 3]);
    let image = image.narrow(H, 200..230).narrow(W, 300..340);
    let pixels = image.to_vec();
    let pixel = |row: usize, column: usize, colour: usize| {
        f64::from(pixels[(row * 40 + column) * 3 + colour])
    };
    let (soft, steep) = (blur(&image), edges(&image));
    assert_eq!(
        (soft.shape(), steep.shape()),
        (&[26, 36, 3][..], &[28, 38][..])
    );
    for (at, value) in soft.indexed_iter().step_by(7) {
        let bell = [1.0, 4.0, 6.0, 4.0, 1.0];
        let mut sum = 0.0;
        for (i, down) in bell.iter().enumerate() {
            for (j, right) in bell.iter().enumerate() {
                sum += down * right * pixel(at[0] + i, at[1] + j, at[2]) / 256.0;
            }
        }
        close(value.into(), sum, 1e-5);
    }
    for (at, value) in steep.indexed_iter().step_by(7) {
        let grey = |i: usize, j: usize| {
            let colour = |colour| pixel(at[0] + i, at[1] + j, colour);
            0.299 * colour(0) + 0.587 * colour(1) + 0.114 * colour(2)
        };
        let edge = |i: [usize; 3], j: [usize; 3]| {
            grey(i[0], j[0]) + 2.0 * grey(i[1], j[1]) + grey(i[2], j[2])
        };
        let down = edge([2; 3], [0, 1, 2]) - edge([0; 3], [0, 1, 2]);
        let right = edge([0, 1, 2], [2; 3]) - edge([0, 1, 2], [0; 3]);
        close(value.into(), down.hypot(right), 1e-4);
    }
}

#[test]
fn a_climate_by_its_formula() {
    use climate::{Lat, Lon, Month, anomalies, global_mean, temperatures};
    let (years, trend) = (5, 0.5);
    let field = temperatures(years, trend);
    let (normal, anomaly) = anomalies(&field);
    // Seasons and places are the same each year, so the anomaly is the deviation of a year from the middle year.
    for (at, value) in anomaly.indexed_iter() {
        close(value, trend * (at[0] as f64 - 2.0), 1e-9);
    }
    for (at, value) in normal.indexed_iter().step_by(5) {
        let lat = (-85.0 + 10.0 * at[1] as f64).to_radians();
        let turn = std::f64::consts::TAU;
        let season = -(turn * at[0] as f64 / 12.0).cos() * 15.0 * lat.sin();
        let place = (40.0 * lat.cos() - 15.0) * (1.0 + 0.1 * (turn * at[2] as f64 / 36.0).sin());
        close(value, place + season + 2.0 * trend, 1e-9);
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    for (at, value) in normal.select(Month, 3).indexed_iter() {
        let weight = (-85.0_f64 + 10.0 * at[0] as f64).to_radians().cos();
        (sum, weights) = (sum + weight * value, weights + weight);
    }
    close(global_mean(&normal).to_vec()[3], sum / weights, 1e-9);
    let turned = normal.align_to((Lon, Month, Lat));
    assert!(global_mean(&turned).allclose(&global_mean(&normal)));
    assert_eq!(field.size(Lat), 18);
}

#[test]
fn a_table_by_hand() {
    use csv::Table;
    let table =
        Table::parse("city,rain,sun\nOslo,60,6\nRome,70,8\nOslo,80,4\nRome,30,10\nOslo,40,8")
            .unwrap();
    assert_eq!(
        table.column("sun").unwrap().to_vec(),
        [6.0, 8.0, 4.0, 10.0, 8.0]
    );
    assert!(table.column("snow").is_none());
    let (cities, [mean, std]) = table.by_word();
    assert_eq!(cities, ["Oslo", "Rome"]);
    assert_eq!(mean.to_vec(), [60.0, 6.0, 50.0, 9.0]);
    let wanted = [(800.0_f64 / 3.0).sqrt(), (8.0_f64 / 3.0).sqrt(), 20.0, 1.0];
    for (computed, wanted) in std.iter().zip(wanted) {
        close(computed, wanted, 1e-12);
    }
    assert!(Table::parse("a,b\nx,1\ny").is_err());
    assert!(Table::parse("a,b\nx,one").is_err());
}

#[test]
fn heat_as_the_equation_says() {
    use heat::{exact, start, step};
    let (points, ratio, steps) = (21, 0.2, 100);
    let computed = (0..steps).fold(start(points), |u, _| step(&u, ratio));
    // This wave is an eigenvector of the scheme: each step multiplies it by a number.
    let factor = 1.0 - 8.0 * ratio * (std::f64::consts::PI / 40.0).sin().powi(2);
    let wanted = start(points) * factor.powi(steps);
    assert!((&computed - wanted).abs().amax(..).item() < 1e-12);
    let time = ratio * f64::from(steps) / 400.0;
    let off = (&computed - exact(points, time)).abs().amax(..).item();
    assert!(off < 2e-3 && computed.amax(..).item() > 0.3, "{off}");
}

#[test]
fn threads_change_no_force() {
    use threads::{Axis, Body, forces, shared};
    let bodies: Tensor<(Body, Axis)> = numbers((Body.of(37), Axis));
    let together = shared(&bodies, 4);
    assert!(together.equal(&forces(&bodies, &bodies)));
    let at = bodies.to_vec();
    for (body, force) in together.to_vec().chunks(3).enumerate() {
        let mut wanted = [0.0; 3];
        for other in 0..37 {
            let apart =
                [0, 1, 2].map(|i| f64::from(at[3 * other + i]) - f64::from(at[3 * body + i]));
            let square: f64 = apart.iter().map(|x| x * x).sum();
            for (sum, x) in wanted.iter_mut().zip(apart) {
                *sum += x / (square + 1e-4).powf(1.5);
            }
        }
        for (force, wanted) in force.iter().zip(wanted) {
            close((*force).into(), wanted, 1e-3 * wanted.abs().max(1.0));
        }
    }
}

#[test]
fn a_service_answers_many_threads_and_tells_what_is_wrong() {
    use service::{Palette, Request, serve};
    use std::sync::{Arc, mpsc};
    let palette = Arc::new(Palette(numbers([50, 3])));
    let (send, threads) = serve(&palette, 4);
    let ask = |colours: DynTensor| {
        let (answer, answered) = mpsc::channel();
        send.send(Request { colours, answer }).unwrap();
        answered.recv().unwrap()
    };
    std::thread::scope(|scope| {
        for asker in 0..8 {
            let (ask, palette) = (&ask, &palette);
            scope.spawn(move || {
                let colours: Vec<f32> = (0..30).map(|at| number(at + 31 * asker) as f32).collect();
                let asked = DynTensor::from_vec(colours.clone(), &[10, 3], ["Query", "Rgb"]);
                let asked = asked.unwrap();
                // In the other order too, and in another dtype.
                let turned = asked.align_to(["Rgb", "Query"]).unwrap();
                let found = ask(turned.to::<f64>().unwrap()).unwrap();
                let entries = palette.0.to_vec();
                let far = |colour: &[f32], entry: &[f32]| -> f32 {
                    colour.iter().zip(entry).map(|(a, b)| (a - b).powi(2)).sum()
                };
                for (colour, found) in colours.chunks(3).zip(found) {
                    let all = entries.chunks(3).map(|entry| far(colour, entry));
                    let least = all.fold(f32::INFINITY, f32::min);
                    let found = &entries[found as usize * 3..][..3];
                    assert!(far(colour, found) <= least + 1e-6);
                }
            });
        }
    });
    let wrong = DynTensor::zeros(&[2, 3], ["Query", "Hsv"]).unwrap();
    let text = ask(wrong).unwrap_err().to_string();
    assert!(
        text.contains("(Query=2, Hsv=3)") && text.contains("(Query, Rgb)"),
        "{text}"
    );
    drop(send);
    for thread in threads {
        thread.join().unwrap();
    }
}
