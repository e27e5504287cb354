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
  readonly hint = 'Press and drag to move a ball; the wheel moves it away or nearer. Middle drag turns the view.';
  override readonly cursor = 'grab';

  private readonly size = new ToolSlider(
    'Ball radius',
    {
      from: -1,
      to: 1,
      at: 0,
      // A third to three times of what suits the bodies.
      show: (exponent) => quantity(this.radiusOf(exponent), 'm'),
    },
    () => this.put(),
  );
  override readonly options = this.size.element;

  private centre: Vector3 | null = null;
  private plane: Plane | null = null;
  /** From where the pointer meets the plane to the centre, so that a ball that is grabbed does not jump. */
  private readonly offset = new Vector3();

  override start(bench: Workbench): void {
    super.start(bench);
    this.centre = null;
    this.plane = null;
    this.size.refresh();
  }

  override press(touch: Touch): boolean {
    const { view, world } = this.work;
    const radius = this.radiusOf(this.size.value);
    const grabbed = this.centre && touch.ray.intersectSphere(new Sphere(this.centre, radius), new Vector3());
    if (grabbed && this.centre) {
      this.plane = view.screenPlane(this.centre);
    } else {
      // In front of a body, so that it does not begin inside; beside one, at the depth where the last was or the middle.
      const depth = this.centre ?? world.surface.box.getCenter(new Vector3());
      const through = touch.hit ? touch.ray.at(touch.hit.distance - 1.05 * radius, new Vector3()) : depth;
      this.plane = view.screenPlane(through);
    }
    const at = touch.ray.intersectPlane(this.plane, new Vector3());
    if (!at) return true;
    this.offset.set(0, 0, 0);
    if (grabbed && this.centre) this.offset.subVectors(this.centre, at);
    this.centre = at.add(this.offset);
    this.put();
    return true;
  }

  override move({ ray }: Touch): void {
    const at = this.plane && ray.intersectPlane(this.plane, new Vector3());
    if (!at) return;
    this.centre = at.add(this.offset);
    this.put();
  }

  override wheel(steps: number): void {
    const { view, world } = this.work;
    if (!this.centre) return;
    const sight = this.centre.clone().sub(view.camera.position).normalize();
    this.centre.addScaledVector(sight, steps * 0.03 * world.stage.size);
    this.plane = view.screenPlane(this.centre);
    this.put();
  }

  override leave(): void {
    if (this.centre) this.work.send({ do: 'no-ball' });
    this.centre = null;
  }

  private put(): void {
    if (!this.centre) return;
    this.work.send({ do: 'ball', centre: this.centre.toArray(), radius: this.radiusOf(this.size.value) });
  }

  private radiusOf(exponent: number): number {
    return this.isStarted ? this.work.world.stage.ball.radius * 3 ** exponent : 0;
  }
}
