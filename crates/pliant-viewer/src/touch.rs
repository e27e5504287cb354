//! What people do to bodies by hand: pull, pin, push and throw.

use std::collections::HashSet;
use std::sync::Arc;

use pliant::force::{Handle, Handles, Obstacle, Obstacles};
use pliant::math::Vec3;
use pliant::model::{Hold, HoldId, Model};
use pliant::motion::{Keyframes, Motion};
use pliant::simulation::Simulation;
use pliant::system::State;

use crate::moment::{BallShown, PullShown};
use crate::session::ViewerId;

/// The most that may be pulled and pushed at once.
const MOST: usize = 64;

/// How far a ball moves in a step at most, as a part of its radius: what jumps into a body would tear it.
const BALL_STRIDE: f64 = 0.1;

/// How much of its radius a ball grows in a step.
const BALL_GROWTH: f64 = 0.1;

/// The friction of balls.
const BALL_FRICTION: f64 = 0.4;

/// What people are doing. Forces for it are the last of their kind in the model.
#[derive(Debug, Default)]
pub struct Touch {
    pulls: Vec<Pull>,
    balls: Vec<Ball>,
    pins: Pins,
    /// For pulls, N s/m per square root of their stiffness: so that what is pulled does not swing for long.
    damping: f64,
    /// Of balls, in N/m for each vertex.
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
    centre: Vec3,
    /// Friction drags along what it touches.
    motion: Motion,
    radius: f64,
    /// Where it goes, and how large it becomes.
    target: Vec3,
    full_radius: f64,
}

#[derive(Debug, Default)]
struct Pins {
    vertices: Vec<u32>,
    /// How far from rest each is held.
    offsets: Vec<Vec3>,
    id: Option<HoldId>,
}

impl Touch {
    /// Nothing yet.
    pub fn new(damping: f64, ball_stiffness: f64) -> Self {
        Self { damping, ball_stiffness, ..Self::default() }
    }

    /// Give a model the forces that it takes, with all that is being done.
    pub fn attach(&mut self, simulation: &mut Simulation) -> Result<(), String> {
        self.pins.id = self.add_to(simulation)?;
        Ok(())
    }

    /// Gives another simulation the same forces and pins. Returns the pins.
    pub fn add_to(&self, simulation: &mut Simulation) -> Result<Option<HoldId>, String> {
        let model = simulation.model_mut();
        let rest = model.rest().to_vec();
        let handles = Handles::new(&rest, self.pulls.iter().map(|pull| pull.handle.clone()));
        let balls = self.balls.iter().map(|ball| ball.obstacle(self.ball_stiffness));
        let obstacles = Obstacles::for_vertices(&rest, model.surface_vertices(), balls);
        model.add_force(handles.map_err(words)?).map_err(words)?;
        model.add_force(obstacles.map_err(words)?).map_err(words)?;
        self.pins.hold(model)
    }

    /// Lets a simulation that was given the same forces begin at a state, with pins where vertices are then.
    pub fn begin(&self, simulation: &mut Simulation, state: &State) -> Result<(), String> {
        if !self.pins.vertices.is_empty() {
            let model = simulation.model_mut();
            // Pins were added after the holds of the scene.
            let id = *model.hold_ids().last().ok_or(NOT_ATTACHED)?;
            model.move_hold(id, self.pins.offsets_at(state)).map_err(words)?;
        }
        simulation.begin_at(State { a: None, ..state.clone() });
        Ok(())
    }

    /// Pull at a point.
    pub fn grab(
        &mut self,
        simulation: &mut Simulation,
        (viewer, id): (ViewerId, u32),
        point: Vec<(u32, f64)>,
        target: Vec3,
        stiffness: f64,
    ) -> Result<(), String> {
        self.release(simulation, viewer, id)?;
        if self.pulls.len() == MOST {
            return Err(format!("{MOST} points are pulled at already"));
        }
        let handle = Handle { damping: self.damping * stiffness.sqrt(), ..Handle::at_point(point, stiffness, target) };
        handles(simulation.model_mut())?.push(handle.clone()).map_err(words)?;
        self.pulls.push(Pull { viewer, id, handle });
        Ok(())
    }

    /// Move the target of a pull, and perhaps make it stiffer. One that has been let go is no error: messages cross.
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

    /// Let go.
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

    /// Put a ball somewhere, which goes there from where it is.
    pub fn put_ball(
        &mut self,
        simulation: &mut Simulation,
        viewer: ViewerId,
        target: Vec3,
        full_radius: f64,
    ) -> Result<(), String> {
        if !(full_radius > 0.0 && full_radius.is_finite() && target.is_finite()) {
            return Err(format!(
                "a ball of radius {full_radius} m at {target}, expected a positive radius and a place"
            ));
        }
        if let Some(ball) = self.balls.iter_mut().find(|ball| ball.viewer == viewer) {
            (ball.target, ball.full_radius) = (target, full_radius);
            return Ok(());
        }
        if self.balls.len() == MOST {
            return Err(format!("there are {MOST} balls already"));
        }
        let radius = BALL_GROWTH * full_radius;
        let ball = Ball { viewer, centre: target, motion: Motion::Still, radius, target, full_radius };
        obstacles(simulation.model_mut())?.push(ball.obstacle(self.ball_stiffness)).map_err(words)?;
        self.balls.push(ball);
        Ok(())
    }

    /// Take the ball of a viewer away.
    pub fn take_ball(&mut self, simulation: &mut Simulation, viewer: ViewerId) -> Result<(), String> {
        if let Some(number) = self.balls.iter().position(|ball| ball.viewer == viewer) {
            obstacles(simulation.model_mut())?.remove(number).map_err(words)?;
            self.balls.remove(number);
        }
        Ok(())
    }

    /// Let go of all that a viewer has in hand.
    pub fn leave(&mut self, simulation: &mut Simulation, viewer: ViewerId) -> Result<(), String> {
        while let Some(id) = self.pulls.iter().find(|pull| pull.viewer == viewer).map(|pull| pull.id) {
            self.release(simulation, viewer, id)?;
        }
        self.take_ball(simulation, viewer)
    }

    /// Move balls by the step that comes next.
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

    /// Hold these vertices where they are; those that the scene holds stay as they are.
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

    /// Let pinned vertices go.
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

    /// Hold pinned vertices where they are in another state.
    pub fn repin(&mut self, model: &mut Model, state: &State) -> Result<(), String> {
        self.pins.offsets = self.pins.offsets_at(state);
        self.set_pins(model)
    }

    fn set_pins(&mut self, model: &mut Model) -> Result<(), String> {
        if let Some(id) = self.pins.id.take() {
            model.remove_hold(id).map_err(words)?;
        }
        self.pins.id = self.pins.hold(model)?;
        Ok(())
    }

    /// The vertices that are pinned.
    pub fn pinned(&self) -> Arc<[u32]> {
        self.pins.vertices.as_slice().into()
    }

    /// Where it is pulled in a state, and how.
    pub fn pulls(&self, rest: &[Vec3], state: &State) -> Vec<PullShown> {
        let place = |&(vertex, weight): &(u32, f64)| {
            weight * (rest[vertex as usize] + Vec3::from_slice(&state.q[3 * vertex as usize..]))
        };
        let shown = |pull: &Pull| {
            let point: Vec3 = pull.handle.point.iter().map(place).sum();
            let target = pull.handle.target;
            PullShown { viewer: pull.viewer, point, target, force: pull.handle.stiffness * (target - point) }
        };
        self.pulls.iter().map(shown).collect()
    }

    /// Where balls are.
    pub fn balls(&self) -> Vec<BallShown> {
        let shown = |ball: &Ball| BallShown { viewer: ball.viewer, centre: ball.centre, radius: ball.radius };
        self.balls.iter().map(shown).collect()
    }
}

impl Pins {
    /// Fixes the pinned vertices of a model. Returns `None` if there are none.
    fn hold(&self, model: &mut Model) -> Result<Option<HoldId>, String> {
        if self.vertices.is_empty() {
            return Ok(None);
        }
        let hold = Hold { offsets: self.offsets.clone(), ..Hold::fixed(self.vertices.clone()) };
        model.hold(hold).map(Some).map_err(words)
    }

    /// Returns the displacements of the pinned vertices in a state.
    fn offsets_at(&self, state: &State) -> Vec<Vec3> {
        self.vertices.iter().map(|&vertex| Vec3::from_slice(&state.q[3 * vertex as usize..])).collect()
    }
}

impl Ball {
    fn advance(&mut self, time: f64, dt: f64) -> Result<(), String> {
        let stride = (self.target - self.centre).clamp_length_max(BALL_STRIDE * self.full_radius);
        self.centre += stride;
        self.radius = (self.radius + BALL_GROWTH * self.full_radius).min(self.full_radius);
        // Through the centre at the end of the step, and on: there it has the velocity that forces ask for.
        let places = [(time, -stride), (time + 2.0 * dt, stride)];
        self.motion = Keyframes::translations(places).map_err(words)?.into();
        Ok(())
    }

    fn obstacle(&self, stiffness: f64) -> Obstacle {
        let ball = Obstacle::ball(self.centre, self.radius, stiffness);
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
