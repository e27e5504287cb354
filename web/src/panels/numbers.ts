// Performance statistics.

import { element, setText } from '../dom';
import { count, number, quantity } from '../format';
import type { DisplayScene, Frame, Stats } from '../protocol';
import { type Panel, section } from './panel';

/** Measurements of the page. */
export interface Measured {
  framesPerSecond: number;
  latency: number | null;
  triangles: number;
}

const EVERY_MS = 200;
const PARTS = ['assembling', 'solving', 'rest'] as const;

export function numbersPanel(measured: () => Measured): Panel {
  const list = element('dl', { class: 'numbers' });
  const rows = new Map<string, HTMLElement>();
  const put = (name: string, value: string | null) => {
    let cell = rows.get(name);
    if (!cell) {
      cell = element('dd');
      rows.set(name, cell);
      list.append(element('div', {}, element('dt', {}, name), cell));
    }
    (cell.parentElement as HTMLElement).hidden = value === null;
    if (value !== null) setText(cell, value);
  };
  const bar = new PartsBar();
  const panel = section('Numbers', false, bar.element, list);
  let last = 0;
  let model = '';

  return {
    element: panel,
    display(display: DisplayScene) {
      const reduced = display.reduced === null ? '' : `, reduced to ${display.reduced} basis vectors`;
      const elements = `${count(display.elements)} ${display.element_kind}`;
      model = `${count(display.vertices)} vertices, ${elements}${reduced}`;
      rows.clear();
      list.replaceChildren();
      last = 0;
    },
    frame({ stats, step }: Frame) {
      const now = performance.now();
      if (now - last < EVERY_MS) return;
      last = now;
      const { framesPerSecond, latency, triangles } = measured();
      bar.show(stats);
      put('Real time', stats && `${number(stats.real_time)} ×`);
      put('Steps', stats ? `${number(stats.steps_per_second)} /s, ${count(step)} so far` : `${count(step)}`);
      put('Newton iterations', stats && `${number(stats.newton)} per step`);
      put('CG iterations', stats && stats.linear > 0 ? `${number(stats.linear)} per step` : null);
      put('Factorizations', stats && `${number(stats.factorizations)} per step`);
      put('Substeps', stats && stats.substeps > 1 ? number(stats.substeps) : null);
      put('Method', stats?.method ?? null);
      put('On screen', `${Math.round(framesPerSecond)} frames/s`);
      put('Drag latency', latency === null ? 'drag to measure' : `${Math.round(latency)} ms`);
      put('Model', model);
      put('Surface', `${count(triangles)} triangles`);
    },
  };
}

/** Breakdown of the time per step. */
class PartsBar {
  readonly element = element('div', { class: 'parts' });
  private readonly total = element('span');
  private readonly parts = PARTS.map((name) => {
    const stripe = element('i', { class: name });
    const value = element('span');
    return { name, stripe, value, legend: element('li', { class: name }, value) };
  });

  constructor() {
    const bar = element('div', { class: 'bar', 'aria-hidden': 'true' }, ...this.parts.map(({ stripe }) => stripe));
    this.element.append(
      element('div', { class: 'parts-head' }, element('span', {}, 'Time per step'), this.total),
      bar,
      element('ul', {}, ...this.parts.map(({ legend }) => legend)),
    );
  }

  show(stats: Stats | null): void {
    this.element.hidden = stats === null;
    if (!stats) return;
    setText(this.total, quantity(stats.step_ms / 1000, 's'));
    for (const { name, stripe, value } of this.parts) {
      const ms = stats[`${name}_ms`];
      // In percent: flex factors that sum to less than 1 would not fill the bar.
      stripe.style.flexGrow = String((100 * Math.max(ms, 0)) / stats.step_ms);
      setText(value, `${name} ${quantity(ms / 1000, 's')}`);
    }
  }
}
