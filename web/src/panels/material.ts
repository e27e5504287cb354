// Materials of the bodies.

import { element, throttle } from '../dom';
import { quantity } from '../format';
import type { Ask, DisplayScene, Material, MaterialChange, Send, Settings } from '../protocol';
import { type Commit, linear, logarithmic, SelectField, SliderField } from './fields';
import { type Panel, section } from './panel';

const EVERY_MS = 100;
/** Range of the slider of Young's modulus: this factor below and above its initial value. */
const DECADES = 1e3;

export function materialPanel(send: Send, ask: Ask): Panel {
  let materials: Material[] = [];
  let chosen = 0;
  let whyNothing: string | null = null;
  /** Initial Young's modulus of each material, the middle of its slider. */
  let middles = new Map<number, number>();

  const material = () => materials.find((one) => one.index === chosen);
  const slide = (change: MaterialChange) => send({ do: 'set-material', index: chosen, ...change });
  const set: Commit<MaterialChange> = async (change) =>
    (await ask({ do: 'set-material', index: chosen, ...change })).error;

  const which = new SelectField('Material', async (name) => {
    chosen = Number(name);
    show();
    return null;
  });
  const law = new SelectField('Law', (law) => set({ law }));
  const inversion = new SelectField('Inversion', (inversion) => set({ inversion }));
  const young = new SliderField(
    "Young's modulus",
    'Pa',
    logarithmic(1e3, 1e9),
    (young) => set({ young }),
    throttle(EVERY_MS, (young) => slide({ young })),
  );
  const poisson = new SliderField(
    "Poisson's ratio",
    '',
    linear(-0.9, 0.499),
    (poisson) => set({ poisson }),
    throttle(EVERY_MS, (poisson) => slide({ poisson })),
  );
  const density = element('p', { class: 'quiet' });
  const whyNot = element('p', { class: 'why-not' });
  const panel = section(
    'Material',
    true,
    which.element,
    law.element,
    young.element,
    poisson.element,
    inversion.element,
    density,
    whyNot,
  );

  function show(): void {
    const one = material();
    if (!one) return;
    const reason = one.why_not ?? whyNothing;
    whyNot.textContent = reason ?? '';
    whyNot.hidden = reason === null;
    law.input.disabled = reason !== null;
    young.disabled = reason !== null;
    poisson.disabled = reason !== null;
    inversion.input.disabled = reason !== null;
    inversion.element.hidden = one.inversion === null;
    if (one.inversion !== null) inversion.show(one.inversion);
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
    display(display: DisplayScene) {
      law.offer(display.laws);
      inversion.offer(display.inversions);
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
