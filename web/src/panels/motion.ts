// Time integration, damping and gravity.

import { element } from '../dom';
import type { Ask, DisplayScene, MotionChange, Quantity, Settings, Vec3 } from '../protocol';
import { type Commit, QuantityField, SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';

const STANDARD_GRAVITY = 9.81;

export function motionPanel(ask: Ask): Panel {
  const set: Commit<MotionChange> = async (change) => (await ask({ do: 'set', ...change })).error;
  const step = new QuantityField('s', (step) => set({ step }));
  const integrator = new SelectField('Integrator', (integrator) => set({ integrator }));
  const solver = new SelectField('Solver', (solver) => set({ solver }));
  const mass = new QuantityField('1/s', (mass_damping) => set({ mass_damping }));
  const stiffness = new QuantityField('s', (stiffness_damping) => set({ stiffness_damping }));
  const gravity = new GravityFields((gravity) => set({ gravity }));
  const whyNot = element('p', { class: 'why-not' });
  const fields = element(
    'fieldset',
    {},
    step.row('Time step'),
    integrator.element,
    solver.element,
    mass.row('Damping α'),
    stiffness.row('Damping β'),
    gravity.element,
  );
  mass.input.title = 'Mass-proportional Rayleigh damping: opposes velocity, also in rigid motion';
  stiffness.input.title = 'Stiffness-proportional Rayleigh damping: opposes the rate of deformation';

  return {
    element: section('Motion', false, fields, whyNot),
    display(display: DisplayScene) {
      integrator.offer(display.integrators);
      solver.offer(display.solvers);
      gravity.start(display.up);
    },
    settings(settings: Settings) {
      fields.disabled = settings.why_not !== null;
      whyNot.textContent = settings.why_not ?? '';
      whyNot.hidden = settings.why_not === null;
      step.show(settings.step);
      integrator.show(settings.integrator);
      solver.element.hidden = settings.solver === null;
      if (settings.solver !== null) solver.show(settings.solver);
      mass.show(settings.mass_damping);
      stiffness.show(settings.stiffness_damping);
      gravity.show(settings.gravity);
    },
  };
}

/** Gravity: a switch, and one number if it points down, otherwise three. */
class GravityFields {
  readonly element: HTMLElement;
  private up = 1;
  private last: Vec3 = [0, 0, 0];
  /** Value that the switch restores. */
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

  /** Component along the vertical axis, positive upwards. */
  private downward<T extends Quantity>(size: T): [T | number, T | number, T | number] {
    const gravity: [T | number, T | number, T | number] = [0, 0, 0];
    gravity[this.up] = size;
    return gravity;
  }
}

/** Returns the negated quantity. Text that does not start with a number is left for the server to refuse. */
function negated(text: string): string {
  if (!/^[+-]?[\d.]/.test(text)) return text;
  return text.startsWith('-') ? text.slice(1) : `-${text.replace(/^\+/, '')}`;
}
