// Help dialog with tools and keys.

import { element } from '../dom';
import type { Shortcut } from '../shortcuts';
import type { Tool } from '../tools/tool';

export class Help {
  readonly element: HTMLDialogElement;

  constructor(shortcuts: Shortcut[], tools: Tool[]) {
    const close = element('button', { type: 'button', class: 'primary', onclick: () => this.element.close() }, 'Close');
    this.element = element(
      'dialog',
      { class: 'help', 'aria-label': 'Help' },
      element('h2', {}, 'Tools'),
      list(
        'tools',
        tools.map((tool) => [tool.label, tool.hint]),
      ),
      element('h2', {}, 'Keys'),
      list(
        'keys',
        shortcuts.map(({ shown, label }) => [shown, label]),
      ),
      element('p', {}, close),
    );
    // A click outside the dialog is dispatched to the dialog itself.
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

function list(kind: string, entries: [string, string][]): HTMLElement {
  return element(
    'dl',
    { class: kind },
    ...entries.map(([term, text]) => element('div', {}, element('dt', {}, term), element('dd', {}, text))),
  );
}
