//! Layering of modules: a module uses only modules of its crate listed before it in ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Crates with a list of modules in ARCHITECTURE.md.
const CRATES: [&str; 2] = ["pliant", "pliant-scene"];

/// Returns the modules of a crate in order: the numbered lines "1. `math`: …" in its section of ARCHITECTURE.md.
fn order(name: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join("ARCHITECTURE.md")).unwrap();
    let heading = format!("\n### Modules of `{name}`\n");
    let (_, section) = text.split_once(&heading).unwrap_or_else(|| panic!("no heading `{}`", heading.trim()));
    let section = section.split("\n#").next().unwrap();
    let numbered = section.lines().filter_map(|line| line.split_once(". `"));
    let modules = numbered.filter(|(number, _)| number.parse::<u32>().is_ok());
    modules.map(|(_, rest)| rest.split('`').next().unwrap().to_owned()).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Rewrites `super::` chains of the source at `path` that lead to the root of the crate as `crate::`.
fn from_root(path: &Path, text: &str) -> String {
    let file = path.components().count() - usize::from(path.ends_with("mod.rs"));
    let chain = |depth: usize| "super::".repeat(depth);
    // A test module inside a file is one level deeper.
    let (code, tests) = text.split_at(text.find("mod tests {").unwrap_or(text.len()));
    code.replace(&chain(file), "crate::") + &tests.replace(&chain(file + 1), "crate::")
}

/// Returns the modules that the source at `path` uses through the root of the crate, also inside `use crate::{…}`.
fn used_modules(path: &Path, text: &str) -> Vec<String> {
    let mut used = Vec::new();
    let text = from_root(path, text);
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    for piece in code.split("crate::").skip(1) {
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match piece.strip_prefix('{') {
            None => used.push(word(piece)),
            Some(list) => {
                let mut depth = 1;
                let mut start = true;
                for (i, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 1 => start = true,
                        c if start && !c.is_whitespace() => {
                            used.push(word(&list[i..]));
                            start = false;
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
        }
    }
    used
}

/// Returns every use of a later module: file and module.
fn violations(order: &[String], files: &[(PathBuf, String)]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        let module = path.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let Some(rank) = order.iter().position(|name| *name == module) else {
            found.push(format!("{}: module `{module}` is not in ARCHITECTURE.md", path.display()));
            continue;
        };
        for used in used_modules(path, text) {
            if order.iter().position(|name| *name == used).is_none_or(|other| other > rank) {
                found.push(format!("{} uses `{used}`, which does not stand before `{module}`", path.display()));
            }
        }
    }
    found
}

#[test]
fn no_module_uses_a_later_one() {
    for name in CRATES {
        let source = repository().join("crates").join(name).join("src");
        let mut paths = Vec::new();
        sources(&source, &mut paths);
        let files: Vec<(PathBuf, String)> = paths
            .into_iter()
            .map(|path| (path.strip_prefix(&source).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
            .collect();
        let order = order(name);
        assert!(order.len() >= 3, "no module order of `{name}` found in ARCHITECTURE.md: {order:?}");
        for module in &order {
            let exists = source.join(format!("{module}.rs")).exists() || source.join(module).is_dir();
            assert!(exists, "ARCHITECTURE.md names a module `{module}` of `{name}` that does not exist");
        }
        let found = violations(&order, &files);
        assert!(found.is_empty(), "{name}: {}", found.join("\n"));
    }
}

/// Sources that create meshes from numbers: readers, generators, arrays, meshing of surfaces, and arrays of
/// Python.
const CREATORS: [&str; 8] = [
    "crates/pliant-py/src/mesh.rs",
    "crates/pliant-reproduce/src/bodies.rs",
    "crates/pliant/src/io/raw.rs",
    "crates/pliant/src/mesh/generate.rs",
    "crates/pliant/src/mesh/volume.rs",
    "crates/pliant/src/meshing/stuffing.rs",
    "crates/pliant/src/meshing/voxels.rs",
    "crates/pliant/src/reduced/cubature.rs",
];

/// Everything else takes a checked mesh, and operations on meshes check only what they may break, so that a body is
/// checked as a whole once on its way from a file to a model.
#[test]
fn only_sources_that_create_meshes_check_all_of_them() {
    let crates = repository().join("crates");
    let mut checking = Vec::new();
    for entry in fs::read_dir(&crates).unwrap() {
        let source = entry.unwrap().path().join("src");
        // Tools keep their caches next to the crates.
        if !source.is_dir() {
            continue;
        }
        let mut paths = Vec::new();
        sources(&source, &mut paths);
        for path in paths {
            let text = fs::read_to_string(&path).unwrap();
            // Tests are at the end of a file.
            let is_test_code = |part: &&str| part.lines().nth(1).is_some_and(|line| !line.ends_with(';'));
            let code: String = text
                .split_inclusive("#[cfg(test)]")
                .scan(false, |ended, part| {
                    let is_test = std::mem::replace(ended, part.ends_with("#[cfg(test)]")) && is_test_code(&part);
                    (!is_test).then_some(part)
                })
                .collect();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let is_test = ["tests.rs", "testing.rs"].iter().any(|name| path.ends_with(name));
            let is_of_mesh = path.parent().is_some_and(|folder| folder.ends_with("pliant/src/mesh"));
            let calls = lines
                .clone()
                .filter(|line| line.contains("VolumeMesh::check(") || (is_of_mesh && line.contains("Self::check(")));
            if !is_test && calls.count() > 0 {
                checking.push(path.strip_prefix(repository()).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    checking.sort();
    assert_eq!(checking, CREATORS);
}

#[test]
fn a_use_of_a_later_module_is_found() {
    let order: Vec<String> = ["math", "mesh", "io"].map(String::from).to_vec();
    let check = |text: &str| violations(&order, &[(PathBuf::from("mesh/check.rs"), text.into())]).len();
    assert_eq!(check("use crate::math::Vec3;\nuse crate::mesh::Faces;"), 0);
    assert_eq!(check("use crate::io::read;"), 1);
    assert_eq!(check("use crate::{math::{Vec3, io}, io::{read, write}};"), 1);
    assert_eq!(check("fn f() { crate::io::read(x) }"), 1);
    assert_eq!(check("// crate::io is for later"), 0);
    assert_eq!(check("use super::super::io::read;"), 1);
    assert_eq!(check("use super::shape;\nmod tests {\nuse super::super::generate;\n}"), 0);
    assert_eq!(check("mod tests {\nuse super::super::super::io::read;\n}"), 1);
    assert_eq!(violations(&order, &[(PathBuf::from("new.rs"), String::new())]).len(), 1);
}
