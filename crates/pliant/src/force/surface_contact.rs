//! Contact of surfaces with each other, with themselves and with colliders, with friction.

use std::sync::Arc;

use super::{Conditions, Definiteness, Force, check_length};
use crate::contact::{ColliderTime, ContactEnergy, Contacts, FrictionContacts, Islands, PointContact, StepLimit};
use crate::math::Vec3;
use crate::motion::NotFinite;
use crate::sparse::{BlockMatrix, BlockPattern, LowRank};

/// Contact: the [`ContactEnergy`] of surfaces as a force on nodes, with the potential of their friction.
///
/// Its stiffness couples other nodes in every step, so that it is not in the pattern of the model. If colliders move,
/// it has one history variable: the time \[s\] of the motion that they have reached, which is that of the state unless
/// bodies were in their way.
#[derive(Debug, Clone)]
pub struct SurfaceContact {
    energy: ContactEnergy,
    islands: Islands,
    node_count: usize,
}

/// Contact forces, gaps and statistics at a state.
#[derive(Debug, Clone, Default)]
pub struct ContactReport {
    /// Force on each body or collider by each other that it meets \[N\], ascending by their numbers. Each pair is there
    /// once; the force on the second is opposite.
    pub forces: Vec<([usize; 2], Vec3)>,
    /// Number of contacts.
    pub count: usize,
    /// Smallest gap between surfaces \[m\]; infinite if none is within range.
    pub min_gap: f64,
    /// Power dissipated by friction \[W\].
    pub friction_power: f64,
    /// Contact pressure at each vertex of the surfaces \[Pa\].
    pub pressure: Vec<f64>,
    /// Contact force per area at each vertex of the surfaces, with friction \[Pa\].
    pub traction: Vec<Vec3>,
    /// Gap at each vertex of the surfaces \[m\]; infinite out of range.
    pub gap: Vec<f64>,
}

/// Time \[s\] over which velocities of colliders are differences outside of a step.
const INSTANT: f64 = 1e-6;

impl SurfaceContact {
    /// Creates the force on `node_count` nodes. `islands` are nodes that elements couple.
    pub fn new(energy: ContactEnergy, islands: Islands, node_count: usize) -> Self {
        Self { energy, islands, node_count }
    }

    /// Returns the energy.
    pub fn contact_energy(&self) -> &ContactEnergy {
        &self.energy
    }

    /// Returns the time of the motion that colliders had reached at the start of the step.
    fn clock(conditions: &Conditions<'_>) -> f64 {
        conditions.history.first().copied().unwrap_or(conditions.time)
    }

    /// Returns where colliders are.
    fn place(conditions: &Conditions<'_>) -> ColliderTime {
        ColliderTime::new(Self::clock(conditions), conditions.time, conditions.progress)
    }

    /// Returns the contacts at displacements `u`.
    ///
    /// # Panics
    /// If there are not three displacements per node.
    pub fn contacts(&self, u: &[f64], conditions: &Conditions<'_>) -> Arc<Contacts> {
        check_length(u, self.node_count);
        self.energy.contacts(u, Self::place(conditions))
    }

    /// Returns the friction at displacements `u`, or `None` without motion or friction.
    fn friction(&self, u: &[f64], conditions: &Conditions<'_>) -> Option<FrictionContacts> {
        let motion = conditions.motion.as_ref().filter(|_| self.energy.has_friction())?;
        let lagged = self.energy.contacts(motion.lagged, Self::place(conditions));
        let start = Self::clock(conditions);
        let (clock, dt) = if conditions.dt == 0.0 {
            // Outside of a step, colliders have the velocity of a central difference.
            ([start - 0.5 * INSTANT, start + 0.5 * INSTANT], INSTANT)
        } else if conditions.progress > 0.0 {
            ([start, conditions.time], conditions.dt / conditions.progress)
        } else {
            ([start; 2], conditions.dt)
        };
        Some(self.energy.friction_contacts(&lagged, u, motion, clock, dt))
    }

    /// Returns the contact force on each body and collider \[N\], without friction unless the conditions have motion.
    pub fn forces_on_bodies(&self, u: &[f64], conditions: &Conditions<'_>) -> Vec<Vec3> {
        let mut sums = vec![Vec3::ZERO; self.energy.body_count()];
        for ([a, b], force) in self.report(u, conditions).forces {
            sums[a] += force;
            sums[b] -= force;
        }
        sums
    }

    /// Returns contact forces, gaps and statistics at displacements `u`, with friction if the conditions have motion.
    pub fn report(&self, u: &[f64], conditions: &Conditions<'_>) -> ContactReport {
        let (contacts, surface) = (self.contacts(u, conditions), self.energy.surface());
        let count = surface.vertex_count();
        let mut report = ContactReport {
            count: contacts.len(),
            min_gap: contacts.min_gap(),
            traction: vec![Vec3::ZERO; count],
            pressure: vec![0.0; count],
            gap: vec![f64::INFINITY; count],
            ..ContactReport::default()
        };
        let mut forces = std::collections::BTreeMap::new();
        for active in &contacts.pairs {
            let [a, b] = self.energy.bodies(&active.pair);
            for (&vertex, gradient) in active.pair.vertices.iter().zip(active.potential.gradient()) {
                report.traction[vertex as usize] -= gradient;
                report.pressure[vertex as usize] += gradient.length();
                let own = &mut report.gap[vertex as usize];
                if gradient != Vec3::ZERO {
                    *own = own.min(active.gap());
                }
                add_force(&mut forces, [a, b], surface.locate(vertex).0, -gradient);
            }
        }
        for active in &contacts.shapes {
            let vertex = active.vertex as usize;
            report.traction[vertex] -= active.gradient();
            report.pressure[vertex] += active.normal_force();
            report.gap[vertex] = report.gap[vertex].min(active.gap);
            let body = surface.locate(active.vertex).0;
            add_force(&mut forces, [body, active.collider], body, -active.gradient());
        }
        if let Some(friction) = self.friction(u, conditions) {
            report.friction_power = friction.power();
            friction.gradients(|pair, vertex, gradient| {
                report.traction[vertex as usize] -= gradient;
                add_force(&mut forces, pair, surface.locate(vertex).0, -gradient);
            });
        }
        for vertex in 0..count {
            let area = surface.area_of(vertex as u32);
            if area > 0.0 && area.is_finite() {
                report.traction[vertex] /= area;
                report.pressure[vertex] /= area;
            }
        }
        report.forces = forces.into_iter().collect();
        report
    }

    /// Returns each contact at displacements `u` as a point with its force, with friction if the conditions have
    /// motion.
    pub fn point_contacts(&self, u: &[f64], conditions: &Conditions<'_>) -> Vec<PointContact> {
        self.energy.point_contacts(&self.contacts(u, conditions), self.friction(u, conditions).as_ref())
    }
}

impl SurfaceContact {
    /// Returns the work \[J\] of moving colliders while they move between two times \[s\], with the forces at
    /// displacements `u`, and with friction if the conditions have motion.
    pub(crate) fn collider_work(&self, u: &[f64], conditions: &Conditions<'_>, clock: [f64; 2]) -> f64 {
        if !self.energy.has_moving_colliders() {
            return 0.0;
        }
        let friction = self.friction(u, &Conditions { dt: 0.0, ..*conditions });
        self.energy.collider_work(&self.contacts(u, conditions), friction.as_ref(), clock)
    }

    /// Returns the time of the motion that colliders have reached at a state \[s\].
    pub(crate) fn clock_at(conditions: &Conditions<'_>) -> f64 {
        Self::clock(conditions)
    }
}

/// Adds a force on a vertex of one of two bodies to that on the first of them, if they are different.
fn add_force(forces: &mut std::collections::BTreeMap<[usize; 2], Vec3>, [a, b]: [usize; 2], of: usize, force: Vec3) {
    let first = a.min(b);
    if a != b && of == first {
        *forces.entry([first, a.max(b)]).or_insert(Vec3::ZERO) += force;
    }
}

impl Force for SurfaceContact {
    fn node_count(&self) -> usize {
        self.node_count
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let surface = self.energy.surface();
        for vertex in 0..surface.vertex_count() as u32 {
            surface.nodes(vertex).for_each(|(node, _)| add(&[node]));
        }
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        self.islands.join_pattern(pattern);
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.energy.check_time(time)
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        let energy = self.contacts(u, conditions).energy();
        energy + self.friction(u, conditions).map_or(0.0, |friction| friction.potential())
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        self.energy.add_gradient(&self.contacts(u, conditions), gradient);
        if let Some(friction) = self.friction(u, conditions) {
            friction.add_gradient(&self.energy, gradient);
        }
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        _: Definiteness,
        gradient: &mut [f64],
        _: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
    }

    fn add_varying_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        stiffness: &mut LowRank,
    ) {
        self.energy.add_stiffness(&self.contacts(u, conditions), definiteness, stiffness);
        if let Some(friction) = self.friction(u, conditions) {
            friction.add_stiffness(&self.energy, stiffness);
        }
    }

    fn is_lagged(&self) -> bool {
        self.energy.has_friction()
    }

    fn is_moved(&self) -> bool {
        self.energy.has_moving_colliders()
    }

    fn add_gradient_of_motion(&self, u: &[f64], conditions: &Conditions<'_>, end_progress: f64, gradient: &mut [f64]) {
        let remaining = end_progress - conditions.progress;
        let clock = [Self::clock(conditions), conditions.time];
        self.energy.add_gradient_of_colliders(&self.contacts(u, conditions), clock, remaining, gradient);
    }

    fn limits_steps(&self) -> bool {
        true
    }

    fn limit_step(
        &self,
        u: &[f64],
        direction: &mut [f64],
        conditions: &Conditions<'_>,
        end_progress: f64,
        by_islands: bool,
    ) -> StepLimit {
        let from = Self::place(conditions);
        if by_islands {
            return self.energy.limit_islands(u, direction, from, &self.islands);
        }
        let to = Self::place(&Conditions { progress: end_progress, ..*conditions });
        self.energy.step_limit(u, direction, [from, to])
    }

    fn history_len(&self) -> usize {
        usize::from(self.energy.has_moving_colliders())
    }

    fn update_history(&self, _: &[f64], conditions: &Conditions<'_>, history: &mut [f64]) {
        // Colliders that bodies block stay where they were.
        if let Some(clock) = history.first_mut()
            && conditions.progress == 1.0
        {
            *clock = conditions.time;
        }
    }
}
