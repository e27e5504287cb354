//! Evaluation of a material at many points at a time: the only module in which laws meet vector registers.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use super::inversion::{self, Inversion};
use super::lanes::{PrincipalPoints, Svd, store_tangent};
use super::{
    AnyLaw, CompressionResistant, LANES, Law, LawError, LawVisitor, Points, TANGENT_ENTRIES, YoungPoisson, semidefinite,
};
use crate::math::{Kernel, Simd, dispatch_for};

/// Treatment of the eigenvalues of a tangent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Definiteness {
    /// Exact derivative of the stress, which may be indefinite.
    #[default]
    Exact,
    /// Negative eigenvalues raised to zero, so that a Newton step is a descent direction.
    Projected,
}

/// Elastic material: a law with its inversion handling and compression resistance.
#[derive(Debug, Clone)]
pub struct Material {
    law: Arc<dyn PointLaw>,
    facts: LawFacts,
    inversion: Inversion,
    compression: f64,
}

impl From<AnyLaw> for Material {
    fn from(law: AnyLaw) -> Self {
        struct Wrap;
        impl LawVisitor for Wrap {
            type Output = Material;
            fn visit<L: Law + 'static>(self, law: &L) -> Material {
                Material::new(law.clone())
            }
        }
        law.visit(Wrap)
    }
}

impl Material {
    /// Creates a material from a law of the library or a user-defined one, without further options.
    pub fn new<L: Law + 'static>(law: L) -> Self {
        let facts = LawFacts {
            moduli: YoungPoisson::of_law(&law),
            defined_inverted: L::DEFINED_INVERTED,
            is_small_strain: L::SMALL_STRAIN,
            has_principal_form: law.has_principal_form(),
            stress_is_exact: law.stress_is_exact(),
            tangent_is_exact: law.tangent_is_exact(),
            tangent_is_semidefinite: law.tangent_is_semidefinite(),
        };
        Self { law: Arc::new(law), facts, inversion: Inversion::None, compression: 0.0 }
    }

    /// Sets the inversion handling.
    pub fn with_inversion(self, inversion: Inversion) -> Result<Self, LawError> {
        inversion.check()?;
        if inversion != Inversion::None && !self.facts.has_principal_form {
            return Err(LawError::NoInversion { law: format!("{:?}", self.law) });
        }
        Ok(Self { inversion, ..self })
    }

    /// Maximum compression resistance: a million times that of VegaFEM. Products of much larger values overflow.
    pub const MAX_COMPRESSION_RESISTANCE: f64 = 1e9;

    /// Sets the compression resistance: for `J < 1` the energy gains `−c (J − 1)³ / 2592` with
    /// `c = value · Y / (1 − 2ν)`. VegaFEM's default is 500.
    pub fn with_compression_resistance(self, value: f64) -> Result<Self, LawError> {
        if !(0.0..=Self::MAX_COMPRESSION_RESISTANCE).contains(&value) {
            return Err(LawError::CompressionResistance { value, max: Self::MAX_COMPRESSION_RESISTANCE });
        }
        let YoungPoisson { young, poisson } = self.moduli();
        Ok(Self { compression: value * young / (1.0 - 2.0 * poisson), ..self })
    }

    /// Returns Young's modulus and Poisson's ratio at small strains.
    pub fn moduli(&self) -> YoungPoisson {
        self.facts.moduli
    }

    /// Returns true if the law is one of small strains; see [`Law::SMALL_STRAIN`].
    pub fn is_small_strain(&self) -> bool {
        self.facts.is_small_strain
    }

    /// Returns the material without inversion handling and compression resistance.
    #[must_use]
    pub fn bare(&self) -> Self {
        Self { inversion: Inversion::None, compression: 0.0, ..self.clone() }
    }

    /// Returns the law if it is of this type and has neither inversion handling nor compression resistance.
    pub fn law<L: Law + 'static>(&self) -> Option<&L> {
        let is_bare = self.inversion == Inversion::None && self.compression == 0.0;
        (&*self.law as &dyn Any).downcast_ref().filter(|_| is_bare)
    }

    pub(super) fn law_facts(&self) -> LawFacts {
        self.facts
    }

    /// Returns true if energy and stress are defined for inverted and flat elements, by the law or its inversion
    /// handling.
    pub fn is_defined_inverted(&self) -> bool {
        self.facts.defined_inverted || self.inversion != Inversion::None
    }

    /// Returns true if the law supports inversion handling: it is isotropic and has a principal form.
    pub fn can_handle_inversion(&self) -> bool {
        self.facts.has_principal_form
    }

    /// Returns the inversion handling.
    pub fn inversion(&self) -> Inversion {
        self.inversion
    }

    /// Returns true if a compression resistance is added to the law.
    pub fn resists_compression(&self) -> bool {
        self.compression != 0.0
    }

    /// Computes `ψ(F)` at all points. It is infinite where the law is undefined, so that line searches stay away.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn energies(&self, f: &[Points<9>], energies: &mut [Points<1>]) {
        assert_eq!(f.len(), energies.len());
        self.on_law(Job::Energies { f, energies });
        if !self.is_defined_inverted() {
            for (f, energies) in f.iter().zip(energies.iter_mut()) {
                let volume_ratios = f.determinants();
                for (energy, volume_ratio) in energies.0[0].iter_mut().zip(volume_ratios) {
                    *energy = if volume_ratio > 0.0 { *energy } else { f64::INFINITY };
                }
            }
        }
        for (f, energies) in f.iter().zip(energies) {
            if self.inversion.may_act(f) {
                let svd = Svd::new(f);
                self.on_law(Job::StretchEnergies { sigma: &self.inversion.raised(&svd.sigma), energies });
                if let Inversion::Extrapolate { threshold } = self.inversion {
                    self.on_law(Job::ExtrapolateEnergies { threshold, sigma: &svd.sigma, energies });
                }
            }
        }
    }

    /// Computes `P(F)` at all points.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn stresses(&self, f: &[Points<9>], stresses: &mut [Points<9>]) {
        assert_eq!(f.len(), stresses.len());
        self.on_law(Job::Stresses { f, stresses });
        for (f, stresses) in f.iter().zip(stresses) {
            if self.inversion.may_act(f) {
                let svd = Svd::new(f);
                svd.compose(&self.principal(&svd.sigma), stresses);
            }
        }
    }

    /// Computes `P(F)` and the upper triangle of `A(F)` at all points.
    ///
    /// The stress is bitwise equal to that [without the tangent](Self::stresses).
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn stresses_and_tangents(
        &self,
        definiteness: Definiteness,
        f: &[Points<9>],
        stresses: &mut [Points<9>],
        tangents: &mut [Points<TANGENT_ENTRIES>],
    ) {
        assert!(f.len() == stresses.len() && f.len() == tangents.len());
        let project = definiteness == Definiteness::Projected && !self.tangent_is_semidefinite();
        let project_analytically = project && self.facts.has_principal_form;
        if project_analytically {
            self.on_law(Job::Stresses { f, stresses });
        } else {
            self.on_law(Job::Tangents { f, stresses, tangents });
        }
        for ((f, stresses), tangents) in f.iter().zip(stresses).zip(tangents) {
            let may_be_inverted = self.inversion.may_act(f);
            if may_be_inverted || project_analytically {
                let svd = Svd::new(f);
                let mut principal = self.principal(&svd.sigma);
                if may_be_inverted {
                    svd.compose(&principal, stresses);
                }
                if project {
                    principal.project();
                }
                svd.to_global(&principal, tangents);
            } else if project {
                semidefinite::project(tangents);
            }
        }
    }

    fn tangent_is_semidefinite(&self) -> bool {
        self.compression == 0.0 && self.facts.tangent_is_semidefinite
    }

    /// Computes the derivatives in the singular basis.
    fn principal(&self, sigma: &Points<3>) -> PrincipalPoints {
        let (mut stress, mut tangent) = (Points::ZERO, Points::ZERO);
        self.on_law(Job::Tangents {
            f: &[self.inversion.raised(sigma).diagonal()],
            stresses: std::slice::from_mut(&mut stress),
            tangents: std::slice::from_mut(&mut tangent),
        });
        let mut principal = PrincipalPoints::of_diagonal(&stress, &tangent);
        if let Inversion::Extrapolate { threshold } = self.inversion {
            self.on_law(Job::Extrapolate { threshold, sigma, principal: &mut principal });
        }
        principal
    }

    fn on_law(&self, job: Job<'_>) {
        self.law.run(self.compression, job);
    }
}

/// Operations on a law. Only these are compiled for each law and each register width.
enum Job<'a> {
    Energies {
        f: &'a [Points<9>],
        energies: &'a mut [Points<1>],
    },
    Stresses {
        f: &'a [Points<9>],
        stresses: &'a mut [Points<9>],
    },
    Tangents {
        f: &'a [Points<9>],
        stresses: &'a mut [Points<9>],
        tangents: &'a mut [Points<TANGENT_ENTRIES>],
    },
    StretchEnergies {
        sigma: &'a Points<3>,
        energies: &'a mut Points<1>,
    },
    /// Extrapolation in the lanes whose smallest stretch is below the threshold. These are few and handled one by one.
    Extrapolate {
        threshold: f64,
        sigma: &'a Points<3>,
        principal: &'a mut PrincipalPoints,
    },
    ExtrapolateEnergies {
        threshold: f64,
        sigma: &'a Points<3>,
        energies: &'a mut Points<1>,
    },
}

/// Properties of a law that are known without evaluating it at points.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "independent properties")]
pub(super) struct LawFacts {
    pub moduli: YoungPoisson,
    pub defined_inverted: bool,
    pub is_small_strain: bool,
    pub has_principal_form: bool,
    pub stress_is_exact: bool,
    pub tangent_is_exact: bool,
    pub tangent_is_semidefinite: bool,
}

/// Dynamically dispatched [`Law`].
trait PointLaw: Any + Debug + Send + Sync {
    fn run(&self, compression: f64, job: Job<'_>);
}

impl<L: Law + 'static> PointLaw for L {
    fn run(&self, compression: f64, job: Job<'_>) {
        let law = &CompressionResistant { law: self, c: compression };
        let lanes_below = |threshold: f64, sigma: &Points<3>| {
            // The last stretch is the smallest.
            let last = sigma.0[2];
            let all = *sigma;
            (0..LANES).filter(move |&lane| last[lane] < threshold).map(move |lane| (lane, all.0.map(|of| of[lane])))
        };
        match job {
            Job::Energies { f, energies } => dispatch_for::<L, _>(EnergyKernel { law, f, energies }),
            Job::Stresses { f, stresses } => dispatch_for::<L, _>(StressKernel { law, f, stresses }),
            Job::Tangents { f, stresses, tangents } => {
                dispatch_for::<L, _>(TangentKernel { law, f, stresses, tangents });
            }
            Job::StretchEnergies { sigma, energies } => {
                for lane in 0..LANES {
                    energies.0[0][lane] = law.stretch_energy(sigma.0.map(|of| of[lane]));
                }
            }
            Job::Extrapolate { threshold, sigma, principal } => {
                for (lane, sigma) in lanes_below(threshold, sigma) {
                    principal.set(lane, &inversion::extrapolated(law, sigma, threshold));
                }
            }
            Job::ExtrapolateEnergies { threshold, sigma, energies } => {
                for (lane, sigma) in lanes_below(threshold, sigma) {
                    energies.0[0][lane] = inversion::extrapolated_energy(law, sigma, threshold);
                }
            }
        }
    }
}

struct EnergyKernel<'a, L> {
    law: &'a L,
    f: &'a [Points<9>],
    energies: &'a mut [Points<1>],
}

impl<L: Law> Kernel for EnergyKernel<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for (f, energies) in self.f.iter().zip(self.energies) {
            for lane in (0..LANES).step_by(R::WIDTH) {
                self.law.energy(&f.matrix::<R>(0, lane)).store(&mut energies.0[0][lane..]);
            }
        }
    }
}

struct StressKernel<'a, L> {
    law: &'a L,
    f: &'a [Points<9>],
    stresses: &'a mut [Points<9>],
}

impl<L: Law> Kernel for StressKernel<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for (f, stresses) in self.f.iter().zip(self.stresses) {
            for lane in (0..LANES).step_by(R::WIDTH) {
                stresses.set_matrix(0, lane, &self.law.stress(&f.matrix::<R>(0, lane)));
            }
        }
    }
}

struct TangentKernel<'a, L> {
    law: &'a L,
    f: &'a [Points<9>],
    stresses: &'a mut [Points<9>],
    tangents: &'a mut [Points<TANGENT_ENTRIES>],
}

impl<L: Law> Kernel for TangentKernel<'_, L> {
    type Output = ();

    #[inline(always)]
    fn run<R: Simd>(self) {
        for ((f, stresses), tangents) in self.f.iter().zip(self.stresses).zip(self.tangents) {
            for lane in (0..LANES).step_by(R::WIDTH) {
                let (stress, tangent) = self.law.stress_and_tangent(&f.matrix::<R>(0, lane));
                stresses.set_matrix(0, lane, &stress);
                store_tangent(&tangent, tangents, lane);
            }
        }
    }
}
