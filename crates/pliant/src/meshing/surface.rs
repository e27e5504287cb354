//! Triangles as people have them, made fit to enclose something.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use super::MeshingError;
use super::facing::{around, turn_inside_out};
use super::stop::Stop;
use crate::geometry::{Enclosed, Solid, Triangle, TriangleTree, area_vector, crosses};
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// How many boxes of the tree a triangle is compared with in search of crossings. Tangles have more, and needles that all meet in one point.
const MOST_BOXES: usize = 600;

/// How often triangles without area are looked through for those that close nothing.
const ROUNDS_OF_FLAT: usize = 8;

/// Vertices nearer than this are one, as a part of the longest side.
const SAME_PLACE: f64 = 2e-6;

/// What was found in a surface, and done about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Triangles in all; polygons were cut into triangles.
    pub triangles: usize,
    /// Vertices at the very place of another, which were joined to it.
    pub joined_vertices: usize,
    /// Triangles without area, left out.
    pub without_area: usize,
    /// Triangles that were there before, left out.
    pub duplicates: usize,
    /// Triangles that are there with both sides, as walls within: left out together.
    pub walls: usize,
    /// Triangles turned around to agree with their neighbours.
    pub turned: usize,
    /// Pieces that were inside out as a whole and were turned.
    pub inside_out: usize,
    /// Pieces that hang together by edges.
    pub pieces: usize,
    /// Edges with a triangle on one side only: there are holes, or it is a sheet.
    pub open_edges: usize,
    /// True if the surface is open and has no inside, as a sheet has none.
    pub is_sheet: bool,
    /// Edges of three or more triangles, or whose triangles cannot agree about outside.
    pub tangled_edges: usize,
    /// Triangles that cross another one.
    pub crossing: usize,
}

impl Findings {
    /// One sentence for each thing that was wrong.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |count: usize, one: &str, many: &str| match count {
            0 => {}
            1 => lines.push(format!("1 {one}")),
            _ => lines.push(format!("{count} {many}")),
        };
        say(self.without_area, "triangle has no area and was left out", "triangles have no area and were left out");
        say(self.duplicates, "triangle was there twice: one is enough", "triangles were there before: once is enough");
        say(self.walls, "triangle of a wall within was left out", "triangles of walls within were left out");
        say(
            self.turned,
            "triangle faced the wrong way and was turned",
            "triangles faced the wrong way and were turned",
        );
        say(self.inside_out, "piece was inside out and was turned", "pieces were inside out and were turned");
        let (one, many) = if self.is_sheet {
            ("edge is open, and nothing is inside", "edges are open, and nothing is inside")
        } else {
            (
                "edge is open: the surface has a hole, which was closed as a soap film would",
                "edges are open: the surface has holes, which were closed as soap films would",
            )
        };
        say(self.open_edges, one, many);
        say(
            self.tangled_edges,
            "edge has more than two triangles, or triangles that cannot agree about outside",
            "edges have more than two triangles, or triangles that cannot agree about outside",
        );
        say(
            self.crossing,
            "triangle at least crosses another: what is inside of either is inside",
            "triangles at least cross others: what is inside of either is inside",
        );
        lines
    }

    /// True if the surface was closed and clean as it came. Vertices that were joined, as files without numbers need, do
    /// not count.
    pub fn is_clean(&self) -> bool {
        self.lines().is_empty()
    }
}

/// A surface that encloses something, as far as it can.
#[derive(Debug, Clone)]
pub struct Surface {
    enclosed: Enclosed,
    /// What does not count for inside and outside, but belongs to the surface.
    left_out: TriangleTree,
    findings: Findings,
    outer_pieces: usize,
    volume: Option<f64>,
}

impl Surface {
    /// Clean and orient the triangles of `mesh`.
    ///
    /// Vertices at one place are joined; triangles without area, repeated ones and walls within are left out; neighbours are
    /// turned to agree, by majority, and pieces that are inside out are turned as a whole. A piece that faces inward
    /// within another one is a cavity and stays.
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
        let is_clean = findings.open_edges + findings.tangled_edges + findings.crossing == 0;
        let volume = is_clean.then(|| volume(&enclosed, &pieces)).filter(|volume| *volume > 0.0);
        let mut counted: Vec<[u32; 3]> = numbers.iter().map(|&t| sorted(t)).collect();
        counted.par_sort_unstable();
        let is_left_out = |t: &[u32; 3]| counted.binary_search(&sorted(*t)).is_err();
        let left_out =
            TriangleTree::new(all.iter().filter(|t| is_left_out(t)).map(|t| t.map(|v| vertices[v as usize])));
        let outer_pieces = outer_pieces(&vertices, &numbers);
        Ok(Self { enclosed, left_out, findings, outer_pieces, volume })
    }

    /// The triangles that are left, facing outward.
    pub fn triangles(&self) -> &[Triangle] {
        self.enclosed.tree().triangles()
    }

    /// What they enclose.
    pub fn enclosed(&self) -> &Enclosed {
        &self.enclosed
    }

    /// Triangles that do not count for inside and outside, but belong to the surface: those without area and walls.
    pub fn left_out(&self) -> &TriangleTree {
        &self.left_out
    }

    /// The volume that it encloses, if it is closed and nowhere crosses or touches itself.
    pub fn volume(&self) -> Option<f64> {
        self.volume
    }

    /// The number of pieces of the surface that are not cavities: those that face outward, or nowhere.
    pub fn outer_pieces(&self) -> usize {
        self.outer_pieces
    }

    /// What was found and done.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }
}

/// Returns true if something is inside directly behind a triangle; of many triangles a sample is tried.
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

/// The number of pieces that hang together by vertices, but for those with a negative volume.
fn outer_pieces(vertices: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    // Every vertex points to another of its piece, the first one to itself.
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
    // Flat pieces have a volume that is nothing but rounding.
    pieces.values().filter(|(volume, area)| *volume > -1e-9 * area.powf(1.5)).count()
}

/// Sizes beyond these lose their digits when lengths are multiplied.
pub(super) fn check_size(low: Vec3, high: Vec3) -> Result<(), MeshingError> {
    let (size, distance) = ((high - low).max_element(), low.abs().max(high.abs()).max_element());
    if (1e-40..=1e40).contains(&size) && distance <= 1e6 * size {
        return Ok(());
    }
    Err(MeshingError::Size { size, distance })
}

/// Triangles between vertices of which no two are at one place, but for rounding.
fn joined(mesh: &SurfaceMesh, findings: &mut Findings) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let [low, high] = mesh.bounding_box();
    let near = SAME_PLACE * (high - low).max_element();
    // In cubes four times as wide, so that few points have to look into the next one too.
    let mut places: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(mesh.vertices().len());
    let mut vertices: Vec<Vec3> = Vec::new();
    let mut used = vec![false; mesh.vertices().len()];
    mesh.faces().vertices().iter().for_each(|&v| used[v as usize] = true);
    let number: Vec<u32> = mesh
        .vertices()
        .iter()
        .zip(&used)
        .map(|(&p, used)| {
            // What no triangle uses may be anywhere.
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

/// Triangles with an area, and those without one that close a surface: between one edge and two halves of it.
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
    // Those with an edge of their own close nothing, nor then do those that were closed by them.
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

/// The volume inside of closed pieces that do not cross: that of pieces with the outside in front. Pieces within others that face outward have the inside on both sides,
/// and change nothing; those that face inward are cavities.
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

/// Each triangle once; those that are there from both sides are walls between two rooms, and not there at all. But if most
/// are, the surface was made to be seen from both sides, and one side is the surface.
fn without_repetition(triangles: &[[u32; 3]], findings: &mut Findings) -> Vec<[u32; 3]> {
    // By corners, then by which way around.
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
        // Of a surface with two sides, the one that came first.
        let first = |way: Option<bool>| face.iter().filter(|s| way.is_none_or(|w| s.1 == w)).map(|s| s.2).min();
        let kept = if is_wall(face) { first(None) } else { first(Some(majority)) };
        keep.extend(kept);
        findings.duplicates += face.len() - 1;
    }
    keep.sort_unstable();
    keep.iter().map(|&index| triangles[index as usize]).collect()
}

/// An edge as a triangle has it: the vertices in ascending order, whether the triangle runs that way, and which it is.
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

/// Whether every edge is run through as often one way as the other.
fn is_balanced(triangles: &[[u32; 3]]) -> bool {
    edges(&sides(triangles)).all(|edge| 2 * edge.iter().filter(|side| side.2).count() == edge.len())
}

/// Turn triangles to agree with those across their edges, the fewer in each piece; returns the triangles of each piece.
fn orient(vertices: &[Vec3], triangles: &mut [[u32; 3]], findings: &mut Findings) -> Vec<Vec<u32>> {
    let sides = sides(triangles);
    // Across edges of two triangles, the neighbour and whether both run the same way there.
    let mut across: Vec<Vec<(u32, bool)>> = vec![Vec::new(); triangles.len()];
    for edge in edges(&sides) {
        match edge {
            [_] => findings.open_edges += 1,
            [one, other] => {
                let same = one.2 == other.2;
                across[one.3 as usize].push((other.3, same));
                across[other.3 as usize].push((one.3, same));
            }
            _ => findings.tangled_edges += 1,
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
            for &(neighbour, same) in &across[triangle] {
                let wanted = turned[triangle] == Some(!same);
                match turned[neighbour as usize] {
                    None => {
                        turned[neighbour as usize] = Some(wanted);
                        piece.push(neighbour);
                    }
                    // As on a Möbius band; seen from both ends, so that it counts once.
                    Some(found) => {
                        findings.tangled_edges += usize::from(found != wanted && (neighbour as usize) < triangle);
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

/// Without pieces that end at edges of others only and have the inside on both sides, as a wall between two rooms.
fn without_walls(
    vertices: &[Vec3],
    triangles: Vec<[u32; 3]>,
    pieces: &[Vec<u32>],
    findings: &mut Findings,
) -> Vec<[u32; 3]> {
    if findings.tangled_edges == 0 || pieces.len() == 1 {
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

/// How many triangles cross one that they share no corner with.
fn crossings(numbers: &[[u32; 3]], tree: &TriangleTree, stop: &Stop) -> usize {
    let crossing = |index: usize| {
        let own = tree.triangles()[index];
        let apart = |other: &[u32; 3]| other.iter().all(|v| !numbers[index].contains(v));
        let mut near = tree.near_in(own, MOST_BOXES);
        near.any(|other| apart(&numbers[other as usize]) && crosses(own, tree.triangle(other)))
    };
    (0..numbers.len()).into_par_iter().filter(|&index| !stop.is_asked() && crossing(index)).count()
}
