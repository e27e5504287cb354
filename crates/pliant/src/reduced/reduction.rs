//! Construction of reduced models.

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
use crate::files::{ReadError, WriteError};
use crate::force::{Conditions, Elastic, Force};
use crate::material::Linear;
use crate::math::Vec3;
use crate::model::{Fixed, Kinematics, Model};
use crate::motion::Motion;

/// Data of a reduced model: a basis and its reduced elastic forces. It can be saved.
#[derive(Debug, Clone)]
pub struct Reduction {
    pub(super) fingerprint: Fingerprint,
    pub(super) basis: Basis,
    pub(super) omega_squared: Vec<f64>,
    pub(super) elasticity: ReducedElasticity,
    pub(super) is_free: bool,
}

/// Fingerprint of the model that a reduction was built for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fingerprint {
    /// Exact checksum of meshes and fixed coordinates.
    pub mesh: u32,
    /// `uᵀMu` \[kg m²\] of a test deformation and its elastic energy \[J\], which depend on the law, its coefficients,
    /// and the kind of mass.
    pub mass: f64,
    pub energy: f64,
}

/// Parameters of a reduction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReductionParams {
    /// Number of basis vectors, `r`.
    pub size: usize,
    /// Number of modes; by default two fifths of `r`, at most 20, and all of `r` for a linear law.
    pub modes: Option<usize>,
    /// Number of modes whose derivatives are included; by default all.
    pub derivatives: Option<usize>,
    /// Displacements of the full model from an earlier simulation, which the basis should represent too.
    pub snapshots: Vec<Vec<f64>>,
    /// True if the basis is built from snapshots only, without modes.
    pub only_snapshots: bool,
    /// Evaluation of elastic forces.
    pub forces: Forces,
}

impl ReductionParams {
    /// Returns parameters for `size` basis vectors from modes and their derivatives.
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

/// Evaluation of reduced elastic forces.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Forces {
    /// Default for the law: a polynomial for St. Venant–Kirchhoff, a diagonal product for a linear law, and cubature
    /// for others.
    #[default]
    Auto,
    /// All elements, for any law: exact but slow.
    Projection,
    /// Cubature: a few weighted elements that represent all, for any law.
    Cubature(CubatureParams),
}

/// Progress of a reduction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// Number of linear systems solved to find modes.
    Modes(usize),
    /// Number of derivatives computed, and total.
    Derivatives(usize, usize),
    /// Number of elements integrated, and total.
    Polynomial(usize, usize),
    /// Number of elements selected, and maximum.
    Cubature(usize, usize),
}

/// Quality of a reduced model.
#[derive(Debug, Clone)]
pub struct ReductionInfo {
    /// Modes, if the basis has any.
    pub modes: Option<Modes>,
    /// Number of modal derivatives in the basis.
    pub derivatives: usize,
    /// Quality of the basis.
    pub basis: BasisInfo,
    /// Quality of the cubature, if one is used.
    pub cubature: Option<CubatureInfo>,
}

/// Error of a reduction.
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
    #[error("{}: not a complete reduced model: {found}", path.display())]
    Broken { path: std::path::PathBuf, found: String },
    #[error(
        "the reduced model is for another mesh or other fixed vertices (fingerprint {found:08x}, expected {expected:08x})"
    )]
    OtherMesh { found: u32, expected: u32 },
    #[error(
        "the reduced model is for other materials or another kind of mass: in a test deformation its elastic energy is {found:.6e} J and uᵀMu is \
         {found_mass:.6e} kg m², expected {expected:.6e} J and {mass:.6e} kg m²"
    )]
    OtherMaterial { found: f64, expected: f64, found_mass: f64, mass: f64 },
    #[error("the reduced model is for a {} body, and this one is not", if *is_free { "free" } else { "fixed" })]
    OtherFixed { is_free: bool },
    #[error("the basis of the reduced model is not orthonormal in the mass of the body: the error is {worst:.1e}")]
    NotOrthonormal { worst: f64 },
    #[error("bodies in contact cannot be reduced yet; use penalty contact, or a full model")]
    Contact,
    #[error("vertex {vertex} is fixed away from rest or moves, which a reduced model does not support; use a handle")]
    MovingFixed { vertex: u32 },
    #[error(
        "the body has {count} rigid degrees of freedom, expected 0 or 6; fix three points that are not on a line, or none"
    )]
    PartlyFixed { count: usize },
    #[error("{bodies} bodies, some of them free; a reduced model needs one body, or bodies that are all fixed")]
    FreeBodies { bodies: usize },
    #[error("a free body has a damping matrix; a reduced model of a free body supports Rayleigh damping only")]
    FreeDamping,
    #[error("the body is not stable at rest along a basis vector: ω² = {square:.6e} 1/s²")]
    Unstable { square: f64 },
    #[error("a cubature of at most 0 elements, expected at least 1")]
    NoElements,
    #[error(
        "the cubature selected no element at the {poses} poses with forces: the law may have no forces at such large deformations"
    )]
    NoCubature { poses: usize },
    #[error("no snapshots to build a basis from")]
    NoSnapshots,
    #[error("body `{body}` has no elasticity and cannot be reduced")]
    NoElasticity { body: String },
    #[error("body `{body}` is in affine motion and cannot be reduced: it has only twelve coordinates")]
    Affine { body: String },
    #[error("{0} basis vectors need {1} coefficients for the polynomial of forces; use fewer, or cubature")]
    TooMany(usize, usize),
    #[error("stopped")]
    Stopped,
}

impl From<ModesError> for ReductionError {
    fn from(error: ModesError) -> Self {
        if error == ModesError::Stopped { Self::Stopped } else { Self::Modes(error) }
    }
}

/// Default maximum number of modes of a basis. There is one derivative per pair of modes, and more modes leave too few
/// basis vectors for derivatives. About two fifths is best for a swinging cantilever.
const MAX_MODES: usize = 20;

/// Maximum number of polynomial coefficients. About five copies exist during construction: four gigabytes.
const MAX_COEFFICIENTS: usize = 100_000_000;

/// Relative tolerance for the values of a fingerprint: rounding differs between machines.
const SAME: f64 = 1e-6;

impl Reduction {
    /// Builds a reduction. `watch` receives the progress, and may stop it.
    pub fn new(
        model: &Model,
        params: &ReductionParams,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(Self, ReductionInfo), ReductionError> {
        let most = model.fixed_mask().iter().filter(|fixed| !**fixed).count();
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
            let usual = if is_linear { params.size } else { (2 * params.size).div_ceil(5).min(MAX_MODES) };
            let count = params.modes.unwrap_or(usual.min(most - inverse.rigid.len()));
            // Checked before the modes are computed, as the derivatives come after them.
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

    /// Builds a reduction from user-defined vectors, after removing their rigid motions.
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

    /// Returns the basis.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// Returns the angular frequencies of the body in the basis, ascending \[rad/s\].
    pub fn omega(&self) -> Vec<f64> {
        self.omega_squared.iter().map(|square| square.sqrt()).collect()
    }

    /// Returns the reduced elastic forces.
    pub fn elasticity(&self) -> &ReducedElasticity {
        &self.elasticity
    }

    /// Returns true if the body is free, so that it has a floating frame.
    pub fn is_free(&self) -> bool {
        self.is_free
    }

    /// Checks that the reduction belongs to this model.
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
        check_fixed(model)?;
        // Further checks of data from a file.
        if self.is_free != is_free(model) {
            return Err(ReductionError::OtherFixed { is_free: self.is_free });
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
        let mut sum = crc32fast::Hasher::new();
        sum.update(&model.fingerprint().to_le_bytes());
        model.fixed_mask().iter().for_each(|fixed| sum.update(&[u8::from(*fixed)]));
        // A smooth deformation with strains of some ten percent everywhere, to distinguish laws.
        let wave = |x: f64| 0.05 * model.extent() * (6.0 * x / model.extent()).sin();
        let u: Vec<f64> =
            model.rest().iter().flat_map(|x| [wave(x.y + 0.3 * x.x), wave(x.z + 0.2 * x.y), wave(x.x)]).collect();
        let energy = model
            .bodies()
            .iter()
            .filter_map(|body| body.elastic())
            .map(|elastic| elastic.energy(&u, &Conditions::START))
            .sum();
        Self { mesh: sum.finalize(), mass: 2.0 * model.mass().kinetic_energy(&u), energy }
    }
}

/// Checks that forces can be evaluated with `size` basis vectors.
fn check_forces(model: &Model, size: usize, forces: &Forces) -> Result<(), ReductionError> {
    if let Some(body) = model.bodies().iter().find(|body| body.elastic().is_none()) {
        return Err(ReductionError::NoElasticity { body: body.name().into() });
    }
    if let Some(body) = model.bodies().iter().find(|body| body.kinematics() == Kinematics::Affine) {
        return Err(ReductionError::Affine { body: body.name().into() });
    }
    check_fixed(model)?;
    if matches!(forces, Forces::Cubature(params) if params.elements == 0) {
        return Err(ReductionError::NoElements);
    }
    if *forces == Forces::Auto && has_law(model, |elastic| stvk_laws(elastic).is_some()) {
        let count = StVkTensors::coefficient_counts(size).map_or(usize::MAX, |counts| counts[2]);
        if count > MAX_COEFFICIENTS {
            return Err(ReductionError::TooMany(size, count));
        }
    }
    Ok(())
}

/// Checks that fixed vertices stay at rest.
fn check_fixed(model: &Model) -> Result<(), ReductionError> {
    let is_at_rest = |fixed: &Fixed| {
        matches!(fixed.motion, Motion::Still) && fixed.offsets.iter().all(|offset| *offset == Vec3::ZERO)
    };
    match model.fixed().iter().find(|fixed| !is_at_rest(fixed)) {
        Some(fixed) => Err(ReductionError::MovingFixed { vertex: fixed.vertices.first().copied().unwrap_or(0) }),
        None => Ok(()),
    }
}

/// Returns true if no vertex is fixed, ignoring vertices without elements, which always are.
fn is_free(model: &Model) -> bool {
    let masses = model.node_masses();
    model.fixed_mask().iter().enumerate().all(|(i, fixed)| !fixed || masses[i / 3] == 0.0)
}

/// Returns true if the body is free, given its number of rigid degrees of freedom.
fn check_freedom(model: &Model, rigid: usize) -> Result<bool, ReductionError> {
    match rigid {
        0 => Ok(false),
        6 if model.bodies().len() == 1 && is_free(model) => Ok(true),
        _ if model.bodies().len() > 1 => Err(ReductionError::FreeBodies { bodies: model.bodies().len() }),
        count => Err(ReductionError::PartlyFixed { count }),
    }
}

fn has_law(model: &Model, is_so: impl Fn(&Elastic) -> bool) -> bool {
    model.bodies().iter().all(|body| body.elastic().is_some_and(&is_so))
}

fn is_linear(elastic: &Elastic) -> bool {
    elastic.materials().iter().all(|material| material.law::<Linear>().is_some())
}
