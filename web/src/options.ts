// Display options of this page.

import type { SliceChoice } from './viewport/slice';

export interface Chosen {
  /** `"none"`, `"region"` or one of the colors of the display. */
  color: string;
  isRangeLocked: boolean;
  wireframe: boolean;
  shadows: boolean;
  markers: boolean;
  /** True if the camera follows the bodies. */
  follow: boolean;
  slice: SliceChoice | null;
}

export class ViewOptions {
  now: Readonly<Chosen> = {
    color: 'none',
    isRangeLocked: false,
    wireframe: false,
    shadows: true,
    markers: true,
    follow: false,
    slice: null,
  };
  private readonly listeners: (() => void)[] = [];

  constructor(first: Partial<Chosen>) {
    this.now = { ...this.now, ...first };
  }

  change(part: Partial<Chosen>): void {
    this.now = { ...this.now, ...part };
    for (const listener of this.listeners) listener();
  }

  follow(listener: () => void): void {
    this.listeners.push(listener);
  }
}
