// `window.pliant`: what tests and curious people may read in the browser's console. It only tells; nothing can be set.

import { Vector3 } from 'three';
import type { Latency } from './latency';
import type { Frame, Settings, Stage, Vec3 } from './protocol';
import type { Session } from './session';
import type { View } from './stage/view';

export interface Diagnostics {
  /** Whether a frame has been drawn. */
  readonly ready: boolean;
  /** Headers of the last messages; see crates/pliant-viewer/PROTOCOL.md. */
  readonly stage: Stage | null;
  readonly settings: Settings | null;
  readonly frame: Frame | null;
  /** Frames drawn since the page was loaded, and those of the last second. */
  readonly framesRendered: number;
  readonly fps: number;
  /** From moving the pointer to drawing its effect, ms: the median of the last inputs. */
  readonly latency: number | null;
  /** JavaScript's part of taking over a frame (positions, normals, values, slice), ms, averaged. */
  readonly updateMs: number;
  /** Vertices that are drawn, with those that sharp edges double. */
  readonly drawnVertices: number;
  /** Of the vertices of the surface, relative to the stage's origin; a copy. */
  positions(): Float32Array;
  /** Where a vertex of the surface is on the page, in CSS pixels. */
  project(vertex: number): [number, number];
  /** Where a point, relative to the stage's origin, is on the page, in CSS pixels. */
  projectPoint(point: Vec3): [number, number];
  /** What of the bodies is at a place of the page. */
  pick(x: number, y: number): { triangle: number; weights: Vec3; point: Vec3 } | null;
  /** Where a point of a triangle is now. */
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
    get stage() {
      return session.stage;
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
      if (!session.world) throw new Error('there is no stage yet');
      return view.project(session.world.surface.vertex(vertex));
    },
    projectPoint: (point: Vec3): [number, number] => view.project(new Vector3(...point)),
    pick: (x: number, y: number) => {
      const hit = session.world?.pick(view.ray(x, y));
      return hit ? { triangle: hit.triangle, weights: hit.weights, point: hit.point.toArray() } : null;
    },
    pointAt: (triangle: number, weights: Vec3): Vec3 => {
      if (!session.world) throw new Error('there is no stage yet');
      return session.world.pointAt(triangle, weights).toArray();
    },
  });
}
