//! Tests of the format as a whole.

use std::path::Path;

use super::super::{Loaded, Mesh, WriteOptions, read_from, write_to};
use crate::files::{Memory, ReadError};
use crate::math::Vec3;
use crate::mesh::{ElementKind, Faces, MaterialData, MeshData, Moduli, Region, SurfaceMesh, VolumeMesh};

fn load(text: &str) -> Result<Loaded, ReadError> {
    read_from(&Memory::with("t.inp", text), Path::new("t.inp"))
}

fn region_names(mesh: &VolumeMesh) -> Vec<&str> {
    mesh.regions().iter().map(|region| region.name.as_str()).collect()
}

/// Five nodes, numbered with gaps.
const NODES: &str = "*NODE\n10, 0, 0, 0\n20, 1., 0, 0\n30, 0, 1.D0, 0\n40, , , 1d0\n50, 1, 1, 1\n";
const TETS: &str = "*ELEMENT, TYPE=C3D4\n1, 10, 20, 30, 40\n2, 20, 30, 40, 50\n";

#[test]
fn sections_become_regions_with_materials() {
    let text = format!(
        "*Heading\n any text, 1, 2\n** comment\n*solid section , elset= Soft, MATERIAL=rubber\n,\n*Element, type=C3D4H,\n elset=soft\r\n\
         1, 10, 20,\n30,\n** between\n 40\n*ELEMENT, TYPE=C3D4, ELSET=hard\n2, 20, 30, 40, 50\n{NODES}*Solid Section, elset=HARD, material=Steel\n\
         *MATERIAL, NAME=Rubber\n*ELASTIC\n1e6, 0.45\n2e6, 0.45, 100.\n*MATERIAL, NAME=STEEL\n*DENSITY\n7.8D3,\n*PLASTIC\n1, 2\n\
         *STEP\n*NODE\nrubbish\n*END STEP\n"
    );
    let loaded = load(&text).unwrap();
    assert_eq!(
        loaded.notes,
        [
            "these keywords are not kept: *PLASTIC, *STEP",
            "these elements are treated as fully integrated displacement elements, which may be stiffer: C3D4H (hybrid)",
            "materials that depend on temperature or fields: only the first line is kept"
        ]
    );
    let mesh = loaded.volume();
    assert_eq!(mesh.vertices()[3], Vec3::Z);
    assert_eq!(mesh.connectivity(), [0, 1, 2, 3, 1, 2, 3, 4]);
    assert_eq!((region_names(&mesh), mesh.element_region()), (vec!["soft", "hard"], &[0, 1][..]));
    let moduli = Some(Moduli::Isotropic { young: 1e6, poisson: 0.45 });
    assert_eq!(mesh.regions()[0].material, Some(MaterialData { name: "Rubber".into(), density: None, moduli }));
    let steel = MaterialData { name: "STEEL".into(), density: Some(7800.0), moduli: None };
    assert_eq!(mesh.regions()[1].material, Some(steel));
    assert!(mesh.element_sets().is_empty());
}

#[test]
fn sets_take_ranges_names_and_numbers() {
    let text = format!(
        "{NODES}{TETS}*NSET, NSET=a, GENERATE\n10, 30, 20\n1, 9000000000000000000\n*NSET, NSET=b\n50,\n*NSET, NSET=\"b c\"\nB, 10\n\
         *NSET, NSET=d, ELSET=e\n*ELSET, ELSET=e\n2\n*ELSET, ELSET=all\ne, 1\n"
    );
    let mesh = load(&text).unwrap().volume();
    let sets = mesh.vertex_sets();
    assert_eq!((&sets["a"][..], &sets["b c"][..]), (&[0, 1, 2, 3, 4][..], &[0, 4][..]));
    assert_eq!(sets["d"], [1, 2, 3, 4]);
    assert_eq!((&mesh.element_sets()["e"][..], &mesh.element_sets()["all"][..]), (&[1][..], &[0, 1][..]));
    assert_eq!(region_names(&mesh), ["body"]);
}

#[test]
fn shells_on_solids_are_face_sets_and_lines_are_skipped() {
    let text = format!(
        "{NODES}{TETS}*ELEMENT, TYPE=S3R, ELSET=skin\n7, 10, 30, 20\n*ELEMENT, TYPE=T3D2, ELSET=rod\n8, 10, 20\n\
         *ELSET, ELSET=mixed\n1, 7, 8, rod\n"
    );
    let loaded = load(&text).unwrap();
    assert_eq!(loaded.notes, ["elements of these types are not kept: T3D2"]);
    let mesh = loaded.volume();
    assert_eq!((&mesh.face_sets()["skin"][..], &mesh.face_sets()["mixed"][..]), (&[(0, 0)][..], &[(0, 0)][..]));
    assert_eq!(mesh.element_sets().keys().collect::<Vec<_>>(), ["mixed"]);
    assert_eq!(mesh.element_sets()["mixed"], [0]);
}

#[test]
fn surfaces_are_face_sets_by_element_set_side_and_shell() {
    let text = format!(
        "*Part, name=P\n{NODES}{TETS}*ELEMENT, TYPE=S3R, ELSET=skin\n7, 10, 20, 40\n*ELSET, ELSET=both\n1, 2\n\
         *SURFACE, NAME=a\nboth, S2\n 1, s4\n*Surface, type=ELEMENT, name=free\nboth\n*SURFACE, NAME=shell\nSKIN, SPOS\n\
         *SURFACE, TYPE=NODE, NAME=dots\n10, 1.\n40\n*SURFACE, TYPE=CYLINDER, NAME=r\n1, 2\n*End Part\n\
         *Assembly, name=A\n*Instance, name=P-1, part=p\n*End Instance\n*Elset, elset=_s, internal, instance=P-1\n 2,\n\
         *Surface, type=ELEMENT, name=A\n_s, S3\nP-1.both, S1\nP-1.2, S4\n*End Assembly\n"
    );
    let loaded = load(&text).unwrap();
    let notes = [
        "these keywords are not kept: *SURFACE, TYPE=CYLINDER",
        "the surface `dots` consists of nodes: it is kept as a vertex set",
    ];
    assert_eq!(loaded.notes, notes);
    let mesh = loaded.volume();
    let sets = mesh.face_sets();
    assert_eq!(sets.keys().collect::<Vec<_>>(), ["Assembly.A", "a", "free", "shell", "skin"]);
    assert_eq!(sets["a"], [(0, 1), (0, 3), (1, 1)]);
    assert_eq!(sets["free"], mesh.boundary().faces);
    assert_eq!((&sets["shell"][..], &sets["skin"][..]), (&[(0, 1)][..], &[(0, 1)][..]));
    assert_eq!(sets["Assembly.A"], [(0, 0), (1, 0), (1, 2), (1, 3)]);
    assert_eq!(mesh.vertex_sets()["dots"], [0, 3]);

    let error = |lines: &str| load(&format!("{NODES}{TETS}*SURFACE, NAME=s\n{lines}\n")).unwrap_err().to_string();
    assert!(error("1, S5").ends_with("expected a side S1 to S4 of tetrahedra, found `S5`"), "{}", error("1, S5"));
    assert!(error("1, E2").ends_with("expected a side S1 to S6, SPOS or SNEG, found `E2`"));
    assert!(
        error("nothing, S1").ends_with("expected the number of a listed element or the name of a set, found `nothing`")
    );
    assert!(error("9, S1").ends_with("found `9`"));
}

#[test]
fn one_part_is_placed_by_its_instance() {
    let text = format!(
        "*Part, name=P\n{NODES}{TETS}*Nset, nset=s\n10,\n*End Part\n*Assembly, name=A\n*Instance, name=P-1, part=p\n 0., 0., 5.\n\
         0, 0, 0, 0, 0, 1, 90.\n*End Instance\n*Node\n1, 0, 0, 0\n*Nset, nset=ref\n1,\n*Nset, nset=S, instance=P-1\n 20,\n*End Assembly\n"
    );
    let loaded = load(&text).unwrap();
    assert_eq!(loaded.notes, ["nodes, elements and sets of the assembly itself are not kept"]);
    let mesh = loaded.volume();
    assert!(mesh.vertices()[1].distance(Vec3::new(0.0, 1.0, 5.0)) < 1e-15);
    assert_eq!((&mesh.vertex_sets()["s"][..], &mesh.vertex_sets()["Assembly.S"][..]), (&[0][..], &[1][..]));
    let two = format!("*PART, NAME=P\n{NODES}{TETS}*END PART\n*PART, NAME=Q\n{NODES}*END PART\n");
    let error = load(&two).unwrap_err().to_string();
    assert_eq!(
        error,
        "t.inp, line 13: expected the mesh in one part, found more of it in `Q`; several parts are not supported"
    );
}

#[test]
fn every_instance_is_a_copy_with_sets_of_its_own() {
    let part = format!(
        "*PART, NAME=P\n{NODES}{TETS}*NSET, NSET=s\n10,\n*ELSET, ELSET=first\n1,\n*ELSET, ELSET=all\n1, 2\n\
         *SURFACE, NAME=side\nfirst, S1\n*SOLID SECTION, ELSET=all, MATERIAL=m\n,\n*END PART\n"
    );
    let text = format!(
        "{part}*ASSEMBLY, NAME=A\n*INSTANCE, NAME=a, PART=P\n*END INSTANCE\n*INSTANCE, NAME=b, PART=P\n0, 0, 5\n\
         0, 0, 0, 0, 0, 1, 90.\n*END INSTANCE\n*NSET, NSET=both, INSTANCE=a\n20,\n*NSET, NSET=both, INSTANCE=b\n20,\n\
         *ELSET, ELSET=ends, INSTANCE=a\n1,\n*ELSET, ELSET=ends, INSTANCE=b\n2,\n*SURFACE, NAME=ends\nends, S3\nb.1, S2\n\
         *END ASSEMBLY\n*MATERIAL, NAME=m\n*DENSITY\n1000.,\n"
    );
    let mesh = load(&text).unwrap().volume();
    assert_eq!((mesh.vertex_count(), mesh.element_count()), (10, 4));
    assert_eq!(mesh.vertices()[1], Vec3::X);
    assert!(mesh.vertices()[6].distance(Vec3::new(0.0, 1.0, 5.0)) < 1e-15);
    assert_eq!(mesh.element(2), [5, 6, 7, 8]);
    let sets = mesh.vertex_sets();
    assert_eq!(sets.keys().collect::<Vec<_>>(), ["a.s", "b.s", "both"]);
    assert_eq!((&sets["a.s"][..], &sets["b.s"][..], &sets["both"][..]), (&[0][..], &[5][..], &[1, 6][..]));
    let sets = mesh.element_sets();
    assert_eq!((&sets["a"][..], &sets["b"][..], &sets["b.first"][..]), (&[0, 1][..], &[2, 3][..], &[2][..]));
    let sets = mesh.face_sets();
    assert_eq!((&sets["a.side"][..], &sets["b.side"][..]), (&[(0, 0)][..], &[(2, 0)][..]));
    assert_eq!(sets["ends"], [(0, 2), (2, 1), (3, 2)]);
    assert_eq!((region_names(&mesh), mesh.element_region()), (vec!["all"], &[0; 4][..]));
    let unclear = load(&text.replace("b.1, S2", "1, S2")).unwrap_err().to_string();
    assert!(
        unclear.contains("INSTANCE.NUMBER or INSTANCE.SET, as there are several instances, found `1`"),
        "{unclear}"
    );

    let shells = "*PART, NAME=P\n*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n*ELEMENT, TYPE=S3\n1, 1, 2, 3\n*END PART\n\
                  *ASSEMBLY\n*INSTANCE, NAME=a, PART=P\n*END INSTANCE\n*INSTANCE, NAME=b, PART=P\n0, 0, 1\n*END INSTANCE\n*END ASSEMBLY\n";
    let Mesh::Surface(surface) = load(shells).unwrap().mesh else { panic!("expected a surface") };
    assert_eq!((surface.vertices().len(), surface.faces().get(1)), (6, &[3, 4, 5][..]));

    let twice = format!("{part}*ASSEMBLY\n*INSTANCE, NAME=a, PART=P\n*END INSTANCE\n*INSTANCE, NAME=A, PART=P\n");
    let error = load(&twice).unwrap_err().to_string();
    assert!(error.ends_with("expected instances with different names, found `A` again"), "{error}");
}

#[test]
fn instances_of_unknown_parts_are_errors_and_those_of_empty_parts_are_reported() {
    let with = |instance: &str| {
        load(&format!(
            "*PART, NAME=P\n{NODES}{TETS}*END PART\n*PART, NAME=rigid\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=a, PART=P\n\
             *END INSTANCE\n{instance}*END INSTANCE\n*END ASSEMBLY\n"
        ))
    };
    let error = with("*INSTANCE, NAME=c, PART=Z\n").unwrap_err().to_string();
    let expected = "t.inp, line 17: expected the name of a part, found `Z`; the parts before this: P, rigid";
    assert_eq!(error, expected);
    let nothing = with("*INSTANCE, NAME=c\n").unwrap_err().to_string();
    assert_eq!(nothing, "t.inp, line 17: expected PART= after *INSTANCE, found none");
    let loaded = with("*INSTANCE, NAME=r-1, PART=Rigid\n").unwrap();
    let expected = "these instances are not kept, as their parts have no elements: `r-1` of part `rigid`";
    assert_eq!(loaded.notes, [expected]);
    // The mesh of an independent instance is in the instance.
    let own = format!(
        "*PART, NAME=P\n*END PART\n*ASSEMBLY, NAME=A\n*INSTANCE, NAME=a, PART=P\n{NODES}{TETS}*END INSTANCE\n*END ASSEMBLY\n"
    );
    assert_eq!(load(&own).unwrap().notes, Vec::<String>::new());
}

#[test]
fn surfaces_of_one_name_are_joined_and_reported() {
    let text = format!("{NODES}{TETS}*SURFACE, NAME=s\n1, S1\n*SURFACE, NAME=t\n1, S2\n*SURFACE, NAME=s\n2, S3\n");
    let loaded = load(&text).unwrap();
    assert_eq!(loaded.notes, ["several *SURFACE blocks have the same name and are joined: `s` (2 blocks)"]);
    assert_eq!(loaded.volume().face_sets()["s"], [(0, 0), (1, 2)]);
}

#[test]
fn counts_of_one_are_written_in_the_singular() {
    let text = format!("{NODES}50, 1, 1\n{TETS}");
    let expected = ["1 node has no z coordinate: it is 0", "1 node is listed again: the last position counts"];
    assert_eq!(load(&text).unwrap().notes, expected);
}

#[test]
fn a_file_that_is_cut_off_is_reported() {
    let whole = format!("{TETS}{NODES}");
    assert_eq!(load(&whole).unwrap().notes, Vec::<String>::new());
    let notes = load(whole.strip_suffix('\n').unwrap()).unwrap().notes;
    let reported = "the last line, `50, 1, 1, 1`, does not end with a line break: the file may be cut off there";
    assert_eq!(notes, [reported]);
    // Truncated comments and skipped sections lose nothing.
    for end in ["*STEP\n*STATIC\n0.1, 1.", "** the end"] {
        let notes = load(&format!("{whole}{end}")).unwrap().notes;
        assert!(!notes.iter().any(|note| note.contains("cut off")), "{notes:?}");
    }
    let part = format!("*PART, NAME=P\n{NODES}{TETS}*END PART\n*ASSEMBLY, NAME=A\n");
    for (text, message) in [
        (&part[..40], "t.inp, line 1: expected *END PART after this, found the end of the file, which may be cut off"),
        (&part, "t.inp, line 12: expected *END ASSEMBLY after this, found the end of the file, which may be cut off"),
    ] {
        assert_eq!(load(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn units_that_are_not_si_are_reported_with_those_that_fit() {
    let with = |material: &str| {
        let text = format!(
            "{NODES}*ELEMENT, TYPE=C3D4, ELSET=e\n1, 10, 20, 30, 40\n*SOLID SECTION, ELSET=e, MATERIAL=m\n,\n*MATERIAL, NAME=m\n{material}"
        );
        load(&text).unwrap().notes
    };
    let notes = with("*DENSITY\n7.85e-9,\n*ELASTIC\n210000., 0.3\n");
    assert!(notes[0].contains("in mm-t-s it is 7850 kg/m³"), "{notes:?}");
    assert!(with("*DENSITY\n7.85e-6,\n*ELASTIC\n210., 0.3\n")[0].contains("mm-kg-ms"));
    assert_eq!(with("*DENSITY\n7850.,\n*ELASTIC\n2.1e11, 0.3\n"), Vec::<String>::new());
}

#[test]
fn includes_bring_data_and_must_end() {
    let files = Memory::with("d/t.inp", "*NODE, INPUT=n.txt\n*INCLUDE, INPUT=\"e e.inp\"\n2, 20, 30, 40, 50\n")
        .and("d/n.txt", NODES.strip_prefix("*NODE\n").unwrap())
        .and("d/e e.inp", "*ELEMENT, TYPE=C3D4\n1, 10, 20, 30, 40\n");
    assert_eq!(read_from(&files, Path::new("d/t.inp")).unwrap().volume().element_count(), 2);
    let files = files.and("d/e e.inp", "*INCLUDE, INPUT=t.inp\n");
    let error = read_from(&files, Path::new("d/t.inp")).unwrap_err().to_string();
    assert_eq!(error, "d/e e.inp, line 1: expected includes without cycles, found `t.inp` again");
    let error = load("*INCLUDE, INPUT=none.inp").unwrap_err().to_string();
    assert!(
        error.starts_with("t.inp, line 1: expected a readable file `none.inp` to include, found none.inp: "),
        "{error}"
    );
}

#[test]
fn sets_of_sets_cannot_grow_without_end() {
    let mut text = format!("{NODES}{TETS}*NSET, NSET=a\n10, 20, 30, 40, 50\n");
    for _ in 0..40 {
        text.push_str("*NSET, NSET=b\na, a\n*NSET, NSET=a\nb, b\n");
    }
    let error = load(&text).unwrap_err().to_string();
    assert!(
        error.contains("expected sets with at most 64 times the total number of nodes and elements, found more"),
        "{error}"
    );
}

fn cube() -> Vec<Vec3> {
    let corners = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
    let mut vertices: Vec<Vec3> = corners.iter().map(|c| Vec3::from_array(c.map(f64::from))).collect();
    vertices[6] = Vec3::new(1.0 + 1.0 / 3.0, 1.1, 1.0 + 1e-15);
    vertices
}

fn written_and_read(mesh: &Mesh) -> (Mesh, Vec<String>) {
    let files = Memory::default();
    let notes = write_to(&files, Path::new("t.inp"), mesh, &WriteOptions::default()).unwrap();
    let loaded = read_from(&files, Path::new("t.inp")).unwrap();
    assert_eq!(loaded.notes, Vec::<String>::new());
    (loaded.mesh, notes)
}

#[test]
fn what_is_written_is_read_back() {
    let mut tets = MeshData::new(cube(), ElementKind::Tet4, vec![0, 1, 3, 4, 1, 2, 3, 6, 1, 4, 5, 6]);
    let steel = MaterialData::isotropic("steel, cold", 7800.0, 2.1e11, 0.3);
    tets.regions = vec![
        Region::named("late"),
        Region::of("my region", steel.clone()),
        Region::of("Körper", MaterialData { density: None, ..steel.clone() }),
    ];
    tets.element_region = vec![2, 1, 0];
    tets.vertex_sets.insert("1".into(), (0..8).rev().collect());
    tets.vertex_sets.insert("empty".into(), vec![]);
    tets.element_sets.insert("a=b, c".into(), vec![0, 2]);
    tets.element_sets.insert("none".into(), vec![]);
    tets.face_sets.insert("a=b, c".into(), vec![(0, 1), (2, 3)]);
    tets.face_sets.insert("none".into(), vec![]);
    tets.regions[2].material.as_mut().unwrap().name = "steel".into();
    let mut hex = MeshData::new(cube(), ElementKind::Hex8, (0..8).collect());
    hex.regions = vec![Region::of("body", steel)];
    let mut faces = Faces::uniform(4, vec![4, 5, 6, 7]);
    faces.push(&[0, 1, 2]);
    let meshes = [
        Mesh::Volume(VolumeMesh::check(hex).unwrap().mesh),
        Mesh::Volume(VolumeMesh::check(tets).unwrap().mesh),
        Mesh::Surface(SurfaceMesh::new(cube(), faces).unwrap()),
    ];
    for mesh in meshes {
        assert_eq!(written_and_read(&mesh), (mesh, vec![]));
    }
}

#[test]
fn what_cannot_be_written_is_told() {
    let mut data = MeshData::new(cube(), ElementKind::Tet4, vec![0, 1, 3, 4, 1, 2, 3, 6]);
    let moduli = Some(Moduli::MooneyRivlin { mu01: 1.0, mu10: 1.0, v1: 1.0 });
    let soft = MaterialData { name: "m".into(), density: Some(1.0), moduli };
    data.regions = vec![
        Region::of("a", soft),
        Region::of("A", MaterialData::isotropic("M", 1.0, 1.0, 0.0)),
        Region::named("nothing"),
    ];
    data.element_region = vec![0, 1];
    data.element_sets.insert("a".into(), vec![1]);
    data.element_sets.insert("say \"x\"".into(), vec![1]);
    let (mesh, notes) = written_and_read(&Mesh::Volume(VolumeMesh::check(data).unwrap().mesh));
    let Mesh::Volume(mesh) = mesh else { panic!() };
    assert_eq!(region_names(&mesh), ["a", "A_2"]);
    assert_eq!(
        notes,
        [
            "region nothing has no elements and was not written",
            "only isotropic moduli are written: those of material m, Mooney-Rivlin, were dropped",
            "written under other names: region `A` as `A_2`, element set `a` as `a_3`, \
             element set `say \"x\"` as `say _x_`, material `M` as `M_2`",
        ]
    );
    let pentagon = SurfaceMesh::new(cube(), Faces::uniform(5, vec![0, 1, 2, 3, 4])).unwrap();
    let (mesh, notes) = written_and_read(&Mesh::Surface(pentagon));
    let triangles = SurfaceMesh::new(cube(), Faces::uniform(3, vec![0, 1, 2, 0, 2, 3, 0, 3, 4])).unwrap();
    assert_eq!(mesh, Mesh::Surface(triangles));
    assert_eq!(notes, ["1 polygon with more than 4 corners was cut into triangles"]);
}

#[test]
fn errors_say_line_and_expectation() {
    let cases = [
        ("1, 2, 3\n", "line 1: expected a keyword such as *NODE, found `1, 2, 3`"),
        ("*NODE\nx, 0, 0, 0\n", "line 2: expected a node number, a whole number, found `x`"),
        ("*NODE\n1, 0\n", "line 2: expected a y coordinate, found the end of the line"),
        ("*NODE\n1, 0, inf, 0\n", "line 2: expected a y coordinate, a finite number, found `inf`"),
        ("*NODE\n1, 0, 1e400, 0\n", "line 2: expected a y coordinate, found `1e400`, which is beyond"),
        ("*NODE\n1, 0, 1dd0, 0\n", "line 2: expected a y coordinate, found `1dd0`"),
        ("*NODE, SYSTEM=C\n", "line 1: expected rectangular coordinates, found SYSTEM=C"),
        ("*ELEMENT\n", "line 1: expected TYPE= after *ELEMENT, found none"),
        (
            "*ELEMENT, TYPE=C3D10\n",
            "line 1: expected solids of 4 or 8 nodes, such as C3D4 or C3D8, found `C3D10`, second-order tetrahedra",
        ),
        ("*ELEMENT, TYPE=C3D6\n", "found `C3D6`, wedges"),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3\n", "line 2: expected a node number, found the end of the line"),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3,\n", "line 3: expected a node number, found the end of the file"),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3,\n*NODE\n", "line 3: expected a node number, found `*NODE`"),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4, 5\n", "line 2: expected 4 node numbers, found `5` too"),
        ("*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n", "line 2: expected the number of a listed node, found `1`"),
        ("NODES TETS 1, 10, 20, 30, 40\n", "line 10: expected an element number not used before, found `1`"),
        ("NODES TETS *NSET, NSET=a\n11\n", "line 11: expected the number of a listed node, found `11`"),
        (
            "NODES TETS *NSET, NSET=a\nb\n",
            "line 11: expected the number of a listed node or the name of a set, found `b`",
        ),
        ("NODES TETS *ELSET, ELSET=a\n3\n", "line 11: expected the number of a listed element, found `3`"),
        ("NODES TETS *NSET, NSET=a, GENERATE\n3\n", "line 11: expected a node number, a whole number, found ``"),
        ("NODES TETS *NSET, NSET=a, GENERATE\n3, 1\n", "line 11: expected an ascending range, found 3 to 1 by 1"),
        ("NODES TETS *NSET\n3, 1\n", "line 10: expected NSET= after *NSET, found none"),
        ("NODES TETS *NSET, NSET=a, ELSET=b\n", "line 10: expected the name of an element set, found `b`"),
        ("NODES TETS *SOLID SECTION, ELSET=a\n", "line 10: expected the name of an element set, found `a`"),
        (
            "NODES TETS *ELSET, ELSET=a\n1\n*SOLID SECTION, ELSET=a, MATERIAL=m\n",
            "line 12: expected the name of a *MATERIAL, found `m`",
        ),
        ("*DENSITY\n1\n", "line 2: expected *MATERIAL before its constants, found none"),
        (
            "*MATERIAL, NAME=m\n*ELASTIC\n",
            "line 2: expected Young's modulus and Poisson's ratio in the line after *ELASTIC, found the end of the file",
        ),
        (
            "*MATERIAL, NAME=m\n*DENSITY",
            "line 2: expected a density in the line after *DENSITY, found the end of the file",
        ),
        ("*MATERIAL, NAME=m\n*DENSITY\n*STEP\n", "line 2: expected a density in the line after *DENSITY, found *STEP"),
        (
            "*MATERIAL, NAME=m\n*ELASTIC\n1, 0.7\n",
            "line 3: expected a valid material, found one where Poisson's ratio is 0.7",
        ),
        ("*NGEN\n", "line 1: expected explicitly listed nodes and elements, found *NGEN, which is not supported"),
        (
            "*PART, NAME=p\nNODES TETS *END PART\n*ASSEMBLY\n*INSTANCE, NAME=i, PART=p\n0,0,0\n0,0,0,0,0,0,9\n",
            "line 15: expected two different points",
        ),
        ("NODES *HEADING\n", "t.inp: expected tetrahedra, hexahedra or a surface, found 5 vertices and no elements"),
    ];
    for (text, message) in cases {
        let error = load(&text.replace("NODES ", NODES).replace("TETS ", TETS)).unwrap_err().to_string();
        assert!(error.contains(message) && error.starts_with("t.inp"), "{text:?} gave {error}");
    }
}
