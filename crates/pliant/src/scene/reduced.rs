//! Reduced models: `reduced`.

use std::ops::ControlFlow;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{At, SceneFile, text_or_table};
use crate::io::Files;
use crate::model::Model;
use crate::reduced::{CubatureParams, Forces, Reduction, ReductionError, ReductionParams};

/// A reduced model: a file that `pliant reduce` has made of the scene, or how to make one.
///
/// A body that nothing holds moves in a frame that moves along with it: momentum is exact, all else of first order in the step, and a step should turn it by at most a
/// fiftieth of a radian. There must be one such body, or bodies that are all held.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReducedChoice {
    /// A file. Meshes, materials and holds must be those that it was made of; forces, obstacles and steps may change.
    File(String),
    /// Made whenever the scene is read, which for large meshes takes a while.
    Here(Reduced),
}

impl<'de> Deserialize<'de> for ReducedChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the file of a reduced model, or a table such as { size = 30 }";
        text_or_table(deserializer, expected, Self::File, Self::Here)
    }
}

/// How a reduced model is made: of natural modes and their derivatives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reduced {
    /// How many directions the body moves in.
    #[schemars(range(min = 1))]
    pub size: usize,
    /// How many modes these are made of; by default two fifths of the size, at most 20, and all for a linear law.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<usize>,
    /// Of how many of the modes the derivatives too; by default of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derivatives: Option<usize>,
    /// How elastic forces are worked out.
    #[serde(default)]
    pub forces: ReducedForces,
}

/// How the elastic forces of a reduced model are worked out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReducedForces {
    /// As suits the law: a polynomial for St. Venant–Kirchhoff, a product for a linear law, and cubature for others.
    #[default]
    Auto,
    /// With all elements: exact, and slow.
    Projection,
    /// With a few elements that stand for all.
    Cubature,
}

impl ReducedChoice {
    /// The reduced model of the model of a scene.
    pub(super) fn reduction(
        choice: &At<Self>,
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
