// Throws a body with the velocity of an arrow that the user draws.

import { type Plane, Vector3 } from 'three';
import { quantity } from '../format';
import { ICONS } from '../icons';
import { Tool, type Touch } from './tool';

const GRAVITY = 9.81;
/** Height of a throw relative to the length of the arrow, for an arrow as long as the bodies. */
const HEIGHT = 12;

interface Thrown {
  id: number;
  triangle: number;
  from: Vector3;
  to: Vector3;
  plane: Plane;
  /** True if no vertex of the body is fixed. */
  free: boolean;
}

export class ThrowTool extends Tool {
  readonly name = 'throw';
  readonly label = 'Throw';
  readonly icon = ICONS.throw;
  readonly hint = 'Press on a body, draw an arrow and release: the body is thrown along the arrow.';
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
    const label = free ? quantity(this.velocity().length(), 'm/s') : 'fixed: only free bodies can be thrown';
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

  /** Velocity for a height relative to the size of the bodies: √(2 g h) grows with the root of the size. */
  private velocity(): Vector3 {
    if (!this.thrown) return new Vector3();
    const { size } = this.work.world.display;
    const scale = Math.sqrt(2 * GRAVITY * HEIGHT * size) / size;
    return new Vector3().subVectors(this.thrown.to, this.thrown.from).multiplyScalar(scale);
  }
}
