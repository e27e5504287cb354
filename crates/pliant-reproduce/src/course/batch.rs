//! Elastic forces as the course computes them: element by element, in its order. Only the mesh is Pliant's.

use pliant::math::{Mat3, Vec3};
use pliant::mesh::VolumeMesh;

/// Precomputed data of an element.
#[derive(Debug, Clone, Copy)]
pub struct Tet {
    /// Vertex indices. Edges go from the last vertex to the others.
    nodes: [usize; 4],
    /// `D_m⁻¹`, the inverse of the edge matrix at rest \[1/m\].
    inverse: Mat3,
    /// `W`, the volume at rest \[m³\].
    volume: f64,
}

/// Law that the course writes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Law {
    /// `P = μ(F + Fᵀ − 2I) + λ tr(F − I) I`
    Linear,
    /// `P = F (2μE + λ tr(E) I)`
    StVk,
    /// `P = μ(F − F⁻ᵀ) + λ ln(J) F⁻ᵀ`
    NeoHookean,
}

/// Law with its Lamé parameters \[Pa\].
#[derive(Debug, Clone, Copy)]
pub struct Material {
    pub law: Law,
    pub mu: f64,
    pub lambda: f64,
}

impl Tet {
    /// Returns the vertex indices.
    pub fn nodes(&self) -> [usize; 4] {
        self.nodes
    }
}

/// Computes `D_m⁻¹` and `W` of every element, the first step of the course.
pub fn precompute(mesh: &VolumeMesh) -> Vec<Tet> {
    let of_element = |element: &[u32]| {
        let nodes = [0, 1, 2, 3].map(|i| element[i] as usize);
        let edges = edges(nodes, |node| mesh.vertices()[node]);
        Tet { nodes, inverse: edges.inverse(), volume: edges.determinant().abs() / 6.0 }
    };
    mesh.elements().map(of_element).collect()
}

/// Adds the elastic force on each vertex, element by element.
pub fn add_forces(material: Material, tets: &[Tet], x: &[Vec3], force: &mut [Vec3]) {
    for tet in tets {
        let f = edges(tet.nodes, |node| x[node]) * tet.inverse;
        scatter(tet, material.stress(f), force);
    }
}

/// Adds the first-order change of these forces when the vertices move by `dx`, without assembling a matrix.
pub fn add_force_differentials(material: Material, tets: &[Tet], x: &[Vec3], dx: &[Vec3], change: &mut [Vec3]) {
    for tet in tets {
        let f = edges(tet.nodes, |node| x[node]) * tet.inverse;
        let df = edges(tet.nodes, |node| dx[node]) * tet.inverse;
        scatter(tet, material.stress_differential(f, df), change);
    }
}

/// Returns the minimum `det F`, which must be positive for the neo-Hookean law.
pub fn min_volume_ratio(tets: &[Tet], x: &[Vec3]) -> f64 {
    let ratio = |tet: &Tet| (edges(tet.nodes, |node| x[node]) * tet.inverse).determinant();
    tets.iter().map(ratio).fold(f64::INFINITY, f64::min)
}

/// Returns `D_s = [x₁ − x₄, x₂ − x₄, x₃ − x₄]`.
fn edges(nodes: [usize; 4], at: impl Fn(usize) -> Vec3) -> Mat3 {
    let last = at(nodes[3]);
    Mat3::from_cols(at(nodes[0]) - last, at(nodes[1]) - last, at(nodes[2]) - last)
}

/// Adds the forces of an element. The columns of `H = −W P D_m⁻ᵀ` are the forces on the first three vertices; the force
/// on the last makes their sum zero.
fn scatter(tet: &Tet, stress: Mat3, force: &mut [Vec3]) {
    let h = stress * tet.inverse.transpose() * -tet.volume;
    let [a, b, c, d] = tet.nodes;
    force[a] += h.x_axis;
    force[b] += h.y_axis;
    force[c] += h.z_axis;
    force[d] -= h.x_axis + h.y_axis + h.z_axis;
}

fn trace(m: Mat3) -> f64 {
    m.x_axis.x + m.y_axis.y + m.z_axis.z
}

impl Material {
    /// Returns the first Piola–Kirchhoff stress `P(F)`.
    fn stress(self, f: Mat3) -> Mat3 {
        let Self { law, mu, lambda } = self;
        match law {
            Law::Linear => {
                let strain = (f + f.transpose()) * 0.5 - Mat3::IDENTITY;
                strain * (2.0 * mu) + Mat3::IDENTITY * (lambda * trace(strain))
            }
            Law::StVk => {
                let strain = (f.transpose() * f - Mat3::IDENTITY) * 0.5;
                f * (strain * (2.0 * mu) + Mat3::IDENTITY * (lambda * trace(strain)))
            }
            Law::NeoHookean => {
                let turned = f.inverse().transpose();
                (f - turned) * mu + turned * (lambda * f.determinant().ln())
            }
        }
    }

    /// Returns the stress differential `δP(F; δF)`.
    fn stress_differential(self, f: Mat3, df: Mat3) -> Mat3 {
        let Self { law, mu, lambda } = self;
        match law {
            Law::Linear => {
                let strain = (df + df.transpose()) * 0.5;
                strain * (2.0 * mu) + Mat3::IDENTITY * (lambda * trace(strain))
            }
            Law::StVk => {
                let strain = (f.transpose() * f - Mat3::IDENTITY) * 0.5;
                let change = (df.transpose() * f + f.transpose() * df) * 0.5;
                df * (strain * (2.0 * mu) + Mat3::IDENTITY * (lambda * trace(strain)))
                    + f * (change * (2.0 * mu) + Mat3::IDENTITY * (lambda * trace(change)))
            }
            Law::NeoHookean => {
                let inverse = f.inverse();
                let turned = inverse.transpose();
                df * mu
                    + turned * df.transpose() * turned * (mu - lambda * f.determinant().ln())
                    + turned * (lambda * trace(inverse * df))
            }
        }
    }
}
