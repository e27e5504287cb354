"""Types that signatures of several modules share."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Floats: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "NDArray[np.int64]"
# Three numbers.
Vector: TypeAlias = ArrayLike
# The name of a set, numbers, or a mask.
Selection: TypeAlias = Union[str, int, ArrayLike]
# A ``scipy.sparse.csr_array``; SciPy has no types of its own.
SparseArray: TypeAlias = Any

Elements: TypeAlias = Literal["tet5", "tet6", "hex"]
Inversion: TypeAlias = Literal["none", "clamp", "extrapolate"]
Solver: TypeAlias = Literal["auto", "direct", "direct-single", "block-jacobi", "incomplete-cholesky", "old-factor"]
Tangent: TypeAlias = Literal["exact", "projected", "exact-first"]
