"""Pressures, tractions, obstacles and springs without a scene, units, and models without mass."""

from __future__ import annotations

import numpy as np
import pytest

import pliant

YOUNG, POISSON = 1e6, 0.3
BULK = YOUNG / (3 * (1 - 2 * POISSON))
SLIDING = {"x-min": "x", "y-min": "y", "z-min": "z"}
ELEMENTS = pytest.mark.parametrize("elements", ["tet5", "tet6", "hex"])


def cube(elements: str = "hex", size: tuple[float, float, float] = (1, 1, 1)) -> pliant.Mesh:
    return pliant.Mesh.box(size, (2, 2, 2), elements=elements)  # type: ignore[arg-type]


def linear(density: float | None = None) -> pliant.Material:
    return pliant.materials.linear(young=YOUNG, poisson=POISSON, density=density)


@ELEMENTS
def test_dead_pressure_all_around_shrinks_a_linear_cube_by_exactly_pressure_over_bulk_modulus(elements: str) -> None:
    mesh = cube(elements)
    model = pliant.Model(mesh, linear(), fixed=SLIDING)
    u = model.static_solve(pressure={"surface": 0.03 * BULK}, follower=False)
    assert np.allclose(u, -0.01 * mesh.vertices, atol=1e-12)  # tr ε = −p/κ


def test_follower_pressure_all_around_shrinks_a_cube_to_first_order_by_pressure_over_bulk_modulus() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(), fixed=SLIDING)
    u = model.static_solve(pressure=("surface", 1e-5 * BULK))
    assert np.allclose(u, -1e-5 / 3 * mesh.vertices, rtol=1e-4, atol=1e-12)
    assert not np.allclose(u, -1e-5 / 3 * mesh.vertices, rtol=1e-7, atol=1e-14)


@ELEMENTS
def test_pressure_on_one_face_compresses_and_traction_stretches_a_block_by_stress_over_young(elements: str) -> None:
    mesh = cube(elements)
    model = pliant.Model(mesh, linear(), fixed=SLIDING)
    strain = np.array((-0.02, 0.006, 0.006))
    pressed = model.static_solve(pressure={"x-max": "20 kPa"}, follower=False)
    assert np.allclose(pressed, strain * mesh.vertices, atol=1e-12)
    pulled = model.static_solve(traction={"x-max": ("20 kPa", 0, 0)})
    assert np.allclose(pulled, -strain * mesh.vertices, atol=1e-12)


@ELEMENTS
def test_the_total_force_is_area_times_traction(elements: str) -> None:
    mesh = cube(elements, (1, 2, 3))
    model = pliant.Model(mesh, linear(), fixed="x-min")
    rest = np.zeros((model.vertex_count, 3))
    for faces, area, normal in [("x-max", 6, (1, 0, 0)), ("y-max", 3, (0, 1, 0)), ("z-max", 2, (0, 0, 1))]:
        model = pliant.Model(mesh, linear(), fixed="all")
        for keywords in [{"pressure": {faces: 10}}, {"pressure": {faces: 10}, "follower": False}]:
            total = -model.reactions(rest, **keywords).sum(axis=0)  # type: ignore[arg-type]
            assert np.allclose(total, -10 * area * np.array(normal), atol=1e-12)
        total = -model.reactions(rest, traction=(faces, (1, 2, 3))).sum(axis=0)
        assert np.allclose(total, area * np.array((1, 2, 3)), atol=1e-12)


@ELEMENTS
def test_loads_on_a_face_set_act_on_exactly_its_faces(elements: str) -> None:
    """A plate one cell thick: its narrow sides have vertices of the set only, but are not in it."""
    plate = pliant.Mesh.box((1, 0.2, 0.05), (10, 2, 1), elements=elements)  # type: ignore[arg-type]
    both = np.concatenate([plate.face_sets["z-min"], plate.face_sets["z-max"]])
    plate = plate.with_parts(face_sets={**plate.face_sets, "both": both})
    model = pliant.Model(plate, linear(), fixed="all")
    rest = np.zeros((model.vertex_count, 3))
    total = -model.reactions(rest, traction={"both": (1, 0, 0)}).sum(axis=0)
    assert np.allclose(total, (0.4, 0, 0), atol=1e-14)
    total = -model.reactions(rest, traction={"z-max": (1, 0, 0)}, pressure={"z-max": 2}).sum(axis=0)
    assert np.allclose(total, (0.2, 0, -0.4), atol=1e-14)
    sim = pliant.Simulation(model, pliant.integrators.static(dt=1), traction={"both": (1, 0, 0)})
    sim.step()
    assert np.allclose(-sim.reactions().sum(axis=0), (0.4, 0, 0), atol=1e-12)


def test_faces_can_be_given_by_names_numbers_and_masks() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(), fixed="y-min")
    side = mesh.select("y-max")
    mask = np.isin(np.arange(mesh.vertex_count), side)
    expected = model.static_solve(pressure={"y-max": 100})
    for faces in ["y-max", ["y-max"], side, side.tolist(), set(side.tolist()), mask]:
        assert np.array_equal(model.static_solve(pressure=(faces, 100)), expected)
    both = model.static_solve(pressure={"y-max": 60, tuple(side.tolist()): 40})
    assert np.allclose(both, expected, atol=1e-12)
    with pytest.raises(pliant.MeshError, match="pressure: none of the 24 faces"):
        model.static_solve(pressure=([0, 1], 100))
    with pytest.raises(pliant.MeshError, match="pressure: there is no face or vertex set `top`"):
        model.static_solve(pressure={"top": 100})
    with pytest.raises(TypeError, match="pressure: expected {faces: value}"):
        model.static_solve(pressure=100)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="traction has the shape"):
        model.static_solve(traction={"y-max": (1, 2)})
    with pytest.raises(pliant.ModelError, match="the pressure is NaN"):
        model.static_solve(pressure={"y-max": float("nan")})


@ELEMENTS
def test_loads_take_the_arrays_of_faces_that_meshes_return(elements: str) -> None:
    """A plate one cell thick, so that exactly these faces are not those between their vertices."""
    plate = pliant.Mesh.box((1, 0.2, 0.05), (10, 2, 1), elements=elements)  # type: ignore[arg-type]
    both = np.concatenate([plate.face_sets["z-min"], plate.face_sets["z-max"]])
    model = pliant.Model(plate, linear(), fixed="all")
    rest = np.zeros((model.vertex_count, 3))
    for faces in [both, both.tolist(), plate.face_vertices(both)]:
        total = -model.reactions(rest, traction=(faces, (1, 0, 0))).sum(axis=0)
        assert np.allclose(total, (0.4, 0, 0), atol=1e-14)
    total = -model.reactions(rest, pressure=(plate.faces("z-max"), 2)).sum(axis=0)
    assert np.allclose(total, (0, 0, -0.4), atol=1e-14)
    sim = pliant.Simulation(model, pliant.integrators.static(dt=1), pressure=(plate.face_sets["z-max"], 2))
    sim.step()
    assert np.allclose(-sim.reactions().sum(axis=0), (0, 0, -0.4), atol=1e-12)
    count = plate.element_count
    with pytest.raises(pliant.MeshError, match=f"pressure: there is no side 0 of element {count}"):
        model.static_solve(pressure=([(count, 0)], 1))
    with pytest.raises(pliant.MeshError, match=r"pressure: row 0, \[.*\], is not a face of an element"):
        model.static_solve(pressure=([[0, 1, 40] if plate.kind == "tet4" else [0, 1, 40, 41]], 1))
    with pytest.raises(pliant.MeshError, match="found rows of 5 numbers, expected \\(n, 2\\), elements and sides"):
        model.static_solve(pressure=([[0, 1, 2, 3, 4]], 1))
    bodies = [pliant.Body(plate.translated((x, 0, 0)), linear(), name=name) for x, name in [(0, "a"), (2, "b")]]
    with pytest.raises(pliant.MeshError, match="pressure: .* but the model has 2 bodies; expected the name of a face set"):
        pliant.Model(bodies, fixed="all").static_solve(pressure=(both, 1))


def test_a_schedule_without_loads_is_refused() -> None:
    model = pliant.Model(cube(), linear(), fixed="y-min")
    with pytest.raises(ValueError, match="schedule: no load to scale"):
        pliant.Simulation(model, pliant.integrators.static(dt=1), schedule=[(0, 0), (1, 1)])


def test_a_follower_pressure_follows_the_surface_and_a_dead_one_does_not() -> None:
    mesh = pliant.Mesh.box((1, 0.1, 0.1), (10, 1, 1), elements="hex")
    model = pliant.Model(mesh, pliant.materials.stvk(young=1e6, poisson=0.3), fixed="x-min")
    for follower in [True, False]:
        pressure = {"y-max": 100}
        u = model.static_solve(pressure=pressure, follower=follower)
        wall = model.reactions(u, pressure=pressure, follower=follower).sum(axis=0)
        assert u[-1, 1] < -0.05
        if follower:
            assert wall[0] > 0.5 and wall[1] < 10
        else:
            assert np.allclose(wall, (0, 10, 0), atol=1e-6)


@pytest.mark.parametrize("follower", [True, False])
def test_a_simulation_under_pressure_and_traction_comes_to_the_static_solution(follower: bool) -> None:
    mesh = cube()
    rubber = pliant.materials.stable_neo_hookean(young=1e5, poisson=0.3, density=1000)
    model = pliant.Model(mesh, rubber, fixed="y-min", damping=(20, 0))
    pressure, traction = {"y-max": "5 kPa"}, {"x-max": ("1 kPa", 0, 0)}
    u = model.static_solve(pressure=pressure, traction=traction, follower=follower)
    for schedule in [None, [(0, 0), ("0.2 s", 1)]]:
        sim = pliant.Simulation(
            model,
            pliant.integrators.backward_euler(dt="20 ms"),
            pressure=pressure,
            traction=traction,
            follower=follower,
            schedule=schedule,
        )
        sim.run("4 s")
        assert np.allclose(sim.displacements, u, atol=1e-6)
        assert np.all(sim.forces == 0)


def test_a_schedule_scales_loads_with_time() -> None:
    model = pliant.Model(cube(), linear(), fixed=SLIDING)
    schedule = [("1 s", 0.5), (2, 1.0)]
    sim = pliant.Simulation(model, pliant.integrators.static(dt=1), pressure={"x-max": 1e3}, schedule=schedule, follower=False)
    ends = []
    for _ in range(3):
        sim.step()
        ends.append(sim.displacements[-1, 0])
    assert np.allclose(ends, [-5e-4, -1e-3, -1e-3])
    with pytest.raises(pliant.ModelError, match="schedule: keyframe 1 is at 1 s"):
        pliant.Simulation(model, pliant.integrators.static(dt=1), pressure={"x-max": 1}, schedule=[(2, 0), (1, 1)])


def test_a_pressure_can_be_changed_while_a_simulation_runs() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(), fixed="y-min")
    sim = pliant.Simulation(model, pliant.integrators.static(dt=1), pressure={"y-max": 0, "x-max": 5})
    top, side = sim.pressures
    sim.step()
    assert (top.pressure, side.pressure) == (0, 5)
    top.pressure, side.pressure = "1 kPa", 0
    sim.step()
    assert np.allclose(sim.displacements, model.static_solve(pressure={"y-max": 1e3}), atol=1e-9)
    assert np.allclose(sim.reactions().sum(axis=0), -top.force, atol=1e-3)
    with pytest.raises(pliant.ModelError, match="the pressure is inf"):
        top.pressure = float("inf")
    dead = pliant.Simulation(model, pliant.integrators.static(dt=1), pressure={"y-max": 1}, follower=False)
    assert dead.pressures == []


def test_a_reduced_model_feels_pressure() -> None:
    mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=2, elements="hex")
    model = pliant.Model(mesh, linear(1000), fixed="start", damping=(5, 0))
    u = model.static_solve(pressure={"surface": 1e3}, traction={"end": (0, 10, 0)}, follower=False)
    reduced = model.reduce(10)
    sim = pliant.Simulation(
        reduced, pliant.integrators.newmark(dt=5e-3), traction={"end": (0, 10, 0)}, pressure={"surface": 1e3}, follower=False
    )
    sim.run(8)
    end = mesh.select("end")
    assert sim.displacements[end, 1].mean() == pytest.approx(u[end, 1].mean(), rel=0.02)


def test_an_empty_list_fixes_nothing_and_an_empty_selection_is_an_error() -> None:
    mesh = cube()
    for nothing in [[], (), {}, None]:
        assert not pliant.Model(mesh, linear(), fixed=nothing).fixed.any()
    for empty in [np.zeros(mesh.vertex_count, dtype=bool), np.array([], dtype=int)]:
        with pytest.raises(pliant.ModelError, match=r"fixed selects no vertex, expected at least one; pass \[\]"):
            pliant.Model(mesh, linear(), fixed=empty)


def test_lists_of_vertices_and_names_are_selections_everywhere() -> None:
    mesh = cube()
    side = mesh.select("x-min")
    expected = pliant.Model(mesh, linear(1000), fixed="x-min").fixed
    for fixed in [side.tolist(), tuple(side), set(side.tolist()), ["x-min"], ["x-min", int(side[0])], [(side.tolist(), "xyz")]]:
        assert np.array_equal(pliant.Model(mesh, linear(1000), fixed=fixed).fixed, expected)
    some = pliant.Model(mesh, linear(1000), fixed=[([0, 1], "x"), ("x-max", "yz")]).fixed
    assert some[[0, 1]].tolist() == [[True, False, False]] * 2 and some[mesh.select("x-max"), 1:].all()
    model = pliant.Model(mesh, linear(1000), fixed=side.tolist())
    sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3))
    assert sim.fix(["x-max", 0]).vertices.tolist() == sorted({0, *mesh.select("x-max").tolist()})
    assert sim.handle([3, 5], "10 N/m", damping="1 N s/m").stiffness == pytest.approx(10)
    u = model.static_solve(prescribed=([26, 25], [(0.1, 0, 0), (0.2, 0, 0)]))
    assert u[26, 0] == 0.1 and u[25, 0] == 0.2


def test_numbers_take_units_as_in_scenes() -> None:
    rubber = pliant.materials.neo_hookean(young="1 MPa", poisson=0.45, density="1.1 g/cm^3")
    assert rubber.young == 1e6 and rubber.density == pytest.approx(1100)
    tire = pliant.materials.mooney_rivlin(coefficients={"mu01": "100 kPa", "mu10": "0.2 MPa", "v1": 1e7}, density=1100)
    assert tire.law == "mooney-rivlin"
    integrator = pliant.integrators.newmark(dt="1/60 s")
    assert integrator.dt == pliant.integrators.newmark(dt="1/60").dt == 1 / 60
    model = pliant.Model(cube(), rubber, fixed="x-min", damping=("0.1 Hz", "1 ms"))
    sim = pliant.Simulation(model, integrator, gravity=(0, "-981 cm/s^2", 0))
    assert sim.gravity == (0, -9.81, 0) and sim.damping == (0.1, 1e-3)
    sim.damping = (0, "2 ms")
    assert sim.damping == (0, 2e-3)
    assert sim.run("0.1 s") == 6
    for wrong, error, message in [
        ("1 kg", ValueError, "does not measure a pressure"),
        ("soft", ValueError, "expected a pressure such as"),
        (True, TypeError, "expected a number of Pa"),
        ([1], TypeError, 'expected a number of Pa, or text such as "1 MPa"'),
    ]:
        with pytest.raises(error, match=message):
            pliant.materials.linear(young=wrong, poisson=0.3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gravity: .* does not measure an acceleration"):
        sim.gravity = (0, "9.81 m", 0)


def test_statics_need_no_density_and_what_needs_mass_says_so() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(), fixed="x-min")
    heavy = pliant.Model(mesh, linear(1000), fixed="x-min")
    forces = np.zeros((model.vertex_count, 3))
    forces[-1] = (1, 2, 3)
    assert np.array_equal(model.static_solve(forces=forces), heavy.static_solve(forces=forces))
    quasi = pliant.Simulation(model, pliant.integrators.static(dt=1), traction={"x-max": (1, 0, 0)})
    quasi.step()
    seen = quasi.observe()
    assert seen.total_energy < 0 and np.isnan(seen.mass) and np.isnan(seen.center_of_mass).all()
    newmark = pliant.integrators.newmark(1e-3)
    for what, task in [
        ("gravity", lambda: model.static_solve(gravity=(0, -9.81, 0))),
        ("gravity", lambda: setattr(quasi, "gravity", (0, -9.81, 0))),
        ("motion", lambda: pliant.Simulation(model, newmark)),
        ("modes", lambda: model.modes(3)),
        ("a reduced model", lambda: model.reduce(5)),
        ("the mass matrix", lambda: model.mass()),
        ("vertex_masses", lambda: model.vertex_masses),
    ]:
        with pytest.raises(pliant.ModelError, match=f"body `body`: {what} needs mass, but the body has no density"):
            task()


def test_observations_are_arrays_with_spin() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(1000))
    sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3))
    arm = mesh.vertices - 0.5
    sim.velocities = (5, 0, 0) + np.cross((0, 0, 2), arm)
    seen = sim.observe()
    for vector in [seen.momentum, seen.angular_momentum, seen.spin, seen.center_of_mass]:
        assert isinstance(vector, np.ndarray) and vector.shape == (3,)
    assert np.allclose(seen.center_of_mass, 0.5) and np.allclose(seen.momentum, (5000, 0, 0))
    # I ω of a cube of 1000 kg: 1/6 · 1000 · 2.
    assert np.allclose(seen.spin, (0, 0, 1000 / 3))
    assert np.allclose(seen.angular_momentum, seen.spin + np.cross(seen.center_of_mass, seen.momentum))


def test_initial_accelerations_are_where_newmark_begins() -> None:
    mesh = cube()
    model = pliant.Model(mesh, linear(1000))
    a = np.tile((2.0, 0.0, 0.0), (model.vertex_count, 1))
    dt = 1e-2
    # Without forces Newmark with β = ¼ goes (½ − β) a dt² in the first step.
    sim = pliant.Simulation(model, pliant.integrators.newmark(dt), accelerations=a)
    assert np.array_equal(sim.accelerations, a)  # type: ignore[arg-type]
    with pytest.warns(pliant.PliantWarning, match="energy appeared without work"):
        sim.step()
    assert np.allclose(sim.displacements, 0.25 * a * dt**2, atol=1e-12)
    assert np.allclose(sim.velocities, 0.5 * a * dt, atol=1e-9) and np.allclose(sim.accelerations, 0, atol=1e-6)  # type: ignore[arg-type]
    still = pliant.Simulation(model, pliant.integrators.newmark(dt))
    assert still.accelerations is None
    still.step()
    assert np.array_equal(still.displacements, 0 * a)
    still.accelerations = a
    still.velocities[0, 0] = 1
    assert still.accelerations is None
    with pytest.raises(ValueError, match="accelerations: not used by backward-euler, only by newmark and central-differences"):
        pliant.Simulation(model, pliant.integrators.backward_euler(dt), accelerations=a)
    with pytest.raises(ValueError, match="accelerations has the shape"):
        still.accelerations = a[1:]


def test_a_block_rests_on_a_plane_that_carries_its_weight() -> None:
    mesh = cube().translated((0, 0.01, 0))
    rubber = pliant.materials.stable_neo_hookean(young="1 MPa", poisson=0.3, density=1000)
    ground = pliant.Obstacle.plane((0, 0, 0), (0, 1, 0), friction=0.5, damping="100 N s/m")
    model = pliant.Model(mesh, rubber, damping=(2, 0), obstacles=[ground])
    sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt="10 ms"), gravity=(0, -9.81, 0))
    sim.run("3 s")
    assert abs(sim.velocities).max() < 1e-3
    assert sim.positions[:, 1].min() == pytest.approx(0, abs=0.005)
    weight = 1000 * 9.81
    u = sim.displacements
    # The ground pushes with minus the internal force of model and obstacles, in equilibrium with gravity.
    assert sim.model.internal_force(u)[:, 1].sum() == pytest.approx(-weight, rel=1e-3)


def test_friction_stops_a_block_that_slides_without_it() -> None:
    mesh = cube()
    rubber = pliant.materials.stable_neo_hookean(young="1 MPa", poisson=0.3, density=1000)
    ways = []
    for friction in [0.0, 0.8]:
        ground = pliant.Obstacle.plane((0, 0, 0), (0, 1, 0), friction=friction)
        model = pliant.Model(mesh, rubber, damping=(2, 0), obstacles=[ground])
        tilted = 9.81 * np.array((np.sin(0.3), -np.cos(0.3), 0))
        sim = pliant.Simulation(model, pliant.integrators.backward_euler(dt="10 ms"), gravity=tilted)
        sim.run(1)
        ways.append(sim.displacements[:, 0].mean())
    # ½ g sin α t², less what the damping takes: 2/s · v.
    assert 0.7 < ways[0] < 1.45 and ways[1] < 0.05


def test_balls_dent_and_hollow_balls_contain() -> None:
    mesh = pliant.Mesh.box((0.4, 0.2, 0.4), (8, 4, 8), elements="hex")
    soft = pliant.materials.stable_neo_hookean(young=1e5, poisson=0.3, density=1000)
    motion = [(0, (0, 0, 0)), ("0.5 s", (0, "-3 cm", 0))]
    ball = pliant.Obstacle.ball((0.2, 0.35, 0.2), "15 cm", motion=motion)
    sim = pliant.Simulation(
        pliant.Model(mesh, soft, fixed="y-min", obstacles=[ball]), pliant.integrators.static(dt=0.5)
    )
    sim.step()
    assert -0.031 < sim.displacements[:, 1].min() < -0.025
    hollow = pliant.Obstacle.hollow_ball((0, 0, 0), 0.5, damping=20)
    marble = pliant.Mesh.ball(0.1, across=4)
    sim = pliant.Simulation(
        pliant.Model(marble, soft, damping=(1, 0), obstacles=[hollow]),
        pliant.integrators.backward_euler(dt="10 ms"),
        gravity=(0, -9.81, 0),
    )
    sim.run(2)
    assert np.linalg.norm(sim.positions, axis=1).max() < 0.51
    assert repr(ball) == "<pliant.Obstacle ball, center=[0.2,0.35,0.2], radius=0.15>"
    assert pliant.Obstacle("ball", center=(0.2, 0.35, 0.2), radius=0.15).shape == ball.shape == "ball"
    with pytest.raises(pliant.ModelError, match="the radius of obstacle 0 is -1"):
        pliant.Obstacle.ball((0, 0, 0), -1)
    with pytest.raises(pliant.ModelError, match="which has no direction"):
        pliant.Obstacle.plane((0, 0, 0), (0, 0, 0))


def test_springs_hang_a_body_at_its_weight_over_their_stiffness() -> None:
    mesh = cube("hex")
    steel = pliant.materials.linear(young=1e9, poisson=0.3, density=1000)
    bodies = [pliant.Body(mesh, steel, name="low"), pliant.Body(mesh.translated((0, 3, 0)), steel, name="high")]
    top, bottom = mesh.select("y-max"), mesh.select("y-min") + mesh.vertex_count
    springs = pliant.Springs(np.column_stack([top, bottom]), "10 kN/m")
    assert len(springs) == 9 and repr(springs) == "<pliant.Springs: 9>"
    # Springs along y alone let the lower body swing.
    fixed = [(np.arange(27, 54), "xyz"), (np.arange(27), "xz")]
    model = pliant.Model(bodies, fixed=fixed, springs=springs)
    u = model.static_solve(gravity=(0, -9.81, 0))
    assert u[top, 1].mean() == pytest.approx(-1000 * 9.81 / 9e4, rel=1e-3)
    each = pliant.Springs(np.column_stack([top, bottom]), np.full(9, 1e4), length=np.full(9, 2.0))
    same = pliant.Model(bodies, fixed=fixed, springs=[each]).static_solve(gravity=(0, -9.81, 0))
    assert np.allclose(same, u)
    with pytest.raises(pliant.ModelError, match="spring 0 ends at vertex 99, but there are 54 vertices"):
        pliant.Model(bodies, springs=pliant.Springs([(0, 99)], 1))
    with pytest.raises(ValueError, match=r"pairs has the shape \(3,\), expected \(k, 2\)"):
        pliant.Springs([1, 2, 3], 1)
    with pytest.raises(ValueError, match=r"stiffness has the shape \(2,\), expected \(9,\)"):
        pliant.Springs(np.column_stack([top, bottom]), [1, 2])
