"""Compare the cost of calls from Python and from Rust: `make bench-python`.

Both are timed in one process, in turns, and the minimum of many rounds counts, as other load can only add time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import pliant

ROUNDS = 400


def least(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The shortest time of a call, in s."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def internal_force(cells: int) -> tuple[int, float, float]:
    """Return the vertices of a cube with `n` cells along an edge, and the times from Python and from Rust, in s."""
    mesh = pliant.Mesh.box((1, 1, 1), (cells, cells, cells))
    model = pliant.Model(mesh, pliant.materials.stvk(young=1e6, poisson=0.3, density=1000))
    u = 0.01 * np.random.default_rng(0).standard_normal((mesh.vertex_count, 3)) / cells
    python = min(least(lambda: model.internal_force(u), ROUNDS // 4) for _ in range(4))
    rust = min(model._time_internal_force(u, ROUNDS) for _ in range(4))
    return mesh.vertex_count, python, rust


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, help="how many threads compute")
    threads = parser.parse_args().threads
    if threads is not None:
        pliant.set_threads(threads)
    print(f"internal_force, {pliant.threads()} threads; microseconds a call")
    print(f"{'vertices':>9} {'Python':>9} {'Rust':>9} {'more':>9}")
    for cells in (1, 9, 20, 40):
        vertices, python, rust = internal_force(cells)
        print(f"{vertices:9} {1e6 * python:9.1f} {1e6 * rust:9.1f} {1e6 * (python - rust):9.1f}")

    mesh = pliant.Mesh.beam(1, 0.1, 0.1, across=4)
    model = pliant.Model(mesh, pliant.materials.stvk(young=1e6, poisson=0.3, density=1000), fixed="start")
    sim = pliant.Simulation(model.reduce(20), pliant.integrators.linearized_backward_euler(1e-3), gravity=(0, -9.81, 0))
    one = least(sim.step)
    many = least(lambda: sim.step(100), ROUNDS // 10) / 100
    positions = sim.positions
    seen = least(sim.step)
    print(f"\nstep of a reduced model in 20 directions of {len(positions)} vertices; microseconds")
    print(f"{1e6 * one:9.1f} one at a time\n{1e6 * many:9.1f} a hundred at a time\n{1e6 * seen:9.1f} with an array that follows")


if __name__ == "__main__":
    main()
