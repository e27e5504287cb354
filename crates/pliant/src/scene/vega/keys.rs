//! The keys of VegaFEM's interactive deformable simulator, versions 1 to 4.

/// Keys that say what is simulated, and how.
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

/// Keys that concern its window and the mouse in it.
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

/// Keys that say how many threads it has.
pub(super) const THREADS: &[&str] = &["numInternalForceThreads", "numSolverThreads"];

/// Keys that its examples have, but it does not read: the mesh file says this.
pub(super) const UNREAD: &[&str] = &["YoungModulus", "PoissonRatio"];

/// Keys of the files that describe springs along the edges of tetrahedra or cubes.
pub(super) const SPRINGS: &[&str] = &[
    "tetMeshFilename",
    "cubicMeshFilename",
    "surfaceMeshFilename",
    "density",
    "tensileStiffness",
    "damping",
    "addGravity",
];

/// Every key that a `.config` file may have.
pub fn keys() -> impl Iterator<Item = &'static str> {
    [SIMULATION, WINDOW, THREADS, UNREAD].into_iter().flatten().copied()
}

/// Every key that a file of springs, `.massspring`, may have.
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
