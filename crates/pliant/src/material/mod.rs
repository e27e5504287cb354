//! Elastic laws: energy density, stress and tangent as functions of the deformation gradient. One file a law.
//!
//! A law is written over a [`Real`], so that it runs on one element or on several in the lanes of a vector register. It is
//! registered by one line in [`AnyLaw`], and [`verify`](verify::verify) proves its derivatives.

mod by_energy;
mod by_stretches;
mod coefficients;
mod compression;
mod corotational;
mod formula;
mod hooke;
mod inversion;
mod isotropic;
mod lanes;
mod linear;
mod mooney_rivlin;
mod neo_hookean;
mod neo_hookean_bower;
mod points;
mod principal;
mod semidefinite;
mod stable_neo_hookean;
mod stvk;
mod tensor;
pub mod verify;

use std::fmt::Debug;

use thiserror::Error;

use crate::math::matrix::{Matrix9, Vector};
use crate::math::{Matrix, Real, short_number};

pub use by_energy::{ByEnergy, Energy};
pub use by_stretches::{ByStretches, StretchEnergy};
pub use compression::Resisting;
pub use corotational::{Corotational, CorotationalFrame, CorotationalTangent};
pub use formula::{Formula, FormulaError, Spot};
pub use inversion::Inversion;
pub use isotropic::{Invariants, Isotropic, IsotropicEnergy};
pub use lanes::{LANES, Points, TANGENT_ENTRIES, TANGENT_PLACE};
pub use linear::Linear;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use neo_hookean_bower::NeoHookeanBower;
pub use points::{Definiteness, Elasticity};
pub(crate) use principal::clamp_eigenvalues;
pub use principal::{PAIRS, Principal, diagonal};
pub use stable_neo_hookean::StableNeoHookean;
pub use stvk::StVenantKirchhoff;
pub use tensor::Tangent;

/// An elastic law, given by its energy density `ψ(F)` per rest volume, which is zero at rest.
pub trait Law: Debug + Clone + Send + Sync {
    /// The coefficients of the formula, by the names that users give them.
    const COEFFICIENTS: &'static [&'static str] = &["mu", "lambda"];
    /// Choices that only this law has.
    const OPTIONS: &'static [LawOption] = &[];
    /// True if a rotation of the deformed body changes nothing: `ψ(QF) = ψ(F)`.
    const OBJECTIVE: bool = true;
    /// True if a rotation of the undeformed body changes nothing: `ψ(FQ) = ψ(F)`.
    const ISOTROPIC: bool = true;
    /// True if the law is defined for inverted and flat elements, `det F ≤ 0`.
    const DEFINED_INVERTED: bool = false;
    /// True if the law is one of small strains, `ε = ½(F + Fᵀ) − I`, whose stress is that of the body at rest whatever the measure.
    const SMALL_STRAIN: bool = false;

    /// `ψ(F)`, in J/m³.
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R;

    /// The first Piola–Kirchhoff stress `P = ∂ψ/∂F`, in Pa.
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R>;

    /// `A = ∂P/∂F`, in Pa; see [`Matrix9`] for the order of its entries.
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R>;

    /// `P` and `A` together, for laws where they have work in common.
    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        (self.stress(f), self.tangent(f))
    }

    /// `ψ(diag σ)`.
    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        self.energy(&diagonal(sigma))
    }

    /// Whether [`tangent`](Self::tangent) is the derivative of the stress and not an approximation of it.
    fn tangent_is_exact(&self) -> bool {
        true
    }

    /// Whether [`stress`](Self::stress) is the derivative of the energy.
    fn stress_is_exact(&self) -> bool {
        true
    }

    /// Whether the law depends on nothing but the principal stretches, so that it can be computed in the singular basis.
    fn has_principal_form(&self) -> bool {
        Self::OBJECTIVE && Self::ISOTROPIC
    }

    /// Whether [`tangent`](Self::tangent) never has a negative eigenvalue.
    fn tangent_is_semidefinite(&self) -> bool {
        false
    }
}

/// Values of Young's modulus that laws are made of \[Pa\]: others are too far from masses and lengths for double precision.
const YOUNG: std::ops::RangeInclusive<f64> = 1e-9..=1e18;

/// Young's modulus and Poisson's ratio: the small-strain behaviour that every law here can be given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YoungPoisson {
    /// Young's modulus `Y`, in Pa.
    pub young: f64,
    /// Poisson's ratio `ν`.
    pub poisson: f64,
}

impl YoungPoisson {
    /// From Lamé's coefficients: `Y = μ(3λ + 2μ)/(λ + μ)`, `ν = λ / 2(λ + μ)`.
    pub fn from_lame(mu: f64, lambda: f64) -> Self {
        Self { young: mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), poisson: 0.5 * lambda / (lambda + mu) }
    }

    /// The small-strain behaviour of a law, from its tangent at rest.
    pub fn of_law<L: Law>(law: &L) -> Self {
        let a = law.tangent::<f64>(&Matrix::identity());
        Self::from_lame(0.5 * (a[0][0] - a[0][4]), a[0][4])
    }

    /// `μ = Y / 2(1+ν)`.
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// `λ = Yν / (1+ν)(1−2ν)`.
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// `κ = λ + 2μ/3`.
    pub fn bulk(&self) -> f64 {
        self.lambda() + 2.0 / 3.0 * self.mu()
    }
}

/// Why a law could not be made.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum LawError {
    #[error("there is no law `{name}`; there are {known}")]
    Unknown { name: String, known: String },
    #[error("Young's modulus is {}, expected a positive number of Pa from {:e} to {:e}", short_number(*young), YOUNG.start(), YOUNG.end())]
    Young { young: f64 },
    #[error("Poisson's ratio is {poisson}, expected a number above -1 and below 0.5")]
    Poisson { poisson: f64 },
    #[error("coefficient `{coefficient}` is given twice")]
    CoefficientTwice { coefficient: String },
    #[error("the inversion threshold is {threshold}, expected a stretch above 0 and below 1")]
    Threshold { threshold: f64 },
    #[error(
        "the law {law} is not a function of the principal stretches, so that its inversion cannot be handled; leave it at none"
    )]
    NoInversion { law: String },
    #[error("the compression resistance is {value:e}, expected a number from 0 to {max:e}")]
    CompressionResistance { value: f64, max: f64 },
    #[error("the coefficient {coefficient} is {value}, expected a finite number of Pa")]
    Coefficient { coefficient: String, value: f64 },
    #[error("the law `{law}` has no coefficient `{coefficient}`; it has {known}")]
    UnknownCoefficient { law: &'static str, coefficient: String, known: String },
    #[error("the law `{law}` needs its coefficient {coefficient}, in Pa")]
    MissingCoefficient { law: &'static str, coefficient: &'static str },
    #[error(
        "with these coefficients the law `{law}` has Young's modulus {young} Pa and Poisson's ratio {poisson} at small \
         strains, expected one above 0 and one between -1 and 0.5"
    )]
    Unstable { law: &'static str, young: f64, poisson: f64 },
}

/// What can be done with a law of whatever kind; see [`AnyLaw::visit`].
pub trait LawVisitor {
    /// What comes out.
    type Output;
    /// Do it.
    fn visit<L: Law + 'static>(self, law: &L) -> Self::Output;
}

/// What there is to know of a law before choosing it.
#[derive(Debug, Clone, Copy)]
pub struct LawEntry {
    /// The name that [`AnyLaw::new`] takes.
    pub name: &'static str,
    /// Its energy density.
    pub energy: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// The coefficients of the formula; in Pa, as all of them are stiffnesses.
    pub coefficients: &'static [&'static str],
    /// Choices that only this law has.
    pub options: &'static [LawOption],
    /// True if it is defined for inverted and flat elements.
    pub defined_inverted: bool,
}

/// A choice that a law leaves to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LawOption {
    /// What it is called.
    pub name: &'static str,
    /// What can be chosen, the default first.
    pub values: &'static [&'static str],
    /// What it is about.
    pub about: &'static str,
}

macro_rules! laws {
    ($($name:literal $law:ident, $formula:literal, $about:literal;)*) => {
        /// One of the laws, chosen at run time.
        #[derive(Debug, Clone)]
        #[allow(missing_docs, reason = "each is documented as a law")]
        pub enum AnyLaw {
            $($law($law),)*
            Formula(Formula),
        }

        impl AnyLaw {
            /// All laws that can be made from small-strain moduli: all but [`formula`](Self::formula).
            pub const ALL: &'static [LawEntry] = &[$(
                LawEntry {
                    name: $name,
                    energy: $formula,
                    about: $about,
                    coefficients: $law::COEFFICIENTS,
                    options: $law::OPTIONS,
                    defined_inverted: $law::DEFINED_INVERTED,
                },
            )*];

            /// The law called `name` with this small-strain behaviour.
            pub fn new(name: &str, moduli: YoungPoisson) -> Result<Self, LawError> {
                let YoungPoisson { young, poisson } = moduli;
                if !YOUNG.contains(&young) {
                    return Err(LawError::Young { young });
                }
                if !(poisson > -1.0 && poisson < 0.5) {
                    return Err(LawError::Poisson { poisson });
                }
                match name {
                    $($name => Ok(Self::$law($law::from_moduli(moduli))),)*
                    _ => {
                        let known = Self::ALL.iter().map(|law| law.name).collect::<Vec<_>>().join(", ");
                        Err(LawError::Unknown { name: name.into(), known })
                    }
                }
            }

            /// The name under which [`new`](Self::new) makes it, or `formula`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$law(_) => $name,)*
                    Self::Formula(_) => "formula",
                }
            }

            /// Young's modulus and Poisson's ratio at small strains, from the tangent at rest.
            pub fn moduli(&self) -> YoungPoisson {
                struct Moduli;
                impl LawVisitor for Moduli {
                    type Output = YoungPoisson;
                    fn visit<L: Law + 'static>(self, law: &L) -> YoungPoisson {
                        YoungPoisson::of_law(law)
                    }
                }
                self.visit(Moduli)
            }

            /// Do something with the law behind this: the one place where the kind of a law is looked at.
            pub fn visit<V: LawVisitor>(&self, visitor: V) -> V::Output {
                match self {
                    $(Self::$law(law) => visitor.visit(law),)*
                    Self::Formula(law) => visitor.visit(law),
                }
            }
        }
    };
}

laws! {
    "linear" Linear, "μ ε:ε + λ/2 tr²ε,  ε = ½(F + Fᵀ) − I", "small displacements only; cheapest";
    "corotational" Corotational, "μ‖F − R‖² + λ/2 tr²(RᵀF − I),  F = RS", "large rotations, small strains";
    "stvk" StVenantKirchhoff, "μ E:E + λ/2 tr²E,  E = ½(FᵀF − I)", "large rotations, moderate strains; weak in compression";
    "neo-hookean" NeoHookean, "μ/2 (I_C − 3) − μ ln J + λ/2 ln²J", "large strains (Bonet and Wood)";
    "neo-hookean-bower" NeoHookeanBower, "μ/2 (J^(−2/3) I_C − 3) + λ/2 (J − 1)²", "large strains, volume and shape apart (Bower)";
    "stable-neo-hookean" StableNeoHookean, "μ/2 (I_C − 3) + λ/2 (J − α)² − μ/2 ln(I_C + 1)", "large strains, defined when inverted (Smith et al.)";
    "mooney-rivlin" MooneyRivlin, "μ01 (J^(−4/3) I₂ − 3) + μ10 (J^(−2/3) I_C − 3) + v1 (J − 1)²", "rubber: large strains, two shape terms";
}

impl AnyLaw {
    /// The law whose energy density is written as `text`, with these parameters; see [`Formula`].
    pub fn formula(text: &str, parameters: &[(&str, f64)]) -> Result<Self, FormulaError> {
        Formula::new(text, parameters).map(Self::Formula)
    }
}
