//! Locking of linear elements near incompressibility, measured in a bending test.

use super::{Kinematics, Model};
use crate::mesh::ElementKind;

/// Tip deflection of a cantilever relative to beam theory, by Poisson's ratio: tetrahedra, then hexahedra.
///
/// The beam is 10 × 1 × 1 and four cells high (40 × 4 × 4), of six tetrahedra per cell or of hexahedra with 2×2×2 Gauss
/// points. It has the linear law, one clamped end, and a uniform shear traction at the other. Beam theory is
/// Euler–Bernoulli, `F L³ / 3YI`. The test `the_table_of_locking_is_what_the_bending_test_gives` recomputes all these
/// numbers.
///
/// Other tetrahedral meshes lock less: alternating five-tetrahedron cells give 0.84 at `ν = 0.49`.
const BENDING: &[(f64, f64, f64)] = &[
    (0.3, 0.794, 0.965),
    (0.4, 0.714, 0.943),
    (0.45, 0.603, 0.910),
    (0.48, 0.423, 0.850),
    (0.49, 0.290, 0.792),
    (0.495, 0.182, 0.726),
    (0.499, 0.0532, 0.592),
    (0.4999, 0.0145, 0.350),
];

/// Poisson's ratios above which a warning is given.
const MIN_TET_POISSON: f64 = 0.45;
const MIN_HEX_POISSON: f64 = 0.48;

/// Returns the tip deflection of a cantilever four elements high relative to beam theory: 1 is exact, less is too
/// stiff.
///
/// The value is interpolated in a measured table, linearly in `log(1 − 2ν)`. Outside of the table (0.3 to 0.4999) it is
/// that of the nearest entry. Tetrahedra are those of boxes cut into six.
pub fn bending_ratio(kind: ElementKind, poisson: f64) -> f64 {
    let column = |entry: &(f64, f64, f64)| match kind {
        ElementKind::Tet4 => entry.1,
        ElementKind::Hex8 => entry.2,
    };
    let after = BENDING.partition_point(|entry| entry.0 <= poisson).clamp(1, BENDING.len() - 1);
    let (low, high) = (&BENDING[after - 1], &BENDING[after]);
    let place = |poisson: f64| (1.0 - 2.0 * poisson).ln();
    let inside = poisson.clamp(low.0, high.0);
    let t = (place(inside) - place(low.0)) / (place(high.0) - place(low.0));
    column(low) + t * (column(high) - column(low))
}

/// Returns a warning if a body of linear elements locks at this Poisson's ratio, with its excess stiffness in a bending
/// test and remedies.
pub fn locking_warning(body: &str, kind: ElementKind, poisson: f64) -> Option<String> {
    let (min, elements) = match kind {
        ElementKind::Tet4 => (MIN_TET_POISSON, "linear tetrahedra"),
        ElementKind::Hex8 => (MIN_HEX_POISSON, "linear hexahedra"),
    };
    // Moduli derived from the tangent of a law have rounding errors.
    if !(poisson >= min - 1e-9) {
        return None;
    }
    let ratio = bending_ratio(kind, poisson);
    let is_beyond = BENDING.last().is_some_and(|last| poisson > last.0);
    let times = digits(1.0 / ratio) + if is_beyond { " times or more" } else { " times" };
    let times = if kind == ElementKind::Tet4 && !is_beyond { format!("up to {times}") } else { times };
    let helps = match kind {
        ElementKind::Tet4 => {
            let hexes = digits(1.0 / bending_ratio(ElementKind::Hex8, poisson));
            format!("hexahedra ({hexes} times), a finer mesh or a lower Poisson's ratio help")
        }
        ElementKind::Hex8 => "a finer mesh or a lower Poisson's ratio helps".into(),
    };
    let mesh = match kind {
        ElementKind::Tet4 => "six-tetrahedron boxes; other meshes differ, and five-tetrahedron boxes lock less",
        ElementKind::Hex8 => "hexahedra; other meshes differ",
    };
    Some(format!(
        "body `{body}`: {elements} lock at ν = {}: {times} too stiff in bending (a beam four cells high of {mesh}), with wrong stresses; {helps}",
        shown(poisson)
    ))
}

impl Model {
    /// Returns warnings about the results of the model, one sentence each: one per body that locks, at its largest
    /// Poisson's ratio.
    pub fn warnings(&self) -> Vec<String> {
        let of_body = |body: &super::ModelBody| {
            if body.kinematics() == Kinematics::Affine {
                return None;
            }
            let ratios = body.elastic()?.materials().iter().map(|material| material.moduli().poisson);
            locking_warning(body.name(), body.mesh().kind(), ratios.fold(f64::NEG_INFINITY, f64::max))
        };
        self.bodies.iter().filter_map(of_body).collect()
    }
}

/// Formats a number with two digits.
fn digits(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

/// Formats a Poisson's ratio with enough digits to distinguish it from ½, without the rounding errors of moduli.
fn shown(poisson: f64) -> String {
    let digits = (2.0 - (0.5 - poisson).max(1e-13).log10()).ceil().clamp(2.0, 15.0) as usize;
    let text = format!("{poisson:.digits$}");
    text.trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_that_of_the_table_and_falls_in_between() {
        for kind in [ElementKind::Tet4, ElementKind::Hex8] {
            for entry in BENDING {
                let expected = if kind == ElementKind::Tet4 { entry.1 } else { entry.2 };
                assert!((bending_ratio(kind, entry.0) - expected).abs() < 1e-12);
            }
            let ratios: Vec<f64> = (0..200).map(|i| bending_ratio(kind, 0.3 + 0.001 * f64::from(i))).collect();
            assert!(ratios.windows(2).all(|pair| pair[1] < pair[0]));
            assert_eq!(bending_ratio(kind, -0.5), bending_ratio(kind, 0.3));
            assert_eq!(bending_ratio(kind, 0.499_999), bending_ratio(kind, 0.4999));
        }
    }

    #[test]
    fn warnings_begin_where_locking_does_and_say_by_how_much() {
        assert_eq!(locking_warning("a", ElementKind::Tet4, 0.449), None);
        assert_eq!(locking_warning("a", ElementKind::Hex8, 0.479), None);
        assert_eq!(locking_warning("a", ElementKind::Tet4, f64::NAN), None);
        assert_eq!(
            locking_warning("ball", ElementKind::Tet4, 0.49).unwrap(),
            "body `ball`: linear tetrahedra lock at ν = 0.49: up to 3.4 times too stiff in bending (a beam four cells high of six-tetrahedron \
             boxes; other meshes differ, and five-tetrahedron boxes lock less), with wrong stresses; hexahedra (1.3 times), a finer mesh or a \
             lower Poisson's ratio help"
        );
        let hexes = locking_warning("a", ElementKind::Hex8, 0.48).unwrap();
        assert!(
            hexes.contains("ν = 0.48: 1.2 times too stiff in bending (a beam four cells high of hexahedra"),
            "{hexes}"
        );
        let extreme = locking_warning("a", ElementKind::Tet4, 0.499_999_9).unwrap();
        assert!(extreme.contains("ν = 0.4999999: ") && extreme.contains("69 times or more"), "{extreme}");
    }
}
