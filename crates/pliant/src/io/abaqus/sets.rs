//! Node and element sets during reading.

use std::collections::HashMap;

use super::super::raw::Labels;
use super::read::Instance;

/// Set with its name as first written.
#[derive(Debug)]
pub(super) struct Group {
    pub name: String,
    /// Instance of its members, if it is defined in the assembly, which has a namespace separate from the part.
    pub instance: Option<u32>,
    pub members: Vec<u32>,
}

/// All node sets or all element sets, in the order of their definition. Names are case-insensitive.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub all: Vec<Group>,
    by_name: HashMap<(String, Option<u32>), usize>,
}

impl Groups {
    /// Returns the number of the set with this name, and creates it if it is absent.
    pub fn define(&mut self, name: &str, instance: Option<u32>) -> usize {
        *self.by_name.entry((name.to_ascii_uppercase(), instance)).or_insert_with(|| {
            self.all.push(Group { name: name.into(), instance, members: Vec::new() });
            self.all.len() - 1
        })
    }

    pub fn find(&self, name: &str, instance: Option<u32>) -> Option<usize> {
        self.by_name.get(&(name.to_ascii_uppercase(), instance)).copied()
    }

    /// Returns the names of a set in the mesh, each with the number of the instance of its members.
    ///
    /// With several instances, a set of the part occurs once per instance, as `instance.set`.
    pub fn mesh_names(&self, group: &Group, instances: &[Instance]) -> Vec<(String, u32)> {
        match group.instance {
            Some(_) if instances.len() < 2 && self.find(&group.name, None).is_some() => {
                vec![(format!("Assembly.{}", group.name), 0)]
            }
            Some(instance) => vec![(group.name.clone(), instance)],
            None if instances.len() < 2 => vec![(group.name.clone(), 0)],
            None => (0..).zip(instances).map(|(i, own)| (format!("{}.{}", own.name, group.name), i)).collect(),
        }
    }
}

/// Members that are resolved after the whole file was read.
#[derive(Debug)]
pub(super) enum Later {
    Label(i64),
    /// First, last, step.
    Range(i64, i64, i64),
    /// All members of another set of the same kind.
    Set(String),
    /// Nodes of an element set.
    NodesOf(String),
}

/// Returns the existing items in a range of labels, and the number of labels examined, at most all that exist.
pub(super) fn range(
    first: i64,
    last: i64,
    step: i64,
    labels: &Labels,
    sorted: &[(i64, u32)],
) -> (usize, impl Iterator<Item = u32>) {
    let step = step.unsigned_abs().max(1);
    let from = sorted.partition_point(|&(label, _)| label < first);
    let to = sorted.partition_point(|&(label, _)| label <= last);
    let between = sorted.get(from..to).unwrap_or_default();
    let steps = last.abs_diff(first) / step;
    // Iterates over the range or over the existing labels, whichever is shorter.
    let (numbers, between) = match between.len() as u64 {
        0 => (0..0, between),
        existing if steps < existing => (0..steps + 1, &[][..]),
        _ => (0..0, between),
    };
    let cost = between.len().max(numbers.end as usize);
    let by_number = numbers.filter_map(move |i| labels.get(first.checked_add_unsigned(i * step)?));
    let fits = between.iter().filter(move |(label, _)| label.abs_diff(first).is_multiple_of(step));
    (cost, by_number.chain(fits.map(|&(_, index)| index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_take_what_exists() {
        let mut labels = Labels::default();
        assert!([1, 2, 3, 10, 12, 1000].into_iter().all(|label| labels.push(label)));
        let sorted = labels.sorted();
        let range = |first, last, step| range(first, last, step, &labels, &sorted).1.collect::<Vec<_>>();
        assert_eq!(range(1, 3, 1), [0, 1, 2]);
        assert_eq!(range(2, 12, 2), [1, 3, 4]);
        assert_eq!(range(1, i64::MAX, 1).len(), 6);
        assert_eq!(range(i64::MIN, i64::MAX, i64::MAX).len(), 0);
        assert_eq!(range(10, 1000, 990), [3, 5]);
    }
}
