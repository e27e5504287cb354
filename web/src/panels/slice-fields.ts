// Axis and position of the slice.

import { element } from '../dom';
import type { ViewOptions } from '../options';
import type { Ask } from '../protocol';
import type { SliceChoice } from '../viewport/slice';
import type { World } from '../viewport/world';
import { QuantityField, SelectField, SwitchField } from './fields';

type Axis = SliceChoice['axis'];

/** Switches the slice: through the center, normal to the first axis, or off. */
export function toggleSlice(options: ViewOptions, world: World | null): void {
  const fresh: SliceChoice = { axis: 0, flip: false, position: middle(extent(world, 0)) };
  options.change({ slice: options.now.slice ? null : fresh });
}

/** Returns the current extent of the bodies along an axis, with a margin. */
function extent(world: World | null, axis: Axis): [number, number] {
  const box = world?.surface.box;
  if (!box || box.isEmpty()) return [-1, 1];
  const [from, to] = [box.min.getComponent(axis), box.max.getComponent(axis)];
  const margin = 0.02 * (to - from) + 1e-9;
  return [from - margin, to + margin];
}

const middle = ([from, to]: [number, number]) => (from + to) / 2;

export class SliceFields {
  readonly active: SwitchField;
  readonly element: HTMLElement;
  private readonly axis: SelectField;
  private readonly flip: SwitchField;
  private readonly place: QuantityField;
  private readonly range = element('input', {
    type: 'range',
    min: 0,
    max: 1,
    step: 0.001,
    'aria-label': 'Slice, slider',
  });

  constructor(
    private readonly options: ViewOptions,
    private readonly world: () => World | null,
    ask: Ask,
  ) {
    this.active = new SwitchField('Slice', () => toggleSlice(options, world()));
    this.axis = new SelectField('Across', async (name) => {
      const axis = 'xyz'.indexOf(name) as Axis;
      this.change({ axis, position: middle(extent(world(), axis)) });
      return null;
    });
    this.axis.offer([{ name: 'x' }, { name: 'y' }, { name: 'z' }]);
    this.flip = new SwitchField('Flip', (flip) => this.change({ flip }));
    this.place = new QuantityField('m', async (text) => {
      const { value, error } = await ask({ do: 'read', length: text });
      if (value !== null) this.change({ position: value - this.origin() });
      return error;
    });
    this.range.addEventListener('input', () => {
      const [from, to] = extent(world(), options.now.slice?.axis ?? 0);
      this.change({ position: from + this.range.valueAsNumber * (to - from) });
    });
    this.element = element('div', {}, this.axis.element, this.place.row('At'), this.range, this.flip.element);
  }

  refresh(): void {
    const { slice } = this.options.now;
    this.active.input.checked = slice !== null;
    this.element.hidden = slice === null;
    if (!slice) return;
    const [from, to] = extent(this.world(), slice.axis);
    this.axis.show('xyz'[slice.axis]);
    this.flip.input.checked = slice.flip;
    this.place.show(slice.position + this.origin());
    this.range.value = String((slice.position - from) / (to - from));
  }

  private change(part: Partial<SliceChoice>): void {
    const { slice } = this.options.now;
    if (slice) this.options.change({ slice: { ...slice, ...part } });
  }

  private origin(): number {
    return this.world()?.display.origin[this.options.now.slice?.axis ?? 0] ?? 0;
  }
}
