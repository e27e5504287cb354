//! Nodal forces for each step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadContext, LoadOptions, Loads};
use crate::scene::quantity::Time;
use crate::scene::{SceneError, bounds};
use pliant::force::ScheduledLoad;
use pliant::matrix_io;
use pliant::motion::Amplitude;

/// Nodal forces for each step, from a file.
///
/// ```toml
/// [[load]]
/// kind = { steps = { file = "forces.npy", interval = "10 ms" } }
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// File with one column per step and three rows per vertex of the scene, or such a matrix of VegaFEM.
    pub file: String,
    /// Duration of each column; by default one step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(transform = bounds::positive)]
    pub interval: Option<Time>,
}

impl LoadOptions for Steps {
    fn add(&self, context: &LoadContext<'_>, loads: &mut Loads) -> Result<(), SceneError> {
        context.vertices()?;
        let (step, is_explicit) = (context.settings().step.si, context.settings().integrator.is_explicit());
        let interval = self.interval.map_or(step, |interval| interval.si);
        if interval <= 0.0 {
            return Err(context.error(&format!("the interval is {interval} s, expected a positive time")));
        }
        let path = context.path(&self.file);
        let array = matrix_io::read_array_from(context.files(), &path).map_err(|error| context.error(&error))?;
        let (rows, columns, vertices) = (array.row_count(), array.column_count(), context.rest().len());
        if rows != 3 * vertices {
            return Err(context.error(&format!(
                "{}: {rows} rows, expected {}, three for each of {vertices} vertices",
                path.display(),
                3 * vertices,
            )));
        }
        for column in 0..columns {
            let forces: Vec<f64> = (0..rows).map(|row| array.values()[row * columns + column]).collect();
            // Implicit integrators take the forces at the end of a step, explicit ones those at its start.
            let during = (column as f64 * interval, (column + 1) as f64 * interval);
            let slack = step * if is_explicit { -1e-6 } else { 1e-6 };
            let schedule = context.amplitude();
            let amplitude = Amplitude::function(move |time| {
                let is_on = time > during.0 + slack && time <= during.1 + slack;
                if is_on { schedule.factor(time) } else { 0.0 }
            });
            let load = ScheduledLoad::from_nodal(&forces, amplitude);
            loads.nodal.push(load).map_err(|error| context.error(&error))?;
        }
        Ok(())
    }

    fn keep_times(&mut self, step: Time) {
        self.interval.get_or_insert(step);
    }

    fn visit_files(&mut self, visit: &mut dyn FnMut(&mut String)) {
        visit(&mut self.file);
    }
}
