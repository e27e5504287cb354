// Display settings of this page: colors, slice, edges.

import { element } from '../dom';
import type { ViewOptions } from '../options';
import type { Ask, DisplayScene } from '../protocol';
import type { World } from '../viewport/world';
import { SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';
import { SliceFields } from './slice-fields';

export function displayPanel(options: ViewOptions, world: () => World | null, ask: Ask): Panel {
  const color = new SelectField('Color', async (name) => {
    options.change({ color: name });
    return null;
  });
  const lock = new SwitchField('Lock range', (on) => options.change({ isRangeLocked: on }));
  const regions = element('ul', { class: 'regions', 'aria-label': 'Regions' });
  const bodies = element('ul', { class: 'regions', 'aria-label': 'Bodies' });
  const wireframe = new SwitchField('Edges', (on) => options.change({ wireframe: on }));
  const markers = new SwitchField('Fixed vertices', (on) => options.change({ markers: on }));
  const follow = new SwitchField('Follow bodies', (on) => options.change({ follow: on }));
  const shadows = new SwitchField('Shadows', (on) => options.change({ shadows: on }));
  const slice = new SliceFields(options, world, ask);

  const refresh = () => {
    const { now } = options;
    color.show(now.color);
    lock.input.checked = now.isRangeLocked;
    lock.element.hidden = now.color === 'none' || now.color === 'region';
    regions.hidden = now.color !== 'region';
    bodies.hidden = now.color !== 'none' || bodies.childElementCount < 2;
    wireframe.input.checked = now.wireframe;
    markers.input.checked = now.markers;
    shadows.input.checked = now.shadows;
    follow.input.checked = now.follow;
    slice.refresh();
  };
  options.follow(refresh);

  return {
    element: section(
      'View',
      true,
      color.element,
      lock.element,
      regions,
      bodies,
      element(
        'div',
        { class: 'switches' },
        wireframe.element,
        markers.element,
        shadows.element,
        follow.element,
        slice.active.element,
      ),
      slice.element,
    ),
    display(display: DisplayScene) {
      const byRegion = display.regions.length > 1 ? [{ name: 'region', label: 'by region' }] : [];
      const choices = [{ name: 'none', label: 'by body' }, ...byRegion, ...display.colors];
      color.offer(choices.map(({ name, label }) => ({ name, label })));
      regions.replaceChildren(
        ...display.regions.map(({ name, body, color }) => {
          const owner = display.bodies[body]?.name;
          return colorItem(owner && owner !== name ? `${owner}: ${name}` : name, color);
        }),
      );
      bodies.replaceChildren(...display.bodies.map(({ name, color }) => colorItem(name, color)));
      // The previous choice may not exist in the new scene.
      if (!choices.some(({ name }) => name === options.now.color)) options.change({ color: 'none' });
      refresh();
    },
  };
}

function colorItem(name: string, color: string): HTMLElement {
  const dot = element('i');
  dot.style.background = color;
  return element('li', {}, dot, name);
}
