//! The integrator and its step.

use std::sync::Arc;
use std::time::Instant;

use super::condensed::Condensed;
use super::form::{Breakdown, Solve, Step};
use super::saddle::Saddle;
use super::schur::Schur;
use super::strain::Strains;
use super::{Elimination, Error, Moduli, RegularizedParams, Strain};
use crate::integrator::check::{begin, prescribe};
use crate::integrator::history::finish;
use crate::integrator::vectors::clear_fixed;
use crate::integrator::{StepError, StepInfo, check_finite};
use crate::material::YoungPoisson;
use crate::mesh::ElementKind;
use crate::model::{Assembly, Kinematics, Model, ModelBody};
use crate::solver::{Method, SolveInfo};
use crate::sparse::BlockPattern;
use crate::system::{Combination, DampingKind, Definiteness, State, System};

/// Integrator of Servin, Lacoursière and Melin \[ServinLacoursiereMelin2006\]. It is stable at any stiffness up to
/// rigid bodies and `ν = ½`, with one linear system per step.
///
/// It supplies the elasticity of all bodies without an elastic force
/// ([`Body::without_elasticity`](crate::model::Body)). The strains of each tetrahedron are constraints `φ = √V ε`,
/// regularized by the compliance `α = D⁻¹` (eq. 15). Here `ε = (E₁₁, E₂₂, E₃₃, 2E₁₂, 2E₁₃, 2E₂₃)` is the Green strain
/// and `D` the elasticity matrix. Their energy `½ φᵀDφ` is that of St. Venant and Kirchhoff. With `J = ∂φ/∂q`, damping
/// time `τ` and `γ = 1/(½ + τ/h)`, its eq. 20 is (the paper prints `1/(½ + hβ)`, `β` for `τ`, with other units)
///
/// ```text
/// [ M̃  −Jᵀ     ] [ v₊ ]   [ M v + h f ]
/// [ J   γh⁻²α  ] [ hλ ] = [ −γh⁻¹φ    ],    q₊ = q + h v₊.
/// ```
///
/// `f` is the sum of all other forces, at the positions at the start of the step and the time of its end. They are
/// implicit as in [`LinearizedBackwardEuler`](crate::integrator::LinearizedBackwardEuler): `M̃ = M + hD + h²K` with the
/// damping and stiffness of the model. Springs and obstacles therefore do not limit the step either. Without any,
/// `M̃ = M`.
///
/// For `γ = 1` this is linearized backward Euler without the geometric (stress) stiffness. In a rapidly rotating body
/// that stiffness acts like additional mass, which slows its swing in backward Euler.
///
/// `½ φᵀDφ` is invariant under reflection, so a tetrahedron that large forces have inverted stays inverted.
///
/// It is no [`Integrator`](crate::integrator::Integrator): it solves its own linear systems, whose matrices differ
/// from those of a model in size and sign, and keeps the factor of the constant matrix of linear strain. Its steps
/// need no halving.
#[derive(Debug, Clone)]
pub struct Regularized {
    damping_time: Option<f64>,
    strain: Strain,
    pub(super) strains: Strains,
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
            if body.kinematics() == Kinematics::Affine {
                return Err(Error::Affine { body: body.name().to_owned() });
            }
            let mesh = body.mesh();
            if mesh.kind() != ElementKind::Tet4 {
                return Err(Error::Hexahedra { body: body.name().to_owned() });
            }
            let (moduli, others) = rest.split_at(mesh.regions().len());
            rest = others;
            check_moduli(body, moduli)?;
            names.push((body.name().to_owned(), strains.tets.len()));
            strains.add(mesh, body.nodes().start as u32, moduli, &vertex_mass);
        }
        if names.is_empty() {
            return Err(Error::NoBody);
        }
        let pattern = model.pattern().clone();
        let (multipliers, vertices) = (2 * strains.tets.len(), pattern.node_count());
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

impl Regularized {
    /// Advances the state by `dt` \[s\]. On error the state is unchanged.
    ///
    /// # Panics
    /// If the model is not the one that this integrator was created for.
    pub fn step(&mut self, system: &mut Assembly, state: &mut State, dt: f64) -> Result<StepInfo, StepError> {
        let is_same = Arc::ptr_eq(&self.pattern, system.model().pattern());
        assert!(is_same, "the model that this integrator was created for");
        let vectors = [&mut self.b, &mut self.product, &mut self.q, &mut self.v];
        super::super::check::check_unlimited(system, "the regularized integrator")?;
        let (n, h, time) = (begin(system, state, dt, vectors)?, dt, state.time);
        let gamma = 1.0 / (0.5 + self.damping_time.unwrap_or(2.0 * h) / h);
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
        prescribe(system, state, h, &mut self.q)?;
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
        prescribe(system, state, h, &mut self.q)?;
        check_finite(system, time, "the velocity", &self.v, None)?;
        check_finite(system, time, "the position", &self.q, None)?;
        finish(system, state, (h, 1.0), &mut self.q, &mut self.v);
        Ok(info)
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

/// Returns true if `M̃` depends only on the step and the revision of the model.
fn has_constant_inertia(model: &Model) -> bool {
    model.forces().next().is_none()
        && model.bodies().iter().all(|body| body.elastic().is_none())
        && model.damping_kind() != DampingKind::Varying
}
