"""Simulate 3D deformable solids with finite elements.

>>> mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2)
>>> rubber = pliant.materials.neo_hookean(young=1e6, poisson=0.4, density=1000)
>>> model = pliant.Model(mesh, rubber, fixed="start")
>>> u = model.static_solve(gravity=(0, -9.81, 0))
>>> print(f"the end sinks by {-u[mesh.vertex_sets['end'], 1].mean():.3f} m")
the end sinks by 0.636 m

Quantities are numbers in SI units or strings with a unit, such as ``"1 MPa"``. All arrays of quantities are float64.
"""

import atexit as _atexit
import os as _os
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import errors, integrators, materials, solvers
from ._pliant import (
    Body,
    Contacts,
    Embedding,
    Fixed,
    Handle,
    Integrator,
    Material,
    Mesh,
    Model,
    Observation,
    Obstacle,
    Pressure,
    ReducedModel,
    Simulation,
    Solver,
    Springs,
    StepInfo,
    Surface,
    __version__,
    _after_fork,
    _at_exit,
    _generate,
    _renamed,
    set_threads,
    threads,
)
from ._choices import GENERATORS as _GENERATORS
from ._choices import OBSTACLES as _OBSTACLES
from .errors import (
    CheckpointError,
    FileError,
    MaterialError,
    MeshError,
    MissingFileError,
    ModelError,
    PliantError,
    PliantWarning,
    SceneError,
    SolveError,
)

__all__ = [
    "Body",
    "CheckpointError",
    "Contacts",
    "Embedding",
    "FileError",
    "Fixed",
    "Handle",
    "Integrator",
    "Material",
    "MaterialError",
    "Mesh",
    "MeshError",
    "MissingFileError",
    "Model",
    "ModelError",
    "Observation",
    "Obstacle",
    "PliantError",
    "PliantWarning",
    "Pressure",
    "ReducedModel",
    "SceneError",
    "Simulation",
    "SolveError",
    "Solver",
    "Springs",
    "StepInfo",
    "Surface",
    "__version__",
    "errors",
    "integrators",
    "materials",
    "set_threads",
    "solvers",
    "threads",
]

_OBSTACLES.attach(Obstacle, Obstacle)
_GENERATORS.attach(Mesh, _generate)

_atexit.register(_at_exit)
if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_after_fork)

# Type checkers would accept any name.
if not _TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        new = {old: new for owner, old, new in _renamed() if owner == "pliant"}.get(name)
        hint = f"; it is called {new!r} now" if new else ""
        raise AttributeError(f"module 'pliant' has no attribute {name!r}{hint}", name=name)
