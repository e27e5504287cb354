// Short messages that disappear after a while.

import { element } from '../dom';
import { ICONS, iconButton } from '../icons';
import type { Notice } from '../protocol';

const MAX_NOTICES = 4;
const SECONDS = 12;

export class Notices {
  readonly element = element('div', { class: 'notices' });

  show({ text }: Notice): void {
    // A repeated message only restarts its timer.
    for (const old of this.element.children) {
      if (old.querySelector('p')?.textContent === text) old.remove();
    }
    const notice = element('div', { class: 'notice', role: 'alert' });
    notice.append(
      element('p', {}, text),
      iconButton(ICONS.close, 'Dismiss', '', () => notice.remove()),
    );
    this.element.append(notice);
    while (this.element.children.length > MAX_NOTICES) this.element.firstElementChild?.remove();
    setTimeout(() => notice.remove(), 1000 * SECONDS);
  }
}
