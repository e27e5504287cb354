// Fields of panels. New values from the server never replace text that the user is editing.

import { element, freshId } from '../dom';
import { quantity, withUnit } from '../format';
import type { Choice } from '../protocol';

/** Returns a row with a label and its controls. */
export function row(label: string, id: string, ...controls: Node[]): HTMLElement {
  return element('div', { class: 'row' }, element('label', { for: id }, label), ...controls);
}

/** Submits a value. Resolves to null, or to the reason why it is refused. */
export type Commit<T> = (value: T) => Promise<string | null>;

/** Reason why a value is refused, shown next to the field. */
class Reason {
  readonly element = element('p', { class: 'reason', id: freshId(), role: 'alert', hidden: true });

  constructor(private readonly input: HTMLElement) {}

  show(reason: string | null): void {
    this.element.textContent = reason ?? '';
    this.element.hidden = reason === null;
    this.input.toggleAttribute('aria-invalid', reason !== null);
    if (reason === null) this.input.removeAttribute('aria-describedby');
    else this.input.setAttribute('aria-describedby', this.element.id);
  }

  get isShown(): boolean {
    return !this.element.hidden;
  }
}

/** Editable element, and the value that it shows while it is not edited. */
class Guarded<T> {
  private editing = false;
  private shown: T | undefined;
  /** Keeps the typed text while it is being submitted or is refused. */
  isKept: () => boolean = () => false;

  constructor(
    readonly input: HTMLInputElement | HTMLSelectElement,
    private readonly write: (value: T) => void,
  ) {
    input.addEventListener('input', () => {
      this.editing = true;
    });
    // Text counts as edited from the first click on, sliders and choices until they are released.
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
      if (!this.isKept()) this.refresh();
    });
  }

  show(value: T): void {
    this.shown = value;
    if (!this.editing && !this.isKept()) this.write(value);
  }

  /** The submitted value is accepted: shows it as the server does, unless it is being edited again. */
  settle(): void {
    if (!this.editing) this.refresh();
  }

  /** Restores the last value of the server. */
  refresh(): void {
    if (this.shown !== undefined) this.write(this.shown);
  }
}

/** Quantity as text with a unit, such as `1.2 MPa`. The server parses the text and reports errors. */
export class QuantityField {
  readonly id = freshId();
  readonly input = element('input', { id: this.id, type: 'text', inputmode: 'decimal', autocomplete: 'off' });
  private readonly reason = new Reason(this.input);
  private readonly guard = new Guarded<number>(this.input, (value) => this.write(value));
  private shown = '';
  private waiting = 0;

  constructor(
    private readonly unit: string,
    private readonly commit: Commit<string>,
  ) {
    this.guard.isKept = () => this.waiting > 0 || this.reason.isShown;
    this.input.addEventListener('change', () => this.handOver());
    this.input.addEventListener('input', () => this.reason.show(null));
    this.input.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      this.reason.show(null);
      this.guard.refresh();
      this.input.blur();
      event.stopPropagation();
    });
  }

  /** Returns the field with its label, and the reason of a refusal below it. */
  row(label: string): HTMLElement {
    return element('div', {}, row(label, this.id, this.input), this.reason.element);
  }

  show(value: number): void {
    this.guard.show(value);
  }

  /** Shows a value even while the field is edited, as when a slider sets it. */
  force(value: number): void {
    this.reason.show(null);
    this.guard.show(value);
  }

  private async handOver(): Promise<void> {
    this.waiting += 1;
    const reason = await this.commit(withUnit(this.input.value, this.unit, this.shown));
    this.waiting -= 1;
    // Only the answer to the last submission counts.
    if (this.waiting > 0) return;
    this.reason.show(reason);
    if (reason === null) this.guard.settle();
  }

  private write(value: number): void {
    this.shown = quantity(value, this.unit, 4);
    if (this.input.value !== this.shown) this.input.value = this.shown;
  }
}

/** Map between the position of a slider, from 0 to 1, and a value. */
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

/** Number with a slider below it. `slid` is called repeatedly while the slider moves. */
export class SliderField {
  readonly element: HTMLElement;
  readonly text: QuantityField;
  private readonly range: HTMLInputElement;
  private readonly guard: Guarded<number>;

  constructor(
    label: string,
    unit: string,
    private mapping: Mapping,
    commit: Commit<string>,
    slid: (value: number) => void,
  ) {
    this.text = new QuantityField(unit, commit);
    this.range = element('input', { type: 'range', min: 0, max: 1, step: 0.001, 'aria-label': `${label}, slider` });
    this.guard = new Guarded<number>(this.range, (value) => {
      this.range.value = String(this.mapping.place(value));
    });
    this.range.addEventListener('input', () => {
      // Three significant digits, not 1.0471285 MPa.
      const value = Number(this.mapping.value(this.range.valueAsNumber).toPrecision(3));
      this.text.force(value);
      slid(value);
    });
    this.element = element('div', {}, this.text.row(label), this.range);
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

/** Choice of one of several names. */
export class SelectField {
  readonly element: HTMLElement;
  readonly input: HTMLSelectElement;
  private readonly guard: Guarded<string>;
  private readonly reason: Reason;
  private about = new Map<string, string>();

  constructor(label: string, commit: Commit<string>) {
    const id = freshId();
    this.input = element('select', { id });
    this.reason = new Reason(this.input);
    this.guard = new Guarded<string>(this.input, (name) => {
      this.input.value = name;
      this.explain();
    });
    this.input.addEventListener('change', async () => {
      this.explain();
      const reason = await commit(this.input.value);
      this.reason.show(reason);
      if (reason !== null) this.guard.refresh();
    });
    this.element = element('div', {}, row(label, id, this.input), this.reason.element);
  }

  offer(choices: (Pick<Choice, 'name'> & Partial<Choice> & { label?: string })[]): void {
    this.about = new Map(choices.map((choice) => [choice.name, described(choice)]));
    this.input.replaceChildren(
      ...choices.map(({ name, label }) =>
        element('option', { value: name, title: this.about.get(name) }, label ?? name),
      ),
    );
  }

  show(name: string): void {
    this.guard.show(name);
  }

  private explain(): void {
    this.input.title = this.about.get(this.input.value) ?? '';
  }
}

/** Returns the description of a choice, and the options that scenes may give it. */
function described({ about, options }: Partial<Choice>): string {
  const names = (options ?? []).map(({ name }) => name);
  return names.length > 0 ? `${about ?? ''} Options in scenes: ${names.join(', ')}.` : (about ?? '');
}

/** Switch. */
export class SwitchField {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;

  constructor(label: string, switched: (on: boolean) => void) {
    this.input = element('input', { type: 'checkbox' });
    this.input.addEventListener('change', () => switched(this.input.checked));
    this.element = element('label', { class: 'switch' }, this.input, element('span', {}, label));
  }
}
