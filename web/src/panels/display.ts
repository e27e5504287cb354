// What this page shows and how: colours, slice, edges.

import { element } from '../dom';
import type { ViewOptions } from '../options';
import type { Stage } from '../protocol';
import { regionColour } from '../stage/colours';
import type { World } from '../stage/world';
import { SelectField, SwitchField } from './fields';
import { type Panel, section } from './panel';
import { SliceFields } from './slice-fields';

export function displayPanel(options: ViewOptions, world: () => World | null): Panel {
  const colour = new SelectField('Colour', (name) => options.change({ colour: name }));
  const hold = new SwitchField('Hold range', (on) => options.change({ holdRange: on }));
  const regions = element('ul', { class: 'regions', 'aria-label': 'Regions' });
  const wireframe = new SwitchField('Edges', (on) => options.change({ wireframe: on }));
  const markers = new SwitchField('Held vertices', (on) => options.change({ markers: on }));
  const follow = new SwitchField('Follow bodies', (on) => options.change({ follow: on }));
  const shadows = new SwitchField('Shadows', (on) => options.change({ shadows: on }));
  const slice = new SliceFields(options, world);

  const refresh = () => {
    const { now } = options;
    colour.show(now.colour);
    hold.input.checked = now.holdRange;
    hold.element.hidden = now.colour === 'none' || now.colour === 'region';
    regions.hidden = now.colour !== 'region';
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
      const choices = [{ name: 'none', label: 'plain' }, ...byRegion, ...stage.colours];
      colour.offer(choices.map(({ name, label }) => ({ name, label })));
      regions.replaceChildren(
        ...stage.regions.map(({ name, body }, i) => regionItem(stage.bodies[body]?.name, name, i)),
      );
      // What was chosen on the stage before may not be there on this one.
      if (!choices.some(({ name }) => name === options.now.colour)) options.change({ colour: 'none' });
      refresh();
    },
  };
}

function regionItem(body: string | undefined, name: string, index: number): HTMLElement {
  const dot = element('i');
  dot.style.background = `#${regionColour(index).getHexString()}`;
  return element('li', {}, dot, body && body !== name ? `${body}: ${name}` : name);
}
