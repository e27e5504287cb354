// Normals of a moving surface. They are computed for every frame, so nothing is allocated.

import type { RenderMesh } from './creases';

/**
 * Computes unit normals: the sums of the cross products of adjacent triangles, which weight them by area. `positions` are
 * those of the surface vertices, `normals` those of the drawn vertices.
 */
export function updateNormals(
  positions: Float32Array,
  triangles: Uint32Array,
  { gather, normalOf }: RenderMesh,
  normals: Float32Array,
): void {
  normals.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ax = positions[a];
    const ay = positions[a + 1];
    const az = positions[a + 2];
    const ux = positions[b] - ax;
    const uy = positions[b + 1] - ay;
    const uz = positions[b + 2] - az;
    const vx = positions[c] - ax;
    const vy = positions[c + 1] - ay;
    const vz = positions[c + 2] - az;
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    for (let k = t; k < t + 3; k++) {
      const n = 3 * gather[k];
      normals[n] += x;
      normals[n + 1] += y;
      normals[n + 2] += z;
    }
  }
  for (let v = 0; v < normalOf.length; v++) {
    const n = 3 * v;
    if (normalOf[v] === v) {
      const x = normals[n];
      const y = normals[n + 1];
      const z = normals[n + 2];
      const scale = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
      normals[n] = x * scale;
      normals[n + 1] = y * scale;
      normals[n + 2] = z * scale;
    } else {
      // The source precedes it, so it is already a unit vector.
      const from = 3 * normalOf[v];
      normals[n] = normals[from];
      normals[n + 1] = normals[from + 1];
      normals[n + 2] = normals[from + 2];
    }
  }
}
