"""Let the tip of a soft finger follow a circle, with a PI controller in the loop.

A finger of silicone, 100 × 15 × 15 mm, is clamped at one end and sags under its weight. A ring of
its vertices, 60 mm from the clamp, is attached to springs (a handle) whose other ends an
actuator moves. In each step of 10 ms the controller measures the position of the tip and moves
them, so that the tip follows a circle of 20 mm in the plane of y and z, once in 2 s.

    python control_loop.py --out out/python        # control_loop.png, and frames in control_loop/
    python control_loop.py --gif --pyvista         # frames by PyVista, and an animation of them
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from numpy.typing import NDArray

import pliant

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.animation import ArtistAnimation, PillowWriter

STEP, LAP, EVERY = 0.01, 200, 10  # s; steps in a lap; steps from frame to frame
MESH = pliant.Mesh.box((0.1, 0.015, 0.015), (20, 2, 2), elements="hex")
TIP = MESH.nearest_vertex((0.1, 0.0075, 0.0075))
ANGLES = 2 * np.pi * np.arange(1, 2 * LAP + 1) / LAP
OFFSETS = 0.02 * np.stack([0 * ANGLES, np.cos(ANGLES), np.sin(ANGLES)], axis=1)
CIRCLE = MESH.vertices[TIP] + OFFSETS
Floats = NDArray[np.float64]


def follow(gain: float, integral_gain: float) -> Floats:
    """Return the vertex positions after each step, for a controller with these gains (–, 1/s)."""
    silicone = pliant.materials.neo_hookean(young=2e5, poisson=0.4, density=1070)
    model = pliant.Model(MESH, silicone, fixed="x-min", damping=(0, 0.01))
    integrator = pliant.integrators.linearized_backward_euler(dt=STEP)
    sim = pliant.Simulation(model, integrator, gravity=(0, -9.81, 0))
    actuator = sim.handle(np.isclose(MESH.vertices[:, 0], 0.06), stiffness=72)  # N/m
    home = actuator.targets
    sim.static_solve()
    positions = sim.positions  # The array follows the simulation.
    integral, history = np.zeros(3), []
    for offset, wanted in zip(OFFSETS, CIRCLE):
        error = (wanted - positions[TIP]) * (0, 1, 1)
        integral += STEP * error
        actuator.targets = home + offset + gain * error + integral_gain * integral
        sim.step()
        history.append(positions.copy())
    return np.array(history)


def draw_frame(finger: Floats, path: Path) -> None:
    """Draw the finger and the circle with matplotlib, y up."""
    figure = plt.figure(figsize=(6, 5), layout="constrained")
    axes: Any = figure.add_subplot(projection="3d", elev=20, azim=35)
    surface = MESH.surface()
    x, y, z = 1e3 * finger[surface.volume_vertices].T
    axes.plot_trisurf(z, x, y, triangles=surface.triangles, color="lightsalmon")
    axes.plot(*1e3 * CIRCLE[:, [2, 0, 1]].T, "k")
    axes.set(xlabel="z (mm)", ylabel="x (mm)", zlabel="y (mm)")
    axes.set(xlim=(-20, 35), ylim=(0, 110), zlim=(-20, 35), aspect="equal")
    figure.savefig(path)
    plt.close(figure)


def draw_frame_with_pyvista(finger: Floats, path: Path) -> None:
    """Draw the finger and the circle with PyVista, which needs no display."""
    import pyvista

    plotter = pyvista.Plotter(off_screen=True, window_size=[600, 500])
    plotter.add_mesh(MESH.to_pyvista(finger), color="lightsalmon", show_edges=True)
    plotter.add_mesh(pyvista.lines_from_points(CIRCLE), color="black", line_width=3)
    plotter.camera_position = [(0.2, 0.08, 0.15), (0.055, 0, 0), (0, 1, 0)]
    plotter.screenshot(path)
    plotter.close()


def main(argv: Sequence[str] | None = None) -> None:
    """Run with these arguments, or with those of the command line."""
    parser = argparse.ArgumentParser(description="Let a soft finger follow a circle.")
    parser.add_argument("--out", type=Path, default=Path("out/python"), help="folder to write to")
    parser.add_argument("--gif", action="store_true", help="write an animation too")
    parser.add_argument("--pyvista", action="store_true", help="draw frames with PyVista")
    options = parser.parse_args(argv)
    folder: Path = options.out / "control_loop"
    folder.mkdir(parents=True, exist_ok=True)

    figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
    for name, gains in {"no feedback": (0, 0), "PI controller": (1, 30)}.items():
        fingers = follow(*gains)
        errors = np.linalg.norm((CIRCLE - fingers[:, TIP])[-LAP:, 1:], axis=1)
        print(f"{name}: error of the tip {1e3 * np.sqrt((errors**2).mean()):.2f} mm r.m.s.")
        axes.plot(*1e3 * fingers[:, TIP, [2, 1]].T, label=name)
    axes.plot(*1e3 * CIRCLE[:, [2, 1]].T, "k:", label="wanted")
    axes.set(aspect="equal", xlabel="z (mm)", ylabel="y (mm)", title="Path of the tip")
    axes.legend(loc="center")
    figure.savefig(folder.with_suffix(".png"), dpi=150)
    frames = [folder / f"{n:02}.png" for n in range(LAP // EVERY)]
    for finger, path in zip(fingers[-LAP::EVERY], frames):
        (draw_frame_with_pyvista if options.pyvista else draw_frame)(finger, path)
    if options.gif:
        figure = plt.figure(figsize=(6, 5))
        pictures = [[figure.figimage(plt.imread(path))] for path in frames]
        ArtistAnimation(figure, pictures).save(folder.with_suffix(".gif"), PillowWriter(fps=10))
    print(f"wrote {folder.with_suffix('.png')} and {len(frames)} frames in {folder}")


if __name__ == "__main__":
    main()
