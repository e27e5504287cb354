// Banner with the reason why nothing is shown.

import type { Trouble } from '../connection';
import { element } from '../dom';

const WORDS: Record<Trouble, [string, string]> = {
  connecting: ['Connecting …', ''],
  'no-token': [
    'The address of this page is incomplete.',
    'Open the full address that `pliant view` printed, including the token at its end.',
  ],
  refused: [
    'The server refuses this page.',
    'Its token is wrong or expired. Open the address that `pliant view` printed last.',
  ],
  'no-graphics': [
    'This browser does not support 3D graphics.',
    'The page needs WebGL 2. Enable hardware acceleration in the settings of the browser, or use another browser.',
  ],
  gone: ['The server is gone.', 'Start `pliant view` again. This page reconnects automatically.'],
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
    // Text between backquotes is code.
    this.advice.replaceChildren(
      ...advice.split('`').map((part, i) => (i % 2 === 1 ? element('code', {}, part) : part)),
    );
  }
}
