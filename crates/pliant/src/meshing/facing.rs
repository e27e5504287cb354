//! Orientation of the pieces of a surface, and the reversal of pieces that are inside out.

use rayon::prelude::*;

use super::surface::{Findings, Side, edges, sides};
use crate::geometry::{Enclosed, Triangle, TriangleTree, area_vector, bounding_box};
use crate::math::Vec3;

/// Offset from a triangle to test its sides, relative to its size. Pieces may be as close together as a millionth of
/// the whole.
const STEP: f64 = 1e-6;

/// Number of triangles per piece that are tested.
const VOTERS: usize = 9;

/// Total number of rays cast to both sides of open pieces. With many pieces, few rays are left for each. Below
/// `TOO_FEW_RAYS`, the pieces are assumed to be oriented correctly.
const RAYS: usize = 50_000;
const RAYS_OF_A_PIECE: usize = 144;
const TOO_FEW_RAYS: usize = 8;

/// Minimum difference between the fractions of rays that begin inside, on the two sides of a piece.
const CLEARLY: f64 = 0.25;

/// Reverses pieces that are inside out: those that face inward and are within no other, with everything within them.
pub(super) fn turn_inside_out(
    vertices: &[Vec3],
    triangles: &mut [[u32; 3]],
    pieces: &[Vec<u32>],
    findings: &mut Findings,
) {
    let corners = |t: u32| triangles[t as usize].map(|v| vertices[v as usize]);
    let inward = facing_inward(vertices, triangles, pieces);
    if !inward.contains(&true) {
        return;
    }
    let outward = |piece: usize, t: u32| {
        let [a, b, c] = corners(t);
        if inward[piece] { [a, c, b] } else { [a, b, c] }
    };
    let all_of = |which: &dyn Fn(usize) -> bool| {
        let chosen = pieces.iter().enumerate().filter(|(i, _)| which(*i));
        Enclosed::new(chosen.flat_map(|(i, piece)| piece.iter().map(move |&t| outward(i, t))), false)
    };
    let all_corners = |piece: &[u32]| piece.iter().map(|&t| corners(t)).collect::<Vec<_>>();
    let everything = all_of(&|_| true);
    let outermost: Vec<bool> = pieces.par_iter().map(|piece| around(&everything, &all_corners(piece)) < 1.0).collect();
    let inside_out = all_of(&|i| inward[i] && outermost[i]);
    let turn: Vec<bool> = (0..pieces.len())
        .into_par_iter()
        .map(|i| if outermost[i] { inward[i] } else { around(&inside_out, &all_corners(&pieces[i])) > 0.5 })
        .collect();
    for (piece, _) in pieces.iter().zip(turn).filter(|(_, turn)| *turn) {
        findings.inside_out += 1;
        piece.iter().for_each(|&t| triangles[t as usize].swap(1, 2));
    }
}

/// Returns true for each piece that faces inward.
///
/// If a piece is closed or nearly so, the sign of its volume decides. A wide open piece, such as a strip between two
/// cuts, may be a concave part of the whole. Rays decide better then: they meet the rest of the surface an odd number
/// of times if they begin inside \[Takayama2014\].
fn facing_inward(vertices: &[Vec3], triangles: &[[u32; 3]], pieces: &[Vec<u32>]) -> Vec<bool> {
    let corners = |t: u32| triangles[t as usize].map(|v| vertices[v as usize]);
    // True if the volume is negative, and true if it is decisive.
    let volume_votes: Vec<(bool, bool)> = pieces
        .par_iter()
        .map(|piece| {
            let own: Vec<[u32; 3]> = piece.iter().map(|&t| triangles[t as usize]).collect();
            let sides = sides(&own);
            let rim: Vec<Vec3> = edges(&sides)
                .filter(|edge| edge.len() == 1)
                .map(|edge: &[Side]| vertices[edge[0].0 as usize])
                .collect();
            let own: Vec<Triangle> = piece.iter().map(|&t| corners(t)).collect();
            // Flat pieces have no orientation.
            let size = own.iter().map(|t| area_vector(*t).length()).sum::<f64>().powf(1.5);
            (volume(&own, &rim) < -1e-9 * size, rim.is_empty() || goes_around(&own))
        })
        .collect();
    let mut inward: Vec<bool> = volume_votes.iter().map(|(inward, _)| *inward).collect();
    let unsure: Vec<usize> = (0..pieces.len()).filter(|&i| !volume_votes[i].1).collect();
    let rays = (RAYS / unsure.len().max(1)).min(RAYS_OF_A_PIECE);
    if pieces.len() == 1 || unsure.is_empty() || rays < TOO_FEW_RAYS {
        return inward;
    }
    let all = TriangleTree::new((0..triangles.len() as u32).map(corners));
    let ray_votes: Vec<f64> = unsure
        .par_iter()
        .map(|&i| inside_in_front(&all, &voters(&pieces[i]).map(|&t| corners(t)).collect::<Vec<_>>(), rays))
        .collect();
    for (&i, told) in unsure.iter().zip(ray_votes).filter(|(_, told)| told.abs() > CLEARLY) {
        inward[i] = told > 0.0;
    }
    inward
}

/// Returns a sample of a piece, spread over it.
fn voters<T>(piece: &[T]) -> impl Iterator<Item = &T> {
    piece.iter().step_by(piece.len().div_ceil(VOTERS).max(1))
}

/// Returns the centroid of a triangle, and a small offset to the side that it faces.
fn middle_and_step(triangle: Triangle) -> (Vec3, Vec3) {
    let area = area_vector(triangle);
    (triangle.iter().sum::<Vec3>() / 3.0, STEP * area.length().sqrt() * area.normalize_or_zero())
}

/// Returns the winding number of a surface around a piece of it, as the mean of both sides. The piece itself
/// contributes one half if it is closed, and nothing if it is flat. This is the median over some triangles, because
/// pieces may intersect.
pub(super) fn around(surface: &Enclosed, piece: &[Triangle]) -> f64 {
    let mut votes: Vec<f64> = voters(piece)
        .map(|&triangle| {
            let (middle, aside) = middle_and_step(triangle);
            0.5 * (surface.winding_number(middle + aside) + surface.winding_number(middle - aside))
        })
        .collect();
    votes.sort_unstable_by(f64::total_cmp);
    votes[votes.len() / 2]
}

/// Returns true if a piece encloses the space between its opposite parts, in either orientation.
fn goes_around(piece: &[Triangle]) -> bool {
    if piece.len() < 3 {
        return false;
    }
    let own = Enclosed::new(piece.iter().copied(), false);
    let [low, high] = bounding_box(piece.iter().flatten().copied());
    let reach = (high - low).length();
    let goes_around = |triangle: &&Triangle| {
        let (middle, aside) = middle_and_step(**triangle);
        [aside, -aside].iter().any(|aside| {
            let (start, end) = (middle + *aside, middle + reach * aside.normalize_or_zero());
            let opposite = own.tree().hits(start, end).first().map(|hit| start.lerp(end, hit.0));
            opposite.is_some_and(|opposite| own.winding_number(0.5 * (middle + opposite)).abs() > 0.5)
        })
    };
    let count = voters(piece).count();
    2 * voters(piece).filter(goes_around).count() > count
}

/// Returns the fraction of rays that begin inside in front of some triangles, minus that behind them.
fn inside_in_front(all: &TriangleTree, triangles: &[Triangle], rays: usize) -> f64 {
    let [low, high] = all.bounds();
    let reach = (high - low).length();
    let pairs = (rays / 2).div_ceil(triangles.len());
    let mut difference = 0.0;
    for (number, &triangle) in triangles.iter().enumerate() {
        let (middle, aside) = middle_and_step(triangle);
        let (normal, along) = (aside.normalize_or_zero(), (triangle[1] - triangle[0]).normalize_or_zero());
        let across = normal.cross(along);
        for pair in 0..pairs {
            // Spread evenly, with more of them near the normal: those along the triangle are less significant.
            let i = (number * pairs + pair) as f64;
            let (u, v) = ((0.5 + i * 0.754_877_666_246_692_8).fract(), (0.5 + i * 0.569_840_290_998_053_2).fract());
            let (sin, cos) = (std::f64::consts::TAU * v).sin_cos();
            let flat = u.sqrt() * (cos * along + sin * across);
            let begins_inside = |side: f64| {
                let start = middle + side * aside;
                let end = start + reach * (flat + side * (1.0 - u).sqrt() * normal);
                !all.hits(start, end).len().is_multiple_of(2)
            };
            difference += f64::from(u8::from(begins_inside(1.0))) - f64::from(u8::from(begins_inside(-1.0)));
        }
    }
    difference / (pairs * triangles.len()) as f64
}

/// Returns the volume inside a piece, whose holes are closed by fans around the centroid of their edges.
fn volume(piece: &[Triangle], rim: &[Vec3]) -> f64 {
    let origin = if rim.is_empty() { piece[0][0] } else { rim.iter().sum::<Vec3>() / rim.len() as f64 };
    piece
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|x| x - origin);
            a.dot(b.cross(c)) / 6.0
        })
        .sum()
}
