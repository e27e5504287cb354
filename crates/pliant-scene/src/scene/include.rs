//! Scene files that include others: `include = ["materials.toml"]`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use pliant::files::Files;

use super::located::{Included, MAX_SCENE, read_text};
use super::structure::{DEFAULTS, FILE_KEYS, Structure, list_keys};
use super::tree::{Content, Entry, Node, NodeError, Span, Table, parse};
use super::{FormatVersion, Located, Scene, SceneError, Source, explained};

/// Maximum number of files that a scene consists of.
const MAX_FILES: usize = 100;

/// Maximum depth to which included files include others.
const MAX_DEPTH: usize = 8;

/// Reads all files that a scene includes, and merges them. `root` is the content of the file at `source`, to which the
/// included texts are added. Without `files`, an `include` is an error.
pub(super) fn merge_files(files: Option<&dyn Files>, source: &mut Source, root: Node) -> Result<Node, SceneError> {
    let span = root.span.clone();
    let mut loader = Loader { files, size: source.text.len(), source, loaded: Vec::new(), known: BTreeMap::new() };
    let folder = PathBuf::new();
    let path = loader.source.path.clone();
    loader.visit(root, &folder, &mut vec![Ancestor { id: identity(&path), path }])?;
    let loaded = std::mem::take(&mut loader.loaded);
    let mut merged = match <[File; 1]>::try_from(loaded) {
        Ok([only]) => only.node,
        Err(loaded) => {
            Merge { source, files: &loaded, values: BTreeMap::new(), lists: BTreeMap::new(), tables: BTreeMap::new() }
                .run(span)?
        }
    };
    merged.table_mut().map_err(|error| wrong(source, &error))?.processed = FILE_KEYS;
    Ok(merged)
}

/// Returns an error of parsing a value, in terms of scenes.
pub(super) fn wrong(source: &Source, error: &NodeError) -> SceneError {
    source.error(error.span.as_ref(), explained(&error.message))
}

/// File of a scene, with the indices of all files that it includes, directly or not.
struct File {
    node: Node,
    includes: BTreeSet<usize>,
}

/// File that is being read, because it includes the next one.
struct Ancestor {
    id: PathBuf,
    path: PathBuf,
}

struct Loader<'a> {
    files: Option<&'a dyn Files>,
    source: &'a mut Source,
    /// All files, each after those that it includes.
    loaded: Vec<File>,
    /// Index of each included file.
    known: BTreeMap<PathBuf, usize>,
    /// Total length of all files.
    size: usize,
}

impl Loader<'_> {
    /// Adds a file after those that it includes, and returns its index. `folder` is relative to that of the scene.
    fn visit(&mut self, mut node: Node, folder: &Path, chain: &mut Vec<Ancestor>) -> Result<usize, SceneError> {
        let table = node.table_mut().map_err(|error| wrong(self.source, &error))?;
        // A file of another version may have other keys: this is checked first.
        if let Some(version) = table.get("version") {
            parse::<FormatVersion>(version).map_err(|error| wrong(self.source, &error))?;
        }
        if chain.len() > 1 {
            table.remove("version");
        }
        let mut includes = BTreeSet::new();
        if let Some(list) = table.remove("include") {
            let names: Vec<Located<String>> = parse(&list).map_err(|error| wrong(self.source, &error))?;
            for name in names {
                let file = self.include(&name, folder, chain)?;
                includes.extend(self.loaded[file].includes.iter().copied().chain([file]));
            }
        }
        self.loaded.push(File { node, includes });
        Ok(self.loaded.len() - 1)
    }

    fn include(
        &mut self,
        name: &Located<String>,
        folder: &Path,
        chain: &mut Vec<Ancestor>,
    ) -> Result<usize, SceneError> {
        let relative = folder.join(&name.value);
        let path = self.source.folder.join(&relative);
        let id = identity(&path);
        let list = |chain: &[Ancestor]| {
            let names = chain.iter().map(|file| file.path.display().to_string()).chain([path.display().to_string()]);
            // A scene of a program has no path.
            names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" → ")
        };
        let wrong = |source: &Source, message: String| Err(source.error(name.span.as_ref(), message));
        if let Some(start) = chain.iter().position(|file| file.id == id) {
            return wrong(self.source, format!("a file includes itself: {}", list(&chain[start..])));
        }
        if let Some(file) = self.known.get(&id) {
            return Ok(*file);
        }
        let within = if chain.len() > 1 { format!("; included by {}", list(chain)) } else { String::new() };
        let Some(files) = self.files else {
            return wrong(self.source, format!("cannot include `{}`: this scene is text without files", name.value));
        };
        if chain.len() > MAX_DEPTH {
            return wrong(self.source, format!("more than {MAX_DEPTH} files include one another: {}", list(chain)));
        }
        if self.source.included.len() + 2 > MAX_FILES {
            return wrong(self.source, format!("more than {MAX_FILES} files, expected a scene of fewer{within}"));
        }
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("config")) {
            let message = "a scene of VegaFEM cannot be included; `pliant scene convert` writes it as TOML";
            return wrong(self.source, message.into());
        }
        let text = match read_text(files, &path) {
            Ok(text) => text,
            Err(message) => return wrong(self.source, format!("{}: {message}{within}", path.display())),
        };
        self.size += text.len();
        if self.size > MAX_SCENE {
            let message = format!("{} bytes in all files, expected at most {MAX_SCENE}{within}", self.size);
            return wrong(self.source, message);
        }
        let folder = relative.parent().unwrap_or(Path::new("")).to_owned();
        let start = self.source.add(Included::new(path.clone(), folder.clone(), text.into()));
        let text = self.source.included.last().map_or_else(|| "".into(), |included| included.text.clone());
        let node = Node::of_toml(&text, start).map_err(|error| self::wrong(self.source, &error))?;
        chain.push(Ancestor { id: id.clone(), path });
        let file = self.visit(node, &folder, chain)?;
        chain.pop();
        self.known.insert(id, file);
        Ok(file)
    }
}

/// Returns a path that is equal for equal names of a file.
fn identity(path: &Path) -> PathBuf {
    let whole = std::path::absolute(Path::new(".").join(path)).unwrap_or_else(|_| path.into());
    let mut clean = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// Value of a key in one of the files.
struct Candidate<'a> {
    file: usize,
    entry: &'a Entry,
}

/// Keys from the top of a scene to a value.
type Keys = Vec<String>;

struct Merge<'a> {
    source: &'a Source,
    files: &'a [File],
    /// Values that are not merged further. A value of a file that includes another wins.
    values: BTreeMap<Keys, Vec<Candidate<'a>>>,
    /// Lists of tables.
    lists: BTreeMap<String, (Entry, Vec<Node>)>,
    /// Tables, with the keys of the last file, and the files that contain them.
    tables: BTreeMap<Keys, (Span, Span, Vec<usize>)>,
}

impl<'a> Merge<'a> {
    fn run(mut self, root: Span) -> Result<Node, SceneError> {
        let files = self.files;
        for (number, file) in files.iter().enumerate() {
            let table = file.node.table().map_err(|error| wrong(self.source, &error))?;
            self.add(number, &mut Vec::new(), table, Structure::of_file())?;
        }
        let mut merged = Node { span: root, content: Content::Table(Table::default()) };
        for (keys, (key, span, _)) in &self.tables {
            let node = Node { span: span.clone(), content: Content::Table(Table::default()) };
            insert(&mut merged, keys, Entry { key: key.clone(), node });
        }
        for (keys, candidates) in &self.values {
            if let [first, second, ..] = &candidates[..] {
                return Err(self.conflict(keys, &first.entry.key, &second.entry.key));
            }
            if let Some(only) = candidates.first() {
                insert(&mut merged, keys, only.entry.clone());
            }
        }
        for (key, (entry, items)) in self.lists {
            let node = Node { content: Content::List(items), ..entry.node };
            insert(&mut merged, &[key], Entry { node, ..entry });
        }
        Ok(merged)
    }

    /// Adds a table of a file.
    fn add(&mut self, file: usize, keys: &mut Keys, table: &'a Table, structure: Structure) -> Result<(), SceneError> {
        for (key, entry) in &table.entries {
            keys.push(key.clone());
            let inner = structure.of_key(key);
            if keys.len() == 1 && inner.of_items().is_some() {
                self.append(key, entry)?;
            } else if inner.is_table() {
                let table = entry.node.table().map_err(|error| wrong(self.source, &error))?;
                self.add_table(file, keys, entry, structure.is_name(key))?;
                self.add(file, keys, table, inner)?;
            } else {
                self.set(file, keys, entry)?;
            }
            keys.pop();
        }
        Ok(())
    }

    fn append(&mut self, key: &str, entry: &'a Entry) -> Result<(), SceneError> {
        let Content::List(items) = &entry.node.content else {
            let error = NodeError::new(format!("`{key}` is a list: expected `[[{key}]]`")).at(&entry.node.span);
            return Err(wrong(self.source, &error));
        };
        let empty = || {
            (
                Entry { key: entry.key.clone(), node: Node { span: entry.node.span.clone(), content: Content::Null } },
                Vec::new(),
            )
        };
        self.lists.entry(key.to_owned()).or_insert_with(empty).1.extend(items.iter().cloned());
        Ok(())
    }

    /// Adds a table whose keys are merged. One with a name is a whole, which unrelated files must not define in parts.
    fn add_table(&mut self, file: usize, keys: &Keys, entry: &Entry, is_named: bool) -> Result<(), SceneError> {
        let files = self.files;
        let (key, span) = (entry.key.clone(), entry.node.span.clone());
        match self.tables.get_mut(keys) {
            None => drop(self.tables.insert(keys.clone(), (key, span, vec![file]))),
            Some((last, at, contained)) => {
                if is_named && contained.iter().any(|other| !files[file].includes.contains(other)) {
                    let (first, second) = (last.clone(), key);
                    return Err(self.conflict(keys, &first, &second));
                }
                (*last, *at) = (key, span);
                contained.push(file);
            }
        }
        Ok(())
    }

    /// Sets a value, and checks the types of those that it replaces.
    fn set(&mut self, file: usize, keys: &Keys, entry: &'a Entry) -> Result<(), SceneError> {
        let includes = &self.files[file].includes;
        let candidates = self.values.entry(keys.clone()).or_default();
        for replaced in candidates.extract_if(.., |candidate| includes.contains(&candidate.file)) {
            check_types(keys, replaced.entry, self.source)?;
        }
        candidates.push(Candidate { file, entry });
        Ok(())
    }

    fn conflict(&self, keys: &[String], first: &Span, second: &Span) -> SceneError {
        let message = format!(
            "`{}` is also given in {}, and neither file includes the other; give it in one of them",
            keys.join("."),
            self.source.place(first)
        );
        self.source.error(Some(second), message)
    }
}

/// Puts a value into nested tables, which exist.
fn insert(node: &mut Node, keys: &[String], entry: Entry) {
    let Content::Table(table) = &mut node.content else { return };
    match keys {
        [] => {}
        [key] => drop(table.entries.insert(key.clone(), entry)),
        [key, rest @ ..] => {
            if let Some(inner) = table.entries.get_mut(key) {
                insert(&mut inner.node, rest, entry);
            }
        }
    }
}

/// Checks the types of a value that is not used, at the place where these keys lead.
fn check_types(keys: &[String], entry: &Entry, source: &Source) -> Result<(), SceneError> {
    // Default values have the types of the tables of their list.
    let (keys, is_default) = match keys {
        [top, key, ..] if top == DEFAULTS => (&keys[if list_keys().any(|list| list == key) { 1 } else { 2 }..], true),
        _ => (keys, false),
    };
    let mut node = entry.node.clone();
    for (depth, key) in keys.iter().enumerate().rev() {
        let span = node.span.clone();
        if is_default && depth == 0 && keys.len() > 1 {
            node = Node { span: span.clone(), content: Content::List(vec![node]) };
        }
        let inner = Entry { key: entry.key.clone(), node };
        let table = Table { is_partial: true, ..Table::of([(key.clone(), inner)]) };
        node = Node { span, content: Content::Table(table) };
    }
    check_partial(&node, source)
}

/// Checks the types of a scene, in which keys of partial tables may be missing.
pub(super) fn check_partial(node: &Node, source: &Source) -> Result<(), SceneError> {
    match parse::<Scene>(node) {
        Err(error) if !error.is_tolerated => Err(wrong(source, &error)),
        _ => Ok(()),
    }
}
