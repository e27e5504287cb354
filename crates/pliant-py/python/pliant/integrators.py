"""Schemes that step in time, a function for each.

>>> pliant.integrators.newmark(dt=1e-3)
<pliant.Integrator newmark, dt=0.001 s>

``dt`` is the length of a step, in s or as text such as ``"1/60 s"``. ``halvings`` is how often a step that fails may be halved.

``solver`` is how linear systems are solved: ``"auto"``, ``"direct"``, ``"direct-single"``, ``"block-jacobi"``,
``"incomplete-cholesky"`` or ``"old-factor"``; ``solver_tolerance`` is the residual to which iterative ones go.

Of schemes that iterate, ``tolerance`` is what may be left of the balance of forces, as a part of the forces, and
``iterations`` the most Newton iterations. ``tangent`` is the derivative of forces that is used: ``"exact"``,
``"projected"``, which is not negative in any direction, or ``"exact-first"``, the derivative while it serves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ._pliant import Integrator

if TYPE_CHECKING:
    from ._types import Quantity, Solver, Tangent

__all__ = [
    "backward_euler",
    "central_differences",
    "exact_modes",
    "explicit_euler",
    "linearized_backward_euler",
    "newmark",
    "quasi_static",
    "regularized",
    "symplectic_euler",
]


def linearized_backward_euler(
    dt: Quantity,
    *,
    tangent: Tangent | None = None,
    halvings: int = 6,
    solver: Solver = "auto",
    solver_tolerance: float | None = None,
) -> Integrator:
    """Backward Euler linearized once per step, without a line search: for smooth motion and moderate steps.

    Stiff contact, fast impacts and large rotations per step can make its energy grow without bound; see
    :func:`backward_euler`.
    """
    return Integrator(
        "linearized-backward-euler",
        dt,
        tangent=tangent,
        halvings=halvings,
        solver=solver,
        solver_tolerance=solver_tolerance,
    )


def backward_euler(
    dt: Quantity,
    *,
    tolerance: float | None = None,
    iterations: int | None = None,
    tangent: Tangent | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    damping: Literal["start", "iterate"] | None = None,
    halvings: int = 6,
    solver: Solver = "auto",
    solver_tolerance: float | None = None,
) -> Integrator:
    """Backward Euler with Newton iterations and a line search: the integrator to start with.

    Energy does not grow beyond the work of loads and motions, at any step and for any law. Iterations end at a residual of
    ``tolerance``, 1e-3 of the forces if not given; smooth motion needs about one per step. Steps that do not converge are
    stable too, and an error only with ``must_converge=True`` or where a ``tolerance`` is given. ``damping`` is the state
    at which stiffness-proportional damping is evaluated: the ``"start"`` of the step, or each ``"iterate"`` as in VegaFEM.
    """
    return Integrator(
        "backward-euler",
        dt,
        tolerance=tolerance,
        iterations=iterations,
        tangent=tangent,
        line_search=line_search,
        must_converge=must_converge,
        damping=damping,
        halvings=halvings,
        solver=solver,
        solver_tolerance=solver_tolerance,
    )


def newmark(
    dt: Quantity,
    *,
    beta: float | None = None,
    gamma: float | None = None,
    tolerance: float | None = None,
    iterations: int | None = None,
    tangent: Tangent | None = None,
    line_search: bool | None = None,
    must_converge: bool | None = None,
    damping: Literal["start", "iterate"] | None = None,
    halvings: int = 6,
    solver: Solver = "auto",
    solver_tolerance: float | None = None,
) -> Integrator:
    """Newmark's scheme, of second order, which keeps energy; ``beta`` is ¼ and ``gamma`` ½ if not given."""
    return Integrator(
        "newmark",
        dt,
        beta=beta,
        gamma=gamma,
        tolerance=tolerance,
        iterations=iterations,
        tangent=tangent,
        line_search=line_search,
        must_converge=must_converge,
        damping=damping,
        halvings=halvings,
        solver=solver,
        solver_tolerance=solver_tolerance,
    )


def central_differences(dt: Quantity) -> Integrator:
    """Central differences, explicit: small steps, without linear systems if the mass is lumped."""
    return Integrator("central-differences", dt)


def symplectic_euler(dt: Quantity) -> Integrator:
    """Symplectic Euler, explicit: energy stays bounded for ever."""
    return Integrator("symplectic-euler", dt)


def explicit_euler(dt: Quantity) -> Integrator:
    """Euler's scheme, explicit: stable only with damping."""
    return Integrator("explicit-euler", dt)


def regularized(
    dt: Quantity,
    *,
    damping_time: Quantity | None = None,
    strain: Literal["nonlinear", "linear"] | None = None,
    form: Literal["condensed", "schur", "saddle"] | None = None,
) -> Integrator:
    """The stepper of Servin et al. for stiff, rigid and incompressible bodies of tetrahedra.

    It brings its own law, which takes Young's modulus and Poisson's ratio from the materials of the model.
    """
    return Integrator("regularized", dt, damping_time=damping_time, strain=strain, form=form)


def quasi_static(
    dt: Quantity,
    *,
    tolerance: float | None = None,
    iterations: int | None = None,
    tangent: Tangent | None = None,
    solver: Solver = "auto",
    solver_tolerance: float | None = None,
) -> Integrator:
    """Equilibrium at the end of every step: no inertia, time is only a parameter of what moves."""
    return Integrator(
        "static",
        dt,
        tolerance=tolerance,
        iterations=iterations,
        tangent=tangent,
        solver=solver,
        solver_tolerance=solver_tolerance,
    )


def exact_modes(dt: Quantity) -> Integrator:
    """The modes of a reduced model that is held, each in closed form: exact at any step for a linear material."""
    return Integrator("exact-modes", dt)
