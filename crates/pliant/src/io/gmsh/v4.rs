//! Version 4: each block of elements belongs to an entity of the geometry, and the entities have groups. Version 4.0
//! has the fields of 4.1 in another order.

use super::groups::{Collected, Entities, Kind, further_groups};
use super::numbers::Source;
use super::write::{Cell, Part, put_section};
use crate::files::ReadError;
use crate::math::Vec3;

/// Maximum number of groups of an entity, more than practical files have. Each element of the entity is finally listed
/// in each of them, so that without a bound a small file could take much memory.
pub(super) const MAX_GROUPS: usize = 100;

/// Order of fields in sections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    V4_0,
    V4_1,
}

impl Layout {
    /// Reads the number of a node or an element.
    fn label(self, source: &mut Source<'_>, what: &str) -> Result<i64, ReadError> {
        match self {
            Self::V4_0 => source.int(what),
            Self::V4_1 => source.size(what),
        }
    }

    /// Reads the dimension and the tag of the entity of a block.
    fn entity(self, source: &mut Source<'_>) -> Result<(i64, i64), ReadError> {
        const DIMENSION: &str = "the dimension of an entity";
        const TAG: &str = "the number of an entity";
        match self {
            Self::V4_0 => {
                let tag = source.int(TAG)?;
                Ok((source.int(DIMENSION)?, tag))
            }
            Self::V4_1 => Ok((source.int(DIMENSION)?, source.int(TAG)?)),
        }
    }

    /// Reads the number of blocks and of all their items, which take at least `bytes` each in text and in binary.
    fn head(self, source: &mut Source<'_>, what: &str, bytes: [usize; 2]) -> Result<[usize; 2], ReadError> {
        source.record("the number of blocks")?;
        let blocks = source.size("the number of blocks")?;
        let blocks = source.checked(blocks, "blocks", ["0 1 0 0\n".len(), 3 * 4 + 8])?;
        let total = source.size("the number in all blocks")?;
        let total = source.checked(total, what, bytes)?;
        if self == Self::V4_1 {
            source.skip_reals(2, "the smallest and the largest number")?;
        }
        source.end_record("the line")?;
        Ok([blocks, total])
    }

    /// Reads the section `$Entities`, or `$PartitionedEntities` if `partitioned`.
    pub fn read_entities(
        self,
        source: &mut Source<'_>,
        entities: &mut Entities,
        partitioned: bool,
    ) -> Result<(), ReadError> {
        source.begin_numbers();
        if partitioned {
            source.record("the number of partitions")?;
            source.size("the number of partitions")?;
            source.record("the number of ghost entities")?;
            let ghosts = source.size("the number of ghost entities")?;
            for _ in 0..2 * source.checked(ghosts, "ghost entities", [4, 8])? {
                source.record("a ghost entity")?;
                source.int("a number of a ghost entity")?;
            }
        }
        source.record("the number of points")?;
        let mut counts = [0; 4];
        for (count, what) in counts.iter_mut().zip(["points", "curves", "surfaces", "volumes"]) {
            let number = source.size("the number of entities")?;
            *count = source.checked(number, what, ["1 0 0 0 0\n".len(), 4 + 3 * 8 + 8])?;
        }
        source.end_record("the numbers of entities")?;
        for (dimension, count) in (0..).zip(counts) {
            for _ in 0..count {
                self.read_entity(source, entities, dimension, partitioned)?;
            }
        }
        Ok(())
    }

    fn read_entity(
        self,
        source: &mut Source<'_>,
        entities: &mut Entities,
        dimension: i64,
        partitioned: bool,
    ) -> Result<(), ReadError> {
        source.record("an entity")?;
        let tag = source.int("the number of an entity")?;
        if partitioned {
            source.int("the dimension of a parent")?;
            source.int("the number of a parent")?;
            skip_list(source, "partitions")?;
        }
        let is_point = dimension == 0 && self == Self::V4_1;
        source.skip_reals(if is_point { 3 } else { 6 }, "a coordinate of an entity")?;
        let count = source.size("the number of physical groups")?;
        let count = source.checked(count, "physical groups", [2, 4])?;
        if count > MAX_GROUPS {
            return Err(source.error(format!("at most {MAX_GROUPS} physical groups"), format!("{count}")));
        }
        let mut groups = Vec::with_capacity(count);
        for _ in 0..count {
            // The sign is the orientation of the group.
            let group = source.int("the number of a physical group")?.saturating_abs();
            if group != 0 && !groups.contains(&group) {
                groups.push(group);
            }
        }
        if dimension > 0 {
            skip_list(source, "boundary entities")?;
        }
        if !groups.is_empty() {
            entities.insert((dimension, tag), groups);
        }
        source.end_record("an entity")
    }

    /// Reads the section `$Nodes`.
    pub fn read_nodes(self, source: &mut Source<'_>, file: &mut Collected) -> Result<(), ReadError> {
        source.begin_numbers();
        let min = ["1 0 0 0\n".len(), 4 + 3 * 8];
        let [blocks, total] = self.head(source, "nodes", min)?;
        file.reserve_nodes(total);
        for _ in 0..blocks {
            source.record("a block of nodes")?;
            let (dimension, _) = self.entity(source)?;
            let parameters = match (source.int("0 or 1 for parametric")?, dimension) {
                (0, _) => 0,
                (_, 0..=3) => dimension as usize,
                _ => return Err(source.error("a dimension from 0 to 3", format!("`{dimension}`"))),
            };
            let count = source.size("the number of nodes in a block")?;
            let count = source.checked(count, "nodes in a block", min)?;
            source.end_record("the header of a block")?;
            if self == Self::V4_1 {
                for _ in 0..count {
                    source.record("a node number")?;
                    let label = source.size("a node number")?;
                    file.node_label(label, source)?;
                }
            }
            for _ in 0..count {
                source.record("a node")?;
                if self == Self::V4_0 {
                    let label = source.int("a node number")?;
                    file.node_label(label, source)?;
                }
                file.node_position(source)?;
                source.skip_reals(parameters, "a parameter of a node")?;
                source.end_record("a node")?;
            }
        }
        check_total(source, total, file.node_count(), "nodes")
    }

    /// Reads the section `$Elements`.
    pub fn read_elements(
        self,
        source: &mut Source<'_>,
        file: &mut Collected,
        entities: &Entities,
    ) -> Result<(), ReadError> {
        source.begin_numbers();
        let [blocks, total] = self.head(source, "elements", ["1 1\n".len(), 2 * 4])?;
        let mut found = 0;
        for _ in 0..blocks {
            source.record("a block of elements")?;
            let entity = self.entity(source)?;
            let kind = Kind::read(source)?;
            if kind.dimension() != entity.0 {
                let found = format!("elements of dimension {}", kind.dimension());
                return Err(source.error(format!("elements of an entity of dimension {}", entity.0), found));
            }
            let count = source.size("the number of elements in a block")?;
            let count = source.checked(count, "elements in a block", [2, 4].map(|bytes| bytes * (1 + kind.nodes())))?;
            source.end_record("the header of a block")?;
            file.reserve_elements(kind, count);
            let first = entities.get(&entity).and_then(|groups| groups.first()).copied().unwrap_or(0);
            for _ in 0..count {
                self.read_element(source, file, kind, first)?;
            }
            if count > 0 && !further_groups(entities, entity).is_empty() {
                file.mark(kind, count, entity);
            }
            found += count;
        }
        check_total(source, total, found, "elements")
    }

    fn read_element(
        self,
        source: &mut Source<'_>,
        file: &mut Collected,
        kind: Kind,
        group: i64,
    ) -> Result<(), ReadError> {
        source.record("an element")?;
        self.label(source, "an element number")?;
        let mut nodes = [0; 8];
        let nodes = &mut nodes[..kind.nodes()];
        for node in &mut *nodes {
            let label = self.label(source, "a node number")?;
            *node = file.node(label, source)?;
        }
        file.element(kind, nodes, group);
        source.end_record("an element")
    }
}

/// Skips a list of numbers preceded by its length.
fn skip_list(source: &mut Source<'_>, what: &str) -> Result<(), ReadError> {
    let count = source.size(what)?;
    for _ in 0..source.checked(count, what, [2, 4])? {
        source.int(what)?;
    }
    Ok(())
}

fn check_total(source: &Source<'_>, promised: usize, found: usize, what: &str) -> Result<(), ReadError> {
    if promised == found {
        return Ok(());
    }
    Err(source.error(format!("{promised} {what}"), format!("{found} in all blocks")))
}

/// Writes the sections `$Entities`, `$Nodes` and `$Elements` of version 4.1. The parts, which become the entities, are
/// sorted by dimension.
pub(super) fn write(out: &mut Vec<u8>, binary: bool, vertices: &[Vec3], parts: &[Part], cells: &[Cell<'_>]) {
    put_section(out, binary, "Entities", |sink| {
        sink.sizes((0..4).map(|dimension| parts.iter().filter(|part| part.dimension == dimension).count()));
        sink.end_record();
        for part in parts {
            sink.ints([part.number]);
            sink.reals(part.corners[0].to_array());
            if part.dimension > 0 {
                sink.reals(part.corners[1].to_array());
            }
            sink.sizes([part.tags.len()]);
            sink.ints(part.tags.iter().copied());
            if part.dimension > 0 {
                sink.sizes([0]);
            }
            sink.end_record();
        }
    });
    put_section(out, binary, "Nodes", |sink| {
        sink.sizes([1, vertices.len(), 1, vertices.len()]);
        sink.end_record();
        // All nodes belong to the last part, which has the highest dimension: they have one order, whatever parts share
        // them.
        let owner = parts.last().map_or([3, 1], |part| [part.dimension, part.number]);
        sink.ints([owner[0], owner[1], 0]);
        sink.sizes([vertices.len()]);
        sink.end_record();
        for v in 1..=vertices.len() {
            sink.sizes([v]);
            sink.end_record();
        }
        for p in vertices {
            sink.reals(p.to_array());
            sink.end_record();
        }
    });
    put_section(out, binary, "Elements", |sink| {
        // Elements keep their order: a new block begins wherever the part changes.
        let blocks = || cells.chunk_by(|a, b| (a.kind, a.part) == (b.kind, b.part));
        sink.sizes([blocks().count(), cells.len(), 1, cells.len()]);
        sink.end_record();
        let mut number = 1;
        for block in blocks() {
            let part = &parts[block[0].part as usize];
            sink.ints([part.dimension, part.number, block[0].kind as usize]);
            sink.sizes([block.len()]);
            sink.end_record();
            for cell in block {
                sink.sizes([number]);
                number += 1;
                sink.sizes(cell.nodes.iter().map(|&v| v as usize + 1));
                sink.end_record();
            }
        }
    });
}
