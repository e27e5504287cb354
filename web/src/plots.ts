// Energies and volume over the last seconds.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { element } from './dom';
import { number, prefixFor } from './format';
import type { Frame } from './protocol';

/** Plotted span of simulated time, in s. */
const SECONDS = 10;
const MAX_POINTS = 2000;

export interface Curve {
  label: string;
  /** CSS variable with the color. */
  color: string;
  read(frame: Frame): number | null;
}

/** Curves over time. Old values are discarded, and later ones after a jump back in time. */
export class LivePlot {
  readonly element = element('figure', { class: 'plot' });
  private times: number[] = [];
  private values: (number | null)[][];
  private plot: uPlot | null = null;
  private stale = false;

  constructor(
    title: string,
    private readonly unit: string,
    private readonly curves: Curve[],
  ) {
    this.values = curves.map(() => []);
    this.element.append(element('figcaption', {}, title));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  add(frame: Frame): void {
    const { times } = this;
    while (times.length > 0 && times[times.length - 1] >= frame.time) this.drop(times.length - 1, 1);
    while (times.length > 0 && (times[0] < frame.time - SECONDS || times.length >= MAX_POINTS)) this.drop(0, 1);
    times.push(frame.time);
    this.curves.forEach((curve, i) => {
      this.values[i].push(curve.read(frame));
    });
    this.stale = true;
  }

  clear(): void {
    this.drop(0, this.times.length);
    this.stale = true;
  }

  /** Draws if the plot is visible and has new values, less often than frames are drawn. */
  draw(): void {
    if (!this.stale || this.element.clientWidth === 0) return;
    this.stale = false;
    this.plot ??= this.make();
    this.plot.setData([this.times, ...this.values] as uPlot.AlignedData);
  }

  /** Recreates the plot with the colors of changed styles, which it reads only on creation. */
  restyle(): void {
    this.plot?.destroy();
    this.plot = null;
    this.stale = true;
    this.draw();
  }

  private drop(from: number, count: number): void {
    this.times.splice(from, count);
    for (const values of this.values) values.splice(from, count);
  }

  private resize(): void {
    const width = this.element.clientWidth;
    if (width > 0) this.plot?.setSize({ width, height: HEIGHT });
    this.draw();
  }

  private make(): uPlot {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: color('--quiet'), grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } };
    const font = `11px ${style.fontFamily}`;
    const options: uPlot.Options = {
      width: this.element.clientWidth,
      height: HEIGHT,
      padding: [8, 8, 0, 0],
      cursor: { drag: { setScale: false }, points: { size: 5 } },
      scales: { x: { time: false }, y: { range: (_, least, most) => withRoom(least, most) } },
      axes: [
        { ...axis, font, size: 22, space: 50, values: (_, at) => at.map((t) => `${number(t)} s`) },
        { ...axis, font, size: 50, space: 26, values: (_, at) => this.labels(at) },
      ],
      series: [
        { label: 't', value: (_, t) => (t === null ? '' : `${number(t)} s`) },
        ...this.curves.map((curve) => ({
          label: curve.label,
          stroke: color(curve.color),
          width: 1.5,
          points: { show: false },
          value: (_: uPlot, value: number | null) => (value === null ? '' : this.labels([value])[0]),
        })),
      ],
    };
    return new uPlot(options, [[]], this.element);
  }

  /** Formats all ticks with the SI prefix of the largest. */
  private labels(values: number[]): string[] {
    const largest = Math.max(...values.map(Math.abs));
    const [factor, prefix] = prefixFor(largest, this.unit);
    // Ratios near 1 differ only in their last digits.
    const digits = this.unit ? 3 : 5;
    return values.map((value) => `${number(value / factor, digits)}${this.unit ? ` ${prefix}${this.unit}` : ''}`);
  }
}

const HEIGHT = 110;

/** Returns the range of the axis. A constant curve is centered and has ticks. */
function withRoom(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null) return [0, 1];
  const room = Math.max(0.08 * (most - least), 1e-4 * Math.max(Math.abs(least), Math.abs(most)), 1e-12);
  return [least - room, most + room];
}
