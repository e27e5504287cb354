// Base class of tools, which capture pointers pressed on the canvas.

import type { Ray } from 'three';
import type { Latency } from '../latency';
import type { Send, Settings } from '../protocol';
import type { Hit } from '../viewport/picking';
import type { View } from '../viewport/view';
import type { World } from '../viewport/world';

/** Pointer in the scene. */
export interface Touch {
  id: number;
  ray: Ray;
  /** Point of a body under the pointer. */
  hit: Hit | null;
  shift: boolean;
  alt: boolean;
}

/** Context of tools. */
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
  /** Instruction in one sentence. */
  abstract readonly hint: string;
  /** Cursor over a body, or null if the tool does not act on bodies. */
  readonly cursor: string | null = null;
  /** Settings of the tool, shown while it is in use. */
  readonly options: HTMLElement | null = null;

  private bench: Workbench | null = null;

  /** Called when another scene starts. */
  start(bench: Workbench): void {
    this.bench = bench;
  }

  protected get isStarted(): boolean {
    return this.bench !== null;
  }

  protected get work(): Workbench {
    if (!this.bench) throw new Error(`${this.name} is used before a scene is loaded`);
    return this.bench;
  }

  /** Returns the reason why the tool cannot be used, or null. */
  whyNot(settings: Settings): string | null {
    return settings.why_not;
  }

  /** Handles a pressed pointer. Returns true if the tool captures it; otherwise it turns the view. */
  press(_touch: Touch): boolean {
    return false;
  }

  /** Handles a move of a captured pointer, at most once per animation frame. */
  move(_touch: Touch): void {}

  /** Handles the wheel while a pointer is captured, in steps away from the user. */
  wheel(_steps: number): void {}

  /** Handles the release of a captured pointer. */
  release(_id: number): void {}

  /** Handles the loss of a captured pointer, or Escape. */
  cancel(id: number): void {
    this.release(id);
  }

  /** Handles a hovering pointer; null when it leaves. */
  hover(_touch: Touch | null): void {}

  /** Called when another tool is chosen. */
  leave(): void {}
}
