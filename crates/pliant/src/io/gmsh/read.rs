//! Reading.

use std::collections::BTreeSet;

use super::groups::{Collected, Entities};
use super::numbers::{Coding, Source};
use super::v2;
use super::v4::Layout;
use crate::files::{ReadError, Syntax, quote};
use crate::io::input_output::Input;
use crate::io::raw::RawMesh;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V2,
    V4(Layout),
}

/// Maximum number of skipped sections in a note.
const MAX_NAMED: usize = 8;

pub(super) fn read(input: &Input<'_>) -> Result<RawMesh, ReadError> {
    let mut source = Source::new(input.path, input.scan(Syntax::default()));
    let version = read_format(&mut source)?;
    let mut file = Collected::default();
    let mut entities = Entities::default();
    let (mut nodes_read, mut elements_read) = (false, false);
    let mut skipped: BTreeSet<&str> = BTreeSet::new();
    while let Some(section) = source.section()? {
        match (section, version) {
            ("$PhysicalNames", _) => read_names(&mut source, &mut file)?,
            ("$Entities" | "$PartitionedEntities", Version::V4(layout)) => {
                layout.read_entities(&mut source, &mut entities, section == "$PartitionedEntities")?;
            }
            ("$Nodes" | "$ParametricNodes", _) => {
                if nodes_read {
                    return Err(source.error("one section of nodes", "another one"));
                }
                nodes_read = true;
                match version {
                    Version::V2 => v2::read_nodes(&mut source, &mut file, section == "$ParametricNodes")?,
                    Version::V4(layout) => layout.read_nodes(&mut source, &mut file)?,
                }
            }
            ("$Elements", _) => {
                if !nodes_read || elements_read {
                    let found = if nodes_read { "another one" } else { "it before $Nodes" };
                    return Err(source.error("one section $Elements after $Nodes", found));
                }
                elements_read = true;
                match version {
                    Version::V2 => v2::read_elements(&mut source, &mut file)?,
                    Version::V4(layout) => layout.read_elements(&mut source, &mut file, &entities)?,
                }
            }
            _ => {
                source.skip_section(section)?;
                if section != "$Comments" {
                    skipped.insert(section);
                }
                continue;
            }
        }
        source.end_section(section)?;
    }
    if !elements_read {
        let missing = if nodes_read { "a section $Elements" } else { "the sections $Nodes and $Elements" };
        return Err(ReadError::whole(input.path, missing, "none"));
    }
    if !skipped.is_empty() {
        let names: Vec<&str> = skipped.iter().copied().take(MAX_NAMED).collect();
        let more = if skipped.len() > MAX_NAMED { " and others" } else { "" };
        file.notes.push(format!("the content of {}{more} is not kept", names.join(", ")));
    }
    Ok(file.finish(matches!(version, Version::V4(_)).then_some(&entities)))
}

/// Reads the section `$MeshFormat`, which comes first; only comments may precede it.
fn read_format(source: &mut Source<'_>) -> Result<Version, ReadError> {
    loop {
        match source.section()? {
            Some("$MeshFormat") => break,
            Some("$Comments") => source.skip_section("$Comments")?,
            Some(name @ ("$NOD" | "$ELM")) => {
                let found = format!("version 1, which begins with {name}");
                return Err(source.error("Gmsh's format version 2.2, 4.0 or 4.1", found));
            }
            Some(name) => return Err(source.error("the section $MeshFormat first", quote(name.as_bytes()))),
            None => return Err(source.error("the section $MeshFormat", "the end of the file")),
        }
    }
    let number = source.text_number("the version of the format")?;
    let version = match number {
        2.0..3.0 => Version::V2,
        4.0 => Version::V4(Layout::V4_0),
        4.1 => Version::V4(Layout::V4_1),
        _ => return Err(source.error("Gmsh's format version 2.2, 4.0 or 4.1", format!("version {number}"))),
    };
    let binary = source.text_integer("0 for text or 1 for binary")?;
    let size = source.text_integer("the size of numbers in bytes")?;
    match (binary, size) {
        (0, _) => {}
        (1, 8) => read_byte_order(source)?,
        (1, _) => return Err(source.error("numbers of 8 bytes", format!("{size}"))),
        _ => return Err(source.error("0 for text or 1 for binary", format!("`{binary}`"))),
    }
    source.end_section("$MeshFormat")?;
    Ok(version)
}

fn read_byte_order(source: &mut Source<'_>) -> Result<(), ReadError> {
    source.set_coding(Coding::Binary { little: true });
    source.begin_numbers();
    match source.take(4, "the byte order")? {
        [1, 0, 0, 0] => {}
        [0, 0, 0, 1] => source.set_coding(Coding::Binary { little: false }),
        other => return Err(source.error("the number 1 in four bytes", quote(other))),
    }
    Ok(())
}

/// Reads the section `$PhysicalNames`.
fn read_names(source: &mut Source<'_>, file: &mut Collected) -> Result<(), ReadError> {
    let count = source.text_integer("the number of physical names")?;
    let min = "0 1 a\n".len();
    for _ in 0..source.checked(count, "physical names", [min, min])? {
        let dimension = source.text_integer("the dimension of a physical group")?;
        if !(0..=3).contains(&dimension) {
            return Err(source.error("a dimension from 0 to 3", format!("`{dimension}`")));
        }
        let tag = source.text_integer("the number of a physical group")?;
        let name = source.rest_of_line();
        if name.is_empty() {
            return Err(source.error("the name of a physical group in quotes", "the end of the line"));
        }
        // Gmsh does not escape quotes in names: the last one on the line ends it.
        let name = name.strip_prefix(b"\"").map_or(name, |name| name.strip_suffix(b"\"").unwrap_or(name));
        file.names.insert((dimension, tag), String::from_utf8_lossy(name).into_owned());
    }
    Ok(())
}
