// Pushes bodies with a ball.

import { type Plane, Sphere, Vector3 } from 'three';
import { quantity } from '../format';
import { ICONS } from '../icons';
import { ToolSlider } from './slider';
import { Tool, type Touch, type Workbench } from './tool';

export class BallTool extends Tool {
  readonly name = 'ball';
  readonly label = 'Ball';
  readonly icon = ICONS.ball;
  readonly hint =
    'Press and drag to move a ball; the wheel changes its depth. Drag with the middle button to turn the view.';
  override readonly cursor = 'grab';

  private readonly size = new ToolSlider(
    'Ball radius',
    {
      from: -1,
      to: 1,
      at: 0,
      // From a third to three times the default radius.
      show: (exponent) => quantity(this.radiusOf(exponent), 'm'),
    },
    () => this.put(),
  );
  override readonly options = this.size.element;

  private center: Vector3 | null = null;
  private plane: Plane | null = null;
  /** Offset from the pointer on the plane to the center, so that a grabbed ball does not jump. */
  private readonly offset = new Vector3();

  override start(bench: Workbench): void {
    super.start(bench);
    this.center = null;
    this.plane = null;
    this.size.refresh();
  }

  override press(touch: Touch): boolean {
    const { view, world } = this.work;
    const radius = this.radiusOf(this.size.value);
    const grabbed = this.center && touch.ray.intersectSphere(new Sphere(this.center, radius), new Vector3());
    if (grabbed && this.center) {
      this.plane = view.screenPlane(this.center);
    } else {
      // In front of a body, so that it does not start inside; next to bodies, at the depth of the last ball or of the center.
      const depth = this.center ?? world.surface.box.getCenter(new Vector3());
      const through = touch.hit ? touch.ray.at(touch.hit.distance - 1.05 * radius, new Vector3()) : depth;
      this.plane = view.screenPlane(through);
    }
    const at = touch.ray.intersectPlane(this.plane, new Vector3());
    if (!at) return true;
    this.offset.set(0, 0, 0);
    if (grabbed && this.center) this.offset.subVectors(this.center, at);
    this.center = at.add(this.offset);
    this.put();
    return true;
  }

  override move({ ray }: Touch): void {
    const at = this.plane && ray.intersectPlane(this.plane, new Vector3());
    if (!at) return;
    this.center = at.add(this.offset);
    this.put();
  }

  override wheel(steps: number): void {
    const { view, world } = this.work;
    if (!this.center) return;
    const sight = this.center.clone().sub(view.camera.position).normalize();
    this.center.addScaledVector(sight, steps * 0.03 * world.display.size);
    this.plane = view.screenPlane(this.center);
    this.put();
  }

  override leave(): void {
    if (this.center) this.work.send({ do: 'no-ball' });
    this.center = null;
  }

  private put(): void {
    if (!this.center) return;
    this.work.send({ do: 'ball', center: this.center.toArray(), radius: this.radiusOf(this.size.value) });
  }

  private radiusOf(exponent: number): number {
    return this.isStarted ? this.work.world.display.ball.radius * 3 ** exponent : 0;
  }
}
