// Slider among the options of a tool, with its value as text.

import { element, freshId, setText } from '../dom';

interface Scale {
  from: number;
  to: number;
  at: number;
  show(value: number): string;
}

export class ToolSlider {
  readonly element: HTMLElement;
  private readonly input: HTMLInputElement;
  private readonly output = element('output');

  constructor(
    label: string,
    private readonly scale: Scale,
    private readonly changed: () => void = () => {},
  ) {
    const id = freshId();
    const { from, to, at } = scale;
    this.input = element('input', { id, type: 'range', min: from, max: to, step: (to - from) / 200, value: at });
    this.input.addEventListener('input', () => {
      this.refresh();
      this.changed();
    });
    this.element = element(
      'div',
      { class: 'tool-slider' },
      element('label', { for: id }, label),
      this.output,
      this.input,
    );
  }

  get value(): number {
    return this.input.valueAsNumber;
  }

  /** Updates the text of the value, which may depend on the scene. */
  refresh(): void {
    const text = this.scale.show(this.value);
    setText(this.output, text);
    this.input.setAttribute('aria-valuetext', text);
  }
}
