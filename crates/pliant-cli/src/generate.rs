//! `pliant mesh generate`: one command per generator of scenes.

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use pliant::mesh::{MaterialData, VolumeMesh};
use pliant_scene::registry::{Entry, OptionInfo};
use pliant_scene::scene::quantity::{Density, Pressure};
use pliant_scene::scene::{GENERATORS, GeneratorChoice, GeneratorOptions, part_from_value};
use serde_json::{Map, Value, json};

/// Further names of generators.
const ALIASES: [(&str, &str); 2] = [("box", "block"), ("filled", "solid")];

/// Body to generate, and the file to write.
#[derive(Debug)]
pub struct Body {
    generator: GeneratorChoice,
    pub file: MeshFile,
}

/// Mesh file to write, and the material of the mesh.
#[derive(Debug, Args)]
pub struct MeshFile {
    /// File to write; its extension chooses the format.
    #[arg(short, long)]
    pub output: std::path::PathBuf,
    /// Density, in kg/m³ or with a unit, as in "1.1 g/cm^3".
    #[arg(long, requires_all = ["young", "poisson"])]
    density: Option<Density>,
    /// Young's modulus, in Pa or with a unit, as in "1 MPa".
    #[arg(long, value_name = "PRESSURE", requires_all = ["density", "poisson"])]
    young: Option<Pressure>,
    /// Poisson's ratio.
    #[arg(long, requires_all = ["density", "young"])]
    poisson: Option<f64>,
}

impl MeshFile {
    pub fn has_no_density(&self) -> bool {
        self.density.is_none()
    }

    /// Returns the mesh with the given material in all regions, if there is one.
    pub fn made_of(&self, mesh: VolumeMesh) -> anyhow::Result<VolumeMesh> {
        let (Some(density), Some(young), Some(poisson)) = (self.density, self.young, self.poisson) else {
            return Ok(mesh);
        };
        let mut labels = mesh.labels();
        for region in &mut labels.regions {
            region.material = Some(MaterialData::isotropic("material", density.si, young.si, poisson));
        }
        Ok(mesh.with_labels(labels)?.mesh)
    }
}

impl Body {
    /// Generates the mesh, with the material if one was given, and notes about it.
    pub fn make(&self) -> anyhow::Result<(VolumeMesh, Vec<String>)> {
        let mut notes = Vec::new();
        let mut read = |name: &str| {
            let loaded = pliant::io::read(name).map_err(|error| error.to_string())?;
            notes.extend(loaded.notes);
            Ok(loaded.mesh.into_surface())
        };
        let generated = self.generator.make(&mut read)?;
        notes.extend(generated.notes);
        Ok((self.file.made_of(generated.mesh)?, notes))
    }
}

impl Subcommand for Body {
    fn augment_subcommands(command: Command) -> Command {
        GENERATORS.iter().fold(command, |command, entry| command.subcommand(subcommand(entry)))
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        entry_of(name).is_some()
    }
}

impl FromArgMatches for Body {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let chosen = matches.subcommand().and_then(|(name, matches)| Some((entry_of(name)?, matches)));
        let Some((entry, matches)) = chosen else {
            return Err(Error::raw(ErrorKind::MissingSubcommand, "expected a body to generate"));
        };
        let mut options = Map::new();
        for option in entry.options() {
            let Some(values) = matches.get_many::<String>(&option.name) else { continue };
            let mut values: Vec<Value> = values.map(|text| value(text)).collect();
            let value = if is_list(&option) { Value::Array(values) } else { values.swap_remove(0) };
            options.insert(option.name, value);
        }
        let generator = part_from_value(json!({ entry.name(): options }), "");
        let generator = generator.map_err(|error| Error::raw(ErrorKind::ValueValidation, error.message + "\n"))?;
        Ok(Self { generator, file: MeshFile::from_arg_matches(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

fn entry_of(name: &str) -> Option<&'static Entry<dyn GeneratorOptions>> {
    let current = ALIASES.iter().find(|(_, alias)| *alias == name).map_or(name, |(current, _)| current);
    GENERATORS.get(current)
}

/// Returns the command of a generator, with its options.
fn subcommand(entry: &'static Entry<dyn GeneratorOptions>) -> Command {
    let examples = example_options(entry);
    let about = entry.about();
    let first = about.split(". ").next().unwrap_or_default().trim_end_matches('.').to_owned();
    let command = Command::new(entry.name())
        .allow_negative_numbers(true)
        .visible_aliases(ALIASES.iter().filter(|(name, _)| *name == entry.name()).map(|(_, alias)| *alias));
    let options = entry.options().into_iter();
    let command = options.fold(command, |command, option| {
        let is_main = entry.main_option() == Some(&option.name);
        command.arg(argument(&option, is_main, examples.get(&option.name)))
    });
    // The options of the file have a description, too.
    MeshFile::augment_args(command).about(first).long_about(about)
}

/// Returns the options in the example of a generator: the defaults of those that scenes require.
fn example_options(entry: &Entry<dyn GeneratorOptions>) -> Map<String, Value> {
    let example = entry.example().and_then(|example| toml::from_str::<Value>(&example).ok()).unwrap_or_default();
    example["object"][0]["mesh"][entry.name()].as_object().cloned().unwrap_or_default()
}

/// Returns the argument of an option: by position for the main one, which has no default.
fn argument(option: &OptionInfo, is_main: bool, example: Option<&Value>) -> Arg {
    let arg = Arg::new(option.name.clone())
        .value_name(option.name.to_uppercase())
        .help(option.about.trim_end_matches('.').to_owned());
    if is_main {
        return arg.required(option.is_required);
    }
    let arg = arg.long(option.name.replace('_', "-"));
    let arg = if is_list(option) {
        let count = option.schema["minItems"].as_u64().map(|count| count as usize);
        arg.num_args(count.map_or((1..).into(), clap::builder::ValueRange::from))
    } else {
        arg
    };
    let names: Option<Vec<String>> = option.schema["oneOf"]
        .as_array()
        .and_then(|choices| choices.iter().map(|choice| choice["const"].as_str().map(str::to_owned)).collect());
    let arg = match names {
        Some(names) => arg.value_parser(PossibleValuesParser::new(names)),
        None => arg,
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match option.default.as_ref().or(example) {
        Some(Value::Array(values)) => arg.default_values(values.iter().map(text).collect::<Vec<_>>()),
        Some(value) => arg.default_value(text(value)),
        None => arg.required(option.is_required),
    }
}

fn is_list(option: &OptionInfo) -> bool {
    option.schema["type"] == "array"
}

/// Returns a value as scenes write it: as TOML, or else as text.
fn value(text: &str) -> Value {
    let parsed: Option<Map<String, Value>> = toml::from_str(&format!("value = {text}")).ok();
    // Text with several lines could be more than a value.
    let value = parsed.filter(|table| table.len() == 1).and_then(|mut table| table.remove("value"));
    value.unwrap_or_else(|| text.into())
}
