"""Models: energies, forces, matrices, statics, modes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from scipy.sparse.linalg import eigsh, spsolve

import pliant

LAWS = pliant.Material.laws()


def cube(law: str, elements: str = "tet5") -> pliant.Model:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2), elements=elements)  # type: ignore[arg-type]
    return pliant.Model(mesh, pliant.Material(law, young=1e5, poisson=0.3, density=1000))


@pytest.mark.parametrize("elements", ["tet5", "hex"])
@pytest.mark.parametrize("law", LAWS)
def test_force_and_stiffness_are_derivatives_of_the_energy(
    law: str, elements: str, random: np.random.Generator
) -> None:
    model = cube(law, elements)
    u = 0.05 * random.normal(size=(27, 3))
    v = random.normal(size=(27, 3))
    h = 1e-6
    slope = (model.energy(u + h * v) - model.energy(u - h * v)) / (2 * h)
    force = model.internal_force(u)
    assert (force * v).sum() == pytest.approx(slope, rel=1e-6)
    K = model.stiffness(u)
    assert scipy.sparse.issparse(K) and K.format == "csr" and K.shape == (81, 81)
    change = (model.internal_force(u + h * v) - model.internal_force(u - h * v)).ravel() / (2 * h)
    assert K @ v.ravel() == pytest.approx(change, abs=1e-6 * np.abs(change).max())
    assert abs(K - K.T).max() == 0


@pytest.mark.parametrize("law", LAWS)
def test_the_derivative_of_the_stiffness_is_that_of_its_products(law: str, random: np.random.Generator) -> None:
    model = cube(law)
    u, a, b = 0.02 * random.normal(size=(27, 3)), random.normal(size=(27, 3)), random.normal(size=(27, 3))
    h = 1e-5
    change = (model.stiffness(u + h * a) - model.stiffness(u - h * a)) @ b.ravel() / (2 * h)
    found = model.stiffness_derivative(u, a, b)
    assert found.ravel() == pytest.approx(change, abs=1e-5 * max(np.abs(change).max(), 1))
    if law != "linear":
        assert np.isnan(model.stiffness_derivative(u, a * np.nan, b)).any()
    assert found == pytest.approx(model.stiffness_derivative(u, b, a), abs=1e-7 * max(np.abs(found).max(), 1))


def test_a_projected_stiffness_has_no_negative_direction(random: np.random.Generator) -> None:
    model = cube("stvk")
    u = model.rest_positions * (0, -0.5, 0) + 0.01 * random.normal(size=(27, 3))
    exact = np.linalg.eigvalsh(model.stiffness(u).toarray())
    projected = np.linalg.eigvalsh(model.stiffness(u, projected=True).toarray())
    assert exact[0] < -1e3 and projected[-1] > 1e4 and projected[0] > -1e-9 * projected[-1]


def test_mass_and_damping_are_what_they_say(beam: pliant.Mesh, rubber: pliant.Material) -> None:
    model = pliant.Model(beam, rubber, fixed="start", damping=(0.5, 0.01))
    M, K = model.mass(), model.stiffness()
    assert M.sum() / 3 == pytest.approx(1000 * beam.volume)
    assert model.vertex_masses.sum() == pytest.approx(1000 * beam.volume)
    assert abs(model.damping() - (0.5 * M + 0.01 * K)).max() < 1e-9
    lumped = pliant.Model(beam, rubber, mass="lumped").mass()
    assert lumped.nnz == 3 * beam.vertex_count and lumped.sum() == pytest.approx(M.sum())
    assert pliant.Model(beam, rubber).damping().nnz == 0


def test_displacements_may_be_flat_lists_strided_or_missing(model: pliant.Model, random: np.random.Generator) -> None:
    u = 0.01 * random.normal(size=(model.vertex_count, 3))
    force = model.internal_force(u)
    misaligned = np.zeros(u.nbytes + 4, np.uint8)[4:].view(np.float64).reshape(u.shape)
    misaligned[:] = u
    for other in [misaligned, u.ravel(), u.tolist(), np.asfortranarray(u), np.repeat(u, 2, axis=0)[::2]]:
        assert np.array_equal(model.internal_force(other), force)
    assert model.internal_force(u.astype("float32")) == pytest.approx(force, abs=1e-2)
    assert np.abs(model.internal_force()).max() < 1e-9 and model.energy(None) == model.energy()
    nothing = model.static_solve(forces=None, gravity=None, prescribed=None, start=None)
    assert np.abs(nothing).max() == 0
    assert model.energy() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("u", "error", "message"),
    [
        (np.zeros((3, 3)), ValueError, r"u has the shape \(3, 3\), expected \(99, 3\), one row for each of the 99 vertices"),
        (np.zeros((3, 99)), ValueError, r"u has the shape \(3, 99\)"),
        (np.zeros((99, 3), dtype=complex), TypeError, "u has the dtype complex128, expected float64"),
        ("rest", TypeError, "u has the dtype <U4"),
        ({}, TypeError, "u has the dtype object"),
    ],
)
def test_wrong_displacements_are_explained(
    model: pliant.Model, u: object, error: type[Exception], message: str
) -> None:
    for call in [model.energy, model.internal_force, model.stiffness, model.damping, model.von_mises]:
        with pytest.raises(error, match=message):
            call(u)  # type: ignore[operator]


def test_regions_have_their_own_materials() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (2, 1, 1), elements="hex").with_parts(regions={"soft": [0], "hard": [1]})
    soft = pliant.materials.linear(young=1e5, poisson=0, density=1000)
    hard = pliant.materials.linear(young=3e5, poisson=0, density=2000)
    model = pliant.Model(mesh, {"soft": soft, "hard": hard}, fixed="x-min")
    assert model.vertex_masses.sum() == pytest.approx(3000)
    # Two springs in a row, of stiffness E A / l: of a displacement of 4 the soft one has 3.
    u = model.static_solve(prescribed=("x-max", (0.04, None, None)))
    assert u[np.isclose(mesh.vertices[:, 0], 1), 0] == pytest.approx(np.full(4, 0.03), rel=1e-9)
    with pytest.raises(pliant.ModelError, match="region `hard` has no material; the regions are `soft`, `hard`"):
        pliant.Model(mesh, {"soft": soft})
    with pytest.raises(pliant.ModelError, match="unknown region `sot`; expected one of `soft`, `hard`"):
        pliant.Model(mesh, {"soft": soft, "hard": hard, "sot": soft})
    with pytest.raises(TypeError, match="expected a pliant.Material"):
        pliant.Model(mesh, 1e5)  # type: ignore[arg-type]


def test_materials_of_the_mesh_file_are_used(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "cube.veg"
    lines = ["*VERTICES", "4 3 0 0", "0 0 0 0", "1 1 0 0", "2 0 1 0", "3 0 0 1", "*ELEMENTS", "TET", "1 4 0", "0 0 1 2 3"]
    lines += ["*MATERIAL rubber", "ENU, 1000, 2e6, 0.4", "*REGION", "allElements, rubber"]
    path.write_text("\n".join(lines) + "\n")
    mesh = pliant.Mesh.read(path)
    given = pliant.Model(mesh, pliant.materials.stvk(young=2e6, poisson=0.4, density=1000))
    u = 0.1 * np.arange(12).reshape(4, 3) ** 2 / 100
    assert pliant.Model(mesh, pliant.materials.stvk()).energy(u) == given.energy(u)
    with pytest.raises(pliant.MaterialError, match="region `body` has no stiffness"):
        pliant.Model(pliant.Mesh.box((1, 1, 1), (1, 1, 1)))


def test_an_energy_of_ones_own_is_the_law_that_it_is() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (2, 2, 2))
    mu, lam = 3e4, 5e4
    law = pliant.materials.neo_hookean(coefficients={"mu": mu, "lambda": lam}, density=1000)
    own = pliant.Material.from_energy("mu/2*(I1-3) - mu*ln(J) + lam/2*ln(J)^2", mu=mu, lam=lam, density=1000)
    u = 0.05 * np.random.default_rng(3).normal(size=(27, 3))
    one, other = pliant.Model(mesh, law), pliant.Model(mesh, own)
    assert other.energy(u) == pytest.approx(one.energy(u), rel=1e-12)
    assert abs(other.stiffness(u) - one.stiffness(u)).max() < 1e-8 * abs(one.stiffness(u)).max()
    with pytest.raises(pliant.MaterialError, match="nu"):
        pliant.Material.from_energy("mu*(I1-3) + nu*J", mu=mu, density=1000)
    with pytest.raises(pliant.MaterialError):
        pliant.Material.from_energy("mu*(I1-3", mu=mu, density=1000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"young": -1, "poisson": 0.3}, "Young's modulus is -1, expected a positive number"),
        ({"young": 1, "poisson": 0.5}, "Poisson's ratio is 0.5, expected"),
        ({"young": float("nan"), "poisson": 0.3}, "Young's modulus is NaN"),
        ({"young": 1}, "`poisson` is missing"),
        ({"young": 1, "poisson": 0.3, "density": -5}, "the density is -5"),
        ({"young": 1, "poisson": 0.3, "coefficients": {"mu": 1}}, "`young` has no effect"),
        ({"coefficients": {"mu": 1, "kappa": 1}}, "no coefficient `kappa`"),
        ({"young": 1, "poisson": 0.3, "inversion": "maybe"}, "unknown variant `maybe`"),
        ({"young": 1, "poisson": 0.3, "inversion_threshold": 0.1}, "has no effect"),
    ],
)
def test_materials_that_are_not_possible_are_explained(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(pliant.MaterialError, match=message):
        pliant.materials.neo_hookean(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("law", LAWS)
def test_every_law_has_a_function(law: str) -> None:
    assert repr(pliant.Material(young=1, poisson=0)) == "<pliant.Material without a law: young=1 Pa, poisson=0>"
    assert "poisson=0.49999999>" in repr(pliant.Material(young=1, poisson=0.49999999))
    material = getattr(pliant.materials, law.replace("-", "_"))(young=1e6, poisson=0.3, density=1)
    assert material.law == law and (material.young, material.poisson, material.density) == (1e6, 0.3, 1)


def test_static_solve_balances_loads_and_reactions(model: pliant.Model) -> None:
    forces = np.zeros((model.vertex_count, 3))
    forces[model.select("end")] = (0, -0.5, 0.2)
    u = model.static_solve(forces=forces, tolerance=1e-12)
    left = model.internal_force(u) - forces
    fixed = model.fixed
    assert np.abs(left[~fixed]).max() < 1e-8
    reactions = model.reactions(u, forces=forces)
    assert reactions.sum(axis=0) == pytest.approx(-forces.sum(axis=0), abs=1e-8)
    assert np.array_equal(reactions[~fixed], np.zeros(3 * model.vertex_count - fixed.sum()))
    again = model.static_solve(forces=forces, start=u, tolerance=1e-12)
    assert again == pytest.approx(u, abs=1e-9)


def test_linear_statics_are_those_of_scipy(beam: pliant.Mesh) -> None:
    model = pliant.Model(beam, pliant.materials.linear(young=1e6, poisson=0.3, density=1000), fixed="start")
    forces = model.vertex_masses[:, None] * np.array([0, -9.81, 0])
    free = ~model.fixed.ravel()
    K = model.stiffness()
    expected = np.zeros(3 * model.vertex_count)
    expected[free] = spsolve(K[free][:, free].tocsc(), forces.ravel()[free])
    for u in [model.static_solve(gravity=(0, -9.81, 0)), model.static_solve(forces=forces)]:
        assert u.ravel() == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def test_prescribed_displacements_come_in_several_ways(model: pliant.Model) -> None:
    end = model.select("end")
    one = model.static_solve(prescribed=("end", (0, 0.1, 0)))
    assert one[end] == pytest.approx(np.tile((0, 0.1, 0), (len(end), 1)))
    rows = np.tile((0, 0.1, 0), (len(end), 1))
    for prescribed in [(end, rows), {int(v): (0, 0.1, 0) for v in end}, {"end": (0, 0.1, 0)}]:
        assert np.array_equal(model.static_solve(prescribed=prescribed), one)
    pull = model.reactions(one, prescribed={"end": (0, 0.1, 0)})
    assert pull[end, 1].sum() == pytest.approx(-pull[model.select("start"), 1].sum(), rel=1e-6)
    assert pull[end] == pytest.approx(model.internal_force(one)[end])
    free = model.static_solve(prescribed={"end": (float("nan"), 0.1, None)})
    assert free[end, 1] == pytest.approx(np.full(len(end), 0.1)) and np.abs(free[end, 0]).max() > 1e-3
    with pytest.raises(ValueError, match=r"prescribed displacement has the shape \(2,\)"):
        model.static_solve(prescribed=("end", (0, 0.1)))
    with pytest.raises(TypeError, match="prescribed: expected"):
        model.static_solve(prescribed=[1, 2, 3])  # type: ignore[arg-type]


def test_a_free_body_has_no_equilibrium_to_find(rubber: pliant.Material) -> None:
    model = pliant.Model(pliant.Mesh.box((1, 1, 1), (1, 1, 1)), rubber)
    with pytest.raises(pliant.SolveError, match="in statics"):
        model.static_solve(gravity=(0, -9.81, 0), iterations=5)


def test_vertices_can_be_fixed_along_some_axes(rubber: pliant.Material) -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1))
    model = pliant.Model(mesh, rubber, fixed={"x-min": "x", 0: "yz"})
    expected = np.zeros((8, 3), dtype=bool)
    expected[mesh.vertex_sets["x-min"], 0] = True
    expected[0] = True
    assert np.array_equal(model.fixed, expected)
    with pytest.raises(ValueError, match='expected some of "xyz"'):
        pliant.Model(mesh, rubber, fixed={"x-min": "w"})
    with pytest.raises(pliant.MeshError, match="there is no vertex set `left`"):
        pliant.Model(mesh, rubber, fixed="left")


def test_stress_of_a_stretched_cube_is_youngs_modulus_times_strain() -> None:
    model = cube("linear", "hex")
    u = model.rest_positions * (0.01, -0.003, -0.003)
    for at, count in [("elements", 8), ("vertices", 27)]:
        for measure in ["cauchy", "first-piola", "second-piola"]:
            stress = model.stress(u, measure, at=at)  # type: ignore[arg-type]
            assert stress.shape == (count, 3, 3)
            assert stress[:, 0, 0] == pytest.approx(np.full(count, 1000), rel=0.03)
        assert model.von_mises(u, at=at) == pytest.approx(np.full(count, 1000), rel=0.03)  # type: ignore[arg-type]
    strain = model.strain(u)
    assert strain["volume_ratio"] == pytest.approx(np.full(8, 1.01 * 0.997**2))
    assert strain["stretches"][0] == pytest.approx([1.01, 0.997, 0.997])
    assert strain["green_strain"][0, 0, 0] == pytest.approx((1.01**2 - 1) / 2)
    assert strain["energy_density"].sum() / 8 == pytest.approx(model.energy(u))
    with pytest.raises(ValueError, match="expected \"cauchy\""):
        model.stress(u, "pressure")  # type: ignore[arg-type]


def test_linear_materials_report_their_own_stress_whatever_the_measure() -> None:
    model = cube("linear", "hex")
    u = model.rest_positions * (0.1, -0.03, -0.03)
    for at in ("elements", "vertices"):
        for measure in ("cauchy", "first-piola", "second-piola"):
            stress = model.stress(u, measure, at=at)  # type: ignore[arg-type]
            assert stress == pytest.approx(np.broadcast_to(np.diag((10000, 0, 0)), stress.shape), abs=1e-6)
        strain = model.strain(u, at=at)["strain"]  # type: ignore[arg-type]
        assert strain == pytest.approx(np.broadcast_to(np.diag((0.1, -0.03, -0.03)), strain.shape))


def test_stress_at_vertices_between_materials_is_that_of_each() -> None:
    mesh = pliant.Mesh.box((2, 1, 1), (4, 2, 2), elements="hex")
    upper = mesh.vertices[mesh.elements].mean(axis=1)[:, 1] > 0.5
    mesh = pliant.Mesh(mesh.vertices, mesh.elements, regions={"lower": ~upper, "upper": upper})
    law = {name: pliant.materials.linear(young=young, poisson=0, density=1) for name, young in [("lower", 1e3), ("upper", 1e5)]}
    model = pliant.Model(mesh, law)
    u = model.rest_positions * (0.01, 0, 0)
    heights = model.rest_positions[:, 1]
    for region, young, has in [("lower", 1e3, heights < 0.51), ("upper", 1e5, heights > 0.49)]:
        stress = model.stress(u, at="vertices", region=region)[:, 0, 0]
        assert stress[has] == pytest.approx(0.01 * young)
        assert np.isnan(stress[~has]).all()
    # Without a region, the larger of the two.
    assert model.von_mises(u, at="vertices")[np.isclose(heights, 0.5)] == pytest.approx(1000)
    with pytest.raises(pliant.PliantError, match="unknown region `middle`; expected one of `lower`, `upper`"):
        model.stress(u, at="vertices", region="middle")
    with pytest.raises(ValueError, match='region: expected at="vertices"'):
        model.von_mises(u, region="upper")


def test_a_model_that_locks_warns_and_others_do_not() -> None:
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1))
    with pytest.warns(pliant.PliantWarning, match="lock at ν = 0.49: .* 3.4 times too stiff in bending"):
        pliant.Model(mesh, pliant.materials.linear(young=1e3, poisson=0.49, density=1))
    hexes = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements="hex")
    pliant.Model(hexes, pliant.materials.linear(young=1e3, poisson=0.47, density=1))
    with pytest.warns(pliant.PliantWarning, match="hexahedra lock at ν = 0.48"):
        pliant.Model(hexes, pliant.materials.neo_hookean(young=1e3, poisson=0.48, density=1))


def test_stress_tensors_are_not_transposed(random: np.random.Generator) -> None:
    """First Piola–Kirchhoff stress is not symmetric: P = ∂ψ/∂F, seen from the energy of a single tetrahedron."""
    mesh = pliant.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2, 3)])
    model = pliant.Model(mesh, pliant.materials.stvk(young=1e3, poisson=0.3, density=1))
    gradient = 0.3 * random.normal(size=(3, 3))
    stress = model.stress(mesh.vertices @ gradient.T, "first-piola")[0]
    h = 1e-6
    for i in range(3):
        for j in range(3):
            step = np.zeros((3, 3))
            step[i, j] = h
            energies = [model.energy(mesh.vertices @ (gradient + sign * step).T) for sign in (1, -1)]
            assert stress[i, j] == pytest.approx((energies[0] - energies[1]) / (2 * h) / mesh.volume, rel=1e-5)


def test_modes_are_those_of_scipy(model: pliant.Model) -> None:
    frequencies, shapes = model.modes(6)
    free = ~model.fixed.ravel()
    K, M = model.stiffness()[free][:, free], model.mass()[free][:, free]
    squares = eigsh(K, 6, M, sigma=0, return_eigenvectors=False)
    assert frequencies == pytest.approx(np.sqrt(np.sort(squares)) / (2 * np.pi), rel=1e-9)
    flat = shapes.reshape(6, -1)
    assert flat @ (model.mass() @ flat.T) == pytest.approx(np.eye(6), abs=1e-9)
    with pytest.raises(pliant.SolveError, match="0 modes, expected at least 1"):
        model.modes(0)
    with pytest.raises(ValueError, match="expected a whole number from 0 to .*, found -1"):
        model.modes(-1)


def test_reduced_models_follow_the_whole(beam: pliant.Mesh, tmp_path: object) -> None:
    from pathlib import Path

    model = pliant.Model(beam, pliant.materials.stvk(young=1e5, poisson=0.3, density=1000), fixed="start")
    reduced = model.reduce(12)
    assert reduced.size == 12 and reduced.basis.shape == (12, beam.vertex_count, 3) and not reduced.is_free
    assert reduced.frequencies[0] == pytest.approx(model.modes(1)[0][0], rel=1e-6)
    q = 0.01 * np.random.default_rng(0).normal(size=12)
    u = reduced.expand(q)
    assert u == pytest.approx(np.tensordot(q, reduced.basis, 1))
    assert reduced.project(u) == pytest.approx(q)
    basis = reduced.basis.reshape(12, -1)
    assert reduced.energy(q) == pytest.approx(model.energy(u), rel=1e-9)
    assert reduced.internal_force(q) == pytest.approx(basis @ model.internal_force(u).ravel(), rel=1e-8, abs=1e-9)
    K = basis @ (model.stiffness(u) @ basis.T)
    assert reduced.stiffness(q) == pytest.approx(K, rel=1e-8, abs=1e-8 * np.abs(K).max())
    path = Path(str(tmp_path)) / "beam.pliant"
    reduced.write(path)
    assert np.array_equal(model.read_reduced(path).basis, reduced.basis)
    other = pliant.Model(beam.scaled(2), pliant.materials.stvk(young=1e5, poisson=0.3, density=1000), fixed="start")
    with pytest.raises(FileNotFoundError):
        model.read_reduced(path.with_name("none.pliant"))
    with pytest.raises(pliant.ModelError, match="another mesh"):
        other.read_reduced(path)
    own = model.reduce(3, basis=model.modes(3)[1])
    assert own.frequencies == pytest.approx(model.modes(3)[0], rel=1e-8)
    with pytest.raises(ValueError, match=r"basis has the shape \(3, 3\)"):
        model.reduce(3, basis=np.eye(3))
    with pytest.raises(ValueError, match="forces are \"fast\""):
        model.reduce(3, forces="fast")  # type: ignore[arg-type]


def test_several_bodies_are_one_model(rubber: pliant.Material) -> None:
    ball = pliant.Mesh.ball(0.1, across=4)
    bodies = [pliant.Body(ball, rubber, name="right"), pliant.Body(ball.translated((1, 0, 0)), rubber, name="left")]
    model = pliant.Model(bodies, fixed="surface")
    n = ball.vertex_count
    assert list(model.bodies.items()) == [("right", (0, n)), ("left", (n, 2 * n))]
    assert model.fixed.any(axis=1).sum() == 2 * len(ball.select("surface"))
    u = np.random.default_rng(0).normal(size=(n, 3)) / 1000
    alone = pliant.Model(ball, rubber)
    assert model.energy(np.vstack([u, u])) == pytest.approx(2 * alone.energy(u))
    assert model.von_mises(np.vstack([0 * u, u]), at="vertices")[n:] == pytest.approx(alone.von_mises(u, at="vertices"))
    with pytest.raises(pliant.ModelError, match="two bodies are named `body`"):
        pliant.Model([pliant.Body(ball, rubber), pliant.Body(ball, rubber)])
    with pytest.raises(TypeError, match="bodies have materials"):
        pliant.Model(bodies, rubber)
    with pytest.raises(TypeError, match="expected a pliant.Mesh or a list of pliant.Body"):
        pliant.Model([ball])  # type: ignore[list-item]


def test_a_single_obstacle_needs_no_list(beam: pliant.Mesh, rubber: pliant.Material) -> None:
    wall = pliant.Obstacle.plane((0.5, 0, 0), (1, 0, 0), stiffness=1e3)
    one, listed = (pliant.Model(beam, rubber, obstacles=given) for given in (wall, [wall]))
    assert one.energy() == listed.energy() > 0
    with pytest.raises(TypeError, match="obstacles: expected a pliant.Obstacle, or a list of them"):
        pliant.Model(beam, rubber, obstacles=3)  # type: ignore[arg-type]
