// Throws a body: an arrow is drawn, and the body gets its velocity.

import { type Plane, Vector3 } from 'three';
import { quantity } from '../format';
import { ICONS } from '../icons';
import { Tool, type Touch } from './tool';

const GRAVITY = 9.81;
/** An arrow as long as the bodies throws them this many times as high. */
const HEIGHT = 12;

interface Thrown {
  id: number;
  triangle: number;
  from: Vector3;
  to: Vector3;
  plane: Plane;
  /** Nothing holds the body. */
  free: boolean;
}

export class ThrowTool extends Tool {
  readonly name = 'throw';
  readonly label = 'Throw';
  readonly icon = ICONS.throw;
  readonly hint = 'Press on a body, draw an arrow and let go: the body flies off along it.';
  override readonly cursor = 'grab';

  private thrown: Thrown | null = null;

  override press({ id, hit }: Touch): boolean {
    if (!hit || this.thrown) return false;
    const { view, world } = this.work;
    this.thrown = {
      id,
      triangle: hit.triangle,
      from: hit.point.clone(),
      to: hit.point.clone(),
      plane: view.screenPlane(hit.point),
      free: world.bodyOf(hit.triangle).free,
    };
    return true;
  }

  override move({ id, ray }: Touch): void {
    if (this.thrown?.id !== id) return;
    ray.intersectPlane(this.thrown.plane, this.thrown.to);
    const { from, to, free } = this.thrown;
    const label = free ? quantity(this.velocity().length(), 'm/s') : 'held: only what is free can be thrown';
    this.work.world.toolArrows = [{ from: from.toArray(), to: to.toArray(), label, mine: true }];
    this.work.view.invalidate();
  }

  override release(id: number): void {
    if (this.thrown?.id !== id) return;
    const velocity = this.velocity();
    if (this.thrown.free && velocity.lengthSq() > 0) {
      this.work.send({ do: 'throw', triangle: this.thrown.triangle, velocity: velocity.toArray() });
    }
    this.cancel();
  }

  override cancel(): void {
    this.thrown = null;
    this.work.world.toolArrows = [];
    this.work.view.invalidate();
  }

  /** Small bodies need less to fly as many of their lengths: √(2 g h) grows with the root of the size. */
  private velocity(): Vector3 {
    if (!this.thrown) return new Vector3();
    const { size } = this.work.world.stage;
    const scale = Math.sqrt(2 * GRAVITY * HEIGHT * size) / size;
    return new Vector3().subVectors(this.thrown.to, this.thrown.from).multiplyScalar(scale);
  }
}
