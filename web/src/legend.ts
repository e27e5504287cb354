// Legend of the color map. It is drawn on a canvas, so that saved pictures can include it.

import { element } from './dom';
import { number, prefixFor, ticks } from './format';
import type { Coloring } from './protocol';
import { mapColor, mapFor } from './viewport/colors';

const LEGEND_WIDTH = 108;
const LEGEND_HEIGHT = 210;
const TOP = 34;
const BAR = { x: 10, width: 14, height: LEGEND_HEIGHT - TOP - 14 };

export interface LegendContent {
  coloring: Coloring;
  low: number;
  high: number;
}

export class Legend {
  readonly element = element('canvas', { class: 'legend', role: 'img', hidden: true });
  private content: LegendContent | null = null;
  private drawn = '';

  show(content: LegendContent | null): void {
    this.content = content;
    this.element.hidden = content === null;
    if (!content) return;
    const { coloring, low, high } = content;
    const style = getComputedStyle(this.element);
    // Ranges change slightly with every frame; changes below the displayed digits are not drawn.
    const key = [coloring.name, low.toPrecision(3), high.toPrecision(3), style.color, devicePixelRatio].join(' ');
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.width = LEGEND_WIDTH * devicePixelRatio;
    this.element.height = LEGEND_HEIGHT * devicePixelRatio;
    const context = this.element.getContext('2d');
    if (!context) return;
    context.scale(devicePixelRatio, devicePixelRatio);
    drawLegend(context, content, style.color, style.fontFamily);
    const unit = coloring.unit ? ` ${coloring.unit}` : '';
    this.element.setAttribute('aria-label', `${coloring.label} from ${number(low)} to ${number(high)}${unit}`);
  }

  /** Draws the legend into a picture, at its lower left corner. */
  drawInto(context: CanvasRenderingContext2D, height: number): void {
    if (!this.content) return;
    const { color, fontFamily } = getComputedStyle(this.element);
    context.translate(16, height - LEGEND_HEIGHT - 16);
    drawLegend(context, this.content, color, fontFamily);
  }
}

function drawLegend(context: CanvasRenderingContext2D, content: LegendContent, color: string, font: string): void {
  const { coloring, low, high } = content;
  const { map } = mapFor(coloring.name);
  const [factor, prefix] = prefixFor(Math.max(Math.abs(low), Math.abs(high)), coloring.unit);
  context.fillStyle = color;
  context.textBaseline = 'middle';
  context.font = `600 12px ${font}`;
  context.fillText(coloring.label, BAR.x, 9, LEGEND_WIDTH - BAR.x);
  context.font = `11px ${font}`;
  if (coloring.unit) context.fillText(`${prefix}${coloring.unit}`, BAR.x, 24);

  for (let y = 0; y < BAR.height; y++) {
    context.fillStyle = mapColor(map, 1 - y / (BAR.height - 1));
    context.fillRect(BAR.x, TOP + y, BAR.width, 1.5);
  }
  context.fillStyle = color;
  for (const tick of ticks(low, high, 7)) {
    const y = TOP + BAR.height * (1 - (tick - low) / (high - low));
    context.fillRect(BAR.x + BAR.width, Math.round(y), 4, 1);
    context.fillText(number(tick / factor, 4), BAR.x + BAR.width + 8, y + 1);
  }
}
