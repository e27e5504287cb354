//! Entries of all registries, for programs that list them.

use super::generator::GeneratorOptions;
use super::integrator::IntegratorOptions;
use super::load::LoadOptions;
use super::obstacle::ObstacleShapeOptions;
use super::registered::{Choice, Entry};
use super::solid::SolidOptions;
use super::solver::SolverOptions;
use crate::output::{AnimationFormat, ColorField};
use crate::registry::{self, OptionInfo, Registered};

/// Entry of a registry, as a list shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceInfo {
    /// Name in scenes.
    pub name: String,
    /// Description, one or more sentences.
    pub about: String,
    /// Options.
    pub options: Vec<OptionInfo>,
}

/// Returns the entries of the registry of this kind, such as "integrator", or `None` if there is no such registry.
pub fn choices(kind: &str) -> Option<Vec<ChoiceInfo>> {
    match kind {
        "integrator" => Some(of_options::<dyn IntegratorOptions>()),
        "solver" => Some(of_options::<dyn SolverOptions>()),
        "obstacle shape" => Some(of_options::<dyn ObstacleShapeOptions>()),
        "generator" => Some(of_options::<dyn GeneratorOptions>()),
        "solid" => Some(of_options::<dyn SolidOptions>()),
        "load" => Some(of_options::<dyn LoadOptions>()),
        "animation format" => Some(of_names::<&AnimationFormat>()),
        "color field" => Some(of_names::<Option<&ColorField>>()),
        _ => None,
    }
}

fn of_options<T: ?Sized + Registered>() -> Vec<ChoiceInfo> {
    let info = |entry: &registry::Entry<T>| ChoiceInfo {
        name: entry.name().to_owned(),
        about: entry.about(),
        options: entry.options(),
    };
    T::registry().iter().map(info).collect()
}

fn of_names<E: Entry>() -> Vec<ChoiceInfo> {
    let info = |Choice { name, about, .. }: Choice<E>| ChoiceInfo {
        name: name.to_owned(),
        about: format!("{about}."),
        options: Vec::new(),
    };
    E::all().map(info).collect()
}
