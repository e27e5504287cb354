//! Elastic laws: energy density, stress and tangent as functions of the deformation gradient. One file per law.
//!
//! A law is generic over a [`Real`], so that it runs on one element or on several in the lanes of a vector register.
//! One line in [`AnyLaw`] registers it, and [`verify`](verify::verify) checks its derivatives.

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
pub use compression::CompressionResistant;
pub use corotational::{Corotational, CorotationalFrame, CorotationalTangent};
pub use formula::{Formula, FormulaError, TextPosition};
pub use inversion::Inversion;
pub use isotropic::{Invariants, Isotropic, IsotropicEnergy};
pub use lanes::{LANES, Points, TANGENT_ENTRIES, TANGENT_INDEX};
pub use linear::Linear;
pub use mooney_rivlin::MooneyRivlin;
pub use neo_hookean::NeoHookean;
pub use neo_hookean_bower::NeoHookeanBower;
pub use points::{Definiteness, Material};
pub(crate) use principal::clamp_eigenvalues;
pub use principal::{PAIRS, Principal, diagonal};
pub use stable_neo_hookean::StableNeoHookean;
pub use stvk::StVenantKirchhoff;
pub use tensor::Tangent;

/// Elastic law, defined by its energy density `ψ(F)` per rest volume, which is zero at rest.
pub trait Law: Debug + Clone + Send + Sync {
    /// Names of the coefficients of the formula.
    const COEFFICIENTS: &'static [&'static str] = &["mu", "lambda"];
    /// Options specific to this law.
    const OPTIONS: &'static [LawOption] = &[];
    /// True if the law is objective: `ψ(QF) = ψ(F)` for every rotation of the deformed body.
    const OBJECTIVE: bool = true;
    /// True if the law is isotropic: `ψ(FQ) = ψ(F)` for every rotation of the undeformed body.
    const ISOTROPIC: bool = true;
    /// True if the law is defined for inverted and flat elements, `det F ≤ 0`.
    const DEFINED_INVERTED: bool = false;
    /// True if the law is one of small strains, `ε = ½(F + Fᵀ) − I`, for which all stress measures coincide.
    const SMALL_STRAIN: bool = false;

    /// Returns the energy density `ψ(F)` \[J/m³\].
    fn energy<R: Real>(&self, f: &Matrix<R>) -> R;

    /// Returns the first Piola–Kirchhoff stress `P = ∂ψ/∂F` \[Pa\].
    fn stress<R: Real>(&self, f: &Matrix<R>) -> Matrix<R>;

    /// Returns the tangent `A = ∂P/∂F` \[Pa\]. See [`Matrix9`] for the order of its entries.
    fn tangent<R: Real>(&self, f: &Matrix<R>) -> Matrix9<R>;

    /// Returns `P` and `A` together, for laws in which they share work.
    #[inline(always)]
    fn stress_and_tangent<R: Real>(&self, f: &Matrix<R>) -> (Matrix<R>, Matrix9<R>) {
        (self.stress(f), self.tangent(f))
    }

    /// Returns `ψ(diag σ)`.
    #[inline(always)]
    fn stretch_energy<R: Real>(&self, sigma: Vector<R>) -> R {
        self.energy(&diagonal(sigma))
    }

    /// Returns true if [`tangent`](Self::tangent) is the exact derivative of the stress, not an approximation.
    fn tangent_is_exact(&self) -> bool {
        true
    }

    /// Returns true if [`stress`](Self::stress) is the derivative of the energy.
    fn stress_is_exact(&self) -> bool {
        true
    }

    /// Returns true if the law depends on the principal stretches only, so that it can be evaluated in the singular
    /// basis.
    fn has_principal_form(&self) -> bool {
        Self::OBJECTIVE && Self::ISOTROPIC
    }

    /// Returns true if [`tangent`](Self::tangent) is always positive semi-definite.
    fn tangent_is_semidefinite(&self) -> bool {
        false
    }
}

/// Accepted range of Young's modulus \[Pa\]. Values outside it are too far from masses and lengths for double
/// precision.
const YOUNG: std::ops::RangeInclusive<f64> = 1e-9..=1e18;

/// Young's modulus and Poisson's ratio: the small-strain moduli from which every law here can be built.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct YoungPoisson {
    /// Young's modulus `Y` \[Pa\].
    pub young: f64,
    /// Poisson's ratio `ν`.
    pub poisson: f64,
}

impl YoungPoisson {
    /// Converts Lamé's coefficients: `Y = μ(3λ + 2μ)/(λ + μ)`, `ν = λ / 2(λ + μ)`.
    pub fn from_lame(mu: f64, lambda: f64) -> Self {
        Self { young: mu * (3.0 * lambda + 2.0 * mu) / (lambda + mu), poisson: 0.5 * lambda / (lambda + mu) }
    }

    /// Computes the small-strain moduli of a law from its tangent at rest.
    pub fn of_law<L: Law>(law: &L) -> Self {
        let a = law.tangent::<f64>(&Matrix::identity());
        Self::from_lame(0.5 * (a[0][0] - a[0][4]), a[0][4])
    }

    /// Returns the shear modulus `μ = Y / 2(1+ν)` \[Pa\].
    pub fn mu(&self) -> f64 {
        self.young / (2.0 * (1.0 + self.poisson))
    }

    /// Returns Lamé's first coefficient `λ = Yν / (1+ν)(1−2ν)` \[Pa\].
    pub fn lambda(&self) -> f64 {
        self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
    }

    /// Returns the bulk modulus `κ = λ + 2μ/3` \[Pa\].
    pub fn bulk(&self) -> f64 {
        self.lambda() + 2.0 / 3.0 * self.mu()
    }
}

/// Error in the definition of a law.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum LawError {
    #[error("unknown law `{name}`; expected one of {known}")]
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
        "the law {law} is not a function of the principal stretches, as inversion handling requires; set inversion to none"
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

/// Operation on a law of any kind; see [`AnyLaw::visit`].
pub trait LawVisitor {
    /// Result of the operation.
    type Output;
    /// Performs the operation.
    fn visit<L: Law + 'static>(self, law: &L) -> Self::Output;
}

/// Description of a law in the catalog.
#[derive(Debug, Clone, Copy)]
pub struct LawEntry {
    /// Name accepted by [`AnyLaw::new`].
    pub name: &'static str,
    /// Energy density.
    pub energy: &'static str,
    /// Typical use.
    pub about: &'static str,
    /// Coefficients of the formula \[Pa\].
    pub coefficients: &'static [&'static str],
    /// Options specific to this law.
    pub options: &'static [LawOption],
    /// True if the law is defined for inverted and flat elements.
    pub defined_inverted: bool,
}

/// Option of a law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LawOption {
    /// Name of the option.
    pub name: &'static str,
    /// Accepted values, the default first.
    pub values: &'static [&'static str],
    /// Description of the values.
    pub about: &'static str,
}

macro_rules! laws {
    ($($name:literal $law:ident, $formula:literal, $about:literal;)*) => {
        /// Law chosen at run time.
        #[derive(Debug, Clone)]
        #[allow(missing_docs, reason = "each is documented as a law")]
        pub enum AnyLaw {
            $($law($law),)*
            Formula(Formula),
        }

        impl AnyLaw {
            /// All laws that can be built from small-strain moduli, that is, all except [`formula`](Self::formula).
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

            /// Creates the law called `name` with these small-strain moduli.
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

            /// Returns the name accepted by [`new`](Self::new), or `formula`.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$law(_) => $name,)*
                    Self::Formula(_) => "formula",
                }
            }

            /// Returns Young's modulus and Poisson's ratio at small strains, from the tangent at rest.
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

            /// Applies a visitor to the concrete law. All dispatch over the kinds of laws goes through here.
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
    "stvk" StVenantKirchhoff, "μ E:E + λ/2 tr²E,  E = ½(FᵀF − I)", "large rotations, moderate strains; softens in compression";
    "neo-hookean" NeoHookean, "μ/2 (I_C − 3) − μ ln J + λ/2 ln²J", "large strains (Bonet and Wood)";
    "neo-hookean-bower" NeoHookeanBower, "μ/2 (J^(−2/3) I_C − 3) + λ/2 (J − 1)²", "large strains, volumetric–deviatoric split (Bower)";
    "stable-neo-hookean" StableNeoHookean, "μ/2 (I_C − 3) + λ/2 (J − α)² − μ/2 ln(I_C + 1)", "large strains, defined when inverted (Smith et al.)";
    "mooney-rivlin" MooneyRivlin, "μ01 (J^(−4/3) I₂ − 3) + μ10 (J^(−2/3) I_C − 3) + v1 (J − 1)²", "rubber: large strains, two deviatoric terms";
}

impl AnyLaw {
    /// Creates the law whose energy density is written as `text`, with these parameters; see [`Formula`].
    pub fn formula(text: &str, parameters: &[(&str, f64)]) -> Result<Self, FormulaError> {
        Formula::new(text, parameters).map(Self::Formula)
    }
}
