"""Fixtures that several test files share."""

from __future__ import annotations

import numpy as np
import pytest

import pliant


@pytest.fixture
def rubber() -> pliant.Material:
    return pliant.materials.neo_hookean(young=1e5, poisson=0.4, density=1000)


@pytest.fixture
def beam() -> pliant.Mesh:
    return pliant.Mesh.beam(1, 0.2, 0.2, across=2)


@pytest.fixture
def model(beam: pliant.Mesh, rubber: pliant.Material) -> pliant.Model:
    return pliant.Model(beam, rubber, fixed="start")


@pytest.fixture
def sim(model: pliant.Model) -> pliant.Simulation:
    return pliant.Simulation(model, pliant.integrators.newmark(dt=1e-3), gravity=(0, -9.81, 0))


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(1)
