"""Time integrators, one function per integrator.

>>> pliant.integrators.newmark(dt=1e-3)
<pliant.Integrator newmark, dt=0.001 s>

``dt`` is the time step in s, or a string such as ``"1/60 s"``. ``halvings`` is the maximum number of times that a failed
step is halved.

``solver`` is the linear solver: ``"auto"``, ``"direct"``, ``"direct-single"``, ``"block-jacobi"``,
``"incomplete-cholesky"`` or ``"stale-factor"``. ``solver_tolerance`` is the residual at which iterative solvers stop.

For integrators with Newton iterations, ``tolerance`` is the residual relative to the forces at which they stop, and
``iterations`` their maximum number. ``tangent`` is the stiffness that they use: ``"exact"``; ``"projected"`` onto the
positive semi-definite matrices; or ``"exact-first"``, which is exact as long as that works.
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
    stable too. They are an error only with ``must_converge=True`` or where a ``tolerance`` is given. ``damping`` is the state
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
    """Newmark's method, of second order and energy-conserving; by default ``beta`` is ¼ and ``gamma`` ½."""
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
    """Explicit central differences: small steps, without linear systems if the mass is lumped."""
    return Integrator("central-differences", dt)


def symplectic_euler(dt: Quantity) -> Integrator:
    """Explicit symplectic Euler: the energy stays bounded."""
    return Integrator("symplectic-euler", dt)


def explicit_euler(dt: Quantity) -> Integrator:
    """Explicit Euler: stable only with damping."""
    return Integrator("explicit-euler", dt)


def regularized(
    dt: Quantity,
    *,
    damping_time: Quantity | None = None,
    strain: Literal["nonlinear", "linear"] | None = None,
    form: Literal["condensed", "schur", "saddle"] | None = None,
) -> Integrator:
    """Integrator of Servin et al. for stiff, rigid and incompressible bodies of tetrahedra.

    It defines the elastic law, with Young's modulus and Poisson's ratio of the model's materials.
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
    """Static equilibrium at the end of every step: without inertia, time only parameterizes loads and motions."""
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
    """Closed-form integration of each mode of a constrained reduced model: exact at any step for a linear material."""
    return Integrator("exact-modes", dt)
