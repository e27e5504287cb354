// What tests do with the page, in words.

import type { Page } from '@playwright/test';
import type { Vec3 } from '../../src/protocol';
import { expect, type Viewer } from './viewer';

export async function open(page: Page, viewer: Viewer): Promise<void> {
  await page.goto(viewer.url.href);
  await page.waitForFunction(() => window.pliant?.ready);
}

export const time = (page: Page) => page.evaluate(() => window.pliant.frame?.time ?? Number.NaN);
export const isPlaying = (page: Page) => page.evaluate(() => window.pliant.frame?.playing);
export const settings = (page: Page) => page.evaluate(() => window.pliant.settings);

/** Minimum coordinate of the surface along an axis. */
export const lowest = (page: Page, axis = 1) =>
  page.evaluate(
    (axis) => window.pliant.positions().reduce((least, x, i) => (i % 3 === axis ? Math.min(least, x) : least), 1e9),
    axis,
  );

/** Waits until nothing moves any more. */
export async function waitForRest(page: Page): Promise<void> {
  let last = Number.NaN;
  let lastTime = Number.NaN;
  await expect
    .poll(
      async () => {
        const [now, at] = [await lowest(page), await time(page)];
        // Two readings of one frame do not show whether the body is at rest.
        const moved = at > lastTime + 0.1 ? Math.abs(now - last) : 1;
        [last, lastTime] = [now, at];
        return moved;
      },
      { intervals: [300] },
    )
    .toBeLessThan(2e-4);
}

export interface SurfacePoint {
  x: number;
  y: number;
  triangle: number;
  weights: Vec3;
  point: Vec3;
}

/** Minimum distance of touched points from the outline of the bodies, in pixels. */
const INSIDE = 4;

/** A point of the surface that can be seen and touched, as far along the x axis as there is one. */
export async function visiblePoint(page: Page): Promise<SurfacePoint> {
  const found = await page.evaluate((inside) => {
    const { pick, project, positions: now } = window.pliant;
    const positions = now();
    const vertices = Array.from({ length: positions.length / 3 }, (_, i) => i);
    vertices.sort((a, b) => positions[3 * b] - positions[3 * a]);
    const around = [-inside, 0, inside].flatMap((dx) => [-inside, 0, inside].map((dy) => [dx, dy]));
    for (const vertex of vertices) {
      const [x, y] = project(vertex);
      // A little inwards, so that movement does not take it away from under the pointer.
      const [cx, cy] = project(vertices[vertices.length >> 1]);
      const [sx, sy] = [Math.round(x + 0.2 * (cx - x)), Math.round(y + 0.2 * (cy - y))];
      // The line between two vertices may be an edge of the body, which pointers miss: events round where they are.
      if (!around.every(([dx, dy]) => pick(sx + dx, sy + dy))) continue;
      const hit = pick(sx, sy);
      if (hit && document.elementFromPoint(sx, sy)?.tagName === 'CANVAS') return { x: sx, y: sy, ...hit };
    }
    return null;
  }, INSIDE);
  if (!found) throw new Error('no point of the surface can be seen');
  return found;
}

export const pointAt = (page: Page, { triangle, weights }: SurfacePoint) =>
  page.evaluate(([t, w]) => window.pliant.pointAt(t, w), [triangle, weights] as const);

/** Downsampled screen: colors of a grid of points. */
export interface Pixels {
  width: number;
  height: number;
  /** Red, green, blue and alpha, row by row. */
  data: number[];
}

export async function pixels(page: Page, scale = 0.1): Promise<Pixels> {
  const picture = (await page.screenshot()).toString('base64');
  return page.evaluate(
    async ([picture, scale]) => {
      const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const [width, height] = [Math.round(image.width * scale), Math.round(image.height * scale)];
      const context = new OffscreenCanvas(width, height).getContext('2d');
      if (!context) throw new Error('no canvas');
      context.drawImage(image, 0, 0, width, height);
      return { width, height, data: Array.from(context.getImageData(0, 0, width, height).data) };
    },
    [picture, scale] as const,
  );
}

/** Which part of the screen has colors that are accepted. */
export function share({ data }: Pixels, accepts: (red: number, green: number, blue: number) => boolean): number {
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (accepts(data[i], data[i + 1], data[i + 2])) count += 1;
  }
  return count / (data.length / 4);
}

/** Returns the fraction of the points whose colors differ between two pictures. */
export function difference(a: Pixels, b: Pixels): number {
  let count = 0;
  for (let i = 0; i < a.data.length; i += 4) {
    const apart = [0, 1, 2].reduce((sum, k) => sum + Math.abs(a.data[i + k] - b.data[i + k]), 0);
    if (apart > 40) count += 1;
  }
  return count / (a.data.length / 4);
}

/** The blue of the first body, #0072b2, in whatever light. Controls are of a blue that has less green in it, and do not count. */
export const isBodyBlue = (red: number, green: number, blue: number) =>
  blue > 60 && red < 0.5 * blue && green > 0.58 * blue && green < 0.75 * blue;

/** The orange of the second body, #d55e00, in whatever light. */
export const isBodyOrange = (red: number, green: number, blue: number) =>
  red > 90 && green > 0.3 * red && green < 0.6 * red && blue < 0.3 * red;
