"""Between Pliant and other packages, which are imported only when they are asked for."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from ._pliant import Mesh
from .errors import MeshError, SceneError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The names that meshio has for the elements of Pliant, and the numbers that VTK has.
MESHIO = {"tet4": "tetra", "hex8": "hexahedron"}
VTK = {"tet4": 10, "hex8": 12}
VOXEL = 11


def csr(
    data: NDArray[np.float64], indices: NDArray[np.signedinteger], indptr: NDArray[np.signedinteger], size: int
) -> Any:
    """A square sparse matrix on these arrays."""
    from scipy.sparse import csr_array

    matrix = csr_array((data, indices, indptr), shape=(size, size), copy=False)
    # So it was made; SciPy would look for itself when it first needs to know.
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def scene_to_json(scene: dict[str, Any]) -> str:
    """A scene as text; arrays and numbers of NumPy and paths are understood."""

    def plain(value: Any) -> Any:
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if hasattr(value, "tolist"):
            return value.tolist()
        raise SceneError(f"{value!r} is a {type(value).__name__}, expected a number, text, a list or a dictionary")

    try:
        return json.dumps(_without_none(scene), default=plain, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"the dictionary cannot be a scene: {error}") from error


def _without_none(value: Any) -> Any:
    """A key that is None is one that is not given."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value]
    return value


def from_meshio(mesh: Any) -> Mesh:
    """A mesh of the tetrahedra or hexahedra of a ``meshio.Mesh``; its sets become regions or sets."""
    import numpy as np

    kinds = {name: kind for kind, name in MESHIO.items()}
    found = sorted({block.type for block in mesh.cells})
    usable = [name for name in found if name in kinds]
    if len(usable) != 1:
        raise MeshError(f"the mesh has cells of the kinds {found}, expected tetra or hexahedron, and not both")
    # Cells are numbered through all blocks of the kind, sets by block.
    numbers, blocks, count = [], [], 0
    for block in mesh.cells:
        size = len(block.data) if block.type == usable[0] else 0
        numbers.append((count, size))
        count += size
        if size:
            blocks.append(np.asarray(block.data))
    elements = np.concatenate(blocks) if blocks else np.zeros((0, 4), dtype=np.int64)

    sets: dict[str, NDArray[np.int64]] = {}
    for name, parts in (mesh.cell_sets or {}).items():
        chosen = [
            np.asarray(part, dtype=np.int64) + first
            for part, (first, size) in zip(parts, numbers)
            if part is not None and size
        ]
        if sum(map(len, chosen)):
            sets[name] = np.concatenate(chosen)
    # Gmsh has names for the numbers of groups, with their dimension.
    groups = {int(data[0]): name for name, data in (mesh.field_data or {}).items() if len(data) == 2 and data[1] == 3}
    regions, element_sets = _regions_among(sets, _labels(mesh, usable[0]), groups, len(elements))
    point_sets = {name: np.asarray(points) for name, points in (mesh.point_sets or {}).items()}
    points = np.asarray(mesh.points, dtype=np.float64)
    return Mesh(points, elements, regions=regions, vertex_sets=point_sets, element_sets=element_sets)


def _labels(mesh: Any, kind: str) -> NDArray[Any] | None:
    """The number of the region of each element, if the cell data have it."""
    import numpy as np

    names = [name for name in ("region", "gmsh:physical") if name in (mesh.cell_data or {})]
    if not names:
        return None
    blocks = zip(mesh.cells, mesh.cell_data[names[0]])
    return np.concatenate([np.asarray(data).ravel() for block, data in blocks if block.type == kind])


def _regions_among(
    sets: dict[str, NDArray[np.int64]], labels: NDArray[Any] | None, groups: dict[int, str], count: int
) -> tuple[dict[str, NDArray[np.int64]] | None, dict[str, NDArray[np.int64]]]:
    """Elements with one label are a region, called as the set with the same elements if there is one. Without labels,
    sets that have each element once are regions. What is no region is a set."""
    import numpy as np

    if labels is not None:
        regions, left = {}, dict(sets)
        for label in np.unique(labels):
            elements = np.flatnonzero(labels == label)
            names = [name for name, numbers in left.items() if np.array_equal(np.sort(numbers), elements)]
            name = names[0] if names else groups.get(int(label), str(label))
            left.pop(name, None)
            regions[name] = elements
        return regions, left
    if sets and sum(map(len, sets.values())) == count:
        every = np.concatenate(list(sets.values()))
        if len(np.unique(every)) == count:
            return sets, {}
    return None, sets


def to_meshio(mesh: Mesh) -> Any:
    """A ``meshio.Mesh`` with regions and element sets as cell sets, and vertex sets as point sets."""
    import meshio

    # A set with the name of a region gets another, as there is one table for both.
    cell_sets = {name: [elements] for name, elements in mesh.regions.items()}
    for name, elements in mesh.element_sets.items():
        cell_sets[f"{name}-set" if name in cell_sets else name] = [elements]
    return meshio.Mesh(
        mesh.vertices.copy(),
        [(MESHIO[mesh.kind], mesh.elements.copy())],
        cell_data={"region": [mesh.element_regions]},
        cell_sets=cell_sets,
        point_sets=mesh.vertex_sets,
    )


def from_pyvista(grid: Any) -> Mesh:
    """A mesh of the tetrahedra or hexahedra of a ``pyvista.UnstructuredGrid``, or of a grid that can become one."""
    import numpy as np

    if not hasattr(grid, "cells_dict"):
        if not hasattr(grid, "cast_to_unstructured_grid"):
            raise MeshError(f"this is a {type(grid).__name__}, expected a pyvista.UnstructuredGrid")
        grid = grid.cast_to_unstructured_grid()
    cells = dict(grid.cells_dict)
    # Voxels are boxes whose corners are counted row by row.
    types = np.asarray(grid.celltypes).copy()
    if VOXEL in cells and VTK["hex8"] not in cells:
        cells[VTK["hex8"]] = np.asarray(cells.pop(VOXEL))[:, [0, 1, 3, 2, 4, 5, 7, 6]]
        types[types == VOXEL] = VTK["hex8"]
    kinds = [kind for kind, number in VTK.items() if number in cells]
    if len(kinds) != 1:
        found = sorted(int(number) for number in cells)
        raise MeshError(
            f"the grid has cells of VTK's types {found}, expected 10 (tetrahedra) or 12 (hexahedra), and not both"
        )
    number = VTK[kinds[0]]
    regions = None
    if "region" in grid.cell_data:
        of_cell = np.asarray(grid.cell_data["region"])[types == number]
        regions = {str(name): np.flatnonzero(of_cell == name) for name in np.unique(of_cell)}
    elements = np.asarray(cells[number], dtype=np.int64)
    return Mesh(np.asarray(grid.points, dtype=np.float64), elements, regions=regions)


def to_pyvista(mesh: Mesh, positions: Any = None) -> Any:
    """A ``pyvista.UnstructuredGrid`` with the names of regions as cell data."""
    import numpy as np
    import pyvista

    # A copy, as a grid is there to be moved.
    points = np.array(mesh.vertices if positions is None else positions, dtype=np.float64)
    if points.shape != mesh.vertices.shape:
        raise MeshError(f"positions has the shape {points.shape}, expected {mesh.vertices.shape}")
    grid = pyvista.UnstructuredGrid({VTK[mesh.kind]: mesh.elements.copy()}, points)
    grid.cell_data["region"] = np.asarray(list(mesh.regions))[mesh.element_regions]
    return grid
