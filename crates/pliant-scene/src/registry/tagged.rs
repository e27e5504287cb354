//! Chosen entries of a registry, with their options.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, MapDeserializer, SeqAccessDeserializer};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::{Boxed, Entry, Registered, described};

/// Entry of a registry with its options, written as `"name"` or `{ name = { option = … } }`. If the entry has a
/// [main option](Entry::with_main), `{ name = value }` gives its value alone.
///
/// It dereferences to the trait object `T` of its kind.
pub struct Tagged<T: ?Sized + 'static> {
    entry: &'static Entry<T>,
    options: Box<T>,
    /// True if it was written with a table of options, and is written so again.
    is_table: bool,
}

impl<T: ?Sized + Registered> Tagged<T> {
    /// Chooses the entry that has this type of options.
    ///
    /// # Panics
    /// If no entry of the registry has this type of options.
    pub fn of<O: Boxed<T>>(options: O) -> Self {
        let entry = T::registry().iter().find(|entry| entry.has_options::<O>());
        let entry = entry.unwrap_or_else(|| panic!("no {} has options {options:?}", T::registry().kind()));
        Self { entry, options: options.boxed(), is_table: false }
    }

    /// Chooses an entry by name, with its default options. Returns `None` if there is no such entry, or if some of its
    /// options must be given.
    pub fn named(name: &str) -> Option<Self> {
        let entry = T::registry().get(name)?;
        Some(Self { entry, options: entry.default_options()?, is_table: false })
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        self.entry.name()
    }

    /// Returns the options if they have this type, else `None`.
    pub fn options<O: 'static>(&self) -> Option<&O> {
        (*self.options).as_any().downcast_ref()
    }

    /// Returns true if the options have this type.
    pub fn is<O: 'static>(&self) -> bool {
        self.options::<O>().is_some()
    }
}

/// Returns options as JSON, to compare them.
fn value_of<T: ?Sized + Registered>(options: &T) -> Value {
    let mut json = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut json);
    erased_serde::serialize(options, &mut serializer).expect("options can be written");
    serde_json::from_slice(&json).expect("written options can be read")
}

impl<T: ?Sized> Deref for Tagged<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.options
    }
}

impl<T: ?Sized> DerefMut for Tagged<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.options
    }
}

impl<T: ?Sized + Registered> Clone for Tagged<T> {
    fn clone(&self) -> Self {
        Self { options: dyn_clone::clone_box(&*self.options), ..*self }
    }
}

impl<T: ?Sized + Registered> PartialEq for Tagged<T> {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && value_of(&*self.options) == value_of(&*other.options)
    }
}

impl<T: ?Sized + Registered> fmt::Debug for Tagged<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}

/// Serializes a trait object of options.
struct Erased<'a, T: ?Sized>(&'a T);

impl<T: ?Sized + Registered> Serialize for Erased<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(self.0, serializer)
    }
}

impl<T: ?Sized + Registered> Tagged<T> {
    /// Returns true if all options have their defaults.
    fn is_default(&self) -> bool {
        self.entry.default_options().is_some_and(|usual| value_of(&*usual) == value_of(&*self.options))
    }

    /// Returns the value of the main option if all others have their defaults, which are not written.
    fn main_value(&self) -> Option<toml::Value> {
        let mut options = toml::Table::try_from(Erased(&*self.options)).ok()?;
        let value = options.remove(self.entry.main_option()?)?;
        options.is_empty().then_some(value)
    }
}

impl<T: ?Sized + Registered> Serialize for Tagged<T> {
    /// Writes the name alone where all options have their defaults, and the main option alone where all others have
    /// theirs, unless it was read from a table of options.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if T::HAS_NAME_FORM && !self.is_table && self.is_default() {
            return serializer.serialize_str(self.name());
        }
        let mut map = serializer.serialize_map(Some(1))?;
        match self.main_value().filter(|_| !self.is_table) {
            Some(value) => map.serialize_entry(self.name(), &value)?,
            None => map.serialize_entry(self.name(), &Erased(&*self.options))?,
        }
        map.end()
    }
}

impl<'de, T: ?Sized + Registered> Deserialize<'de> for Tagged<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaggedVisitor(PhantomData))
    }
}

struct TaggedVisitor<T: ?Sized>(PhantomData<T>);

impl<'de, T: ?Sized + Registered> Visitor<'de> for TaggedVisitor<T> {
    type Value = Tagged<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = T::registry().kind();
        write!(f, "the name of a kind of {kind}, or a table with its options such as {{ name = {{ … }} }}")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Tagged<T>, E> {
        let entry = T::registry().find(name).map_err(E::custom)?;
        let none = MapDeserializer::<_, E>::new(std::iter::empty::<(&str, &str)>());
        Ok(Tagged { is_table: false, ..parsed(entry, none)? })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tagged<T>, A::Error> {
        let kind = T::registry().kind();
        let Some(entry) = map.next_key_seed(EntryName(PhantomData::<T>))? else {
            return Err(Error::custom(format!("an empty table, expected the {kind} as its only key")));
        };
        let name = entry.name();
        let tagged = map.next_value_seed(OptionsOf(entry))?;
        match map.next_entry::<String, IgnoredAny>()? {
            None => Ok(tagged),
            Some((key, _)) => Err(Error::custom(format!(
                "unexpected key `{key}`: expected `{name}` alone; its options are in a separate table, as in {{ {name} = {{ … }} }}"
            ))),
        }
    }
}

/// Finds an entry by its name, so that the error for an unknown one refers to the name.
struct EntryName<T: ?Sized>(PhantomData<T>);

impl<'de, T: ?Sized + Registered> DeserializeSeed<'de> for EntryName<T> {
    type Value = &'static Entry<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        T::registry().find(&String::deserialize(deserializer)?).map_err(Error::custom)
    }
}

/// Parses the table of options of an entry.
fn parsed<'de, T: ?Sized, D: Deserializer<'de>>(
    entry: &'static Entry<T>,
    deserializer: D,
) -> Result<Tagged<T>, D::Error> {
    let options = entry.parse(&mut <dyn erased_serde::Deserializer<'_>>::erase(deserializer));
    // The text of an error of TOML ends in empty lines.
    let options = options.map_err(|error| Error::custom(error.to_string().trim_end()))?;
    Ok(Tagged { entry, options, is_table: true })
}

/// Reads the options of an entry, or the value of its main option.
struct OptionsOf<T: ?Sized + 'static>(&'static Entry<T>);

impl<'de, T: ?Sized + Registered> DeserializeSeed<'de> for OptionsOf<T> {
    type Value = Tagged<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tagged<T>, D::Error> {
        match self.0.main_option() {
            Some(main) => deserializer.deserialize_any(MainOrTable { entry: self.0, main }),
            None => parsed(self.0, deserializer),
        }
    }
}

struct MainOrTable<T: ?Sized + 'static> {
    entry: &'static Entry<T>,
    main: &'static str,
}

impl<T: ?Sized + Registered> MainOrTable<T> {
    fn of_main<E: Error>(&self, value: impl Into<toml::Value>) -> Result<Tagged<T>, E> {
        let table = MapDeserializer::<_, toml::de::Error>::new(std::iter::once((self.main, value.into())));
        let tagged = parsed(self.entry, table).map_err(|error| E::custom(error.message()))?;
        Ok(Tagged { is_table: false, ..tagged })
    }
}

impl<'de, T: ?Sized + Registered> Visitor<'de> for MainOrTable<T> {
    type Value = Tagged<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, main) = (self.entry.name(), self.main);
        write!(f, "a table of options as in {{ {name} = {{ {main} = … }} }}, or the value of `{main}` alone")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Tagged<T>, E> {
        self.of_main(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Tagged<T>, E> {
        self.of_main(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Tagged<T>, E> {
        self.of_main(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Tagged<T>, E> {
        self.of_main(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Tagged<T>, A::Error> {
        self.of_main(toml::Value::deserialize(SeqAccessDeserializer::new(seq))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tagged<T>, A::Error> {
        parsed(self.entry, MapAccessDeserializer::new(map))
    }
}

impl<T: ?Sized + Registered> JsonSchema for Tagged<T> {
    fn schema_name() -> Cow<'static, str> {
        T::KIND.into()
    }

    /// Describes each entry as a table with its name as the only key; entries without required options also as the name
    /// alone, and options also as the value of the main one.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let entry = |entry: &Entry<T>| {
            let name = entry.name();
            // Not `about`, which would describe entries that contain entries without end.
            let mut options = entry.schema(generator).to_value();
            let about = described(options["description"].as_str().unwrap_or_default()).0;
            if let Some(main) = entry.main_option() {
                let value = options["properties"][main].clone();
                let description = options.as_object_mut().and_then(|options| options.remove("description"));
                options = json!({ "description": description, "anyOf": [value, options] });
            }
            let table = json!({
                "type": "object",
                "properties": { name: options },
                "required": [name],
                "additionalProperties": false,
            });
            match entry.default_options().filter(|_| T::HAS_NAME_FORM) {
                Some(_) => json!({
                    "title": name,
                    "description": about,
                    "anyOf": [{ "type": "string", "const": name }, table],
                }),
                None => json!({ "title": name, "description": about, "anyOf": [table] }),
            }
        };
        let entries: Vec<Value> = T::registry().iter().map(entry).collect();
        json_schema!({ "description": T::ABOUT, "oneOf": entries })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Options, Registry};
    use super::*;

    trait Pet: Options {
        fn legs(&self) -> u32;
    }

    static PETS: Registry<Entry<dyn Pet>> =
        Registry::new("pet", &[Entry::new::<Cat>("cat"), Entry::new::<Millipede>("millipede").with_main("legs")]);

    impl Registered for dyn Pet {
        const KIND: &'static str = "Pet";
        const ABOUT: &'static str = "A pet.";

        fn registry() -> &'static Registry<Entry<Self>> {
            &PETS
        }
    }

    impl<P: Pet + serde::de::DeserializeOwned + JsonSchema> Boxed<dyn Pet> for P {
        fn boxed(self) -> Box<dyn Pet> {
            Box::new(self)
        }
    }

    /// A cat.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Cat {
        /// Number of lives.
        #[serde(default = "nine")]
        lives: u32,
    }

    fn nine() -> u32 {
        9
    }

    /// A millipede.
    #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Millipede {
        /// Number of legs.
        legs: u32,
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(with = "Option<String>")]
        name: Option<toml::Spanned<String>>,
    }

    impl Pet for Cat {
        fn legs(&self) -> u32 {
            4
        }
    }

    impl Pet for Millipede {
        fn legs(&self) -> u32 {
            self.legs
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    struct House {
        pet: Tagged<dyn Pet>,
    }

    fn house(text: &str) -> Result<House, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    #[test]
    fn a_choice_is_a_name_or_a_table_with_its_options_or_the_main_one_and_is_written_as_it_was_given() {
        for (text, legs, short) in [
            ("pet = \"cat\"", 4, "pet = \"cat\"\n"),
            ("pet = { cat = {} }", 4, "[pet.cat]\nlives = 9\n"),
            ("[pet.cat]\nlives = 3", 4, "[pet.cat]\nlives = 3\n"),
            ("pet = { millipede = { legs = 750 } }", 750, "[pet.millipede]\nlegs = 750\n"),
            ("pet = { millipede = 750 }", 750, "[pet]\nmillipede = 750\n"),
        ] {
            let house = house(text).unwrap();
            assert_eq!(house.pet.legs(), legs);
            assert_eq!(toml::to_string(&house).unwrap(), short);
            assert_eq!(self::house(short).unwrap(), house);
        }
        assert_eq!(house("pet.cat.lives = 3").unwrap().pet, Tagged::of(Cat { lives: 3 }));
        assert_eq!(Tagged::<dyn Pet>::named("cat"), Some(Tagged::of(Cat { lives: 9 })));
        assert_eq!(Tagged::<dyn Pet>::named("millipede"), None);
        assert!(Tagged::<dyn Pet>::of(Cat { lives: 3 }).is::<Cat>());
        // Choices of programs are written in the shortest form.
        for (pet, short) in [
            (Tagged::of(Cat { lives: 9 }), "pet = \"cat\"\n"),
            (Tagged::of(Cat { lives: 3 }), "[pet.cat]\nlives = 3\n"),
            (Tagged::of(Millipede { legs: 750, name: None }), "[pet]\nmillipede = 750\n"),
            (
                Tagged::of(Millipede { legs: 750, name: Some(toml::Spanned::new(0..0, "Milli".to_owned())) }),
                "[pet.millipede]\nlegs = 750\nname = \"Milli\"\n",
            ),
        ] {
            assert_eq!(toml::to_string(&House { pet }).unwrap(), short);
        }
    }

    #[test]
    fn options_keep_their_locations_in_the_file() {
        let text = "pet = { millipede = { legs = 750, name = \"Milli\" } }";
        let house = house(text).unwrap();
        let name = house.pet.options::<Millipede>().unwrap().name.as_ref().unwrap();
        assert_eq!(&text[name.span()], "\"Milli\"");
    }

    #[test]
    fn errors_list_the_entries_and_name_wrong_options() {
        for (text, message) in [
            ("pet = \"dog\"", "unknown variant `dog`, expected one of `cat`, `millipede`"),
            ("pet = { dog = {} }", "unknown variant `dog`, expected one of `cat`, `millipede`"),
            ("pet = { cat = { tail = 1 } }", "unknown field `tail`, expected `lives`"),
            ("pet = \"millipede\"", "missing field `legs`"),
            ("pet = { millipede = \"many\" }", "invalid type: string \"many\", expected u32"),
            ("pet = { millipede = {} }", "missing field `legs`"),
            ("pet = { millipede = { arms = 2 } }", "unknown field `arms`, expected `legs` or `name`"),
            ("pet = {}", "an empty table, expected the pet as its only key"),
            (
                "pet = { cat = {}, lives = 3 }",
                "unexpected key `lives`: expected `cat` alone; its options are in a separate table, as in { cat = { … } }",
            ),
            (
                "pet = 3",
                "invalid type: integer `3`, expected the name of a kind of pet, or a table with its options such as { name = { … } }",
            ),
        ] {
            assert_eq!(house(text).unwrap_err(), message);
        }
    }

    #[test]
    fn the_schema_has_every_entry_with_its_options_and_their_defaults() {
        let schema = schemars::schema_for!(House).to_value();
        let pets = schema["$defs"]["Pet"]["oneOf"].as_array().unwrap();
        assert_eq!(pets.len(), 2);
        assert_eq!(pets[0]["description"], "A cat.");
        assert_eq!(pets[0]["anyOf"][0]["const"], "cat");
        assert_eq!(pets[0]["anyOf"][1]["properties"]["cat"]["properties"]["lives"]["default"], 9);
        assert_eq!(pets[1]["anyOf"][0]["required"][0], "millipede");
        let millipede = &pets[1]["anyOf"][0]["properties"]["millipede"]["anyOf"];
        assert_eq!((&millipede[0]["type"], &millipede[1]["required"][0]), (&json!("integer"), &json!("legs")));
        let options = PETS.get("cat").unwrap().options();
        assert_eq!((options[0].name.as_str(), options[0].is_required), ("lives", false));
        assert_eq!(options[0].default, Some(json!(9)));
        assert!(PETS.get("millipede").unwrap().options()[0].is_required);
    }
}
