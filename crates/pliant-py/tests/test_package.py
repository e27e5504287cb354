"""The package as a whole: documentation, types, threads, interrupts, the command."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import pliant
import pliant._interop
from pliant import _choices

ROOT = Path(__file__).resolve().parents[3]


def documented() -> Iterator[tuple[str, object]]:
    """Everything that a user can ask for help about."""
    for module in [pliant, pliant.materials, pliant.integrators, pliant.solvers, pliant.errors]:
        yield module.__name__, module
        for name, value in vars(module).items():
            if name.startswith("_") or isinstance(value, ModuleType) or not callable(value):
                continue
            yield f"{module.__name__}.{name}", value
            if isinstance(value, type):
                for part, member in vars(value).items():
                    if not part.startswith("_"):
                        yield f"{module.__name__}.{name}.{part}", member


@pytest.mark.parametrize(("name", "thing"), list(documented()), ids=lambda value: value if isinstance(value, str) else "")
def test_the_documentation_is_there_and_its_examples_are_true(name: str, thing: object) -> None:
    text = thing.__doc__
    assert text and len(text) > 8, f"{name} has no documentation"
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    example = doctest.DocTestParser().get_doctest(text, {"pliant": pliant, "np": np}, name, None, None)
    output: list[str] = []
    result = doctest.DocTestRunner(optionflags=flags).run(example, out=output.append)
    assert result.failed == 0, "".join(output)


def test_every_name_of_an_earlier_version_gives_an_error_with_the_new_one() -> None:
    material = pliant.materials.linear(young=1e6, poisson=0.3, density=1000)
    model = pliant.Model(pliant.Mesh.box((1, 1, 1), (1, 1, 1)), material, fixed="x-min")
    sim = pliant.Simulation(model, dt=0.01)
    owners: dict[str, object] = {
        "pliant": pliant,
        "Simulation": sim,
        "Model": model,
        "Observation": sim.observe(),
        "Integrator": pliant.Integrator("newmark", 0.01),
        "integrators": pliant.integrators,
    }
    calls: dict[str, Callable[..., object]] = {
        "Integrator()": lambda **keywords: pliant.Integrator(dt=0.01, **keywords),
        "Mesh.torus()": lambda **keywords: pliant.Mesh.torus(1, 0.3, **keywords),
        "Obstacle.ball()": lambda **keywords: pliant.Obstacle.ball(radius=1, **keywords),
        "Obstacle.hollow_ball()": lambda **keywords: pliant.Obstacle.hollow_ball(radius=1, **keywords),
    }
    for owner, old, new in pliant._pliant._renamed():
        message = f"{old}.*it is called '{new}' now"
        if owner in owners:
            with pytest.raises(AttributeError, match=message):
                getattr(owners[owner], old)
            assert hasattr(owners[owner], new)
        elif owner in calls:
            with pytest.raises(TypeError, match=message):
                calls[owner](**{old: 1})
        else:
            keyword = owner.removesuffix("=")
            with pytest.raises(ValueError, match=message):
                pliant.Integrator("newmark", 0.01, **{keyword: old})
            pliant.Integrator("newmark", 0.01, **{keyword: new})
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        getattr(sim, "nothing")
    with pytest.raises(TypeError, match="unexpected keyword 'nothing'; expected one of center, radius"):
        calls["Obstacle.ball()"](nothing=1)
    with pytest.raises(TypeError, match="missing a required argument: 'center'"):
        calls["Obstacle.ball()"]()


def test_there_are_examples_for_what_people_meet_first() -> None:
    for thing in [pliant, pliant.solvers, pliant.Mesh, pliant.Model, pliant.Simulation, pliant.materials, pliant.integrators]:
        assert ">>>" in (thing.__doc__ or "")


def test_types_pass_mypy_strictly_and_are_those_of_the_package() -> None:
    config = str(ROOT / "pyproject.toml")
    allowed = str(Path(__file__).parent / "stubtest-allowlist.txt")
    for command in [
        ["mypy", "--config-file", config, "-p", "pliant"],
        ["mypy.stubtest", "pliant", "--mypy-config-file", config, "--allowlist", allowed],
    ]:
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT / "crates")
        assert done.returncode == 0, done.stdout + done.stderr


def test_functions_of_choices_are_those_of_the_registries_with_their_options_and_current_stubs() -> None:
    for owner in _choices.OWNERS:
        module = importlib.import_module(f"pliant.{owner.name}")
        functions = getattr(module, owner.methods_of) if owner.methods_of else module
        entries = json.loads(pliant._pliant._choices(owner.kind))
        if functions is module:
            assert sorted(entry["name"].replace("-", "_") for entry in entries) == module.__all__
        for entry in entries:
            function = getattr(functions, entry["name"].replace("-", "_"))
            for option in entry["options"]:
                assert option["name"] in inspect.signature(function).parameters
                assert option["about"] and option["about"] in function.__doc__
        stub = owner.stub_file.read_text(encoding="utf-8")
        assert stub == owner.with_stub(stub), "run `python -m pliant._choices`"


def test_arrays_that_fit_are_read_where_they_are_and_results_are_not_copied(
    model: pliant.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = 0
    copy = np.require

    def counted(*arguments: object, **keywords: object) -> object:
        nonlocal copies
        copies += 1
        return copy(*arguments, **keywords)  # type: ignore[call-overload]

    monkeypatch.setattr(np, "require", counted)
    u = np.zeros((model.vertex_count, 3))
    model.energy(u), model.stiffness(u), model.stress(u)
    force = model.internal_force(u)
    assert copies == 0
    model.internal_force(np.asfortranarray(u))
    assert copies == 1
    # Memory of the library, which the array keeps alive.
    assert type(force.base).__name__ == "PySliceContainer"
    K = model.stiffness(u)
    for part in [K.data, K.indices, K.indptr]:
        while isinstance(part.base, np.ndarray):
            part = part.base
        assert type(part.base).__name__ == "PySliceContainer"


def test_other_threads_run_while_the_library_computes(rubber: pliant.Material) -> None:
    model = pliant.Model(pliant.Mesh.box((1, 1, 1), (24, 24, 24)), rubber, fixed="x-min")
    done = threading.Event()

    def compute() -> None:
        model.modes(12)
        done.set()

    worker = threading.Thread(target=compute)
    turns = 0
    worker.start()
    while not done.wait(0.001):
        turns += 1
    worker.join()
    assert turns > 20


def test_threads_may_share_models_and_simulations(model: pliant.Model) -> None:
    u = 0.01 * np.random.default_rng(0).normal(size=(model.vertex_count, 3))
    force = model.internal_force(u)
    sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3), gravity=(0, -9.81, 0))
    wrong: list[object] = []

    def work() -> None:
        try:
            for _ in range(50):
                if not np.array_equal(model.internal_force(u), force):
                    wrong.append("force")
                sim.step()
                _ = sim.positions.sum(), sim.energy, sim.time, repr(sim)
        except Exception as error:  # noqa: BLE001
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    alone = pliant.Simulation(model, pliant.integrators.newmark(1e-3), gravity=(0, -9.81, 0))
    alone.step(200)
    assert wrong == [] and sim.step_count == 200
    assert np.array_equal(sim.positions, alone.positions)


def test_results_do_not_depend_on_the_number_of_threads(model: pliant.Model) -> None:
    ends = []
    before = pliant.threads()
    for count in [1, 2, 3, 2]:
        pliant.set_threads(count)
        assert pliant.threads() == count
        sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3), gravity=(0, -9.81, 0))
        sim.run(0.02)
        ends.append(sim.positions.copy())
    pliant.set_threads(before)
    assert np.array_equal(ends[0], ends[1]) and np.array_equal(ends[0], ends[2])
    for wrong in [0, 100_000]:
        with pytest.raises(ValueError, match=f"{wrong} threads, expected 1 to 1024"):
            pliant.set_threads(wrong)


def test_other_threads_can_work_when_there_is_one_to_compute() -> None:
    program = """
import threading, pliant
def make() -> None:
    pliant.Mesh.ball(1, across=8).refined().volume
threading.Thread(target=lambda: pliant.set_threads(1)).start()
make()
pliant.set_threads(1)
worker = threading.Thread(target=make)
worker.start()
worker.join(20)
print(worker.is_alive(), pliant.threads())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "False 1\n", done.stderr


def test_small_questions_do_not_wait_for_large_ones(model: pliant.Model, rubber: pliant.Material) -> None:
    large = pliant.Model(pliant.Mesh.box((1, 1, 1), (20, 20, 20)), rubber, fixed="x-min")
    sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3))
    before = pliant.threads()
    pliant.set_threads(2)
    worker = threading.Thread(target=lambda: large.modes(40))
    worker.start()
    asked = 0
    while worker.is_alive():
        _ = sim.time, sim.step_count
        asked += 1
    pliant.set_threads(before)
    assert asked > 100


def solve_in_child(size: int) -> float:
    mesh = pliant.Mesh.beam(1, 0.2, 0.2, across=size)
    model = pliant.Model(mesh, pliant.materials.linear(young=1e6, poisson=0.3, density=1000), fixed="start")
    return float(np.abs(model.static_solve(gravity=(0, -9.81, 0))).max())


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_worker_processes_compute_after_their_parent_has(method: str) -> None:
    expected = [solve_in_child(size) for size in (2, 6)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(solve_in_child, (2, 6)).get(60) == expected


def test_everything_works_in_a_process_that_was_forked() -> None:
    """Its parent has used all threads, and the child has none of them: the other test files pass there."""
    files = [str(Path(__file__).parent / f"test_{name}.py") for name in ("mesh", "model", "simulation")]
    program = f"""
import os, sys
import pliant, pytest
pliant.Mesh.ball(1, across=16).refined().volume
child = os.fork()
if child == 0:
    status = pytest.main([*{files!r}, "-q", "-x", "-p", "no:cacheprovider", "--rootdir", {str(ROOT)!r}])
    sys.stdout.flush()
    os._exit(int(status))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stdout + done.stderr


# Each says that it has begun, and works for minutes.
LONG = {
    "run": "sim.run(1e6)",
    "callback": "sim.run(1e6, lambda sim: None)",
    "modes": "model.modes(200)",
    "reduce": "model.reduce(100, modes=40)",
    "static": "model.static_solve(prescribed=('x-max', (0, 0.6, 0.6)), load_steps=500, tolerance=1e-12)",
}


@pytest.mark.parametrize("threads", ["", "pliant.set_threads(2); pliant.set_threads(1)"])
@pytest.mark.parametrize("work", LONG)
def test_ctrl_c_stops_long_work(work: str, threads: str) -> None:
    program = f"""
import signal
# What is started in the background of a shell ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
import pliant
{threads}
mesh = pliant.Mesh.box((2, 1, 1), (24, 12, 12))
model = pliant.Model(mesh, pliant.materials.neo_hookean(young=1e5, poisson=0.4, density=1000), fixed="x-min")
sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3), gravity=(0, -9.81, 0))
print("begun", flush=True)
try:
    {LONG[work]}
except KeyboardInterrupt:
    print("stopped", sim.step_count, flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    out, err = process.communicate(timeout=60)
    assert out.startswith("stopped") and err == "", (out, err)
    assert time.monotonic() - start < 30


def test_a_handler_at_exit_may_wait_for_a_thread_that_steps() -> None:
    program = """
import atexit, threading, time
stop = threading.Event()
atexit.register(lambda: (stop.set(), worker.join()))
import pliant
model = pliant.Model(pliant.Mesh.beam(1, 0.1, 0.1), pliant.Material(young=1e5, poisson=0.3, density=1000), fixed="start")
sim = pliant.Simulation(model, pliant.integrators.newmark(1e-3))
def work() -> None:
    while not stop.is_set():
        sim.step()
worker = threading.Thread(target=work, daemon=True)
worker.start()
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_errors_are_of_python_too() -> None:
    for name in ["MeshError", "MaterialError", "ModelError", "SceneError", "CheckpointError"]:
        assert issubclass(getattr(pliant, name), pliant.PliantError)
        assert issubclass(getattr(pliant, name), ValueError)
    assert issubclass(pliant.FileError, OSError) and issubclass(pliant.SolveError, ArithmeticError)
    assert issubclass(pliant.SolveError, pliant.PliantError) and issubclass(pliant.FileError, pliant.PliantError)


def command(*arguments: str, entry: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*entry, *arguments], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("entry", [[str(Path(sys.executable).parent / "pliant")], [sys.executable, "-m", "pliant"]])
def test_the_command_is_there(entry: list[str], tmp_path: Path) -> None:
    assert command("--version", entry=entry).stdout == f"pliant {pliant.__version__}\n"
    mesh = str(tmp_path / "ring.veg")
    assert command("mesh", "generate", "torus", "-o", mesh, entry=entry).returncode == 0
    assert "tetrahedra" in command("mesh", "info", mesh, entry=entry).stdout
    wrong = command("mesh", "info", str(tmp_path / "none.veg"), entry=entry)
    assert wrong.returncode == 1 and "none.veg" in wrong.stderr
    assert command("dance", entry=entry).returncode == 2


def test_the_command_simulates_and_stops_at_ctrl_c(tmp_path: Path) -> None:
    entry = [str(Path(sys.executable).parent / "pliant")]
    folder = str(tmp_path / "out")
    process = subprocess.Popen([*entry, "run", str(ROOT / "scenes" / "twisting-beam.toml"), "--duration", "1000", "--output", folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (tmp_path / "out" / "probes.csv").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert b"resume" in err + out


def test_scipy_is_imported_only_when_it_is_needed() -> None:
    program = "import sys, pliant; print('scipy' in sys.modules, 'meshio' in sys.modules, 'pyvista' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False False False\n", done.stderr


def test_the_process_that_ends_while_threads_compute_ends() -> None:
    program = """
import threading, time, pliant
model = pliant.Model(pliant.Mesh.box((1, 1, 1), (20, 20, 20)), pliant.materials.linear(young=1, poisson=0, density=1))
threading.Thread(target=lambda: model.modes(100), daemon=True).start()
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True)
    assert done.returncode == 0, done.stderr
