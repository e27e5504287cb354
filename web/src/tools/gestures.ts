// Dispatches pointers on the canvas to the current tool or to the view.

import type { Ray } from 'three';
import type { Hit } from '../viewport/picking';
import type { Tool, Touch, Workbench } from './tool';

/** Maximum distance between a finger and the body that it touches, in pixels. */
const FINGER = 14;

/** Pixels of a wheel event per step. */
const WHEEL_STEP = 100;

export class Gestures {
  tool: Tool;
  private bench: Workbench | null = null;
  /** Pointers that the tool has captured, with their last position, or undefined if they have not moved since. */
  private readonly taken = new Map<number, PointerEvent | undefined>();
  private hovering: PointerEvent | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    tool: Tool,
    /** Called when a pointer on the canvas is released. */
    private readonly used: () => void,
  ) {
    this.tool = tool;
    // Before the listeners of the view, which can then be disabled.
    canvas.addEventListener('pointerdown', (event) => this.down(event), { capture: true });
    canvas.addEventListener('pointermove', (event) => this.moved(event));
    canvas.addEventListener('pointerup', (event) => this.up(event));
    canvas.addEventListener('pointercancel', (event) => this.lost(event.pointerId));
    canvas.addEventListener('pointerleave', () => this.left());
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  }

  start(bench: Workbench): void {
    this.taken.clear();
    this.hovering = null;
    this.bench = bench;
  }

  use(tool: Tool): void {
    if (tool === this.tool) return;
    this.cancel();
    if (this.bench) this.tool.leave();
    this.tool = tool;
  }

  /** Releases all pointers. */
  cancel(): void {
    for (const id of [...this.taken.keys()]) this.lost(id);
  }

  /** Passes the current positions of the pointers to the tool, once per animation frame. */
  flush(): void {
    for (const [id, event] of this.taken) {
      if (!event) continue;
      this.taken.set(id, undefined);
      const touch = this.touch(event, false);
      if (touch) this.tool.move(touch);
    }
    if (this.hovering) {
      const touch = this.touch(this.hovering, this.tool.cursor !== null);
      this.hovering = null;
      this.canvas.style.cursor = (touch?.hit && this.tool.cursor) || '';
      this.tool.hover(touch);
    }
  }

  private down(event: PointerEvent): void {
    const touch = event.button === 0 && !event.ctrlKey ? this.touch(event, true) : null;
    if (touch && !touch.hit && event.pointerType === 'touch') touch.hit = this.hitNear(event);
    if (!touch || !this.tool.press(touch)) return;
    this.taken.set(event.pointerId, undefined);
    this.canvas.setPointerCapture(event.pointerId);
    this.letViewTurn(false);
  }

  private moved(event: PointerEvent): void {
    if (this.taken.has(event.pointerId)) this.taken.set(event.pointerId, event);
    else if (event.buttons === 0) this.hovering = event;
  }

  private up(event: PointerEvent): void {
    this.used();
    if (!this.taken.has(event.pointerId)) return;
    // Includes movements within this animation frame.
    const touch = this.touch(event, false);
    if (touch) this.tool.move(touch);
    this.tool.release(event.pointerId);
    this.forget(event.pointerId);
  }

  private lost(id: number): void {
    if (!this.taken.has(id)) return;
    this.tool.cancel(id);
    this.forget(id);
  }

  private left(): void {
    this.hovering = null;
    if (this.bench) this.tool.hover(null);
  }

  private wheel(event: WheelEvent): void {
    if (this.taken.size === 0) return;
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 33 : event.deltaY;
    this.tool.wheel(-pixels / WHEEL_STEP);
  }

  private forget(id: number): void {
    this.taken.delete(id);
    if (this.taken.size === 0) this.letViewTurn(true);
  }

  private letViewTurn(may: boolean): void {
    if (this.bench) this.bench.view.controls.enabled = may;
  }

  private touch(event: PointerEvent, pick: boolean): Touch | null {
    if (!this.bench) return null;
    const ray = this.ray(this.bench, event, 0, 0);
    const hit = pick ? this.bench.world.pick(ray) : null;
    return { id: event.pointerId, ray, hit, shift: event.shiftKey, alt: event.altKey };
  }

  private hitNear(event: PointerEvent): Hit | null {
    if (!this.bench) return null;
    for (let i = 0; i < 8; i++) {
      const angle = (i * Math.PI) / 4;
      const hit = this.bench.world.pick(
        this.ray(this.bench, event, FINGER * Math.cos(angle), FINGER * Math.sin(angle)),
      );
      if (hit) return hit;
    }
    return null;
  }

  private ray({ view }: Workbench, event: PointerEvent, dx: number, dy: number): Ray {
    const { left, top } = this.canvas.getBoundingClientRect();
    return view.ray(event.clientX - left + dx, event.clientY - top + dy);
  }
}
