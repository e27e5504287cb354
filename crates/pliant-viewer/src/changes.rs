//! Changes made by the user, applied to a copy of the scene.

use std::collections::BTreeMap;

use pliant::material::YoungPoisson;
use pliant::math::Vec3;
use pliant_scene::registry::{Entry, OptionInfo, Registered, Tagged, variants};
use pliant_scene::scene::quantity::{self, Density, Pressure, Rate, Time};
use pliant_scene::scene::{
    Fixed, IntegratorChoice, IntegratorOptions, Inverted, Located, MadeOf, MaterialChoice, MaterialSettings, Object,
    ObjectRegion, Scene, Selection, SolverChoice, SolverOptions, Where,
};

use crate::protocol::{Choice, ChoiceOption, Steering};

/// Maximum time step \[s\].
const MAX_STEP: f64 = 1e6;

/// Differences from the scene as it was read. The scene itself is never changed, so that everything can be undone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Changes {
    pub step: Option<f64>,
    pub integrator: Option<IntegratorChoice>,
    pub solver: Option<SolverChoice>,
    pub mass_damping: Option<f64>,
    pub stiffness_damping: Option<f64>,
    pub gravity: Option<Vec3>,
    /// Changes by index of the region among the regions of all bodies.
    pub materials: BTreeMap<usize, MaterialChange>,
}

/// Differences of a material.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MaterialChange {
    pub law: Option<String>,
    pub young: Option<f64>,
    pub poisson: Option<f64>,
    pub inversion: Option<Inverted>,
}

impl Changes {
    /// Applies the settings that a page requests.
    pub fn steer(&mut self, steering: &Steering) -> Result<(), String> {
        let Steering { step, integrator, solver, mass_damping, stiffness_damping, gravity } = steering;
        if let Some(step) = step.map(|step| step.si) {
            if !(step > 0.0 && step <= MAX_STEP) {
                return Err(format!("time step: expected more than 0 and at most {MAX_STEP} s, found {step} s"));
            }
            self.step = Some(step);
        }
        if let Some(name) = integrator {
            self.integrator = Some(named(name)?);
        }
        if let Some(name) = solver {
            self.solver = Some(named(name)?);
        }
        for (own, new, what) in [
            (&mut self.mass_damping, mass_damping.map(|rate| rate.si), "mass-proportional damping: expected 1/s"),
            (
                &mut self.stiffness_damping,
                stiffness_damping.map(|time| time.si),
                "stiffness-proportional damping: expected s",
            ),
        ] {
            if let Some(new) = new {
                if !(new >= 0.0) {
                    return Err(format!("{what}, 0 or more, found {new}"));
                }
                *own = Some(new);
            }
        }
        self.gravity = gravity.as_ref().map(quantity::vec3).or(self.gravity);
        Ok(())
    }

    /// Returns true if the simulation must be rebuilt; other settings can be changed while it runs.
    pub fn needs_new_simulation(&self, before: &Self) -> bool {
        (self.step, &self.integrator, &self.solver) != (before.step, &before.integrator, &before.solver)
    }

    /// Returns the scene with all changes. `made_of` has the materials of the original scene.
    pub fn applied(&self, scene: &Scene, made_of: &[MadeOf]) -> Scene {
        let mut changed = scene.clone();
        if let Some(step) = self.step.filter(|step| *step != scene.simulation.step.si) {
            changed.set_step(step);
        }
        let settings = &mut changed.simulation.value;
        // The choice of the scene keeps its options.
        if let Some(solver) = self.solver.as_ref().filter(|solver| solver.name() != settings.solver.name()) {
            settings.solver = Located::new(solver.clone());
        }
        let integrator = self.integrator.as_ref();
        if let Some(integrator) = integrator.filter(|integrator| integrator.name() != settings.integrator.name()) {
            settings.integrator = Located::new(integrator.clone());
        }
        if let Some(mass) = self.mass_damping {
            changed.damping.value.mass = Rate::new(mass);
        }
        if let Some(stiffness) = self.stiffness_damping {
            changed.damping.value.stiffness = Time::new(stiffness);
        }
        if let Some(gravity) = self.gravity {
            changed.gravity = Some(quantity::vector(gravity));
        }
        let has_law = changed.simulation.integrator.has_law();
        let is_new_integrator = changed.simulation.integrator.name() != scene.simulation.integrator.name();
        for (index, region) in made_of.iter().enumerate() {
            let is_changed = self.materials.get(&index).is_some_and(|change| *change != MaterialChange::default());
            if is_changed || (has_law && is_new_integrator && region.moduli.is_some()) {
                let material = if has_law { self.moduli_only(index, region) } else { self.material(index, region) };
                set_material(&mut changed, made_of, index, material);
            }
        }
        changed
    }

    /// Returns the law of a region, or `None` if the integrator defines it.
    pub fn law(&self, index: usize, region: &MadeOf) -> Option<String> {
        let changed = self.materials.get(&index).and_then(|change| change.law.clone());
        changed.or(region.law.map(str::to_owned))
    }

    /// Returns the moduli of a region.
    pub fn moduli(&self, index: usize, region: &MadeOf) -> Option<YoungPoisson> {
        let YoungPoisson { young, poisson } = region.moduli?;
        let change = self.materials.get(&index);
        let young = change.and_then(|change| change.young).unwrap_or(young);
        Some(YoungPoisson { young, poisson: change.and_then(|change| change.poisson).unwrap_or(poisson) })
    }

    /// Returns the treatment of inverted elements of a region.
    pub fn inversion(&self, index: usize, region: &MadeOf) -> Inverted {
        let changed = self.materials.get(&index).and_then(|change| change.inversion);
        changed.or(region.given.inversion.as_ref().map(|own| own.value)).unwrap_or(Inverted::None)
    }

    /// Returns the material of a region with its changes.
    pub fn material(&self, index: usize, region: &MadeOf) -> MaterialSettings {
        let Some(change) = self.materials.get(&index) else { return region.given.clone() };
        let inversion = self.inversion(index, region);
        let treated = |material: MaterialSettings| match inversion {
            // Without inversion handling, a threshold has no effect.
            Inverted::None => MaterialSettings { inversion: None, inversion_threshold: None, ..material },
            _ => MaterialSettings { inversion: Some(Located::new(inversion)), ..material },
        };
        if *change == (MaterialChange { inversion: change.inversion, ..MaterialChange::default() }) {
            let given = region.given.clone();
            return if change.inversion.is_some() { treated(given) } else { given };
        }
        let law = self.law(index, region);
        let same_law = law.as_deref() == region.law;
        let given = &region.given;
        treated(MaterialSettings {
            law: law.map(Located::new),
            // Only the corotational law has these options.
            tangent: given.tangent.clone().filter(|_| same_law),
            frame: given.frame.clone().filter(|_| same_law),
            inversion_threshold: given.inversion_threshold.clone(),
            compression_resistance: given.compression_resistance.clone(),
            ..self.moduli_only(index, region)
        })
    }

    /// Returns the material of a region without a law, for integrators that define the law.
    fn moduli_only(&self, index: usize, region: &MadeOf) -> MaterialSettings {
        let moduli = self.moduli(index, region);
        MaterialSettings {
            young: moduli.map(|moduli| Located::new(Pressure::new(moduli.young))),
            poisson: moduli.map(|moduli| Located::new(moduli.poisson)),
            density: Some(Located::new(Density::new(region.density))),
            ..MaterialSettings::default()
        }
    }
}

/// Sets the material of a region in a scene.
fn set_material(scene: &mut Scene, made_of: &[MadeOf], index: usize, material: MaterialSettings) {
    let name = &made_of[index].object;
    // Names of objects are unique, and regions are listed object by object.
    let mut names: Vec<&String> = made_of.iter().map(|region| &region.object).collect();
    names.dedup();
    let Some(at) = names.iter().position(|own| *own == name) else { return };
    let regions = made_of.iter().filter(|region| region.object == *name).count();
    let object: &mut Object = &mut scene.objects[at].value;
    let choice = Located::new(MaterialChoice::Here(Box::new(material)));
    let region = &made_of[index].region;
    if let Some(own) = object.regions.iter_mut().rfind(|own| own.name.value == *region) {
        own.value.material = choice;
    } else if regions == 1 {
        object.material = Some(choice);
    } else {
        // First, because the last entry wins where several contain the same elements.
        let own = ObjectRegion { name: Located::new(region.clone()), elements: None, material: choice };
        object.regions.insert(0, Located::new(own));
    }
}

/// Returns a constraint that fixes vertices at their initial positions.
pub fn fix(vertices: Vec<u32>) -> Located<Fixed> {
    Located::new(Fixed {
        object: None,
        vertices: Located::new(Selection::Where(Where::Indices(vertices))),
        axes: Located::new("xyz".into()),
        motion: None,
    })
}

/// Returns the integrators for reduced or for full models.
pub fn integrators(reduced: bool) -> Vec<Choice> {
    choices(
        |integrator: &dyn IntegratorOptions| {
            if reduced { integrator.supports_reduced_models() } else { integrator.supports_models() }
        },
    )
}

/// Returns the treatments of inverted elements.
pub fn inversions() -> Vec<Choice> {
    variants::<Inverted>().into_iter().map(|(name, about)| Choice::new(name, about)).collect()
}

/// Returns the linear solvers; none for reduced models.
pub fn solvers(reduced: bool) -> Vec<Choice> {
    choices(|_: &dyn SolverOptions| !reduced)
}

/// Returns the entries of a registry that need no options and satisfy a condition.
fn choices<T: ?Sized + Registered>(is_possible: impl Fn(&T) -> bool) -> Vec<Choice> {
    let entries = T::registry().iter();
    let offered = entries.filter(|entry| entry.default_options().is_some_and(|options| is_possible(&options)));
    let option = |OptionInfo { name, about, default, .. }| ChoiceOption { name, about, default };
    let choice = |entry: &Entry<T>| Choice {
        options: entry.options().into_iter().map(option).collect(),
        ..Choice::new(entry.name(), entry.about())
    };
    offered.map(choice).collect()
}

/// Returns the entry of a registry with this name and its default options.
fn named<T: ?Sized + Registered>(name: &str) -> Result<Tagged<T>, String> {
    Tagged::named(name).ok_or_else(|| {
        let known: Vec<&str> = T::registry().iter().map(Entry::name).collect();
        format!("{}: unknown name `{name}`, expected one of {}", T::registry().kind(), known.join(", "))
    })
}

/// Returns the name of a variant in scenes.
pub fn name_of(choice: &impl serde::Serialize) -> String {
    serde_json::to_value(choice).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use pliant::files::Disk;
    use pliant_scene::scene::{SceneFile, Source};

    use super::*;

    const SCENE: &str = r#"
[simulation]
step = 0.01
duration = 1
integrator = { newmark = { beta = 0.3, gamma = 0.6 } }
[[object]]
name = "a"
mesh = { box = { size = [1, 1, 1], cells = [2, 2, 2] } }
material = { law = "corotational", tangent = "warped", young = 1e5, poisson = 0.3, density = 1000 }
[[object.region]]
name = "half"
elements = { side = { point = [0.5, 0, 0], normal = [1, 0, 0] } }
material = { coefficients = { mu01 = 1000, mu10 = 2000, v1 = 1e5 }, law = "mooney-rivlin", density = 900, compression_resistance = 10 }
[[object]]
name = "b"
mesh = { box = { size = [1, 1, 1], cells = [1, 1, 1] } }
translate = [3, 0, 0]
network = { stiffness = 100 }
material = { density = 500 }
"#;

    fn file() -> SceneFile {
        SceneFile::parse(Source::new("scene.toml", SCENE)).unwrap()
    }

    fn built(scene: &Scene) -> Vec<MadeOf> {
        // As read from a file, so that the saved scene is the simulated one.
        let file = SceneFile::parse(Source::new("changed.toml", scene.to_toml())).unwrap();
        file.build(&Disk).unwrap().made_of
    }

    #[test]
    fn without_changes_the_scene_stays_as_it_is() {
        let file = file();
        let made_of = built(&file.scene);
        assert_eq!(Changes::default().applied(&file.scene, &made_of), file.scene);
        let laws: Vec<_> = made_of.iter().map(|region| region.law).collect();
        assert_eq!(laws, [Some("corotational"), Some("mooney-rivlin"), None]);
    }

    #[test]
    fn a_change_of_nothing_keeps_coefficients_and_formulas() {
        let file = file();
        let before = built(&file.scene);
        let mut changes = Changes::default();
        (0..2).for_each(|index| drop(changes.materials.insert(index, MaterialChange::default())));
        assert_eq!(changes.applied(&file.scene, &before), file.scene);
        assert_eq!(changes.material(1, &before[1]), before[1].given);
    }

    #[test]
    fn a_material_changes_in_its_region_and_nowhere_else() {
        let file = file();
        let before = built(&file.scene);
        for index in 0..2 {
            let mut changes = Changes::default();
            changes.materials.insert(index, MaterialChange { young: Some(3e4), ..MaterialChange::default() });
            let after = built(&changes.applied(&file.scene, &before));
            for (n, (before, after)) in before.iter().zip(&after).enumerate() {
                assert_eq!((before.law, before.density), (after.law, after.density));
                let (Some(before), Some(after)) = (before.moduli, after.moduli) else { continue };
                let expected = if n == index { 3e4 } else { before.young };
                assert!((after.young / expected - 1.0).abs() < 1e-9, "{n}: {} and {expected}", after.young);
                assert!((after.poisson - before.poisson).abs() < 1e-9, "{} and {}", after.poisson, before.poisson);
            }
            assert_eq!(after[1].given.compression_resistance, before[1].given.compression_resistance);
        }
        let mut changes = Changes::default();
        changes.materials.insert(0, MaterialChange { law: Some("stvk".into()), ..MaterialChange::default() });
        let after = built(&changes.applied(&file.scene, &before));
        // Options of the corotational law are removed with it.
        assert_eq!((after[0].law, &after[0].given.tangent), (Some("stvk"), &None));
    }

    #[test]
    fn options_of_an_integrator_go_with_it_and_come_back_with_it() {
        let file = file();
        let made_of = built(&file.scene);
        let mut changes = Changes::default();
        changes.steer(&Steering { integrator: Some("backward-euler".into()), ..Steering::default() }).unwrap();
        let changed = changes.applied(&file.scene, &made_of);
        assert_eq!(changed.simulation.integrator.name(), "backward-euler");
        built(&changed);
        changes.steer(&Steering { integrator: Some("newmark".into()), ..Steering::default() }).unwrap();
        assert_eq!(changes.applied(&file.scene, &made_of), file.scene);
    }

    #[test]
    fn the_regularized_integrator_takes_only_moduli() {
        let mut file = file();
        file.scene.objects.pop();
        let made_of = built(&file.scene);
        let mut changes = Changes::default();
        changes.steer(&Steering { integrator: Some("regularized".into()), ..Steering::default() }).unwrap();
        let after = built(&changes.applied(&file.scene, &made_of));
        assert!(after.iter().all(|region| region.law.is_none()));
        assert!((after[0].moduli.unwrap().young / 1e5 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_not_possible_is_said_in_words() {
        let mut changes = Changes::default();
        let wrong = [
            Steering { step: Some(Time::new(0.0)), ..Steering::default() },
            Steering { step: Some(Time::new(f64::NAN)), ..Steering::default() },
            Steering { mass_damping: Some(Rate::new(-1.0)), ..Steering::default() },
            Steering { integrator: Some("verlet".into()), ..Steering::default() },
            Steering { solver: Some("magic".into()), ..Steering::default() },
        ];
        for steering in wrong {
            let error = changes.steer(&steering).unwrap_err();
            assert!(error.contains("expected") || error.contains("only"), "{error}");
        }
        assert_eq!(changes, Changes::default());
        assert!(
            integrators(true).iter().any(|integrator| integrator.name == "exact-modes" && !integrator.about.is_empty())
        );
        assert!(!integrators(false).iter().any(|integrator| integrator.name == "exact-modes"));
        assert_eq!(name_of(&Inverted::Extrapolate), "extrapolate");
    }
}
