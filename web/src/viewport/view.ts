// Canvas with renderer, camera and camera controls.

import {
  type Box3,
  Color,
  MOUSE,
  PCFShadowMap,
  PerspectiveCamera,
  Plane,
  type Ray,
  Raycaster,
  Scene,
  Sphere,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { Palette } from '../theme';
import type { Graphics } from './graphics';

/** Margins of the canvas that panels cover, in CSS pixels. Fitted boxes are centered in the rest. */
export interface Insets {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export class View {
  readonly scene = new Scene();
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 1000);
  readonly up = new Vector3(0, 1, 0);
  controls: OrbitControls;
  /** Called just before each drawing. */
  beforeRender: () => void = () => {};

  private readonly renderer: WebGLRenderer;
  private insets: Insets = { left: 0, right: 0, top: 0, bottom: 0 };
  private size = 1;
  private dirty = true;

  constructor(
    readonly canvas: HTMLCanvasElement,
    graphics: Graphics,
  ) {
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: graphics === 'card',
      powerPreference: 'high-performance',
    });
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.controls = this.makeControls();
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  get target(): Vector3 {
    return this.controls.target;
  }

  get width(): number {
    return this.canvas.clientWidth;
  }

  get height(): number {
    return this.canvas.clientHeight;
  }

  /** Resets the camera for another display. */
  start(up: 'y' | 'z', size: number): void {
    this.up.set(0, up === 'y' ? 1 : 0, up === 'z' ? 1 : 0);
    this.size = size;
    this.camera.up.copy(this.up);
    // The controls read the upward axis only on creation.
    this.controls.dispose();
    this.controls = this.makeControls();
  }

  private makeControls(): OrbitControls {
    const controls = new OrbitControls(this.camera, this.canvas);
    controls.mouseButtons = { LEFT: MOUSE.ROTATE, MIDDLE: MOUSE.ROTATE, RIGHT: MOUSE.PAN };
    controls.zoomToCursor = true;
    controls.addEventListener('change', () => this.invalidate());
    return controls;
  }

  /** Requests a drawing in the next animation frame. */
  invalidate(): void {
    this.dirty = true;
  }

  /** Draws if anything has changed. Returns true if it did. */
  render(): boolean {
    if (!this.dirty || this.width === 0 || this.height === 0) return false;
    this.dirty = false;
    this.draw();
    return true;
  }

  private draw(): void {
    const distance = this.camera.position.distanceTo(this.target);
    this.camera.near = Math.max(distance / 500, this.size / 5000);
    this.camera.far = distance + 60 * this.size;
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
    this.beforeRender();
    this.renderer.render(this.scene, this.camera);
  }

  /** Returns the canvas with its current content. It is drawn again, as the content is lost once the browser has shown it. */
  picture(): HTMLCanvasElement {
    this.draw();
    return this.canvas;
  }

  paint({ sky }: Palette): void {
    // A single color: without a graphics card, a background image would cost as much as all bodies.
    this.scene.background = new Color(sky);
    this.invalidate();
  }

  setInsets(insets: Insets): void {
    this.insets = insets;
    this.resize();
  }

  private resize(): void {
    const { width, height } = this;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    const { left, right, top, bottom } = this.insets;
    this.camera.setViewOffset(width, height, (right - left) / 2, (bottom - top) / 2, width, height);
    this.invalidate();
  }

  /** Fits a box into the view, from the current direction or from the given one. */
  fit(box: Box3, from: Vector3 = this.camera.position.clone().sub(this.target)): void {
    const sphere = box.getBoundingSphere(new Sphere());
    const radius = Math.max(sphere.radius, this.size * 1e-3);
    const { left, right, top, bottom } = this.insets;
    const free = { width: Math.max(this.width - left - right, 80), height: Math.max(this.height - top - bottom, 80) };
    // The field of view is that of the whole height; the bounding sphere must fit into the free width and height. At this
    // distance it touches the view cone. Any closer, parts of the box would be off the screen or behind panels.
    const half = Math.tan((this.camera.fov * Math.PI) / 360) * (Math.min(free.width, free.height) / this.height);
    const distance = radius / Math.sin(Math.atan(half));
    this.target.copy(sphere.center);
    this.camera.position.copy(sphere.center).addScaledVector(from.normalize(), distance);
    this.controls.update();
    this.invalidate();
  }

  /** Translates the camera. */
  shift(by: Vector3): void {
    this.target.add(by);
    this.camera.position.add(by);
    this.controls.update();
  }

  /** Returns the ray through a point of the canvas, in CSS pixels. */
  ray(x: number, y: number): Ray {
    this.camera.updateMatrixWorld();
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2((x / this.width) * 2 - 1, 1 - (y / this.height) * 2), this.camera);
    return caster.ray;
  }

  /** Returns the position of a point on the canvas, in CSS pixels. */
  project(point: Vector3): [number, number] {
    this.camera.updateMatrixWorld();
    const at = point.clone().project(this.camera);
    return [((at.x + 1) / 2) * this.width, ((1 - at.y) / 2) * this.height];
  }

  /** Returns the plane through a point parallel to the screen. */
  screenPlane(through: Vector3): Plane {
    return new Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new Vector3()), through);
  }
}
