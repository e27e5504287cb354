//! Version 2: each element line contains its group.

use super::groups::{Collected, Kind};
use super::numbers::{Sink, Source};
use super::write::{Cell, Part, put_section};
use crate::files::ReadError;
use crate::math::Vec3;

/// Reads the section `$Nodes`, or `$ParametricNodes` if `parametric`.
pub(super) fn read_nodes(source: &mut Source<'_>, file: &mut Collected, parametric: bool) -> Result<(), ReadError> {
    let count = source.text_integer("the number of nodes")?;
    let count = source.checked(count, "nodes", ["1 0 0 0\n".len(), 4 + 3 * 8])?;
    source.begin_numbers();
    file.reserve_nodes(count);
    for _ in 0..count {
        source.record("a node")?;
        let label = source.int("a node number")?;
        file.node_label(label, source)?;
        file.node_position(source)?;
        if parametric {
            skip_parameters(source)?;
        }
        source.end_record("a node")?;
    }
    Ok(())
}

/// Skips the parameters of a node on a curve or surface.
fn skip_parameters(source: &mut Source<'_>) -> Result<(), ReadError> {
    let dimension = source.int("the dimension of an entity")?;
    source.int("the number of an entity")?;
    let parameters = match dimension {
        1 => 1,
        2 => 2,
        _ => 0,
    };
    source.skip_reals(parameters, "a parameter of a node")
}

/// Reads the section `$Elements`.
pub(super) fn read_elements(source: &mut Source<'_>, file: &mut Collected) -> Result<(), ReadError> {
    let count = source.text_integer("the number of elements")?;
    let count = source.checked(count, "elements", ["1 15 0 1\n".len(), 2 * 4])?;
    source.begin_numbers();
    let mut left = count;
    while left > 0 {
        if source.is_binary() {
            // A run of elements of the same kind shares a header.
            let kind = Kind::read(source)?;
            let run = source.int("the number of elements in a run")?;
            let run = source.checked(run, "elements in a run", [0, 2 * 4])?;
            if run == 0 || run > left {
                return Err(source.error(format!("a run of 1 to {left} elements"), format!("{run}")));
            }
            let tags = source.int("the number of tags of an element")?;
            for _ in 0..run {
                source.int("an element number")?;
                read_element(source, file, kind, tags)?;
            }
            left -= run;
        } else {
            source.record("an element")?;
            source.int("an element number")?;
            let kind = Kind::read(source)?;
            let tags = source.int("the number of tags of an element")?;
            read_element(source, file, kind, tags)?;
            source.end_record("an element")?;
            left -= 1;
        }
    }
    Ok(())
}

/// Reads the tags and nodes of an element. The first tag is the group; the others are the geometry and the partitions.
fn read_element(source: &mut Source<'_>, file: &mut Collected, kind: Kind, tags: i64) -> Result<(), ReadError> {
    let mut group = 0;
    for tag in 0..source.checked(tags, "tags of an element", [2, 4])? {
        let value = source.int("a tag of an element")?;
        if tag == 0 {
            // The sign is the orientation of the group.
            group = value.saturating_abs();
        }
    }
    let mut nodes = [0; 8];
    let nodes = &mut nodes[..kind.nodes()];
    for node in &mut *nodes {
        let label = source.int("a node number")?;
        *node = file.node(label, source)?;
    }
    file.element_of_one_group(kind, nodes, group);
    Ok(())
}

/// Writes the sections `$Nodes` and `$Elements`; the first tag of each part is its group.
pub(super) fn write(out: &mut Vec<u8>, binary: bool, vertices: &[Vec3], parts: &[Part], cells: &[Cell<'_>]) {
    put_section(out, binary, "Nodes", |sink| {
        sink.count(vertices.len());
        for (v, p) in vertices.iter().enumerate() {
            sink.ints([v + 1]);
            sink.reals(p.to_array());
            sink.end_record();
        }
    });
    put_section(out, binary, "Elements", |sink| {
        sink.count(cells.len());
        let mut number = 1;
        for run in cells.chunk_by(|a, b| a.kind == b.kind) {
            if binary {
                sink.ints([run[0].kind as usize, run.len(), 2]);
            }
            for cell in run {
                sink.ints([number]);
                number += 1;
                if !binary {
                    sink.ints([cell.kind as usize, 2]);
                }
                let part = &parts[cell.part as usize];
                sink.ints([part.tags.first().copied().unwrap_or(0), part.number]);
                sink.ints(cell.nodes.iter().map(|&v| v as usize + 1));
                sink.end_record();
            }
        }
    });
}

impl Sink<'_> {
    /// Writes the count before the numbers of a section, which is text in both encodings.
    fn count(&mut self, count: usize) {
        self.out.extend(count.to_string().bytes());
        self.out.push(b'\n');
    }
}
