//! Bodies: meshes with their materials.

use std::collections::BTreeMap;
use std::sync::Arc;

use pliant::mesh::VolumeMesh;
use pliant::model;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::errors::Kind;
use crate::material::{Material, material_error};
use crate::mesh::Mesh;
use crate::work::work;

/// A mesh with its materials, for models of several bodies. See :class:`Model`.
///
/// >>> ball = pliant.Mesh.ball(0.1, across=4)
/// >>> rubber = pliant.materials.neo_hookean(young=1e6, poisson=0.4, density=1000)
/// >>> bodies = [pliant.Body(ball, rubber, name="left"), pliant.Body(ball.translated((1, 0, 0)), rubber, name="right")]
/// >>> pliant.Model(bodies)
/// <pliant.Model: 2 bodies, 106 vertices, 320 elements>
#[pyclass(frozen, module = "pliant")]
#[derive(Debug)]
pub struct Body {
    pub inner: model::Body,
    /// Name of the elastic law, if the material specifies one.
    pub law: Option<String>,
}

#[pymethods]
impl Body {
    /// Creates a body from a mesh with one material, with one material per region name, or with the materials of its
    /// file.
    #[new]
    #[pyo3(signature = (mesh, material=None, *, name="body"))]
    pub fn new(
        py: Python<'_>,
        mesh: &Bound<'_, Mesh>,
        material: Option<&Bound<'_, PyAny>>,
        name: &str,
    ) -> PyResult<Self> {
        let mesh = &mesh.get().inner;
        let (materials, densities, law) = materials_of(mesh, material)?;
        let name = name.to_owned();
        let inner = work(py, || model::Body {
            name,
            mesh: (**mesh).clone(),
            materials,
            densities,
            kinematics: model::Kinematics::Deformable,
        });
        Ok(Self { inner, law })
    }

    /// Name of the body.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    fn __repr__(&self) -> String {
        let elements = self.inner.mesh.kind().count(self.inner.mesh.element_count());
        format!("<pliant.Body {:?}: {elements}>", self.inner.name)
    }
}

/// Materials and densities of the regions of a mesh, and the law if one is specified. The densities are empty if a
/// region has none.
type Materials = (Vec<pliant::material::Material>, Vec<f64>, Option<String>);

fn materials_of(mesh: &Arc<VolumeMesh>, material: Option<&Bound<'_, PyAny>>) -> PyResult<Materials> {
    let usual = pliant_scene::scene::MaterialSettings::default();
    let mut by_name: BTreeMap<String, Py<Material>> = BTreeMap::new();
    let mut one = None;
    if let Some(given) = material {
        if let Ok(table) = given.cast::<PyMapping>() {
            let table = PyDict::from_sequence(table.items()?.as_any())?;
            by_name =
                table.extract().map_err(|_| PyTypeError::new_err("material: expected {region: pliant.Material}"))?;
        } else if let Ok(material) = given.cast::<Material>() {
            one = Some(material.get());
        } else {
            return Err(PyTypeError::new_err("material: expected a pliant.Material, or {region: pliant.Material}"));
        }
    }
    let names = || mesh.regions().iter().map(|region| format!("`{}`", region.name)).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = by_name.keys().find(|name| mesh.region_index(name).is_none()) {
        return Err(Kind::Model.error(format!("unknown region `{unknown}`; expected one of {}", names())));
    }
    let (mut materials, mut densities) = (Vec::new(), Some(Vec::new()));
    for region in mesh.regions() {
        let given = match by_name.get(&region.name) {
            Some(material) => &material.get().inner,
            None if !by_name.is_empty() => {
                return Err(Kind::Model.error(format!(
                    "region `{}` has no material; the regions are {}",
                    region.name,
                    names()
                )));
            }
            None => one.map_or(&usual, |material| &material.inner),
        };
        materials.push(given.elasticity(region).map_err(|error| material_error(&error))?);
        // One region without a density makes the mass of the body undefined.
        let density = given.density_if_given(region).map_err(|error| material_error(&error))?;
        match density {
            Some(density) => densities.iter_mut().for_each(|list| list.push(density)),
            None => densities = None,
        }
    }
    let law =
        one.and_then(Material::own_law).or_else(|| by_name.values().find_map(|material| material.get().own_law()));
    Ok((materials, densities.unwrap_or_default(), law))
}
