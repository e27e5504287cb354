// Panel: an element that receives the messages of the server.

import { element } from '../dom';
import type { DisplayScene, Frame, Settings } from '../protocol';

export interface Panel {
  readonly element: HTMLElement;
  /** Called when another scene starts. */
  display?(display: DisplayScene): void;
  settings?(settings: Settings): void;
  /** Called after a frame was drawn. */
  frame?(frame: Frame): void;
}

/** Creates a collapsible section of the side panel. */
export function section(title: string, open: boolean, ...children: (Node | string)[]): HTMLDetailsElement {
  return element('details', { class: 'section', open }, element('summary', {}, title), ...children);
}
