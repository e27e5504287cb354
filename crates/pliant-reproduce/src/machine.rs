//! Description of the machine that ran an experiment.

use pliant::math::lane_count;
use serde::{Deserialize, Serialize};

/// Machine and the build of Pliant on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Model name of the processor, or its architecture.
    pub cpu: String,
    /// Number of cores.
    pub cores: usize,
    /// Number of doubles in a vector register.
    pub lanes: usize,
    /// Default number of threads.
    pub threads: usize,
    /// Version of Pliant.
    pub version: String,
    /// Build profile: release, or with debug assertions.
    pub build: String,
}

impl Machine {
    /// Returns this machine.
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
