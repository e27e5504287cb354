// Range of values of the color map.

import { mapFor } from './colors';

/** Time constant with which a range shrinks, in s. It grows at once, so that no value is out of range. */
const SHRINK_SECONDS = 0.8;

export class ColorRange {
  low = 0;
  high = 1;
  isLocked = false;
  private color: string | null = null;
  private last = 0;

  /** Follows the range of a frame; `now` is in ms. */
  follow(color: string, range: [number, number], now: number): void {
    const fresh = color !== this.color;
    if (this.isLocked && !fresh) return;
    const [low, high] = spread(color, range);
    const weight = fresh ? 1 : 1 - Math.exp(-(now - this.last) / 1000 / SHRINK_SECONDS);
    this.low = low < this.low || fresh ? low : this.low + (low - this.low) * weight;
    this.high = high > this.high || fresh ? high : this.high + (high - this.high) * weight;
    this.color = color;
    this.last = now;
  }
}

/** Returns the range to show: never empty, and symmetric about the center if the map has one. */
function spread(color: string, [least, largest]: [number, number]): [number, number] {
  const { middle } = mapFor(color);
  if (middle !== null) {
    const half = Math.max(Math.abs(least - middle), Math.abs(largest - middle), 1e-3);
    return [middle - half, middle + half];
  }
  const width = largest - least;
  const tiny = Math.max(Math.abs(largest), Math.abs(least)) * 1e-6 || 1e-12;
  return width > tiny ? [least, largest] : [least, least + tiny];
}
