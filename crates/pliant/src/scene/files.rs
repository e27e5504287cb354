//! The files that a scene names.

use super::{MeshSource, ReducedChoice, Scene, Selection, Shape, SolidSource, Start, Where};

impl Scene {
    /// Every name of a file in it, to be looked at or changed; relative ones begin at the folder of the scene.
    pub fn for_each_file(&mut self, mut visit: impl FnMut(&mut String)) {
        let visit = &mut visit;
        if let Some(ReducedChoice::File(name)) = self.reduced.as_mut().map(|reduced| &mut reduced.value) {
            visit(name);
        }
        for object in self.objects.iter_mut().map(|object| &mut object.value) {
            in_mesh(&mut object.mesh.value, visit);
            if let Some(name) = &mut object.velocities {
                visit(&mut name.value);
            }
            if let Some(Start::Displacements(name)) = object.start.as_mut().map(|start| &mut start.value) {
                visit(name);
            }
            if let Some(skin) = object.skin.as_mut().map(|skin| &mut skin.value) {
                in_mesh(&mut skin.mesh.value, visit);
                if let Some(name) = &mut skin.interpolation {
                    visit(&mut name.value);
                }
            }
            for region in &mut object.regions {
                if let Some(elements) = &mut region.value.elements {
                    in_selection(&mut elements.value, visit);
                }
            }
        }
        self.holds.iter_mut().for_each(|hold| in_selection(&mut hold.value.vertices.value, visit));
        self.handles.iter_mut().for_each(|handle| in_selection(&mut handle.value.vertices.value, visit));
        for spring in self.springs.iter_mut().map(|spring| &mut spring.value) {
            in_selection(&mut spring.from.value, visit);
            in_selection(&mut spring.to.value, visit);
        }
        for load in self.loads.iter_mut().map(|load| &mut load.value) {
            in_selection(&mut load.vertices.value, visit);
            if let Some(name) = &mut load.steps {
                visit(&mut name.value);
            }
        }
        self.probes.iter_mut().for_each(|probe| in_selection(&mut probe.value.vertices.value, visit));
    }
}

fn in_mesh(mesh: &mut MeshSource, visit: &mut impl FnMut(&mut String)) {
    match mesh {
        MeshSource::File(name)
        | MeshSource::Shape(
            Shape::Filled { of: SolidSource::Surface(name), .. }
            | Shape::Cage { surface: name, .. }
            | Shape::Voxels { surface: name, .. },
        ) => visit(name),
        MeshSource::Shape(_) => {}
    }
}

fn in_selection(selection: &mut Selection, visit: &mut dyn FnMut(&mut String)) {
    match selection {
        Selection::Where(Where::File(name)) => visit(name),
        Selection::Where(Where::Any(several) | Where::Every(several)) => {
            several.iter_mut().for_each(|one| in_selection(one, visit));
        }
        Selection::Where(Where::Not(one)) => in_selection(one, visit),
        _ => {}
    }
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
[[hold]]
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
steps = "14"
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
