//! Arguments that follow from registries of the library.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use pliant_scene::output::{AnimationFormat, FORMATS};
use pliant_scene::registry::{Registered, Tagged};
use pliant_scene::scene::{Choice, Entry};

/// Formats to write in addition to those that the scene requests: an option per registered format.
#[derive(Debug)]
pub struct Formats(Vec<&'static AnimationFormat>);

impl Formats {
    /// Returns the formats, in the order of the registry.
    pub fn list(&self) -> Vec<&'static AnimationFormat> {
        self.0.clone()
    }
}

impl FromArgMatches for Formats {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self(FORMATS.iter().filter(|format| matches.get_flag(format.name)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for Formats {
    fn augment_args(command: Command) -> Command {
        command.args(FORMATS.iter().map(option))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn option(format: &AnimationFormat) -> Arg {
    let arg = Arg::new(format.name).long(format.name).help(format.about);
    arg.action(ArgAction::SetTrue).help_heading("Formats")
}

/// Returns a parser of the name of a registered entry, which lists all of them in the help.
pub fn choice<E: Entry + Send + Sync>() -> impl TypedValueParser<Value = Choice<E>> {
    let value = |choice: Choice<E>| PossibleValue::new(choice.name).help(choice.about);
    let parser = PossibleValuesParser::new(E::all().map(value));
    parser.try_map(|name| Choice::named(&name).ok_or_else(|| format!("unknown name `{name}`")))
}

/// Returns a parser of the name of an entry with options, which have their defaults. It lists all entries in the help.
pub fn entry<T: ?Sized + Registered>() -> impl TypedValueParser<Value = Tagged<T>> {
    let entries = T::registry().iter().filter(|entry| entry.default_options().is_some());
    let parser = PossibleValuesParser::new(entries.map(|entry| PossibleValue::new(entry.name()).help(entry.about())));
    parser.try_map(|name| Tagged::named(&name).ok_or_else(|| format!("unknown name `{name}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn every_registered_format_is_an_option_and_every_color_a_value() {
        let mut command = crate::Cli::command();
        for name in ["run", "render", "modes"] {
            let help = command.find_subcommand_mut(name).unwrap().render_long_help().to_string();
            for format in FORMATS.iter() {
                assert!(help.contains(&format!("--{}", format.name)), "{name}: {}", format.name);
            }
        }
        let help = command.find_subcommand_mut("render").unwrap().render_long_help().to_string();
        for field in pliant_scene::output::COLOR_FIELDS.iter() {
            assert!(help.contains(&format!("- {}:", field.name)), "{}: {help}", field.name);
        }
    }
}
