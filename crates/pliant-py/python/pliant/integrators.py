"""Time integrators, one function per integrator.

>>> pliant.integrators.newmark(dt=1e-3)
<pliant.Integrator newmark, dt=0.001 s>

``dt`` is the time step in s, or a string such as ``"1/60 s"``. ``halvings`` is the maximum number of times that a failed
step is halved. ``solver`` is the name of a linear solver, or one of :mod:`pliant.solvers`.

The functions and their options are those of ``integrator`` in scene files. Options of the Newton iteration, in a table
``newton`` there, are separate keywords:

>>> pliant.integrators.backward_euler("1/60 s", tolerance=1e-6, solver="direct")
<pliant.Integrator backward-euler, dt=0.016666666666666666 s>
"""

from __future__ import annotations

from typing import Any

from ._choices import INTEGRATORS as _MODULE
from ._pliant import Integrator as _Integrator
from ._pliant import _renamed

_FUNCTIONS = _MODULE.functions(_Integrator)
globals().update(_FUNCTIONS)
__all__ = sorted(_FUNCTIONS)


def __getattr__(name: str) -> Any:
    new = {old: new for owner, old, new in _renamed() if owner == "integrators"}.get(name)
    hint = f"; it is called '{new}' now" if new else ""
    raise AttributeError(f"module 'pliant.integrators' has no attribute '{name}'{hint}")
