//! Laws by name.

use super::moduli::YOUNG;
use super::{Formula, FormulaError, Law, LawError, LawVisitor, YoungPoisson};

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
            $($law(super::$law),)*
            Formula(Formula),
        }

        impl AnyLaw {
            /// All laws that can be built from small-strain moduli, that is, all except [`formula`](Self::formula).
            pub const ALL: &'static [LawEntry] = &[$(
                LawEntry {
                    name: $name,
                    energy: $formula,
                    about: $about,
                    coefficients: super::$law::COEFFICIENTS,
                    options: super::$law::OPTIONS,
                    defined_inverted: super::$law::DEFINED_INVERTED,
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
                    $($name => Ok(Self::$law(super::$law::from_moduli(moduli))),)*
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
