//! Motion of a step, on which friction depends.

/// Motion of a step from its start to the displacements `u` of an evaluation: with the increment `s` from the start,
/// the velocity is `w = d s + v₀`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepMotion<'a> {
    /// Displacements at the start of the step.
    pub start: &'a [f64],
    /// Coefficient `d` \[1/s\].
    pub rate: f64,
    /// Velocity `v₀`.
    pub v_0: &'a [f64],
    /// Displacements at which friction evaluates normal forces, normals and closest points. For these constants it has
    /// a potential; Newton's method updates them until they are those of the solution.
    pub lagged: &'a [f64],
    /// Minimum of the stiffness of friction along the sliding direction, relative to its secant stiffness, from 0 to 1.
    /// The derivative of friction is zero above the speed of full friction: Newton steps with it are exact near the
    /// solution, and overshoot from sliding one way to sliding the other far from it. Those with the secant never do,
    /// but converge linearly.
    pub secant: f64,
}
