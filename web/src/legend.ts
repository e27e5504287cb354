// Which colour stands for which value. Drawn on a canvas, so that pictures can have the same.

import { element } from './dom';
import { number, prefixFor, ticks } from './format';
import type { Colouring } from './protocol';
import { mapColour, mapFor } from './stage/colours';

const LEGEND_WIDTH = 108;
const LEGEND_HEIGHT = 210;
const TOP = 34;
const BAR = { x: 10, width: 14, height: LEGEND_HEIGHT - TOP - 14 };

export interface LegendContent {
  colouring: Colouring;
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
    const { colouring, low, high } = content;
    const style = getComputedStyle(this.element);
    // Ranges move a little with every frame; less than a digit that can be read is not worth drawing.
    const key = [colouring.name, low.toPrecision(3), high.toPrecision(3), style.color, devicePixelRatio].join(' ');
    if (key === this.drawn) return;
    this.drawn = key;
    this.element.width = LEGEND_WIDTH * devicePixelRatio;
    this.element.height = LEGEND_HEIGHT * devicePixelRatio;
    const context = this.element.getContext('2d');
    if (!context) return;
    context.scale(devicePixelRatio, devicePixelRatio);
    drawLegend(context, content, style.color, style.fontFamily);
    const unit = colouring.unit ? ` ${colouring.unit}` : '';
    this.element.setAttribute('aria-label', `${colouring.label} from ${number(low)} to ${number(high)}${unit}`);
  }

  /** Draws the same into a picture, at its lower left corner. */
  drawInto(context: CanvasRenderingContext2D, height: number): void {
    if (!this.content) return;
    const { color, fontFamily } = getComputedStyle(this.element);
    context.translate(16, height - LEGEND_HEIGHT - 16);
    drawLegend(context, this.content, color, fontFamily);
  }
}

function drawLegend(context: CanvasRenderingContext2D, content: LegendContent, colour: string, font: string): void {
  const { colouring, low, high } = content;
  const { map } = mapFor(colouring.name);
  const [factor, prefix] = prefixFor(Math.max(Math.abs(low), Math.abs(high)), colouring.unit);
  context.fillStyle = colour;
  context.textBaseline = 'middle';
  context.font = `600 12px ${font}`;
  context.fillText(colouring.label, BAR.x, 9, LEGEND_WIDTH - BAR.x);
  context.font = `11px ${font}`;
  if (colouring.unit) context.fillText(`${prefix}${colouring.unit}`, BAR.x, 24);

  for (let y = 0; y < BAR.height; y++) {
    context.fillStyle = mapColour(map, 1 - y / (BAR.height - 1));
    context.fillRect(BAR.x, TOP + y, BAR.width, 1.5);
  }
  context.fillStyle = colour;
  for (const tick of ticks(low, high, 7)) {
    const y = TOP + BAR.height * (1 - (tick - low) / (high - low));
    context.fillRect(BAR.x + BAR.width, Math.round(y), 4, 1);
    context.fillText(number(tick / factor, 4), BAR.x + BAR.width + 8, y + 1);
  }
}
