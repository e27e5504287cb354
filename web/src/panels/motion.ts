// How bodies move: damping, gravity, and how time is stepped.

import { element } from '../dom';
import type { Send, Settings, Stage, Vec3 } from '../protocol';
import { QuantityField, row, SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';

const STANDARD_GRAVITY = 9.81;
const notNegative = (value: number) => value >= 0;

export function motionPanel(send: Send): Panel {
  const step = new QuantityField(
    's',
    (value) => value > 0,
    (value) => send({ do: 'set', step: value }),
  );
  const scheme = new SelectField('Scheme', (name) => send({ do: 'set', scheme: name }));
  const solver = new SelectField('Solver', (name) => send({ do: 'set', solver: name }));
  const mass = new QuantityField('1/s', notNegative, (value) => send({ do: 'set', mass_damping: value }));
  const stiffness = new QuantityField('s', notNegative, (value) => send({ do: 'set', stiffness_damping: value }));
  const gravity = new GravityFields(send);
  const whyNot = element('p', { class: 'why-not' });
  const fields = element(
    'fieldset',
    {},
    row('Time step', step.id, step.input),
    scheme.element,
    solver.element,
    row('Damping α', mass.id, mass.input),
    row('Damping β', stiffness.id, stiffness.input),
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

  constructor(private readonly send: Send) {
    this.active = new SwitchField('Gravity', (on) =>
      this.set(on ? (this.on ?? this.downward(STANDARD_GRAVITY)) : [0, 0, 0]),
    );
    this.down = new QuantityField(
      'm/s²',
      () => true,
      (value) => this.set(this.downward(value)),
    );
    this.downRow = row('Downwards', this.down.id, this.down.input);
    this.parts = [0, 1, 2].map(
      (axis) =>
        new QuantityField(
          'm/s²',
          () => true,
          (value) => this.set(this.last.map((old, i) => (i === axis ? value : old)) as Vec3),
        ),
    );
    this.partRows = this.parts.map((field, axis) => row(`Gravity ${'xyz'[axis]}`, field.id, field.input));
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

  private downward(size: number): Vec3 {
    const gravity: Vec3 = [0, 0, 0];
    gravity[this.up] = -size;
    return gravity;
  }

  private set(gravity: Vec3): void {
    this.send({ do: 'set', gravity });
  }
}
