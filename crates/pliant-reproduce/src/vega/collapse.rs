//! Collapsed initial states, and the distance of a body from its rest shape.

use pliant::math::{Mat3, Matrix, Vec3, nearest_rotation, outer};
use pliant::mesh::VolumeMesh;
use pliant::model::Model;
use pliant::system::State;

/// Kind of collapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collapse {
    Plane,
    Point,
    Random,
    InsideOut,
}

pub const COLLAPSES: [Collapse; 4] = [Collapse::Plane, Collapse::Point, Collapse::Random, Collapse::InsideOut];

/// Shape of a body at an instant.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// Time \[s\].
    pub time: f64,
    /// Number of elements that are inverted or flat.
    pub inverted: usize,
    /// Distance of the vertices from the rest shape (RMS), relative to the size.
    pub distance: f64,
}

impl Collapse {
    pub fn name(self) -> &'static str {
        match self {
            Self::Plane => "into a plane",
            Self::Point => "into a point",
            Self::Random => "at random",
            Self::InsideOut => "inside out",
        }
    }

    /// Displaces all vertices of a body centered at the origin. A random collapse places them in a cube from `−size` to
    /// `size`.
    pub fn apply(self, mesh: &VolumeMesh, size: f64, seed: u64, state: &mut State) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut anywhere = || size * (2.0 * random.f64() - 1.0);
        for (x, u) in mesh.vertices().iter().zip(state.q.chunks_exact_mut(3)) {
            let place = match self {
                Self::Plane => Vec3::new(x.x, 0.0, x.z),
                Self::Point => Vec3::ZERO,
                Self::Random => Vec3::new(anywhere(), anywhere(), anywhere()),
                Self::InsideOut => -*x,
            };
            (place - *x).write_to_slice(u);
        }
    }
}

impl Snapshot {
    pub fn of(model: &Model, state: &State, size: f64) -> Self {
        let positions = model.positions(state);
        let volume = |element: &[u32]| {
            let [a, b, c, d] = std::array::from_fn(|i| positions[element[i] as usize]);
            Mat3::from_cols(b - a, c - a, d - a).determinant()
        };
        let elements = model.bodies()[0].mesh().elements();
        let inverted = elements.filter(|element| volume(element) <= 0.0).count();
        Self { time: state.time, inverted, distance: distance(model.rest(), &positions) / size }
    }
}

/// Returns the RMS distance of vertices from the rest shape after the best rigid alignment \[m\].
fn distance(rest: &[Vec3], positions: &[Vec3]) -> f64 {
    let mean = |points: &[Vec3]| points.iter().sum::<Vec3>() / points.len() as f64;
    let (rest_mean, mean) = (mean(rest), mean(positions));
    let covariance: Mat3 = rest.iter().zip(positions).map(|(x, y)| outer(*y - mean, *x - rest_mean)).sum();
    let turn = nearest_rotation(&Matrix(covariance.transpose().to_cols_array_2d()));
    let square = |(x, y): (&Vec3, &Vec3)| {
        let shape = Vec3::from_array(turn.times((*x - rest_mean).to_array()));
        (*y - mean - shape).length_squared()
    };
    (rest.iter().zip(positions).map(square).sum::<f64>() / rest.len() as f64).sqrt()
}
