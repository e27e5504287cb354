//! Dirichlet conditions: fixed vertices and vertices with prescribed motion.

use super::ModelError;
use crate::math::Vec3;
use crate::motion::{Motion, NotFinite};
use crate::sparse::{BlockMatrix, BlockPattern};
use crate::system::State;

/// Dirichlet condition: vertices that are fixed or follow a prescribed motion.
#[derive(Debug, Clone)]
pub struct Fixed {
    /// Vertex numbers in the model.
    pub vertices: Vec<u32>,
    /// Fixed coordinates: x, y, z.
    pub axes: [bool; 3],
    /// Prescribed motion.
    pub motion: Motion,
    /// Displacement of each vertex from rest \[m\] before any motion; empty for none.
    pub offsets: Vec<Vec3>,
}

impl Fixed {
    /// Fixes vertices at their rest positions.
    pub fn new(vertices: impl Into<Vec<u32>>) -> Self {
        Self { vertices: vertices.into(), axes: [true; 3], motion: Motion::Still, offsets: Vec::new() }
    }

    /// Fixes vertices at their current positions.
    ///
    /// # Panics
    /// If the state has no such vertex.
    pub fn here(vertices: impl Into<Vec<u32>>, state: &State) -> Self {
        let fixed = Self::new(vertices);
        let offsets = fixed.vertices.iter().map(|&v| Vec3::from_slice(&state.q[3 * v as usize..])).collect();
        Self { offsets, ..fixed }
    }

    /// Prescribes the motion of vertices.
    pub fn prescribed(vertices: impl Into<Vec<u32>>, motion: impl Into<Motion>) -> Self {
        Self { motion: motion.into(), ..Self::new(vertices) }
    }

    /// Fixes only the given coordinates: the others are free.
    #[must_use]
    pub fn along(self, axes: [bool; 3]) -> Self {
        Self { axes, ..self }
    }
}

/// Unique identifier of a Dirichlet condition of a model, never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FixedId(u64);

/// All Dirichlet conditions of a model.
#[derive(Debug, Clone)]
pub(super) struct FixedVertices {
    list: Vec<Fixed>,
    /// Identifier of each condition, followed by the next free one.
    ids: Vec<FixedId>,
    next: u64,
    /// Vertices that belong to no element and have no mass: always fixed.
    unused: Vec<u32>,
    fixed: Vec<bool>,
    /// Blocks in the rows and columns of fixed coordinates, with their vertices.
    slots: Vec<(usize, u32, u32)>,
}

impl FixedVertices {
    pub fn new(
        node_count: usize,
        unused: Vec<u32>,
        list: Vec<Fixed>,
        pattern: &BlockPattern,
    ) -> Result<Self, ModelError> {
        let mut set = Self {
            list: Vec::new(),
            ids: Vec::new(),
            next: 0,
            unused,
            fixed: vec![false; 3 * node_count],
            slots: Vec::new(),
        };
        for fixed in list {
            set.check(&fixed)?;
            set.add(fixed);
        }
        set.update(pattern);
        Ok(set)
    }

    pub fn list(&self) -> &[Fixed] {
        &self.list
    }

    pub fn fixed_mask(&self) -> &[bool] {
        &self.fixed
    }

    pub fn ids(&self) -> &[FixedId] {
        &self.ids
    }

    pub fn push(&mut self, fixed: Fixed, pattern: &BlockPattern) -> Result<FixedId, ModelError> {
        self.check(&fixed)?;
        let id = self.add(fixed);
        self.update(pattern);
        Ok(id)
    }

    fn add(&mut self, fixed: Fixed) -> FixedId {
        let id = FixedId(self.next);
        self.next += 1;
        self.list.push(fixed);
        self.ids.push(id);
        id
    }

    pub fn release(&mut self, vertices: &[u32], pattern: &BlockPattern) {
        let mut is_released = vec![false; self.fixed.len() / 3];
        for &vertex in vertices {
            if let Some(is_released) = is_released.get_mut(vertex as usize) {
                *is_released = true;
            }
        }
        for fixed in &mut self.list {
            let kept: Vec<usize> =
                (0..fixed.vertices.len()).filter(|&i| !is_released[fixed.vertices[i] as usize]).collect();
            if !fixed.offsets.is_empty() {
                fixed.offsets = kept.iter().map(|&i| fixed.offsets[i]).collect();
            }
            fixed.vertices = kept.iter().map(|&i| fixed.vertices[i]).collect();
        }
        let (list, ids) = (std::mem::take(&mut self.list), std::mem::take(&mut self.ids));
        let kept = list.into_iter().zip(ids).filter(|(fixed, _)| !fixed.vertices.is_empty());
        (self.list, self.ids) = kept.unzip();
        self.update(pattern);
    }

    /// Sets the offsets of a condition. On error nothing changes.
    pub fn set_offsets(&mut self, id: FixedId, offsets: Vec<Vec3>) -> Result<(), ModelError> {
        let place = self.ids.iter().position(|own| *own == id).ok_or(ModelError::UnknownFixed)?;
        let fixed = Fixed { offsets, ..self.list[place].clone() };
        self.check(&fixed)?;
        self.list[place] = fixed;
        Ok(())
    }

    /// Removes a condition.
    pub fn remove(&mut self, id: FixedId, pattern: &BlockPattern) -> Result<Fixed, ModelError> {
        let place = self.ids.iter().position(|own| *own == id).ok_or(ModelError::UnknownFixed)?;
        self.ids.remove(place);
        let fixed = self.list.remove(place);
        self.update(pattern);
        Ok(fixed)
    }

    fn check(&self, fixed: &Fixed) -> Result<(), ModelError> {
        let node_count = self.fixed.len() / 3;
        if let Some(&vertex) = fixed.vertices.iter().find(|&&vertex| vertex as usize >= node_count) {
            return Err(ModelError::FixedVertex { vertex, node_count });
        }
        if let Some(&value) = fixed.offsets.iter().find(|offset| !offset.is_finite()) {
            return Err(ModelError::NotFinite { what: "the position of a fixed vertex", value });
        }
        if !(fixed.offsets.is_empty() || fixed.offsets.len() == fixed.vertices.len()) {
            return Err(ModelError::FixedOffsets { vertices: fixed.vertices.len(), offsets: fixed.offsets.len() });
        }
        Ok(())
    }

    pub fn update(&mut self, pattern: &BlockPattern) {
        self.fixed.fill(false);
        for &vertex in &self.unused {
            self.fixed[3 * vertex as usize..3 * vertex as usize + 3].fill(true);
        }
        for fixed in &self.list {
            for &vertex in &fixed.vertices {
                for axis in 0..3 {
                    self.fixed[3 * vertex as usize + axis] |= fixed.axes[axis];
                }
            }
        }
        self.slots.clear();
        let is_touched = |vertex: usize| self.fixed[3 * vertex..3 * vertex + 3].contains(&true);
        for row in 0..pattern.node_count() {
            for slot in pattern.row(row) {
                let column = pattern.columns()[slot];
                if is_touched(row) || is_touched(column as usize) {
                    self.slots.push((slot, row as u32, column));
                }
            }
        }
    }

    pub fn prescribe(&self, time: f64, rest: &[Vec3], q: &mut [f64]) -> Result<(), NotFinite> {
        for fixed in &self.list {
            for (i, &vertex) in fixed.vertices.iter().enumerate() {
                let offset = fixed.offsets.get(i).copied().unwrap_or(Vec3::ZERO);
                let moved = fixed.motion.displacement(time, rest[vertex as usize] + offset);
                NotFinite::check(moved, time, || format!("the motion of fixed vertex {vertex}"))?;
                let place = offset + moved;
                for axis in 0..3 {
                    if fixed.axes[axis] {
                        q[3 * vertex as usize + axis] = place[axis];
                    }
                }
            }
        }
        Ok(())
    }

    /// Zeroes the rows and columns of fixed coordinates except for the diagonal, which is kept to preserve the scaling
    /// of the matrix.
    pub fn eliminate(&self, matrix: &mut BlockMatrix) {
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for &(slot, row, column) in &self.slots {
            let block = &mut blocks[slot];
            for i in 0..3 {
                for j in 0..3 {
                    let is_fixed = self.fixed[3 * row as usize + i] || self.fixed[3 * column as usize + j];
                    let is_diagonal = row == column && i == j;
                    if is_fixed && !is_diagonal {
                        block[3 * i + j] = 0.0;
                    } else if is_fixed && block[3 * i + j] <= 0.0 {
                        block[3 * i + j] = 1.0;
                    }
                }
            }
        }
    }
}
