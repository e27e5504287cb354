// Slice of the bodies: the part in front of a plane is removed, and the cut is closed.

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
import type { FrameArrays, SlicePlane, Vec3 } from '../protocol';
import { attributeRoom, writeIndex } from './buffers';
import type { RegionColors } from './colors';
import { type Shading, UNKNOWN } from './shading';

export interface SliceChoice {
  axis: 0 | 1 | 2;
  /** True to remove the side of smaller coordinates instead of larger ones. */
  flip: boolean;
  /** Intersection of the plane with its axis, relative to the origin of the display. */
  position: number;
}

export function planeOf(choice: SliceChoice): SlicePlane {
  const point: Vec3 = [0, 0, 0];
  const normal: Vec3 = [0, 0, 0];
  point[choice.axis] = choice.position;
  normal[choice.axis] = choice.flip ? -1 : 1;
  return { point, normal };
}

export class Slice {
  readonly object = new Group();
  /** Clipping planes for the materials of all sliced objects; empty without a slice. */
  readonly clip: Plane[] = [];

  private readonly plane = new Plane();
  private readonly fill = new BufferGeometry();
  private readonly lines = new BufferGeometry();
  private readonly edges: LineSegments;

  constructor(
    shading: Shading,
    private readonly colors: RegionColors,
  ) {
    // Triangles of the cut have arbitrary winding. Flat shading lights the visible side.
    const fill = new Mesh(this.fill, shading.material([], { side: DoubleSide, flatShading: true }));
    this.edges = new LineSegments(this.lines, new LineBasicMaterial({ transparent: true }));
    fill.frustumCulled = false;
    this.edges.frustumCulled = false;
    this.object.add(fill, this.edges);
    this.object.visible = false;
  }

  /** Switches the slice on or off; frames define its position. Returns true if materials must be recreated. */
  choose(choice: SliceChoice | null): boolean {
    const toggled = (choice !== null) !== this.clip.length > 0;
    if (toggled && choice) {
      this.placeAt(planeOf(choice));
      this.clip.push(this.plane);
    } else if (toggled) {
      this.clip.length = 0;
      this.object.visible = false;
    }
    return toggled;
  }

  /** Updates the slice with the plane of the frame. It may lag behind the slider, but always matches the cut. */
  update(cut: SlicePlane | null, arrays: FrameArrays, byRegion: boolean): void {
    const { slice_positions: positions, slice_triangles: triangles, slice_regions: regions } = arrays;
    if (this.clip.length === 0 || !cut || !positions || !triangles) {
      this.object.visible = false;
      return;
    }
    this.placeAt(cut);
    this.writeFill(positions, triangles, regions, arrays.slice_values, byRegion);
    attributeRoom(this.lines, 'position', positions.length, 3).set(positions);
    writeIndex(this.lines, arrays.slice_edges ?? new Uint32Array());
    this.object.visible = triangles.length > 0;
  }

  setLineColor(color: Color, opacity: number): void {
    const material = this.edges.material as LineBasicMaterial;
    material.color.copy(color);
    material.opacity = opacity;
  }

  /** Returns true if a point is removed. */
  hides(point: Vector3): boolean {
    return this.clip.length > 0 && this.plane.distanceToPoint(point) < 0;
  }

  /** Writes the triangles of the cut. Corners do not share vertices, so that adjacent regions keep their colors. */
  private writeFill(
    positions: Float32Array,
    triangles: Uint32Array,
    regions: Uint32Array | undefined,
    values: Float32Array | undefined,
    byRegion: boolean,
  ): void {
    const position = attributeRoom(this.fill, 'position', 3 * triangles.length, 3);
    const color = attributeRoom(this.fill, 'color', 3 * triangles.length, 3);
    const value = attributeRoom(this.fill, 'value', triangles.length, 1);
    for (let corner = 0; corner < triangles.length; corner++) {
      const from = 3 * triangles[corner];
      position[3 * corner] = positions[from];
      position[3 * corner + 1] = positions[from + 1];
      position[3 * corner + 2] = positions[from + 2];
      const region = regions?.[Math.floor(corner / 3)] ?? 0;
      this.colors[byRegion ? 'byRegion' : 'byBody'][region].toArray(color, 3 * corner);
      const given = values ? values[triangles[corner]] : Number.NaN;
      value[corner] = Number.isNaN(given) ? UNKNOWN : given;
    }
    this.fill.setDrawRange(0, triangles.length);
  }

  private placeAt({ point, normal }: SlicePlane): void {
    // three.js keeps the side to which a plane's normal points.
    this.plane.setFromNormalAndCoplanarPoint(new Vector3(...normal).negate(), new Vector3(...point));
  }
}
