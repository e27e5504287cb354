// Directions of the axes, and buttons to look along them.

import { Quaternion, Vector3 } from 'three';
import { element } from './dom';
import type { View } from './viewport/view';

const RADIUS = 30;
const AXES = ['x', 'y', 'z'].flatMap((name, axis) =>
  [1, -1].map((sign) => ({ name, sign, direction: new Vector3().setComponent(axis, sign) })),
);

export class Gizmo {
  readonly element = element('div', { class: 'gizmo', role: 'group', 'aria-label': 'View along an axis' });
  private readonly ends = AXES.map(({ name, sign, direction }) => {
    const label = `View from ${sign > 0 ? '+' : '−'}${name}`;
    const button = element('button', {
      type: 'button',
      class: `${name} ${sign > 0 ? 'positive' : 'negative'}`,
      'aria-label': label,
      title: label,
      onclick: () => this.lookFrom(direction.clone()),
    });
    if (sign > 0) button.textContent = name.toUpperCase();
    const spoke = element('i', { class: name });
    this.element.append(...(sign > 0 ? [spoke, button] : [button]));
    return { button, spoke, direction };
  });

  constructor(
    private readonly view: View,
    private readonly lookFrom: (direction: Vector3) => void,
  ) {}

  /** Called after each drawing, to rotate with the camera. */
  update(): void {
    const turn = new Quaternion().copy(this.view.camera.quaternion).invert();
    for (const { button, spoke, direction } of this.ends) {
      const { x, y, z } = direction.clone().applyQuaternion(turn);
      button.style.transform = `translate(${x * RADIUS}px, ${-y * RADIUS}px)`;
      button.style.zIndex = String(Math.round(10 + 10 * z));
      button.style.opacity = String(0.7 + 0.3 * z);
      spoke.style.transform = `rotate(${Math.atan2(-y, x)}rad) scaleX(${Math.hypot(x, y) * RADIUS})`;
    }
  }
}
