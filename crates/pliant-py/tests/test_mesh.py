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
        and sets(a.face_sets, b.face_sets)
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


def test_slivers_are_a_warning(tmp_path: Path) -> None:
    flat = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.3, 0.3, 1e-4)]
    with pytest.warns(pliant.PliantWarning, match="1 element is nearly flat: the radius ratio of element 0"):
        mesh = pliant.Mesh(flat, [(0, 1, 2, 3)])
    mesh.write(tmp_path / "flat.veg")
    with pytest.warns(pliant.PliantWarning, match="nearly flat"):
        pliant.Mesh.read(tmp_path / "flat.veg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pliant.Mesh.beam(1, 0.1, 0.1)


def test_counts_that_are_negative_are_named() -> None:
    with pytest.raises(ValueError, match="ball.across: invalid value: integer `-1`, expected a non-negative integer"):
        pliant.Mesh.ball(1, across=-1)
    with pytest.raises(ValueError, match="box.cells.*integer `-2`"):
        pliant.Mesh.box((1, 1, 1), (1, -2, 1))


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
        face_sets=named.face_sets,
    )
    assert same(named, again)
    with pytest.raises(pliant.MeshError, match="element 1 is in two regions, `a` and `b`"):
        mesh.with_parts(regions={"a": [0, 1], "b": [1, 2]})
    for parts in [{"regions": {"a": "surface"}}, {"vertex_sets": {"a": "surface"}}, {"element_sets": {"a": "surface"}}]:
        with pytest.raises(pliant.MeshError, match="there is no .* set `surface`; expected one of `all`"):
            mesh.with_parts(**parts)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="point is"):
        mesh.nearest_vertex((np.nan, 0, 0))
    with pytest.raises(ValueError, match='the region "a" has the number 3, expected 0 to 2'):
        mesh.with_parts(regions={"a": [3]})


def test_other_parts_warn_about_themselves_alone() -> None:
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (5, 5, 5)]
    with pytest.warns(pliant.PliantWarning, match="1 vertex is used by no element"):
        mesh = pliant.Mesh(corners, [(0, 1, 2, 3), (1, 2, 3, 4)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts = mesh.with_parts(regions={"a": [0]}, vertex_sets={"first": [0]})
    assert list(parts.regions) == ["a", "body"] and list(parts.vertex_sets["first"]) == [0]
    with pytest.warns(pliant.PliantWarning, match="face set `middle` has 1 face from both sides"):
        mesh.with_parts(face_sets={"middle": [(0, 2), (1, 0)]})


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
    with pytest.raises(pliant.MeshError, match="there is no vertex set `stort`; expected one of `end`, `start`"):
        beam.select("stort")
    with pytest.raises(ValueError, match=r"mask of shape \(3,\), expected \(99,\)"):
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
    with pytest.raises(ValueError, match="there is no value `tets` here.*Expected one of tet5, tet6, hex"):
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
    with pytest.raises(pliant.MeshError, match="use fewer"):
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
    with pytest.raises(ValueError, match="one row for each of the 64 vertices"):
        embedding.interpolate(points)


@pytest.mark.parametrize("elements", ["tet5", "tet6", "hex"])
def test_face_sets_are_given_by_sides_or_by_vertices_and_survive(tmp_path: Path, elements: str) -> None:
    mesh = pliant.Mesh.box((1, 0.2, 0.05), (10, 2, 1), elements=elements)  # type: ignore[arg-type]
    both = np.concatenate([mesh.face_sets["z-min"], mesh.face_sets["z-max"]])
    plate = mesh.with_parts(face_sets={"both": both, "by-vertices": mesh.face_vertices(both), "none": []})
    assert list(plate.face_sets) == ["both", "by-vertices", "none"]
    assert np.array_equal(plate.face_sets["both"], plate.face_sets["by-vertices"])
    # All vertices are selected, but not the narrow sides.
    assert plate.face_area("both") == pytest.approx(0.4)
    assert plate.face_area(plate.select("both")) == pytest.approx(0.52)
    assert len(plate.select("both")) == plate.vertex_count
    assert plate.face_area(["z-min", "z-max"]) == pytest.approx(0.4)
    for copied in [pickle.loads(pickle.dumps(plate)), copy.deepcopy(plate)]:
        assert same(copied, plate)
    arrays = pliant.Mesh(plate.vertices, plate.elements, vertex_sets=plate.vertex_sets, face_sets=plate.face_sets)
    assert same(arrays, plate)
    assert plate.write(tmp_path / "plate.msh") == []
    assert same(pliant.Mesh.read(tmp_path / "plate.msh"), plate)
    assert plate.refined().face_area("both") == pytest.approx(0.4)


def test_faces_that_do_not_exist_are_refused_with_their_numbers() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements="hex")
    with pytest.raises(pliant.MeshError, match="side 5 of element 1 does not exist: expected elements 0 to 0 and sides 0 to 5"):
        mesh.with_parts(face_sets={"a": [(1, 5)]})
    with pytest.raises(pliant.MeshError, match=r"row 1, \[0, 1, 2, 3\], is not a face of an element"):
        mesh.with_parts(face_sets={"a": [(0, 1, 3, 2), (0, 1, 2, 3)]})
    with pytest.raises(ValueError, match="elements and sides"):
        mesh.with_parts(face_sets={"a": [0, 1]})
    with pytest.raises(pliant.MeshError, match="there is no face set `lid`; expected one of `x-max`"):
        mesh.faces("lid")
    with pytest.raises(ValueError, match="has the number 9"):
        mesh.face_area([(0, 9)])


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
    # Of sets, meshio's files of this kind have data with joined names.
    with pytest.warns(pliant.PliantWarning, match="data arrays that are not kept: left_right_"):
        read = pliant.Mesh.from_meshio(meshio.read(tmp_path / "mesh.vtu"))
    assert np.array_equal(read.elements, mesh.elements) and np.allclose(read.vertices, mesh.vertices)
    triangles = meshio.Mesh(CORNERS, [("triangle", [[0, 1, 2]])])
    with pytest.raises(pliant.MeshError, match=r"cells of the kinds \['triangle'\], expected tetra or hexahedron"):
        pliant.Mesh.from_meshio(triangles)


def test_meshio_cells_in_several_blocks_keep_their_sets() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1))
    cells = [("tetra", mesh.elements[:4]), ("triangle", [[0, 1, 2]]), ("tetra", mesh.elements[4:])]
    sets = {"some": [np.array([1]), np.array([0]), np.array([0, 2])]}
    blocks = meshio.Mesh(mesh.vertices, cells, cell_sets=sets, point_sets={"tip": np.array([3])})
    with pytest.warns(pliant.PliantWarning, match="the 1 faces of `some` are not faces of elements"):
        made = pliant.Mesh.from_meshio(blocks)
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
    with pytest.warns(pliant.PliantWarning, match="the 1 faces of `skin` are not faces of elements: kept as a vertex set"):
        made = pliant.Mesh.from_meshio(groups)
    assert {name: list(elements) for name, elements in made.regions.items()} == {"3": [1], "core": [0]}
    assert list(made.vertex_sets["skin"]) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["tet5", "hex"])
@pytest.mark.parametrize("version", ["4.1", "2.2"])
def test_files_of_gmsh_come_through_meshio_as_they_do_without(tmp_path: Path, version: str, kind: str) -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements=kind)  # type: ignore[arg-type]
    half = mesh.element_count // 2
    mesh = mesh.with_parts(
        regions={"left": np.arange(half), "right": np.arange(half, mesh.element_count)},
        vertex_sets={"tip": [3]},
        face_sets={name: mesh.face_sets[name] for name in ("x-min", "y-max")},
    )
    path = tmp_path / "mesh.msh"
    if version == "4.1":
        mesh.write(path)
        read = meshio.read(path)
        assert "gmsh:bounding_entities" in read.cell_sets
    else:
        first = mesh.to_meshio()
        tags = [first.cell_data["region"][0] + 1, np.repeat([7, 9], [len(f) for f in mesh.face_sets.values()])]
        names = {"left": [1, 3], "right": [2, 3], "x-min": [7, 2], "y-max": [9, 2], "tip": [4, 0]}
        meshio.Mesh(
            first.points,
            [*first.cells, ("vertex", np.array([[3]]))],
            cell_data={"gmsh:physical": [*tags, np.array([4])], "gmsh:geometrical": [*tags, np.array([4])]},
            field_data={name: np.array(entry) for name, entry in names.items()},
        ).write(path, file_format="gmsh22", binary=False)
        read = meshio.read(path)
    assert same(pliant.Mesh.from_meshio(read), mesh)


def test_meshio_objects_of_every_kind_are_understood_and_losses_warned_about() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
    quads = mesh.face_vertices("x-min")
    cells = [("line", [[0, 1]]), ("quad", quads), ("hexahedron", mesh.elements[:1]), ("hexahedron", mesh.elements[1:])]
    none = np.array([], dtype=np.int64)
    sets = {
        "gmsh:bounding_entities": [np.array([1, 2]), np.array([-5]), np.array([3, 4]), none],
        "whole": [None, None, np.array([0]), np.array([0])],
        "some": [none, np.array([0]), none, np.array([0], dtype=np.uint8)],
        "edge": [[0], [], [], []],
    }
    given = meshio.Mesh(mesh.vertices, cells)
    given.cell_sets = sets
    made = pliant.Mesh.from_meshio(given)
    assert list(made.element_sets) == ["some", "whole"] and list(made.element_sets["some"]) == [1]
    assert np.array_equal(made.face_sets["some"], mesh.face_sets["x-min"])
    assert list(made.vertex_sets["edge"]) == [0, 1]
    medit = meshio.Mesh(
        mesh.vertices,
        [("hexahedron", mesh.elements), ("quad", quads)],
        cell_data={"medit:ref": [np.array([2, 2]), np.array([5])]},
        point_data={"medit:ref": (mesh.vertices[:, 0] > 1.5).astype(int)},
    )
    made = pliant.Mesh.from_meshio(medit)
    assert list(made.regions) == ["2"] and list(made.face_sets) == ["surface-5"]
    assert np.array_equal(made.vertex_sets["vertices-1"], mesh.vertex_sets["x-max"])
    lossy = meshio.Mesh(
        mesh.vertices,
        [("hexahedron", mesh.elements), ("triangle", [[0, 1, 2]])],
        cell_sets={"odd": [none, np.array([0])]},
        point_data={"temperature": np.zeros(mesh.vertex_count)},
    )
    with pytest.warns(pliant.PliantWarning) as caught:
        pliant.Mesh.from_meshio(lossy)
    messages = sorted(str(warning.message) for warning in caught)
    assert messages == [
        "1 cells of the set `odd` are of a kind that is not kept",
        "data arrays that are not kept: temperature",
    ]
    with pytest.raises(pliant.MeshError, match="cells of the kinds"):
        pliant.Mesh.from_meshio(meshio.Mesh(CORNERS, [("tetra", [[0, 1, 2, 3]]), ("pyramid", [[0, 1, 2, 3, 0]])]))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "str", "bool"])
def test_regions_of_any_dtype_come_from_pyvista(dtype: str) -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
    cells = np.concatenate([np.insert(mesh.elements, 0, 8, axis=1).ravel(), [4], mesh.face_vertices("x-max").ravel()])
    grid = pyvista.UnstructuredGrid(cells, np.array([12, 12, 9]), np.array(mesh.vertices))
    labels = np.array(["one", "two", "lid"]) if dtype == "str" else np.array([1, 0, 3]).astype(dtype)
    grid.cell_data["region"] = labels
    made = pliant.Mesh.from_pyvista(grid)
    names = {"str": ["one", "two"], "bool": ["True", "False"]}.get(dtype, ["1", "0"])
    assert {name: list(elements) for name, elements in made.regions.items()} == {names[0]: [0], names[1]: [1]}
    lid = {"str": "lid", "bool": "True"}.get(dtype, "surface-3")
    assert np.array_equal(made.face_sets[lid], mesh.face_sets["x-max"])
    grid.cell_data["heat"] = np.zeros(3)
    with pytest.warns(pliant.PliantWarning, match="data arrays that are not kept: heat"):
        pliant.Mesh.from_pyvista(grid)


def test_blocks_of_pyvista_are_regions_and_face_sets() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex")
    left, right = (mesh.extract([element])[0].to_pyvista() for element in (0, 1))
    for block in (left, right):
        block.clear_data()
    lid = pyvista.PolyData(np.array(mesh.vertices), np.insert(mesh.face_vertices("x-max"), 0, 4, axis=1).ravel())
    blocks = pyvista.MultiBlock({"left": left, "right": right, "lid": lid, "nothing": None})
    made = pliant.Mesh.from_pyvista(blocks)
    assert made.vertex_count == 12 and made.volume == pytest.approx(2)
    assert {name: list(elements) for name, elements in made.regions.items()} == {"left": [0], "right": [1]}
    assert made.face_area("lid") == pytest.approx(1) and list(made.face_sets) == ["lid"]
    with pytest.raises(pliant.MeshError, match="no blocks with cells"):
        pliant.Mesh.from_pyvista(pyvista.MultiBlock())


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
    assert same(back, mesh)
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


def test_masks_of_meshio_point_sets_are_masks() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
    given = meshio.Mesh(mesh.vertices, [("tetra", mesh.elements)], point_sets={"m": np.arange(27) >= 20})
    assert list(pliant.Mesh.from_meshio(given).vertex_sets["m"]) == list(range(20, 27))


def test_meshio_input_that_cannot_be_read_is_explained() -> None:
    with pytest.raises(pliant.MeshError, match="this is a NoneType, expected a meshio.Mesh"):
        pliant.Mesh.from_meshio(None)
    curved = meshio.Mesh(np.zeros((10, 3)), [("tetra10", [list(range(10))])])
    with pytest.raises(pliant.MeshError, match=r"elements of second and higher order \(tetra10\) are not supported yet"):
        pliant.Mesh.from_meshio(curved)
    scalar = meshio.Mesh(CORNERS, [("tetra", [[0, 1, 2, 3]])], cell_data={"gmsh:physical": [np.array([1])]})
    scalar.field_data = {"time": np.array(0.5), "core": np.array([1, 3])}
    assert list(pliant.Mesh.from_meshio(scalar).regions) == ["core"]


def test_pyvista_input_that_cannot_be_read_is_explained() -> None:
    grid = pliant.Mesh.box((1, 1, 1), (1, 1, 1)).to_pyvista()
    grid.cell_data["region"] = np.zeros((grid.n_cells, 2))
    with pytest.raises(pliant.MeshError, match=r"the cell data `region` has the shape \(5, 2\), expected \(5,\)"):
        pliant.Mesh.from_pyvista(grid)
    curved = pyvista.UnstructuredGrid(np.array([10, *range(10)]), np.array([24]), np.zeros((10, 3)))
    with pytest.raises(pliant.MeshError, match="elements of second and higher order are not supported yet"):
        pliant.Mesh.from_pyvista(curved)


def test_blocks_of_whole_meshes_keep_their_names_and_face_sets() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
    left, right = mesh.to_pyvista(), mesh.translated((1, 0, 0)).to_pyvista()
    top = mesh.to_pyvista().extract_surface(algorithm="dataset_surface")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = pliant.Mesh.from_pyvista(pyvista.MultiBlock({"left": left, "right": right, "top": top}))
    assert {name: list(elements) for name, elements in made.regions.items()} == {
        "left": list(range(40)),
        "right": list(range(40, 80)),
    }
    assert sorted(made.face_sets) == ["top", "x-max", "x-min", "y-max", "y-min", "z-max", "z-min"]
    assert made.face_area("top") == pytest.approx(6)
    assert np.array_equal(made.face_sets["x-max"], np.concatenate([mesh.face_sets["x-max"] + offset for offset in ([0, 0], [40, 0])]))
    # Vertices where the blocks meet are in the sets of both.
    assert made.vertex_count == 45 and set(np.unique(made.vertices[made.vertex_sets["x-min"], 0])) == {0.0, 1.0}


def test_regions_of_blocks_with_the_same_name_are_called_by_their_block() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1))
    left, right = mesh.to_pyvista(), mesh.translated((1, 0, 0)).to_pyvista()
    for grid in (left, right):
        grid.clear_data()
        grid.cell_data["region"] = np.array([0, 0, 0, 1, 1])
    right.cell_data["region"] = np.array([0, 0, 0, 2, 2])
    made = pliant.Mesh.from_pyvista(pyvista.MultiBlock({"left": left, "right": right}))
    assert {name: len(elements) for name, elements in made.regions.items()} == {"1": 2, "2": 2, "left.0": 3, "right.0": 3}


def test_sets_and_arrays_that_not_all_blocks_have_are_kept_or_warned_about() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1)).with_parts(element_sets={"some": [1]}, vertex_sets={"tip": [7]})
    left, right = mesh.with_parts(element_sets={}, vertex_sets={}).to_pyvista(), mesh.translated((1, 0, 0)).to_pyvista()
    left.cell_data["heat"] = np.zeros(5)
    with pytest.warns(pliant.PliantWarning, match="data arrays that not all blocks have are not kept: heat"):
        made = pliant.Mesh.from_pyvista(pyvista.MultiBlock({"left": left, "right": right}))
    assert list(made.element_sets["some"]) == [6]
    assert made.vertices[made.vertex_sets["tip"]].tolist() == [[2, 1, 1]]


def test_face_sets_follow_cells_that_are_extracted() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = pliant.Mesh.from_pyvista(mesh.to_pyvista().extract_cells(range(20, 40)))
    for name, faces in mesh.face_sets.items():
        rest = faces[faces[:, 0] >= 20] - [20, 0]
        assert np.array_equal(made.face_sets.get(name, np.zeros((0, 2))), rest)
    assert "z-min" not in made.face_sets
    twice = mesh.to_pyvista().extract_cells(range(20, 40)).extract_cells(range(5))
    assert pliant.Mesh.from_pyvista(twice).face_area("z-max") == pytest.approx(
        mesh.face_area([face for face in mesh.face_sets["z-max"] if 20 <= face[0] < 25])
    )


def test_face_sets_whose_numbers_are_stale_are_dropped_with_a_warning() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2)).with_parts(regions={"core": np.arange(40)})
    joined = mesh.to_pyvista().merge(mesh.translated((1, 0, 0)).to_pyvista())
    with pytest.warns(pliant.PliantWarning) as caught:
        made = pliant.Mesh.from_pyvista(joined)
    messages = [str(warning.message) for warning in caught]
    assert "the face sets `x-max`, `x-min`" in messages[0] and "cells were joined or divided" in messages[0]
    assert "regions have the names of the first" in messages[1] and made.face_sets == {}
    for extracted in (True, False):
        grid = mesh.to_pyvista()
        del grid.cell_data["pliant:element"]
        if extracted:
            grid = grid.extract_cells(range(20, 40))
        else:
            grid.field_data["faces:x-max"] = np.array([[40, 0]])
        with pytest.warns(pliant.PliantWarning, match="`x-max`.* not kept: .*(extracted|elements 0 to 39)"):
            assert "x-max" not in pliant.Mesh.from_pyvista(grid).face_sets


def test_hidden_cells_of_pyvista_are_dropped() -> None:
    mesh = pliant.Mesh.box((3, 1, 1), (3, 1, 1), elements="hex")
    grid = mesh.to_pyvista()
    grid.cell_data["vtkGhostType"] = np.array([0, 32, 1], dtype=np.uint8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = pliant.Mesh.from_pyvista(grid)
    assert made.element_count == 1 and made.volume == pytest.approx(1)
    assert np.array_equal(made.face_sets["x-min"], mesh.face_sets["x-min"]) and "x-max" not in made.face_sets
    explicit = pyvista.ExplicitStructuredGrid(pyvista.StructuredGrid(*np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij")))
    hidden = explicit.hide_cells(range(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pliant.PliantWarning)
        assert pliant.Mesh.from_pyvista(hidden).element_count == 24


@pytest.mark.parametrize("name", ["mesh.vtu", "mesh.vtk"])
def test_regions_survive_a_file_that_pyvista_writes(tmp_path: Path, name: str) -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2)).with_parts(regions={"weich": np.arange(10), "härter": np.arange(10, 40)})
    mesh.to_pyvista().save(tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(pliant.Mesh.read(tmp_path / name), mesh)
    assert same(pliant.Mesh.from_pyvista(pyvista.read(tmp_path / name)), mesh)
