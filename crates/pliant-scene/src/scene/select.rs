//! Selections of vertices, elements and faces.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::quantity::{Length, dimension, vec3};
use super::{Vector, bounds, hint, text_or_table};
use pliant::math::Vec3;
use pliant::mesh::{ElementFace, Sets};

/// Selection of vertices by their rest positions, or of elements by their centers. Text names a set of the mesh.
/// `"all"` selects everything and `"surface"` the boundary, unless the mesh has sets with these names. A face set
/// selects its faces where faces are expected, and their vertices elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Selection {
    /// Name of a set.
    Named(String),
    /// Selection by position, index or file, or a combination of selections.
    Where(Where),
}

impl<'de> Deserialize<'de> for Selection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "the name of a set, or a table such as { box = { from = [0, 0, 0], to = [1, 1, 1] } }";
        text_or_table(deserializer, expected, Self::Named, Self::Where)
    }
}

/// Criterion that selects vertices or elements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Where {
    /// All in an axis-aligned box, including its faces.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { box = { from = [0, -1, -1], to = ["10 cm", 1, 1] } }
    /// ```
    Box {
        /// Corner with the minimum coordinates.
        from: Vector<dimension::Length>,
        /// Corner with the maximum coordinates.
        to: Vector<dimension::Length>,
    },
    /// All in a ball.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { sphere = { center = [0, 0, 0], radius = "20 cm" } }
    /// ```
    Sphere {
        /// Center of the ball.
        center: Vector<dimension::Length>,
        /// Radius of the ball.
        #[schemars(transform = bounds::positive)]
        radius: Length,
    },
    /// All on a plane, or on the side of it that its normal points to.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { side = { point = ["90 cm", 0, 0], normal = [1, 0, 0] } }
    /// ```
    Side {
        /// Point on the plane.
        point: Vector<dimension::Length>,
        /// Normal vector of any length.
        normal: [f64; 3],
    },
    /// All in a set of the mesh.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { set = "start" }
    /// ```
    Set(String),
    /// All with the given indices, which start at 0.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { indices = [0, 1, 5] }
    /// ```
    Indices(Vec<u32>),
    /// The nearest to a point.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { nearest = ["1 m", 0, 0] }
    /// ```
    Nearest(Vector<dimension::Length>),
    /// All listed in a `.bou` file of VegaFEM, in which indices start at 1.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { file = "bar.bou" }
    /// ```
    File(String),
    /// Union of several selections.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { any = ["start", { nearest = ["1 m", 0, 0] }] }
    /// ```
    Any(Vec<Selection>),
    /// Intersection of several selections.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { every = ["start", "surface"] }
    /// ```
    Every(Vec<Selection>),
    /// Complement: all that a selection does not contain.
    ///
    /// ```toml
    /// [[fixed]]
    /// vertices = { not = { side = { point = ["10 cm", 0, 0], normal = [1, 0, 0] } } }
    /// ```
    Not(Box<Selection>),
}

/// Vertices or elements to select from.
pub(super) struct Choice<'a> {
    /// "vertex" or "element".
    pub what: &'static str,
    pub points: &'a [Vec3],
    pub sets: &'a Sets,
    /// Returns the indices on the boundary.
    pub surface: &'a dyn Fn() -> Vec<u32>,
    /// Reads indices from a file; the first is 0.
    pub file: &'a dyn Fn(&str) -> Result<Vec<u32>, String>,
}

/// Face of an object: the index of the object, then the element and its side.
pub(super) type ObjectFace = (usize, ElementFace);

/// Faces to select from.
pub(super) struct FaceChoice<'a> {
    pub sets: &'a BTreeMap<String, Vec<ObjectFace>>,
    /// Returns all faces of the boundary.
    pub boundary: &'a dyn Fn() -> Vec<ObjectFace>,
    /// Returns the faces of the boundary that have all their vertices among the given ones.
    pub within: &'a dyn Fn(&[u32]) -> Vec<ObjectFace>,
}

/// Tolerance for rounding at the faces of a box, a ball or a plane, relative to the size of the mesh.
const ROUNDING: f64 = 1e-9;

impl Selection {
    /// Returns the selected indices, ascending and unique. An empty selection is an error.
    pub(super) fn choose(&self, from: &Choice<'_>) -> Result<Vec<u32>, String> {
        let chosen = self.find(from)?;
        if chosen.is_empty() {
            return Err(format!("no {} is selected by this; {}", from.what, extent(from.points)));
        }
        Ok(chosen)
    }

    /// Returns true if the selection names a face set.
    pub(super) fn names_faces(&self, faces: &FaceChoice<'_>) -> bool {
        match self {
            Self::Named(name) | Self::Where(Where::Set(name)) => faces.sets.contains_key(name),
            Self::Where(Where::Any(list) | Where::Every(list)) => list.iter().any(|part| part.names_faces(faces)),
            Self::Where(Where::Not(other)) => other.names_faces(faces),
            Self::Where(_) => false,
        }
    }

    /// Returns the selected faces, ascending and unique; may be empty. Face sets give exactly their faces. All other
    /// selections give the boundary faces between their vertices.
    pub(super) fn find_faces(&self, from: &Choice<'_>, faces: &FaceChoice<'_>) -> Result<Vec<ObjectFace>, String> {
        if !self.names_faces(faces) {
            return Ok(sorted((faces.within)(&self.find(from)?)));
        }
        Ok(match self {
            Self::Named(name) | Self::Where(Where::Set(name)) => sorted(faces.sets[name].clone()),
            Self::Where(Where::Any(list)) => {
                let mut chosen = Vec::new();
                for part in list {
                    chosen.extend(part.find_faces(from, faces)?);
                }
                sorted(chosen)
            }
            Self::Where(Where::Every(list)) => {
                let mut chosen: Option<Vec<ObjectFace>> = None;
                for part in list {
                    let part = part.find_faces(from, faces)?;
                    chosen = Some(chosen.map_or_else(
                        || part.clone(),
                        |mut chosen| {
                            chosen.retain(|face| part.binary_search(face).is_ok());
                            chosen
                        },
                    ));
                }
                chosen.unwrap_or_default()
            }
            Self::Where(Where::Not(other)) => {
                let others = other.find_faces(from, faces)?;
                let mut chosen = (faces.boundary)();
                chosen.retain(|face| others.binary_search(face).is_err());
                sorted(chosen)
            }
            Self::Where(_) => Vec::new(),
        })
    }

    /// Returns the selected indices, ascending and unique; may be empty.
    fn find(&self, from: &Choice<'_>) -> Result<Vec<u32>, String> {
        let slack = ROUNDING * size(from.points);
        let by = |test: &dyn Fn(Vec3) -> bool| {
            (0..from.points.len() as u32).filter(|&index| test(from.points[index as usize])).collect::<Vec<u32>>()
        };
        Ok(match self {
            Self::Named(name) => named(name, from)?,
            Self::Where(Where::Set(name)) => set(name, from)?,
            Self::Where(Where::Box { from: low, to: high }) => {
                let (low, high) = (vec3(low), vec3(high));
                if !low.cmple(high).all() {
                    return Err(format!("the box goes from {low} to {high}, expected the smaller coordinates first"));
                }
                by(&|x| (x + slack).cmpge(low).all() && (x - slack).cmple(high).all())
            }
            Self::Where(Where::Sphere { center, radius }) => {
                if !(radius.si > 0.0) {
                    return Err(format!("the radius is {} m, expected a positive length", radius.si));
                }
                let center = vec3(center);
                by(&|x| x.distance(center) <= radius.si + slack)
            }
            Self::Where(Where::Side { point, normal }) => {
                let point = vec3(point);
                let Some(normal) = Vec3::from_array(*normal).try_normalize() else {
                    return Err(format!("the normal is {normal:?}, which has no direction"));
                };
                by(&|x| (x - point).dot(normal) >= -slack)
            }
            Self::Where(Where::Indices(indices)) => checked(indices.clone(), from)?,
            Self::Where(Where::Nearest(point)) => {
                let point = vec3(point);
                let distance = |index: &u32| from.points[*index as usize].distance_squared(point);
                let all = 0..from.points.len() as u32;
                all.min_by(|a, b| distance(a).total_cmp(&distance(b))).into_iter().collect()
            }
            Self::Where(Where::File(name)) => checked((from.file)(name)?, from)?,
            Self::Where(Where::Any(list)) => {
                let mut chosen = Vec::new();
                for part in list {
                    chosen.extend(part.find(from)?);
                }
                sorted(chosen)
            }
            Self::Where(Where::Every(list)) if list.is_empty() => {
                return Err("an empty list, expected selections".into());
            }
            Self::Where(Where::Every(list)) => {
                let mut chosen: Vec<u32> = (0..from.points.len() as u32).collect();
                for part in list {
                    let part = part.find(from)?;
                    chosen.retain(|index| part.binary_search(index).is_ok());
                }
                chosen
            }
            Self::Where(Where::Not(other)) => {
                let others = other.find(from)?;
                (0..from.points.len() as u32).filter(|index| others.binary_search(index).is_err()).collect()
            }
        })
    }
}

fn named(name: &str, from: &Choice<'_>) -> Result<Vec<u32>, String> {
    match name {
        "all" if !from.sets.contains_key(name) => Ok((0..from.points.len() as u32).collect()),
        "surface" if !from.sets.contains_key(name) => Ok((from.surface)()),
        _ => set(name, from),
    }
}

fn set(name: &str, from: &Choice<'_>) -> Result<Vec<u32>, String> {
    if let Some(set) = from.sets.get(name) {
        return Ok(sorted(set.clone()));
    }
    let what = from.what;
    let known: Vec<&str> = from.sets.keys().map(String::as_str).chain(["all", "surface"]).collect();
    let hint = hint(name, known.iter().copied());
    Err(format!("there is no {what} set `{name}`{hint} There are {}", known.join(", ")))
}

fn checked(indices: Vec<u32>, from: &Choice<'_>) -> Result<Vec<u32>, String> {
    let count = from.points.len();
    match indices.iter().find(|&&index| index as usize >= count) {
        Some(index) => Err(format!("there is no {} {index}, expected numbers from 0 to {}", from.what, count - 1)),
        None => Ok(sorted(indices)),
    }
}

fn sorted<T: Ord>(mut indices: Vec<T>) -> Vec<T> {
    indices.sort_unstable();
    indices.dedup();
    indices
}

fn bounds(points: &[Vec3]) -> [Vec3; 2] {
    let start = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    points.iter().fold(start, |[low, high], x| [low.min(*x), high.max(*x)])
}

fn size(points: &[Vec3]) -> f64 {
    let [low, high] = bounds(points);
    (high - low).length()
}

fn extent(points: &[Vec3]) -> String {
    let [low, high] = bounds(points);
    format!("there are {} from {low} to {high}", points.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Quantity;
    use pliant::mesh::{Cells, generate};

    fn choose(text: &str) -> Result<Vec<u32>, String> {
        #[derive(Deserialize)]
        struct Line {
            vertices: Selection,
        }
        let mesh = generate::block([2.0, 1.0, 1.0], [2, 1, 1], Cells::Hex).unwrap();
        let line: Line = toml::from_str(&format!("vertices = {text}")).map_err(|error| error.message().to_owned())?;
        line.vertices.choose(&Choice {
            what: "vertex",
            points: mesh.vertices(),
            sets: mesh.vertex_sets(),
            surface: &|| vec![0, 1],
            file: &|name| if name == "a.bou" { Ok(vec![3, 1]) } else { Err("no such file".into()) },
        })
    }

    #[test]
    fn every_kind_of_selection_finds_its_vertices() {
        // Vertices 0 to 2 are along x at y = z = 0.
        assert_eq!(choose("\"x-min\"").unwrap(), [0, 3, 6, 9]);
        assert_eq!(choose("{ set = \"x-min\" }").unwrap(), [0, 3, 6, 9]);
        assert_eq!(choose("\"all\"").unwrap().len(), 12);
        assert_eq!(choose("\"surface\"").unwrap(), [0, 1]);
        assert_eq!(choose("{ box = { from = [0, 0, 0], to = [\"100 cm\", 0, 0] } }").unwrap(), [0, 1]);
        assert_eq!(choose("{ sphere = { center = [2, 0, 0], radius = 1 } }").unwrap(), [1, 2, 5, 8]);
        assert_eq!(choose("{ side = { point = [1.5, 0, 0], normal = [7, 0, 0] } }").unwrap(), [2, 5, 8, 11]);
        assert_eq!(choose("{ indices = [5, 2, 2] }").unwrap(), [2, 5]);
        assert_eq!(choose("{ nearest = [0.9, -3, 0.1] }").unwrap(), [1]);
        assert_eq!(choose("{ file = \"a.bou\" }").unwrap(), [1, 3]);
        assert_eq!(choose("{ any = [\"x-min\", { indices = [1] }] }").unwrap(), [0, 1, 3, 6, 9]);
        assert_eq!(choose("{ every = [\"x-min\", \"y-min\", \"z-min\"] }").unwrap(), [0]);
        assert_eq!(choose("{ not = { side = { point = [0.5, 0, 0], normal = [1, 0, 0] } } }").unwrap(), [0, 3, 6, 9]);
    }

    #[test]
    fn what_selects_nothing_or_does_not_exist_is_an_error_that_helps() {
        let error = |text| choose(text).unwrap_err();
        assert!(
            error("\"xmin\"").starts_with("there is no vertex set `xmin`; did you mean `x-min`?"),
            "{}",
            error("\"xmin\"")
        );
        assert!(error("{ indices = [12] }").contains("expected numbers from 0 to 11"));
        assert!(error("{ box = { from = [5, 5, 5], to = [6, 6, 6] } }").contains("there are 12 from [0, 0, 0]"));
        assert!(error("{ box = { from = [1, 0, 0], to = [0, 0, 0] } }").contains("smaller coordinates first"));
        assert!(error("{ side = { point = [0, 0, 0], normal = [0, 0, 0] } }").contains("no direction"));
        assert!(error("{ file = \"b.bou\" }").contains("no such file"));
        assert!(error("{ not = \"all\" }").starts_with("no vertex is selected"));
        assert!(error("{ bax = 1 }").starts_with("unknown variant `bax`"));
        assert!(error("3").contains("expected the name of a set"));
    }

    #[test]
    fn selections_survive_being_written() {
        let selection = Selection::Where(Where::Nearest([Quantity::new(1.0); 3]));
        assert_eq!(toml::Value::try_from(&selection).unwrap().to_string(), "{ nearest = [1.0, 1.0, 1.0] }");
    }
}
