// Which values the ends of the colour map stand for.

import { mapFor } from './colours';

/** How fast a range shrinks when values do; it grows at once, so that nothing is off the map. */
const SHRINK_SECONDS = 0.8;

export class ColourRange {
  low = 0;
  high = 1;
  held = false;
  private colour: string | null = null;
  private last = 0;

  /** Takes over what a frame has; `now` in ms. */
  follow(colour: string, range: [number, number], now: number): void {
    const fresh = colour !== this.colour;
    if (this.held && !fresh) return;
    const [low, high] = spread(colour, range);
    const weight = fresh ? 1 : 1 - Math.exp(-(now - this.last) / 1000 / SHRINK_SECONDS);
    this.low = low < this.low || fresh ? low : this.low + (low - this.low) * weight;
    this.high = high > this.high || fresh ? high : this.high + (high - this.high) * weight;
    this.colour = colour;
    this.last = now;
  }
}

/** The range to show: never empty, and on both sides of the middle alike if the map has one. */
function spread(colour: string, [least, largest]: [number, number]): [number, number] {
  const { middle } = mapFor(colour);
  if (middle !== null) {
    const half = Math.max(Math.abs(least - middle), Math.abs(largest - middle), 1e-3);
    return [middle - half, middle + half];
  }
  const width = largest - least;
  const tiny = Math.max(Math.abs(largest), Math.abs(least)) * 1e-6 || 1e-12;
  return width > tiny ? [least, largest] : [least, least + tiny];
}
