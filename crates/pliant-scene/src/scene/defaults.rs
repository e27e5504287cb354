//! Default values for the tables of lists: `[defaults.object]`, and classes of them: `[defaults.NAME.object]`.

use super::include::{check_partial, wrong};
use super::located::MAX_SCENE;
use super::structure::{CLASS, DEFAULTS, Structure, list_keys};
use super::tree::{Content, Entry, Node, NodeError, Table, parse};
use super::{Located, SceneError, Source, hint};

/// Maximum size of what default values add to a scene.
const MAX_ADDED: usize = 4 * MAX_SCENE;

/// Fills the tables of lists with default values, and removes these and the keys that choose them.
pub(super) fn apply(mut scene: Node, source: &Source) -> Result<Node, SceneError> {
    let table = scene.table_mut().map_err(|error| wrong(source, &error))?;
    let defaults = match table.remove(DEFAULTS) {
        None => Table::default(),
        Some(mut defaults) => std::mem::take(defaults.table_mut().map_err(|error| wrong(source, &error))?),
    };
    let classes = Classes { defaults: &defaults, source };
    classes.check()?;
    let mut added = 0;
    for key in list_keys() {
        let Some(list) = table.entries.get_mut(key) else { continue };
        // Other types are reported when the scene is parsed.
        let Content::List(items) = &mut list.node.content else { continue };
        let Some(structure) = Structure::of_file().of_key(key).of_items() else { continue };
        for item in items {
            let Content::Table(item) = &mut item.content else { continue };
            let class = item.remove(CLASS);
            item.processed = &[CLASS];
            let class = class.map(|name| classes.named(&name, key)).transpose()?;
            for defaults in class.into_iter().chain(defaults.get(key)) {
                let Content::Table(defaults) = &defaults.content else { continue };
                fill(item, defaults, structure, &mut added);
                if added > MAX_ADDED {
                    let message = format!("default values add more than {MAX_ADDED} bytes to the scene");
                    return Err(source.error(Some(&list.key), message));
                }
            }
        }
    }
    Ok(scene)
}

/// Adds the keys that a table does not have, also in the tables that it contains.
fn fill(table: &mut Table, defaults: &Table, structure: Structure, added: &mut usize) {
    for (key, usual) in &defaults.entries {
        let inner = structure.of_key(key);
        match (table.entries.get_mut(key), &usual.node.content) {
            (None, _) => {
                *added += key.len() + usual.node.size();
                table.entries.insert(key.clone(), usual.clone());
            }
            (Some(Entry { node: Node { content: Content::Table(own), .. }, .. }), Content::Table(usual))
                if inner.is_table() =>
            {
                fill(own, usual, inner, added);
            }
            _ => {}
        }
    }
}

struct Classes<'a> {
    defaults: &'a Table,
    source: &'a Source,
}

impl<'a> Classes<'a> {
    fn is_list(key: &str) -> bool {
        list_keys().any(|list| list == key)
    }

    /// Returns the names of all classes.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.defaults.entries.keys().map(String::as_str).filter(|key| !Self::is_list(key))
    }

    /// Returns the default values of a class for the tables of a list.
    fn named(&self, name: &Node, list: &str) -> Result<&'a Node, SceneError> {
        let name: Located<String> = parse(name).map_err(|error| wrong(self.source, &error))?;
        let wrong = |message: String| Err(self.source.error(name.span.as_ref(), message));
        let class = self.defaults.get(&name).filter(|_| !Self::is_list(&name));
        let Some(Node { content: Content::Table(class), .. }) = class else {
            let known: Vec<&str> = self.names().collect();
            let hint = hint(&name, known.iter().copied());
            let known = if known.is_empty() { "no classes".into() } else { known.join(", ") };
            return wrong(format!("there is no class `{}`{hint} There are {known}", name.value));
        };
        match class.get(list) {
            Some(defaults) => Ok(defaults),
            None => wrong(format!("the class `{0}` has no `[defaults.{0}.{list}]`", name.value)),
        }
    }

    /// Checks the types of all default values, used or not.
    fn check(&self) -> Result<(), SceneError> {
        for (key, entry) in &self.defaults.entries {
            if Self::is_list(key) {
                self.check_list(key, entry)?;
                continue;
            }
            let class = entry.node.table().map_err(|error| wrong(self.source, &error))?;
            for (list, entry) in &class.entries {
                if !Self::is_list(list) {
                    let nearest =
                        if class.entries.values().all(|entry| entry.node.table().is_ok()) { list } else { key };
                    let message = format!(
                        "there are no default values of `{list}` in the class `{key}`{} Expected tables of {}",
                        hint(nearest, list_keys()),
                        list_keys().collect::<Vec<_>>().join(", ")
                    );
                    return Err(self.source.error(Some(&entry.key), message));
                }
                self.check_list(list, entry)?;
            }
        }
        Ok(())
    }

    /// Checks the types of the default values for the tables of a list.
    fn check_list(&self, list: &str, entry: &Entry) -> Result<(), SceneError> {
        let mut table = entry.node.table().map_err(|error| wrong(self.source, &error))?.clone();
        if let Some(class) = table.entries.get(CLASS) {
            let error = NodeError::new("default values cannot have a class").at(&class.key);
            return Err(wrong(self.source, &error));
        }
        table.is_partial = true;
        let span = entry.node.span.clone();
        let item = Node { span: span.clone(), content: Content::Table(table) };
        let items = Node { span: span.clone(), content: Content::List(vec![item]) };
        let scene =
            Table { is_partial: true, ..Table::of([(list.to_owned(), Entry { key: entry.key.clone(), node: items })]) };
        check_partial(&Node { span, content: Content::Table(scene) }, self.source)
    }
}
