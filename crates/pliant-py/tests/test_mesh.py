"""Meshes: from arrays, files, generators and other packages."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from types import MappingProxyType

import meshio
import numpy as np
import pytest
import pyvista

import pliant

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], dtype=float)


def same(a: pliant.Mesh, b: pliant.Mesh) -> bool:
    def sets(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
        return list(one) == list(other) and all(np.array_equal(one[name], other[name]) for name in one)

    return (
        np.array_equal(a.vertices, b.vertices)
        and np.array_equal(a.elements, b.elements)
        and sets(a.regions, b.regions)
        and sets(a.vertex_sets, b.vertex_sets)
        and sets(a.element_sets, b.element_sets)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", ">f8"])
@pytest.mark.parametrize("index", ["int32", "int64", "uint8", "uint32"])
def test_arrays_of_any_number_type_and_order_make_the_same_mesh(dtype: str, index: str) -> None:
    vertices = np.asfortranarray(CORNERS.astype(dtype))
    elements = np.array([[0, 1, 2, 3], [0, 1, 2, 3]], dtype=index)[::2]
    mesh = pliant.Mesh(vertices, elements)
    assert np.array_equal(mesh.vertices, CORNERS) and mesh.vertices.dtype == np.float64
    assert np.array_equal(mesh.elements, [[0, 1, 2, 3]]) and mesh.elements.dtype == np.int64
    assert mesh.volume == pytest.approx(1 / 6, rel=1e-15)


@pytest.mark.parametrize(
    ("vertices", "elements", "error", "message"),
    [
        (CORNERS[:, :2], [[0, 1, 2, 3]], ValueError, r"vertices has the shape \(4, 2\), expected \(n, 3\)"),
        (CORNERS.ravel(), [[0, 1, 2, 3]], ValueError, r"vertices has the shape \(12,\), expected \(n, 3\)"),
        (CORNERS, [0, 1, 2, 3], ValueError, r"elements has the shape \(4,\), expected \(m, 4\) for tet"),
        (CORNERS, [[0, 1, 2]], ValueError, r"elements has the shape \(1, 3\)"),
        (CORNERS, [[0, 1, 2, 4]], ValueError, "elements has the number 4, expected 0 to 3"),
        (CORNERS, [[0, 1, 2, -1]], ValueError, "elements has the number -1, expected 0 to 3"),
        (CORNERS, [[0, 1, 2, 2**40]], ValueError, "elements has the number 1099511627776"),
        (CORNERS, [[0.0, 1.0, 2.0, 3.0]], TypeError, "elements has the dtype float64, expected whole numbers"),
        (CORNERS.astype(complex), [[0, 1, 2, 3]], TypeError, "vertices has the dtype complex128, expected float64"),
        (CORNERS.astype(str), [[0, 1, 2, 3]], TypeError, "vertices has the dtype <U32"),
        (CORNERS > 0, [[0, 1, 2, 3]], TypeError, "vertices has the dtype bool"),
        ([(0, 0, 0), (1, 0)], [[0, 1, 2, 3]], ValueError, "vertices: expected an array"),
        (CORNERS * np.nan, [[0, 1, 2, 3]], pliant.MeshError, "vertex 0"),
        (CORNERS * 0, [[0, 1, 2, 3]], pliant.MeshError, "element 0"),
        (np.zeros((0, 3)), np.zeros((0, 4), dtype=int), pliant.MeshError, "no elements|no element"),
        (None, [[0, 1, 2, 3]], TypeError, "vertices has the dtype object"),
    ],
)
def test_what_is_no_mesh_is_explained(
    vertices: object, elements: object, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pliant.Mesh(vertices, elements)  # type: ignore[arg-type]


def test_what_is_repaired_is_a_warning() -> None:
    with pytest.warns(pliant.PliantWarning, match="wrong winding"):
        mesh = pliant.Mesh(CORNERS, [[0, 2, 1, 3]])
    assert mesh.volume > 0


def test_arrays_of_a_mesh_are_not_to_be_written_into(beam: pliant.Mesh) -> None:
    assert np.shares_memory(beam.vertices, beam.vertices)
    beam.vertices.shape = (-1,)
    assert beam.vertices.shape == (beam.vertex_count, 3)
    with pytest.raises(ValueError, match="read-only"):
        beam.vertices[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        beam.elements[0] = 1


def test_regions_and_sets_come_from_dictionaries() -> None:
    mesh = pliant.Mesh.box((3, 1, 1), (3, 1, 1), elements="hex")
    named = mesh.with_parts(
        regions={"shell": [0, 2]}, vertex_sets={"low": mesh.vertices[:, 1] == 0}, element_sets={"last": 2}
    )
    assert {name: list(elements) for name, elements in named.regions.items()} == {"shell": [0, 2], "body": [1]}
    assert list(named.element_regions) == [0, 1, 0]
    assert list(named.vertex_sets) == ["low"] and len(named.vertex_sets["low"]) == 8
    assert list(named.element_sets["last"]) == [2]
    again = pliant.Mesh(
        named.vertices,
        named.elements,
        regions=named.regions,
        vertex_sets=named.vertex_sets,
        element_sets=named.element_sets,
    )
    assert same(named, again)
    with pytest.raises(pliant.MeshError, match="element 1 is in two regions, `a` and `b`"):
        mesh.with_parts(regions={"a": [0, 1], "b": [1, 2]})
    for parts in [{"regions": {"a": "surface"}}, {"vertex_sets": {"a": "surface"}}, {"element_sets": {"a": "surface"}}]:
        with pytest.raises(pliant.MeshError, match="there is no set `surface` of .*; there are `all`"):
            mesh.with_parts(**parts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="point is"):
        mesh.nearest_vertex((np.nan, 0, 0))
    with pytest.raises(ValueError, match='the region "a" has the number 3, expected 0 to 2'):
        mesh.with_parts(regions={"a": [3]})


def test_tables_may_be_any_mapping() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
    regions = MappingProxyType({"left": [0], "right": [1]})
    mesh = mesh.with_parts(regions=regions)
    soft = pliant.materials.linear(young=1, poisson=0, density=1)
    coefficients = MappingProxyType({"mu": 1.0, "lambda": 1.0})
    hard = pliant.materials.linear(coefficients=coefficients, density=1)
    materials = MappingProxyType({"left": soft, "right": hard})
    model = pliant.Model(mesh, materials, fixed=MappingProxyType({"x-min": "xyz"}))
    model.static_solve(prescribed=MappingProxyType({"x-max": (0.1, None, None)}))
    assert pliant.Mesh.merge(MappingProxyType({"a": mesh})).element_count == 2


def test_vertices_are_chosen_by_name_number_and_mask(beam: pliant.Mesh) -> None:
    start = np.flatnonzero(beam.vertices[:, 0] == 0)
    for chosen in ["start", start, list(start), beam.vertices[:, 0] == 0]:
        assert np.array_equal(np.sort(beam.select(chosen)), start)
    assert list(beam.select(5)) == [5] and list(beam.select([])) == []
    assert len(beam.select("all")) == beam.vertex_count
    assert len(beam.select("surface")) < beam.vertex_count
    with pytest.raises(pliant.MeshError, match="there is no set `stort` of vertices; there are `end`, `start`"):
        beam.select("stort")
    with pytest.raises(ValueError, match=r"mask of the shape \(3,\), expected \(99,\)"):
        beam.select([True, False, True])
    with pytest.raises(TypeError, match="vertices is None"):
        beam.select(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["m.veg", "m.msh", "m.vtu", "m.vtk", "m.mesh", "m.inp", "m.node"])
@pytest.mark.parametrize("elements", ["tet5", "hex"])
def test_a_mesh_survives_a_file(tmp_path: Path, name: str, elements: str) -> None:
    if name == "m.node" and elements == "hex":
        with pytest.raises(pliant.MeshError, match="hexahedra"):
            pliant.Mesh.box((1, 2, 3), (1, 1, 1), elements="hex").write(tmp_path / name)
        return
    mesh = pliant.Mesh.box((1, 2, 3), (2, 2, 2), elements=elements)  # type: ignore[arg-type]
    mesh.write(str(tmp_path / name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.PliantWarning)
        read = pliant.Mesh.read(tmp_path / name)
    assert np.array_equal(read.vertices, mesh.vertices) and np.array_equal(read.elements, mesh.elements)


def test_files_that_are_missing_or_broken_are_explained(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none.veg: No such file"):
        pliant.Mesh.read(tmp_path / "none.veg")
    broken = tmp_path / "broken.veg"
    broken.write_text("*VERTICES\n4 3 0 0\n1 0 0\n")
    with pytest.raises(pliant.MeshError, match=r"broken.veg, line 2: expected 4 vertices"):
        pliant.Mesh.read(broken)
    with pytest.raises(pliant.MeshError, match="expected a file that ends in one of"):
        pliant.Mesh.read("mesh.xyz")
    with pytest.raises(pliant.FileError):
        pliant.Mesh.box((1, 1, 1), (1, 1, 1)).write("/nowhere/at/all.veg")


def test_copies_and_pickles_are_the_same_mesh_with_its_materials(beam: pliant.Mesh, tmp_path: Path) -> None:
    path = tmp_path / "one.veg"
    lines = ["*VERTICES", "4 3 0 0", "0 0 0 0", "1 1 0 0", "2 0 1 0", "3 0 0 1", "*ELEMENTS", "TET", "1 4 0", "0 0 1 2 3"]
    path.write_text("\n".join([*lines, "*MATERIAL rubber", "ENU, 1000, 2e6, 0.4", "*REGION", "allElements, rubber", ""]))
    one = pliant.Mesh.read(path)
    for mesh in [beam, one]:
        for other in [copy.copy(mesh), copy.deepcopy(mesh), pickle.loads(pickle.dumps(mesh))]:
            assert same(other, mesh)
            if mesh is one:
                assert pliant.Model(other).vertex_masses.sum() == pytest.approx(1000 / 6)


def test_generators_make_bodies_of_the_right_volume() -> None:
    exact = {
        pliant.Mesh.box((1, 2, 3), (1, 2, 3)): 6,
        pliant.Mesh.beam(4, 1, 0.5): 2,
        pliant.Mesh.cylinder(1, 2, across=24, layers=2): 2 * np.pi,
        pliant.Mesh.torus(2, 0.5, across=16, sectors=96): np.pi**2,
        pliant.Mesh.ball(1, across=24): 4 / 3 * np.pi,
    }
    for mesh, volume in exact.items():
        assert mesh.volume == pytest.approx(volume, rel=0.02)
        assert mesh.element_volumes().sum() == pytest.approx(mesh.volume)
    with pytest.raises(pliant.MeshError, match="the radius is -1"):
        pliant.Mesh.ball(-1)
    with pytest.raises(ValueError, match='expected "tet5", "tet6" or "hex"'):
        pliant.Mesh.ball(1, elements="tets")  # type: ignore[arg-type]


def test_operations_give_other_meshes() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements="hex")
    assert mesh.scaled(2).volume == pytest.approx(8)
    assert np.allclose(mesh.translated((1, 2, 3)).bounding_box, [(1, 2, 3), (2, 3, 4)])
    turn = np.array([(0, -1, 0), (1, 0, 0), (0, 0, 1)])
    assert np.allclose(mesh.transformed(turn).vertices, mesh.vertices @ turn.T)
    assert np.allclose(
        mesh.transformed(np.hstack([turn, [[1], [2], [3]]])).vertices, mesh.vertices @ turn.T + (1, 2, 3)
    )
    with pytest.raises(ValueError, match="matrix has the last row"):
        mesh.transformed(np.eye(4)[[0, 1, 2, 0]])
    with pytest.raises(ValueError, match=r"matrix has the shape \(2, 2\), expected"):
        mesh.transformed(np.eye(2))
    assert mesh.refined().element_count == 8 * mesh.element_count
    assert mesh.split_hexes().element_count == 5 * mesh.element_count
    assert mesh.split_hexes(6).element_count == 6 * mesh.element_count
    part, numbers = mesh.extract([0, 7])
    assert part.element_count == 2 and np.array_equal(part.vertices, mesh.vertices[numbers])
    assert mesh.edges().shape == (54, 2)
    two = pliant.Mesh.merge({"a": mesh, "b": mesh.translated((5, 0, 0))})
    assert set(two.components()) == {0, 1} and set(two.regions) == {"a.body", "b.body"}
    assert mesh.nearest_vertex((0.9, 0.1, 0.1)) == np.argmin(np.linalg.norm(mesh.vertices - (0.9, 0.1, 0.1), axis=1))


def test_the_surface_is_closed_and_knows_its_vertices(tmp_path: Path) -> None:
    mesh = pliant.Mesh.ball(1, across=12)
    surface = mesh.surface()
    assert surface.is_closed and surface.enclosed_volume == pytest.approx(mesh.volume)
    assert surface.volume_vertices is not None
    assert np.array_equal(surface.vertices, mesh.vertices[surface.volume_vertices])
    normals = surface.normals()
    assert np.allclose((normals * surface.vertices).sum(axis=1), 1, atol=0.05)
    surface.write(tmp_path / "ball.stl")
    again = pliant.Surface(surface.vertices, surface.triangles)
    assert again.area == pytest.approx(surface.area) and again.volume_vertices is None
    assert pliant.Surface.read(tmp_path / "ball.stl").area == pytest.approx(surface.area, rel=1e-6)


def test_surfaces_become_bodies() -> None:
    surface = pliant.Mesh.torus(1, 0.4, across=8, sectors=32).surface()
    exact = surface.enclosed_volume
    rubber = pliant.materials.linear(young=1e5, poisson=0.3, density=1000)

    def weight(mesh: pliant.Mesh) -> float:
        return float(pliant.Model(mesh, rubber).vertex_masses.sum())

    body = surface.tetrahedralize(cells=24)
    assert body.volume == pytest.approx(exact, rel=0.02)
    assert surface.tetrahedralize(cells=50, grading=2).element_count < surface.tetrahedralize(cells=50).element_count
    for around in [surface.cage(cells=8), surface.voxelize(cells=8)]:
        assert around.volume > 1.1 * exact
        assert weight(around) == pytest.approx(1000 * exact, rel=0.01)
        assert len(around.embed(surface.vertices).outside) == 0
        assert weight(pickle.loads(pickle.dumps(around))) == weight(around)
    broken = pliant.Surface(surface.vertices, surface.triangles[:-3])
    with pytest.warns(pliant.PliantWarning, match="edges are open"):
        assert broken.tetrahedralize(cells=24).volume == pytest.approx(exact, rel=0.03)
    with pytest.raises(pliant.MeshError, match="take fewer"):
        surface.tetrahedralize(cells=10**6)


def test_points_follow_the_mesh(random: np.random.Generator) -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (3, 3, 3))
    points = random.uniform(0, 1, (50, 3))
    embedding = mesh.embed(points)
    assert len(embedding) == 50 and len(embedding.outside) == 0
    assert embedding.weights.sum(axis=1) == pytest.approx(np.ones(50))
    gradient = random.normal(size=(3, 3))
    assert np.allclose(embedding.interpolate(mesh.vertices @ gradient.T), points @ gradient.T)
    assert list(mesh.embed([(2, 0, 0), (0.5, 0.5, 0.5)]).outside) == [0]
    with pytest.raises(ValueError, match="a row for each of the 64 vertices"):
        embedding.interpolate(points)


@pytest.mark.parametrize("elements", ["tet5", "hex"])
def test_meshio_there_and_back(tmp_path: Path, elements: str) -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements=elements)  # type: ignore[arg-type]
    half = mesh.element_count // 2
    mesh = mesh.with_parts(regions={"left": np.arange(half), "right": np.arange(half, mesh.element_count)})
    there = mesh.to_meshio()
    assert same(pliant.Mesh.from_meshio(there), mesh)
    sets = mesh.with_parts(element_sets={"some": [1], "left": [0, 1]})
    back = pliant.Mesh.from_meshio(sets.to_meshio())
    assert list(back.regions) == ["left", "right"] and np.array_equal(back.regions["left"], mesh.regions["left"])
    assert list(back.element_sets["some"]) == [1] and list(back.element_sets["left-set"]) == [0, 1]
    there.write(tmp_path / "mesh.vtu")
    read = pliant.Mesh.from_meshio(meshio.read(tmp_path / "mesh.vtu"))
    assert np.array_equal(read.elements, mesh.elements) and np.allclose(read.vertices, mesh.vertices)
    triangles = meshio.Mesh(CORNERS, [("triangle", [[0, 1, 2]])])
    with pytest.raises(pliant.MeshError, match=r"cells of the kinds \['triangle'\], expected tetra or hexahedron"):
        pliant.Mesh.from_meshio(triangles)


def test_meshio_cells_in_several_blocks_keep_their_sets() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1))
    cells = [("tetra", mesh.elements[:4]), ("triangle", [[0, 1, 2]]), ("tetra", mesh.elements[4:])]
    sets = {"some": [np.array([1]), np.array([0]), np.array([0, 2])]}
    made = pliant.Mesh.from_meshio(
        meshio.Mesh(mesh.vertices, cells, cell_sets=sets, point_sets={"tip": np.array([3])})
    )
    assert np.array_equal(made.elements, mesh.elements)
    assert list(made.element_sets["some"]) == [1, 4, 6] and list(made.vertex_sets["tip"]) == [3]


def test_physical_groups_of_gmsh_are_regions() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
    groups = meshio.Mesh(
        mesh.vertices,
        [("quad", [[0, 1, 2, 3]]), ("hexahedron", mesh.elements)],
        cell_data={"gmsh:physical": [np.array([9]), np.array([7, 3])]},
        field_data={"core": np.array([7, 3]), "skin": np.array([9, 2])},
    )
    regions = pliant.Mesh.from_meshio(groups).regions
    assert {name: list(elements) for name, elements in regions.items()} == {"3": [1], "core": [0]}


@pytest.mark.parametrize("elements", ["tet5", "hex"])
def test_pyvista_there_and_back(elements: str) -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements=elements)  # type: ignore[arg-type]
    half = mesh.element_count // 2
    mesh = mesh.with_parts(regions={"left": np.arange(half), "right": np.arange(half, mesh.element_count)})
    grid = mesh.to_pyvista()
    assert grid.volume == pytest.approx(mesh.volume)
    grid.points[:] += 1
    assert mesh.vertices.min() == 0, "a grid is a copy"
    grid.points[:] -= 1
    back = pliant.Mesh.from_pyvista(grid)
    assert np.array_equal(back.elements, mesh.elements) and list(back.regions) == ["left", "right"]
    assert np.array_equal(back.regions["right"], mesh.regions["right"])
    assert np.allclose(mesh.to_pyvista(mesh.vertices * 2).points, mesh.vertices * 2)
    with pytest.raises(pliant.MeshError, match="expected"):
        mesh.to_pyvista(mesh.vertices[1:])
    with pytest.raises(pliant.MeshError, match="VTK's types"):
        pliant.Mesh.from_pyvista(pyvista.Sphere().cast_to_unstructured_grid())
    voxels = pyvista.ImageData(dimensions=(3, 4, 5), spacing=(0.5, 1, 1))
    boxes = pliant.Mesh.from_pyvista(voxels)
    assert boxes.kind == "hex8" and boxes.element_count == 24 and boxes.volume == pytest.approx(voxels.volume)
    with pytest.raises(pliant.MeshError, match="this is a int"):
        pliant.Mesh.from_pyvista(3)
