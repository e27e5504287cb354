// Color maps, the same as in the pictures of `pliant render`. The colors of bodies come from the server.

import { Color, DataTexture, LinearFilter, RGBAFormat, SRGBColorSpace } from 'three';
import type { DisplayScene } from '../protocol';

export const OBSTACLE = new Color(0xa8acb2);

/** Color of each region, and of its body. */
export interface RegionColors {
  byRegion: Color[];
  byBody: Color[];
}

export function regionColors({ regions, bodies }: Pick<DisplayScene, 'regions' | 'bodies'>): RegionColors {
  return {
    byRegion: regions.map(({ color }) => new Color(color)),
    byBody: regions.map(({ body }) => new Color(bodies[body].color)),
  };
}

/** Equally spaced colors from 0 to 1, as hexadecimal digits. */
const STOPS = {
  /** Dark blue over green to yellow, perceptually uniform, with monotonic brightness. */
  viridis:
    '440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21918c1f988b1fa088' +
    '22a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725',
  /** Blue over white to red, for values on both sides of a center. */
  diverging: '05306117518e2a71ae448ec16bacd098c7dfbfdcebdeebf2f2efeefae4d8faccb4f3aa8ce48268d1574bb82d3594112767001f',
};

export type MapName = keyof typeof STOPS;

const RESOLUTION = 256;

const tables = Object.fromEntries(Object.entries(STOPS).map(([name, hex]) => [name, tableOf(hex)])) as Record<
  MapName,
  Uint8Array
>;

/** Returns red, green, blue and alpha for equally spaced numbers from 0 to 1. */
function tableOf(hex: string): Uint8Array {
  const stops = (hex.match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16));
  const last = stops.length / 3 - 1;
  const table = new Uint8Array(4 * RESOLUTION);
  for (let i = 0; i < RESOLUTION; i++) {
    const place = (i / (RESOLUTION - 1)) * last;
    const at = Math.min(Math.floor(place), last - 1);
    for (let channel = 0; channel < 3; channel++) {
      const from = stops[3 * at + channel];
      table[4 * i + channel] = from + (stops[3 * at + 3 + channel] - from) * (place - at);
    }
    table[4 * i + 3] = 255;
  }
  return table;
}

export function mapTexture(name: MapName): DataTexture {
  const texture = new DataTexture(tables[name], RESOLUTION, 1, RGBAFormat);
  texture.colorSpace = SRGBColorSpace;
  texture.minFilter = LinearFilter;
  texture.magFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

/** Returns a color for canvases and styles. */
export function mapColor(name: MapName, at: number): string {
  const i = 4 * Math.round(Math.min(Math.max(at, 0), 1) * (RESOLUTION - 1));
  const [red, green, blue] = tables[name].subarray(i, i + 3);
  return `rgb(${red} ${green} ${blue})`;
}

/** Returns the color map of a quantity and its center: 1 for the volume ratio, which is neither compression nor expansion. */
export function mapFor(color: string): { map: MapName; middle: number | null } {
  return color === 'volume-ratio' ? { map: 'diverging', middle: 1 } : { map: 'viridis', middle: null };
}
