// Pins vertices at their current positions with a brush.

import { Mesh, MeshBasicMaterial, SphereGeometry } from 'three';
import { element } from '../dom';
import { quantity } from '../format';
import { ICONS } from '../icons';
import type { Settings } from '../protocol';
import { ToolSlider } from './slider';
import { Tool, type Touch, type Workbench } from './tool';

export class PinTool extends Tool {
  readonly name = 'pin';
  readonly label = 'Pin';
  readonly icon = ICONS.pin;
  readonly hint = 'Click to pin the vertices under the brush; click with Shift or Alt to release them.';
  override readonly cursor = 'crosshair';

  private readonly radius = new ToolSlider(
    'Brush radius',
    {
      from: 0,
      to: 0.3,
      at: 0.06,
      show: (part) => (part === 0 ? 'one vertex' : quantity(this.radiusOf(part), 'm')),
    },
    () => this.showBrush(null),
  );
  private readonly unpinAll = element(
    'button',
    { type: 'button', onclick: () => this.work.send({ do: 'unpin-all' }) },
    'Unpin all',
  );
  override readonly options = element('div', {}, this.radius.element, this.unpinAll);

  private readonly brush = new Mesh(
    new SphereGeometry(1, 32, 24),
    new MeshBasicMaterial({ color: 0xff6b8b, transparent: true, opacity: 0.32, depthWrite: false }),
  );

  override start(bench: Workbench): void {
    super.start(bench);
    bench.world.ghosts.add(this.brush);
    this.brush.visible = false;
    this.radius.refresh();
  }

  override whyNot(settings: Settings): string | null {
    this.unpinAll.disabled = settings.pins === 0;
    return settings.why_no_pins ?? settings.why_not;
  }

  override press({ hit, shift, alt }: Touch): boolean {
    if (!hit) return false;
    const { triangle, weights } = hit;
    this.work.send({ do: shift || alt ? 'unpin' : 'pin', triangle, weights, radius: this.radiusOf(this.radius.value) });
    return true;
  }

  override hover(touch: Touch | null): void {
    this.showBrush(touch);
  }

  override leave(): void {
    this.showBrush(null);
  }

  private showBrush(touch: Touch | null): void {
    const hit = touch?.hit;
    const wasVisible = this.brush.visible;
    this.brush.visible = Boolean(hit);
    if (hit) {
      this.brush.position.copy(hit.point);
      this.brush.scale.setScalar(this.radiusOf(this.radius.value) || 0.008 * this.work.world.display.size);
    }
    if (wasVisible || hit) this.work.view.invalidate();
  }

  private radiusOf(part: number): number {
    return this.isStarted ? part * this.work.world.display.size : 0;
  }
}
