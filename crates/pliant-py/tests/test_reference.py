"""Answers of independent programs, found again through Python. Their sources are in reference.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant

REFERENCE: dict[str, Any] = json.loads((Path(__file__).parent / "reference.json").read_text())
LAWS = {
    "linear": "linear",
    "corotational": "corotational",
    "stvk": "stvk",
    "neohookean_bw": "neo-hookean",
    "neohookean_bower": "neo-hookean-bower",
    "stable_neohookean": "stable-neo-hookean",
    "mooney_rivlin": "mooney-rivlin",
}


def material(law: str, coefficients: dict[str, float]) -> pliant.Material:
    return pliant.Material(LAWS[law], coefficients=coefficients, density=1000)


def beam() -> pliant.Mesh:
    return pliant.Mesh.box((10, 1, 1), (20, 2, 2), elements="hex")


@pytest.mark.parametrize("elements", ["tet6", "hex"])
@pytest.mark.parametrize("row", REFERENCE["uniaxial"]["rows"], ids=lambda row: f"{row[0]}-{row[2]}")
def test_a_stretched_cube_has_the_lateral_stretch_and_stress_of_the_closed_form(row: Any, elements: str) -> None:
    law, coefficients, stretch, lateral, stress, energy = row
    mesh = pliant.Mesh.box((1, 1, 1), (1, 1, 1), elements=elements)  # type: ignore[arg-type]
    fixed = {"x-min": "x", "y-min": "y", "z-min": "z"}
    model = pliant.Model(mesh, material(law, coefficients), fixed=fixed)
    right = mesh.vertex_sets["x-max"]
    u = model.static_solve(prescribed=(right, (stretch - 1, None, None)), tolerance=1e-13, load_steps=4)
    assert 1 + u[mesh.vertex_sets["y-max"], 1] == pytest.approx(np.full(4, lateral), rel=1e-10)
    assert model.internal_force(u)[right, 0].sum() == pytest.approx(stress, rel=1e-9)
    assert model.energy(u) == pytest.approx(energy, rel=1e-9)


@pytest.mark.parametrize("row", REFERENCE["cantilever"]["rows"], ids=lambda row: f"{row[0]}{row[2]}")
def test_a_cantilever_bends_as_in_felupe_and_getfem(row: Any) -> None:
    law, coefficients, force, end, energy = row
    mesh = beam()
    model = pliant.Model(mesh, material(law, coefficients), fixed="x-min")
    forces = np.zeros((mesh.vertex_count, 3))
    for vertex, part in REFERENCE["cantilever"]["unit_load"]:
        forces[vertex, 1] = -force * part
    u = model.static_solve(forces=forces, tolerance=1e-11)
    tolerance = 1e-7 * np.abs(u).max()
    assert u[mesh.vertex_sets["x-max"]].mean(axis=0) == pytest.approx(np.array(end), abs=tolerance)
    if energy is not None:
        assert model.energy(u) == pytest.approx(energy, rel=1e-7)


def test_a_cantilever_has_the_frequencies_of_scikit_fem() -> None:
    model = pliant.Model(beam(), pliant.materials.linear(young=1e6, poisson=0.3, density=1000), fixed="x-min")
    assert model.modes(12)[0] == pytest.approx(np.array(REFERENCE["modes"]["frequencies"]), rel=1e-8)


@pytest.mark.parametrize("name", ["newmark", "backward_euler"])
def test_a_beam_that_is_let_go_swings_as_in_scikit_fem(name: str) -> None:
    mesh = beam()
    model = pliant.Model(mesh, pliant.materials.linear(young=1e8, poisson=0.3, density=1000), fixed="x-min")
    forces = np.zeros((mesh.vertex_count, 3))
    for vertex, force in REFERENCE["release"]["pull"]:
        forces[vertex] = force
    u = model.static_solve(forces=forces, tolerance=1e-12)
    integrator = getattr(pliant.integrators, name)(1e-3, tolerance=1e-11, solver="direct")
    sim = pliant.Simulation(model, integrator, positions=mesh.vertices + u)
    end = mesh.vertex_sets["x-max"]
    for row in REFERENCE["release"]["rows"][name]:
        step, numbers = row[0], row[2:]
        sim.step(step - sim.step_count)
        found = np.concatenate([sim.displacements[20], sim.displacements[end].mean(axis=0)])
        assert found == pytest.approx(numbers[:6], abs=1e-8 * np.abs(u).max())
        seen = sim.observe()
        assert seen.kinetic_energy == pytest.approx(numbers[6], rel=1e-6)
        assert seen.elastic_energy == pytest.approx(numbers[7], rel=1e-6)
