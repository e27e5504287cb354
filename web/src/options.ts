// What this page shows, which each page chooses for itself.

import type { SliceChoice } from './stage/slice';

export interface Chosen {
  /** `"none"`, `"region"` or one of the stage's colours. */
  colour: string;
  holdRange: boolean;
  wireframe: boolean;
  shadows: boolean;
  markers: boolean;
  /** The camera moves along with the bodies. */
  follow: boolean;
  slice: SliceChoice | null;
}

export class ViewOptions {
  now: Readonly<Chosen> = {
    colour: 'none',
    holdRange: false,
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
