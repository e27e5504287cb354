// Tells why nothing is shown.

import type { Trouble } from '../connection';
import { element } from '../dom';

const WORDS: Record<Trouble, [string, string]> = {
  connecting: ['Connecting …', ''],
  'no-token': [
    'The address of this page is incomplete.',
    'Open the whole address that `pliant view` printed, with the token at its end.',
  ],
  refused: [
    'The server refuses this page.',
    'Its token is not, or no longer, the right one. Open the address that `pliant view` printed last.',
  ],
  'no-graphics': [
    'This browser cannot draw in three dimensions.',
    'The page needs WebGL 2. Switch on hardware acceleration in the settings of the browser, or use another one.',
  ],
  gone: ['The server is gone.', 'Start `pliant view` again. This page tries to reach it by itself.'],
};

export class TroubleBanner {
  private readonly title = element('strong');
  private readonly advice = element('p');
  readonly element = element('div', { class: 'banner trouble', role: 'alert', hidden: true }, this.title, this.advice);

  show(trouble: Trouble | null): void {
    this.element.hidden = trouble === null;
    if (!trouble) return;
    const [title, advice] = WORDS[trouble];
    this.title.textContent = title;
    // What stands between backquotes is code.
    this.advice.replaceChildren(
      ...advice.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part)),
    );
  }
}
