// Where things are on the page, and how much of the canvas they leave free.

import { element } from './dom';
import type { Insets, View } from './stage/view';

export interface Parts {
  canvas: HTMLCanvasElement;
  labels: HTMLElement;
  title: HTMLElement;
  buttons: HTMLElement[];
  side: HTMLElement[];
  toolbar: HTMLElement;
  transport: HTMLElement;
  /** What lies over the canvas and finds its place by its own style. */
  overlays: HTMLElement[];
}

/** Windows as low as this are those of phones on their side; the styles say the same. */
const LOW = 480;

/** Whether the window is that of a phone, upright or not: it starts with the whole canvas. */
export function isSmall(): boolean {
  return innerWidth < 720 || innerHeight <= LOW;
}

export class Layout {
  private readonly side: HTMLElement;
  private readonly buttons: HTMLElement;

  constructor(
    private readonly view: View,
    private readonly parts: Parts,
  ) {
    this.side = element('aside', { class: 'side', 'aria-label': 'Settings' }, ...parts.side);
    this.side.hidden = isSmall();
    this.buttons = element('div', { class: 'view-buttons', role: 'toolbar', 'aria-label': 'View' }, ...parts.buttons);
    document.body.classList.add('empty');
    document.body.append(
      element('main', {}, parts.canvas, parts.labels),
      parts.title,
      this.buttons,
      this.side,
      parts.toolbar,
      parts.transport,
      ...parts.overlays,
    );
    const watch = new ResizeObserver(() => this.measure());
    for (const part of [document.body, this.side, parts.transport]) watch.observe(part);
    this.measure();
  }

  /** There is something to look at. */
  fill(): void {
    document.body.classList.remove('empty');
    this.measure();
  }

  toggleSide(): void {
    this.side.hidden = !this.side.hidden;
    this.measure();
  }

  get sideIsOpen(): boolean {
    return !this.side.hidden;
  }

  private measure(): void {
    const tools = this.parts.toolbar.firstElementChild?.getBoundingClientRect();
    const transport = this.parts.transport.getBoundingClientRect();
    const side = this.side.getBoundingClientRect();
    const insets: Insets = {
      left: tools?.right ?? 0,
      right: 0,
      // On phones on their side, what is at the top takes much of the height.
      top: innerHeight <= LOW ? this.buttons.getBoundingClientRect().bottom : 0,
      bottom: Math.max(innerHeight - transport.top, 0),
    };
    if (!this.side.hidden) {
      // Beside the canvas in wide windows, a sheet below it in narrow ones.
      if (side.width < 0.6 * innerWidth) insets.right = innerWidth - side.left;
      else insets.bottom = innerHeight - side.top;
    }
    document.documentElement.style.setProperty('--inset-right', `${insets.right}px`);
    document.documentElement.style.setProperty('--inset-bottom', `${insets.bottom}px`);
    this.view.setInsets(insets);
  }
}
