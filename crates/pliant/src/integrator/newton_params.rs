//! Parameters of Newton's method.

/// Parameters and stopping criteria of Newton's method.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewtonParams {
    /// Maximum number of iterations, at least one.
    pub max_iterations: usize,
    /// Minimum number of iterations, even if the residual of the initial guess is below the tolerance. With one, the
    /// equilibrium that a motion settles at does not depend on the tolerance.
    pub min_iterations: usize,
    /// Tolerance for the residual, relative to the internal or external forces.
    pub tolerance: f64,
    /// Choice of the matrix.
    pub tangent: NewtonTangent,
    /// True to shorten steps until the energy decreases.
    pub line_search: bool,
    /// Largest change of a velocity in an iteration, relative to the size of the system \[1/s\], at which contacts have
    /// converged; 0 to use the residual alone. Only for systems with contact, whose forces are sums of steep barriers.
    pub contact_tolerance: f64,
    /// True if prescribed motions yield where bodies in contact block them: they stay behind, and catch up when they
    /// can. Otherwise they are an error.
    pub yields: bool,
    /// True to fail if the last iteration has not converged. Otherwise its result is taken. With a line search every
    /// iteration has lowered the energy, so that the motion is still stable.
    pub must_converge: bool,
}

/// Derivative of the forces used by Newton's method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewtonTangent {
    /// Exact derivative.
    Exact,
    /// Derivative with element matrices projected onto the positive semi-definite matrices. Always gives a descent
    /// direction, at times with more iterations.
    Projected,
    /// Exact derivative, or the projected one where that gives no descent direction.
    ExactFirst,
}

impl Default for NewtonParams {
    fn default() -> Self {
        Self {
            max_iterations: 50,
            min_iterations: 0,
            tolerance: 1e-9,
            tangent: NewtonTangent::Projected,
            line_search: true,
            contact_tolerance: 0.0,
            yields: false,
            must_converge: true,
        }
    }
}

impl NewtonParams {
    /// Parameters for animation: at least one iteration, and more while the residual exceeds a thousandth of the
    /// forces, or velocities in contact change by more than a thousandth of the size of the system per second. The last
    /// iteration is taken even if it has not converged.
    pub(super) fn for_animation() -> Self {
        Self {
            tolerance: 1e-3,
            min_iterations: 1,
            contact_tolerance: 1e-3,
            yields: true,
            must_converge: false,
            tangent: NewtonTangent::ExactFirst,
            ..Self::default()
        }
    }
}
