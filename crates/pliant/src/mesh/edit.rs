//! Transforming, merging and extracting meshes.

use thiserror::Error;

use super::check::Change;
use super::{ElementFace, FaceSets, MeshData, MeshError, Moduli, Region, Sets, VolumeMesh};
use crate::math::{Affine3, Mat3, Matrix, SignedSvd};

/// Reason why a mesh could not be edited.
#[derive(Debug, Clone, PartialEq, Error)]
#[allow(missing_docs, reason = "the message says what each part is")]
#[non_exhaustive]
pub enum EditError {
    #[error("the transformation has an entry that is not finite")]
    NotFinite,
    #[error("the transformation is singular: its determinant is {determinant}")]
    Flattening { determinant: f64 },
    #[error("cannot merge {a} (`{first}`) with {b} (`{second}`); split the hexahedra into tetrahedra first")]
    Mixed { first: String, a: &'static str, second: String, b: &'static str },
    #[error("there is no region `{name}`; there are {known}")]
    NoRegion { name: String, known: String },
    #[error("element {element} does not exist: expected a number below {count}")]
    NoElement { element: u32, count: usize },
    #[error("element {element} cannot be refined: its Jacobian is negative near a corner")]
    Folded { element: u32 },
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

/// Part of a mesh, with its numbering in the whole mesh.
#[derive(Debug, Clone)]
pub struct Extracted {
    /// Extracted mesh.
    pub mesh: VolumeMesh,
    /// Number in the whole mesh of each vertex of the part.
    pub vertices: Vec<u32>,
    /// Number in the whole mesh of each element of the part.
    pub elements: Vec<u32>,
    /// Changes to sets that the user should know about.
    pub report: ExtractReport,
}

/// Changes to the sets of a mesh when a part is extracted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExtractReport {
    /// Names of the vertex sets without a vertex of the part, which were dropped.
    pub dropped_vertex_sets: Vec<String>,
    /// Names of the element sets without an element of the part, which were dropped.
    pub dropped_element_sets: Vec<String>,
    /// Names of the face sets without a face of the part, which were dropped.
    pub dropped_face_sets: Vec<String>,
    /// Face sets with faces that belonged to elements outside the part and now belong to their neighbors, with the
    /// number of those faces.
    pub reassigned_face_sets: Vec<(String, usize)>,
}

impl ExtractReport {
    /// Returns one sentence per finding.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let dropped = [
            ("vertex set", "vertices", &self.dropped_vertex_sets),
            ("element set", "elements", &self.dropped_element_sets),
            ("face set", "faces", &self.dropped_face_sets),
        ];
        for (what, members, names) in dropped.into_iter().filter(|(.., names)| !names.is_empty()) {
            let (s, have) = if names.len() == 1 { ("", "has") } else { ("s", "have") };
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            lines.push(format!("{what}{s} {} {have} no {members} in this part: dropped", names.join(", ")));
        }
        for (name, count) in &self.reassigned_face_sets {
            let (faces, are, those) =
                if *count == 1 { ("face", "is a side", "that") } else { ("faces", "are sides", "those") };
            lines.push(format!(
                "{count} {faces} of `{name}` {are} of elements that were left out: {those} of the neighbors that are kept {} taken, with the \
                 opposite normal",
                if *count == 1 { "is" } else { "are" }
            ));
        }
        lines
    }
}

impl VolumeMesh {
    /// Returns the mesh with every vertex moved by an affine map. A reflection reverses the winding of the elements.
    /// The axes of orthotropic materials rotate with the body.
    pub fn transformed(&self, map: Affine3) -> Result<Self, EditError> {
        regular(&map)?;
        let mut data = self.data_without_vertices();
        for moduli in data.regions.iter_mut().filter_map(|region| region.material.as_mut()?.moduli.as_mut()) {
            if let Moduli::Orthotropic { axes, .. } = moduli {
                let old = Mat3::from_cols_array(axes).transpose();
                *axes = (rotation_of(&map.matrix3) * old).transpose().to_cols_array();
            }
        }
        let vertices = self.vertices.iter().map(|&x| map.transform_point3(x)).collect();
        Ok(Self::derive(data, vertices, Change::Geometry)?.mesh)
    }

    /// Merges several named objects into one mesh. Regions and sets are called `object.region` and `object.set`.
    /// Vertices and elements are numbered object by object, in order.
    pub fn merge(objects: &[(&str, &Self)]) -> Result<Self, EditError> {
        let Some(&(first, reference)) = objects.first() else {
            return Err(MeshError::from(super::Defect::NoElements).into());
        };
        let mut merged = MeshData::new(Vec::new(), reference.kind, Vec::new());
        for &(name, mesh) in objects {
            if mesh.kind != reference.kind {
                let (a, b) = (reference.kind.plural(), mesh.kind.plural());
                return Err(EditError::Mixed { first: first.into(), a, second: name.into(), b });
            }
            let vertices = offset(merged.vertices.len())?;
            let elements = offset(merged.elements.len() / mesh.kind.nodes())?;
            let regions = merged.regions.len() as u32;
            let full = |part: &str| format!("{name}.{part}");
            merged.vertices.extend_from_slice(&mesh.vertices);
            merged.elements.extend(mesh.elements.iter().map(|v| v.saturating_add(vertices)));
            merged.element_region.extend(mesh.element_region.iter().map(|r| r + regions));
            let named = |region: &Region| Region { name: full(&region.name), ..region.clone() };
            merged.regions.extend(mesh.regions.iter().map(named));
            let shifted = |sets: &Sets, by: u32| -> Sets {
                sets.iter().map(|(set, members)| (full(set), members.iter().map(|i| i + by).collect())).collect()
            };
            merged.vertex_sets.extend(shifted(&mesh.vertex_sets, vertices));
            merged.element_sets.extend(shifted(&mesh.element_sets, elements));
            let faces = |set: &[ElementFace]| set.iter().map(|&(element, side)| (element + elements, side)).collect();
            merged.face_sets.extend(mesh.face_sets.iter().map(|(set, members)| (full(set), faces(members))));
        }
        let vertices = std::mem::take(&mut merged.vertices).into();
        Ok(Self::derive(merged, vertices, Change::Numbers)?.mesh)
    }

    /// Extracts the given elements, in this order, with the vertices, regions and members of sets that they use.
    pub fn extract(&self, elements: &[u32]) -> Result<Extracted, EditError> {
        let count = self.element_count();
        if let Some(&element) = elements.iter().find(|&&e| e as usize >= count) {
            return Err(EditError::NoElement { element, count });
        }
        let mut new_vertex = vec![u32::MAX; self.vertex_count()];
        for &v in elements.iter().flat_map(|&e| self.element(e as usize)) {
            new_vertex[v as usize] = 0;
        }
        let vertices: Vec<u32> = (0..self.vertex_count() as u32).filter(|&v| new_vertex[v as usize] == 0).collect();
        for (new, &old) in vertices.iter().enumerate() {
            new_vertex[old as usize] = new as u32;
        }
        let mut new_element = vec![u32::MAX; count];
        for (new, &old) in elements.iter().enumerate() {
            new_element[old as usize] = new as u32;
        }
        let mut used = vec![false; self.regions.len()];
        elements.iter().for_each(|&e| used[self.element_region[e as usize] as usize] = true);
        let kept: Vec<u32> = (0..self.regions.len() as u32).filter(|&r| used[r as usize]).collect();
        let new_region = |r: u32| kept.binary_search(&r).unwrap_or(0) as u32;
        let positions = vertices.iter().map(|&v| self.vertices[v as usize]).collect();
        let corners =
            elements.iter().flat_map(|&e| self.element(e as usize)).map(|&v| new_vertex[v as usize]).collect();
        let mut report = ExtractReport::default();
        let data = MeshData {
            regions: kept.iter().map(|&r| self.regions[r as usize].clone()).collect(),
            element_region: elements.iter().map(|&e| new_region(self.element_region[e as usize])).collect(),
            vertex_sets: renamed(&self.vertex_sets, &new_vertex, &mut report.dropped_vertex_sets),
            element_sets: renamed(&self.element_sets, &new_element, &mut report.dropped_element_sets),
            face_sets: self.extracted_faces(elements, &new_element, &mut report),
            ..MeshData::new(Vec::new(), self.kind, corners)
        };
        let mesh = Self::derive(data, positions, Change::Numbers)?.mesh;
        Ok(Extracted { mesh, vertices, elements: elements.to_vec(), report })
    }

    /// Returns the faces of sets that belong to kept elements, each as the side of one of them. Sets that lose all
    /// members are dropped.
    fn extracted_faces(&self, elements: &[u32], new_element: &[u32], report: &mut ExtractReport) -> FaceSets {
        // A face between a kept element and a removed one becomes the side of the kept one, which faces the other way.
        let lost = |face: &&ElementFace| new_element[face.0 as usize] == u32::MAX;
        let polygons: Vec<Vec<u32>> =
            self.face_sets.values().flatten().filter(lost).map(|&face| self.face_vertices(face).collect()).collect();
        let kept: Vec<u32> = elements.iter().flat_map(|&e| self.element(e as usize)).copied().collect();
        let mut other_sides =
            super::find_faces(self.kind, &kept, self.vertex_count(), polygons.iter().map(Vec::as_slice)).into_iter();
        let mut moved = |face: &ElementFace| match new_element[face.0 as usize] {
            u32::MAX => other_sides.next().flatten(),
            element => Some((element, face.1)),
        };
        let mut sets = FaceSets::new();
        for (name, set) in &self.face_sets {
            let members: Vec<ElementFace> = set.iter().filter_map(&mut moved).collect();
            if members.is_empty() {
                report.dropped_face_sets.push(name.clone());
                continue;
            }
            let turned = members.len() - set.iter().filter(|face| !lost(face)).count();
            if turned > 0 {
                report.reassigned_face_sets.push((name.clone(), turned));
            }
            sets.insert(name.clone(), members);
        }
        sets
    }

    /// Extracts the elements of the region called `name`.
    pub fn extract_region(&self, name: &str) -> Result<Extracted, EditError> {
        let Some(region) = self.region_index(name) else {
            let known = self.regions.iter().map(|r| format!("`{}`", r.name)).collect::<Vec<_>>().join(", ");
            return Err(EditError::NoRegion { name: name.into(), known });
        };
        let elements = (0..).zip(&self.element_region).filter(|&(_, &r)| r as usize == region).map(|(e, _)| e);
        self.extract(&elements.collect::<Vec<_>>())
    }

    /// Returns the mesh without vertices that no element uses.
    pub fn without_unused_vertices(&self) -> Result<Extracted, EditError> {
        self.extract(&(0..self.element_count() as u32).collect::<Vec<_>>())
    }
}

/// Returns the determinant of an invertible map.
pub(super) fn regular(map: &Affine3) -> Result<f64, EditError> {
    let determinant = map.matrix3.determinant();
    if !map.is_finite() {
        return Err(EditError::NotFinite);
    }
    if determinant == 0.0 || !determinant.is_finite() {
        Err(EditError::Flattening { determinant })
    } else {
        Ok(determinant)
    }
}

/// Returns the rotation nearest to a regular matrix, or to its mirror image.
fn rotation_of(matrix: &Mat3) -> Mat3 {
    let rows = (*matrix * matrix.determinant().signum()).transpose().to_cols_array_2d();
    Mat3::from_cols_array_2d(&SignedSvd::new(&Matrix(rows)).rotation().0).transpose()
}

/// Returns the members that still exist, under their new numbers. Sets that lose all members are dropped.
fn renamed(sets: &Sets, new: &[u32], dropped: &mut Vec<String>) -> Sets {
    let members = |set: &[u32]| set.iter().map(|&i| new[i as usize]).filter(|&i| i != u32::MAX).collect::<Vec<_>>();
    let all = sets.iter().map(|(name, set)| (name.clone(), members(set)));
    let (kept, empty): (Sets, Sets) = all.partition(|(_, set)| !set.is_empty());
    dropped.extend(empty.into_keys());
    kept
}

/// Converts a count to the number of the next item.
fn offset(count: usize) -> Result<u32, MeshError> {
    u32::try_from(count).map_err(|_| super::Defect::TooManyVertices { count }.into())
}

#[cfg(test)]
mod tests {
    use super::super::{Cells, MaterialData, generate};
    use super::*;
    use crate::math::{Mat3, Vec3};

    fn bar() -> VolumeMesh {
        generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Tet6).unwrap()
    }

    #[test]
    fn a_mirrored_mesh_has_the_same_volume_and_closed_outward_boundary() {
        let mirror = Affine3::from_mat3(Mat3::from_diagonal(Vec3::new(-1.0, 1.0, 1.0)));
        let mesh = bar().transformed(mirror).unwrap();
        assert!((mesh.volume() - 2.0).abs() < 1e-14);
        assert!((mesh.boundary().surface.enclosed_volume() - 2.0).abs() < 1e-14);
        assert!(mesh.boundary().surface.report().is_closed());
    }

    #[test]
    fn a_flattening_map_is_refused() {
        let flat = Affine3::from_scale(Vec3::new(1.0, 0.0, 1.0));
        assert_eq!(bar().transformed(flat), Err(EditError::Flattening { determinant: 0.0 }));
        let nan = bar().transformed(Affine3::from_scale(Vec3::splat(f64::NAN)));
        assert_eq!(nan, Err(EditError::NotFinite));
    }

    #[test]
    fn orthotropic_axes_turn_with_the_body() {
        let mut data = bar().into_data();
        let moduli = Moduli::Orthotropic {
            young: [3.0, 2.0, 1.0],
            poisson: [0.1; 3],
            shear: [1.0; 3],
            axes: Mat3::IDENTITY.to_cols_array(),
        };
        data.regions[0].material = Some(MaterialData { name: "wood".into(), density: None, moduli: Some(moduli) });
        let turn = Mat3::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let stretched = Affine3::from_mat3(turn * Mat3::from_diagonal(Vec3::new(3.0, 1.0, 0.5)));
        let mesh = VolumeMesh::check(data).unwrap().mesh.transformed(stretched).unwrap();
        let Some(Moduli::Orthotropic { axes, .. }) = mesh.regions()[0].material.clone().unwrap().moduli else {
            panic!()
        };
        // Row by row; the columns are the material axes, the first along y.
        let expected = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
        assert!(axes.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14), "{axes:?}");
    }

    #[test]
    fn a_mirrored_surface_still_looks_outward() {
        let surface = bar().boundary().surface;
        let mirror = Affine3::from_mat3(Mat3::from_diagonal(Vec3::new(-1.0, 2.0, 1.0)));
        let mirrored = surface.transformed(mirror).unwrap();
        assert!((mirrored.enclosed_volume() - 4.0).abs() < 1e-14 && mirrored.report().is_closed());
    }

    #[test]
    fn merged_objects_keep_their_names_and_materials() {
        let (a, mut b) = (bar(), bar().into_data());
        b.regions[0].material = Some(MaterialData::isotropic("steel", 7800.0, 2e11, 0.3));
        b.element_sets.insert("first".into(), vec![0]);
        let b = VolumeMesh::check(b).unwrap().mesh;
        let both = VolumeMesh::merge(&[("left", &a), ("right", &b)]).unwrap();
        assert!((both.volume() - 4.0).abs() < 1e-13);
        assert_eq!(both.regions()[0].name, "left.body");
        assert_eq!(both.regions()[1].material.as_ref().unwrap().name, "steel");
        assert_eq!(both.element_sets()["right.first"], [a.element_count() as u32]);
        let moved = &both.vertex_sets()["right.x-max"];
        assert!(moved.iter().all(|&v| both.vertices()[v as usize].x == 2.0 && v as usize >= a.vertex_count()));
    }

    #[test]
    fn tets_and_hexes_do_not_merge() {
        let hexes = generate::block([1.0; 3], [1, 1, 1], Cells::Hex).unwrap();
        let error = VolumeMesh::merge(&[("bar", &bar()), ("brick", &hexes)]).unwrap_err();
        assert!(error.to_string().contains("tetrahedra (`bar`) with hexahedra (`brick`)"));
    }

    #[test]
    fn an_extracted_region_has_only_its_own_vertices_and_knows_where_they_were() {
        let mut data = bar().into_data();
        data.regions = vec![Region::named("near"), Region::named("far")];
        data.element_region = (0..12).map(|e| u32::from(e >= 6)).collect();
        let mesh = VolumeMesh::check(data).unwrap().mesh;
        let far = mesh.extract_region("far").unwrap();
        assert_eq!(far.elements, (6..12).collect::<Vec<_>>());
        assert_eq!((far.mesh.vertex_count(), far.mesh.regions().len()), (8, 1));
        assert!((far.mesh.volume() - 1.0).abs() < 1e-14);
        for (new, &old) in far.vertices.iter().enumerate() {
            assert_eq!(far.mesh.vertices()[new], mesh.vertices()[old as usize]);
        }
        assert!(!far.mesh.vertex_sets().contains_key("x-min"));
        assert_eq!(far.mesh.vertex_sets()["x-max"].len(), 4);
        let dropped = [
            "vertex set `x-min` has no vertices in this part: dropped",
            "face set `x-min` has no faces in this part: dropped",
        ];
        assert_eq!(far.report.lines(), dropped);
        assert!(mesh.extract_region("middle").unwrap_err().to_string().contains("`near`, `far`"));
    }

    #[test]
    fn unused_vertices_can_be_dropped() {
        let mut data = bar().into_data();
        data.vertices.insert(0, Vec3::splat(9.0));
        data.elements.iter_mut().for_each(|v| *v += 1);
        data.vertex_sets.clear();
        let kept = VolumeMesh::check(data).unwrap().mesh.without_unused_vertices().unwrap();
        assert_eq!(kept.vertices[0], 1);
        assert_eq!(kept.mesh.vertices(), bar().vertices());
    }
}
