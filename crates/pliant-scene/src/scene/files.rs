//! File names in a scene.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::{Located, MeshSource, ReducedChoice, Scene, SceneFile, Selection, Source, Start, Where};

impl Scene {
    /// Calls `visit` with every file name in the scene, which it may change. Relative names refer to the folder of the
    /// scene.
    pub fn for_each_file(&mut self, mut visit: impl FnMut(&mut String)) {
        self.for_each_located_file(&mut |name, _| visit(name));
    }

    /// Makes file names of included files relative to the folder of the scene.
    pub(super) fn move_included_files(&mut self, source: &Source) {
        if source.included.is_empty() {
            return;
        }
        let mut visit = |name: &mut String, span: Option<&Range<usize>>| {
            if let Some(file) = span.and_then(|span| source.included_at(span)) {
                *name = file.folder.join(&*name).to_string_lossy().into_owned();
            }
        };
        self.for_each_located_file(&mut visit);
        if let Some(directory) = &mut self.output.value.directory
            && !directory.value.is_empty()
        {
            visit(&mut directory.value, directory.span.as_ref());
        }
    }

    /// Calls `visit` with every file name and the location of the value that contains it.
    fn for_each_located_file(&mut self, visit: Visit<'_>) {
        if let Some(reduced) = &mut self.reduced
            && let ReducedChoice::File(name) = &mut reduced.value
        {
            visit(name, reduced.span.as_ref());
        }
        for object in self.objects.iter_mut().map(|object| &mut object.value) {
            in_mesh(&mut object.mesh, visit);
            if let Some(name) = &mut object.velocities {
                visit(&mut name.value, name.span.as_ref());
            }
            if let Some(start) = &mut object.start
                && let Start::Displacements(name) = &mut start.value
            {
                visit(name, start.span.as_ref());
            }
            if let Some(skin) = object.skin.as_mut().map(|skin| &mut skin.value) {
                in_mesh(&mut skin.mesh, visit);
                if let Some(name) = &mut skin.interpolation {
                    visit(&mut name.value, name.span.as_ref());
                }
            }
            for region in &mut object.regions {
                if let Some(elements) = &mut region.value.elements {
                    in_selection(elements, visit);
                }
            }
        }
        self.fixed.iter_mut().for_each(|fixed| in_selection(&mut fixed.value.vertices, visit));
        self.handles.iter_mut().for_each(|handle| in_selection(&mut handle.value.vertices, visit));
        for spring in self.springs.iter_mut().map(|spring| &mut spring.value) {
            in_selection(&mut spring.from, visit);
            in_selection(&mut spring.to, visit);
        }
        for load in self.loads.iter_mut().map(|load| &mut load.value) {
            in_selection(&mut load.vertices, visit);
            load.faces.iter_mut().for_each(|faces| in_selection(faces, visit));
            let Located { value: kind, span } = &mut load.kind;
            kind.visit_files(&mut |name| visit(name, span.as_ref()));
        }
        for obstacle in self.obstacles.iter_mut().map(|obstacle| &mut obstacle.value) {
            let Located { value: shape, span } = &mut obstacle.shape;
            shape.visit_files(&mut |name| visit(name, span.as_ref()));
        }
        self.probes.iter_mut().for_each(|probe| in_selection(&mut probe.value.vertices, visit));
    }
}

impl SceneFile {
    /// Returns the scene as TOML with absolute file names, so that it can be read from any folder.
    ///
    /// Comments and layout are kept if the scene was read from one file in TOML and has not been changed since. Several
    /// files are merged into one.
    pub fn to_portable_toml(&self) -> String {
        let mut scene = self.scene.clone();
        scene.for_each_file(|name| {
            // An empty path is the current folder.
            let path = std::path::absolute(Path::new(".").join(&self.source.folder).join(&*name));
            if let Some(path) = path.as_deref().ok().and_then(Path::to_str) {
                path.clone_into(name);
            }
        });
        self.with_files_of(&scene).unwrap_or_else(|| format!("{}{}", self.heading(), scene.to_toml()))
    }

    /// Returns a comment that names all files of the scene, if there are several.
    fn heading(&self) -> String {
        if self.source.included.is_empty() {
            return String::new();
        }
        let paths = std::iter::once(&self.source.path).chain(self.source.included.iter().map(|file| &file.path));
        // A comment ends with its line.
        let names: Vec<String> =
            paths.map(|path| format!("# - {}\n", path.display().to_string().escape_debug())).collect();
        format!("# Merged from several files:\n{}\n", names.concat())
    }

    /// Replaces the file names in the text by those of `scene`. Returns `None` if the result does not parse to that
    /// scene.
    fn with_files_of(&self, scene: &Scene) -> Option<String> {
        if !self.source.included.is_empty() {
            return None;
        }
        let [before, after] = [&self.scene, scene].map(|scene| toml::Value::try_from(scene).ok());
        let mut text = self.source.text.to_string();
        let mut edits = Vec::new();
        find_edits(
            DeTable::parse(&self.source.text).ok()?.get_ref(),
            before?.as_table()?,
            after?.as_table()?,
            &mut edits,
        );
        edits.sort_by_key(|(span, _)| span.start);
        for (span, name) in edits.into_iter().rev() {
            text.replace_range(span, &toml::Value::String(name).to_string());
        }
        let source = Source { text: text.clone().into(), ..self.source.clone() };
        (SceneFile::parse(source).ok()?.scene == *scene).then_some(text)
    }
}

/// Collects the spans of a text in which two versions of a scene have different strings, with the strings of the
/// second.
fn find_edits(
    written: &DeTable<'_>,
    before: &toml::Table,
    after: &toml::Table,
    edits: &mut Vec<(Range<usize>, String)>,
) {
    for (key, value) in written {
        if let (Some(before), Some(after)) = (before.get(key.get_ref().as_ref()), after.get(key.get_ref().as_ref())) {
            find_edits_in_value(value, before, after, edits);
        }
    }
}

fn find_edits_in_value(
    written: &toml::Spanned<DeValue<'_>>,
    before: &toml::Value,
    after: &toml::Value,
    edits: &mut Vec<(Range<usize>, String)>,
) {
    match (written.get_ref(), before, after) {
        (DeValue::String(_), toml::Value::String(before), toml::Value::String(after)) if before != after => {
            edits.push((written.span(), after.clone()));
        }
        (DeValue::Table(written), toml::Value::Table(before), toml::Value::Table(after)) => {
            find_edits(written, before, after, edits);
        }
        (DeValue::Array(written), toml::Value::Array(before), toml::Value::Array(after)) => {
            for ((written, before), after) in written.iter().zip(before).zip(after) {
                find_edits_in_value(written, before, after, edits);
            }
        }
        _ => {}
    }
}

/// Function that is called with a file name and the location of the value that contains it.
type Visit<'a> = &'a mut dyn FnMut(&mut String, Option<&Range<usize>>);

fn in_mesh(mesh: &mut Located<MeshSource>, visit: Visit<'_>) {
    match &mut mesh.value {
        MeshSource::File(name) => visit(name, mesh.span.as_ref()),
        MeshSource::Generator(generator) => generator.visit_files(&mut |name| visit(name, mesh.span.as_ref())),
    }
}

fn in_selection(selection: &mut Located<Selection>, visit: Visit<'_>) {
    fn visit_inner(selection: &mut Selection, span: Option<&Range<usize>>, visit: Visit<'_>) {
        match selection {
            Selection::Where(Where::File(name)) => visit(name, span),
            Selection::Where(Where::Any(several) | Where::Every(several)) => {
                several.iter_mut().for_each(|one| visit_inner(one, span, visit));
            }
            Selection::Where(Where::Not(one)) => visit_inner(one, span, visit),
            _ => {}
        }
    }
    visit_inner(&mut selection.value, selection.span.as_ref(), visit);
}

#[cfg(test)]
mod tests {
    use super::super::{SceneFile, Source};

    #[test]
    fn every_name_of_a_file_is_visited() {
        let text = r#"
reduced = "1"
[simulation]
step = 0.01
duration = 1
[[object]]
mesh = "2"
velocities = "3"
start = { displacements = "4" }
skin = { mesh = "5", interpolation = "6" }
[[object.region]]
name = "a"
elements = { not = { file = "7" } }
material = { young = 1, poisson = 0, density = 1 }
[[fixed]]
vertices = { any = ["a set", { every = [{ file = "8" }, { file = "9" }] }] }
[[handle]]
vertices = { file = "10" }
stiffness = 1
[[spring]]
from = { file = "11" }
to = { file = "12" }
stiffness = 1
[[load]]
vertices = { file = "13" }
kind.steps = "14"
[[probe]]
name = "p"
vertices = { file = "15" }
[[object]]
mesh = { filled = { of = "16" } }
[[object]]
mesh = { cage = { surface = "17" } }
[[object]]
mesh = { voxels = { surface = "18" } }
"#;
        let mut scene = SceneFile::parse(Source::new("a.toml", text)).unwrap().scene;
        let mut names: Vec<u32> = Vec::new();
        scene.for_each_file(|name| {
            names.push(name.parse().unwrap());
            *name = format!("/{name}");
        });
        names.sort_unstable();
        assert_eq!(names, (1..=18).collect::<Vec<_>>());
        assert!(scene.to_toml().contains("file = \"/8\""), "{}", scene.to_toml());
    }
}
