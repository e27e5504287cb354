// Small squares on vertices that are held by the scene or pinned by hand.

import { BufferGeometry, Color, Group, type Plane, Points, PointsMaterial } from 'three';
import type { FrameArrays } from '../protocol';
import type { Palette } from '../theme';
import { attributeRoom } from './buffers';

export class Markers {
  readonly object = new Group();
  private readonly held: Points;
  private readonly pinned: Points;

  constructor(clip: Plane[]) {
    this.held = points(5, clip);
    this.pinned = points(8, clip);
    this.object.add(this.held, this.pinned);
  }

  update(arrays: FrameArrays): void {
    write(this.held.geometry, arrays.held);
    write(this.pinned.geometry, arrays.pinned);
  }

  paint(palette: Palette): void {
    (this.held.material as PointsMaterial).color = new Color(palette.held);
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
