// Intersection of a ray with the moving surface.

import { type Ray, Vector3 } from 'three';
import type { SurfacePoint, Vec3 } from '../protocol';

export interface Hit extends SurfacePoint {
  point: Vector3;
  distance: number;
}

/**
 * Returns the nearest triangle that a ray intersects (Möller and Trumbore). It tests all triangles, about a millisecond for
 * 50,000: updating a tree of moving triangles would cost more than it saves.
 *
 * `hides` returns true for points that a slice removes. Back faces are then ignored too, as the cut is in front of them.
 */
export function pickTriangle(
  ray: Ray,
  positions: Float32Array,
  triangles: Uint32Array,
  hides: ((point: Vector3) => boolean) | null,
): Hit | null {
  const { x: dx, y: dy, z: dz } = ray.direction;
  const { x: ox, y: oy, z: oz } = ray.origin;
  const point = new Vector3();
  let best: Hit | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = positions[b] - positions[a];
    const uy = positions[b + 1] - positions[a + 1];
    const uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a];
    const vy = positions[c + 1] - positions[a + 1];
    const vz = positions[c + 2] - positions[a + 2];
    const px = dy * vz - dz * vy;
    const py = dz * vx - dx * vz;
    const pz = dx * vy - dy * vx;
    const determinant = ux * px + uy * py + uz * pz;
    // Negative if the ray comes from inside.
    if (determinant === 0 || (hides && determinant < 0)) continue;
    const sx = ox - positions[a];
    const sy = oy - positions[a + 1];
    const sz = oz - positions[a + 2];
    const wb = (sx * px + sy * py + sz * pz) / determinant;
    if (wb < 0 || wb > 1) continue;
    const qx = sy * uz - sz * uy;
    const qy = sz * ux - sx * uz;
    const qz = sx * uy - sy * ux;
    const wc = (dx * qx + dy * qy + dz * qz) / determinant;
    if (wc < 0 || wb + wc > 1) continue;
    const distance = (vx * qx + vy * qy + vz * qz) / determinant;
    if (distance <= 0 || distance >= nearest) continue;
    ray.at(distance, point);
    if (hides?.(point)) continue;
    nearest = distance;
    const weights: Vec3 = [1 - wb - wc, wb, wc];
    best = { triangle: t / 3, weights, point: point.clone(), distance };
  }
  return best;
}
