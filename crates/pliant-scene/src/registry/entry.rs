//! Lines of registries whose choices have options.

use std::any::{Any, TypeId};
use std::fmt::{self, Debug};

use dyn_clone::DynClone;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::Value;

use super::{Named, Registry, described};

/// Options of a choice: what the trait of every kind extends. It is implemented for all types that qualify.
pub trait Options: Any + Debug + DynClone + erased_serde::Serialize + Send + Sync {
    /// Returns the options as `Any`, to find out their type.
    fn as_any(&self) -> &dyn Any;
}

impl<O: Any + Debug + DynClone + erased_serde::Serialize + Send + Sync> Options for O {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Trait object of options whose choices are in a registry, such as `dyn IntegratorOptions`.
pub trait Registered: Options {
    /// Name of the type in the schema.
    const KIND: &'static str;
    /// Description of the type in the schema.
    const ABOUT: &'static str;
    /// True if the name alone chooses an entry with its default options. False where text is something else, such as
    /// the name of a file.
    const HAS_NAME_FORM: bool = true;

    /// Returns the registry.
    fn registry() -> &'static Registry<Entry<Self>>;
}

/// Conversion of options into the trait object `T` of their kind.
pub trait Boxed<T: ?Sized>: Options + DeserializeOwned + JsonSchema {
    /// Returns the options as a trait object.
    fn boxed(self) -> Box<T>;
}

/// Choice of a scene: its name, and the type of its options. `T` is the trait object of its kind.
pub struct Entry<T: ?Sized> {
    name: &'static str,
    options: fn() -> TypeId,
    schema: fn(&mut SchemaGenerator) -> Schema,
    /// Parses options.
    deserialize: fn(&mut dyn erased_serde::Deserializer<'_>) -> Result<Box<T>, erased_serde::Error>,
    /// Option whose value may be given instead of the table of options.
    main: Option<&'static str>,
}

/// Option of a choice, as described by its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionInfo {
    /// Key in scenes.
    pub name: String,
    /// Description, one or more sentences.
    pub about: String,
    /// Schema of its values, with their type and unit.
    pub schema: Value,
    /// Default value, or `None` if there is no fixed one.
    pub default: Option<Value>,
    /// True if the option must be given.
    pub is_required: bool,
}

impl OptionInfo {
    /// Returns the options in the table that is its value, or none if its value is no table.
    pub fn options(&self) -> Vec<Self> {
        let alternatives = self.schema["anyOf"].as_array().into_iter().flatten();
        std::iter::once(&self.schema).chain(alternatives).flat_map(properties).collect()
    }
}

/// Returns the properties of a schema.
fn properties(schema: &Value) -> Vec<OptionInfo> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let info = |(name, schema): (&String, &Value)| OptionInfo {
        name: name.clone(),
        about: described(schema["description"].as_str().unwrap_or_default()).0,
        default: schema.get("default").filter(|default| !default.is_null()).cloned(),
        is_required: required.contains(&name.as_str()),
        schema: schema.clone(),
    };
    schema["properties"].as_object().into_iter().flatten().map(info).collect()
}

impl<T: ?Sized> Entry<T> {
    /// Creates an entry with options of type `O`, whose documentation describes it.
    pub const fn new<O: Boxed<T>>(name: &'static str) -> Self {
        Self {
            name,
            options: TypeId::of::<O>,
            schema: O::json_schema,
            deserialize: |deserializer| erased_serde::deserialize::<O>(deserializer).map(O::boxed),
            main: None,
        }
    }

    /// Sets the main option: scenes may give its value instead of the table of options.
    #[must_use]
    pub const fn with_main(mut self, option: &'static str) -> Self {
        self.main = Some(option);
        self
    }

    /// Returns the option whose value may be given instead of the table of options, if there is one.
    pub fn main_option(&self) -> Option<&'static str> {
        self.main
    }

    /// Returns the name in scenes.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description: one or more sentences.
    pub fn about(&self) -> String {
        self.described().0
    }

    /// Returns the example in the documentation of its options, a part of a scene in TOML.
    pub fn example(&self) -> Option<String> {
        self.described().1
    }

    fn described(&self) -> (String, Option<String>) {
        let schema = self.schema(&mut SchemaGenerator::default()).to_value();
        described(schema["description"].as_str().unwrap_or_default())
    }

    /// Returns the options.
    pub fn options(&self) -> Vec<OptionInfo> {
        let settings = SchemaSettings::default().with(|settings| settings.inline_subschemas = true);
        properties(&self.schema(&mut settings.into_generator()).to_value())
    }

    /// Returns the schema of its options.
    pub fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        (self.schema)(generator)
    }

    /// Returns the default options, or `None` if some must be given.
    pub fn default_options(&self) -> Option<Box<T>> {
        let none = MapDeserializer::<_, serde::de::value::Error>::new(std::iter::empty::<(&str, &str)>());
        self.parse(&mut <dyn erased_serde::Deserializer<'_>>::erase(none)).ok()
    }

    /// Parses options.
    pub(super) fn parse(
        &self,
        deserializer: &mut dyn erased_serde::Deserializer<'_>,
    ) -> Result<Box<T>, erased_serde::Error> {
        (self.deserialize)(deserializer)
    }

    /// Returns true if `O` is the type of its options.
    pub(super) fn has_options<O: 'static>(&self) -> bool {
        (self.options)() == TypeId::of::<O>()
    }
}

impl<T: ?Sized + 'static> Named for Entry<T> {
    fn name(&self) -> &'static str {
        self.name
    }
}

impl<T: ?Sized> Debug for Entry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
