//! Rotations of the neighborhoods of vertices, from the deformation gradients of adjacent elements.

use rayon::prelude::*;

use super::Frames;
use crate::element::quadrature;
use crate::math::{Kernel, Mat3, Matrix, Simd, Vec3, dispatch, fused, nearest_rotation};
use crate::mesh::VolumeMesh;

/// Vertex rotations: for each vertex, the rotation nearest to the volume-weighted mean of `F` over the adjacent
/// elements.
///
/// Since `F` is linear in the displacements, so is its mean: `F̄ᵥ = I + Σⱼ (uⱼ − uᵥ) cᵥⱼᵀ` with `cᵥⱼ = Σₑ ∫∇Nⱼ / Σₑ Vₑ`
/// over the elements that have both vertices. Thus all element types are treated alike, without scatter operations.
#[derive(Debug, Clone)]
pub struct VertexFrames {
    /// Start of the neighbors of each vertex, plus the total number.
    starts: Vec<usize>,
    neighbors: Vec<Neighbor>,
}

/// Neighbor in single precision, which is sufficient for preconditioners.
#[derive(Debug, Clone, Copy)]
struct Neighbor {
    vertex: u32,
    gradient: [f32; 3],
}

impl VertexFrames {
    /// Creates the frames of bodies, each with its first vertex in a common numbering. Vertices without elements are
    /// not rotated.
    ///
    /// # Panics
    /// If a body extends beyond the number of vertices.
    pub fn new(vertex_count: usize, bodies: &[(u32, &VolumeMesh)]) -> Self {
        let mut lists: Vec<Vec<(u32, Vec3)>> = vec![Vec::new(); vertex_count];
        let mut volumes = vec![0.0; vertex_count];
        for &(first, mesh) in bodies {
            assert!(
                first as usize + mesh.vertex_count() <= vertex_count,
                "bodies must have at most {vertex_count} vertices in total"
            );
            for (number, element) in mesh.elements().enumerate() {
                let mut integrals = [Vec3::ZERO; 8];
                let mut volume = 0.0;
                for (weight, gradients) in quadrature(mesh, number) {
                    volume += weight;
                    for (integral, gradient) in integrals.iter_mut().zip(gradients) {
                        *integral += weight * gradient;
                    }
                }
                for &v in element {
                    let list = &mut lists[(first + v) as usize];
                    volumes[(first + v) as usize] += volume;
                    for (&other, integral) in element.iter().zip(integrals) {
                        if other == v {
                            continue;
                        }
                        match list.iter_mut().find(|(vertex, _)| *vertex == first + other) {
                            Some((_, sum)) => *sum += integral,
                            None => list.push((first + other, integral)),
                        }
                    }
                }
            }
        }
        let mut starts = vec![0];
        let mut neighbors = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for (list, volume) in lists.iter_mut().zip(volumes) {
            list.sort_unstable_by_key(|(vertex, _)| *vertex);
            neighbors.extend(list.iter().map(|&(vertex, integral)| {
                let gradient = (integral / volume).to_array().map(|number| number as f32);
                Neighbor { vertex, gradient }
            }));
            starts.push(neighbors.len());
        }
        Self { starts, neighbors }
    }
}

/// Vertices per parallel task.
const CHUNK: usize = 1024;

impl Frames for VertexFrames {
    fn rotations(&self, u: &[f64], rotations: &mut [Mat3]) {
        let count = self.starts.len() - 1;
        assert!(
            u.len() == 3 * count && rotations.len() == count,
            "expected displacements and rotations of {count} vertices"
        );
        let (u, _) = u.as_chunks::<3>();
        let work = |(chunk, rotations): (usize, &mut [Mat3])| {
            dispatch(Rotations { frames: self, u, first: chunk * CHUNK, target: rotations });
        };
        if count <= CHUNK || rayon::current_num_threads() == 1 {
            rotations.chunks_mut(CHUNK).enumerate().for_each(work);
        } else {
            rotations.par_chunks_mut(CHUNK).enumerate().for_each(work);
        }
    }
}

/// Kernel for the rotations of consecutive vertices.
struct Rotations<'a> {
    frames: &'a VertexFrames,
    u: &'a [[f64; 3]],
    first: usize,
    target: &'a mut [Mat3],
}

/// Upper bound of the lanes of any register.
const MAX_LANES: usize = 8;

impl Kernel for Rotations<'_> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        let Self { frames, u, mut first, target } = self;
        for group in target.chunks_mut(R::WIDTH) {
            let mut lanes = [[[0.0; MAX_LANES]; 3]; 3];
            for lane in 0..R::WIDTH {
                // Lanes beyond the last vertex repeat it.
                let vertex = first + lane.min(group.len() - 1);
                let own = u[vertex];
                let mut f = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
                for neighbor in &frames.neighbors[frames.starts[vertex]..frames.starts[vertex + 1]] {
                    let other = u[neighbor.vertex as usize];
                    for i in 0..3 {
                        for j in 0..3 {
                            f[i][j] = fused::<R>(other[i] - own[i], f64::from(neighbor.gradient[j]), f[i][j]);
                        }
                    }
                }
                for i in 0..3 {
                    for j in 0..3 {
                        lanes[i][j][lane] = f[i][j];
                    }
                }
            }
            let mut f = Matrix::<R>::zero();
            for i in 0..3 {
                for j in 0..3 {
                    f.0[i][j] = R::load(&lanes[i][j]);
                }
            }
            let r = nearest_rotation(&f);
            for i in 0..3 {
                for j in 0..3 {
                    r.0[i][j].store(&mut lanes[i][j]);
                }
            }
            for (lane, rotation) in group.iter_mut().enumerate() {
                let column = |j: usize| Vec3::new(lanes[0][j][lane], lanes[1][j][lane], lanes[2][j][lane]);
                *rotation = Mat3::from_cols(column(0), column(1), column(2));
            }
            first += group.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{Cells, generate};
    use crate::solver::testing::bent;

    fn distance(a: Mat3, b: Mat3) -> f64 {
        (a - b).to_cols_array().into_iter().fold(0.0, |most, x| f64::max(most, x.abs()))
    }

    fn displacements(mesh: &VolumeMesh, place: impl Fn(Vec3) -> Vec3) -> Vec<f64> {
        mesh.vertices().iter().flat_map(|&x| (place(x) - x).to_array()).collect()
    }

    #[test]
    fn a_body_that_turns_as_a_whole_turns_at_every_vertex() {
        let turn = Mat3::from_axis_angle(Vec3::new(1.0, 2.0, -0.5).normalize(), 2.5);
        for cells in [Cells::Tet5, Cells::Tet6, Cells::Hex] {
            let mesh = generate::ball(0.7, 4, cells).unwrap();
            // Far from the origin, where rounding would be visible.
            let u = displacements(&mesh, |x| turn * x + Vec3::new(1e4, -2e4, 3e4));
            let mut rotations = vec![Mat3::ZERO; mesh.vertex_count()];
            VertexFrames::new(mesh.vertex_count(), &[(0, &mesh)]).rotations(&u, &mut rotations);
            for rotation in rotations {
                assert!(distance(rotation, turn) < 2e-6, "{rotation} instead of {turn}");
            }
        }
    }

    #[test]
    fn a_bent_bar_turns_by_the_angle_of_each_place() {
        for cells in [Cells::Tet5, Cells::Hex] {
            let mesh = generate::block([1.0, 0.2, 0.2], [20, 4, 4], cells).unwrap();
            let u = displacements(&mesh, |x| bent(x, 1.2));
            let mut rotations = vec![Mat3::ZERO; mesh.vertex_count()];
            VertexFrames::new(mesh.vertex_count(), &[(0, &mesh)]).rotations(&u, &mut rotations);
            for (rotation, x) in rotations.into_iter().zip(mesh.vertices()) {
                let expected = Mat3::from_rotation_z(1.2 * x.x);
                assert!(distance(rotation, expected) < 0.05, "{rotation} instead of {expected} at {x}");
            }
        }
    }

    #[test]
    fn several_bodies_turn_on_their_own_and_loose_vertices_never() {
        let mesh = generate::block([1.0, 1.0, 1.0], [2, 2, 2], Cells::Hex).unwrap();
        let count = mesh.vertex_count();
        let frames = VertexFrames::new(2 * count + 1, &[(0, &mesh), (count as u32 + 1, &mesh)]);
        let turn = Mat3::from_rotation_x(0.8);
        let mut u = displacements(&mesh, |x| turn * x);
        u.extend([5.0, 6.0, 7.0]);
        u.extend(displacements(&mesh, |x| turn.transpose() * x));
        let mut rotations = vec![Mat3::ZERO; 2 * count + 1];
        frames.rotations(&u, &mut rotations);
        for (vertex, &rotation) in rotations.iter().enumerate() {
            let expected = match vertex.cmp(&count) {
                std::cmp::Ordering::Less => turn,
                std::cmp::Ordering::Equal => Mat3::IDENTITY,
                std::cmp::Ordering::Greater => turn.transpose(),
            };
            assert!(distance(rotation, expected) < 2e-6, "vertex {vertex}: {rotation}");
        }
    }
}
