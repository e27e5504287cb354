// What bodies are made of.

import { element, throttle } from '../dom';
import { quantity } from '../format';
import type { Material, Send, Settings, Stage } from '../protocol';
import { linear, logarithmic, SelectField, SliderField } from './fields';
import { type Panel, section } from './panel';

const EVERY_MS = 100;
/** The slider of Young's modulus goes this far to both sides of what it was. */
const DECADES = 1e3;

export function materialPanel(send: Send): Panel {
  let materials: Material[] = [];
  let chosen = 0;
  let whyNothing: string | null = null;
  /** What Young's modulus was when each material was first seen: the middle of its slider. */
  let middles = new Map<number, number>();

  const material = () => materials.find((one) => one.index === chosen);
  const change = (part: { law?: string; young?: number; poisson?: number }) =>
    send({ do: 'set-material', index: chosen, ...part });

  const which = new SelectField('Material', (name) => {
    chosen = Number(name);
    show();
  });
  const law = new SelectField('Law', (name) => change({ law: name }));
  const young = new SliderField(
    "Young's modulus",
    'Pa',
    logarithmic(1e3, 1e9),
    (value) => value > 0,
    throttle(EVERY_MS, (value) => change({ young: value })),
  );
  const poisson = new SliderField(
    "Poisson's ratio",
    '',
    linear(-0.9, 0.499),
    (value) => value > -1 && value < 0.5,
    throttle(EVERY_MS, (value) => change({ poisson: value })),
  );
  const density = element('p', { class: 'quiet' });
  const whyNot = element('p', { class: 'why-not' });
  const panel = section('Material', true, which.element, law.element, young.element, poisson.element, density, whyNot);

  function show(): void {
    const one = material();
    if (!one) return;
    const reason = one.why_not ?? whyNothing;
    whyNot.textContent = reason ?? '';
    whyNot.hidden = reason === null;
    law.input.disabled = reason !== null;
    young.disabled = reason !== null;
    poisson.disabled = reason !== null;
    law.element.hidden = one.law === null;
    young.element.hidden = one.young === null;
    poisson.element.hidden = one.poisson === null;
    density.textContent = `Density ${quantity(one.density, 'kg/m³', 4)}`;
    if (one.law !== null) law.show(one.law);
    if (one.poisson !== null) poisson.show(one.poisson);
    if (one.young !== null) {
      const middle = middles.get(one.index) ?? one.young;
      middles.set(one.index, middle);
      young.remap(logarithmic(middle / DECADES, middle * DECADES));
      young.show(one.young);
    }
  }

  return {
    element: panel,
    stage(stage: Stage) {
      law.offer(stage.laws);
      middles = new Map();
      chosen = 0;
    },
    settings(settings: Settings) {
      materials = settings.materials;
      panel.hidden = materials.length === 0;
      which.element.hidden = materials.length < 2;
      which.offer(materials.map(({ index, name }) => ({ name: String(index), label: name })));
      if (!material()) chosen = materials[0]?.index ?? 0;
      which.show(String(chosen));
      whyNothing = settings.why_not;
      show();
    },
  };
}
