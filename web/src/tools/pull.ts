// Pulls a point of a body with a spring.

import type { Plane, Vector3 } from 'three';
import { quantity } from '../format';
import { ICONS } from '../icons';
import { ToolSlider } from './slider';
import { Tool, type Touch, type Workbench } from './tool';

interface ActivePull {
  /** Identifier of this pull. */
  pull: number;
  /** Plane in which the pointer moves the target. */
  plane: Plane;
  target: Vector3;
}

export class PullTool extends Tool {
  readonly name = 'pull';
  readonly label = 'Pull';
  readonly icon = ICONS.pull;
  readonly hint = 'Drag a body; the wheel changes the depth of the target. Drag outside the bodies to turn the view.';
  override readonly cursor = 'grab';

  private readonly stiffness = new ToolSlider('Spring stiffness', {
    from: -2,
    to: 2,
    at: 0,
    show: (exponent) => quantity(this.springOf(exponent), 'N/m'),
  });
  override readonly options = this.stiffness.element;

  private readonly active = new Map<number, ActivePull>();
  private pulls = 0;

  override start(bench: Workbench): void {
    super.start(bench);
    this.active.clear();
    this.stiffness.refresh();
  }

  override press({ id, hit }: Touch): boolean {
    if (!hit) return false;
    const { view, latency, send } = this.work;
    this.pulls += 1;
    const plane = view.screenPlane(hit.point);
    this.active.set(id, { pull: this.pulls, plane, target: hit.point.clone() });
    send({
      do: 'grab',
      pull: this.pulls,
      triangle: hit.triangle,
      weights: hit.weights,
      target: hit.point.toArray(),
      stiffness: this.springOf(this.stiffness.value),
      input: latency.next(),
    });
    this.showTarget();
    return true;
  }

  override move({ id, ray }: Touch): void {
    const pull = this.active.get(id);
    if (pull && ray.intersectPlane(pull.plane, pull.target)) this.drag(pull);
  }

  override wheel(steps: number): void {
    const { view, world } = this.work;
    for (const pull of this.active.values()) {
      // Along the line of sight, so that the target stays under the pointer.
      const sight = pull.target.clone().sub(view.camera.position).normalize();
      pull.target.addScaledVector(sight, steps * 0.03 * world.display.size);
      pull.plane.copy(view.screenPlane(pull.target));
      this.drag(pull);
    }
  }

  override release(id: number): void {
    const pull = this.active.get(id);
    if (!pull) return;
    this.active.delete(id);
    this.work.send({ do: 'release', pull: pull.pull });
    this.showTarget();
  }

  private drag({ pull, target }: ActivePull): void {
    const stiffness = this.springOf(this.stiffness.value);
    this.work.send({ do: 'drag', pull, target: target.toArray(), stiffness, input: this.work.latency.next() });
    this.showTarget();
  }

  private showTarget(): void {
    const { view, world } = this.work;
    const [only] = this.active.values();
    world.pullTarget = this.active.size === 1 ? only.target : null;
    view.invalidate();
  }

  private springOf(exponent: number): number {
    return this.isStarted ? this.work.world.display.pull.stiffness * 10 ** exponent : 0;
  }
}
