// Markers of vertices that the scene fixes or that users have pinned.

import { BufferGeometry, Color, Group, type Plane, Points, PointsMaterial } from 'three';
import type { FrameArrays } from '../protocol';
import type { Palette } from '../theme';
import { attributeRoom } from './buffers';

export class Markers {
  readonly object = new Group();
  private readonly fixed: Points;
  private readonly pinned: Points;

  constructor(clip: Plane[]) {
    this.fixed = points(5, clip);
    this.pinned = points(8, clip);
    this.object.add(this.fixed, this.pinned);
  }

  update(arrays: FrameArrays): void {
    write(this.fixed.geometry, arrays.fixed);
    write(this.pinned.geometry, arrays.pinned);
  }

  paint(palette: Palette): void {
    (this.fixed.material as PointsMaterial).color = new Color(palette.fixed);
    (this.pinned.material as PointsMaterial).color = new Color(palette.pinned);
  }
}

function points(size: number, clip: Plane[]): Points {
  const material = new PointsMaterial({
    size: size * window.devicePixelRatio,
    sizeAttenuation: false,
    clippingPlanes: clip,
  });
  const made = new Points(new BufferGeometry(), material);
  made.frustumCulled = false;
  return made;
}

function write(geometry: BufferGeometry, places: Float32Array = new Float32Array()): void {
  attributeRoom(geometry, 'position', places.length, 3).set(places);
  geometry.setDrawRange(0, places.length / 3);
}
