// Arrows for forces and throws, with a constant width on the screen and a label each.

import {
  type Camera,
  ConeGeometry,
  CylinderGeometry,
  Group,
  Mesh,
  MeshBasicMaterial,
  type PerspectiveCamera,
  SphereGeometry,
  Vector3,
} from 'three';
import { element, setText } from '../dom';
import type { Vec3 } from '../protocol';
import type { Palette } from '../theme';
import { Pool } from './pool';

export interface Arrow {
  from: Vec3;
  to: Vec3;
  label: string;
  mine: boolean;
}

const shaft = new CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0);
const head = new ConeGeometry(1, 1, 16).translate(0, 0.5, 0);
const knob = new SphereGeometry(1, 16, 12);
const UP = new Vector3(0, 1, 0);

export class Arrows {
  readonly object = new Group();
  private arrows: Arrow[] = [];
  private readonly pool = new Pool(this.object, () => new ArrowObject(this.labels));
  private palette: Palette | null = null;

  /** Labels are elements over the canvas, so that they stay sharp. */
  constructor(private readonly labels: HTMLElement) {}

  show(arrows: Arrow[]): void {
    this.arrows = arrows;
  }

  paint(palette: Palette): void {
    this.palette = palette;
  }

  /** Updates sizes, which depend on the camera, before each drawing. `width` and `height` are those of the canvas. */
  layOut(camera: PerspectiveCamera, width: number, height: number): void {
    const pixel = (2 * Math.tan((camera.fov * Math.PI) / 360)) / height;
    const colors = { mine: this.palette?.accent ?? '#fff', others: this.palette?.others ?? '#888' };
    this.pool.each((member) => member.hideLabel());
    this.pool.show(this.arrows, (member, arrow) =>
      member.place(arrow, camera, pixel, width, height, arrow.mine ? colors.mine : colors.others),
    );
  }

  dispose(): void {
    this.labels.replaceChildren();
  }
}

class ArrowObject {
  readonly object = new Group();
  private readonly material = new MeshBasicMaterial({ depthTest: false, transparent: true });
  private readonly shaft = new Mesh(shaft, this.material);
  private readonly head = new Mesh(head, this.material);
  private readonly knob = new Mesh(knob, this.material);
  private readonly label = element('span', { class: 'arrow-label' });

  constructor(labels: HTMLElement) {
    this.object.add(this.shaft, this.head, this.knob);
    // Drawn last and without a depth test, so that arrows inside bodies are visible.
    for (const part of this.object.children) part.renderOrder = 10;
    labels.append(this.label);
  }

  place(arrow: Arrow, camera: PerspectiveCamera, pixel: number, width: number, height: number, color: string): void {
    const from = new Vector3(...arrow.from);
    const to = new Vector3(...arrow.to);
    const direction = new Vector3().subVectors(to, from);
    const length = direction.length();
    const unit = pixel * depthOf(to, camera);
    const headLength = Math.min(14 * unit, 0.6 * length);
    this.object.position.copy(from);
    if (length > 0) this.object.quaternion.setFromUnitVectors(UP, direction.divideScalar(length));
    this.shaft.scale.set(1.6 * unit, Math.max(length - headLength, 1e-9), 1.6 * unit);
    this.head.scale.set(0.42 * headLength, Math.max(headLength, 1e-9), 0.42 * headLength);
    this.head.position.y = length - headLength;
    this.knob.scale.setScalar(4 * pixel * depthOf(from, camera));
    this.material.color.set(color);
    this.material.opacity = arrow.mine ? 1 : 0.55;
    this.placeLabel(arrow, to.project(camera), width, height);
  }

  hideLabel(): void {
    this.label.hidden = true;
  }

  private placeLabel(arrow: Arrow, at: Vector3, width: number, height: number): void {
    this.label.hidden = at.z > 1 || arrow.label === '';
    setText(this.label, arrow.label);
    this.label.classList.toggle('others', !arrow.mine);
    const x = Math.round(((at.x + 1) / 2) * width);
    const y = Math.round(((1 - at.y) / 2) * height);
    this.label.style.transform = `translate(${x + 12}px, ${y - 24}px)`;
  }
}

function depthOf(point: Vector3, camera: Camera): number {
  return Math.max(-point.clone().applyMatrix4(camera.matrixWorldInverse).z, 1e-9);
}
