"""Pull a beam by half its length, as a tensile test does, and plot the force.

A beam of 200 × 20 × 20 mm is gripped at both ends. One end is moved away in steps, and after each
step the force at that grip is read. Two laws with the same moduli agree with linear theory,
``F = E A d / L``, at small strains and differ at large ones: neo-Hookean softens,
St. Venant–Kirchhoff stiffens. The grips prevent lateral contraction at the ends, which linear
theory neglects: the beam is about 1 % stiffer than ``E A / L``.

    python pull_a_beam.py --out out/python        # writes pull_a_beam.png
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

import pliant

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.tri import Triangulation

LENGTH, SIDE = 0.2, 0.02  # m
YOUNG, POISSON = 1e6, 0.3  # Pa, –
LAWS = {"neo-Hookean": "neo-hookean", "St. Venant–Kirchhoff": "stvk"}

Floats = NDArray[np.float64]


def pull(model: pliant.Model, distances: Floats) -> tuple[Floats, Floats]:
    """Return the force at each distance, in N, and the displacements at the last."""
    grip = model.select("end")
    u = np.zeros((model.vertex_count, 3))
    forces = []
    for distance in distances:
        # Starting from the last solution takes fewer iterations.
        pulled = ("end", (distance, 0, 0))
        u = model.static_solve(prescribed=pulled, start=u)
        forces.append(model.reactions(u, prescribed=pulled)[grip, 0].sum())
    return np.array(forces), u


def draw_front(axes: Axes, mesh: pliant.Mesh, u: Floats, stress: Floats) -> None:
    """Draw the front of the beam, in mm, colored by the stress at its vertices, in MPa."""
    x, y, _ = 1e3 * (mesh.vertices + u).T
    surface = mesh.surface()
    assert surface.volume_vertices is not None  # It is the boundary of a mesh.
    triangles = surface.volume_vertices[surface.triangles]
    triangles = triangles[(mesh.vertices[triangles, 2] == SIDE / 2).all(axis=1)]
    image = axes.tripcolor(Triangulation(x, y, triangles), 1e-6 * stress, shading="gouraud")
    axes.set(aspect="equal", xlabel="x (mm)", ylabel="y (mm)")
    axes.figure.colorbar(image, ax=axes, label="von Mises\nstress (MPa)", aspect=6)


def main(argv: Sequence[str] | None = None) -> None:
    """Run with these arguments, or with those of the command line."""
    parser = argparse.ArgumentParser(description="Pull a beam and plot the force.")
    parser.add_argument("--out", type=Path, default=Path("out/python"), help="folder to write to")
    out: Path = parser.parse_args(argv).out
    out.mkdir(parents=True, exist_ok=True)

    mesh = pliant.Mesh.beam(LENGTH, SIDE, SIDE, across=4, elements="hex")
    distances = np.concatenate([[0, 0.001], np.linspace(0.05, 0.5, 10)]) * LENGTH
    linear = YOUNG * SIDE**2 * distances / LENGTH

    figure, (curves, *fronts) = plt.subplots(
        3, figsize=(7, 7), height_ratios=(5, 1, 1), layout="constrained"
    )
    curves.plot(1e3 * distances, linear, "k--", label="linear theory, $E A d / L$")
    for axes, (name, law) in zip(fronts, LAWS.items()):
        material = pliant.Material(law, young=YOUNG, poisson=POISSON, density=1000)
        model = pliant.Model(mesh, material, fixed="start")
        forces, u = pull(model, distances)
        curves.plot(1e3 * distances, forces, "o-", label=name)
        axes.set_title(f"{name}, stretched by 50 %")
        draw_front(axes, mesh, u, model.von_mises(u, at="vertices"))
        small, large = (100 * forces[n] / linear[n] for n in (1, -1))
        print(f"{name}: {forces[-1]:.1f} N at {1e3 * distances[-1]:.0f} mm")
        print(f"  of linear theory's force: {small:.1f} % at 0.1 % stretch, {large:.1f} % at 50 %")
    curves.set(xlabel="displacement of the grip (mm)", ylabel="force on the grip (N)")
    curves.legend()
    curves.grid(alpha=0.3)
    figure.savefig(out / "pull_a_beam.png", dpi=150)
    print(f"wrote {out / 'pull_a_beam.png'}")


if __name__ == "__main__":
    main()
