// What a panel is: an element that is told what arrives.

import { element } from '../dom';
import type { Frame, Settings, Stage } from '../protocol';

export interface Panel {
  readonly element: HTMLElement;
  /** Another stage begins. */
  stage?(stage: Stage): void;
  settings?(settings: Settings): void;
  /** After a frame was drawn. */
  frame?(frame: Frame): void;
}

/** A part of the side panel that can be folded. */
export function section(title: string, open: boolean, ...children: (Node | string)[]): HTMLDetailsElement {
  return element('details', { class: 'section', open }, element('summary', {}, title), ...children);
}
