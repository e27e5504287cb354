"""Barrier contact of bodies with each other and with obstacles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant

WEIGHT = 9.81


def cube(height: float = 0.001) -> pliant.Mesh:
    return pliant.Mesh.box((0.1, 0.1, 0.1), (2, 2, 2)).translated((0, height, 0))


def soft() -> pliant.Material:
    return pliant.materials.neo_hookean(young="100 kPa", poisson=0.3, density=1000)


def settled(model: pliant.Model, **keywords: Any) -> pliant.Simulation:
    sim = pliant.Simulation(model, dt="50 ms", gravity=(0, -WEIGHT, 0), **keywords)
    sim.run("3 s")
    return sim


def force_on(contacts: pliant.Contacts, name: str) -> Any:
    body = contacts.names.index(name)
    first, second = (contacts.bodies == body).T
    return contacts.forces[first].sum(axis=0) - contacts.forces[second].sum(axis=0)


def test_the_ground_bears_the_weight_of_a_stack() -> None:
    bodies = [pliant.Body(cube(), soft(), name="lower"), pliant.Body(cube(0.1015), soft(), name="upper")]
    ground = pliant.Obstacle.plane(name="ground")
    sim = settled(pliant.Model(bodies, obstacles=ground, contact={"friction": 0.5}))
    contacts = sim.contacts
    assert contacts.names == ["lower", "upper", "ground"]
    n = len(contacts)
    assert contacts.bodies.shape == (n, 2) and contacts.bodies.dtype == np.int64
    assert contacts.points.shape == contacts.normals.shape == contacts.forces.shape == (n, 3)
    assert contacts.gaps.shape == (n,) and (contacts.gaps > 0).all()
    assert set(map(tuple, contacts.bodies.tolist())) == {(0, 1), (0, 2)}
    for name, weights in [("lower", 1), ("upper", 1), ("ground", -2)]:
        assert force_on(contacts, name) == pytest.approx((0, weights * WEIGHT, 0), abs=1e-2)
    below = contacts.bodies[:, 1] == 2
    assert np.allclose(contacts.normals[below], (0, 1, 0)) and abs(contacts.points[below, 1]).max() < 1e-3
    assert np.linalg.norm(contacts.normals, axis=1) == pytest.approx(1)
    assert repr(contacts) == f"<pliant.Contacts: {n} between lower, upper, ground>"


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ("box", {"center": (0.05, -0.1, 0.05), "size": (1, 0.2, 1)}),
        ("capsule", {"ends": [(0.05, -0.2, -0.5), (0.05, -0.2, 0.5)], "radius": 0.2}),
        ("cylinder", {"ends": [(0.05, -0.2, 0.05), (0.05, 0, 0.05)], "radius": "0.2 m"}),
    ],
)
def test_shapes_of_barrier_contact_bear_a_cube_and_say_so_without_it(shape: str, options: dict[str, Any]) -> None:
    obstacle = pliant.Obstacle(shape, **options)
    assert obstacle.shape == shape and obstacle.name is None
    with pytest.raises(pliant.ModelError, match=f"`{shape}` works with barrier contact only.*contact=True"):
        pliant.Model(cube(), soft(), obstacles=obstacle)
    with pytest.raises(pliant.ModelError, match="penalty contact, which the shape"):
        pliant.Obstacle(shape, stiffness=1, **options)
    sim = settled(pliant.Model(cube(), soft(), obstacles=[obstacle], contact={"friction": 0.5}))
    assert sim.contacts.names == ["body", "obstacle-1"]
    assert force_on(sim.contacts, "body")[1] == pytest.approx(WEIGHT, rel=1e-2)


def test_the_surface_of_a_file_is_an_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "ground.obj"
    path.write_text("v -1 0 -1\nv -1 0 1\nv 1 0 1\nv 1 0 -1\nf 1 2 3\nf 1 3 4\n")
    sim = settled(pliant.Model(cube(), soft(), obstacles=pliant.Obstacle("mesh", file=str(path)), contact=True))
    assert force_on(sim.contacts, "body")[1] == pytest.approx(WEIGHT, rel=1e-2)
    with pytest.raises(pliant.ModelError, match="missing.obj"):
        pliant.Obstacle("mesh", file=str(tmp_path / "missing.obj"))


def test_fixed_bodies_are_obstacles_and_friction_of_pairs_counts() -> None:
    slides = []
    for friction in [0.0, 0.8]:
        bodies = [pliant.Body(cube(-0.1), soft(), name="table"), pliant.Body(cube(), soft(), name="cube")]
        pair = {"between": ["table", "cube"], "friction": friction}
        model = pliant.Model(bodies, fixed=np.arange(27), contact={"pair": [pair]})
        tilted = WEIGHT * np.array((np.sin(0.3), -np.cos(0.3), 0))
        sim = pliant.Simulation(model, dt="5 ms", gravity=tilted)
        sim.run("0.1 s")
        slides.append(sim.displacements[27:, 0].mean())
        assert abs(sim.displacements[:27]).max() == 0
    # ½ g sin α t², and nothing with friction above tan α.
    assert slides[0] == pytest.approx(0.5 * WEIGHT * np.sin(0.3) * 0.01, rel=0.1)
    assert abs(slides[1]) < 2e-3


def test_arguments_of_contact_that_do_not_fit_are_errors() -> None:
    ground = pliant.Obstacle.plane()
    with pytest.raises(TypeError, match="contact: expected True, False or a dictionary"):
        pliant.Model(cube(), soft(), contact=3)  # type: ignore[arg-type]
    with pytest.raises(pliant.SceneError, match="there is no key `fricton` here; did you mean `friction`"):
        pliant.Model(cube(), soft(), contact={"fricton": 1})
    with pytest.raises(pliant.ModelError, match="`wall`, which is no body and no collider; there are `body`, `obstacle-1`"):
        pair = {"between": ["body", "wall"], "ignore": True}
        pliant.Model(cube(), soft(), obstacles=ground, contact={"pair": [pair]})
    with pytest.raises(pliant.ModelError, match="intersect at the start"):
        pliant.Model(cube(-0.01), soft(), obstacles=ground, contact=True)
    with pytest.raises(pliant.ModelError, match="another body or obstacle is named `body`"):
        pliant.Model(cube(), soft(), obstacles=pliant.Obstacle.plane(name="body"), contact=True)
    model = pliant.Model(cube(), soft(), obstacles=ground, contact=True)
    with pytest.raises(ValueError, match="central-differences does not support barrier contact, expected one of"):
        pliant.Simulation(model, pliant.integrators.central_differences(dt=1e-4))
    for off in [None, False, {"method": "penalty"}]:
        sim = pliant.Simulation(pliant.Model(cube(), soft(), obstacles=ground, contact=off), dt=0.01)
        with pytest.raises(pliant.ModelError, match="no barrier contact; create it with contact=True"):
            sim.contacts  # noqa: B018


def test_obstacles_with_a_stiffness_are_penalties_next_to_barriers() -> None:
    ground = pliant.Obstacle.plane(stiffness="10 kN/m", damping="10 N s/m")
    sim = settled(pliant.Model(cube(), soft(), obstacles=ground, contact=True))
    assert sim.contacts.names == ["body"] and len(sim.contacts) == 0
    assert repr(sim.contacts) == "<pliant.Contacts: 0>"
    assert sim.positions[:, 1].min() < 0


def test_scenes_have_contacts_too() -> None:
    sim = pliant.Simulation.from_scene(
        {
            "object": [
                {
                    "name": "cube",
                    "mesh": {"box": {"size": [0.1, 0.1, 0.1], "cells": [2, 2, 2]}},
                    "material": {"young": "100 kPa", "poisson": 0.3, "density": 1000},
                    "translate": [0, 0.001, 0],
                }
            ],
            "contact": {"friction": 0.5},
            "obstacle": [{"name": "ground", "shape": "plane"}],
            "simulation": {"step": "50 ms", "duration": 3},
        }
    )
    sim.run()
    assert sim.contacts.names == ["cube", "ground"]
    assert force_on(sim.contacts, "cube")[1] == pytest.approx(WEIGHT, rel=1e-3)
