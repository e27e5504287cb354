// How bodies move: damping, gravity, and how time is stepped.

import { element } from '../dom';
import type { Ask, MotionChange, Quantity, Settings, Stage, Vec3 } from '../protocol';
import { type Commit, QuantityField, SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';

const STANDARD_GRAVITY = 9.81;

export function motionPanel(ask: Ask): Panel {
  const set: Commit<MotionChange> = async (change) => (await ask({ do: 'set', ...change })).error;
  const step = new QuantityField('s', (step) => set({ step }));
  const scheme = new SelectField('Scheme', (scheme) => set({ scheme }));
  const solver = new SelectField('Solver', (solver) => set({ solver }));
  const mass = new QuantityField('1/s', (mass_damping) => set({ mass_damping }));
  const stiffness = new QuantityField('s', (stiffness_damping) => set({ stiffness_damping }));
  const gravity = new GravityFields((gravity) => set({ gravity }));
  const whyNot = element('p', { class: 'why-not' });
  const fields = element(
    'fieldset',
    {},
    step.row('Time step'),
    scheme.element,
    solver.element,
    mass.row('Damping α'),
    stiffness.row('Damping β'),
    gravity.element,
  );
  mass.input.title = 'Rayleigh damping of the mass: a force against velocity, which slows rigid motion too';
  stiffness.input.title = 'Rayleigh damping of the stiffness: a force against deformation rates';

  return {
    element: section('Motion', false, fields, whyNot),
    stage(stage: Stage) {
      scheme.offer(stage.schemes);
      solver.offer(stage.solvers);
      gravity.start(stage.up);
    },
    settings(settings: Settings) {
      fields.disabled = settings.why_not !== null;
      whyNot.textContent = settings.why_not ?? '';
      whyNot.hidden = settings.why_not === null;
      step.show(settings.step);
      scheme.show(settings.scheme);
      solver.element.hidden = settings.solver === null;
      if (settings.solver !== null) solver.show(settings.solver);
      mass.show(settings.mass_damping);
      stiffness.show(settings.stiffness_damping);
      gravity.show(settings.gravity);
    },
  };
}

/** One number if gravity points down, three if not, and a switch. */
class GravityFields {
  readonly element: HTMLElement;
  private up = 1;
  private last: Vec3 = [0, 0, 0];
  /** What the switch turns on again. */
  private on: Vec3 | null = null;

  private readonly active: SwitchField;
  private readonly down: QuantityField;
  private readonly downRow: HTMLElement;
  private readonly parts: QuantityField[];
  private readonly partRows: HTMLElement[];

  constructor(set: Commit<[Quantity, Quantity, Quantity]>) {
    this.active = new SwitchField('Gravity', (on) => {
      set(on ? (this.on ?? this.downward(-STANDARD_GRAVITY)) : [0, 0, 0]);
    });
    this.down = new QuantityField('m/s²', (text) => set(this.downward(negated(text))));
    this.downRow = this.down.row('Downwards');
    const part = (axis: number, text: string) => {
      const gravity: [Quantity, Quantity, Quantity] = [...this.last];
      gravity[axis] = text;
      return set(gravity);
    };
    this.parts = [0, 1, 2].map((axis) => new QuantityField('m/s²', (text) => part(axis, text)));
    this.partRows = this.parts.map((field, axis) => field.row(`Gravity ${'xyz'[axis]}`));
    this.element = element('div', {}, this.active.element, this.downRow, ...this.partRows);
  }

  start(up: 'y' | 'z'): void {
    this.up = up === 'y' ? 1 : 2;
    this.on = null;
  }

  show(gravity: Vec3): void {
    this.last = gravity;
    const size = Math.hypot(...gravity);
    const vertical = gravity.every((part, axis) => axis === this.up || Math.abs(part) <= 1e-9 * size);
    if (size > 0) this.on = gravity;
    this.active.input.checked = size > 0;
    this.downRow.hidden = !vertical || size === 0;
    this.down.show(-gravity[this.up]);
    this.parts.forEach((field, axis) => {
      this.partRows[axis].hidden = vertical;
      field.show(gravity[axis]);
    });
  }

  /** Along the vertical axis, positive upwards. */
  private downward<T extends Quantity>(size: T): [T | number, T | number, T | number] {
    const gravity: [T | number, T | number, T | number] = [0, 0, 0];
    gravity[this.up] = size;
    return gravity;
  }
}

/** The quantity with the other sign; what does not begin with a number is left to the server to refuse. */
function negated(text: string): string {
  if (!/^[+-]?[\d.]/.test(text)) return text;
  return text.startsWith('-') ? text.slice(1) : `-${text.replace(/^\+/, '')}`;
}
