//! Whether a figure grows: the slope of Theil and Sen, the median of the slopes between all pairs of points
//! (P. K. Sen, *Estimates of the regression coefficient based on Kendall's tau*, 1968). Up to a quarter of
//! the points may be anywhere without moving it far, so restarts do not.

/// The slope of points `(x, y)`, in y a unit of x; 0 of fewer than two different x.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let mut slopes = Vec::new();
    for (at, (x, y)) in points.iter().enumerate() {
        let later = points[at + 1..].iter();
        let rises = later.map(|(later, other)| (other - y) / (later - x));
        slopes.extend(rises.filter(|rise| rise.is_finite()));
    }
    if slopes.is_empty() {
        return 0.0;
    }
    slopes.sort_unstable_by(f64::total_cmp);
    let middle = slopes.len() / 2;
    if slopes.len() % 2 == 1 {
        slopes[middle]
    } else {
        f64::midpoint(slopes[middle - 1], slopes[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(count: u32, y: impl Fn(u32) -> f64) -> Vec<(f64, f64)> {
        (0..count).map(|x| (f64::from(x), y(x))).collect()
    }

    #[test]
    fn a_line_has_its_slope() {
        let rising = slope(&points(100, |x| 7.0 + 0.25 * f64::from(x)));
        assert!((rising - 0.25).abs() < 1e-9, "{rising}");
        assert!(slope(&points(100, |_| 5.0)).abs() < 1e-9);
    }

    #[test]
    fn spikes_do_not_move_it_and_steps_do() {
        let spiky = points(100, |x| if x % 10 == 3 { 1_000.0 } else { 5.0 });
        assert!(slope(&spiky).abs() < 1e-9);
        // One more at each restart.
        let leaking = slope(&points(100, |x| f64::from(x / 5)));
        assert!((leaking - 0.2).abs() < 0.02, "{leaking}");
    }

    #[test]
    fn too_few_points_have_none() {
        assert!(slope(&[]).abs() < 1e-9);
        assert!(slope(&[(1.0, 2.0), (1.0, 3.0)]).abs() < 1e-9);
    }
}
