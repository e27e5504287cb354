// Fields of panels. They are told values from outside, but never change under the hands of the one who edits them.

import { element, freshId } from '../dom';
import { parseQuantity, quantity } from '../format';

/** A label, and what belongs to it. */
export function row(label: string, id: string, ...controls: Node[]): HTMLElement {
  return element('div', { class: 'row' }, element('label', { for: id }, label), ...controls);
}

/** An element that can be edited, and what it is to show when nobody does. */
class Guarded<T> {
  private editing = false;
  private shown: T | undefined;

  constructor(
    readonly input: HTMLInputElement | HTMLSelectElement,
    private readonly write: (value: T) => void,
  ) {
    input.addEventListener('input', () => {
      this.editing = true;
    });
    // Text is being edited from the first click on; what is dragged or chosen, until it is let go.
    if (input instanceof HTMLInputElement && input.type === 'text') {
      input.addEventListener('focus', () => {
        this.editing = true;
      });
    }
    input.addEventListener('change', () => {
      this.editing = false;
    });
    input.addEventListener('blur', () => {
      this.editing = false;
      this.refresh();
    });
  }

  show(value: T): void {
    this.shown = value;
    if (!this.editing) this.write(value);
  }

  /** Back to what was told last. */
  refresh(): void {
    if (this.shown !== undefined) this.write(this.shown);
  }
}

/** A number with a unit, written as text: `1.2 MPa`. */
export class QuantityField {
  readonly id = freshId();
  readonly input = element('input', { id: this.id, type: 'text', inputmode: 'decimal', autocomplete: 'off' });
  private readonly guard = new Guarded<number>(this.input, (value) => this.write(value));
  private shown = '';

  constructor(
    private readonly unit: string,
    private readonly accepts: (value: number) => boolean,
    changed: (value: number) => void,
  ) {
    this.input.addEventListener('change', () => {
      const value = parseQuantity(this.input.value, this.unit, this.shown);
      const good = value !== null && this.accepts(value);
      this.input.toggleAttribute('aria-invalid', !good);
      if (good) changed(value);
    });
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      this.guard.refresh();
      this.input.blur();
      event.stopPropagation();
    });
  }

  show(value: number): void {
    this.guard.show(value);
  }

  private write(value: number): void {
    this.shown = quantity(value, this.unit, 4);
    if (this.input.value !== this.shown) this.input.value = this.shown;
    this.input.removeAttribute('aria-invalid');
  }
}

/** How a slider's place, from 0 to 1, and a value belong together. */
export interface Mapping {
  place(value: number): number;
  value(place: number): number;
}

export function linear(from: number, to: number): Mapping {
  return { place: (value) => (value - from) / (to - from), value: (place) => from + place * (to - from) };
}

export function logarithmic(from: number, to: number): Mapping {
  const ratio = Math.log(to / from);
  return { place: (value) => Math.log(value / from) / ratio, value: (place) => from * Math.exp(ratio * place) };
}

/** A number with a slider under it. While it slides, `slid` is called again and again. */
export class SliderField {
  readonly element: HTMLElement;
  readonly text: QuantityField;
  private readonly range: HTMLInputElement;
  private readonly guard: Guarded<number>;

  constructor(
    label: string,
    unit: string,
    private mapping: Mapping,
    accepts: (value: number) => boolean,
    slid: (value: number) => void,
  ) {
    this.text = new QuantityField(unit, accepts, slid);
    this.range = element('input', { type: 'range', min: 0, max: 1, step: 0.001, 'aria-label': `${label}, slider` });
    this.guard = new Guarded<number>(this.range, (value) => {
      this.range.value = String(this.mapping.place(value));
    });
    this.range.addEventListener('input', () => {
      // Three digits: nobody wants 1.0471285 MPa.
      const value = Number(this.mapping.value(this.range.valueAsNumber).toPrecision(3));
      this.text.show(value);
      slid(value);
    });
    this.element = element('div', {}, row(label, this.text.id, this.text.input), this.range);
  }

  show(value: number): void {
    this.text.show(value);
    this.guard.show(value);
  }

  remap(mapping: Mapping): void {
    this.mapping = mapping;
  }

  set disabled(disabled: boolean) {
    this.range.disabled = disabled;
    this.text.input.disabled = disabled;
  }
}

/** One of several names. */
export class SelectField {
  readonly element: HTMLElement;
  readonly input: HTMLSelectElement;
  private readonly guard: Guarded<string>;
  private about = new Map<string, string>();

  constructor(label: string, chosen: (name: string) => void) {
    const id = freshId();
    this.input = element('select', { id });
    this.guard = new Guarded<string>(this.input, (name) => {
      this.input.value = name;
      this.explain();
    });
    this.input.addEventListener('change', () => {
      this.explain();
      chosen(this.input.value);
    });
    this.element = row(label, id, this.input);
  }

  offer(choices: { name: string; about?: string; label?: string }[]): void {
    this.about = new Map(choices.map(({ name, about }) => [name, about ?? '']));
    this.input.replaceChildren(
      ...choices.map(({ name, about, label }) => element('option', { value: name, title: about }, label ?? name)),
    );
  }

  show(name: string): void {
    this.guard.show(name);
  }

  private explain(): void {
    this.input.title = this.about.get(this.input.value) ?? '';
  }
}

/** Something that is on or off. */
export class SwitchField {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;

  constructor(label: string, switched: (on: boolean) => void) {
    this.input = element('input', { type: 'checkbox' });
    this.input.addEventListener('change', () => switched(this.input.checked));
    this.element = element('label', { class: 'switch' }, this.input, element('span', {}, label));
  }
}
