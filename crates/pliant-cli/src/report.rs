//! Report of `pliant mesh info` about a mesh, as a table or as JSON.

use pliant::io::{Format, Loaded, Mesh};
use pliant::math::Vec3;
use pliant::mesh::{
    CheckReport, ElementKind, MassProperties, MaterialData, Moduli, Quality, SurfaceMesh, SurfaceReport, VolumeMesh,
};
use serde::Serialize;

use crate::table::{Listing, clean, count, number, number_to, sparkline, vector};

/// Report about a mesh file.
#[derive(Debug, Serialize)]
pub struct Report {
    file: String,
    format: &'static str,
    #[serde(flatten)]
    content: Content,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "content", rename_all = "lowercase")]
enum Content {
    Volume(Box<VolumeFacts>),
    Surface(SurfaceFacts),
}

#[derive(Debug, Serialize)]
struct VolumeFacts {
    vertices: usize,
    elements: usize,
    kind: ElementKind,
    bounding_box: [Vec3; 2],
    volume: f64,
    /// Absent if a region has no density.
    #[serde(flatten)]
    mass: Option<MassProperties>,
    components: usize,
    edges: usize,
    boundary: SurfaceFacts,
    overlapping_faces: usize,
    quality: Quality,
    regions: Vec<RegionReport>,
    vertex_sets: Vec<SetReport>,
    element_sets: Vec<SetReport>,
    face_sets: Vec<FaceSetReport>,
    check: CheckReport,
}

#[derive(Debug, Serialize)]
struct SurfaceFacts {
    vertices: usize,
    faces: usize,
    bounding_box: [Vec3; 2],
    area: f64,
    #[serde(flatten)]
    report: SurfaceReport,
    /// Absent if the surface is not closed.
    enclosed_volume: Option<f64>,
}

#[derive(Debug, Serialize)]
struct RegionReport {
    name: String,
    elements: usize,
    volume: f64,
    material: Option<MaterialData>,
}

#[derive(Debug, Serialize)]
struct SetReport {
    name: String,
    members: usize,
}

#[derive(Debug, Serialize)]
struct FaceSetReport {
    name: String,
    faces: usize,
    /// Faces between two elements.
    inner_faces: usize,
    area: f64,
}

impl Report {
    /// Creates the report. `density` is used where the file gives none.
    pub fn new(file: &std::path::Path, loaded: Loaded, density: Option<f64>) -> Self {
        let format = Format::of(file).map_or("", |format| format.name);
        let content = match loaded.mesh {
            Mesh::Volume(mesh) => Content::Volume(Box::new(VolumeFacts::new(&mesh, loaded.report, density))),
            Mesh::Surface(surface) => Content::Surface(SurfaceFacts::new(&surface)),
        };
        Self { file: file.display().to_string(), format, content, notes: loaded.notes }
    }

    /// Returns the report as a table.
    pub fn table(&self) -> String {
        let mut listing = Listing::default();
        listing.title(&self.file, self.format);
        match &self.content {
            Content::Volume(volume) => volume.rows(&mut listing),
            Content::Surface(surface) => surface.rows(&mut listing),
        }
        for note in &self.notes {
            listing.row("note", note);
        }
        listing.into_text()
    }
}

impl VolumeFacts {
    fn new(mesh: &VolumeMesh, check: CheckReport, density: Option<f64>) -> Self {
        let boundary = mesh.boundary();
        let mut regions: Vec<RegionReport> = mesh
            .regions()
            .iter()
            .map(|r| RegionReport { name: r.name.clone(), elements: 0, volume: 0.0, material: r.material.clone() })
            .collect();
        for (e, &r) in mesh.element_region().iter().enumerate() {
            regions[r as usize].elements += 1;
            regions[r as usize].volume += mesh.element_volume(e);
        }
        let densities: Option<Vec<f64>> =
            regions.iter().map(|r| r.material.as_ref().and_then(|m| m.density).or(density)).collect();
        let sets = |sets: &pliant::mesh::Sets| {
            sets.iter().map(|(name, set)| SetReport { name: name.clone(), members: set.len() }).collect()
        };
        let on_boundary = |face: &pliant::mesh::ElementFace| boundary.faces.binary_search(face).is_ok();
        let face_set = |(name, set): (&String, &Vec<pliant::mesh::ElementFace>)| FaceSetReport {
            name: name.clone(),
            faces: set.len(),
            inner_faces: set.iter().filter(|face| !on_boundary(face)).count(),
            area: mesh.area_of_faces(set),
        };
        let face_sets = mesh.face_sets().iter().map(face_set).collect();
        Self {
            vertices: mesh.vertex_count(),
            elements: mesh.element_count(),
            kind: mesh.kind(),
            bounding_box: mesh.bounding_box(),
            volume: mesh.volume(),
            mass: densities.map(|densities| mesh.mass_properties(&densities)),
            components: mesh.components().1,
            edges: mesh.edges().len(),
            boundary: SurfaceFacts::new(&boundary.surface),
            overlapping_faces: boundary.overlapping_faces.len(),
            quality: mesh.quality(),
            regions,
            vertex_sets: sets(mesh.vertex_sets()),
            element_sets: sets(mesh.element_sets()),
            face_sets,
            check,
        }
    }

    fn rows(&self, listing: &mut Listing) {
        listing.row("vertices", self.vertices.to_string());
        listing.row("elements", self.kind.count(self.elements));
        listing.row("edges", self.edges.to_string());
        box_row(listing, self.bounding_box);
        listing.row("volume", format!("{} m³", number(self.volume)));
        match &self.mass {
            Some(mass) => {
                listing.row("mass", format!("{} kg", number(mass.mass)));
                let [low, high] = self.bounding_box;
                let size = low.abs().max(high.abs()).max_element();
                listing.row("center of mass", format!("{} m", vector(mass.center_of_mass, size)));
                let [x, y, z] = mass.inertia.to_cols_array_2d();
                let inertia = |entry: f64| number(clean(entry, x[0] + y[1] + z[2]));
                listing
                    .row("inertia, kg m²", format!("xx {}  yy {}  zz {}", inertia(x[0]), inertia(y[1]), inertia(z[2])));
                listing.row("", format!("xy {}  yz {}  xz {}", inertia(y[0]), inertia(z[1]), inertia(z[0])));
            }
            None => listing.row("mass", "unknown: the file gives no density; --density sets one"),
        }
        listing.row("bodies", count(self.components, "connected body", "separate bodies"));
        listing.row("boundary", self.boundary.summary());
        let q = &self.quality;
        listing.row("edge length", range(&q.edge_length, " m"));
        listing.row("element volume", range(&q.volume, " m³"));
        listing.row("dihedral angle", range(&q.dihedral_angle, "°"));
        listing.row(q.measure, format!("{}  0▕{}▏1", range(&q.shape, ""), sparkline(&q.histogram)));
        let worst: Vec<String> = q.worst.iter().map(|(e, shape)| format!("{e} ({})", number(*shape))).collect();
        listing.row("worst elements", worst.join(", "));
        if self.overlapping_faces > 0 {
            listing.row(
                "overlap",
                count(self.overlapping_faces, "face is", "faces are") + " shared by elements on the same side",
            );
        }
        for line in self.check.lines() {
            listing.row("found", line);
        }
        let regions: Vec<Vec<String>> = self
            .regions
            .iter()
            .map(|r| {
                let material = r.material.as_ref().map_or("–".into(), describe);
                vec![r.name.clone(), r.elements.to_string(), number(r.volume), material]
            })
            .collect();
        listing.columns(&["region", "elements", "volume, m³", "material"], &regions);
        if !self.face_sets.is_empty() {
            let faces = |set: &FaceSetReport| match set.inner_faces {
                0 => set.faces.to_string(),
                inner => format!("{} ({inner} between elements)", set.faces),
            };
            let row = |set: &FaceSetReport| vec![set.name.clone(), faces(set), number(set.area)];
            listing.columns(&["face set", "faces", "area, m²"], &self.face_sets.iter().map(row).collect::<Vec<_>>());
        }
        for (heading, sets) in [("vertex set", &self.vertex_sets), ("element set", &self.element_sets)] {
            if !sets.is_empty() {
                let rows: Vec<Vec<String>> = sets.iter().map(|s| vec![s.name.clone(), s.members.to_string()]).collect();
                listing.columns(&[heading, "members"], &rows);
            }
        }
    }
}

impl SurfaceFacts {
    fn new(surface: &SurfaceMesh) -> Self {
        let report = surface.report();
        Self {
            vertices: surface.vertices().len(),
            faces: surface.faces().len(),
            bounding_box: surface.bounding_box(),
            area: surface.area(),
            enclosed_volume: report.is_closed().then(|| surface.enclosed_volume()),
            report,
        }
    }

    fn rows(&self, listing: &mut Listing) {
        listing.row("content", "a surface; `pliant run` simulates it in a cage, `pliant mesh tetrahedralize` fills it");
        listing.row("vertices", self.vertices.to_string());
        listing.row("faces", self.summary());
        box_row(listing, self.bounding_box);
        if let Some(volume) = self.enclosed_volume {
            listing.row("volume", format!("{} m³ enclosed", number(volume)));
        }
    }

    fn summary(&self) -> String {
        let state = match (self.report.open_edges, self.report.non_manifold_edges) {
            (0, 0) => "closed".into(),
            (open, 0) => count(open, "open edge", "open edges"),
            (0, tangled) => count(tangled, "tangled edge", "tangled edges"),
            (open, tangled) => format!("{open} open and {tangled} tangled edges"),
        };
        format!("{}, {} m², {state}", count(self.faces, "face", "faces"), number(self.area))
    }
}

fn box_row(listing: &mut Listing, [low, high]: [Vec3; 2]) {
    let [x, y, z] = (high - low).to_array().map(number);
    listing.row("size", format!("{x} × {y} × {z} m, from {} to {}", place(low, high - low), place(high, high - low)));
}

/// Formats a corner of a box of this size, with enough digits to distinguish corners.
fn place(corner: Vec3, size: Vec3) -> String {
    let size = size.max_element();
    let digits = |x: f64| (4.0 + (x.abs() / size).log10().ceil()).clamp(4.0, 15.0) as usize;
    let [x, y, z] = corner.to_array().map(|x| number_to(clean(x, size), digits(x)));
    format!("({x}, {y}, {z})")
}

fn range(range: &pliant::mesh::Range, unit: &str) -> String {
    format!("{}{unit} to {}{unit}, mean {}{unit}", number(range.min), number(range.max), number(range.mean))
}

fn describe(material: &MaterialData) -> String {
    let density = material.density.map(|d| format!("{} kg/m³", number(d)));
    let moduli = material.moduli.as_ref().map(|moduli| match moduli {
        Moduli::Isotropic { young, poisson } => format!("E {} Pa, ν {}", number(*young), number(*poisson)),
        Moduli::MooneyRivlin { mu01, mu10, v1 } => {
            format!("Mooney–Rivlin {}, {}, {} Pa", number(*mu01), number(*mu10), number(*v1))
        }
        Moduli::Orthotropic { young: [a, b, c], .. } => {
            format!("orthotropic, E {}, {}, {} Pa", number(*a), number(*b), number(*c))
        }
    });
    let parts: Vec<String> = [Some(material.name.clone()), density, moduli].into_iter().flatten().collect();
    parts.join(", ")
}
