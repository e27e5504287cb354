/// Maximum number of points of a line. Only curves that oscillate across the whole width reach it.
const MAX_POINTS: usize = 50_000;

/// Returns the points of a line that pixels can resolve: the first, lowest, highest and last of consecutive points in
/// the same column.
///
/// Coordinates are pixels. The thinned line covers the same pixels, because within a column the line was a vertical
/// stroke in any case.
pub(super) fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut kept = Vec::new();
    for column in points.chunk_by(|a, b| a[0].floor() == b[0].floor()) {
        if column.len() <= 4 {
            kept.extend_from_slice(column);
            continue;
        }
        let by_height = |&a: &usize, &b: &usize| column[a][1].total_cmp(&column[b][1]);
        let extreme = [(0..column.len()).min_by(by_height), (0..column.len()).max_by(by_height)];
        let mut chosen: Vec<usize> = extreme.into_iter().flatten().chain([0, column.len() - 1]).collect();
        chosen.sort_unstable();
        chosen.dedup();
        kept.extend(chosen.into_iter().map(|number| column[number]));
    }
    let stride = kept.len().div_ceil(MAX_POINTS).max(1);
    kept.into_iter().step_by(stride).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_points_become_a_few_for_each_column_and_keep_their_peaks() {
        let mut points: Vec<[f64; 2]> =
            (0..1_000_000).map(|i| [f64::from(i) * 6e-4, 100.0 + 50.0 * (f64::from(i) * 0.37).sin()]).collect();
        points[123_456][1] = 7.0;
        let kept = thinned(&points);
        assert!(kept.len() <= 4 * 601, "{}", kept.len());
        assert!(kept.contains(&points[123_456]) && kept.first() == points.first() && kept.last() == points.last());
        assert!(kept.is_sorted_by(|a, b| a[0] <= b[0]));
    }

    #[test]
    fn few_points_stay_as_they_are_and_wild_ones_stay_bounded() {
        let points = [[0.0, 1.0], [0.1, 2.0], [5.0, 3.0], [2.0, 3.0]];
        assert_eq!(thinned(&points), points);
        let wild: Vec<[f64; 2]> = (0..500_000).map(|i| [f64::from(i % 600 * 319 % 600), f64::from(i % 300)]).collect();
        assert!(thinned(&wild).len() <= MAX_POINTS);
    }
}
