//! Material as regularized constraints on strains (Servin, Lacoursière and Melin 2006).

mod condensed;
mod saddle;
mod schur;
mod strain;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use dyn_clone::DynClone;
use thiserror::Error;

use super::history::finish;
use super::vectors::{clear_fixed, norm, sized};
use super::{StepError, StepInfo, check, check_finite};
use crate::material::YoungPoisson;
use crate::mesh::ElementKind;
use crate::model::{Assembly, Model, ModelBody};
use crate::solver::{Method, NotPositiveDefinite, PatternTooLarge, SolveInfo, SymbolicInfo};
use crate::sparse::{BlockMatrix, BlockPattern};
use crate::system::{Combination, DampingKind, Definiteness, State, System};
use condensed::Condensed;
use saddle::Saddle;
use schur::Schur;
use strain::Strains;

/// Integrator of Servin, Lacoursière and Melin (2006). It is stable at any stiffness up to rigid bodies and `ν = ½`,
/// with one linear system per step.
///
/// It supplies the elasticity of all bodies without an elastic force
/// ([`Body::without_elasticity`](crate::model::Body)). The strains of each tetrahedron are constraints `φ = √V ε`,
/// regularized by the compliance `α = D⁻¹`. Here `ε = (E₁₁, E₂₂, E₃₃, 2E₁₂, 2E₁₃, 2E₂₃)` is the Green strain and `D`
/// the elasticity matrix. Their energy `½ φᵀDφ` is that of St. Venant and Kirchhoff. With `J = ∂φ/∂q`, damping time `τ`
/// and `γ = 1/(½ + τ/h)`,
///
/// ```text
/// [ M̃  −Jᵀ     ] [ v₊ ]   [ M v + h f ]
/// [ J   γh⁻²α  ] [ hλ ] = [ −γh⁻¹φ    ],    q₊ = q + h v₊.
/// ```
///
/// `f` is the sum of all other forces, at the positions at the start of the step and the time of its end. They are
/// implicit as in [`LinearizedBackwardEuler`](super::LinearizedBackwardEuler): `M̃ = M + hD + h²K` with the damping and
/// stiffness of the model. Springs and obstacles therefore do not limit the step either. Without any, `M̃ = M`.
///
/// For `γ = 1` this is linearized backward Euler without the geometric (stress) stiffness. In a rapidly rotating body
/// that stiffness acts like additional mass, which slows its swing in backward Euler.
///
/// `½ φᵀDφ` is invariant under reflection, so a tetrahedron that large forces have inverted stays inverted.
///
/// It is no [`Integrator`](super::Integrator): it solves its own linear systems, whose matrices differ from those of a
/// model in size and sign, and keeps the factor of the constant matrix of linear strain. Its steps need no halving.
#[derive(Debug, Clone)]
pub struct Regularized {
    damping_time: Option<f64>,
    strain: Strain,
    strains: Strains,
    /// Names of the bodies, and the index of their first tetrahedron.
    bodies: Vec<(String, usize)>,
    /// Pattern of the model that the integrator was created for.
    pattern: Arc<BlockPattern>,
    form: Box<dyn Solve>,
    /// Step and model revision of the factor, if it can be reused.
    factored: Option<(f64, u64)>,
    b: Vec<f64>,
    product: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
}

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

/// Parameters of [`Regularized`].
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

/// Error in the construction of [`Regularized`].
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum Error {
    #[error("every body of the model has an elastic force, expected at least one without")]
    NoBody,
    #[error("body `{body}` has hexahedra, expected tetrahedra; split the mesh first")]
    Hexahedra { body: String },
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

impl Regularized {
    /// Creates an integrator for this model.
    pub fn new(model: &Model, params: &RegularizedParams) -> Result<Self, Error> {
        if let Some(value) = params.damping_time.filter(|value| !(*value >= 0.0 && value.is_finite())) {
            return Err(Error::DampingTime { value });
        }
        let vertex_mass = model.mass().row_sums();
        let mut strains = Strains::new(params.strain);
        let mut names = Vec::new();
        let bodies = || model.bodies().iter().filter(|body| body.elastic().is_none());
        let region_count = bodies().map(|body| body.mesh().regions().len()).sum();
        let all_moduli = match &params.moduli {
            Moduli::Uniform(moduli) => vec![*moduli; region_count],
            Moduli::PerRegion(list) => list.clone(),
        };
        if all_moduli.len() != region_count {
            return Err(Error::RegionCount { found: all_moduli.len(), expected: region_count });
        }
        let mut rest = &all_moduli[..];
        for body in bodies() {
            let mesh = body.mesh();
            if mesh.kind() != ElementKind::Tet4 {
                return Err(Error::Hexahedra { body: body.name().to_owned() });
            }
            let (moduli, others) = rest.split_at(mesh.regions().len());
            rest = others;
            check_moduli(body, moduli)?;
            names.push((body.name().to_owned(), strains.tets.len()));
            strains.add(mesh, body.vertices().start as u32, moduli, &vertex_mass);
        }
        if names.is_empty() {
            return Err(Error::NoBody);
        }
        let pattern = model.pattern().clone();
        let (multipliers, vertices) = (2 * strains.tets.len(), pattern.vertex_count());
        if multipliers + vertices > u32::MAX as usize {
            return Err(Error::TooLarge { multipliers, vertices });
        }
        let form: Box<dyn Solve> = match params.form {
            Elimination::Condensed => Box::new(Condensed::new(&strains, &pattern)?),
            Elimination::Schur if pattern.slot_count() != vertices => {
                return Err(Error::Coupled { pairs: pattern.slot_count() - vertices });
            }
            Elimination::Schur => Box::new(Schur::new(&strains, vertices)?),
            Elimination::Saddle => Box::new(Saddle::new(&strains, &pattern)?),
        };
        Ok(Self {
            damping_time: params.damping_time,
            strain: params.strain,
            strains,
            bodies: names,
            pattern,
            form,
            factored: None,
            b: Vec::new(),
            product: Vec::new(),
            q: Vec::new(),
            v: Vec::new(),
        })
    }

    fn error(&self, time: f64, breakdown: Breakdown) -> StepError {
        match breakdown {
            Breakdown::Vertex(source) => StepError::Solve { time, source: source.into() },
            Breakdown::Tet(number) => {
                let (body, first) = &self.bodies[self.bodies.partition_point(|(_, first)| *first <= number) - 1];
                StepError::Strain { time, body: body.clone(), tet: number - first }
            }
        }
    }
}

fn check_moduli(body: &ModelBody, moduli: &[YoungPoisson]) -> Result<(), Error> {
    for (region, &YoungPoisson { young, poisson }) in body.mesh().regions().iter().zip(moduli) {
        let (body, region) = (body.name().to_owned(), region.name.clone());
        if young.is_nan() || young <= 0.0 {
            return Err(Error::Young { body, region, young });
        }
        if !(poisson > -1.0 && poisson <= 0.5) {
            return Err(Error::Poisson { body, region, poisson });
        }
    }
    Ok(())
}

/// Returns the pairs of different vertices of a pattern.
fn pairs(pattern: &BlockPattern) -> impl Iterator<Item = [u32; 2]> + '_ {
    let row = |vertex: usize| pattern.columns()[pattern.row(vertex)][1..].iter();
    (0..pattern.vertex_count()).flat_map(move |vertex| row(vertex).map(move |&other| [vertex as u32, other]))
}

/// Inputs of the systems of a step.
struct Step<'a> {
    strains: &'a Strains,
    /// Matrix `M̃`, with rows and columns of fixed coordinates replaced by those of a diagonal matrix.
    inertia: &'a BlockMatrix,
    fixed: &'a [bool],
    h: f64,
    gamma: f64,
}

impl Step<'_> {
    /// Returns the factor of the compliances.
    fn gamma_per_h2(&self) -> f64 {
        self.gamma / (self.h * self.h)
    }
}

/// Solver for `M̃ v − Jᵀμ = b`, `J v + γh⁻²α μ = r` in the free coordinates.
trait Solve: Debug + DynClone + Send {
    fn factor(&mut self, step: &Step<'_>) -> Result<(), Breakdown>;

    /// Adds the solution to `v`, where `r` is the right-hand side of the strains. Returns an error estimate: the
    /// residual relative to the right-hand side, or the last correction relative to the solution.
    fn solve(&mut self, step: &Step<'_>, b: &[f64], v: &mut [f64]) -> f64;

    fn info(&self) -> &SymbolicInfo;
}

dyn_clone::clone_trait_object!(Solve);

/// Position at which elimination broke down.
#[derive(Debug, Clone, Copy)]
enum Breakdown {
    Vertex(NotPositiveDefinite),
    Tet(usize),
}

/// Iterative refinement, as the condition numbers of stiff systems leave few digits in the first solution.
#[derive(Debug, Clone, Default)]
struct Refinement {
    residual: Vec<f64>,
    correction: Vec<f64>,
}

impl Refinement {
    /// Residuals below this are rounding.
    const TOLERANCE: f64 = 1e-14;

    fn solve(
        &mut self,
        matrix: &BlockMatrix,
        b: &[f64],
        x: &mut [f64],
        mut solve: impl FnMut(&[f64], &mut [f64]),
    ) -> f64 {
        let size = norm(b);
        if size == 0.0 {
            x.fill(0.0);
            return 0.0;
        }
        sized(&mut self.residual, b.len());
        sized(&mut self.correction, b.len());
        let left = |x: &[f64], residual: &mut [f64]| {
            matrix.mul(x, residual);
            residual.iter_mut().zip(b).for_each(|(r, b)| *r = b - *r);
            norm(residual) / size
        };
        solve(b, x);
        let before = left(x, &mut self.residual);
        if before <= Self::TOLERANCE {
            return before;
        }
        solve(&self.residual, &mut self.correction);
        x.iter_mut().zip(&self.correction).for_each(|(x, correction)| *x += correction);
        left(x, &mut self.residual)
    }
}

impl Regularized {
    /// Advances the state by `dt` \[s\]. On error the state is unchanged.
    ///
    /// # Panics
    /// If the model is not the one that this integrator was created for.
    pub fn step(&mut self, system: &mut Assembly, state: &mut State, dt: f64) -> Result<StepInfo, StepError> {
        let is_same = Arc::ptr_eq(&self.pattern, system.model().pattern());
        assert!(is_same, "the model that this integrator was created for");
        check(system, state, dt)?;
        let (n, h, time) = (system.dim(), dt, state.time);
        let gamma = 1.0 / (0.5 + self.damping_time.unwrap_or(2.0 * h) / h);
        for vector in [&mut self.b, &mut self.product, &mut self.q, &mut self.v] {
            sized(vector, n);
        }
        let mut info = StepInfo { newton_iterations: 1, ..StepInfo::default() };
        let start = Instant::now();
        let conditions = state.conditions(h);
        let is_constant = self.strain == Strain::Linear && has_constant_inertia(system.model());
        let is_kept = is_constant && self.factored == Some((h, system.revision()));
        let stiffness = if is_kept {
            system.force(&state.q, &conditions, &mut self.b);
            None
        } else {
            self.factored = None;
            Some(system.linearize(&state.q, &conditions, Definiteness::Projected, &mut self.b).stiffness)
        };
        self.q.copy_from_slice(&state.q);
        system.prescribe(time + h, &mut self.q);
        let mut moves = false;
        for (i, &fixed) in system.fixed_mask().iter().enumerate() {
            self.v[i] = if fixed { (self.q[i] - state.q[i]) / h } else { 0.0 };
            moves |= self.v[i] != 0.0;
        }
        // A constant matrix is needed only for the velocities of fixed coordinates.
        let damping = (moves || !is_kept)
            .then(|| system.damping(&state.q, &conditions, &state.v, stiffness.as_ref(), &mut self.b));
        let inertia = Combination {
            mass: 1.0,
            damping: damping.as_ref().map(|damping| (h, damping)),
            stiffness: stiffness.as_ref().map(|stiffness| (h * h, stiffness)),
        };
        if !is_kept {
            system.assemble(inertia);
        }
        check_finite(system, time, "the force", &self.b, None)?;
        system.mul(Combination::of_mass(1.0), &state.v, &mut self.product);
        for i in 0..n {
            self.b[i] = h.mul_add(self.b[i], self.product[i]);
        }
        // The velocities of fixed coordinates are known and move to the right-hand side.
        if moves {
            system.mul(inertia, &self.v, &mut self.product);
            self.b.iter_mut().zip(&self.product).for_each(|(b, known)| *b -= known);
        }
        clear_fixed(system.fixed_mask(), &mut self.b);
        self.strains.set(&state.q, gamma / h, moves.then_some(&self.v));
        stiffness.into_iter().for_each(|stiffness| system.recycle_stiffness(stiffness));
        damping.into_iter().for_each(|damping| system.recycle_damping(damping));
        info.assembling = start.elapsed();
        let start = Instant::now();
        let step =
            Step { strains: &self.strains, inertia: &system.matrix().matrix, fixed: system.fixed_mask(), h, gamma };
        if !is_kept {
            self.form.factor(&step).map_err(|breakdown| self.error(time, breakdown))?;
            self.factored = is_constant.then_some((h, system.revision()));
        }
        let residual = self.form.solve(&step, &self.b, &mut self.v);
        let size = self.form.info();
        info.count(SolveInfo {
            method: Method::Direct,
            iterations: 0,
            factorizations: usize::from(!is_kept),
            residual,
            fill: size.fill,
            memory: 8 * size.memory,
            ..SolveInfo::default()
        });
        info.solving = start.elapsed();
        for i in 0..n {
            self.q[i] = h.mul_add(self.v[i], state.q[i]);
        }
        system.prescribe(time + h, &mut self.q);
        check_finite(system, time, "the velocity", &self.v, None)?;
        check_finite(system, time, "the position", &self.q, None)?;
        finish(system, state, h, &mut self.q, &mut self.v);
        Ok(info)
    }
}

/// Returns true if `M̃` depends only on the step and the revision of the model.
fn has_constant_inertia(model: &Model) -> bool {
    model.forces().next().is_none()
        && model.bodies().iter().all(|body| body.elastic().is_none())
        && model.damping_kind() != DampingKind::Varying
}
