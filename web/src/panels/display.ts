// What this page shows and how: colours, slice, edges.

import { element } from '../dom';
import type { ViewOptions } from '../options';
import type { Ask, Stage } from '../protocol';
import type { World } from '../stage/world';
import { SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';
import { SliceFields } from './slice-fields';

export function displayPanel(options: ViewOptions, world: () => World | null, ask: Ask): Panel {
  const colour = new SelectField('Colour', async (name) => {
    options.change({ colour: name });
    return null;
  });
  const hold = new SwitchField('Hold range', (on) => options.change({ holdRange: on }));
  const regions = element('ul', { class: 'regions', 'aria-label': 'Regions' });
  const bodies = element('ul', { class: 'regions', 'aria-label': 'Bodies' });
  const wireframe = new SwitchField('Edges', (on) => options.change({ wireframe: on }));
  const markers = new SwitchField('Held vertices', (on) => options.change({ markers: on }));
  const follow = new SwitchField('Follow bodies', (on) => options.change({ follow: on }));
  const shadows = new SwitchField('Shadows', (on) => options.change({ shadows: on }));
  const slice = new SliceFields(options, world, ask);

  const refresh = () => {
    const { now } = options;
    colour.show(now.colour);
    hold.input.checked = now.holdRange;
    hold.element.hidden = now.colour === 'none' || now.colour === 'region';
    regions.hidden = now.colour !== 'region';
    bodies.hidden = now.colour !== 'none' || bodies.childElementCount < 2;
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
      colour.element,
      hold.element,
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
    stage(stage: Stage) {
      const byRegion = stage.regions.length > 1 ? [{ name: 'region', label: 'by region' }] : [];
      const choices = [{ name: 'none', label: 'by body' }, ...byRegion, ...stage.colours];
      colour.offer(choices.map(({ name, label }) => ({ name, label })));
      regions.replaceChildren(
        ...stage.regions.map(({ name, body, color }) => {
          const owner = stage.bodies[body]?.name;
          return colorItem(owner && owner !== name ? `${owner}: ${name}` : name, color);
        }),
      );
      bodies.replaceChildren(...stage.bodies.map(({ name, color }) => colorItem(name, color)));
      // What was chosen on the stage before may not be there on this one.
      if (!choices.some(({ name }) => name === options.now.colour)) options.change({ colour: 'none' });
      refresh();
    },
  };
}

function colorItem(name: string, color: string): HTMLElement {
  const dot = element('i');
  dot.style.background = color;
  return element('li', {}, dot, name);
}
