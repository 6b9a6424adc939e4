//! k-means clustering: each point belongs to the closest centre, and each centre moves to the mean
//! of its points.

use nomina::prelude::*;

dims! {
    /// The points to cluster.
    pub Point,
    /// The coordinates of a point.
    pub Axis,
    /// The clusters.
    pub Cluster,
}

/// Returns the final centres and the cluster of each point. Stops when no point changes its
/// cluster.
pub fn k_means(
    points: &Tensor<(Point, Axis)>,
    mut centres: Tensor<(Cluster, Axis)>,
) -> (Tensor<(Cluster, Axis)>, Tensor<(Point,), i64>) {
    let mut labels = points.cdist(&centres).argmin(Cluster);
    loop {
        let clusters = Cluster.of(centres.size(Cluster));
        let means = points.group_by(Point, &labels, clusters).mean();
        // The mean of a cluster without points is NaN: keep its centre.
        centres = means.isnan().where_cond(&centres, &means);
        let closest = points.cdist(&centres).argmin(Cluster);
        if closest.equal(&labels) {
            return (centres, labels);
        }
        labels = closest;
    }
}

fn main() {
    manual_seed(1);
    let middles = tensor!([[0., 0.], [6., 0.], [0., 6.]]; Cluster, Axis);
    let noise = Tensor::<(Cluster, Point, Axis)>::randn([3, 100, 2]);
    let points = (middles.align_as(&noise) + noise).flatten((Cluster, Point), Point);
    let first = points.index_select(Point, &tensor!([0, 100, 200]; Cluster));
    let (centres, labels) = k_means(&points, first);
    println!("centres: {centres}");
    println!("sizes: {}", labels.bincount());
}
