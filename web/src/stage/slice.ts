// A plane that cuts the bodies open: what lies in front of it is left away, and the cut is closed.

import {
  BufferGeometry,
  type Color,
  DoubleSide,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  Plane,
  Vector3,
} from 'three';
import type { FrameArrays, Vec3 } from '../protocol';
import { attributeRoom, writeIndex } from './buffers';
import { BODY, regionColour } from './colours';
import { type Shading, UNKNOWN } from './shading';

export interface SliceChoice {
  axis: 0 | 1 | 2;
  /** Leave away what is on the side of smaller coordinates, instead of larger ones. */
  flip: boolean;
  /** Where the plane crosses its axis, relative to the origin of the stage. */
  position: number;
}

/** A point of the plane and the direction in which things are left away. */
export function planeOf(choice: SliceChoice): { point: Vec3; normal: Vec3 } {
  const point: Vec3 = [0, 0, 0];
  const normal: Vec3 = [0, 0, 0];
  point[choice.axis] = choice.position;
  normal[choice.axis] = choice.flip ? -1 : 1;
  return { point, normal };
}

/** Whether a cut is across this axis: after a turn, frames of the cut before may still arrive. */
function liesAcross(positions: Float32Array, axis: number): boolean {
  const samples = [3 * Math.floor(positions.length / 6), positions.length - 3];
  const spread = (along: number) =>
    samples.reduce((sum, at) => sum + Math.abs(positions[at + along] - positions[along]), 0);
  return positions.length === 0 || spread(axis) <= 1e-3 * (spread(0) + spread(1) + spread(2));
}

export class Slice {
  readonly object = new Group();
  /** For the materials of everything that is cut; empty without a slice. */
  readonly clip: Plane[] = [];

  private readonly plane = new Plane();
  private readonly fill = new BufferGeometry();
  private readonly lines = new BufferGeometry();
  private readonly edges: LineSegments;
  private choice: SliceChoice | null = null;

  constructor(shading: Shading) {
    // Triangles of the cut wind either way. Flat shading lights the side one sees.
    const fill = new Mesh(this.fill, shading.material([], { side: DoubleSide, flatShading: true }));
    this.edges = new LineSegments(this.lines, new LineBasicMaterial({ transparent: true }));
    fill.frustumCulled = false;
    this.edges.frustumCulled = false;
    this.object.add(fill, this.edges);
    this.object.visible = false;
  }

  /** Cuts elsewhere; the cut is closed when the next frame brings it. Returns whether materials must be made anew. */
  choose(choice: SliceChoice | null): boolean {
    const turned = choice?.axis !== this.choice?.axis || choice?.flip !== this.choice?.flip;
    this.choice = choice;
    if (turned) this.object.visible = false;
    if (choice && turned) this.placeAt(choice.position);
    const toggled = (choice !== null) !== this.clip.length > 0;
    if (toggled) {
      if (choice) this.clip.push(this.plane);
      else this.clip.length = 0;
    }
    return toggled;
  }

  update(arrays: FrameArrays, byRegion: boolean): void {
    const { slice_positions: positions, slice_triangles: triangles, slice_regions: regions } = arrays;
    if (!this.choice || !positions || !triangles || !liesAcross(positions, this.choice.axis)) {
      this.object.visible = false;
      return;
    }
    // Cut where the server has cut for this frame, which may be one behind the slider, so that both always fit.
    this.placeAt(positions.length > 0 ? positions[this.choice.axis] : this.choice.position);
    this.writeFill(positions, triangles, regions, arrays.slice_values, byRegion);
    attributeRoom(this.lines, 'position', positions.length, 3).set(positions);
    writeIndex(this.lines, arrays.slice_edges ?? new Uint32Array());
    this.object.visible = triangles.length > 0;
  }

  setLineColour(colour: Color, opacity: number): void {
    const material = this.edges.material as LineBasicMaterial;
    material.color.copy(colour);
    material.opacity = opacity;
  }

  /** Whether a point is left away. */
  hides(point: Vector3): boolean {
    return this.clip.length > 0 && this.plane.distanceToPoint(point) < 0;
  }

  /** Corners do not share vertices, so that regions that meet keep their colours. */
  private writeFill(
    positions: Float32Array,
    triangles: Uint32Array,
    regions: Uint32Array | undefined,
    values: Float32Array | undefined,
    byRegion: boolean,
  ): void {
    const position = attributeRoom(this.fill, 'position', 3 * triangles.length, 3);
    const colour = attributeRoom(this.fill, 'color', 3 * triangles.length, 3);
    const value = attributeRoom(this.fill, 'value', triangles.length, 1);
    for (let corner = 0; corner < triangles.length; corner++) {
      const from = 3 * triangles[corner];
      position[3 * corner] = positions[from];
      position[3 * corner + 1] = positions[from + 1];
      position[3 * corner + 2] = positions[from + 2];
      const painted = byRegion && regions ? regionColour(regions[Math.floor(corner / 3)]) : BODY;
      painted.toArray(colour, 3 * corner);
      const given = values ? values[triangles[corner]] : Number.NaN;
      value[corner] = Number.isNaN(given) ? UNKNOWN : given;
    }
    this.fill.setDrawRange(0, triangles.length);
  }

  private placeAt(position: number): void {
    if (!this.choice) return;
    const { point, normal } = planeOf({ ...this.choice, position });
    // three.js keeps the side to which a plane's normal points.
    this.plane.setFromNormalAndCoplanarPoint(new Vector3(...normal).negate(), new Vector3(...point));
  }
}
