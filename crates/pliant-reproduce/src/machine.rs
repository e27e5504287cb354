//! Where an experiment was run.

use pliant::math::lane_count;
use serde::{Deserialize, Serialize};

/// A machine, and the build of Pliant on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// What its processor calls itself, where the system tells.
    pub cpu: String,
    /// How many there are.
    pub cores: usize,
    /// How many doubles a vector register has.
    pub lanes: usize,
    /// How many threads Pliant uses where an experiment does not say otherwise.
    pub threads: usize,
    /// Of Pliant.
    pub version: String,
    /// Release, or with debug assertions.
    pub build: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
        let build = if cfg!(debug_assertions) { "with debug assertions" } else { "release" };
        Self {
            cpu: model.map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into()),
            cores: std::thread::available_parallelism().map_or(1, Into::into),
            lanes: lane_count(),
            threads: rayon::current_num_threads(),
            version: env!("CARGO_PKG_VERSION").into(),
            build: build.into(),
        }
    }
}
