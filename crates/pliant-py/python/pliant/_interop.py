"""Conversions between Pliant and other packages, which are imported only when they are used."""

from __future__ import annotations

import json
import os
import warnings
from typing import TYPE_CHECKING, Any

from ._pliant import Mesh
from .errors import MeshError, PliantWarning, SceneError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# meshio's names of the elements of Pliant and of their faces, and VTK's cell types.
MESHIO = {"tet4": "tetra", "hex8": "hexahedron"}
MESHIO_FACES = {"tet4": "triangle", "hex8": "quad"}
MESHIO_SOLIDS = ("tetra", "hexahedron", "wedge", "pyramid", "polyhedron", "VTK_LAGRANGE_TETRA", "VTK_LAGRANGE_HEX")
# Solids of first order that are not supported; all others of `MESHIO_SOLIDS` are of higher order.
MESHIO_FIRST_ORDER = ("wedge", "pyramid", "polyhedron")
VTK = {"tet4": 10, "hex8": 12}
PIXEL, VOXEL = 8, 11
# VTK cell types of points and lines, of faces, and of solids of higher order.
VTK_THIN = frozenset({0, 1, 2, 3, 4, 21, 35, 68, 75})
VTK_FACES = {"tet4": 5, "hex8": 9}
VTK_FLAT = frozenset({5, 6, 7, 8, 9, 22, 23, 28, 30, 34, 36, 69, 70, 76, 77})
VTK_HIGHER_ORDER = frozenset({24, 25, 26, 27, 29, 31, 32, 33, 37, 71, 72, 73, 74, 78, 79, 80, 81})

# Cell data with the number or name of a group; the first present one is used. In all but the first, 0 means no group.
LABELS = ("region", "gmsh:physical", "medit:ref", "material", "MaterialIds", "CellEntityIds", "ObjectId")
# Cell data with the element number of each cell in `to_pyvista`; face sets refer to these numbers.
ELEMENTS = "pliant:element"
GHOSTS = "vtkGhostType"
# Bits of vtkGhostType for duplicate or hidden cells.
DUPLICATE_OR_HIDDEN = 1 | 32
# Data of other programs that are irrelevant to the body; dropped without a warning.
UNIMPORTANT = frozenset(
    {
        "gmsh:geometrical",
        "gmsh:dim_tags",
        "gmsh:bounding_entities",
        "region_names",
        "TimeValue",
        "vtkOriginalCellIds",
        "vtkOriginalPointIds",
        GHOSTS,
        ELEMENTS,
    }
)


def csr(
    data: NDArray[np.float64], indices: NDArray[np.signedinteger], indptr: NDArray[np.signedinteger], size: int
) -> Any:
    """Returns a square sparse matrix that shares these arrays."""
    from scipy.sparse import csr_array

    matrix = csr_array((data, indices, indptr), shape=(size, size), copy=False)
    # True by construction; otherwise SciPy checks on first use.
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix


def scene_to_json(scene: dict[str, Any]) -> str:
    """Returns a scene as JSON. NumPy arrays and scalars and paths are converted."""

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
    """Returns a value without the keys that are None, which count as not given."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_none(item) for item in value]
    return value


class _Groups:
    """Groups of cells of another program by name, with messages about what is lost."""

    def __init__(self) -> None:
        self.elements: dict[str, list[Any]] = {}
        self.faces: dict[str, list[Any]] = {}
        self.vertices: dict[str, list[Any]] = {}
        self.lost: list[str] = []

    def mesh(self, points: Any, elements: Any, regions: Any) -> Mesh:
        """Returns the mesh with these groups, whose faces are given by vertices. Warns about losses."""
        import numpy as np

        def joined(parts: list[Any]) -> Any:
            return np.unique(np.concatenate([np.asarray(part, dtype=np.int64).ravel() for part in parts]))

        vertex_sets = {name: joined(parts) for name, parts in self.vertices.items()}
        element_sets = {name: joined(parts) for name, parts in self.elements.items()}
        mesh = Mesh(points, elements, regions=regions, vertex_sets=vertex_sets, element_sets=element_sets)
        face_sets = {}
        for name, parts in self.faces.items():
            rows = np.concatenate([np.asarray(part, dtype=np.int64) for part in parts])
            found = mesh.find_faces(rows)
            missing = found[:, 0] < 0
            if len(rows) and missing.all():
                self.lost.append(f"the {len(rows)} faces of `{name}` are not faces of elements: kept as a vertex set")
                vertex_sets[name] = joined([rows, vertex_sets.get(name, [])])
                continue
            if missing.any():
                self.lost.append(f"{missing.sum()} of the {len(rows)} faces of `{name}` are not faces of elements: dropped")
            face_sets[name] = found[~missing]
        if face_sets or len(vertex_sets) > len(mesh.vertex_sets):
            with warnings.catch_warnings():
                # The warnings of the check were issued above.
                warnings.simplefilter("ignore", PliantWarning)
                mesh = mesh.with_parts(vertex_sets=vertex_sets, face_sets=face_sets)
        for message in self.lost:
            warnings.warn(message, PliantWarning, stacklevel=3)
        return mesh


def _text(label: Any) -> str:
    """Returns a label as the name of a group: integers without a decimal point, bytes decoded."""
    if isinstance(label, bytes):
        return label.decode(errors="replace")
    if isinstance(label, float) or (hasattr(label, "dtype") and label.dtype.kind == "f"):
        return str(int(label)) if float(label).is_integer() else str(label)
    return str(label)


def _is_group(label: Any, array: str) -> bool:
    """Returns true if a label of cell data denotes a group; many programs write 0 for no group."""
    import numpy as np

    if np.asarray(label).dtype.kind not in "iuf":
        return bool(_text(label))
    return bool(np.isfinite(label)) and (label >= 0 if array == "region" else label != 0)


def from_meshio(mesh: Any) -> Mesh:
    """Returns a mesh of the tetrahedra or hexahedra of a ``meshio.Mesh``.

    Cell sets and physical groups become regions, face sets and vertex sets, by the dimension of their cells. Warns about
    lost data.
    """
    import numpy as np

    if not hasattr(mesh, "cells") or not hasattr(mesh, "points"):
        raise MeshError(f"this is a {type(mesh).__name__}, expected a meshio.Mesh")
    kinds = {name: kind for kind, name in MESHIO.items()}
    found = sorted({block.type for block in mesh.cells})
    usable = [name for name in found if name in kinds]
    solids = [name for name in found if name.startswith(MESHIO_SOLIDS)]
    if len(usable) != 1 or len(solids) != 1:
        higher = [name for name in solids if name not in (*MESHIO_FIRST_ORDER, *kinds)]
        hint = f"; elements of second and higher order ({', '.join(higher)}) are not supported yet" if higher else ""
        raise MeshError(f"the mesh has cells of the kinds {found}, expected tetra or hexahedron, and not both{hint}")
    kind, groups = kinds[usable[0]], _Groups()
    # Elements are numbered through all blocks of the type, members of sets per block.
    firsts, blocks, count = [], [], 0
    for block in mesh.cells:
        firsts.append(count)
        if block.type == usable[0]:
            blocks.append(np.asarray(block.data))
            count += len(block.data)
    elements = np.concatenate(blocks)

    def put(name: str, number: int, members: Any) -> bool:
        """Puts cells of a block into a group. Returns false if cells of this type cannot be in one."""
        block = mesh.cells[number]
        cells = np.asarray(block.data)
        if block.type == usable[0]:
            groups.elements.setdefault(name, []).append(members + firsts[number])
        elif block.type == MESHIO_FACES[kind]:
            groups.faces.setdefault(name, []).append(cells[members])
        elif block.type in ("vertex", "line"):
            groups.vertices.setdefault(name, []).append(cells[members])
        else:
            return False
        return True

    unkept: dict[str, int] = {}
    for name, parts in (mesh.cell_sets or {}).items():
        # These sets contain geometric entities, not cells.
        if name in UNIMPORTANT:
            continue
        for number, part in enumerate(parts):
            members = _members([] if part is None else part)
            if len(members) and not put(name, number, members):
                unkept[name] = unkept.get(name, 0) + len(members)
    labels, array = _meshio_labels(mesh, put, groups, usable[0])
    regions = _regions_among(groups, labels, array, _group_names(mesh, 3), len(elements))
    for name, points in (mesh.point_sets or {}).items():
        groups.vertices.setdefault(name, []).append(_members(points))
    _point_labels(mesh.point_data, groups)
    for name, number in unkept.items():
        groups.lost.append(f"{number} cells of the set `{name}` are of a kind that is not kept")
    others = {kind for kind in found if kind not in (*MESHIO_FACES.values(), usable[0], "vertex", "line")}
    if others:
        groups.lost.append(f"cells of these kinds are not kept: {', '.join(sorted(others))}")
    data = {*(mesh.point_data or {}), *(mesh.cell_data or {})} - UNIMPORTANT - {array, "medit:ref", "gmsh:physical"}
    if data:
        groups.lost.append(f"data arrays that are not kept: {', '.join(sorted(data))}")
    return groups.mesh(np.asarray(mesh.points, dtype=np.float64), elements, regions)


def _members(part: Any) -> NDArray[np.int64]:
    """Returns the numbers of the members of a set, which is given by numbers or by a mask."""
    import numpy as np

    members = np.asarray(part).ravel()
    return np.flatnonzero(members) if members.dtype.kind == "b" else members.astype(np.int64)


def _group_names(mesh: Any, dimension: int) -> dict[int, str]:
    """Returns Gmsh's names of the physical groups of a dimension, by number."""
    import numpy as np

    data = ((name, np.ravel(entry)) for name, entry in (mesh.field_data or {}).items())
    return {int(entry[0]): name for name, entry in data if len(entry) == 2 and entry[1] == dimension}


def _meshio_labels(mesh: Any, put: Any, groups: _Groups, solid: str) -> tuple[NDArray[Any] | None, str]:
    """Returns the label of each element if the cell data have it, and the name of the array.

    Labels of faces, lines and points become groups unless sets contain them already.
    """
    import numpy as np

    names = [name for name in LABELS if name in (mesh.cell_data or {})]
    if not names:
        return None, ""
    array = names[0]
    of_elements = []
    given = {dimension: dict(table) for dimension, table in enumerate((groups.vertices, groups.vertices, groups.faces))}
    called = ("points", "curve", "surface")
    dimensions = {"vertex": 0, "line": 1, "triangle": 2, "quad": 2}
    for number, (block, data) in enumerate(zip(mesh.cells, mesh.cell_data[array])):
        data = np.asarray(data).ravel()
        if block.type == solid:
            of_elements.append(data)
            continue
        dimension = dimensions.get(block.type)
        if dimension is None:
            continue
        known = _group_names(mesh, dimension)
        for label in np.unique(data):
            if not _is_group(label, array):
                continue
            text = _text(label)
            name = known.get(int(text), f"{called[dimension]}-{text}") if text.lstrip("-").isdigit() else text
            if name not in given[dimension]:
                put(name, number, np.flatnonzero(data == label))
    return np.concatenate(of_elements), array


def _point_labels(data: Any, groups: _Groups) -> None:
    """Adds groups of vertices by Medit's references, unless all references are equal."""
    import numpy as np

    if "medit:ref" not in (data or {}):
        return
    references = np.asarray(data["medit:ref"]).ravel()
    values = np.unique(references)
    for value in values[values != 0] if len(values) > 1 else ():
        groups.vertices.setdefault(f"vertices-{_text(value)}", []).append(np.flatnonzero(references == value))


def _regions_among(
    groups: _Groups, labels: NDArray[Any] | None, array: str, names: dict[int, str], count: int
) -> dict[str, Any] | None:
    """Returns the regions: elements with the same label, named as the set with the same elements if there is one.

    Without labels, sets that contain each element once are the regions. Sets that become regions are removed.
    """
    import numpy as np

    sets = {name: np.concatenate(parts) for name, parts in groups.elements.items()}
    if labels is not None:
        regions: dict[str, Any] = {}
        for label in np.unique(labels):
            if not _is_group(label, array):
                continue
            elements, text = np.flatnonzero(labels == label), _text(label)
            same = [name for name, numbers in sets.items() if np.array_equal(np.sort(numbers), elements)]
            known = names.get(int(text), text) if text.lstrip("-").isdigit() else text
            name = same[0] if same else known
            sets.pop(name, None)
            groups.elements.pop(name, None)
            regions[name] = elements
        return regions
    if sets and sum(map(len, sets.values())) == count:
        every = np.concatenate(list(sets.values()))
        if len(np.unique(every)) == count:
            groups.elements.clear()
            return sets
    return None


def to_meshio(mesh: Mesh) -> Any:
    """Returns a ``meshio.Mesh``: regions, element sets and face sets are cell sets, vertex sets are point sets."""
    import meshio
    import numpy as np

    none = np.zeros(0, dtype=np.int64)
    # A set with the name of a region is renamed, as both share one table.
    of_elements = dict(mesh.regions)
    for name, elements in mesh.element_sets.items():
        of_elements[f"{name}-set" if name in of_elements else name] = elements
    cells = [(MESHIO[mesh.kind], mesh.elements.copy())]
    labels = [mesh.element_regions]
    of_faces: dict[str, Any] = {}
    if mesh.face_sets:
        # Each set has separate cells, as a face may be in several.
        rows = [mesh.face_vertices(faces) for faces in mesh.face_sets.values()]
        ends = np.cumsum([len(part) for part in rows])
        of_faces = {name: np.arange(end - len(part), end) for name, part, end in zip(mesh.face_sets, rows, ends)}
        cells.append((MESHIO_FACES[mesh.kind], np.concatenate(rows)))
        labels.append(np.full(ends[-1], -1))
    parts = (of_elements, of_faces) if of_faces else (of_elements,)
    cell_sets = {name: [part.get(name, none) for part in parts] for name in {**of_elements, **of_faces}}
    return meshio.Mesh(
        mesh.vertices.copy(), cells, cell_data={"region": labels}, cell_sets=cell_sets, point_sets=mesh.vertex_sets
    )


def _grid_of(grid: Any, lost: list[str]) -> Any:
    """Returns a PyVista object as an unstructured grid without hidden cells.

    The blocks of a MultiBlock become regions and face sets with the names of the blocks.
    """
    import numpy as np

    if hasattr(grid, "is_all_polydata"):
        return _combined(_leaves(grid, (), lost), lost)
    if not hasattr(grid, "cells_dict"):
        if not hasattr(grid, "cast_to_unstructured_grid"):
            raise MeshError(f"this is a {type(grid).__name__}, expected a pyvista.UnstructuredGrid")
        grid = grid.cast_to_unstructured_grid()
    if GHOSTS in grid.cell_data:
        dropped = (np.asarray(grid.cell_data[GHOSTS]).astype(np.int64) & DUPLICATE_OR_HIDDEN) != 0
        if dropped.any():
            grid = grid.extract_cells(np.flatnonzero(~dropped))
    return grid


def _leaves(blocks: Any, path: tuple[str, ...], lost: list[str]) -> list[tuple[tuple[str, ...], Any]]:
    """Returns the grids of a MultiBlock and of its nested blocks, each with its path of names."""
    leaves = []
    for number in range(blocks.n_blocks):
        block, name = blocks[number], blocks.get_block_name(number) or f"block-{number}"
        if block is None:
            continue
        if hasattr(block, "is_all_polydata"):
            leaves += _leaves(block, (*path, name), lost)
        elif getattr(block, "n_cells", 0):
            leaves.append(((*path, name), _grid_of(block, lost)))
    return leaves


def _combined(leaves: list[tuple[tuple[str, ...], Any]], lost: list[str]) -> Any:
    """Returns several grids merged into one. Sets with the same name are joined.

    The cell data `region` becomes the name of the region, with that of the block before it if several blocks have the
    region; or the name of the block if the region has the default name.
    """
    import numpy as np
    import pyvista

    leaves = [(path, grid) for path, grid in leaves if grid.n_cells]
    if not leaves:
        raise MeshError("the MultiBlock has no blocks with cells, expected tetrahedra or hexahedra")
    short = [path[-1] for path, _ in leaves]
    blocks = [name if short.count(name) == 1 else ".".join(path) for name, (path, _) in zip(short, leaves)]
    labels = [_block_labels(grid) for _, grid in leaves]
    every = [name for part in labels for name in np.unique(part)]
    parts = []
    faces: dict[str, list[Any]] = {}
    offset = 0
    for block, label, (_, grid) in zip(blocks, labels, leaves):
        names = {name: f"{block}.{name}" if every.count(name) > 1 else name for name in np.unique(label).tolist()}
        names[""] = names["body"] = block
        solid = np.isin(grid.celltypes, [*VTK.values(), VOXEL])
        for name, pairs in _face_pairs(grid, solid, lost).items():
            faces.setdefault(name, []).append(pairs + [offset, 0])
        offset += int(solid.sum())
        part = grid.copy()
        part.clear_field_data()
        part.cell_data["region"] = np.asarray([names[name] for name in label.tolist()])
        parts.append(part)
    # The append filter keeps only arrays that all blocks have.
    for of in ("cell_data", "point_data"):
        arrays = {name for _, grid in leaves for name in getattr(grid, of)} - UNIMPORTANT - {"region"}
        missing = {name for name in arrays if any(name not in getattr(grid, of) for _, grid in leaves)}
        unkept = sorted(name for name in missing if not name.startswith("set:"))
        if unkept:
            lost.append(f"data arrays that not all blocks have are not kept: {', '.join(unkept)}")
        for part in parts:
            data = getattr(part, of)
            for name in {name for name in missing if name.startswith("set:")} - set(data):
                data.set_array(np.zeros(part.n_cells if of == "cell_data" else part.n_points, dtype=np.uint8), name)
    combined = pyvista.MultiBlock(parts).combine(merge_points=True)
    # The filter keeps the data of only one of several merged points.
    vertices = np.concatenate([part.cell_connectivity + first for part, first in zip(parts, _firsts(parts))])
    for name in [name for name in combined.point_data if name.startswith("set:")]:
        chosen = np.concatenate([np.asarray(part.point_data[name]) != 0 for part in parts])
        mask = np.asarray(combined.point_data[name]) != 0
        mask[combined.cell_connectivity[chosen[vertices]]] = True
        combined.point_data.set_array(mask.astype(np.uint8), name)
    for name, several in faces.items():
        combined.field_data[f"faces:{name}"] = np.concatenate(several)
    for name in {name for _, grid in leaves for name in grid.field_data if not name.startswith("faces:")} - UNIMPORTANT:
        combined.field_data[name] = [0]
    # Elements have been renumbered; the face sets above already have the new numbers.
    if ELEMENTS in combined.cell_data:
        del combined.cell_data[ELEMENTS]
    return combined


def _firsts(parts: list[Any]) -> list[int]:
    """Returns the index of the first point of each grid in the concatenated points."""
    import numpy as np

    return [int(first) for first in np.cumsum([0, *(part.n_points for part in parts)])[:-1]]


def _block_labels(grid: Any) -> NDArray[Any]:
    """Returns the region name of each cell of a block; empty without a region and in blocks of surfaces."""
    import numpy as np

    names = np.full(grid.n_cells, "", dtype=object)
    solid = np.isin(grid.celltypes, [*VTK.values(), VOXEL])
    if "region" in grid.cell_data:
        labels = _named(grid, "region")
        for label in np.unique(labels):
            names[labels == label] = _text(label) if _is_group(label, "region") else ""
        # Surfaces inherit the labels of the solid from which they were extracted.
        if not solid.any():
            names[:] = ""
    return names.astype(str)


def _face_pairs(grid: Any, solid: NDArray[np.bool_], lost: list[str]) -> dict[str, NDArray[np.int64]]:
    """Returns the face sets of the field data: rows of an element, counted among the solid cells of the grid, and a side.

    The field data refer to the elements of the grid as it was written. VTK filters copy them to grids of other cells,
    where `ELEMENTS` has the original numbers.
    """
    import numpy as np

    arrays = [name for name in grid.field_data if name.startswith("faces:")]
    count = int(solid.sum())
    if not arrays or not count:
        return {}
    called = ", ".join(f"`{name[6:]}`" for name in arrays)
    number_of: NDArray[np.int64] | None = None
    if ELEMENTS in grid.cell_data:
        ids = np.asarray(grid.cell_data[ELEMENTS]).ravel()[solid].astype(np.int64)
        if len(np.unique(ids)) < count or ids.min() < 0:
            lost.append(f"the face sets {called} are not kept: cells were joined or divided after their faces were numbered")
            return {}
        number_of = np.full(int(ids.max()) + 1, -1)
        number_of[ids] = np.arange(count)
    elif "vtkOriginalCellIds" in grid.cell_data:
        lost.append(f"the face sets {called} are not kept: cells were extracted after their faces were numbered")
        return {}
    sides = 4 if VTK["tet4"] in np.asarray(grid.celltypes) else 6
    found = {}
    for name in arrays:
        pairs = np.asarray(grid.field_data[name])
        if pairs.size % 2 or pairs.dtype.kind not in "iuf":
            lost.append(f"the face set `{name[6:]}` is not kept: expected pairs of an element and a side")
            continue
        pairs = pairs.astype(np.int64).reshape(-1, 2)
        if number_of is not None:
            pairs = pairs[(pairs[:, 0] >= 0) & (pairs[:, 0] < len(number_of))]
            pairs = np.column_stack([number_of[pairs[:, 0]], pairs[:, 1]])
            pairs = pairs[pairs[:, 0] >= 0]
        if ((pairs < 0) | (pairs >= [count, sides])).any():
            lost.append(f"the face set `{name[6:]}` is not kept: expected elements 0 to {count - 1} and sides 0 to {sides - 1}")
            continue
        if len(pairs) or number_of is None:
            found[name[6:]] = pairs
    return found


def _named(grid: Any, array: str) -> NDArray[Any]:
    """Returns the labels of the cells. Region numbers are replaced by the names in files of Pliant."""
    import numpy as np

    labels = np.asarray(grid.cell_data[array])
    if labels.size != grid.n_cells:
        raise MeshError(f"the cell data `{array}` has the shape {labels.shape}, expected ({grid.n_cells},): one label per cell")
    labels = labels.ravel()
    if "region_names" in grid.field_data and labels.dtype.kind in "iu" and array == "region":
        data = np.asarray(grid.field_data["region_names"])
        if data.dtype.kind in "iu":
            names = bytes(data.astype(np.uint8)).decode(errors="replace").rstrip("\0").split("\0")
        else:
            names = [str(name) for name in data]
        # A negative number means no region.
        return np.asarray([names[n] if 0 <= n < len(names) else "" if n < 0 else str(n) for n in labels.tolist()])
    return labels


def from_pyvista(grid: Any) -> Mesh:
    """Returns a mesh of the tetrahedra or hexahedra of a ``pyvista.UnstructuredGrid``, another grid or a MultiBlock.

    Groups of cells become regions, or face sets where the cells are faces. Warns about lost data.
    """
    import numpy as np

    groups = _Groups()
    grid = _grid_of(grid, groups.lost)
    cells = dict(grid.cells_dict)
    types = np.asarray(grid.celltypes).copy()
    # The corners of voxels and pixels are numbered row by row.
    for box, number, order in ((VOXEL, 12, [0, 1, 3, 2, 4, 5, 7, 6]), (PIXEL, 9, [0, 1, 3, 2])):
        if box in cells and number not in cells:
            cells[number] = np.asarray(cells.pop(box))[:, order]
            types[types == box] = number
    kinds = [kind for kind, number in VTK.items() if number in cells]
    found = sorted(int(number) for number in np.unique(types))
    if len(kinds) != 1 or any(number not in VTK_THIN | VTK_FLAT | {VTK[kinds[0]]} for number in found):
        higher = VTK_HIGHER_ORDER.intersection(found)
        hint = "; elements of second and higher order are not supported yet" if higher else ""
        raise MeshError(
            f"the grid has cells of VTK's types {found}, expected 10 (tetrahedra) or 12 (hexahedra), and not both{hint}"
        )
    number, flat = VTK[kinds[0]], VTK_FACES[kinds[0]]
    elements, faces = np.asarray(cells[number], dtype=np.int64), np.asarray(cells.get(flat, []), dtype=np.int64)
    used = {"region_names"}
    names = [name for name in LABELS if name in grid.cell_data]
    regions = None
    if names:
        used.add(names[0])
        labels = _named(grid, names[0])
        of_cell, of_face = labels[types == number], labels[types == flat]
        # Regions keep the order of their numbers, if they have numbers.
        numbers = np.asarray(grid.cell_data[names[0]]).ravel()[types == number]
        _, first = np.unique(numbers, return_index=True)
        in_order = dict.fromkeys(of_cell[first].tolist())
        regions = {_text(name): np.flatnonzero(of_cell == name) for name in in_order if _is_group(name, names[0])}
        for name in np.unique(of_face):
            if _is_group(name, names[0]):
                text = _text(name)
                text = f"surface-{text}" if np.asarray(name).dtype.kind in "iuf" else text
                groups.faces.setdefault(text, []).append(faces[of_face == name])
    for name in [name for name in grid.cell_data if name.startswith("set:")]:
        used.add(name)
        chosen = np.asarray(grid.cell_data[name]).astype(bool)
        if chosen[types == number].any() or not chosen[types == flat].any():
            groups.elements.setdefault(name[4:], []).append(np.flatnonzero(chosen[types == number]))
        if chosen[types == flat].any():
            groups.faces.setdefault(name[4:], []).append(faces[chosen[types == flat]])
    for name in [name for name in grid.point_data if name.startswith("set:")]:
        used.add(name)
        groups.vertices.setdefault(name[4:], []).append(np.flatnonzero(np.asarray(grid.point_data[name])))
    corners = _side_corners(kinds[0])
    for name, pairs in _face_pairs(grid, types == number, groups.lost).items():
        groups.faces.setdefault(name, []).append(elements[pairs[:, :1], corners[pairs[:, 1]]])
    used.update(name for name in grid.field_data if name.startswith("faces:"))
    if "region_names" in grid.field_data and _are_joined(grid):
        groups.lost.append(
            "the grid joins cells of several meshes: regions have the names of the first; a MultiBlock keeps those of each"
        )
    dropped = int(np.isin(types, [kind for kind in found if kind not in (number, flat)]).sum())
    if dropped:
        groups.lost.append(f"{dropped} cells that are points, lines or other surfaces are not kept")
    data = {*grid.cell_data, *grid.point_data, *grid.field_data} - used - UNIMPORTANT
    if data:
        groups.lost.append(f"data arrays that are not kept: {', '.join(sorted(data))}")
    return groups.mesh(np.asarray(grid.points, dtype=np.float64), elements, regions)


def _are_joined(grid: Any) -> bool:
    """Returns true if the cells come from several grids of `to_pyvista`, each with elements numbered from 0."""
    import numpy as np

    return ELEMENTS in grid.cell_data and bool((np.diff(np.asarray(grid.cell_data[ELEMENTS]).ravel()) < 0).any())


def _side_corners(kind: str) -> NDArray[Any]:
    """Returns the corners of each side of an element, with sides in the order of Abaqus."""
    import numpy as np

    if kind == "tet4":
        return np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    return np.array([[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]])


def to_pyvista(mesh: Mesh, positions: Any = None) -> Any:
    """Returns a ``pyvista.UnstructuredGrid`` with regions and sets as in .vtu files."""
    import numpy as np
    import pyvista

    # A copy, since users deform grids in place.
    points = np.array(mesh.vertices if positions is None else positions, dtype=np.float64)
    if points.shape != mesh.vertices.shape:
        raise MeshError(f"positions has the shape {points.shape}, expected {mesh.vertices.shape}")
    grid: Any = pyvista.UnstructuredGrid({VTK[mesh.kind]: mesh.elements.copy()}, points)
    # Not by assignment, which would also make the array the active scalars.
    grid.cell_data.set_array(np.array(mesh.element_regions), "region")
    grid.cell_data.set_array(np.arange(mesh.element_count), ELEMENTS)
    names = b"".join(name.replace("\0", "").encode() + b"\0" for name in mesh.regions)
    grid.field_data["region_names"] = np.frombuffer(names, dtype=np.uint8).copy()
    for data, count, sets in (
        (grid.cell_data, mesh.element_count, mesh.element_sets),
        (grid.point_data, mesh.vertex_count, mesh.vertex_sets),
    ):
        for name, members in sets.items():
            mask = np.zeros(count, dtype=np.uint8)
            mask[members] = 1
            data.set_array(mask, f"set:{name}")
    for name, faces in mesh.face_sets.items():
        if len(faces):
            grid.field_data[f"faces:{name}"] = faces
    return grid
