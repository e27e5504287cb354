// Grouping of triangle corners that share a normal, found once from the body at rest, so that boxes have sharp edges.

/** Cosine of the minimum angle between the normals of two faces at a sharp edge. */
const SHARP = Math.cos((40 * Math.PI) / 180);

export interface RenderMesh {
  /** Three drawn vertices per triangle. */
  index: Uint32Array;
  /** Surface vertex of each drawn vertex. The surface vertices come first, then their duplicates. */
  source: Uint32Array;
  /** Drawn vertex that accumulates the normal of each triangle corner. */
  gather: Uint32Array;
  /** Drawn vertex whose normal each drawn vertex has: itself, except for duplicates that differ only in their region. */
  normalOf: Uint32Array;
}

/**
 * Duplicates vertices where faces meet at a sharp edge and where regions meet, so that each duplicate has one normal and
 * one color. Regions do not make an edge sharp.
 */
export function splitVertices(rest: Float32Array, triangles: Uint32Array, regions: Uint32Array): RenderMesh {
  const vertices = rest.length / 3;
  const faces = faceNormals(rest, triangles);
  const { starts, corners } = cornersOfVertices(triangles, vertices);

  const index = new Uint32Array(triangles.length);
  const gather = new Uint32Array(triangles.length);
  const source = Array.from({ length: vertices }, (_, vertex) => vertex);
  const normalOf = Array.from(source);
  const double = (vertex: number, normal: number | null) => {
    const made = source.length;
    source.push(vertex);
    normalOf.push(normal ?? made);
    return made;
  };

  for (let vertex = 0; vertex < vertices; vertex++) {
    const around = corners.subarray(starts[vertex], starts[vertex + 1]);
    const group = smoothGroups(around, triangles, faces);
    let untaken = true;
    const normals = new Map<number, number>();
    const drawn = new Map<string, number>();
    around.forEach((corner, i) => {
      const region = regions[Math.floor(corner / 3)];
      const key = `${group[i]} ${region}`;
      let made = drawn.get(key);
      if (made === undefined) {
        made = untaken ? vertex : double(vertex, normals.get(group[i]) ?? null);
        untaken = false;
        drawn.set(key, made);
        if (!normals.has(group[i])) normals.set(group[i], made);
      }
      index[corner] = made;
      gather[corner] = normalOf[made];
    });
  }
  return { index, gather, source: Uint32Array.from(source), normalOf: Uint32Array.from(normalOf) };
}

/** Returns the group of each corner at a vertex. Faces that meet there at smooth edges are one group. */
function smoothGroups(around: Uint32Array, triangles: Uint32Array, faces: Float32Array): number[] {
  const group = Array.from(around, (_, i) => i);
  for (let i = 0; i < around.length; i++) {
    for (let j = 0; j < i; j++) {
      if (group[i] !== group[j] && isSmooth(around[i], around[j], triangles, faces)) {
        const [from, to] = [group[i], group[j]];
        for (let k = 0; k <= i; k++) {
          if (group[k] === from) group[k] = to;
        }
      }
    }
  }
  return group;
}

/** Returns true if the triangles of two corners at the same vertex share a smooth edge there. */
function isSmooth(a: number, b: number, triangles: Uint32Array, faces: Float32Array): boolean {
  const [s, t] = [Math.floor(a / 3), Math.floor(b / 3)];
  const [a1, a2] = [triangles[3 * s + ((a + 1) % 3)], triangles[3 * s + ((a + 2) % 3)]];
  const [b1, b2] = [triangles[3 * t + ((b + 1) % 3)], triangles[3 * t + ((b + 2) % 3)]];
  if (a1 !== b1 && a1 !== b2 && a2 !== b1 && a2 !== b2) return false;
  const cosine =
    faces[3 * s] * faces[3 * t] + faces[3 * s + 1] * faces[3 * t + 1] + faces[3 * s + 2] * faces[3 * t + 2];
  return cosine > SHARP;
}

function faceNormals(rest: Float32Array, triangles: Uint32Array): Float32Array {
  const normals = new Float32Array(triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const [ux, uy, uz] = [rest[b] - rest[a], rest[b + 1] - rest[a + 1], rest[b + 2] - rest[a + 2]];
    const [vx, vy, vz] = [rest[c] - rest[a], rest[c + 1] - rest[a + 1], rest[c + 2] - rest[a + 2]];
    const [x, y, z] = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    const length = Math.hypot(x, y, z) || 1;
    normals[t] = x / length;
    normals[t + 1] = y / length;
    normals[t + 2] = z / length;
  }
  return normals;
}

/** Returns the corners at each vertex, vertex by vertex. */
function cornersOfVertices(triangles: Uint32Array, vertices: number): { starts: Uint32Array; corners: Uint32Array } {
  const starts = new Uint32Array(vertices + 1);
  for (const vertex of triangles) starts[vertex + 1] += 1;
  for (let v = 0; v < vertices; v++) starts[v + 1] += starts[v];
  const next = starts.slice();
  const corners = new Uint32Array(triangles.length);
  triangles.forEach((vertex, corner) => {
    corners[next[vertex]] = corner;
    next[vertex] += 1;
  });
  return { starts, corners };
}
