//! Distances between points and triangles, and between edges, with first and second derivatives.
//!
//! A pair has four vertices `x`: a point and a triangle `(p, t₀, t₁, t₂)`, or two edges `(a₀, a₁, b₀, b₁)`. The vector
//! between its closest points is `t = Σ cᵢ xᵢ`, where the coefficients `c` are the barycentric coordinates of the
//! closest points: they sum to 1 over the first primitive and to −1 over the second. The squared distance is `D = t·t`.
//!
//! Let `τ` be the barycentric coordinates that are free, which are none if both closest points are vertices, one if one
//! of them is inside an edge and the other a vertex, and two otherwise. They minimize `D`, so by the envelope theorem
//!
//! - `∂D/∂xᵢ = 2 cᵢ t`,
//! - `∂²D/∂xᵢ∂xⱼ = 2 cᵢ cⱼ I − 2 Bᵢᵀ S⁻¹ Bⱼ`, with the free directions `g_k = ∂t/∂τ_k = Σ a_ki xᵢ`, their Gram matrix
//!   `S_kl = g_k·g_l` and `B_ki = cᵢ g_kᵀ + a_ki tᵀ`.
//!
//! With dual vectors `h_k`, `h_k·g_l = δ_kl`, the inverse of the Gram matrix is `h_k·h_l`. As `t` is normal to the free
//! directions, the Hessian becomes, with `mᵢ = Σ a_ki h_k` and the projector `N` onto the complement of the free
//! directions,
//!
//! `∂²D/∂xᵢ∂xⱼ = 2 (cᵢ cⱼ N − cᵢ mⱼ tᵀ − cⱼ t mᵢᵀ − (mᵢ·mⱼ) t tᵀ)`.
//!
//! Dual vectors and coordinates are computed with the cross product `n = g₁×g₂` and not from the determinant of `S`,
//! which loses all digits for edges that are almost parallel.

use crate::math::Vec3;

/// Kind of a pair of primitives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PairKind {
    /// A point and a triangle, with vertices `(p, t₀, t₁, t₂)`.
    PointTriangle,
    /// Two edges, with vertices `(a₀, a₁, b₀, b₁)`.
    EdgeEdge,
}

/// Square of the sine of the angle between two edges, below which they count as parallel: then the inner minimum is
/// also attained at an end, up to rounding.
const PARALLEL: f64 = 2.5e-16;

/// Closest points of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClosestPoints {
    /// Barycentric coordinates `c` of the closest points, negative for those of the second primitive.
    pub coefficients: [f64; 4],
    /// Vector `t` from the closest point of the second primitive to that of the first.
    pub offset: Vec3,
    free: Free,
}

/// Barycentric coordinates that are not at a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Free {
    /// Both closest points are vertices.
    Neither,
    /// Closest point inside an edge, which moves along `direction = Σ aᵢ xᵢ`.
    One { coefficients: [f64; 4], direction: Vec3 },
    /// Closest points inside two edges or a triangle, which move along two directions with this cross product.
    Two { coefficients: [[f64; 4]; 2], directions: [Vec3; 2], normal: Vec3 },
}

impl ClosestPoints {
    /// Computes the closest points of a pair. Degenerate primitives, such as edges of zero length, are points and
    /// edges.
    pub fn new(kind: PairKind, x: &[Vec3; 4]) -> Self {
        // Far from the origin, positions themselves have fewer digits than their differences.
        let x = x.map(|point| point - x[0]);
        match kind {
            PairKind::PointTriangle => point_triangle(&x),
            PairKind::EdgeEdge => edge_edge(&x),
        }
    }

    /// Returns the squared distance `D`.
    pub fn distance_squared(&self) -> f64 {
        self.offset.length_squared()
    }

    /// Returns the distance.
    pub fn distance(&self) -> f64 {
        self.offset.length()
    }

    /// Returns the number of free barycentric coordinates: 0 for two vertices, 1 for a vertex and the inside of an
    /// edge, and 2 for a vertex and the inside of a triangle, or the insides of two edges.
    pub fn free_count(&self) -> usize {
        match self.free {
            Free::Neither => 0,
            Free::One { .. } => 1,
            Free::Two { .. } => 2,
        }
    }

    /// Returns the gradient of the squared distance.
    pub fn gradient(&self) -> [Vec3; 4] {
        self.coefficients.map(|c| 2.0 * c * self.offset)
    }

    /// Returns the vectors `mᵢ = Σ a_ki h_k`.
    fn sensitivities(&self) -> [Vec3; 4] {
        match self.free {
            Free::Neither => [Vec3::ZERO; 4],
            Free::One { coefficients, direction } => {
                let dual = direction / direction.length_squared();
                coefficients.map(|a| a * dual)
            }
            Free::Two { coefficients: [first, second], directions: [g, h], normal } => {
                let scale = normal.length_squared().recip();
                let duals = [scale * h.cross(normal), scale * normal.cross(g)];
                std::array::from_fn(|i| first[i] * duals[0] + second[i] * duals[1])
            }
        }
    }

    /// Returns two orthonormal tangents.
    pub(super) fn tangents(&self) -> [Tangent; 2] {
        let m = self.sensitivities();
        let free = |e: Vec3| Tangent { direction: e, turning: Some(m.map(|m| m.dot(e))) };
        let bound = |e: Vec3| Tangent { direction: e, turning: None };
        match self.free {
            Free::Neither => {
                let (first, second) = self.offset.normalize_or(Vec3::X).any_orthonormal_pair();
                [bound(first), bound(second)]
            }
            Free::One { direction, .. } => {
                let along = direction.normalize();
                [free(along), bound(along.cross(self.offset).normalize_or(along.any_orthonormal_vector()))]
            }
            Free::Two { directions: [g, _], normal, .. } => {
                let first = g.normalize();
                [free(first), free(normal.normalize().cross(first))]
            }
        }
    }
}

/// Direction in the tangent plane of a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tangent {
    /// Unit vector `e`.
    pub direction: Vec3,
    /// For a tangent along which closest points are free, the numbers `mᵢ·e`: a motion of vertex `i` along the offset
    /// by `ε` turns the normal by `ε mᵢ·e` against the tangent.
    pub turning: Option<[f64; 4]>,
}

/// Returns the closest points of two vertices.
fn point_point(x: &[Vec3; 4], i: usize, j: usize) -> ClosestPoints {
    let mut coefficients = [0.0; 4];
    (coefficients[i], coefficients[j]) = (1.0, -1.0);
    ClosestPoints { coefficients, offset: x[i] - x[j], free: Free::Neither }
}

/// Returns the closest points of a vertex and an edge. `sign` is 1 if the vertex belongs to the first primitive.
fn point_edge(x: &[Vec3; 4], point: usize, [start, end]: [usize; 2], sign: f64) -> ClosestPoints {
    let (p, edge) = (x[point], x[end] - x[start]);
    let length_squared = edge.length_squared();
    let along = edge.dot(p - x[start]) / length_squared;
    let vertices = |vertex| if sign > 0.0 { point_point(x, point, vertex) } else { point_point(x, vertex, point) };
    // For an edge of zero length, the quotient is NaN or infinite.
    if !(along > 0.0) {
        return vertices(start);
    }
    if !(along < 1.0) {
        return vertices(end);
    }
    let mut coefficients = [0.0; 4];
    (coefficients[point], coefficients[start], coefficients[end]) = (sign, -sign * (1.0 - along), -sign * along);
    let mut free = [0.0; 4];
    (free[start], free[end]) = (sign, -sign);
    // From the nearer end, fewer digits cancel.
    let from = if along < 0.5 { p - x[start] } else { p - x[end] };
    let offset = from - edge * (edge.dot(from) / length_squared);
    ClosestPoints {
        coefficients,
        offset: sign * offset,
        free: Free::One { coefficients: free, direction: -sign * edge },
    }
}

/// Returns the closest of several candidates.
fn closest(candidates: impl IntoIterator<Item = ClosestPoints>) -> ClosestPoints {
    let smaller = |a: ClosestPoints, b: ClosestPoints| if b.distance_squared() < a.distance_squared() { b } else { a };
    candidates.into_iter().reduce(smaller).expect("at least one candidate")
}

fn point_triangle(x: &[Vec3; 4]) -> ClosestPoints {
    let edge_length = |i: usize, j: usize| x[i].distance_squared(x[j]);
    // The cross product of the two shorter edges is the most accurate.
    let opposite = [edge_length(2, 3), edge_length(3, 1), edge_length(1, 2)];
    let base = (1..4).max_by(|&i, &j| opposite[i - 1].total_cmp(&opposite[j - 1])).unwrap_or(1);
    let (next, last) = (base % 3 + 1, (base + 1) % 3 + 1);
    let (g, h, w) = (x[next] - x[base], x[last] - x[base], x[0] - x[base]);
    let normal = g.cross(h);
    let area_squared = normal.length_squared();
    let (u, v) = (w.cross(h).dot(normal) / area_squared, g.cross(w).dot(normal) / area_squared);
    // Triangles without area give NaN.
    if !(u > 0.0 && v > 0.0 && u + v < 1.0) {
        return closest([[1, 2], [2, 3], [3, 1]].map(|edge| point_edge(x, 0, edge, 1.0)));
    }
    let (mut coefficients, mut along_g, mut along_h) = ([1.0, 0.0, 0.0, 0.0], [0.0; 4], [0.0; 4]);
    (coefficients[base], coefficients[next], coefficients[last]) = (u + v - 1.0, -u, -v);
    (along_g[base], along_g[next]) = (1.0, -1.0);
    (along_h[base], along_h[last]) = (1.0, -1.0);
    // Differences from the nearest vertex lose the fewest digits.
    let from_vertices = [1, 2, 3].map(|i| x[0] - x[i]);
    let from = from_vertices.into_iter().min_by(|a, b| a.length_squared().total_cmp(&b.length_squared())).unwrap_or(w);
    ClosestPoints {
        coefficients,
        offset: normal * (normal.dot(from) / area_squared),
        free: Free::Two { coefficients: [along_g, along_h], directions: [-g, -h], normal },
    }
}

fn edge_edge(x: &[Vec3; 4]) -> ClosestPoints {
    let (u, v, w) = (x[1] - x[0], x[3] - x[2], x[0] - x[2]);
    let normal = u.cross(v);
    let area_squared = normal.length_squared();
    let (s, r) = (v.cross(w).dot(normal) / area_squared, u.cross(w).dot(normal) / area_squared);
    let is_parallel = !(area_squared > PARALLEL * u.length_squared() * v.length_squared());
    if is_parallel || !(s > 0.0 && s < 1.0 && r > 0.0 && r < 1.0) {
        return closest([
            point_edge(x, 0, [2, 3], 1.0),
            point_edge(x, 1, [2, 3], 1.0),
            point_edge(x, 2, [0, 1], -1.0),
            point_edge(x, 3, [0, 1], -1.0),
        ]);
    }
    let between = [[0, 2], [0, 3], [1, 2], [1, 3]].map(|[a, b]| x[a] - x[b]);
    let from = between.into_iter().min_by(|a, b| a.length_squared().total_cmp(&b.length_squared())).unwrap_or(w);
    ClosestPoints {
        coefficients: [1.0 - s, s, r - 1.0, -r],
        offset: normal * (normal.dot(from) / area_squared),
        free: Free::Two {
            coefficients: [[-1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]],
            directions: [u, -v],
            normal: -normal,
        },
    }
}
