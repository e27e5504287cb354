"""Simulations: steps, arrays, fixed vertices, handles, checkpoints, scenes."""

from __future__ import annotations

import copy
import gc
import inspect
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

import pliant

INTEGRATORS = {
    "linearized_backward_euler": 1e-3,
    "backward_euler": 1e-3,
    "bdf2": 1e-3,
    "newmark": 1e-3,
    "central_differences": 1e-5,
    "symplectic_euler": 1e-5,
    "static": 1e-3,
    "regularized": 1e-3,
}
SOLVERS = ["auto", "direct", "direct-single", "block-jacobi", "incomplete-cholesky", "stale-factor"]


def same_state(a: pliant.Simulation, b: pliant.Simulation) -> bool:
    return (
        np.array_equal(a.positions, b.positions)
        and np.array_equal(a.velocities, b.velocities)
        and (a.time, a.step_count) == (b.time, b.step_count)
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_integrator_steps(model: pliant.Model, beam: pliant.Mesh, integrator: str) -> None:
    dt = INTEGRATORS[integrator]
    if integrator == "regularized":
        model = pliant.Model(beam, pliant.Material(young=1e5, poisson=0.4, density=1000), fixed="start")
    sim = pliant.Simulation(model, getattr(pliant.integrators, integrator)(dt), gravity=(0, -9.81, 0))
    info = sim.step()
    for _ in range(4):
        sim.step()
    assert sim.step_count == 5 and sim.time == 5 * dt
    end = model.select("end")
    assert (sim.displacements[end, 1] < 0).all()
    if integrator not in ("central_differences", "symplectic_euler"):
        assert info.linear_iterations + info.factorizations > 0 or info.newton_iterations > 0
    assert "Newton iterations" in repr(info)


def test_an_integrator_with_a_built_in_law_says_what_it_cannot_answer(model: pliant.Model, beam: pliant.Mesh) -> None:
    integrator = pliant.integrators.regularized(1e-3)
    with pytest.raises(pliant.SceneError, match="`neo-hookean` would have no effect"):
        pliant.Simulation(model, integrator)
    clamped = pliant.Model(beam, pliant.Material(young=1e5, poisson=0.4, density=1000, inversion="clamp"))
    with pytest.raises(pliant.SceneError, match="`inversion` would have no effect"):
        pliant.Simulation(clamped, integrator)
    of_other = pliant.Simulation(model, pliant.integrators.newmark(1e-3)).model
    with pytest.raises(pliant.SceneError, match="the law of its materials would have no effect"):
        pliant.Simulation(of_other, integrator)
    plain = pliant.Model(beam, pliant.Material(young=1e5, poisson=0.4, density=1000), fixed="start")
    sim = pliant.Simulation(plain, integrator, gravity=(0, -9.81, 0))
    sim.step()
    with pytest.raises(pliant.SolveError, match="has a built-in law"):
        sim.static_solve()
    for ask in [sim.reactions, lambda: sim.model]:
        with pytest.raises(pliant.ModelError, match="built-in law"):
            ask()


def test_the_model_of_a_simulation_has_no_gravity_and_forces(sim: pliant.Simulation, model: pliant.Model) -> None:
    sim.forces[:] = 1
    sim.step()
    assert np.abs(sim.model.static_solve()).max() < 1e-9
    u = sim.displacements
    assert sim.model.energy(u) == model.energy(u)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_finds_the_same_motion(model: pliant.Model, solver: str) -> None:
    def end(name: str) -> np.ndarray:
        is_iterative = "tolerance" in inspect.signature(getattr(pliant.solvers, name.replace("-", "_"))).parameters
        chosen = pliant.Solver(name, tolerance=1e-12) if is_iterative else name
        integrator = pliant.integrators.backward_euler(1e-2, tolerance=1e-10, solver=chosen)
        sim = pliant.Simulation(model, integrator, gravity=(0, -9.81, 0))
        sim.run(0.05)
        return np.array(sim.positions)

    assert end(solver) == pytest.approx(end("direct"), abs=1e-7)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pliant.integrators.newmark(-1e-3), "the time step is -0.001 s"),
        (lambda: pliant.integrators.newmark(1e-3, solver="magic"), "solver: there is no solver 'magic'"),
        (lambda: pliant.Integrator("leapfrog", 1e-3), "integrator: there is no integrator 'leapfrog'; expected one of backward-euler"),
        (lambda: pliant.solvers.stale_factor(tolerance=2), "the tolerance is 2"),
    ],
)
def test_options_that_are_not_possible_are_explained(call: object, message: str) -> None:
    with pytest.raises(pliant.SceneError, match=message):
        call()  # type: ignore[operator]


def test_options_of_another_integrator_are_errors(model: pliant.Model) -> None:
    for make in [lambda: pliant.Integrator("backward-euler", 1e-3, beta=0.3), lambda: pliant.integrators.backward_euler(1e-3, beta=0.3)]:
        with pytest.raises(TypeError, match="unexpected keyword 'beta'; expected one of iterations, tolerance"):
            make()
    with pytest.raises(TypeError, match="unexpected keyword 'beta'; it has no options"):
        pliant.Integrator("explicit-euler", 1e-3, beta=0.3)
    with pytest.raises(TypeError, match="'solver_tolerance'; give solver="):
        pliant.integrators.newmark(1e-3, solver_tolerance=1e-8)
    with pytest.raises(pliant.SceneError, match="exact-modes"):
        pliant.Simulation(model, pliant.integrators.exact_modes(1e-3))
    with pytest.raises(TypeError, match="expected a pliant.Model or a pliant.ReducedModel"):
        pliant.Simulation("model", pliant.integrators.newmark(1e-3))  # type: ignore[arg-type]


def test_newmark_keeps_the_energy_of_a_swinging_beam(sim: pliant.Simulation) -> None:
    start = sim.energy
    sim.run(0.2)
    seen = sim.observe()
    assert seen.kinetic_energy > 1e-3
    assert abs(sim.energy - start) < 1e-3 * seen.kinetic_energy
    assert seen.total_energy == pytest.approx(
        seen.kinetic_energy + seen.elastic_energy + seen.gravitational_energy + seen.other_energy
    )
    assert seen.mass == pytest.approx(40) and seen.time == pytest.approx(0.2)


def test_a_free_body_falls_as_galileo_says(beam: pliant.Mesh, rubber: pliant.Material) -> None:
    sim = pliant.Simulation(pliant.Model(beam, rubber), pliant.integrators.newmark(1e-2), gravity=(0, 0, -2))
    before = sim.observe().center_of_mass
    sim.run(1)
    after = sim.observe()
    assert after.center_of_mass[2] - before[2] == pytest.approx(-1, rel=1e-9)
    assert after.momentum[2] == pytest.approx(-2 * after.mass, rel=1e-9)


# Arrays.


def test_arrays_follow_the_simulation(sim: pliant.Simulation) -> None:
    positions, velocities = sim.positions, sim.velocities
    before = positions.copy()
    sim.step()
    assert not np.array_equal(positions, before)
    assert np.array_equal(positions, sim.positions) and np.array_equal(velocities, sim.velocities)
    assert np.shares_memory(positions, sim.positions)
    assert np.allclose(sim.positions - sim.rest_positions, sim.displacements)


def test_what_is_written_into_arrays_counts(sim: pliant.Simulation, model: pliant.Model) -> None:
    sim.positions[:] += (0.1, 0, 0)
    assert sim.displacements[:, 0] == pytest.approx(np.full(sim.vertex_count, 0.1))
    sim.velocities[5] = (1, 2, 3)
    kinetic = 0.5 * sim.velocities.ravel() @ (model.mass() @ sim.velocities.ravel())
    assert sim.observe().kinetic_energy == pytest.approx(kinetic)
    sim.positions = model.rest_positions
    assert np.abs(sim.displacements).max() < 1e-15
    sim.velocities = np.zeros((sim.vertex_count, 3))
    assert sim.observe().kinetic_energy == 0
    with pytest.raises(ValueError, match="positions has the shape"):
        sim.positions = np.zeros((3, 3))
    sim.positions[3, 1] = np.nan
    with pytest.raises(pliant.SolveError, match="the position is not finite at y of vertex 3"):
        sim.step()


def test_writing_what_is_there_changes_nothing(sim: pliant.Simulation) -> None:
    other = sim.copy()
    for _ in range(5):
        sim.step()
        sim.positions[:] = sim.positions.copy()
        sim.velocities = sim.velocities.copy()
        other.step()
        sim.positions = sim.positions.copy()
        sim.forces = sim.forces.copy()
    assert same_state(sim, other)


def test_operators_in_place_count(sim: pliant.Simulation) -> None:
    rest = sim.positions.copy()
    sim.positions += (0.25, 0, 0)
    assert np.array_equal(sim.positions, rest + (0.25, 0, 0))
    sim.positions = sim.positions
    sim.positions = sim.positions[:]
    sim.velocities += 1
    sim.velocities *= 2
    assert np.array_equal(sim.velocities, np.full((sim.vertex_count, 3), 2.0))
    sim.forces -= 3
    assert np.array_equal(sim.forces, np.full((sim.vertex_count, 3), -3.0))
    sim.step()


def test_arrays_can_be_read_by_other_threads_while_it_steps(sim: pliant.Simulation, model: pliant.Model) -> None:
    wrong: list[BaseException] = []
    positions = sim.positions
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                model.energy(positions)
                model.stiffness(positions)
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    sim.run(0.1, lambda sim: None)
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == [] and sim.step_count == 100


def test_who_only_looks_from_another_thread_changes_nothing(sim: pliant.Simulation) -> None:
    alone = sim.copy()
    alone.run(0.1)
    positions, velocities = sim.positions, sim.velocities
    done = threading.Event()
    wrong: list[BaseException] = []

    def look() -> None:
        try:
            while not done.is_set():
                _ = sim.energy, sim.observe(), sim.displacements, sim.positions.sum(), sim.time, sim.checkpoint
        except BaseException as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    sim.run(0.1)
    done.set()
    for thread in threads:
        thread.join(30)
    assert wrong == []
    assert same_state(sim, alone)
    assert np.array_equal(positions, alone.positions) and np.array_equal(velocities, alone.velocities)


def test_a_handler_that_uses_the_simulation_that_is_computing_gets_an_error(sim: pliant.Simulation) -> None:
    seen: list[object] = []

    def handler(*_: object) -> None:
        try:
            seen.append(sim.time)
        except RuntimeError as error:
            seen.append(error)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
        sim.run(0.3)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert sim.step_count == 300 and len(seen) > 3
    assert all(isinstance(one, float) or "in use by a computation" in str(one) for one in seen)


def test_arrays_outlive_their_simulation(model: pliant.Model) -> None:
    def positions() -> np.ndarray:
        sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3), gravity=(0, -9.81, 0))
        kept = sim.positions
        sim.run(0.01)
        return kept

    kept = [positions() for _ in range(20)]
    gc.collect()
    assert all(np.array_equal(kept[0], other) for other in kept)
    kept[0][:] = 0
    assert not np.array_equal(kept[0], kept[1])


def test_nothing_that_is_done_to_an_array_hurts_the_simulation(sim: pliant.Simulation) -> None:
    positions = sim.positions
    positions.shape = (-1,)
    positions.flags.writeable = False
    sim.step()
    assert sim.positions.shape == (sim.vertex_count, 3) and sim.positions.flags.writeable
    assert np.array_equal(positions, sim.positions.ravel())
    with pytest.raises(ValueError):
        sim.positions.resize((3, 3))
    del positions
    sim.step()


def test_forces_push_until_they_are_taken_away(model: pliant.Model) -> None:
    sim = pliant.Simulation(model, pliant.integrators.static(1))
    forces = np.zeros((sim.vertex_count, 3))
    forces[model.select("end"), 1] = -0.3
    sim.forces = forces
    sim.step()
    assert sim.displacements == pytest.approx(model.static_solve(forces=forces), abs=1e-8)
    sim.forces[:] = 0
    sim.step()
    assert np.abs(sim.displacements).max() < 1e-8


def test_gravity_can_be_changed(sim: pliant.Simulation) -> None:
    assert sim.gravity == (0, -9.81, 0)
    sim.gravity = (0, 0, 3)
    assert sim.gravity == (0, 0, 3)
    with pytest.raises(pliant.ModelError, match="gravity is"):
        sim.gravity = (0, float("inf"), 0)
    with pytest.raises(ValueError, match=r"gravity has the shape \(2,\), expected \(3,\)"):
        sim.gravity = (0, 1)


# Fixed vertices and handles.


@pytest.mark.parametrize("integrator", ["linearized_backward_euler", "backward_euler", "bdf2", "newmark", "static"])
def test_fixed_vertices_move_exactly(model: pliant.Model, integrator: str) -> None:
    sim = pliant.Simulation(model, getattr(pliant.integrators, integrator)(1e-2))
    fixed = sim.fix("end")
    rest = sim.rest_positions[fixed.vertices]
    for n in range(1, 11):
        angle = 0.02 * n
        turn = np.array([(1, 0, 0), (0, np.cos(angle), -np.sin(angle)), (0, np.sin(angle), np.cos(angle))])
        fixed.targets = rest @ turn.T
        sim.step()
        assert np.allclose(sim.positions[fixed.vertices], rest @ turn.T, atol=1e-12)
    assert np.allclose(fixed.targets, rest @ turn.T)
    reactions = sim.reactions()
    assert np.abs(reactions[fixed.vertices]).max() > 0
    fixed.release()
    assert repr(fixed) == "<pliant.Fixed, released>"
    with pytest.raises(pliant.ModelError, match="the constraint was released"):
        fixed.move((0, 0, 0))


def test_what_the_model_has_fixed_is_a_pin_too(sim: pliant.Simulation, model: pliant.Model) -> None:
    (fixed,) = sim.fixed
    assert np.array_equal(fixed.vertices, model.select("start"))
    fixed.move((0, 1e-6, 0))
    sim.step()
    assert np.allclose(sim.displacements[fixed.vertices], (0, 1e-6, 0), rtol=0, atol=1e-15)
    fixed.release()
    assert sim.fixed == []
    sim.run(0.05)
    assert sim.displacements[model.select("start"), 1].mean() < 0
    assert model.fixed.any(), "the model stays as it is"


def test_pins_at_the_same_vertices_keep_apart(beam: pliant.Mesh, rubber: pliant.Material) -> None:
    model = pliant.Model(beam, rubber, fixed={"start": "x"})
    sim = pliant.Simulation(model, pliant.integrators.backward_euler(1e-2), gravity=(0, -1, 0))
    start = model.select("start")
    fixed = sim.fix("start", axes="y")
    fixed.move((0.05, 0.05, 0.05))
    sim.step()
    assert np.allclose(sim.displacements[start, 0], 0) and np.allclose(sim.displacements[start, 1], 0.05)
    assert not np.allclose(sim.displacements[start, 2], 0.05)
    other = sim.fix("start")
    fixed.release()
    assert len(sim.fixed) == 2 and np.array_equal(other.vertices, start)
    now = sim.positions[start].copy()
    sim.run(0.1)
    assert np.allclose(sim.positions[start], now)
    other.release()
    sim.run(0.1)
    assert np.allclose(sim.displacements[start, 0], 0) and sim.positions[start, 1].mean() < now[:, 1].mean()


def test_what_is_chosen_is_at_least_one_vertex(sim: pliant.Simulation, model: pliant.Model) -> None:
    nothing = np.zeros(sim.vertex_count, dtype=bool)
    for call in [
        lambda: sim.fix(nothing),
        lambda: sim.handle([], 1),
        lambda: model.static_solve(prescribed=([], (0, 0, 0))),
    ]:
        with pytest.raises(pliant.ModelError, match="selects no vertex, expected at least one"):
            call()
    with pytest.raises(ValueError, match="axes are"):
        sim.fix(3, axes="")
    assert len(sim.fix(["start", "end"]).vertices) == len(model.select("start")) + len(model.select("end"))


def test_targets_are_set_as_a_whole(sim: pliant.Simulation) -> None:
    for grip in [sim.fix("end"), sim.handle("end", 10)]:
        with pytest.raises(ValueError, match="read-only"):
            grip.targets[0] = 1
        grip.targets = grip.targets + (0, 0, 0.1)
        assert np.allclose(grip.targets, sim.rest_positions[grip.vertices] + (0, 0, 0.1))


def test_fixed_vertices_stay_where_they_are(sim: pliant.Simulation) -> None:
    sim.run(0.05)
    now = sim.positions[40].copy()
    fixed = sim.fix(40)
    assert np.allclose(fixed.targets, now)
    sim.run(0.02)
    assert np.allclose(sim.positions[40], now)
    sim.fix([41, 42], axes="y")
    sim.run(0.01)
    with pytest.raises(ValueError, match="has the number 1000, expected 0 to"):
        sim.fix(1000)
    with pytest.raises(ValueError, match=r"targets has the shape \(2, 3\), expected \(1, 3\)"):
        fixed.targets = np.zeros((2, 3))
    with pytest.raises(pliant.ModelError, match="expected finite"):
        fixed.targets = [(np.nan, 0, 0)]
    sim.step()


def test_handles_pull_with_their_springs(model: pliant.Model) -> None:
    sim = pliant.Simulation(model, pliant.integrators.static(1))
    hand = sim.handle("end", stiffness=200)
    assert np.allclose(hand.force, 0) and hand.stiffness == pytest.approx(200)
    hand.move((0, 0.1, 0))
    sim.step()
    # In equilibrium the springs and the reactions of the fixed vertices balance.
    assert sim.reactions().sum(axis=0) == pytest.approx(-hand.force, abs=1e-6)
    assert hand.force[1] > 0.1
    stretch = hand.targets - sim.positions[hand.vertices]
    assert hand.force == pytest.approx(200 * stretch.mean(axis=0))
    assert hand.damping == 0
    hand.damping = 2
    assert hand.damping == pytest.approx(2)
    hand.stiffness = 400
    before = sim.displacements
    sim.step()
    assert (sim.displacements[hand.vertices, 1] > before[hand.vertices, 1]).all()
    with pytest.raises(pliant.ModelError, match="the stiffness is -1"):
        hand.stiffness = -1
    assert hand.stiffness == pytest.approx(400)
    with pytest.raises(pliant.ModelError, match="target of handle"):
        hand.targets = np.full((len(hand.vertices), 3), np.nan)
    hand.release()
    sim.step()
    assert np.abs(sim.displacements).max() < 1e-7
    assert repr(hand) == "<pliant.Handle, released>"
    with pytest.raises(pliant.ModelError, match="the handle was released"):
        hand.move((0, 0, 0))


def test_handles_keep_apart(model: pliant.Model) -> None:
    sim = pliant.Simulation(model, pliant.integrators.linearized_backward_euler(1e-2))
    first, second, third = sim.handle([1], 10), sim.handle([2, 3], 20), sim.handle([4], 30)
    second.release()
    third.move((0.5, 0, 0))
    assert np.allclose(first.targets, sim.rest_positions[[1]])
    assert np.allclose(third.targets, sim.rest_positions[[4]] + (0.5, 0, 0))
    assert [handle.stiffness for handle in sim.handles] == pytest.approx([10, 30])


def test_reduced_models_are_driven_by_handles_too(model: pliant.Model) -> None:
    reduced = model.reduce(8)
    sim = pliant.Simulation(reduced, pliant.integrators.backward_euler(1e-2), gravity=(0, -1, 0))
    positions = sim.positions
    hand = sim.handle("end", stiffness=450)
    hand.move((0, 0.2, 0))
    assert hand.force == pytest.approx([0, 90, 0]) and repr(hand) == "<pliant.Handle at 9 vertices>"
    sim.run(0.5)
    assert positions[hand.vertices, 1].mean() > 0.05
    assert np.array_equal(positions, sim.positions)
    with pytest.raises(pliant.ModelError, match="the fixed vertices of a reduced model cannot be changed"):
        sim.fix(3)
    sim.forces[hand.vertices] = (0, 0, 5)
    before = sim.displacements[hand.vertices, 2].mean()
    sim.run(0.2)
    assert sim.displacements[hand.vertices, 2].mean() > before
    exact = pliant.Simulation(model.reduce(5), pliant.integrators.exact_modes(1e-2), gravity=(0, -1, 0))
    assert exact.run(0.1) == 10


# Running.


def test_run_calls_back_and_can_be_stopped(sim: pliant.Simulation) -> None:
    times: list[float] = []
    assert sim.run(0.01, lambda sim: times.append(sim.time)) == 10
    assert times == pytest.approx(np.arange(1, 11) * 1e-3)
    assert sim.run(0.01, lambda sim: times.append(sim.time), every=5) == 10
    assert times[10:] == pytest.approx([0.015, 0.02])
    assert sim.run(1, lambda sim: sim.step_count < 22) == 2
    assert sim.run(1, lambda sim: np.array(sim.step_count) < 23) == 1
    assert sim.step(4).newton_iterations >= 4 and sim.step_count == 27
    assert sim.run(0) == 0
    for wrong in [-1, float("nan"), float("inf")]:
        with pytest.raises(ValueError, match="duration is"):
            sim.run(wrong)
    with pytest.raises(ValueError, match="every is 0"):
        sim.run(0.01, every=0)
    with pytest.raises(TypeError, match="duration: expected a time"):
        sim.run()


def test_arrays_are_right_in_callbacks_and_count_after_them(sim: pliant.Simulation) -> None:
    positions = sim.positions
    sim.forces[:] = 0

    def push(sim: pliant.Simulation) -> None:
        assert np.array_equal(positions, sim.positions)
        sim.velocities[-1] = (0, 0, 5)

    sim.run(0.003, push)
    # The last is written after the last step.
    assert np.allclose(sim.velocities[-1], (0, 0, 5))
    assert sim.displacements[-1, 2] > 1e-3


def test_an_exception_in_a_callback_comes_through(sim: pliant.Simulation) -> None:
    class Own(Exception):
        pass

    def fail(sim: pliant.Simulation) -> None:
        if sim.step_count == 3:
            raise Own

    with pytest.raises(Own):
        sim.run(1, fail)
    assert sim.step_count == 3
    sim.step()


def test_a_step_that_fails_keeps_what_was_before(model: pliant.Model) -> None:
    sim = pliant.Simulation(model, pliant.integrators.symplectic_euler(1e-2), gravity=(0, -9.81, 0))
    positions = sim.positions
    with pytest.warns(pliant.PliantWarning, match="energy appeared"), pytest.raises(pliant.SolveError, match="not finite|inverted"):
        sim.run(100)
    assert sim.step_count > 0 and np.isfinite(positions).all()
    assert np.array_equal(positions, sim.positions)


def test_static_solve_goes_to_rest(sim: pliant.Simulation, model: pliant.Model) -> None:
    sim.run(0.02)
    time = sim.time
    info = sim.static_solve(tolerance=1e-10)
    assert info.newton_iterations > 0 and sim.time == time
    assert np.abs(sim.velocities).max() == 0
    expected = model.static_solve(gravity=(0, -9.81, 0), tolerance=1e-10)
    assert sim.displacements == pytest.approx(expected, abs=1e-8)


# Copies and checkpoints.


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_copy_continues_the_same_to_the_last_bit(model: pliant.Model, solver: str) -> None:
    integrator = pliant.integrators.linearized_backward_euler(1e-2, solver=solver)
    sim = pliant.Simulation(model, integrator, gravity=(0, -9.81, 0))
    sim.handle("end", 100).move((0, 0, 0.1))
    sim.run(0.07)
    for other in [sim.copy(), copy.copy(sim), copy.deepcopy(sim)]:
        assert same_state(other, sim) and not np.shares_memory(other.positions, sim.positions)
        branch = sim.copy()
        branch.run(0.1)
        other.run(0.1)
        assert same_state(other, branch)
    # The original has not moved, and a branch that is pulled elsewhere goes elsewhere.
    assert sim.step_count == 7
    branch = sim.copy()
    branch.handles[0].move((0, 0.5, 0))
    branch.run(0.1)
    sim.run(0.1)
    assert not np.allclose(branch.positions, sim.positions)
    assert np.allclose(sim.handles[0].targets[:, 1], sim.rest_positions[sim.handles[0].vertices, 1])


@pytest.mark.parametrize("reduced", [False, True])
def test_a_checkpoint_leads_to_the_same_result_to_the_last_bit(model: pliant.Model, reduced: bool) -> None:
    integrator = pliant.integrators.newmark(1e-2)

    def fresh() -> pliant.Simulation:
        return pliant.Simulation(model.reduce(6) if reduced else model, integrator, gravity=(0, -9.81, 0))

    sim = fresh()
    sim.run(0.13)
    saved = sim.checkpoint()
    at = sim.positions.copy()
    sim.run(0.2)
    end = sim.positions.copy()
    sim.restore(saved)
    assert np.array_equal(sim.positions, at) and sim.step_count == 13
    sim.run(0.2)
    assert np.array_equal(sim.positions, end)
    other = fresh()
    other.restore(saved)
    other.run(0.2)
    assert np.array_equal(other.positions, end)


def test_checkpoints_that_are_broken_or_of_others_are_refused(sim: pliant.Simulation, rubber: pliant.Material) -> None:
    sim.step()
    saved = sim.checkpoint()
    for broken in [b"", saved[:-1], saved[:40] + b"x" + saved[41:], b"x" * 100]:
        with pytest.raises(pliant.CheckpointError, match="incomplete or damaged checkpoint"):
            sim.restore(broken)
    other = pliant.Simulation(pliant.Model(pliant.Mesh.ball(1, across=4), rubber), pliant.integrators.newmark(1e-3))
    with pytest.raises(pliant.CheckpointError, match="another scene or mesh"):
        other.restore(saved)
    assert sim.step_count == 1


# Scenes.

SCENE = {
    "gravity": [0, -9.81, 0],
    "object": [
        {
            "mesh": {"beam": {"length": "1 m", "height": "20 cm", "width": "20 cm", "across": 2}},
            "material": {"law": "neo-hookean", "young": "100 kPa", "poisson": 0.4, "density": 1000},
        }
    ],
    "fixed": [{"vertices": "start"}],
    "simulation": {"step": "1 ms", "duration": "20 ms", "integrator": "newmark"},
}


def test_a_scene_is_the_same_from_a_dictionary_a_file_and_by_code(sim: pliant.Simulation, tmp_path: Path) -> None:
    text = """
        gravity = [0, -9.81, 0]
        [[object]]
        mesh = { beam = { length = "1 m", height = "20 cm", width = "20 cm", across = 2 } }
        material = { law = "neo-hookean", young = "100 kPa", poisson = 0.4, density = 1000 }
        [[fixed]]
        vertices = "start"
        [simulation]
        step = "1 ms"
        duration = "20 ms"
        integrator = "newmark"
    """
    path = tmp_path / "scene.toml"
    path.write_text(text)
    sim.run(0.02)
    for scene in [SCENE, path, str(path)]:
        made = pliant.Simulation.from_scene(scene)
        assert made.run() == 20
        assert same_state(made, sim)
        assert made.run() == 0
    assert made.model.vertex_count == sim.vertex_count and len(made.fixed) == 1


def test_a_scene_takes_arrays_paths_and_none(tmp_path: Path, beam: pliant.Mesh) -> None:
    beam.write(tmp_path / "beam.veg")
    scene = copy.deepcopy(SCENE)
    scene["gravity"] = np.array([0, -9.81, 0])
    scene["object"][0]["mesh"] = Path("beam.veg")  # type: ignore[index]
    scene["fixed"] = [{"vertices": {"indices": list(np.arange(3))}}]
    scene["title"] = None
    sim = pliant.Simulation.from_scene(scene, folder=tmp_path)
    assert np.array_equal(sim.rest_positions, beam.vertices)
    assert sim.run(0.002) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"simulation": {"step": "1 ms"}}, "the key `duration` is missing"),
        ({"simulaton": {}}, "there is no key `simulaton` here; did you mean `simulation`"),
        ({"object": []}, "the scene has no object"),
        ({"gravity": [0, float("nan"), 0]}, "cannot be a scene"),
        ({"gravity": {1, 2, 3}}, "is a set, expected a number"),
        ({"fixed": [{"vertices": "stort"}]}, "stort"),
    ],
)
def test_wrong_scenes_are_explained(change: dict[str, object], message: str) -> None:
    with pytest.raises(pliant.SceneError, match=message):
        pliant.Simulation.from_scene({**SCENE, **change})


def test_a_dictionary_that_has_itself_is_refused() -> None:
    scene: dict[str, object] = {}
    scene["object"] = scene
    with pytest.raises(pliant.SceneError):
        pliant.Simulation.from_scene(scene)


def test_a_scene_that_is_no_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="none.toml"):
        pliant.Simulation.from_scene(tmp_path / "none.toml")
    path = tmp_path / "wrong.toml"
    path.write_text("[simulation]\nstep = 'soon'\n")
    with pytest.raises(pliant.SceneError, match="wrong.toml:2:8"):
        pliant.Simulation.from_scene(path)
    with pytest.raises(TypeError):
        pliant.Simulation.from_scene(3)  # type: ignore[arg-type]


def thrown(integrator: pliant.Integrator | None = None, dt: str | None = None) -> pliant.Simulation:
    """A ball that is thrown at the ground at 20 m/s."""
    mesh = pliant.Mesh.ball(0.1)
    model = pliant.Model(
        mesh,
        pliant.materials.stable_neo_hookean(young="1 MPa", poisson=0.4, density=1000),
        obstacles=[pliant.Obstacle.plane((0, -0.15, 0), (0, 1, 0))],
    )
    velocities = np.tile((0, -20, 0), (len(mesh.vertices), 1))
    return pliant.Simulation(model, integrator, dt=dt, velocities=velocities)


def test_the_default_integrator_gains_no_energy_and_others_are_warned_of() -> None:
    sim = thrown(dt="1/60 s")
    start = sim.energy
    sim.step(20)
    assert sim.energy < 0.9 * start
    linearized = thrown(pliant.integrators.linearized_backward_euler(dt="1/60 s"))
    with pytest.warns(pliant.errors.PliantWarning, match="energy appeared without work being done"):
        linearized.step(4)


def test_a_simulation_has_a_step_or_an_integrator() -> None:
    model = pliant.Model(pliant.Mesh.ball(0.1), pliant.materials.linear(young=1e6, poisson=0.3, density=1000))
    with pytest.raises(TypeError, match="expected a time step `dt`, or an integrator"):
        pliant.Simulation(model)
    with pytest.raises(TypeError, match="the integrator already has a time step"):
        pliant.Simulation(model, pliant.integrators.newmark(dt=0.1), dt=0.1)
    with pytest.raises(pliant.errors.SceneError, match="the time step is 0 s"):
        pliant.Simulation(model, dt=0)


def test_counts_that_are_negative_are_value_errors(sim: pliant.Simulation) -> None:
    calls = [
        lambda: sim.step(-1),
        lambda: sim.run(0.1, every=-1),
        lambda: sim.static_solve(load_steps=-1),
        lambda: sim.static_solve(iterations=-1),
        lambda: pliant.integrators.newmark(dt=1e-3, halvings=-1),
        lambda: pliant.set_threads(-1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="expected a whole number from 0 to .*, found -1"):
            call()
    for call in [
        lambda: pliant.integrators.newmark(dt=1e-3, iterations=-1),
        lambda: pliant.solvers.block_jacobi(iterations=-1),
    ]:
        with pytest.raises(pliant.SceneError, match="iterations: .*-1.*expected a non-negative integer"):
            call()
