// What is shown, and buttons for looking at it.

import { element, setText } from '../dom';
import type { Frame, Stage } from '../protocol';
import type { Panel } from './panel';

/** `more` stands next to the title. */
export function titleCard(...more: HTMLElement[]): Panel {
  const title = element('h1', {}, 'Pliant');
  const badge = element('span', { class: 'badge' });
  const viewers = element('span', { class: 'badge' });
  const about = element('p');
  viewers.hidden = true;
  badge.hidden = true;
  return {
    element: element('header', { class: 'title-card' }, element('div', {}, title, badge, viewers, ...more), about),
    stage(stage: Stage) {
      title.textContent = stage.title;
      title.title = `${stage.title} · Pliant ${stage.version}`;
      document.title = `${stage.title} · Pliant`;
      badge.hidden = false;
      badge.textContent = stage.reduced === null ? stage.mode : `${stage.mode}, reduced`;
      about.textContent = stage.about ?? '';
      about.hidden = !stage.about;
    },
    frame(frame: Frame) {
      viewers.hidden = frame.viewers < 2;
      setText(viewers, `${frame.viewers} viewers`);
    },
  };
}
