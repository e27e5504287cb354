"""Linear solvers, one function per solver.

>>> pliant.solvers.stale_factor(tolerance=1e-8)
<pliant.Solver stale-factor>
>>> pliant.integrators.newmark(dt=1e-3, solver=pliant.solvers.direct())
<pliant.Integrator newmark, dt=0.001 s>

The functions and their options are those of ``solver`` in scene files.
"""

from __future__ import annotations

from ._choices import SOLVERS as _MODULE
from ._pliant import Solver as _Solver

_FUNCTIONS = _MODULE.functions(_Solver)
globals().update(_FUNCTIONS)
__all__ = sorted(_FUNCTIONS)
