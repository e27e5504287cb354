// Surfaces of the bodies, and the edges of their elements.

import type { Plane } from 'three';
import {
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  Vector3,
} from 'three';
import type { DisplayArrays } from '../protocol';
import { dynamicAttribute } from './buffers';
import type { RegionColors } from './colors';
import { type RenderMesh, splitVertices } from './creases';
import { updateNormals } from './normals';
import { type Shading, UNKNOWN } from './shading';

export class Surface {
  readonly mesh: Mesh;
  readonly wires: LineSegments;
  /** Current bounding box of all vertices. */
  readonly box = new Box3();
  /** Latest positions of the surface vertices from the server. */
  positions: Float32Array;

  private readonly render: RenderMesh;
  private readonly position: BufferAttribute;
  private readonly normal: BufferAttribute;
  private readonly value: BufferAttribute;
  private readonly color: BufferAttribute;
  private isByRegion: boolean | null = null;

  constructor(
    private readonly arrays: DisplayArrays,
    private readonly colors: RegionColors,
    shading: Shading,
    clip: Plane[],
  ) {
    this.positions = arrays.rest;
    this.render = splitVertices(arrays.rest, arrays.triangles, arrays.triangle_regions);
    const drawn = this.render.source.length;
    this.position = dynamicAttribute(new Float32Array(3 * drawn), 3);
    this.normal = dynamicAttribute(new Float32Array(3 * drawn), 3);
    this.value = dynamicAttribute(new Float32Array(drawn), 1);
    this.color = new BufferAttribute(new Float32Array(3 * drawn), 3);

    const skin = new BufferGeometry();
    skin.setAttribute('position', this.position);
    skin.setAttribute('normal', this.normal);
    skin.setAttribute('value', this.value);
    skin.setAttribute('color', this.color);
    skin.setIndex(new BufferAttribute(this.render.index, 1));
    // Both sides are drawn: elements may be inverted, and a slice shows the inside of cavities.
    this.mesh = new Mesh(skin, shading.material(clip, { side: DoubleSide }));
    this.mesh.castShadow = true;
    this.mesh.receiveShadow = true;

    // The first drawn vertices are those of the surface, so edges use the same positions.
    const wires = new BufferGeometry();
    wires.setAttribute('position', this.position);
    wires.setIndex(new BufferAttribute(arrays.edges, 1));
    this.wires = new LineSegments(wires, new LineBasicMaterial({ transparent: true, clippingPlanes: clip }));

    // Bodies move and are almost always in view: culling would cost more than it saves.
    this.mesh.frustumCulled = false;
    this.wires.frustumCulled = false;

    this.colorByRegion(false);
    this.move(arrays.rest);
  }

  /** Number of drawn vertices, including duplicates. */
  get drawnVertices(): number {
    return this.render.source.length;
  }

  move(positions: Float32Array): void {
    this.positions = positions;
    const { source } = this.render;
    const drawn = this.position.array as Float32Array;
    drawn.set(positions);
    for (let v = positions.length / 3; v < source.length; v++) {
      const from = 3 * source[v];
      drawn[3 * v] = positions[from];
      drawn[3 * v + 1] = positions[from + 1];
      drawn[3 * v + 2] = positions[from + 2];
    }
    updateNormals(positions, this.arrays.triangles, this.render, this.normal.array as Float32Array);
    this.position.needsUpdate = true;
    this.normal.needsUpdate = true;
    this.updateBox();
  }

  setValues(values: Float32Array): void {
    const { source } = this.render;
    const drawn = this.value.array as Float32Array;
    for (let v = 0; v < source.length; v++) {
      const value = values[source[v]];
      drawn[v] = Number.isNaN(value) ? UNKNOWN : value;
    }
    this.value.needsUpdate = true;
  }

  /** Colors each region by its color, or by that of its body. */
  colorByRegion(byRegion: boolean): void {
    if (byRegion === this.isByRegion) return;
    this.isByRegion = byRegion;
    const { index } = this.render;
    for (let corner = 0; corner < index.length; corner++) {
      const region = this.arrays.triangle_regions[Math.floor(corner / 3)];
      const color = this.colors[byRegion ? 'byRegion' : 'byBody'][region];
      this.color.setXYZ(index[corner], color.r, color.g, color.b);
    }
    this.color.needsUpdate = true;
  }

  private updateBox(): void {
    const { positions } = this;
    const { min, max } = this.box.makeEmpty();
    for (let i = 0; i < positions.length; i += 3) {
      const x = positions[i];
      const y = positions[i + 1];
      const z = positions[i + 2];
      if (x < min.x) min.x = x;
      if (x > max.x) max.x = x;
      if (y < min.y) min.y = y;
      if (y > max.y) max.y = y;
      if (z < min.z) min.z = z;
      if (z > max.z) max.z = z;
    }
  }

  vertex(index: number): Vector3 {
    return new Vector3().fromArray(this.positions, 3 * index);
  }
}
