//! Springs from points of the body to points that the user moves, such as a mouse cursor or a hand.

use std::sync::Arc;

use thiserror::Error;

use super::{Conditions, Definiteness, Force, at, check_bound, check_length};
use crate::math::{Vec3, par_sum};
use crate::motion::{Motion, NotFinite};
use crate::sparse::{BlockMatrix, BlockPattern};

/// Tolerance for the sum of the weights of a point, which should be one.
const WEIGHT_SUM: f64 = 1e-6;

/// Zero-length spring from a point of the body to a target, which may move.
#[derive(Debug, Clone)]
pub struct Handle {
    /// Vertices `i` with weights `wᵢ` that sum to one. The point is at `Σ wᵢxᵢ`.
    pub point: Vec<(u32, f64)>,
    /// Stiffness `k` \[N/m\].
    pub stiffness: f64,
    /// Damping `c` \[N·s/m\].
    pub damping: f64,
    /// Position of the target without motion \[m\].
    pub target: Vec3,
    /// Motion of the target.
    pub motion: Motion,
}

impl Handle {
    /// Creates an undamped handle from a vertex to a target at rest.
    pub fn new(vertex: u32, stiffness: f64, target: Vec3) -> Self {
        Self::at_point(vec![(vertex, 1.0)], stiffness, target)
    }

    /// Creates an undamped handle from a point between vertices, given by weights that sum to one.
    pub fn at_point(point: Vec<(u32, f64)>, stiffness: f64, target: Vec3) -> Self {
        Self { point, stiffness, damping: 0.0, target, motion: Motion::Still }
    }

    fn check_time(&self, number: usize, time: f64) -> Result<(), NotFinite> {
        let displacement = self.motion.displacement(time, self.target);
        NotFinite::check(displacement, time, || format!("the motion of handle {number}"))?;
        if self.damping == 0.0 {
            return Ok(());
        }
        let velocity = self.motion.velocity(time, self.target);
        NotFinite::check(velocity, time, || format!("the velocity of handle {number}"))
    }
}

/// Error in the definition of a handle.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message says what each part is")]
pub enum HandlesError {
    #[error("handle {handle} has no vertices")]
    NoVertex { handle: usize },
    #[error("handle {handle} is at vertex {vertex}, but there are {vertex_count} vertices")]
    Vertex { handle: usize, vertex: u32, vertex_count: usize },
    #[error("handle {handle} lists vertex {vertex} twice")]
    Repeated { handle: usize, vertex: u32 },
    #[error("the weights of handle {handle} sum to {sum}, expected 1")]
    Weights { handle: usize, sum: f64 },
    #[error("the {what} of handle {handle} is {value}, expected a finite number that is not negative")]
    Coefficient { what: &'static str, handle: usize, value: f64 },
    #[error("the target of handle {handle} is at {target}, expected finite numbers")]
    Target { handle: usize, target: Vec3 },
    #[error(transparent)]
    Motion(#[from] NotFinite),
    #[error(
        "handle {handle} couples vertices {} and {}, for which there is no block in the matrices that the handles are \
         bound to; bind them to a pattern with this handle",
        vertices[0],
        vertices[1]
    )]
    Pattern { handle: usize, vertices: [u32; 2] },
    #[error("handle {handle} does not exist; the number of handles is {count}")]
    Missing { handle: usize, count: usize },
}

/// Springs (handles) from points of the body, at `x = Σ wᵢxᵢ`, to targets `y(t)`. With `z = x − y`, each has
///
/// - `V = k/2 |z|²`;
/// - the force `wᵢ k z` at vertex `i`, and the stiffness `wᵢwⱼ k I`, which is positive semi-definite;
/// - damping relative to the target, `wᵢ c (ẋ − ẏ)`, with the matrix `wᵢwⱼ c I`.
///
/// With a load factor `s`, the target moves from the rest position of the point: `s y + (1 − s) Σ wᵢXᵢ`. The springs
/// keep their stiffness.
///
/// Handles can be added, changed and removed at any time. A handle at one vertex needs only a diagonal block, which
/// every matrix has. Other handles need matrices that couple their vertices, as those of a body do for the vertices of
/// an element.
#[derive(Debug, Clone)]
pub struct Handles {
    rest: Arc<[Vec3]>,
    list: Vec<Handle>,
    pattern: Option<Arc<BlockPattern>>,
    /// Slots of the vertex pairs `(0,0), (0,1), …, (1,1), …` of each handle; empty until bound.
    slots: Vec<Vec<usize>>,
}

impl Handles {
    /// Creates handles on vertices with the rest positions `rest`. The list may be empty.
    pub fn new(rest: impl Into<Arc<[Vec3]>>, list: impl IntoIterator<Item = Handle>) -> Result<Self, HandlesError> {
        let mut handles = Self { rest: rest.into(), list: Vec::new(), pattern: None, slots: Vec::new() };
        for handle in list {
            handles.push(handle)?;
        }
        Ok(handles)
    }

    /// Returns the handles.
    pub fn list(&self) -> &[Handle] {
        &self.list
    }

    /// Adds a handle and returns its index.
    pub fn push(&mut self, handle: Handle) -> Result<usize, HandlesError> {
        let number = self.list.len();
        let slots = self.checked_slots(number, &handle)?;
        self.list.push(handle);
        self.slots.push(slots);
        Ok(number)
    }

    /// Removes a handle. The indices of later handles decrease by one.
    pub fn remove(&mut self, handle: usize) -> Result<Handle, HandlesError> {
        self.check_number(handle)?;
        self.slots.remove(handle);
        Ok(self.list.remove(handle))
    }

    /// Removes all handles.
    pub fn clear(&mut self) {
        self.list.clear();
        self.slots.clear();
    }

    /// Replaces a handle. If the new one is invalid, the old one stays.
    pub fn replace(&mut self, handle: usize, with: Handle) -> Result<Handle, HandlesError> {
        self.check_number(handle)?;
        self.slots[handle] = self.checked_slots(handle, &with)?;
        Ok(std::mem::replace(&mut self.list[handle], with))
    }

    /// Sets the target of a handle, without its motion. If the position is invalid, the old one stays.
    pub fn set_target(&mut self, handle: usize, target: Vec3) -> Result<(), HandlesError> {
        self.check_number(handle)?;
        if !target.is_finite() {
            return Err(HandlesError::Target { handle, target });
        }
        self.list[handle].target = target;
        Ok(())
    }

    /// Returns the target of a handle \[m\].
    ///
    /// # Panics
    /// If there is no such handle.
    pub fn target(&self, handle: usize, conditions: &Conditions<'_>) -> Vec3 {
        let handle = &self.list[handle];
        self.rest_point(handle) - self.gap(handle, conditions)
    }

    fn check_number(&self, handle: usize) -> Result<(), HandlesError> {
        let count = self.list.len();
        if handle < count { Ok(()) } else { Err(HandlesError::Missing { handle, count }) }
    }

    fn checked_slots(&self, number: usize, handle: &Handle) -> Result<Vec<usize>, HandlesError> {
        self.check(number, handle)?;
        match &self.pattern {
            None => Ok(Vec::new()),
            Some(pattern) => slots_of(pattern, handle)
                .collect::<Result<_, _>>()
                .map_err(|vertices| HandlesError::Pattern { handle: number, vertices }),
        }
    }

    fn check(&self, number: usize, handle: &Handle) -> Result<(), HandlesError> {
        let Handle { point, stiffness, damping, target, motion: _ } = handle;
        if point.is_empty() {
            return Err(HandlesError::NoVertex { handle: number });
        }
        for (n, &(vertex, _)) in point.iter().enumerate() {
            if vertex as usize >= self.rest.len() {
                return Err(HandlesError::Vertex { handle: number, vertex, vertex_count: self.rest.len() });
            }
            if point[..n].iter().any(|&(other, _)| other == vertex) {
                return Err(HandlesError::Repeated { handle: number, vertex });
            }
        }
        let sum: f64 = point.iter().map(|(_, weight)| weight).sum();
        if sum.is_nan() || (sum - 1.0).abs() > WEIGHT_SUM {
            return Err(HandlesError::Weights { handle: number, sum });
        }
        for (what, value) in [("stiffness", *stiffness), ("damping", *damping)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(HandlesError::Coefficient { what, handle: number, value });
            }
        }
        if !target.is_finite() {
            return Err(HandlesError::Target { handle: number, target: *target });
        }
        Ok(handle.check_time(number, 0.0)?)
    }

    /// Returns the rest position of the point, `Σ wᵢXᵢ`.
    fn rest_point(&self, handle: &Handle) -> Vec3 {
        handle.point.iter().map(|&(vertex, weight)| weight * self.rest[vertex as usize]).sum()
    }

    /// Returns `z` without displacements.
    fn gap(&self, handle: &Handle, conditions: &Conditions<'_>) -> Vec3 {
        let Handle { target, motion, .. } = handle;
        let gap = (self.rest_point(handle) - *target) - motion.displacement(conditions.time, *target);
        conditions.load_factor * gap
    }

    /// Returns `z`. Displacements are added last, so that small ones keep their precision far from the origin.
    fn stretch(&self, handle: &Handle, u: &[f64], conditions: &Conditions<'_>) -> Vec3 {
        self.gap(handle, conditions) + weighted(handle, u)
    }

    fn add_matrices(&self, matrix: &mut BlockMatrix, coefficient: impl Fn(&Handle) -> f64) {
        check_bound(self.pattern.as_ref(), matrix);
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for (handle, slots) in self.list.iter().zip(&self.slots) {
            let coefficient = coefficient(handle);
            for ((a, b), &slot) in pairs(&handle.point).zip(slots) {
                for diagonal in [0, 4, 8] {
                    blocks[slot][diagonal] += coefficient * (a.1 * b.1);
                }
            }
        }
    }
}

/// Returns `Σ wᵢaᵢ`.
fn weighted(handle: &Handle, a: &[f64]) -> Vec3 {
    handle.point.iter().map(|&(vertex, weight)| weight * at(a, vertex)).sum()
}

/// Adds `f` at the point of a handle to the forces on its vertices.
fn add_at_point(handle: &Handle, f: Vec3, force: &mut [f64]) {
    for &(vertex, weight) in &handle.point {
        let sum = at(force, vertex) + weight * f;
        sum.write_to_slice(&mut force[3 * vertex as usize..]);
    }
}

/// Returns the pairs `(0,0), (0,1), …, (1,1), …` of a list.
fn pairs<T: Copy>(list: &[T]) -> impl Iterator<Item = (T, T)> {
    list.iter().enumerate().flat_map(|(n, &a)| list[n..].iter().map(move |&b| (a, b)))
}

/// Returns the slot of each vertex pair of a handle, or the pair as an error if the pattern lacks it.
fn slots_of(pattern: &BlockPattern, handle: &Handle) -> impl Iterator<Item = Result<usize, [u32; 2]>> {
    pairs(&handle.point).map(|((a, _), (b, _))| pattern.slot(a, b).ok_or([a, b]))
}

impl Force for Handles {
    fn node_count(&self) -> usize {
        self.rest.len()
    }

    fn cliques(&self, add: &mut dyn FnMut(&[u32])) {
        let mut clique = Vec::new();
        for handle in &self.list {
            clique.clear();
            clique.extend(handle.point.iter().map(|(vertex, _)| vertex));
            add(&clique);
        }
    }

    fn bind(&mut self, pattern: &Arc<BlockPattern>) {
        assert_eq!(pattern.node_count(), self.rest.len(), "a pattern of the same vertices");
        for (handle, slots) in self.list.iter().zip(&mut self.slots) {
            let found = slots_of(pattern, handle).map(|slot| slot.expect("a pattern with all pairs of the handles"));
            *slots = found.collect();
        }
        self.pattern = Some(pattern.clone());
    }

    fn check_time(&self, time: f64) -> Result<(), NotFinite> {
        self.list.iter().enumerate().try_for_each(|(number, handle)| handle.check_time(number, time))
    }

    fn energy(&self, u: &[f64], conditions: &Conditions<'_>) -> f64 {
        check_length(u, self.rest.len());
        par_sum(0.0, self.list.len(), |n| {
            let handle = &self.list[n];
            0.5 * handle.stiffness * self.stretch(handle, u, conditions).length_squared()
        })
    }

    fn add_gradient(&self, u: &[f64], conditions: &Conditions<'_>, gradient: &mut [f64]) {
        check_length(u, self.rest.len());
        check_length(gradient, self.rest.len());
        for handle in &self.list {
            add_at_point(handle, handle.stiffness * self.stretch(handle, u, conditions), gradient);
        }
    }

    fn add_gradient_and_stiffness(
        &self,
        u: &[f64],
        conditions: &Conditions<'_>,
        _definiteness: Definiteness,
        gradient: &mut [f64],
        stiffness: &mut BlockMatrix,
    ) {
        self.add_gradient(u, conditions, gradient);
        self.add_matrices(stiffness, |handle| handle.stiffness);
    }

    fn has_damping(&self) -> bool {
        self.list.iter().any(|handle| handle.damping > 0.0)
    }

    fn add_dissipation_gradient(&self, u: &[f64], conditions: &Conditions<'_>, v: &[f64], gradient: &mut [f64]) {
        check_length(u, self.rest.len());
        check_length(v, self.rest.len());
        check_length(gradient, self.rest.len());
        for handle in self.list.iter().filter(|handle| handle.damping > 0.0) {
            let velocity = conditions.load_factor * handle.motion.velocity(conditions.time, handle.target);
            add_at_point(handle, handle.damping * (weighted(handle, v) - velocity), gradient);
        }
    }

    fn add_damping(&self, _u: &[f64], _conditions: &Conditions<'_>, _v: &[f64], damping: &mut BlockMatrix) {
        self.add_matrices(damping, |handle| handle.damping);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bind_all;
    use super::super::testing::*;
    use super::*;
    use crate::mesh::Cells;
    use crate::motion::Keyframes;

    const AT: Conditions<'static> = Conditions::at(0.5);

    fn moving(velocity: Vec3) -> Motion {
        Keyframes::translations([(0.0, Vec3::ZERO), (10.0, 10.0 * velocity)]).unwrap().into()
    }

    /// Returns two handles at vertices and one in an element of a small mesh.
    fn three_handles() -> (Vec<Vec3>, Handles) {
        let mesh = small_mesh(Cells::Tet6);
        let weights = [0.1, 0.2, 0.3, 0.4];
        let inside = mesh.element(3).iter().copied().zip(weights).collect();
        let list = [
            Handle { damping: 3.0, ..Handle::new(0, 100.0, Vec3::new(0.5, -1.0, 2.0)) },
            Handle { motion: moving(Vec3::Y), ..Handle::new(5, 200.0, Vec3::Z) },
            Handle {
                damping: 7.0,
                motion: moving(Vec3::new(1.0, 2.0, 3.0)),
                ..Handle::at_point(inside, 300.0, Vec3::X)
            },
        ];
        let rest = mesh.vertices().to_vec();
        let handles = Handles::new(&rest[..], list).unwrap();
        (rest, handles)
    }

    #[test]
    fn force_and_stiffness_are_derivatives_of_the_energy() {
        let (rest, mut handles) = three_handles();
        for (size, load_factor) in [(0.01, 1.0), (1.0, 0.3)] {
            let u = random(3 * rest.len(), size, 2);
            check_derivatives(&mut handles, &Conditions { load_factor, ..AT }, &u);
        }
    }

    #[test]
    fn a_spring_of_100_newtons_a_meter_pulls_two_meters_with_200_newtons() {
        let rest = [Vec3::ZERO, Vec3::X];
        let handles =
            Handles::new(rest, [Handle { motion: moving(Vec3::X), ..Handle::new(1, 100.0, Vec3::X) }]).unwrap();
        let all = Conditions::at(2.0);
        let mut force = [0.0; 6];
        handles.add_gradient(&[0.0; 6], &all, &mut force);
        // The push is the negative of the force and points to the target.
        assert_eq!(force, [0.0, 0.0, 0.0, -200.0, 0.0, 0.0]);
        assert_eq!((handles.energy(&[0.0; 6], &all), handles.target(0, &all)), (200.0, 3.0 * Vec3::X));
        assert_eq!(handles.energy(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0], &all), 0.0);
        // Half the load moves the target half the distance.
        let half = Conditions { load_factor: 0.5, ..all };
        assert_eq!((handles.energy(&[0.0; 6], &half), handles.target(0, &half)), (50.0, 2.0 * Vec3::X));
    }

    #[test]
    fn a_point_between_vertices_pulls_at_them_by_its_weights() {
        let rest = [Vec3::ZERO, 4.0 * Vec3::X];
        let handle = Handle::at_point(vec![(1, 0.75), (0, 0.25)], 10.0, Vec3::new(3.0, 1.0, 0.0));
        let handles = Handles::new(rest, [handle]).unwrap();
        let mut force = [0.0; 6];
        handles.add_gradient(&[0.0; 6], &Conditions::START, &mut force);
        assert_eq!(force, [0.0, -2.5, 0.0, 0.0, -7.5, 0.0]);
    }

    #[test]
    fn damping_is_relative_to_the_targets_velocity() {
        let (rest, mut handles) = three_handles();
        let u = random(3 * rest.len(), 0.1, 3);
        let v = random(3 * rest.len(), 1.0, 4);
        // All damped targets have one velocity, so that it is that of the whole body.
        handles.replace(0, Handle { motion: handles.list()[2].motion.clone(), ..handles.list()[0].clone() }).unwrap();
        let v_bar = [1.0, 2.0, 3.0].repeat(rest.len());
        check_damping(&mut handles, &AT, &u, [&v, &v_bar]);
        let mut none = vec![0.0; u.len()];
        handles.add_dissipation_gradient(&u, &AT, &v_bar, &mut none);
        assert!(largest(&none) < 1e-7, "a body that moves with the targets is not damped");
    }

    #[test]
    fn handles_come_move_and_go_on_the_same_matrices() {
        let (rest, mut handles) = three_handles();
        let pattern = bind_all(rest.len(), &mut [&mut handles]);
        let diagonal = |handles: &Handles, vertex| {
            let (mut f, mut k) = (vec![0.0; 3 * rest.len()], BlockMatrix::zero(pattern.clone()));
            handles.add_gradient_and_stiffness(
                &vec![0.0; f.len()],
                &Conditions::START,
                Definiteness::Exact,
                &mut f,
                &mut k,
            );
            k.block(vertex, vertex)[1][1]
        };
        let before = diagonal(&handles, 9);
        let number = handles.push(Handle::new(9, 50.0, Vec3::ZERO)).unwrap();
        assert_eq!((number, diagonal(&handles, 9)), (3, before + 50.0));
        handles.set_target(3, Vec3::new(1.0, 1.0, 1.0)).unwrap();
        assert_eq!(handles.target(3, &AT), Vec3::ONE);
        // The vertices of the third handle are coupled already, in any order.
        let mut again = handles.list()[2].clone();
        again.point.reverse();
        handles.push(again).unwrap();
        assert_eq!(handles.remove(3).unwrap().point, [(9, 1.0)]);
        assert_eq!(handles.list().len(), 4);
        handles.clear();
        assert_eq!((diagonal(&handles, 9), handles.has_damping()), (0.0, false));
    }

    #[test]
    fn results_are_bitwise_equal_on_one_and_four_threads() {
        let (rest, handles) = three_handles();
        check_threads(&handles, rest.len());
    }

    #[test]
    fn impossible_handles_are_named_with_their_numbers_and_change_nothing() {
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let mut handles = Handles::new(rest, [Handle::new(0, 1.0, Vec3::ZERO)]).unwrap();
        bind_all(3, &mut [&mut handles]);
        let good = Handle::new(1, 1.0, Vec3::ZERO);
        let mut message = |handle: Handle| handles.push(handle).unwrap_err().to_string();
        assert_eq!(message(Handle { point: vec![], ..good.clone() }), "handle 1 has no vertices");
        let far = Handle::new(3, 1.0, Vec3::ZERO);
        assert_eq!(message(far), "handle 1 is at vertex 3, but there are 3 vertices");
        let twice = vec![(1, 0.5), (1, 0.5)];
        assert_eq!(message(Handle { point: twice, ..good.clone() }), "handle 1 lists vertex 1 twice");
        let sums = [(0.5, "0.5"), (f64::NAN, "NaN")];
        for (weight, sum) in sums {
            let expected = format!("the weights of handle 1 sum to {sum}, expected 1");
            assert_eq!(message(Handle { point: vec![(1, weight)], ..good.clone() }), expected);
        }
        assert_eq!(
            message(Handle { damping: -2.0, ..good.clone() }),
            "the damping of handle 1 is -2, expected a finite number that is not negative"
        );
        assert!(message(Handle { target: Vec3::NAN, ..good.clone() }).contains("is at [NaN, NaN, NaN]"));
        let lost = Motion::Function(Arc::new(|_, _| Vec3::NAN));
        assert!(
            message(Handle { motion: lost, ..good.clone() })
                .contains("the motion of handle 1 is [NaN, NaN, NaN] at 0 s")
        );
        let apart = vec![(0, 0.5), (2, 0.5)];
        assert!(message(Handle { point: apart, ..good.clone() }).contains("couples vertices 0 and 2"));
        assert_eq!(handles.remove(1).unwrap_err().to_string(), "handle 1 does not exist; the number of handles is 1");
        assert!(handles.set_target(0, Vec3::INFINITY).unwrap_err().to_string().contains("target of handle 0 is at"));
        assert!(handles.replace(0, Handle { stiffness: f64::NAN, ..good }).is_err());
        assert_eq!((handles.list().len(), handles.target(0, &Conditions::START)), (1, Vec3::ZERO));
    }
}
