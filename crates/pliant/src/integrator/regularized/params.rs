//! Parameters of the integrator, and errors in them.

use thiserror::Error;

use crate::material::YoungPoisson;
use crate::solver::PatternTooLarge;

/// Strain measure of the constraints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strain {
    /// Green strain `E = ½(G + Gᵀ + GᵀG)`, with `G = ∂u/∂X`: valid for any rotation. `J` depends on the state.
    #[default]
    Nonlinear,
    /// Small strain `E = ½(G + Gᵀ)`: valid for small rotations. `J` is constant. So is the matrix if the only other
    /// forces are gravity, loads and constant damping, and it is then factored once.
    Linear,
}

/// Choice of the unknowns that are eliminated first. All three give the same result where they apply. The first two
/// have six more unknowns per tetrahedron and are for comparison: they take 50 times as long with 640 tetrahedra, and
/// some hundred times with 5120.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Elimination {
    /// No elimination: any stiffness, any mass matrix.
    Saddle,
    /// Elimination of velocities: `(J M̃⁻¹Jᵀ + γh⁻²α) hλ = −γh⁻¹φ − J M̃⁻¹(Mv + hf)`. Any stiffness, but the mass must
    /// be lumped and no force may couple vertices.
    Schur,
    /// Elimination of multipliers: `(M̃ + h²/γ JᵀDJ) v₊ = Mv + hf − hJᵀDφ`, on the pattern of a stiffness matrix. By
    /// far the cheapest. An infinite `D` is replaced by that of the minimum compliance, as in the other forms, and the
    /// solution is refined until it satisfies the full system.
    #[default]
    Condensed,
}

/// Young's modulus \[Pa\], infinite for a rigid body, and Poisson's ratio, above −1 and at most ½.
#[derive(Debug, Clone, PartialEq)]
pub enum Moduli {
    /// Equal moduli for all bodies.
    Uniform(YoungPoisson),
    /// Moduli for each region of the bodies without an elastic force, body after body.
    PerRegion(Vec<YoungPoisson>),
}

/// Parameters of [`Regularized`](super::Regularized).
#[derive(Debug, Clone, PartialEq)]
pub struct RegularizedParams {
    /// Moduli of the bodies.
    pub moduli: Moduli,
    /// Damping time `τ` \[s\]: free strains decay like `exp(−t/τ)`. It corresponds to `β` of Rayleigh damping for other
    /// forces. The default is `2h`. Then `γ = 0.4`, strains of stiff bodies decay smoothly within a few steps, and
    /// damping vanishes with the step. Below `½h` strains overshoot; at 0 they ring forever.
    pub damping_time: Option<f64>,
    /// Strain measure.
    pub strain: Strain,
    /// Elimination of the linear systems.
    pub form: Elimination,
}

impl RegularizedParams {
    /// Creates parameters with uniform moduli and defaults for all else.
    pub fn new(young: f64, poisson: f64) -> Self {
        Self {
            moduli: Moduli::Uniform(YoungPoisson { young, poisson }),
            damping_time: None,
            strain: Strain::default(),
            form: Elimination::default(),
        }
    }
}

/// Error in the construction of [`Regularized`](super::Regularized).
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum Error {
    #[error("every body of the model has an elastic force, expected at least one without")]
    NoBody,
    #[error("body `{body}` has hexahedra, expected tetrahedra; split the mesh first")]
    Hexahedra { body: String },
    #[error("body `{body}` is in affine motion: expected linear tetrahedra whose vertices are nodes")]
    Affine { body: String },
    #[error("moduli: expected one per region of the bodies without an elastic force ({expected}), found {found}")]
    RegionCount { found: usize, expected: usize },
    #[error("Young's modulus of region `{region}` of body `{body}` is {young}, expected a positive number of Pa")]
    Young { body: String, region: String, young: f64 },
    #[error(
        "Poisson's ratio of region `{region}` of body `{body}` is {poisson}, expected more than -1 and at most 0.5"
    )]
    Poisson { body: String, region: String, poisson: f64 },
    #[error("the damping time is {value} s, expected a number that is not negative")]
    DampingTime { value: f64 },
    #[error(
        "the Schur complement needs a lumped mass and no forces between vertices, but the model couples {pairs} pairs of them; the \
         other forms need neither"
    )]
    Coupled { pairs: usize },
    #[error("{multipliers} multipliers and {vertices} vertices are more than 2³² − 1 blocks")]
    TooLarge { multipliers: usize, vertices: usize },
    #[error(transparent)]
    PatternTooLarge(#[from] PatternTooLarge),
}
