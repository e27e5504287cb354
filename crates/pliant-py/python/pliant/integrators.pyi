from typing import Literal

from ._pliant import Integrator, Solver
from ._types import Quantity

__all__ = [
    "backward_euler",
    "bdf2",
    "central_differences",
    "exact_modes",
    "explicit_euler",
    "linearized_backward_euler",
    "newmark",
    "regularized",
    "static",
    "symplectic_euler",
]

def backward_euler(
    dt: Quantity,
    *,
    iterations: int = 50,
    tolerance: float | None = None,
    tangent: Literal["exact", "projected", "exact-first"] | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    damping: Literal["start", "iterate"] | None = None,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def linearized_backward_euler(
    dt: Quantity,
    *,
    tangent: Literal["exact", "projected", "exact-first"] = "projected",
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def bdf2(
    dt: Quantity,
    *,
    iterations: int = 50,
    tolerance: float | None = None,
    tangent: Literal["exact", "projected", "exact-first"] | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    damping: Literal["start", "iterate"] | None = None,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def newmark(
    dt: Quantity,
    *,
    beta: float = 0.25,
    gamma: float = 0.5,
    iterations: int = 50,
    tolerance: float | None = None,
    tangent: Literal["exact", "projected", "exact-first"] | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    damping: Literal["start", "iterate"] | None = None,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def central_differences(
    dt: Quantity,
    *,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def symplectic_euler(
    dt: Quantity,
    *,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def explicit_euler(
    dt: Quantity,
    *,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def regularized(
    dt: Quantity,
    *,
    damping_time: Quantity | None = None,
    strain: Literal["nonlinear", "linear"] = "nonlinear",
    form: Literal["condensed", "schur", "saddle"] = "condensed",
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def static(
    dt: Quantity,
    *,
    iterations: int = 50,
    tolerance: float | None = None,
    tangent: Literal["exact", "projected", "exact-first"] | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...

def exact_modes(
    dt: Quantity,
    *,
    halvings: int = 6,
    solver: Solver | str = "auto",
) -> Integrator: ...
