// `window.pliant`: read-only state of the page for tests and the browser's console.

import { Vector3 } from 'three';
import type { Latency } from './latency';
import type { DisplayScene, Frame, Settings, Vec3 } from './protocol';
import type { Session } from './session';
import type { View } from './viewport/view';

export interface Diagnostics {
  /** True if a frame has been drawn. */
  readonly ready: boolean;
  /** Headers of the last messages; see crates/pliant-viewer/PROTOCOL.md. */
  readonly display: DisplayScene | null;
  readonly settings: Settings | null;
  readonly frame: Frame | null;
  /** Number of frames drawn since the page was loaded, and in the last second. */
  readonly framesRendered: number;
  readonly fps: number;
  /** Median time of the last inputs from moving the pointer to drawing the effect, in ms. */
  readonly latency: number | null;
  /** Mean time in JavaScript to process a frame (positions, normals, values, slice), in ms. */
  readonly updateMs: number;
  /** Number of drawn vertices, including duplicates at sharp edges. */
  readonly drawnVertices: number;
  /** Returns a copy of the surface vertex positions, relative to the origin of the display. */
  positions(): Float32Array;
  /** Returns the position of a surface vertex on the page, in CSS pixels. */
  project(vertex: number): [number, number];
  /** Returns the position on the page, in CSS pixels, of a point relative to the origin of the display. */
  projectPoint(point: Vec3): [number, number];
  /** Returns the surface point at a position on the page. */
  pick(x: number, y: number): { triangle: number; weights: Vec3; point: Vec3 } | null;
  /** Returns the current position of a point of a triangle. */
  pointAt(triangle: number, weights: Vec3): Vec3;
}

declare global {
  interface Window {
    pliant: Diagnostics;
  }
}

export function expose(session: Session, view: View, latency: Latency): void {
  window.pliant = Object.freeze({
    get ready() {
      return session.frame !== null;
    },
    get display() {
      return session.display;
    },
    get settings() {
      return session.settings;
    },
    get frame() {
      return session.frame;
    },
    get framesRendered() {
      return session.framesRendered;
    },
    get fps() {
      return session.framesPerSecond;
    },
    get latency() {
      return latency.median;
    },
    get updateMs() {
      return session.updateMs;
    },
    get drawnVertices() {
      return session.world?.surface.drawnVertices ?? 0;
    },
    positions: () => session.world?.surface.positions.slice() ?? new Float32Array(),
    project: (vertex: number): [number, number] => {
      if (!session.world) throw new Error('there is no display yet');
      return view.project(session.world.surface.vertex(vertex));
    },
    projectPoint: (point: Vec3): [number, number] => view.project(new Vector3(...point)),
    pick: (x: number, y: number) => {
      const hit = session.world?.pick(view.ray(x, y));
      return hit ? { triangle: hit.triangle, weights: hit.weights, point: hit.point.toArray() } : null;
    },
    pointAt: (triangle: number, weights: Vec3): Vec3 => {
      if (!session.world) throw new Error('there is no display yet');
      return session.world.pointAt(triangle, weights).toArray();
    },
  });
}
