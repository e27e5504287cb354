//! Keys of VegaFEM's interactive deformable simulator, versions 1 to 4.

/// Keys that define the simulation.
pub(super) const SIMULATION: &[&str] = &[
    "volumetricMeshFilename",
    "customMassSpringSystem",
    "deformableObjectMethod",
    "massSpringSystemObjConfigFilename",
    "massSpringSystemTetMeshConfigFilename",
    "massSpringSystemCubicMeshConfigFilename",
    "corotationalLinearFEM_warp",
    "implicitSolverMethod",
    "solver",
    "centralDifferencesTangentialDampingUpdateMode",
    "initialPositionFilename",
    "initialVelocityFilename",
    "outputFilename",
    "addGravity",
    "g",
    "secondaryRenderingMeshFilename",
    "secondaryRenderingMeshInterpolationFilename",
    "fixedVerticesFilename",
    "enableCompressionResistance",
    "compressionResistance",
    "timestep",
    "substepsPerTimeStep",
    "syncTimestepWithGraphics",
    "dampingMassCoef",
    "dampingStiffnessCoef",
    "dampingLaplacianCoef",
    "newmarkBeta",
    "newmarkGamma",
    "frequencyScaling",
    "maxIterations",
    "epsilon",
    "inversionThreshold",
    "principalStretchThreshold",
    "forceLoadsFilename",
    "invertibleMaterial",
];

/// Keys of its window and mouse interaction.
pub(super) const WINDOW: &[&str] = &[
    "renderingMeshFilename",
    "useRealTimeNormals",
    "deformableObjectCompliance",
    "forceNeighborhoodSize",
    "windowWidth",
    "windowHeight",
    "cameraRadius",
    "focusPositionX",
    "focusPositionY",
    "focusPositionZ",
    "cameraLongitude",
    "cameraLattitude",
    "renderWireframe",
    "renderSecondaryDeformableObject",
    "renderAxes",
    "extraSceneGeometry",
    "enableTextures",
    "backgroundColor",
    "lightingConfigFilename",
    "groundPlane",
    "singleStepMode",
    "pauseSimulation",
    "lockAt30Hz",
];

/// Keys of the number of threads.
pub(super) const THREADS: &[&str] = &["numInternalForceThreads", "numSolverThreads"];

/// Keys that its examples contain but it does not read, because the mesh file has these values.
pub(super) const UNREAD: &[&str] = &["YoungModulus", "PoissonRatio"];

/// Keys of the files that define springs along the edges of tetrahedra or cubes.
pub(super) const SPRINGS: &[&str] = &[
    "tetMeshFilename",
    "cubicMeshFilename",
    "surfaceMeshFilename",
    "density",
    "tensileStiffness",
    "damping",
    "addGravity",
];

/// Returns every key that a `.config` file may have.
pub fn keys() -> impl Iterator<Item = &'static str> {
    [SIMULATION, WINDOW, THREADS, UNREAD].into_iter().flatten().copied()
}

/// Returns every key that a mass–spring file, `.massspring`, may have.
pub fn spring_keys() -> impl Iterator<Item = &'static str> {
    SPRINGS.iter().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_key_is_listed_once() {
        let all: Vec<String> = super::keys().map(str::to_lowercase).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
    }
}
