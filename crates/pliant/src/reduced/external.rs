//! External forces on a reduced model: handles, obstacles, springs, loads.
//!
//! Such forces act on vertices. Only the rows of `u = U q` at the vertices they couple are computed, and only the
//! nonzero blocks of their stiffness are projected. A handle at a few vertices thus costs almost nothing, a plane as
//! much as the vertices in contact.

use std::collections::BTreeSet;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::basis::Basis;
use super::frame::{Frame, RIGID};
use crate::force::Conditions;
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::solver::DenseMatrix;
use crate::sparse::{BlockMatrix, LowRank};
use crate::system::Definiteness;

#[derive(Debug, Clone)]
pub(super) struct External {
    /// Vertices that forces couple, ascending.
    vertices: Vec<u32>,
    /// Rows of the basis at these vertices, three per vertex.
    rows: Vec<f64>,
    r: usize,
    /// Blocks that forces may add to, with the indices of their vertices in the list.
    slots: Vec<Slot>,
    /// Vectors with three numbers per vertex of the model, zero where no force acts.
    u: Vec<f64>,
    v: Vec<f64>,
    f: Vec<f64>,
    matrix: BlockMatrix,
    varying: LowRank,
    /// Work arrays to project matrices: the vertices with nonzero blocks, their columns and the products with them.
    place: Vec<usize>,
    busy: Vec<usize>,
    columns: Vec<f64>,
    products: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    number: usize,
    a: usize,
    b: usize,
}

/// Marker of a vertex whose columns are not computed.
const NOT_BUSY: usize = usize::MAX;

impl External {
    pub fn new(model: &Model, basis: &Basis) -> Self {
        let mut pairs = BTreeSet::new();
        for force in model.forces() {
            force.cliques(&mut |clique| {
                for (at, &a) in clique.iter().enumerate() {
                    pairs.extend(clique[at..].iter().map(|&b| (a.min(b), a.max(b))));
                }
            });
        }
        let vertices: Vec<u32> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().collect();
        let place = |vertex: u32| vertices.binary_search(&vertex).expect("one of the list");
        let slot = |&(a, b): &(u32, u32)| Some(Slot { number: model.pattern().slot(a, b)?, a: place(a), b: place(b) });
        let slots = pairs.iter().filter_map(slot).collect();
        let of_vertex = |&vertex: &u32| {
            (0..3).flat_map(move |axis| basis.columns().iter().map(move |c| c[3 * vertex as usize + axis]))
        };
        let n = 3 * model.node_count();
        let is_used = !vertices.is_empty();
        let full = if is_used { n } else { 0 };
        Self {
            rows: vertices.iter().flat_map(of_vertex).collect(),
            r: basis.size(),
            slots,
            u: vec![0.0; full],
            v: vec![0.0; full],
            f: vec![0.0; full],
            matrix: BlockMatrix::zero(model.pattern().clone()),
            varying: LowRank::default(),
            place: vec![NOT_BUSY; vertices.len()],
            busy: Vec::new(),
            columns: Vec::new(),
            products: Vec::new(),
            vertices,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// Returns the energy of all forces at `z`.
    pub fn energy(&mut self, model: &Model, frame: Option<&Frame>, z: &[f64], conditions: &Conditions<'_>) -> f64 {
        if self.is_empty() {
            return 0.0;
        }
        self.set_displacements(model, frame, z);
        model.forces_with_history().map(|(force, range)| force.energy(&self.u, &conditions.of_part(range))).sum()
    }

    /// Adds the gradient of the energies at `z` to `force`.
    pub fn add_force(
        &mut self,
        model: &Model,
        frame: Option<&Frame>,
        z: &[f64],
        conditions: &Conditions<'_>,
        force: &mut [f64],
    ) {
        if self.is_empty() {
            return;
        }
        self.set_displacements(model, frame, z);
        self.clear_force();
        for (term, range) in model.forces_with_history() {
            term.add_gradient(&self.u, &conditions.of_part(range), &mut self.f);
        }
        self.add_projected_force(model, frame, 1.0, force);
    }

    /// Adds the gradient of the energies at `z` to `force`, and their stiffness to `stiffness`.
    pub fn add_force_and_stiffness(
        &mut self,
        model: &Model,
        frame: Option<&Frame>,
        z: &[f64],
        conditions: &Conditions<'_>,
        definiteness: Definiteness,
        (force, stiffness): (&mut [f64], &mut DenseMatrix),
    ) {
        if self.is_empty() {
            return;
        }
        self.set_displacements(model, frame, z);
        self.clear_force();
        self.clear_matrix();
        self.varying.clear();
        for (term, range) in model.forces_with_history() {
            let conditions = conditions.of_part(range);
            term.add_gradient_and_stiffness(&self.u, &conditions, definiteness, &mut self.f, &mut self.matrix);
            term.add_varying_stiffness(&self.u, &conditions, definiteness, &mut self.varying);
        }
        self.add_projected_force(model, frame, 1.0, force);
        self.add_projected_matrix(model, frame, stiffness);
        self.add_projected_varying(model, frame, stiffness);
    }

    /// Adds the friction of all forces at `z` and `v` to a matrix, and the drive of moving obstacles on a body at rest
    /// to `drive`.
    pub fn add_damping(
        &mut self,
        model: &Model,
        frame: Option<&Frame>,
        [z, v]: [&[f64]; 2],
        conditions: &Conditions<'_>,
        (damping, drive): (&mut DenseMatrix, &mut [f64]),
    ) {
        if self.is_empty() {
            return;
        }
        self.set_displacements(model, frame, z);
        self.set_velocities(model, frame, v);
        self.clear_force();
        self.clear_matrix();
        for (force, range) in model.forces_with_history().filter(|(force, _)| force.has_damping()) {
            let conditions = conditions.of_part(range);
            force.add_damping(&self.u, &conditions, &self.v, &mut self.matrix);
            force.add_dissipation_gradient(&self.u, &conditions, &self.v, &mut self.f);
        }
        // Forces give `D (v − v̄)`; its difference from `D v` is the drive `D v̄`.
        self.add_projected_force(model, frame, -1.0, drive);
        self.clear_force();
        for &Slot { number, a, b } in &self.slots {
            let block = Mat3::from_cols_slice(&self.matrix.values()[9 * number..9 * number + 9]).transpose();
            let [a, b] = [a, b].map(|place| 3 * self.vertices[place] as usize);
            let [of_a, of_b] =
                [block * Vec3::from_slice(&self.v[b..]), block.transpose() * Vec3::from_slice(&self.v[a..])];
            for axis in 0..3 {
                self.f[a + axis] += of_a[axis];
                if a != b {
                    self.f[b + axis] += of_b[axis];
                }
            }
        }
        self.add_projected_force(model, frame, 1.0, drive);
        self.add_projected_matrix(model, frame, damping);
    }

    /// Adds `Jᵀ C J` to `matrix`, with the couplings `C` outside of the pattern.
    ///
    /// # Panics
    /// If a force couples vertices there that are not among its cliques.
    fn add_projected_varying(&mut self, model: &Model, frame: Option<&Frame>, matrix: &mut DenseMatrix) {
        let n = matrix.size();
        for term in self.varying.terms() {
            let mut projected = vec![0.0; n];
            for &(vertex, q) in term.vector {
                let place = self.vertices.binary_search(&vertex).expect("a vertex on which the force acts");
                self.columns.clear();
                let rows = &self.rows[3 * place * self.r..3 * (place + 1) * self.r];
                push_columns(&mut self.columns, model, frame, vertex as usize, rows);
                for (axis, column) in self.columns.chunks_exact(n).enumerate() {
                    projected.iter_mut().zip(column).for_each(|(sum, entry)| *sum += q[axis] * entry);
                }
            }
            for (column, &factor) in matrix.values_mut().chunks_exact_mut(n).zip(&projected) {
                let factor = term.factor * factor;
                column.iter_mut().zip(&projected).for_each(|(entry, row)| *entry += factor * row);
            }
        }
    }

    fn rows_of(&self, place: usize) -> [&[f64]; 3] {
        [0, 1, 2].map(|axis| &self.rows[(3 * place + axis) * self.r..(3 * place + axis + 1) * self.r])
    }

    fn set_displacements(&mut self, model: &Model, frame: Option<&Frame>, z: &[f64]) {
        for place in 0..self.vertices.len() {
            let vertex = self.vertices[place] as usize;
            let rest = model.rest()[vertex];
            let u = match frame {
                None => Vec3::from_array(self.rows_of(place).map(|row| dot_short(row, z))),
                Some(frame) => {
                    let (a, theta) = frame.rigid(z);
                    let start = frame.within(rest, self.rows_of(place), &frame.start);
                    let now = frame.within(rest, self.rows_of(place), &z[RIGID..]);
                    frame.placement.center + a + frame.placement.rotation * (now + theta.cross(start)) - rest
                }
            };
            self.u[3 * vertex..3 * vertex + 3].copy_from_slice(&u.to_array());
        }
    }

    fn set_velocities(&mut self, model: &Model, frame: Option<&Frame>, v: &[f64]) {
        for place in 0..self.vertices.len() {
            let vertex = self.vertices[place] as usize;
            let velocity = match frame {
                None => Vec3::from_array(self.rows_of(place).map(|row| dot_short(row, v))),
                Some(frame) => {
                    let (linear, angular) = frame.rigid(v);
                    let start = frame.within(model.rest()[vertex], self.rows_of(place), &frame.start);
                    let inner = Vec3::from_array(self.rows_of(place).map(|row| dot_short(row, &v[RIGID..])));
                    linear + frame.placement.rotation * (angular.cross(start) + inner)
                }
            };
            self.v[3 * vertex..3 * vertex + 3].copy_from_slice(&velocity.to_array());
        }
    }

    fn clear_force(&mut self) {
        for &vertex in &self.vertices {
            self.f[3 * vertex as usize..3 * vertex as usize + 3].fill(0.0);
        }
    }

    fn clear_matrix(&mut self) {
        let values = self.matrix.values_mut();
        for slot in &self.slots {
            values[9 * slot.number..9 * slot.number + 9].fill(0.0);
        }
    }

    /// Adds `factor Jᵀ f` to `force`, with `J` the derivative of the displacements with respect to `z`.
    fn add_projected_force(&self, model: &Model, frame: Option<&Frame>, factor: f64, force: &mut [f64]) {
        for (place, &vertex) in self.vertices.iter().enumerate() {
            let f = factor * Vec3::from_slice(&self.f[3 * vertex as usize..]);
            if f == Vec3::ZERO {
                continue;
            }
            let (inner, f) = match frame {
                None => (&mut *force, f),
                Some(frame) => {
                    let start = frame.within(model.rest()[vertex as usize], self.rows_of(place), &frame.start);
                    let turned = frame.placement.rotation.transpose() * f;
                    let torque = start.cross(turned);
                    let [of_a, of_theta] = frame.scale();
                    for axis in 0..3 {
                        force[axis] += of_a * f[axis];
                        force[3 + axis] += of_theta * torque[axis];
                    }
                    (&mut force[RIGID..], turned)
                }
            };
            for (row, f) in self.rows_of(place).into_iter().zip(f.to_array()) {
                inner.iter_mut().zip(row).for_each(|(force, u)| *force += u * f);
            }
        }
    }

    /// Adds `Jᵀ A J` to `matrix`, using only the nonzero blocks of `A`.
    fn add_projected_matrix(&mut self, model: &Model, frame: Option<&Frame>, matrix: &mut DenseMatrix) {
        let n = matrix.size();
        let values = self.matrix.values();
        let is_set = |slot: &&Slot| values[9 * slot.number..9 * slot.number + 9].iter().any(|x| *x != 0.0);
        self.busy.clear();
        self.columns.clear();
        for slot in self.slots.iter().filter(is_set) {
            for place in [slot.a, slot.b] {
                if self.place[place] == NOT_BUSY {
                    self.place[place] = self.busy.len();
                    self.busy.push(place);
                }
            }
        }
        for &place in &self.busy {
            let rows = &self.rows[3 * place * self.r..3 * (place + 1) * self.r];
            push_columns(&mut self.columns, model, frame, self.vertices[place] as usize, rows);
        }
        self.products.clear();
        self.products.resize(self.columns.len(), 0.0);
        for slot in self.slots.iter().filter(is_set) {
            let block = &values[9 * slot.number..9 * slot.number + 9];
            let (a, b) = (self.place[slot.a], self.place[slot.b]);
            for i in 0..3 {
                for j in 0..3 {
                    let mut add = |row: usize, column: usize, entry: f64| {
                        let from = &self.columns[column * n..(column + 1) * n];
                        let to = &mut self.products[row * n..(row + 1) * n];
                        to.iter_mut().zip(from).for_each(|(to, from)| *to += entry * from);
                    };
                    add(3 * a + i, 3 * b + j, block[3 * i + j]);
                    if a != b {
                        add(3 * b + j, 3 * a + i, block[3 * i + j]);
                    }
                }
            }
        }
        let rows = 3 * self.busy.len();
        if rows > 0 {
            let columns = MatRef::from_column_major_slice(&self.columns, n, rows);
            let products = MatRef::from_column_major_slice(&self.products, n, rows);
            let sum = MatMut::from_column_major_slice_mut(matrix.values_mut(), n, n);
            matmul(sum, Accum::Add, columns, products.transpose(), 1.0, Par::Seq);
        }
        for place in self.busy.drain(..) {
            self.place[place] = NOT_BUSY;
        }
    }
}

/// Appends the three rows of `J` for a vertex.
fn push_columns(columns: &mut Vec<f64>, model: &Model, frame: Option<&Frame>, vertex: usize, rows: &[f64]) {
    let r = rows.len() / 3;
    let Some(frame) = frame else {
        columns.extend_from_slice(rows);
        return;
    };
    let of = |axis: usize| &rows[axis * r..(axis + 1) * r];
    let start = frame.within(model.rest()[vertex], [of(0), of(1), of(2)], &frame.start);
    let rotation = frame.placement.rotation;
    let [of_a, of_theta] = frame.scale();
    for axis in 0..3 {
        // Row of R for this spatial coordinate.
        let row = rotation.row(axis);
        columns.extend(Vec3::AXES[axis].to_array().map(|x| of_a * x));
        // R (θ × y) = −R [y]ₓ θ.
        columns.extend(start.cross(row).to_array().map(|x| of_theta * x));
        columns.extend((0..r).map(|i| row.x * of(0)[i] + row.y * of(1)[i] + row.z * of(2)[i]));
    }
}

/// Returns the dot product of short vectors.
fn dot_short(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
