"""Type aliases shared by the signatures of several modules."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, TypeAlias, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Path: TypeAlias = Union[str, "os.PathLike[str]"]
Floats: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "NDArray[np.int64]"
# A number in SI units, or a string with a unit such as ``"1 MPa"``.
Quantity: TypeAlias = Union[float, str]
# Three numbers or strings with units.
Vector: TypeAlias = ArrayLike
# The name of a set, indices, a mask, or a list or set of names and indices.
Selection: TypeAlias = Union[str, int, ArrayLike, AbstractSet[int], Sequence[Union[str, int]]]
# Faces with pressures in Pa: ``{faces: pressure}`` or ``(faces, pressure)``.
Pressures: TypeAlias = Union[Mapping[str, Quantity], Mapping["tuple[int, ...]", Quantity], "tuple[Selection, Quantity]"]
# Faces with tractions in Pa: ``{faces: (x, y, z)}`` or ``(faces, (x, y, z))``.
Tractions: TypeAlias = Union[Mapping[str, Vector], Mapping["tuple[int, ...]", Vector], "tuple[Selection, Vector]"]
# A ``scipy.sparse.csr_array``; SciPy has no type annotations.
SparseArray: TypeAlias = Any

Inversion: TypeAlias = Literal["none", "clamp", "extrapolate"]
