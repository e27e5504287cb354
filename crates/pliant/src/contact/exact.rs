//! Exact arithmetic, against which the tests of this module check what rounding might spoil.

use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

use dashu_int::IBig;

use super::PairKind;
use crate::math::Vec3;

/// Number `n 2^e`: sums and products are exact, as is every finite `f64`.
#[derive(Debug, Clone)]
pub struct Dyadic {
    n: IBig,
    e: isize,
}

impl From<f64> for Dyadic {
    fn from(x: f64) -> Self {
        assert!(x.is_finite());
        let bits = x.to_bits();
        let (exponent, fraction) = (((bits >> 52) & 0x7ff) as isize, (bits & ((1 << 52) - 1)) as i64);
        let (n, e) = if exponent == 0 { (fraction, -1074) } else { (fraction | (1 << 52), exponent - 1075) };
        // Without trailing zeros, numbers stay short.
        let zeros = if n == 0 { 0 } else { n.trailing_zeros() };
        Self { n: IBig::from(if x < 0.0 { -(n >> zeros) } else { n >> zeros }), e: e + zeros as isize }
    }
}

impl Dyadic {
    fn combined(&self, other: &Self, sum: impl Fn(IBig, IBig) -> IBig) -> Self {
        if self.n == IBig::ZERO || other.n == IBig::ZERO {
            let e = if self.n == IBig::ZERO { other.e } else { self.e };
            return Self { n: sum(self.n.clone(), other.n.clone()), e };
        }
        let e = self.e.min(other.e);
        let shifted = |x: &Self| x.n.clone() << (x.e - e) as usize;
        Self { n: sum(shifted(self), shifted(other)), e }
    }

    pub fn sign(&self) -> Ordering {
        self.n.cmp(&IBig::ZERO)
    }

    pub fn is_positive(&self) -> bool {
        self.sign() == Ordering::Greater
    }

    /// Returns leading bits, at least 32 and at most 64 unless the number is short, and their exponent.
    fn rounded(&self) -> (f64, isize) {
        let magnitude = if self.n < IBig::ZERO { -self.n.clone() } else { self.n.clone() };
        let length = (0..).step_by(32).find(|bits| magnitude < IBig::ONE << *bits).unwrap_or(0);
        let shift = length.saturating_sub(64);
        let leading = u64::try_from(magnitude >> shift).unwrap() as f64;
        (if self.sign() == Ordering::Less { -leading } else { leading }, self.e + shift as isize)
    }

    /// Returns the square root of the quotient of two positive numbers, or of zero, with a relative error of about
    /// 2⁻³¹. The quotient itself may be less than any `f64`.
    pub fn root_over(&self, other: &Self) -> f64 {
        let ((a, b), (c, d)) = (self.rounded(), other.rounded());
        let exponent = b - d;
        let odd = exponent.rem_euclid(2);
        (a / c * (1 + odd) as f64).sqrt() * 2.0_f64.powi(((exponent - odd) / 2) as i32)
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        self.combined(other, |a, b| a + b)
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        self.combined(other, |a, b| a - b)
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic { n: &self.n * &other.n, e: self.e + other.e }
    }
}

/// Vector of exact numbers.
#[derive(Debug, Clone)]
pub struct Exact([Dyadic; 3]);

impl From<Vec3> for Exact {
    fn from(x: Vec3) -> Self {
        Self(x.to_array().map(Dyadic::from))
    }
}

impl Exact {
    pub fn plus(&self, factor: &Dyadic, other: &Self) -> Self {
        Self(std::array::from_fn(|i| &self.0[i] + &(factor * &other.0[i])))
    }

    pub fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| &self.0[i] - &other.0[i]))
    }

    pub fn dot(&self, other: &Self) -> Dyadic {
        let [x, y, z] = std::array::from_fn(|i| &self.0[i] * &other.0[i]);
        &(&x + &y) + &z
    }

    pub fn cross(&self, other: &Self) -> Self {
        let minor = |i: usize, j: usize| &(&self.0[i] * &other.0[j]) - &(&self.0[j] * &other.0[i]);
        Self([minor(1, 2), minor(2, 0), minor(0, 1)])
    }
}

/// Returns the distance of a point and an edge; zero only if it is exactly zero.
fn point_edge(p: &Exact, a: &Exact, b: &Exact) -> f64 {
    let (edge, w) = (b.minus(a), p.minus(a));
    let (along, length) = (edge.dot(&w), edge.dot(&edge));
    let one = Dyadic::from(1.0);
    if !along.is_positive() {
        return w.dot(&w).root_over(&one);
    }
    if !(&length - &along).is_positive() {
        let w = p.minus(b);
        return w.dot(&w).root_over(&one);
    }
    let normal = edge.cross(&w);
    normal.dot(&normal).root_over(&length)
}

/// Returns the distance of a pair; zero only if it is exactly zero.
pub fn distance(kind: PairKind, x: &[Exact; 4]) -> f64 {
    let [a, b, c, d] = x;
    let (boundary, g, h, w) = match kind {
        PairKind::PointTriangle => {
            let edges = [point_edge(a, b, c), point_edge(a, c, d), point_edge(a, d, b)];
            (edges.into_iter().fold(f64::INFINITY, f64::min), c.minus(b), d.minus(b), a.minus(b))
        }
        PairKind::EdgeEdge => {
            let ends = [point_edge(a, c, d), point_edge(b, c, d), point_edge(c, a, b), point_edge(d, a, b)];
            (ends.into_iter().fold(f64::INFINITY, f64::min), b.minus(a), c.minus(d), c.minus(a))
        }
    };
    // w = s g + r h + normal part; for edges, a + s g = c + r (d − c).
    let normal = g.cross(&h);
    let area = normal.dot(&normal);
    let (s, r) = (w.cross(&h).dot(&normal), g.cross(&w).dot(&normal));
    let inside = match kind {
        PairKind::PointTriangle => (&area - &(&s + &r)).is_positive(),
        PairKind::EdgeEdge => (&area - &s).is_positive() && (&area - &r).is_positive(),
    };
    if area.is_positive() && s.is_positive() && r.is_positive() && inside {
        let height = normal.dot(&w);
        return (&height * &height).root_over(&area);
    }
    boundary
}

/// Returns true if an edge that is not in the plane of a triangle meets it.
pub fn meets(edge: [Vec3; 2], triangle: [Vec3; 3]) -> bool {
    let ([p, q], [a, b, c]) = (edge.map(Exact::from), triangle.map(Exact::from));
    let normal = b.minus(&a).cross(&c.minus(&a));
    let (above, below) = (normal.dot(&p.minus(&a)), normal.dot(&q.minus(&a)));
    if above.sign() == below.sign() {
        return false;
    }
    // The point (above q − below p)/(above − below) of the plane, relative to a corner and times the denominator.
    let scale = &above - &below;
    let point = |corner: &Exact| {
        let ends = [(&q, &above), (&p, &below)];
        let [first, second] = ends.map(|(end, factor)| Exact(end.minus(corner).0.map(|x| &x * factor)));
        first.minus(&second)
    };
    let inside = [(&a, &b), (&b, &c), (&c, &a)].map(|(from, to)| {
        let side = to.minus(from).cross(&point(from)).dot(&normal);
        (&side * &scale).sign() != Ordering::Less
    });
    inside.iter().all(|inside| *inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::testing::{close_pair, random_vector};
    use crate::contact::{ClosestPoints, edge_crosses_triangle, safe_fraction};

    /// Number of motions.
    const FUZZ: usize = 6000;

    /// Returns true if an edge in the plane of a triangle has a point in common with it: if no line along a side or
    /// the edge separates them.
    fn overlaps(edge: [Vec3; 2], triangle: [Vec3; 3]) -> bool {
        let ([p, q], [a, b, c]) = (edge.map(Exact::from), triangle.map(Exact::from));
        let normal = b.minus(&a).cross(&c.minus(&a));
        let side = |from: &Exact, to: &Exact, x: &Exact| to.minus(from).cross(&x.minus(from)).dot(&normal).sign();
        let outside = [(&a, &b), (&b, &c), (&c, &a)]
            .iter()
            .any(|(from, to)| [&p, &q].iter().all(|x| side(from, to, x) == Ordering::Less));
        let sides = [&a, &b, &c].map(|x| side(&p, &q, x));
        let along = q.minus(&p);
        // An edge of zero length is a point. One in line with a side may be beyond it.
        let beyond = along.dot(&along).is_positive() && {
            let at = [&a, &b, &c].map(|x| along.dot(&x.minus(&p)).sign());
            let past = [&a, &b, &c].map(|x| along.dot(&x.minus(&q)).sign());
            at.iter().all(|at| at.is_lt()) || past.iter().all(|past| past.is_gt())
        };
        let apart = sides.iter().all(|side| side.is_lt()) || sides.iter().all(|side| side.is_gt());
        !(outside || (along.dot(&along).is_positive() && apart) || beyond)
    }

    const KINDS: [PairKind; 2] = [PairKind::PointTriangle, PairKind::EdgeEdge];

    /// Checks that a pair is apart along the whole safe fraction of a motion, and at its rounded end. Returns the
    /// fraction.
    ///
    /// Exact distances bound the time for which the pair stays apart, as in the method itself, but without rounding.
    fn check(kind: PairKind, x: &[Vec3; 4], motion: &[Vec3; 4]) -> f64 {
        let fraction = safe_fraction(kind, x, motion, 0.0);
        assert!((0.0..=1.0).contains(&fraction));
        if fraction == 0.0 {
            return fraction;
        }
        let (start, along) = (x.map(Exact::from), motion.map(Exact::from));
        let pairs: &[[usize; 2]] = match kind {
            PairKind::PointTriangle => &[[0, 1], [0, 2], [0, 3]],
            PairKind::EdgeEdge => &[[0, 2], [0, 3], [1, 2], [1, 3]],
        };
        let speed = pairs.iter().map(|&[i, j]| {
            let relative = along[i].minus(&along[j]);
            relative.dot(&relative).root_over(&Dyadic::from(1.0))
        });
        let speed = speed.fold(0.0, f64::max);
        let mut time = 0.0;
        for advance in 0.. {
            let t = Dyadic::from(time);
            let d = distance(kind, &std::array::from_fn(|i| start[i].plus(&t, &along[i])));
            assert!(d > 0.0 && advance < 2000, "{kind:?} {x:?} {motion:?}: {d} at {time} of {fraction}");
            // Far more is left than what rounding of the square root and of the time take.
            let next = time + 0.99 * d / speed;
            if time == fraction || speed == 0.0 {
                break;
            }
            assert!(next > time, "{kind:?} {x:?} {motion:?}: {d} at {time} of {fraction}");
            time = next.min(fraction);
        }
        let moved: [Vec3; 4] = std::array::from_fn(|i| x[i] + fraction * motion[i]);
        let d = distance(kind, &moved.map(Exact::from));
        assert!(d > 0.0, "{kind:?} {x:?} {motion:?}: rounded positions touch at {fraction}");
        fraction
    }

    fn random_power(random: &mut fastrand::Rng, from: i32, to: i32) -> f64 {
        10.0_f64.powi(random.i32(from..=to)) * (0.5 + random.f64())
    }

    /// Returns vertices of primitives at an angle from right to none, up to triangles and edges of no size, at gaps
    /// between 1 and 10⁻¹³, and motions along, across and at random.
    fn adversarial(kind: PairKind, random: &mut fastrand::Rng) -> ([Vec3; 4], [Vec3; 4]) {
        let (u, other) = (random_vector(random), random_vector(random));
        let angle = if random.u8(..8) == 0 { 0.0 } else { random_power(random, -10, 0) };
        let sizes = [random_power(random, -3, 0), random_power(random, -3, 0)];
        let (g, h) = (sizes[0] * u, sizes[1] * (u + angle * other));
        let (g, h) = if random.u8(..16) == 0 { (g, Vec3::ZERO) } else { (g, h) };
        let normal = u.cross(other).normalize_or(Vec3::X);
        let gap = random_power(random, -13, 0);
        let [s, r] = [1.2 * random.f64() - 0.1, 1.2 * random.f64() - 0.1];
        let pair = match kind {
            PairKind::PointTriangle => {
                let foot = s * g + r * (1.0 - s) * h;
                [foot + gap * normal, Vec3::ZERO, g, h]
            }
            PairKind::EdgeEdge => {
                let base = s * g - r * h + gap * normal;
                [Vec3::ZERO, g, base, base + h]
            }
        };
        let shift = if random.bool() { Vec3::ZERO } else { random_power(random, -2, 5) * random_vector(random) };
        let speed = random_power(random, -8, 6);
        let common = if random.bool() { Vec3::ZERO } else { random_power(random, -3, 6) * random_vector(random) };
        let through = -gap * (1.0 + 2.0 * random.f64()) * normal;
        let style = random.u8(..5);
        let motion: [Vec3; 4] = std::array::from_fn(|i| {
            let is_first = if kind == PairKind::PointTriangle { i == 0 } else { i < 2 };
            let side = if is_first == (kind == PairKind::PointTriangle) { 1.0 } else { 0.0 };
            common
                + match style {
                    0 => speed * random_vector(random),
                    1 => side * through,
                    2 => side * (speed * u + 0.5 * through),
                    3 => side * (through + 1e-3 * gap * random_vector(random)),
                    _ => side * speed * (normal - 2.0 * f64::from(u8::from(random.bool())) * normal),
                }
        });
        (pair.map(|x| x + shift), motion)
    }

    #[test]
    fn no_pair_touches_along_the_safe_fraction_of_any_motion_in_exact_arithmetic() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut stopped, mut stuck, mut free) = (0, 0, 0);
        for case in 0..FUZZ {
            let kind = KINDS[case % 2];
            let (x, motion) = if case % 8 < 2 {
                let scale = random_power(&mut random, -3, 6);
                (close_pair(kind, &mut random), std::array::from_fn(|_| scale * random_vector(&mut random)))
            } else {
                adversarial(kind, &mut random)
            };
            match check(kind, &x, &motion) {
                0.0 => stuck += 1,
                1.0 => free += 1,
                _ => stopped += 1,
            }
        }
        println!("{stopped} stopped, {stuck} at once, {free} free");
        assert!(stopped > FUZZ / 5 && free > FUZZ / 20 && stuck < FUZZ / 2, "{stopped} {stuck} {free}");
    }

    #[test]
    fn distances_agree_with_those_of_exact_arithmetic() {
        let mut random = fastrand::Rng::with_seed(12);
        for case in 0..4000 {
            let kind = KINDS[case % 2];
            let x = close_pair(kind, &mut random);
            let (found, exact) = (ClosestPoints::new(kind, &x).distance(), distance(kind, &x.map(Exact::from)));
            assert!((found - exact).abs() < 1e-9 * exact + 1e-13, "{x:?}: {found} {exact}");
        }
    }

    /// Returns a number that is often the same, so that points coincide, and lie on lines and in planes.
    fn coarse(random: &mut fastrand::Rng) -> f64 {
        let lattice = f64::from(random.i8(-2..=2));
        match random.u8(..12) {
            0 => lattice + f64::EPSILON * f64::from(random.i8(-2..=2)),
            1 => lattice + f64::from(random.i8(-1..=1)) * 1e-300,
            2 => lattice * 0.1,
            _ => lattice,
        }
    }

    #[test]
    fn crossings_are_those_of_exact_arithmetic() {
        let mut random = fastrand::Rng::with_seed(13);
        let mut counts = [0; 3];
        for _ in 0..20_000 {
            // Often in one plane.
            let z = f64::from(u8::from(random.u8(..4) > 0));
            let [p, q, a, b, c] =
                std::array::from_fn(|_| Vec3::new(coarse(&mut random), coarse(&mut random), z * coarse(&mut random)));
            let found = edge_crosses_triangle([p, q], [a, b, c]);
            let [normal, above, below] = {
                let [p, q, a, b, c] = [p, q, a, b, c].map(Exact::from);
                let normal = b.minus(&a).cross(&c.minus(&a));
                [normal.dot(&normal), normal.dot(&p.minus(&a)), normal.dot(&q.minus(&a))].map(|x| x.sign())
            };
            let is_proper = normal.is_gt() && above.is_ne() && below.is_ne() && above != below;
            assert_eq!(found, is_proper && meets([p, q], [a, b, c]), "{p} {q} {a} {b} {c}");
            counts[usize::from(found)] += 1;
            // What else has a point in common has a pair of primitives at distance zero, in which the barrier is
            // infinite: an edge in the plane of a triangle crosses one of its sides, or has an end in it.
            if normal.is_gt() && above.is_eq() && below.is_eq() {
                let ends = [p, q].map(|x| distance(PairKind::PointTriangle, &[x, a, b, c].map(Exact::from)));
                let sides = [[a, b], [b, c], [c, a]];
                let sides = sides.map(|[x, y]| distance(PairKind::EdgeEdge, &[p, q, x, y].map(Exact::from)));
                let touches = ends.iter().chain(&sides).any(|d| *d == 0.0);
                assert_eq!(touches, overlaps([p, q], [a, b, c]), "{p} {q} {a} {b} {c}");
                counts[2] += usize::from(touches);
            }
        }
        assert!(counts[1] > 200 && counts[2] > 200, "{counts:?}");
    }
}
