// Title card of the scene.

import { element, setText } from '../dom';
import type { DisplayScene, Frame } from '../protocol';
import type { Panel } from './panel';

/** Creates the title card; `more` is shown next to the title. */
export function titleCard(...more: HTMLElement[]): Panel {
  const title = element('h1', {}, 'Pliant');
  const badge = element('span', { class: 'badge' });
  const viewers = element('span', { class: 'badge' });
  const about = element('p');
  viewers.hidden = true;
  badge.hidden = true;
  return {
    element: element('header', { class: 'title-card' }, element('div', {}, title, badge, viewers, ...more), about),
    display(display: DisplayScene) {
      title.textContent = display.title;
      title.title = `${display.title} · Pliant ${display.version}`;
      document.title = `${display.title} · Pliant`;
      badge.hidden = false;
      badge.textContent = display.reduced === null ? display.mode : `${display.mode}, reduced`;
      about.textContent = display.about ?? '';
      about.hidden = !display.about;
    },
    frame(frame: Frame) {
      viewers.hidden = frame.viewers < 2;
      setText(viewers, `${frame.viewers} viewers`);
    },
  };
}
