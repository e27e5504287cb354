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
import type { FrameArrays, SlicePlane, Vec3 } from '../protocol';
import { attributeRoom, writeIndex } from './buffers';
import type { RegionColours } from './colours';
import { type Shading, UNKNOWN } from './shading';

export interface SliceChoice {
  axis: 0 | 1 | 2;
  /** Leave away what is on the side of smaller coordinates, instead of larger ones. */
  flip: boolean;
  /** Where the plane crosses its axis, relative to the origin of the stage. */
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
  /** For the materials of everything that is cut; empty without a slice. */
  readonly clip: Plane[] = [];

  private readonly plane = new Plane();
  private readonly fill = new BufferGeometry();
  private readonly lines = new BufferGeometry();
  private readonly edges: LineSegments;

  constructor(
    shading: Shading,
    private readonly colours: RegionColours,
  ) {
    // Triangles of the cut wind either way. Flat shading lights the side one sees.
    const fill = new Mesh(this.fill, shading.material([], { side: DoubleSide, flatShading: true }));
    this.edges = new LineSegments(this.lines, new LineBasicMaterial({ transparent: true }));
    fill.frustumCulled = false;
    this.edges.frustumCulled = false;
    this.object.add(fill, this.edges);
    this.object.visible = false;
  }

  /** Begins to cut, or cuts no more; where, frames say. Returns whether materials must be made anew. */
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

  /** The plane is the one that the frame is cut by, which may be one behind the slider, so that both always fit. */
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
      const region = regions?.[Math.floor(corner / 3)] ?? 0;
      this.colours[byRegion ? 'byRegion' : 'byBody'][region].toArray(colour, 3 * corner);
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
