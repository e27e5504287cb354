// Maps from numbers to colours, the same as in the pictures that `pliant render` makes. Bodies have the colours that the server sends.

import { Color, DataTexture, LinearFilter, RGBAFormat, SRGBColorSpace } from 'three';
import type { Stage } from '../protocol';

export const OBSTACLE = new Color(0xa8acb2);

/** The colour of each region: its own, or that of its body. */
export interface RegionColours {
  byRegion: Color[];
  byBody: Color[];
}

export function regionColours({ regions, bodies }: Pick<Stage, 'regions' | 'bodies'>): RegionColours {
  return {
    byRegion: regions.map(({ color }) => new Color(color)),
    byBody: regions.map(({ body }) => new Color(bodies[body].color)),
  };
}

/** Colours at equal distances from 0 to 1, as hexadecimal digits. */
const STOPS = {
  /** Dark blue over green to yellow: equal steps look equal, and brightness alone tells the order. */
  viridis:
    '440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21918c1f988b1fa088' +
    '22a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df23d8e219ece51bfde725',
  /** Blue over white to red, for values on both sides of a middle. */
  diverging: '05306117518e2a71ae448ec16bacd098c7dfbfdcebdeebf2f2efeefae4d8faccb4f3aa8ce48268d1574bb82d3594112767001f',
};

export type MapName = keyof typeof STOPS;

const RESOLUTION = 256;

const tables = Object.fromEntries(Object.entries(STOPS).map(([name, hex]) => [name, tableOf(hex)])) as Record<
  MapName,
  Uint8Array
>;

/** Red, green, blue and alpha for equally spaced numbers from 0 to 1. */
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

/** For canvases and styles. */
export function mapColour(name: MapName, at: number): string {
  const i = 4 * Math.round(Math.min(Math.max(at, 0), 1) * (RESOLUTION - 1));
  const [red, green, blue] = tables[name].subarray(i, i + 3);
  return `rgb(${red} ${green} ${blue})`;
}

/** What a colouring is drawn with. A ratio of volumes has a middle: 1 is neither squeezed nor stretched. */
export function mapFor(colour: string): { map: MapName; middle: number | null } {
  return colour === 'volume-ratio' ? { map: 'diverging', middle: 1 } : { map: 'viridis', middle: null };
}
