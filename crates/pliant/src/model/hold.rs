//! What holds vertices.

use super::ModelError;
use crate::math::Vec3;
use crate::motion::Motion;
use crate::sparse::{BlockMatrix, BlockPattern};
use crate::system::State;

/// Vertices that are held, or moved along, whatever the forces.
#[derive(Debug, Clone)]
pub struct Hold {
    /// Which vertices, by their numbers in the model.
    pub vertices: Vec<u32>,
    /// Which of their coordinates.
    pub axes: [bool; 3],
    /// How they are moved.
    pub motion: Motion,
    /// How far from rest each is held when nothing moves; empty if not at all.
    pub offsets: Vec<Vec3>,
}

impl Hold {
    /// Vertices held where they are at rest.
    pub fn fixed(vertices: impl Into<Vec<u32>>) -> Self {
        Self { vertices: vertices.into(), axes: [true; 3], motion: Motion::Still, offsets: Vec::new() }
    }

    /// Vertices held where they are now.
    ///
    /// # Panics
    /// If the state has no such vertex.
    pub fn here(vertices: impl Into<Vec<u32>>, state: &State) -> Self {
        let hold = Self::fixed(vertices);
        let offsets = hold.vertices.iter().map(|&v| Vec3::from_slice(&state.q[3 * v as usize..])).collect();
        Self { offsets, ..hold }
    }

    /// Vertices that move as told.
    pub fn moving(vertices: impl Into<Vec<u32>>, motion: impl Into<Motion>) -> Self {
        Self { motion: motion.into(), ..Self::fixed(vertices) }
    }

    /// Hold only some of the coordinates: the others are free.
    #[must_use]
    pub fn along(self, axes: [bool; 3]) -> Self {
        Self { axes, ..self }
    }
}

/// Names a hold of a model. None has that of another, also not of one that was taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HoldId(u64);

/// All holds of a model.
#[derive(Debug, Clone)]
pub(super) struct Holds {
    list: Vec<Hold>,
    /// The name of each, and the one that the next gets.
    ids: Vec<HoldId>,
    next: u64,
    /// Vertices without mass, which are of no element: always held.
    unused: Vec<u32>,
    held: Vec<bool>,
    /// The blocks in the rows and columns of held coordinates, with their vertices.
    slots: Vec<(usize, u32, u32)>,
}

impl Holds {
    pub fn new(
        vertex_count: usize,
        unused: Vec<u32>,
        list: Vec<Hold>,
        pattern: &BlockPattern,
    ) -> Result<Self, ModelError> {
        let mut holds = Self {
            list: Vec::new(),
            ids: Vec::new(),
            next: 0,
            unused,
            held: vec![false; 3 * vertex_count],
            slots: Vec::new(),
        };
        for hold in list {
            holds.check(&hold)?;
            holds.add(hold);
        }
        holds.update(pattern);
        Ok(holds)
    }

    pub fn list(&self) -> &[Hold] {
        &self.list
    }

    pub fn held(&self) -> &[bool] {
        &self.held
    }

    pub fn ids(&self) -> &[HoldId] {
        &self.ids
    }

    pub fn push(&mut self, hold: Hold, pattern: &BlockPattern) -> Result<HoldId, ModelError> {
        self.check(&hold)?;
        let id = self.add(hold);
        self.update(pattern);
        Ok(id)
    }

    fn add(&mut self, hold: Hold) -> HoldId {
        let id = HoldId(self.next);
        self.next += 1;
        self.list.push(hold);
        self.ids.push(id);
        id
    }

    pub fn release(&mut self, vertices: &[u32], pattern: &BlockPattern) {
        let mut is_released = vec![false; self.held.len() / 3];
        for &vertex in vertices {
            if let Some(is_released) = is_released.get_mut(vertex as usize) {
                *is_released = true;
            }
        }
        for hold in &mut self.list {
            let kept: Vec<usize> =
                (0..hold.vertices.len()).filter(|&i| !is_released[hold.vertices[i] as usize]).collect();
            if !hold.offsets.is_empty() {
                hold.offsets = kept.iter().map(|&i| hold.offsets[i]).collect();
            }
            hold.vertices = kept.iter().map(|&i| hold.vertices[i]).collect();
        }
        let (list, ids) = (std::mem::take(&mut self.list), std::mem::take(&mut self.ids));
        let kept = list.into_iter().zip(ids).filter(|(hold, _)| !hold.vertices.is_empty());
        (self.list, self.ids) = kept.unzip();
        self.update(pattern);
    }

    /// Put the vertices of a hold elsewhere. On error nothing has changed.
    pub fn set_offsets(&mut self, id: HoldId, offsets: Vec<Vec3>) -> Result<(), ModelError> {
        let place = self.ids.iter().position(|own| *own == id).ok_or(ModelError::NoHold)?;
        let hold = Hold { offsets, ..self.list[place].clone() };
        self.check(&hold)?;
        self.list[place] = hold;
        Ok(())
    }

    /// Take a hold away.
    pub fn remove(&mut self, id: HoldId, pattern: &BlockPattern) -> Result<Hold, ModelError> {
        let place = self.ids.iter().position(|own| *own == id).ok_or(ModelError::NoHold)?;
        self.ids.remove(place);
        let hold = self.list.remove(place);
        self.update(pattern);
        Ok(hold)
    }

    fn check(&self, hold: &Hold) -> Result<(), ModelError> {
        let vertex_count = self.held.len() / 3;
        if let Some(&vertex) = hold.vertices.iter().find(|&&vertex| vertex as usize >= vertex_count) {
            return Err(ModelError::HeldVertex { vertex, vertex_count });
        }
        if let Some(&value) = hold.offsets.iter().find(|offset| !offset.is_finite()) {
            return Err(ModelError::NotFinite { what: "the place to hold a vertex at", value });
        }
        if !(hold.offsets.is_empty() || hold.offsets.len() == hold.vertices.len()) {
            return Err(ModelError::HoldOffsets { vertices: hold.vertices.len(), offsets: hold.offsets.len() });
        }
        Ok(())
    }

    fn update(&mut self, pattern: &BlockPattern) {
        self.held.fill(false);
        for &vertex in &self.unused {
            self.held[3 * vertex as usize..3 * vertex as usize + 3].fill(true);
        }
        for hold in &self.list {
            for &vertex in &hold.vertices {
                for axis in 0..3 {
                    self.held[3 * vertex as usize + axis] |= hold.axes[axis];
                }
            }
        }
        self.slots.clear();
        let is_touched = |vertex: usize| self.held[3 * vertex..3 * vertex + 3].contains(&true);
        for row in 0..pattern.vertex_count() {
            for slot in pattern.row(row) {
                let column = pattern.columns()[slot];
                if is_touched(row) || is_touched(column as usize) {
                    self.slots.push((slot, row as u32, column));
                }
            }
        }
    }

    pub fn prescribe(&self, time: f64, rest: &[Vec3], q: &mut [f64]) {
        for hold in &self.list {
            for (i, &vertex) in hold.vertices.iter().enumerate() {
                let offset = hold.offsets.get(i).copied().unwrap_or(Vec3::ZERO);
                let place = offset + hold.motion.displacement(time, rest[vertex as usize] + offset);
                for axis in 0..3 {
                    if hold.axes[axis] {
                        q[3 * vertex as usize + axis] = place[axis];
                    }
                }
            }
        }
    }

    /// Clear rows and columns of held coordinates but for the diagonal, which keeps its size so that the matrix is scaled as before.
    pub fn eliminate(&self, matrix: &mut BlockMatrix) {
        let (blocks, _) = matrix.values_mut().as_chunks_mut::<9>();
        for &(slot, row, column) in &self.slots {
            let block = &mut blocks[slot];
            for i in 0..3 {
                for j in 0..3 {
                    let is_held = self.held[3 * row as usize + i] || self.held[3 * column as usize + j];
                    let is_diagonal = row == column && i == j;
                    if is_held && !is_diagonal {
                        block[3 * i + j] = 0.0;
                    } else if is_held && block[3 * i + j] <= 0.0 {
                        block[3 * i + j] = 1.0;
                    }
                }
            }
        }
    }
}
