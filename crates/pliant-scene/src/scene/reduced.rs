//! Reduced models: `reduced`.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{Located, SceneFile, text_or_table};
use pliant::files::Files;
use pliant::model::Model;
use pliant::reduced::{CubatureParams, Forces, Reduction, ReductionError, ReductionParams};

/// Reduced model: a file that `pliant reduce` has written for the scene, or the settings to build one.
///
/// A body without fixed vertices is described in a co-rotated frame. Its momentum is conserved exactly, and everything
/// else is of first order in the time step. It should rotate by at most a fiftieth of a radian per step. The scene must
/// have one such body, or bodies that all have fixed vertices.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReducedChoice {
    /// Name of a file. Meshes, materials and fixed vertices must be the ones that the file was created with. Forces,
    /// obstacles and time steps may change.
    File(String),
    /// Settings of a model that is built whenever the scene is read, which takes a while for large meshes.
    Here(Reduced),
}

impl<'de> Deserialize<'de> for ReducedChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a file with a reduced model, or a table such as { size = 30 }";
        text_or_table(deserializer, expected, Self::File, Self::Here)
    }
}

/// Settings of a reduced model, which is built from natural modes and modal derivatives.
///
/// ```toml
/// reduced = { size = 30, forces = "cubature" }
///
/// [[fixed]]
/// vertices = "start"
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reduced {
    /// Number of basis vectors.
    #[schemars(range(min = 1))]
    pub size: usize,
    /// Number of natural modes. By default two fifths of `size`, but at most 20; for a linear law, `size`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<usize>,
    /// Number of modes whose derivatives are included; by default all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derivatives: Option<usize>,
    /// Evaluation of elastic forces.
    #[serde(default)]
    pub forces: ReducedForces,
}

/// Evaluation of the elastic forces of a reduced model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReducedForces {
    /// Default for the law: a polynomial for St. Venant–Kirchhoff, a diagonal product for a linear law, and cubature
    /// for others.
    #[default]
    Auto,
    /// All elements: exact but slow.
    Projection,
    /// Cubature: a few weighted elements that represent all.
    Cubature,
}

impl ReducedChoice {
    /// Reads or builds the reduction of the model of a scene.
    pub(super) fn reduction(
        choice: &Located<Self>,
        file: &SceneFile,
        files: &dyn Files,
        model: &Model,
    ) -> Result<Reduction, ReductionError> {
        let Reduced { size, modes, derivatives, forces } = match &choice.value {
            Self::File(name) => return Reduction::read(files, &file.source.folder.join(name), model),
            Self::Here(params) => params.clone(),
        };
        let forces = match forces {
            ReducedForces::Auto => Forces::Auto,
            ReducedForces::Projection => Forces::Projection,
            ReducedForces::Cubature => Forces::Cubature(CubatureParams::default()),
        };
        let params = ReductionParams { modes, derivatives, forces, ..ReductionParams::new(size) };
        Reduction::new(model, &params, &mut |_| ControlFlow::Continue(())).map(|(reduction, _)| reduction)
    }
}
