//! Making reduced models.

use std::ops::ControlFlow;

use thiserror::Error;

use super::basis::{Basis, BasisError, BasisInfo, check_count, nearest_placement};
use super::cubature::{self, CubatureInfo, CubatureParams};
use super::derivatives::{derivatives, stvk_laws};
use super::elasticity::ReducedElasticity;
use super::elements::ReducedElements;
use super::inverse::{Inverse, Stiffness};
use super::modes::{Modes, ModesError, ModesParams, check_memory};
use super::stvk::StVkTensors;
use crate::force::{Elastic, Force};
use crate::io::{ReadError, WriteError};
use crate::material::Linear;
use crate::math::Vec3;
use crate::model::{Hold, Model};
use crate::motion::Motion;
use crate::system::System;

/// What makes a reduced model of a model: a basis, and how elastic forces are worked out in it. It can be saved.
#[derive(Debug, Clone)]
pub struct Reduction {
    pub(super) fingerprint: Fingerprint,
    pub(super) basis: Basis,
    pub(super) omega_squared: Vec<f64>,
    pub(super) elasticity: ReducedElasticity,
    pub(super) is_free: bool,
}

/// What tells whether a model is the one that a reduction was made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fingerprint {
    /// Of meshes and of what is held, to the last bit.
    pub mesh: u32,
    /// `uᵀMu` of a certain deformation, in kg m², and its elastic energy in J: others for another law, other coefficients, or another kind of mass.
    pub mass: f64,
    pub energy: f64,
}

/// How a reduced model is made.
#[derive(Debug, Clone, PartialEq)]
pub struct ReductionParams {
    /// How many directions the basis has: `r`.
    pub size: usize,
    /// How many modes it is made of; by default two fifths of `r`, at most 20, and all of `r` for a linear law.
    pub modes: Option<usize>,
    /// Of how many of these the derivatives too; by default of all.
    pub derivatives: Option<usize>,
    /// Displacements of the whole body, of an earlier simulation, that the basis should follow too.
    pub snapshots: Vec<Vec<f64>>,
    /// Whether there are no modes in the basis, only snapshots.
    pub only_snapshots: bool,
    /// How elastic forces are worked out.
    pub forces: Forces,
}

impl ReductionParams {
    /// Modes and their derivatives in `size` directions.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            modes: None,
            derivatives: None,
            snapshots: Vec::new(),
            only_snapshots: false,
            forces: Forces::default(),
        }
    }
}

/// How the elastic forces of a reduced model are worked out.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Forces {
    /// As suits the law: a polynomial for St. Venant–Kirchhoff, a product for a linear law, and cubature for others.
    #[default]
    Auto,
    /// All elements, whatever the law: exact, and as slow as that is.
    Projection,
    /// A few elements that stand for all, whatever the law.
    Cubature(CubatureParams),
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// So many systems have been solved to find modes.
    Modes(usize),
    /// So many derivatives are there, of so many.
    Derivatives(usize, usize),
    /// So many elements are integrated, of so many.
    Polynomial(usize, usize),
    /// So many elements are chosen, of so many at most.
    Cubature(usize, usize),
}

/// How good a reduced model is.
#[derive(Debug, Clone)]
pub struct ReductionInfo {
    /// The modes, if there are any in the basis.
    pub modes: Option<Modes>,
    /// How many derivatives there are in the basis.
    pub derivatives: usize,
    /// The basis.
    pub basis: BasisInfo,
    /// The cubature, if there is one.
    pub cubature: Option<CubatureInfo>,
}

/// Why there is no reduced model.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum ReductionError {
    #[error(transparent)]
    Modes(ModesError),
    #[error(transparent)]
    Basis(#[from] BasisError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Write(#[from] WriteError),
    #[error("{}: this is not a whole reduced model: {found}", path.display())]
    Broken { path: std::path::PathBuf, found: String },
    #[error(
        "the reduced model is of another mesh, or other vertices are held (fingerprint {found:08x}, expected {expected:08x})"
    )]
    OtherMesh { found: u32, expected: u32 },
    #[error(
        "the reduced model is of other materials, or another kind of mass: in a certain deformation its body has an elastic energy of {found:.6e} J and \
         {found_mass:.6e} kg m² of mass, where this one has {expected:.6e} J and {mass:.6e} kg m²"
    )]
    OtherMaterial { found: f64, expected: f64, found_mass: f64, mass: f64 },
    #[error("the reduced model is of a body that is {}, and this one is not", if *is_free { "free" } else { "held" })]
    OtherHolds { is_free: bool },
    #[error("the basis of the reduced model is not orthonormal with the mass of the body: it is off by {worst:.1e}")]
    NotOrthonormal { worst: f64 },
    #[error(
        "vertex {vertex} is held in a place that moves, or is not that at rest; a reduced model has none such. Use a handle"
    )]
    MovingHold { vertex: u32 },
    #[error(
        "the body can still move in {count} ways, expected none or all six: hold three points that are not on a line, or none"
    )]
    HalfHeld { count: usize },
    #[error("{bodies} bodies, of which some are free; a reduced model has one body, or bodies that are all held")]
    FreeBodies { bodies: usize },
    #[error(
        "a body that is free has a damping matrix; a reduced model of one has only the coefficients of mass and stiffness"
    )]
    FreeDamping,
    #[error("the basis has a direction in which the body is not stable at rest: ω² = {square:.6e} 1/s²")]
    Unstable { square: f64 },
    #[error("a cubature of at most 0 elements, expected at least 1")]
    NoElements,
    #[error(
        "no element stands for others at the {poses} poses that have forces: the law may have none where the body is bent so far"
    )]
    NoCubature { poses: usize },
    #[error("no snapshots to make a basis of")]
    NoSnapshots,
    #[error("body `{body}` has no elasticity of its own: it cannot be reduced")]
    NoElasticity { body: String },
    #[error("{0} directions would need {1} numbers for the polynomial of forces; with so many, use cubature")]
    TooMany(usize, usize),
    #[error("stopped")]
    Stopped,
}

impl From<ModesError> for ReductionError {
    fn from(error: ModesError) -> Self {
        if error == ModesError::Stopped { Self::Stopped } else { Self::Modes(error) }
    }
}

/// The most modes that a basis is made of if nothing else is said: there is a derivative for each two. Of a basis of a given size, with more
/// modes too little is left for their derivatives: a swinging cantilever is followed best with about two fifths.
const MOST_MODES: usize = 20;

/// The most numbers that the polynomial may have. While it is made each is there about five times: four gigabytes.
const MOST_COEFFICIENTS: usize = 100_000_000;

/// How near the numbers of a fingerprint must be: other machines round otherwise.
const SAME: f64 = 1e-6;

impl Reduction {
    /// Make one. `watch` is told what is being done, and may break off.
    pub fn new(
        model: &Model,
        params: &ReductionParams,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Self, ReductionInfo), ReductionError> {
        let most = model.held().iter().filter(|held| !**held).count();
        if params.size == 0 || params.size > most {
            return Err(BasisError::Size { asked: params.size, most }.into());
        }
        check_forces(model, params.size, &params.forces)?;
        if let Some(wrong) = params.snapshots.iter().find(|snapshot| snapshot.len() != model.dim()) {
            return Err(BasisError::Length { found: wrong.len(), expected: model.dim() }.into());
        }
        let mut inverse = Inverse::new(model, Stiffness::Elastic)?;
        let is_free = check_freedom(model, inverse.rigid.len())?;
        let (mut vectors, mut modes, mut derivative_count) = (Vec::new(), None, 0);
        if !params.only_snapshots {
            // The derivatives of a linear law are zero.
            let is_linear = has_law(model, is_linear);
            let usual = if is_linear { params.size } else { (2 * params.size).div_ceil(5).min(MOST_MODES) };
            let count = params.modes.unwrap_or(usual.min(most - inverse.rigid.len()));
            // Before the modes are there, as the derivatives come after them.
            let of = if is_linear { 0 } else { params.derivatives.unwrap_or(count).min(count) };
            let total = of.saturating_mul(of.saturating_add(1)) / 2;
            check_count(total.saturating_add(count).saturating_add(params.snapshots.len()))?;
            check_memory(total.saturating_add(count), model.dim())?;
            let find = ModesParams::new(count);
            let found = Modes::with_inverse(&mut inverse, &find, &mut |n| watch(Progress::Modes(n)))?;
            let mut on_derivative = |n| watch(Progress::Derivatives(n, total));
            let curved = derivatives(model, &mut inverse, &found, of, &mut on_derivative)?;
            derivative_count = curved.len();
            vectors = Basis::scaled_by_frequency(model, &found, count, &curved);
            modes = Some(found);
        }
        if params.only_snapshots && params.snapshots.is_empty() {
            return Err(ReductionError::NoSnapshots);
        }
        check_memory(3 * params.snapshots.len() + vectors.len(), model.dim())?;
        let seen = params.snapshots.iter().map(|u| if is_free { nearest_placement(model, u).1 } else { u.clone() });
        let seen: Vec<Vec<f64>> = seen.collect();
        if !seen.is_empty() {
            vectors = Basis::normalized(model, vectors)?;
            vectors.extend(Basis::normalized(model, seen.clone())?);
        }
        inverse.remove_rigid(&mut vectors);
        let (basis, info) = Basis::principal(model, vectors, params.size)?;
        let (reduction, cubature) = Self::of_basis(model, &inverse, basis, &params.forces, &seen, watch)?;
        let info = ReductionInfo { modes, derivatives: derivative_count, basis: info, cubature };
        Ok((reduction, info))
    }

    /// A reduced model in the directions of vectors of the user's own, but for what they have of rigid motions.
    pub fn of_vectors(
        model: &Model,
        vectors: Vec<Vec<f64>>,
        forces: &Forces,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Self, ReductionInfo), ReductionError> {
        let from = vectors.len();
        let inverse = Inverse::new(model, Stiffness::Elastic)?;
        let basis = Basis::beside(model, &inverse.rigid, vectors)?;
        check_forces(model, basis.size(), forces)?;
        let orthonormality = basis.orthonormality(model.mass());
        let info = BasisInfo { from, singular_values: Vec::new(), kept: 1.0, orthonormality };
        let (reduction, cubature) = Self::of_basis(model, &inverse, basis, forces, &[], watch)?;
        Ok((reduction, ReductionInfo { modes: None, derivatives: 0, basis: info, cubature }))
    }

    fn of_basis(
        model: &Model,
        inverse: &Inverse,
        mut basis: Basis,
        forces: &Forces,
        seen: &[Vec<f64>],
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Self, Option<CubatureInfo>), ReductionError> {
        let unstable = |square: f64| ReductionError::Unstable { square };
        let is_free = check_freedom(model, inverse.rigid.len())?;
        let omega_squared = basis.diagonalize(&inverse.stiffness, &inverse.mass).ok_or(unstable(f64::NAN))?;
        if let Some(&square) = omega_squared.iter().find(|square| !(**square > 0.0)) {
            return Err(unstable(square));
        }
        let mut info = None;
        let mut cubature = |model: &Model, params: &CubatureParams| {
            let mut on_element = |chosen| watch(Progress::Cubature(chosen, params.elements));
            let given = seen.iter().map(|u| basis.project(model.mass(), u)).collect();
            let chosen = cubature::choose(model, &basis, &omega_squared, given, params, &mut on_element);
            let (chosen, own) = chosen.ok_or(ReductionError::Stopped)?;
            if chosen.is_empty() {
                return Err(ReductionError::NoCubature { poses: own.poses });
            }
            info = Some(own);
            let elements = ReducedElements::selected(model, &basis, &chosen).expect("elements of the model");
            Ok::<_, ReductionError>(ReducedElasticity::Elements(elements))
        };
        let elasticity = match forces {
            Forces::Projection => ReducedElasticity::Elements(ReducedElements::all(model, &basis)),
            Forces::Cubature(params) => cubature(model, params)?,
            Forces::Auto if has_law(model, is_linear) => ReducedElasticity::Linear(omega_squared.clone()),
            Forces::Auto if has_law(model, |elastic| stvk_laws(elastic).is_some()) => {
                let mut on_element = |done, total| watch(Progress::Polynomial(done, total));
                let tensors = StVkTensors::new(model, &basis, &mut on_element);
                ReducedElasticity::StVk(tensors.ok_or(ReductionError::Stopped)?)
            }
            Forces::Auto => cubature(model, &CubatureParams::default())?,
        };
        let reduction = Self { fingerprint: Fingerprint::of(model), basis, omega_squared, elasticity, is_free };
        Ok((reduction, info))
    }

    /// The basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The angular frequencies that the body has in the basis, ascending, in rad/s.
    pub fn omega(&self) -> Vec<f64> {
        self.omega_squared.iter().map(|square| square.sqrt()).collect()
    }

    /// How elastic forces are worked out.
    pub fn elasticity(&self) -> &ReducedElasticity {
        &self.elasticity
    }

    /// Whether the body is free, so that it has a frame of its own.
    pub fn is_free(&self) -> bool {
        self.is_free
    }

    /// Check that it is of this model.
    pub(super) fn check(&self, model: &Model) -> Result<(), ReductionError> {
        let (found, expected) = (self.fingerprint, Fingerprint::of(model));
        if found.mesh != expected.mesh || self.basis.dim() != model.dim() {
            return Err(ReductionError::OtherMesh { found: found.mesh, expected: expected.mesh });
        }
        let is_same = |a: f64, b: f64| (a - b).abs() <= SAME * a.abs().max(b.abs());
        if !(is_same(found.mass, expected.mass) && is_same(found.energy, expected.energy)) {
            return Err(ReductionError::OtherMaterial {
                found: found.energy,
                expected: expected.energy,
                found_mass: found.mass,
                mass: expected.mass,
            });
        }
        check_holds(model)?;
        // What else the numbers of a file must be.
        if self.is_free != is_unheld(model) {
            return Err(ReductionError::OtherHolds { is_free: self.is_free });
        }
        let worst = self.basis.orthonormality(model.mass());
        if !(worst <= SAME) {
            return Err(ReductionError::NotOrthonormal { worst });
        }
        Ok(())
    }
}

impl Fingerprint {
    pub fn of(model: &Model) -> Self {
        let mut sum = flate2::Crc::new();
        sum.update(&model.fingerprint().to_le_bytes());
        model.held().iter().for_each(|held| sum.update(&[u8::from(*held)]));
        // A smooth deformation that strains all of the body by some ten percent, so that laws differ.
        let wave = |x: f64| 0.05 * model.extent() * (6.0 * x / model.extent()).sin();
        let u: Vec<f64> =
            model.rest().iter().flat_map(|x| [wave(x.y + 0.3 * x.x), wave(x.z + 0.2 * x.y), wave(x.x)]).collect();
        let energy = model.bodies().iter().filter_map(|body| body.elastic()).map(|elastic| elastic.energy(&u)).sum();
        Self { mesh: sum.sum(), mass: 2.0 * model.mass().kinetic_energy(&u), energy }
    }
}

/// Check that forces can be worked out in so many directions.
fn check_forces(model: &Model, size: usize, forces: &Forces) -> Result<(), ReductionError> {
    if let Some(body) = model.bodies().iter().find(|body| body.elastic().is_none()) {
        return Err(ReductionError::NoElasticity { body: body.name().into() });
    }
    check_holds(model)?;
    if matches!(forces, Forces::Cubature(params) if params.elements == 0) {
        return Err(ReductionError::NoElements);
    }
    if *forces == Forces::Auto && has_law(model, |elastic| stvk_laws(elastic).is_some()) {
        let count = StVkTensors::coefficient_counts(size).map_or(usize::MAX, |counts| counts[2]);
        if count > MOST_COEFFICIENTS {
            return Err(ReductionError::TooMany(size, count));
        }
    }
    Ok(())
}

/// Check that what is held stays at rest.
fn check_holds(model: &Model) -> Result<(), ReductionError> {
    let is_at_rest =
        |hold: &Hold| matches!(hold.motion, Motion::Still) && hold.offsets.iter().all(|offset| *offset == Vec3::ZERO);
    match model.holds().iter().find(|hold| !is_at_rest(hold)) {
        Some(hold) => Err(ReductionError::MovingHold { vertex: hold.vertices.first().copied().unwrap_or(0) }),
        None => Ok(()),
    }
}

/// Whether nothing holds a model. Vertices that no element uses, which are always held, do not.
fn is_unheld(model: &Model) -> bool {
    let masses = model.vertex_masses();
    model.held().iter().enumerate().all(|(i, held)| !held || masses[i / 3] == 0.0)
}

/// Whether the body is free, given in how many ways it can move without being deformed.
fn check_freedom(model: &Model, rigid: usize) -> Result<bool, ReductionError> {
    match rigid {
        0 => Ok(false),
        6 if model.bodies().len() == 1 && is_unheld(model) => Ok(true),
        _ if model.bodies().len() > 1 => Err(ReductionError::FreeBodies { bodies: model.bodies().len() }),
        count => Err(ReductionError::HalfHeld { count }),
    }
}

fn has_law(model: &Model, is_so: impl Fn(&Elastic) -> bool) -> bool {
    model.bodies().iter().all(|body| body.elastic().is_some_and(&is_so))
}

fn is_linear(elastic: &Elastic) -> bool {
    elastic.materials().iter().all(|material| material.law::<Linear>().is_some())
}
