//! Manipulation of bodies by users: pulls, pins, balls and throws.

use std::collections::HashSet;
use std::sync::Arc;

use pliant::force::{Handle, Handles, Obstacle, Obstacles};
use pliant::math::Vec3;
use pliant::model::{Fixed, FixedId, Model};
use pliant::motion::{Keyframes, Motion};
use pliant::simulation::Simulation;
use pliant::system::State;

use crate::session::ViewerId;
use crate::snapshot::{BallView, PullView};

/// Maximum number of simultaneous pulls, and of balls.
const MAX_TOUCHES: usize = 64;

/// Maximum distance that a ball moves per step relative to its radius; jumps into a body would tear it.
const BALL_STRIDE: f64 = 0.1;

/// Growth of a ball per step relative to its radius.
const BALL_GROWTH: f64 = 0.1;

/// Friction coefficient of balls.
const BALL_FRICTION: f64 = 0.4;

/// Pulls, balls and pins of all users. Their forces are the last of their type in the model.
#[derive(Debug, Default)]
pub struct Interaction {
    pulls: Vec<Pull>,
    balls: Vec<Ball>,
    pins: Pins,
    /// Damping of pulls [N·s/m] per square root of their stiffness, so that oscillations decay quickly.
    damping: f64,
    /// Contact stiffness of balls per vertex [N/m].
    pub ball_stiffness: f64,
}

#[derive(Debug)]
struct Pull {
    viewer: ViewerId,
    id: u32,
    handle: Handle,
}

#[derive(Debug)]
struct Ball {
    viewer: ViewerId,
    center: Vec3,
    /// Motion within the step, which friction depends on.
    motion: Motion,
    radius: f64,
    /// Position that the ball moves to \[m\].
    target: Vec3,
    /// Final radius \[m\].
    full_radius: f64,
}

#[derive(Debug, Default)]
struct Pins {
    vertices: Vec<u32>,
    /// Prescribed displacement of each vertex \[m\].
    offsets: Vec<Vec3>,
    id: Option<FixedId>,
}

impl Interaction {
    /// Creates an empty set of pulls, balls and pins.
    pub fn new(damping: f64, ball_stiffness: f64) -> Self {
        Self { damping, ball_stiffness, ..Self::default() }
    }

    /// Adds the forces and pins to a simulation and tracks its pins.
    pub fn attach(&mut self, simulation: &mut Simulation) -> Result<(), String> {
        self.pins.id = self.add_to(simulation)?;
        Ok(())
    }

    /// Adds the same forces and pins to another simulation. Returns the identifier of the pins.
    pub fn add_to(&self, simulation: &mut Simulation) -> Result<Option<FixedId>, String> {
        let model = simulation.model_mut();
        let handles = Handles::new(model.shared_rest().clone(), self.pulls.iter().map(|pull| pull.handle.clone()));
        let balls = self.balls.iter().map(|ball| ball.obstacle(self.ball_stiffness));
        let obstacles = Obstacles::for_vertices(model.shared_rest().clone(), model.surface_vertices(), balls);
        model.add_force(handles.map_err(words)?).map_err(words)?;
        model.add_force(obstacles.map_err(words)?).map_err(words)?;
        self.pins.fix(model)
    }

    /// Starts a simulation with the same forces at a state, with vertices pinned at their positions in this state.
    pub fn begin(&self, simulation: &mut Simulation, state: &State) -> Result<(), String> {
        if !self.pins.vertices.is_empty() {
            let model = simulation.model_mut();
            // Pins were added after the constraints of the scene.
            let id = *model.fixed_ids().last().ok_or(NOT_ATTACHED)?;
            model.move_fixed(id, self.pins.offsets_at(state)).map_err(words)?;
        }
        simulation.begin_at(State { a: None, previous: None, ..state.clone() });
        Ok(())
    }

    /// Starts to pull a point.
    pub fn grab(
        &mut self,
        simulation: &mut Simulation,
        (viewer, id): (ViewerId, u32),
        point: Vec<(u32, f64)>,
        target: Vec3,
        stiffness: f64,
    ) -> Result<(), String> {
        self.release(simulation, viewer, id)?;
        if self.pulls.len() == MAX_TOUCHES {
            return Err(format!("{MAX_TOUCHES} points are already being pulled, the maximum"));
        }
        let handle = Handle { damping: self.damping * stiffness.sqrt(), ..Handle::at_point(point, stiffness, target) };
        handles(simulation.model_mut())?.push(handle.clone()).map_err(words)?;
        self.pulls.push(Pull { viewer, id, handle });
        Ok(())
    }

    /// Moves the target of a pull and optionally changes its stiffness. A released pull is ignored, as messages may
    /// cross.
    pub fn drag(
        &mut self,
        simulation: &mut Simulation,
        (viewer, id): (ViewerId, u32),
        target: Vec3,
        stiffness: Option<f64>,
    ) -> Result<(), String> {
        let Some(number) = self.pull(viewer, id) else { return Ok(()) };
        let stiffness = stiffness.unwrap_or(self.pulls[number].handle.stiffness);
        let damping = self.damping * stiffness.sqrt();
        let handle = Handle { target, stiffness, damping, ..self.pulls[number].handle.clone() };
        let mut forces = simulation.forces_mut_of::<Handles>();
        forces.last_mut().ok_or(NOT_ATTACHED)?.replace(number, handle.clone()).map_err(words)?;
        self.pulls[number].handle = handle;
        Ok(())
    }

    /// Releases a pull.
    pub fn release(&mut self, simulation: &mut Simulation, viewer: ViewerId, id: u32) -> Result<(), String> {
        if let Some(number) = self.pull(viewer, id) {
            handles(simulation.model_mut())?.remove(number).map_err(words)?;
            self.pulls.remove(number);
        }
        Ok(())
    }

    fn pull(&self, viewer: ViewerId, id: u32) -> Option<usize> {
        self.pulls.iter().position(|pull| (pull.viewer, pull.id) == (viewer, id))
    }

    /// Adds a ball, or moves it gradually to a new position.
    pub fn put_ball(
        &mut self,
        simulation: &mut Simulation,
        viewer: ViewerId,
        target: Vec3,
        full_radius: f64,
    ) -> Result<(), String> {
        if !(full_radius > 0.0 && full_radius.is_finite() && target.is_finite()) {
            return Err(format!(
                "ball: expected a positive radius and a finite position, found a radius of {full_radius} m at {target}"
            ));
        }
        if let Some(ball) = self.balls.iter_mut().find(|ball| ball.viewer == viewer) {
            (ball.target, ball.full_radius) = (target, full_radius);
            return Ok(());
        }
        if self.balls.len() == MAX_TOUCHES {
            return Err(format!("there are already {MAX_TOUCHES} balls, the maximum"));
        }
        let radius = BALL_GROWTH * full_radius;
        let ball = Ball { viewer, center: target, motion: Motion::Still, radius, target, full_radius };
        obstacles(simulation.model_mut())?.push(ball.obstacle(self.ball_stiffness)).map_err(words)?;
        self.balls.push(ball);
        Ok(())
    }

    /// Removes the ball of a page.
    pub fn take_ball(&mut self, simulation: &mut Simulation, viewer: ViewerId) -> Result<(), String> {
        if let Some(number) = self.balls.iter().position(|ball| ball.viewer == viewer) {
            obstacles(simulation.model_mut())?.remove(number).map_err(words)?;
            self.balls.remove(number);
        }
        Ok(())
    }

    /// Removes the pulls and the ball of a page.
    pub fn leave(&mut self, simulation: &mut Simulation, viewer: ViewerId) -> Result<(), String> {
        while let Some(id) = self.pulls.iter().find(|pull| pull.viewer == viewer).map(|pull| pull.id) {
            self.release(simulation, viewer, id)?;
        }
        self.take_ball(simulation, viewer)
    }

    /// Moves balls by the next step.
    pub fn advance(&mut self, simulation: &mut Simulation) -> Result<(), String> {
        if self.balls.is_empty() {
            return Ok(());
        }
        let (time, dt) = (simulation.time(), simulation.dt());
        let mut forces = simulation.forces_mut_of::<Obstacles>();
        let obstacles = forces.last_mut().ok_or(NOT_ATTACHED)?;
        for (number, ball) in self.balls.iter_mut().enumerate() {
            ball.advance(time, dt)?;
            obstacles.replace(number, ball.obstacle(self.ball_stiffness)).map_err(words)?;
        }
        Ok(())
    }

    /// Pins vertices at their current positions, in addition to the vertices that the scene fixes.
    pub fn pin(&mut self, model: &mut Model, vertices: &[u32], state: &State) -> Result<(), String> {
        let before: HashSet<u32> = self.pins.vertices.iter().copied().collect();
        for &vertex in vertices {
            if !before.contains(&vertex) {
                self.pins.vertices.push(vertex);
                self.pins.offsets.push(Vec3::from_slice(&state.q[3 * vertex as usize..]));
            }
        }
        self.set_pins(model)
    }

    /// Releases pinned vertices that `is_meant` accepts.
    pub fn unpin(&mut self, model: &mut Model, is_meant: impl Fn(u32) -> bool) -> Result<(), String> {
        let kept: Vec<(u32, Vec3)> = self
            .pins
            .vertices
            .iter()
            .copied()
            .zip(self.pins.offsets.iter().copied())
            .filter(|pin| !is_meant(pin.0))
            .collect();
        (self.pins.vertices, self.pins.offsets) = kept.into_iter().unzip();
        self.set_pins(model)
    }

    /// Moves all pins to the positions of their vertices in another state.
    pub fn repin(&mut self, model: &mut Model, state: &State) -> Result<(), String> {
        self.pins.offsets = self.pins.offsets_at(state);
        self.set_pins(model)
    }

    fn set_pins(&mut self, model: &mut Model) -> Result<(), String> {
        if let Some(id) = self.pins.id.take() {
            model.remove_fixed(id).map_err(words)?;
        }
        self.pins.id = self.pins.fix(model)?;
        Ok(())
    }

    /// Returns the pinned vertices.
    pub fn pinned(&self) -> Arc<[u32]> {
        self.pins.vertices.as_slice().into()
    }

    /// Returns the points, targets and forces of all pulls in a state.
    pub fn pulls(&self, rest: &[Vec3], state: &State) -> Vec<PullView> {
        let place = |&(vertex, weight): &(u32, f64)| {
            weight * (rest[vertex as usize] + Vec3::from_slice(&state.q[3 * vertex as usize..]))
        };
        let shown = |pull: &Pull| {
            let point: Vec3 = pull.handle.point.iter().map(place).sum();
            let target = pull.handle.target;
            PullView { viewer: pull.viewer, point, target, force: pull.handle.stiffness * (target - point) }
        };
        self.pulls.iter().map(shown).collect()
    }

    /// Returns the balls with their current positions.
    pub fn balls(&self) -> Vec<BallView> {
        let shown = |ball: &Ball| BallView { viewer: ball.viewer, center: ball.center, radius: ball.radius };
        self.balls.iter().map(shown).collect()
    }
}

impl Pins {
    /// Fixes the pinned vertices of a model. Returns `None` if no vertex is pinned.
    fn fix(&self, model: &mut Model) -> Result<Option<FixedId>, String> {
        if self.vertices.is_empty() {
            return Ok(None);
        }
        let fixed = Fixed { offsets: self.offsets.clone(), ..Fixed::new(self.vertices.clone()) };
        model.fix(fixed).map(Some).map_err(words)
    }

    /// Returns the displacements of the pinned vertices in a state.
    fn offsets_at(&self, state: &State) -> Vec<Vec3> {
        self.vertices.iter().map(|&vertex| Vec3::from_slice(&state.q[3 * vertex as usize..])).collect()
    }
}

impl Ball {
    fn advance(&mut self, time: f64, dt: f64) -> Result<(), String> {
        let stride = (self.target - self.center).clamp_length_max(BALL_STRIDE * self.full_radius);
        self.center += stride;
        self.radius = (self.radius + BALL_GROWTH * self.full_radius).min(self.full_radius);
        // The motion extends beyond the end of the step, so that the ball has the right velocity there.
        let places = [(time, -stride), (time + 2.0 * dt, stride)];
        self.motion = Keyframes::translations(places).map_err(words)?.into();
        Ok(())
    }

    fn obstacle(&self, stiffness: f64) -> Obstacle {
        let ball = Obstacle::ball(self.center, self.radius, stiffness);
        Obstacle { motion: self.motion.clone(), friction: BALL_FRICTION, ..ball }
    }
}

const NOT_ATTACHED: &str = "the model has no forces for pulling and pushing";

fn handles(model: &mut Model) -> Result<&mut Handles, String> {
    model.forces_mut_of::<Handles>().last().ok_or_else(|| NOT_ATTACHED.into())
}

fn obstacles(model: &mut Model) -> Result<&mut Obstacles, String> {
    model.forces_mut_of::<Obstacles>().last().ok_or_else(|| NOT_ATTACHED.into())
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}
