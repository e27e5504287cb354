//! Registries: the choices of a scene, each registered by one line.
//!
//! A [`Registry`] is the only list of its kind. Parser, error messages, schema, reference page, options of the command,
//! functions of the Python package and menus of the viewer follow from it. Programs can [`add`](Registry::add) further
//! entries, which scenes then accept like the built-in ones.
//!
//! A choice with options is written as `"name"`, or as `{ name = { option = … } }`. If one of them is the main
//! option of the entry, its value may be given alone: `{ name = value }`. Its options are a struct that implements
//! the trait of its kind, such as [`IntegratorOptions`](crate::scene::IntegratorOptions). [`Tagged`] is the chosen
//! entry with its options, and [`Entry`] a line of the registry.

mod description;
mod entry;
mod tagged;
mod variants;

use std::sync::{PoisonError, RwLock};

use thiserror::Error;

pub use description::described;
pub use entry::{Boxed, Entry, OptionInfo, Options, Registered};
pub use tagged::Tagged;
pub use variants::variants;

/// List of the choices of one kind.
#[derive(Debug)]
pub struct Registry<E: 'static> {
    kind: &'static str,
    built_in: &'static [E],
    added: RwLock<Vec<&'static E>>,
}

/// Item of a [`Registry`].
pub trait Named: 'static {
    /// Returns the name in scenes.
    fn name(&self) -> &'static str;
}

/// Error of adding an entry to a registry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{kind} `{name}`: expected a new name, but an entry has it already")]
pub struct NameTaken {
    /// Kind of the entries.
    pub kind: &'static str,
    /// Name of the entry.
    pub name: &'static str,
}

impl<E: Named> Registry<E> {
    /// Creates a registry with its built-in entries. `kind` is their kind in messages, such as "integrator".
    pub const fn new(kind: &'static str, built_in: &'static [E]) -> Self {
        Self { kind, built_in, added: RwLock::new(Vec::new()) }
    }

    /// Returns the kind of its entries, such as "integrator".
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Iterates over all entries: those built in, and then those of programs, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &'static E> + use<E> {
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner).clone();
        self.built_in.iter().chain(added)
    }

    /// Returns the entry with this name, or `None` if there is no such entry.
    pub fn get(&self, name: &str) -> Option<&'static E> {
        self.iter().find(|entry| entry.name() == name)
    }

    /// Returns the entry with this name. The message for an unknown name is that of `serde`, so that scenes reword it
    /// like others.
    pub fn find(&self, name: &str) -> Result<&'static E, String> {
        self.get(name).ok_or_else(|| {
            let known: Vec<String> = self.iter().map(|entry| format!("`{}`", entry.name())).collect();
            format!("unknown variant `{name}`, expected one of {}", known.join(", "))
        })
    }

    /// Adds an entry for the rest of the program. Scenes that were parsed before are not affected.
    pub fn add(&self, entry: E) -> Result<(), NameTaken> {
        let name = entry.name();
        let mut added = self.added.write().unwrap_or_else(PoisonError::into_inner);
        if self.built_in.iter().chain(added.iter().copied()).any(|known| known.name() == name) {
            return Err(NameTaken { kind: self.kind, name });
        }
        added.push(Box::leak(Box::new(entry)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Fruit(&'static str);

    impl Named for Fruit {
        fn name(&self) -> &'static str {
            self.0
        }
    }

    #[test]
    fn entries_of_programs_follow_the_built_in_ones_and_names_are_unique() {
        static FRUITS: Registry<Fruit> = Registry::new("fruit", &[Fruit("apple"), Fruit("pear")]);
        let error = FRUITS.find("plum").unwrap_err();
        assert_eq!(error, "unknown variant `plum`, expected one of `apple`, `pear`");
        FRUITS.add(Fruit("plum")).unwrap();
        assert_eq!(FRUITS.find("plum").unwrap().0, "plum");
        assert_eq!(FRUITS.iter().map(Named::name).collect::<Vec<_>>(), ["apple", "pear", "plum"]);
        for name in ["pear", "plum"] {
            let error = FRUITS.add(Fruit(name)).unwrap_err();
            assert_eq!(error.to_string(), format!("fruit `{name}`: expected a new name, but an entry has it already"));
        }
    }
}
