//! Repair of imperfect triangle surfaces, so that they enclose a volume.

use std::collections::HashMap;

use rayon::prelude::*;

use super::MeshingError;
use super::facing::{around, turn_inside_out};
use super::stop::Stop;
use crate::geometry::{Enclosed, Solid, Triangle, TriangleTree, area_vector, crosses};
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// Maximum number of tree boxes that a triangle is compared with in search of intersections. Tangles have more, as do
/// slivers that all meet in one point.
const MAX_BOXES: usize = 600;

/// Number of passes that remove degenerate triangles that close no gap.
const ROUNDS_OF_FLAT: usize = 8;

/// Distance below which vertices are merged, relative to the longest side.
const SAME_PLACE: f64 = 2e-6;

/// Defects found in a surface, and their repair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Findings {
    /// Total number of triangles, after the triangulation of polygons.
    pub triangles: usize,
    /// Number of vertices merged with another at the same position.
    pub joined_vertices: usize,
    /// Number of triangles without area, which were removed.
    pub without_area: usize,
    /// Number of repeated triangles, which were removed.
    pub duplicates: usize,
    /// Number of triangles that occur in both orientations, as internal walls. Both were removed.
    pub walls: usize,
    /// Number of triangles that were flipped to agree with their neighbors.
    pub turned: usize,
    /// Number of pieces that were inside out as a whole and were flipped.
    pub inside_out: usize,
    /// Number of pieces connected by edges.
    pub pieces: usize,
    /// Number of edges with a triangle on one side only: there are holes, or the surface is a sheet.
    pub open_edges: usize,
    /// True if the surface is open and has no inside, such as a sheet.
    pub is_sheet: bool,
    /// Number of edges with three or more triangles, or whose triangles cannot be oriented consistently.
    pub non_manifold_edges: usize,
    /// Number of triangles that intersect another one.
    pub crossing: usize,
}

impl Findings {
    /// Returns one sentence per kind of defect.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |count: usize, one: &str, many: &str| match count {
            0 => {}
            1 => lines.push(format!("1 {one}")),
            _ => lines.push(format!("{count} {many}")),
        };
        say(self.without_area, "triangle has no area and was removed", "triangles have no area and were removed");
        say(self.duplicates, "repeated triangle was removed", "repeated triangles were removed");
        say(self.walls, "triangle of an internal wall was removed", "triangles of internal walls were removed");
        say(
            self.turned,
            "triangle faced the wrong way and was flipped",
            "triangles faced the wrong way and were flipped",
        );
        say(self.inside_out, "piece was inside out and was flipped", "pieces were inside out and were flipped");
        let (one, many) = if self.is_sheet {
            ("edge is open, and nothing is enclosed", "edges are open, and nothing is enclosed")
        } else {
            (
                "edge is open: the surface has a hole, which was closed smoothly",
                "edges are open: the surface has holes, which were closed smoothly",
            )
        };
        say(self.open_edges, one, many);
        say(
            self.non_manifold_edges,
            "edge is non-manifold or cannot be oriented consistently",
            "edges are non-manifold or cannot be oriented consistently",
        );
        say(
            self.crossing,
            "triangle at least intersects another: the union of their interiors is inside",
            "triangles at least intersect others: the union of their interiors is inside",
        );
        lines
    }

    /// Returns true if the surface was closed and free of defects. Merged vertices, which files without vertex numbers
    /// need, do not count.
    pub fn is_clean(&self) -> bool {
        self.lines().is_empty()
    }
}

/// Surface that encloses a volume, as far as possible.
#[derive(Debug, Clone)]
pub struct Surface {
    enclosed: Enclosed,
    /// Triangles that belong to the surface but do not determine inside and outside.
    left_out: TriangleTree,
    findings: Findings,
    outer_pieces: usize,
    volume: Option<f64>,
}

impl Surface {
    /// Cleans and orients the triangles of `mesh`.
    ///
    /// Vertices at the same position are merged. Triangles without area, repeated ones and internal walls are removed.
    /// Neighbors are flipped to agree, by majority, and pieces that are inside out are flipped as a whole. A piece that
    /// faces inward within another one is a cavity and stays.
    pub fn new(mesh: &SurfaceMesh) -> Result<Self, MeshingError> {
        let [low, high] = mesh.bounding_box();
        if low == high {
            return Err(MeshingError::NoArea { count: mesh.triangles().count() });
        }
        check_size(low, high)?;
        let stop = Stop::current();
        let mut findings = Findings::default();
        let (vertices, all) = joined(mesh, &mut findings);
        stop.check()?;
        let triangles = with_area(&vertices, &all);
        findings.without_area = all.len() - triangles.len();
        let mut triangles = without_repetition(&triangles, &mut findings);
        if triangles.is_empty() {
            let count = findings.triangles;
            let has_area = |t: [u32; 3]| area_vector(t.map(|v| mesh.vertices()[v as usize])) != Vec3::ZERO;
            if mesh.triangles().any(has_area) {
                let size = (high - low).max_element();
                return Err(MeshingError::TooSmall { count, near: SAME_PLACE * size, size });
            }
            return Err(MeshingError::NoArea { count });
        }
        stop.check()?;
        let pieces = orient(&vertices, &mut triangles, &mut findings);
        stop.check()?;
        turn_inside_out(&vertices, &mut triangles, &pieces, &mut findings);
        stop.check()?;
        let triangles = without_walls(&vertices, triangles, &pieces, &mut findings);
        let (closed, numbers) = (is_balanced(&triangles), triangles);
        let enclosed = Enclosed::new(numbers.iter().map(|t| t.map(|v| vertices[v as usize])), closed);
        stop.check()?;
        findings.is_sheet = findings.open_edges > 0 && !has_inside(&enclosed);
        stop.check()?;
        findings.crossing = crossings(&numbers, enclosed.tree(), &stop);
        stop.check()?;
        let is_clean = findings.open_edges + findings.non_manifold_edges + findings.crossing == 0;
        let volume = is_clean.then(|| volume(&enclosed, &pieces)).filter(|volume| *volume > 0.0);
        let mut counted: Vec<[u32; 3]> = numbers.iter().map(|&t| sorted(t)).collect();
        counted.par_sort_unstable();
        let is_left_out = |t: &[u32; 3]| counted.binary_search(&sorted(*t)).is_err();
        let left_out =
            TriangleTree::new(all.iter().filter(|t| is_left_out(t)).map(|t| t.map(|v| vertices[v as usize])));
        let outer_pieces = outer_pieces(&vertices, &numbers);
        Ok(Self { enclosed, left_out, findings, outer_pieces, volume })
    }

    /// Returns the remaining triangles, facing outward.
    pub fn triangles(&self) -> &[Triangle] {
        self.enclosed.tree().triangles()
    }

    /// Returns the solid that they enclose.
    pub fn enclosed(&self) -> &Enclosed {
        &self.enclosed
    }

    /// Returns the triangles that belong to the surface but do not determine inside and outside: those without area and
    /// walls.
    pub fn left_out(&self) -> &TriangleTree {
        &self.left_out
    }

    /// Returns the enclosed volume, if the surface is closed and does not intersect or touch itself.
    pub fn volume(&self) -> Option<f64> {
        self.volume
    }

    /// Returns the number of pieces that are not cavities: those that face outward or have no orientation.
    pub fn outer_pieces(&self) -> usize {
        self.outer_pieces
    }

    /// Returns the defects and their repair.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

/// Returns true if the inside begins directly behind a triangle. Of many triangles, a sample is tested.
fn has_inside(enclosed: &Enclosed) -> bool {
    /// Distance from the triangle relative to its size.
    const BEHIND: f64 = 1e-2;
    const SAMPLES: usize = 1000;
    let triangles = enclosed.tree().triangles();
    triangles.par_iter().step_by(triangles.len().div_ceil(SAMPLES)).any(|&triangle| {
        let [a, b, c] = triangle;
        let normal = area_vector(triangle);
        // An area of 1 has a size of 1.
        enclosed.contains((a + b + c) / 3.0 - BEHIND * normal / normal.length().sqrt().max(f64::MIN_POSITIVE))
    })
}

/// Returns the number of pieces connected by vertices, except for those with a negative volume.
fn outer_pieces(vertices: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    // Union-find forest: every vertex points to another of its piece, the root to itself.
    let mut parent: Vec<u32> = (0..vertices.len() as u32).collect();
    let root = |parent: &mut Vec<u32>, mut v: u32| {
        while parent[v as usize] != v {
            parent[v as usize] = parent[parent[v as usize] as usize];
            v = parent[v as usize];
        }
        v
    };
    for &[a, b, c] in triangles {
        for v in [b, c] {
            let (one, other) = (root(&mut parent, a), root(&mut parent, v));
            parent[one.max(other) as usize] = one.min(other);
        }
    }
    let mut pieces: HashMap<u32, (f64, f64)> = HashMap::new();
    for t in triangles {
        let root = root(&mut parent, t[0]);
        let origin = vertices[root as usize];
        let corners = t.map(|v| vertices[v as usize] - origin);
        let (volume, area) = pieces.entry(root).or_default();
        *volume += corners[0].dot(corners[1].cross(corners[2])) / 6.0;
        *area += area_vector(corners).length();
    }
    // The volume of a flat piece is only rounding error.
    pieces.values().filter(|(volume, area)| *volume > -1e-9 * area.powf(1.5)).count()
}

/// Rejects sizes at which products of lengths lose their digits.
pub(super) fn check_size(low: Vec3, high: Vec3) -> Result<(), MeshingError> {
    let (size, distance) = ((high - low).max_element(), low.abs().max(high.abs()).max_element());
    if (1e-40..=1e40).contains(&size) && distance <= 1e6 * size {
        return Ok(());
    }
    Err(MeshingError::Size { size, distance })
}

/// Merges vertices at the same position, except for rounding. Returns the vertices and the triangles between them.
fn joined(mesh: &SurfaceMesh, findings: &mut Findings) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let [low, high] = mesh.bounding_box();
    let near = SAME_PLACE * (high - low).max_element();
    // Buckets are four times as wide, so that few points have to search the next one too.
    let mut places: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(mesh.vertices().len());
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut used = vec![false; mesh.vertices().len()];
    mesh.faces().vertices().iter().for_each(|&v| used[v as usize] = true);
    let number: Vec<u32> = mesh
        .vertices()
        .iter()
        .zip(&used)
        .map(|(&p, used)| {
            // Unused vertices may be anywhere.
            if !used {
                return 0;
            }
            let cube = |p: Vec3| ((p - low) / (4.0 * near)).floor().to_array().map(|x| x as i64);
            let (from, to) = (cube(p - near), cube(p + near));
            let nearby = (from[0]..=to[0])
                .flat_map(|i| (from[1]..=to[1]).flat_map(move |j| (from[2]..=to[2]).map(move |k| [i, j, k])))
                .filter_map(|cube| places.get(&cube))
                .flatten()
                .copied()
                .find(|&v| vertices[v as usize].distance(p) <= near);
            nearby.unwrap_or_else(|| {
                vertices.push(p);
                places.entry(cube(p)).or_default().push(vertices.len() as u32 - 1);
                vertices.len() as u32 - 1
            })
        })
        .collect();
    findings.joined_vertices = used.iter().filter(|used| **used).count() - vertices.len();
    let triangles: Vec<[u32; 3]> = mesh.triangles().map(|t| t.map(|v| number[v as usize])).collect();
    findings.triangles = triangles.len();
    (vertices, triangles)
}

/// Returns the triangles with an area, and degenerate ones that close a gap between an edge and its two halves.
fn with_area(vertices: &[Vec3], all: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let has_area = |t: &[u32; 3]| area_vector(t.map(|v| vertices[v as usize])) != Vec3::ZERO;
    let (mut triangles, flat): (Vec<[u32; 3]>, Vec<[u32; 3]>) = all.iter().partition(|t| has_area(t));
    let flat: Vec<[u32; 3]> = flat.into_iter().filter(|[a, b, c]| a != b && b != c && c != a).collect();
    if triangles.is_empty() || flat.is_empty() {
        return triangles;
    }
    let wrong_edges = |triangles: &[[u32; 3]]| edges(&sides(triangles)).filter(|edge| edge.len() != 2).count();
    let count = triangles.len();
    let before = wrong_edges(&triangles);
    triangles.extend(flat);
    // A triangle with an edge that no other shares closes nothing, nor then do those that it closed.
    for _ in 0..ROUNDS_OF_FLAT {
        let mut closes = vec![true; triangles.len()];
        edges(&sides(&triangles)).filter(|edge| edge.len() == 1).for_each(|edge| closes[edge[0].3 as usize] = false);
        closes[..count].fill(true);
        if !closes.contains(&false) {
            break;
        }
        let mut closes = closes.into_iter();
        triangles.retain(|_| closes.next() == Some(true));
    }
    if wrong_edges(&triangles) >= before {
        triangles.truncate(count);
    }
    triangles
}

/// Returns the volume inside closed pieces that do not intersect, from the pieces with the outside in front. Pieces
/// within others that face outward have the inside on both sides and change nothing; those that face inward are
/// cavities.
fn volume(enclosed: &Enclosed, pieces: &[Vec<u32>]) -> f64 {
    let triangle = |t: &u32| enclosed.tree().triangle(*t);
    let origin = triangle(&0)[0];
    let cone = |t: &u32| {
        let [a, b, c] = triangle(t).map(|x| x - origin);
        a.dot(b.cross(c)) / 6.0
    };
    let is_boundary =
        |piece: &&Vec<u32>| (0.0..1.0).contains(&around(enclosed, &piece.iter().map(triangle).collect::<Vec<_>>()));
    let volumes: Vec<f64> =
        pieces.par_iter().filter(is_boundary).map(|piece| piece.iter().map(cone).sum::<f64>()).collect();
    volumes.iter().sum()
}

fn sorted(mut t: [u32; 3]) -> [u32; 3] {
    t.sort_unstable();
    t
}

/// Returns each triangle once. Triangles that occur in both orientations are walls between two rooms and are removed.
/// If most do, the surface was made to be seen from both sides, and one side is kept.
fn without_repetition(triangles: &[[u32; 3]], findings: &mut Findings) -> Vec<[u32; 3]> {
    // Sorted by corners, then by orientation.
    let mut sides: Vec<([u32; 3], bool, u32)> = (0..)
        .zip(triangles)
        .map(|(index, &[a, b, c])| {
            let corners = sorted([a, b, c]);
            (corners, [[a, b, c], [b, c, a], [c, a, b]].contains(&corners), index)
        })
        .collect();
    sides.par_sort_unstable();
    let faces: Vec<_> = sides.chunk_by(|a, b| a.0 == b.0).collect();
    let even = |face: &&[([u32; 3], bool, u32)]| face.iter().filter(|side| side.1).count();
    let is_wall = |face: &&[([u32; 3], bool, u32)]| 2 * even(face) == face.len();
    let two_sided = 2 * faces.iter().filter(|face| is_wall(face)).count() > faces.len();
    let mut keep: Vec<u32> = Vec::with_capacity(triangles.len());
    for face in &faces {
        if is_wall(face) && !two_sided {
            findings.walls += face.len();
            continue;
        }
        let majority = 2 * even(face) >= face.len();
        // Of a two-sided surface, the side that came first.
        let first = |way: Option<bool>| face.iter().filter(|s| way.is_none_or(|w| s.1 == w)).map(|s| s.2).min();
        let kept = if is_wall(face) { first(None) } else { first(Some(majority)) };
        keep.extend(kept);
        findings.duplicates += face.len() - 1;
    }
    keep.sort_unstable();
    keep.iter().map(|&index| triangles[index as usize]).collect()
}

/// Edge of a triangle: the vertices in ascending order, true if the triangle traverses it in that order, and the
/// triangle's number.
pub(super) type Side = (u32, u32, bool, u32);

pub(super) fn sides(triangles: &[[u32; 3]]) -> Vec<Side> {
    let side = |a: u32, b: u32, triangle: u32| (a.min(b), a.max(b), a < b, triangle);
    let mut sides: Vec<Side> = (0..)
        .zip(triangles)
        .flat_map(|(index, &[a, b, c])| [side(a, b, index), side(b, c, index), side(c, a, index)])
        .collect();
    sides.par_sort_unstable();
    sides
}

pub(super) fn edges(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1))
}

/// Returns true if every edge is traversed equally often in both directions.
fn is_balanced(triangles: &[[u32; 3]]) -> bool {
    edges(&sides(triangles)).all(|edge| 2 * edge.iter().filter(|side| side.2).count() == edge.len())
}

/// Flips the minority of triangles in each piece that disagree with their neighbors. Returns the triangles of each
/// piece.
fn orient(vertices: &[Vec3], triangles: &mut [[u32; 3]], findings: &mut Findings) -> Vec<Vec<u32>> {
    let sides = sides(triangles);
    // Neighbors across edges of two triangles, and true if both traverse the edge in the same direction.
    let mut across: Vec<Vec<(u32, bool)>> = vec![Vec::new(); triangles.len()];
    for edge in edges(&sides) {
        match edge {
            [_] => findings.open_edges += 1,
            [one, other] => {
                let same = one.2 == other.2;
                across[one.3 as usize].push((other.3, same));
                across[other.3 as usize].push((one.3, same));
            }
            _ => findings.non_manifold_edges += 1,
        }
    }
    let mut turned: Vec<Option<bool>> = vec![None; triangles.len()];
    let mut pieces = Vec::new();
    for start in 0..triangles.len() {
        if turned[start].is_some() {
            continue;
        }
        turned[start] = Some(false);
        let mut piece = vec![start as u32];
        let mut next = 0;
        while next < piece.len() {
            let triangle = piece[next] as usize;
            next += 1;
            for &(neighbor, same) in &across[triangle] {
                let wanted = turned[triangle] == Some(!same);
                match turned[neighbor as usize] {
                    None => {
                        turned[neighbor as usize] = Some(wanted);
                        piece.push(neighbor);
                    }
                    // As on a Möbius band. It is seen from both ends, and counted once.
                    Some(found) => {
                        findings.non_manifold_edges += usize::from(found != wanted && (neighbor as usize) < triangle);
                    }
                }
            }
        }
        let area = |t: &u32| area_vector(triangles[*t as usize].map(|v| vertices[v as usize])).length();
        let (total, of_turned): (f64, f64) = piece.iter().fold((0.0, 0.0), |(total, of_turned), t| {
            let area = area(t);
            (total + area, of_turned + if turned[*t as usize] == Some(true) { area } else { 0.0 })
        });
        let turn = of_turned <= 0.5 * total;
        for &t in &piece {
            if turned[t as usize] == Some(turn) {
                triangles[t as usize].swap(1, 2);
                findings.turned += 1;
            }
        }
        pieces.push(piece);
    }
    findings.pieces = pieces.len();
    pieces
}

/// Removes pieces that end only at edges of others and have the inside on both sides, such as a wall between two rooms.
fn without_walls(
    vertices: &[Vec3],
    triangles: Vec<[u32; 3]>,
    pieces: &[Vec<u32>],
    findings: &mut Findings,
) -> Vec<[u32; 3]> {
    if findings.non_manifold_edges == 0 || pieces.len() == 1 {
        return triangles;
    }
    let mut piece_of = vec![0; triangles.len()];
    for (number, piece) in pieces.iter().enumerate() {
        piece.iter().for_each(|&t| piece_of[t as usize] = number);
    }
    let (mut tangled, mut open) = (vec![false; pieces.len()], vec![false; pieces.len()]);
    for edge in edges(&sides(&triangles)) {
        let ends = if edge.len() > 2 { &mut tangled } else { &mut open };
        if edge.len() != 2 {
            edge.iter().for_each(|side| ends[piece_of[side.3 as usize]] = true);
        }
    }
    let corners = |t: u32| triangles[t as usize].map(|v| vertices[v as usize]);
    let all = Enclosed::new((0..triangles.len() as u32).map(corners), false);
    let is_wall: Vec<bool> = (0..pieces.len())
        .into_par_iter()
        .map(|i| {
            tangled[i] && !open[i] && around(&all, &pieces[i].iter().map(|&t| corners(t)).collect::<Vec<_>>()) > 0.75
        })
        .collect();
    if is_wall.iter().all(|wall| *wall) {
        return triangles;
    }
    let before = triangles.len();
    let kept: Vec<[u32; 3]> =
        triangles.iter().zip(&piece_of).filter(|(_, piece)| !is_wall[**piece]).map(|(t, _)| *t).collect();
    findings.walls += before - kept.len();
    kept
}

/// Returns the number of triangles that intersect one that they share no corner with.
fn crossings(numbers: &[[u32; 3]], tree: &TriangleTree, stop: &Stop) -> usize {
    let crossing = |index: usize| {
        let own = tree.triangles()[index];
        let apart = |other: &[u32; 3]| other.iter().all(|v| !numbers[index].contains(v));
        let mut near = tree.near_in(own, MAX_BOXES);
        near.any(|other| apart(&numbers[other as usize]) && crosses(own, tree.triangle(other)))
    };
    (0..numbers.len()).into_par_iter().filter(|&index| !stop.is_asked() && crossing(index)).count()
}
