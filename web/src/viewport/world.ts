// All 3D objects of one display.

import {
  Box3,
  Color,
  Group,
  type LineBasicMaterial,
  type Material,
  Mesh,
  type Object3D,
  type Ray,
  Vector3,
} from 'three';
import { quantity } from '../format';
import type { ViewOptions } from '../options';
import type { Body, DisplayArrays, DisplayScene, Frame, FrameArrays } from '../protocol';
import type { Palette } from '../theme';
import { type Arrow, Arrows } from './arrows';
import { mapFor, regionColors } from './colors';
import { Lights } from './lights';
import { Markers } from './markers';
import { Obstacles } from './obstacles';
import { type Hit, pickTriangle } from './picking';
import { ColorRange } from './range';
import { Shading } from './shading';
import { Slice } from './slice';
import { Surface } from './surface';
import type { View } from './view';

export class World {
  readonly object = new Group();
  readonly surface: Surface;
  readonly range = new ColorRange();
  /** Quantity that colors show; null unless the last frame has its values. */
  shownColor: string | null = null;
  /** Time to process the last frame, in ms. */
  updateMs = 0;

  private readonly shading = new Shading();
  private readonly slice: Slice;
  private readonly obstacles: Obstacles;
  private readonly markers: Markers;
  private readonly arrows: Arrows;
  private readonly lights: Lights;
  /** Objects of the current tool, such as a brush or a preview of a ball. */
  readonly ghosts = new Group();
  /** Arrows of the current tool, besides those of pulls. */
  toolArrows: Arrow[] = [];
  /** Current target of the pull of this page, which the server may not know yet. */
  pullTarget: Vector3 | null = null;
  private frame: Frame | null = null;
  /** Center of the bodies in the last frame. */
  private readonly middle = new Vector3();
  private follows = false;

  constructor(
    readonly display: DisplayScene,
    private readonly arrays: DisplayArrays,
    private readonly view: View,
    private readonly options: ViewOptions,
    labels: HTMLElement,
  ) {
    const colors = regionColors(display);
    this.slice = new Slice(this.shading, colors);
    this.surface = new Surface(arrays, colors, this.shading, this.slice.clip);
    this.obstacles = new Obstacles(display.size);
    this.markers = new Markers(this.slice.clip);
    this.arrows = new Arrows(labels);
    this.lights = new Lights(view.up);
    this.object.add(this.surface.mesh, this.surface.wires, this.slice.object, this.obstacles.object);
    this.object.add(this.markers.object, this.arrows.object, this.lights.object, this.ghosts);
    view.scene.add(this.object);
    view.beforeRender = () => this.beforeRender();
    this.applyOptions();
  }

  update(frame: Frame, arrays: FrameArrays, now: number): void {
    const start = performance.now();
    const isFirst = this.frame === null;
    this.frame = frame;
    this.surface.move(arrays.positions);
    this.shownColor = frame.color === this.options.now.color && arrays.values && frame.range ? frame.color : null;
    if (this.shownColor && frame.range && arrays.values) {
      this.surface.setValues(arrays.values);
      this.range.isLocked = this.options.now.isRangeLocked;
      this.range.follow(this.shownColor, frame.range, now);
      this.shading.byValue(mapFor(this.shownColor).map, this.range.low, this.range.high);
    } else {
      this.shading.byColor();
    }
    this.slice.update(frame.slice, arrays, this.options.now.color === 'region');
    this.markers.update(arrays);
    const middle = this.surface.box.getCenter(new Vector3());
    if (this.follows && !isFirst) this.view.shift(middle.clone().sub(this.middle));
    this.middle.copy(middle);
    this.obstacles.update(frame.obstacles, frame.balls, middle);
    this.lights.follow(this.bounds());
    this.view.invalidate();
    this.updateMs = performance.now() - start;
  }

  /** Applies the display options. */
  applyOptions(): void {
    const options = this.options.now;
    const byRegion = options.color === 'region';
    this.surface.colorByRegion(byRegion);
    this.surface.wires.visible = options.wireframe;
    this.markers.object.visible = options.markers;
    this.lights.shadows = options.shadows;
    // Starts with the bodies centered.
    if (options.follow && !this.follows) this.view.shift(this.middle.clone().sub(this.view.target));
    this.follows = options.follow;
    if (this.slice.choose(options.slice)) {
      this.eachMaterial((material) => {
        material.needsUpdate = true;
      });
    }
    this.view.invalidate();
  }

  paint(palette: Palette): void {
    const wires = this.surface.wires.material as LineBasicMaterial;
    wires.color.set(palette.wire);
    wires.opacity = palette.wireOpacity;
    this.slice.setLineColor(new Color(palette.wire), palette.wireOpacity);
    this.obstacles.paint(palette);
    this.markers.paint(palette);
    this.arrows.paint(palette);
    this.view.invalidate();
  }

  pick(ray: Ray): Hit | null {
    const hides = this.options.now.slice ? (point: Vector3) => this.slice.hides(point) : null;
    return pickTriangle(ray, this.surface.positions, this.arrays.triangles, hides);
  }

  /** Returns the body of a triangle. */
  bodyOf(triangle: number): Body {
    const { bodies } = this.display;
    return bodies.find((body) => triangle < body.first_triangle + body.triangles) ?? bodies[0];
  }

  /** Returns the current position of a point of a triangle. */
  pointAt(triangle: number, weights: readonly number[]): Vector3 {
    const point = new Vector3();
    for (let k = 0; k < 3; k++) {
      point.addScaledVector(this.surface.vertex(this.arrays.triangles[3 * triangle + k]), weights[k]);
    }
    return point;
  }

  /** Returns the bounding box of the bodies and of nearby obstacles. */
  bounds(): Box3 {
    const box = this.surface.box.clone();
    for (const obstacle of this.frame?.obstacles ?? []) {
      if (obstacle.kind !== 'ball') continue;
      const reach = new Vector3().setScalar(obstacle.radius);
      const center = new Vector3(...obstacle.center);
      if (obstacle.radius < 2 * this.display.size && box.distanceToPoint(center) < 2 * this.display.size) {
        box.union(new Box3(center.clone().sub(reach), center.add(reach)));
      }
    }
    return box;
  }

  /** Returns the box of the first view: the bodies, and where they will be. */
  firstBounds(): Box3 {
    const box = this.bounds();
    const { view } = this.display;
    return view ? box.union(new Box3(new Vector3(...view[0]), new Vector3(...view[1]))) : box;
  }

  dispose(): void {
    this.view.scene.remove(this.object);
    this.view.beforeRender = () => {};
    this.arrows.dispose();
    this.lights.dispose();
    this.shading.dispose();
    this.eachMaterial((material) => material.dispose());
    this.object.traverse((object: Object3D) => {
      if ('geometry' in object) (object as Mesh).geometry.dispose();
    });
  }

  private beforeRender(): void {
    const { view } = this;
    this.lights.followCamera(view.camera, view.target);
    const pulls = this.frame?.pulls ?? [];
    const oneIsMine = pulls.filter((pull) => pull.mine).length === 1;
    const arrows = pulls.map(({ point, target, force, mine }): Arrow => {
      // The tip stays at the pointer, however long the server takes.
      const to = mine && oneIsMine && this.pullTarget ? this.pullTarget.toArray() : target;
      return { from: point, to, label: quantity(Math.hypot(...force), 'N'), mine };
    });
    this.arrows.show([...arrows, ...this.toolArrows]);
    this.arrows.layOut(view.camera, view.width, view.height);
  }

  private eachMaterial(visit: (material: Material) => void): void {
    this.object.traverse((object) => {
      if (object instanceof Mesh || 'material' in object) visit((object as Mesh).material as Material);
    });
  }
}
