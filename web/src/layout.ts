// Layout of the page, and the free part of the canvas.

import { element } from './dom';
import type { Insets, View } from './viewport/view';

export interface Parts {
  canvas: HTMLCanvasElement;
  labels: HTMLElement;
  title: HTMLElement;
  buttons: HTMLElement[];
  side: HTMLElement[];
  toolbar: HTMLElement;
  transport: HTMLElement;
  /** Elements over the canvas that are positioned by their styles. */
  overlays: HTMLElement[];
}

/** Maximum height of windows of phones in landscape, as in the styles. */
const LOW = 480;

/** Returns true for the window of a phone, in portrait or landscape, which starts with the panel hidden. */
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

  /** Shows the page once there is a scene. */
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
      // On phones in landscape, the buttons at the top take much of the height.
      top: innerHeight <= LOW ? this.buttons.getBoundingClientRect().bottom : 0,
      bottom: Math.max(innerHeight - transport.top, 0),
    };
    if (!this.side.hidden) {
      // Next to the canvas in wide windows, a sheet below it in narrow ones.
      if (side.width < 0.6 * innerWidth) insets.right = innerWidth - side.left;
      else insets.bottom = innerHeight - side.top;
    }
    document.documentElement.style.setProperty('--inset-right', `${insets.right}px`);
    document.documentElement.style.setProperty('--inset-bottom', `${insets.bottom}px`);
    this.view.setInsets(insets);
  }
}
