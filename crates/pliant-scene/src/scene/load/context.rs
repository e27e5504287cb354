//! Context of loads besides their options, and their contributions to a model.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use super::Load;
use crate::scene::build::BuildContext;
use crate::scene::{Located, SceneError, Selection, Settings};
use pliant::files::Files;
use pliant::force::{Force, NodalLoads, Patch, ScheduledLoad};
use pliant::math::Vec3;
use pliant::model::ModelBuilder;
use pliant::motion::Amplitude;

/// Vertices, and the impulse \[N s\] that they share.
pub type Impulse = (Vec<u32>, Vec3);

/// Loads of a scene.
#[derive(Debug)]
pub struct Loads {
    /// Forces on vertices.
    pub nodal: NodalLoads,
    /// All other forces.
    pub forces: Vec<Box<dyn Force>>,
    /// Impulses at the start, distributed by mass.
    pub impulses: Vec<Impulse>,
}

impl Loads {
    /// Adds the forces to a model.
    pub(in super::super) fn add_to(self, mut builder: ModelBuilder) -> ModelBuilder {
        if !self.nodal.scheduled().is_empty() {
            builder = builder.force(self.nodal);
        }
        self.forces.into_iter().fold(builder, ModelBuilder::boxed_force)
    }
}

/// Context of a load besides its options: the objects, the selection and the schedule.
pub struct LoadContext<'a> {
    context: &'a BuildContext<'a>,
    settings: &'a Settings,
    load: &'a Load,
    amplitude: Amplitude,
}

impl fmt::Debug for LoadContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadContext").field("load", self.load).finish_non_exhaustive()
    }
}

impl<'a> LoadContext<'a> {
    pub(super) fn new(
        context: &'a BuildContext<'a>,
        settings: &'a Settings,
        load: &'a Load,
    ) -> Result<Self, SceneError> {
        let amplitude = match &load.schedule {
            None => Amplitude::default(),
            Some(schedule) => Amplitude::keyframes(schedule.iter().map(|(time, factor)| (time.si, *factor)))
                .map_err(|error| context.error(schedule.span.as_ref(), error.to_string()))?,
        };
        Ok(Self { context, settings, load, amplitude })
    }

    fn selection(&self) -> &Located<Selection> {
        self.load.faces.as_ref().unwrap_or(&self.load.vertices)
    }

    /// Returns the rest positions of all vertices \[m\].
    pub fn rest(&self) -> &Arc<[Vec3]> {
        &self.context.rest
    }

    /// Returns the selected vertices.
    pub fn vertices(&self) -> Result<Vec<u32>, SceneError> {
        self.context.select(self.load.object.as_ref(), self.selection())
    }

    /// Returns the selected faces, or else the boundary faces between the selected vertices.
    pub fn faces(&self) -> Result<Patch, SceneError> {
        self.context.faces(self.load.object.as_ref(), self.selection())
    }

    /// Returns true if the scene selects faces, not vertices.
    pub fn selects_faces(&self) -> bool {
        self.load.faces.is_some()
    }

    /// Returns the time-dependent factor.
    pub fn amplitude(&self) -> Amplitude {
        self.amplitude.clone()
    }

    /// Returns the settings of the simulation.
    pub fn settings(&self) -> &Settings {
        self.settings
    }

    /// Returns the source of files.
    pub fn files(&self) -> &dyn Files {
        self.context.files
    }

    /// Returns the path of a file that is relative to the folder of the scene.
    pub fn path(&self, name: &str) -> PathBuf {
        self.context.source.folder.join(name)
    }

    /// Returns an error that refers to the kind and the value of the load.
    pub fn error(&self, message: &impl fmt::Display) -> SceneError {
        self.context.error(self.load.kind.span.as_ref(), message.to_string())
    }

    /// Adds forces \[N\], three numbers for each vertex.
    pub fn add_nodal(&self, forces: &[f64], loads: &mut Loads) -> Result<(), SceneError> {
        let load = ScheduledLoad::from_nodal(forces, self.amplitude());
        loads.nodal.push(load).map(drop).map_err(|error| self.error(&error))
    }
}
