// What a tool is: something that takes pointers which go down on the canvas.

import type { Ray } from 'three';
import type { Latency } from '../latency';
import type { Send, Settings } from '../protocol';
import type { Hit } from '../stage/picking';
import type { View } from '../stage/view';
import type { World } from '../stage/world';

/** A pointer, in the scene. */
export interface Touch {
  id: number;
  ray: Ray;
  /** What of the bodies lies under it. */
  hit: Hit | null;
  shift: boolean;
  alt: boolean;
}

/** What tools work with. */
export interface Workbench {
  readonly view: View;
  readonly world: World;
  readonly send: Send;
  readonly latency: Latency;
}

export abstract class Tool {
  abstract readonly name: string;
  abstract readonly label: string;
  abstract readonly icon: string;
  /** How to use it, in a sentence. */
  abstract readonly hint: string;
  /** What the pointer looks like over a body; null if bodies are nothing special to the tool. */
  readonly cursor: string | null = null;
  /** Its own settings, shown while it is in use. */
  readonly options: HTMLElement | null = null;

  private bench: Workbench | null = null;

  /** Another stage begins. */
  start(bench: Workbench): void {
    this.bench = bench;
  }

  protected get isStarted(): boolean {
    return this.bench !== null;
  }

  protected get work(): Workbench {
    if (!this.bench) throw new Error(`${this.name} is used before there is a stage`);
    return this.bench;
  }

  /** Why it cannot be used, or null. */
  whyNot(settings: Settings): string | null {
    return settings.why_not;
  }

  /** A pointer went down. Whether the tool takes it; otherwise it turns the view. */
  press(_touch: Touch): boolean {
    return false;
  }

  /** A pointer that was taken moved; at most once an animation frame. */
  move(_touch: Touch): void {}

  /** The wheel turned while a pointer is taken, in steps away from the user. */
  wheel(_steps: number): void {}

  /** A pointer that was taken went up. */
  release(_id: number): void {}

  /** A pointer that was taken is lost, or Escape was pressed. */
  cancel(id: number): void {
    this.release(id);
  }

  /** A pointer moves without being down; null when it leaves. */
  hover(_touch: Touch | null): void {}

  /** Another tool is chosen. */
  leave(): void {}
}
