// All that is drawn of one stage.

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
import type { Body, Frame, FrameArrays, Stage, StageArrays } from '../protocol';
import type { Palette } from '../theme';
import { type Arrow, Arrows } from './arrows';
import { mapFor, regionColours } from './colours';
import { Lights } from './lights';
import { Markers } from './markers';
import { Obstacles } from './obstacles';
import { type Hit, pickTriangle } from './picking';
import { ColourRange } from './range';
import { Shading } from './shading';
import { Slice } from './slice';
import { Surface } from './surface';
import type { View } from './view';

export class World {
  readonly object = new Group();
  readonly surface: Surface;
  readonly range = new ColourRange();
  /** What is coloured by now: null unless the last frame had values of what is asked for. */
  shownColour: string | null = null;
  /** How long taking over the last frame took, ms. */
  updateMs = 0;

  private readonly shading = new Shading();
  private readonly slice: Slice;
  private readonly obstacles: Obstacles;
  private readonly markers: Markers;
  private readonly arrows: Arrows;
  private readonly lights: Lights;
  /** What a tool shows: a brush, a ball to be. */
  readonly ghosts = new Group();
  /** Arrows of the tool in use, beside those of pulls. */
  toolArrows: Arrow[] = [];
  /** To where this page pulls by now, which the server may not know yet. */
  pullTarget: Vector3 | null = null;
  private frame: Frame | null = null;
  /** Of the bodies, in the last frame. */
  private readonly middle = new Vector3();
  private follows = false;

  constructor(
    readonly stage: Stage,
    private readonly arrays: StageArrays,
    private readonly view: View,
    private readonly options: ViewOptions,
    labels: HTMLElement,
  ) {
    const colours = regionColours(stage);
    this.slice = new Slice(this.shading, colours);
    this.surface = new Surface(arrays, colours, this.shading, this.slice.clip);
    this.obstacles = new Obstacles(stage.size);
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
    this.shownColour = frame.colour === this.options.now.colour && arrays.values && frame.range ? frame.colour : null;
    if (this.shownColour && frame.range && arrays.values) {
      this.surface.setValues(arrays.values);
      this.range.held = this.options.now.holdRange;
      this.range.follow(this.shownColour, frame.range, now);
      this.shading.byValue(mapFor(this.shownColour).map, this.range.low, this.range.high);
    } else {
      this.shading.byColour();
    }
    this.slice.update(frame.slice, arrays, this.options.now.colour === 'region');
    this.markers.update(arrays);
    const middle = this.surface.box.getCenter(new Vector3());
    if (this.follows && !isFirst) this.view.shift(middle.clone().sub(this.middle));
    this.middle.copy(middle);
    this.obstacles.update(frame.obstacles, frame.balls, middle);
    this.lights.follow(this.bounds());
    this.view.invalidate();
    this.updateMs = performance.now() - start;
  }

  /** Takes over what the user chose to see. */
  applyOptions(): void {
    const options = this.options.now;
    const byRegion = options.colour === 'region';
    this.surface.colourByRegion(byRegion);
    this.surface.wires.visible = options.wireframe;
    this.markers.object.visible = options.markers;
    this.lights.shadows = options.shadows;
    // Begins with the bodies in the middle.
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
    this.slice.setLineColour(new Color(palette.wire), palette.wireOpacity);
    this.obstacles.paint(palette);
    this.markers.paint(palette);
    this.arrows.paint(palette);
    this.view.invalidate();
  }

  pick(ray: Ray): Hit | null {
    const hides = this.options.now.slice ? (point: Vector3) => this.slice.hides(point) : null;
    return pickTriangle(ray, this.surface.positions, this.arrays.triangles, hides);
  }

  /** To which body a triangle belongs. */
  bodyOf(triangle: number): Body {
    const { bodies } = this.stage;
    return bodies.find((body) => triangle < body.first_triangle + body.triangles) ?? bodies[0];
  }

  /** Where a point of a triangle is now. */
  pointAt(triangle: number, weights: readonly number[]): Vector3 {
    const point = new Vector3();
    for (let k = 0; k < 3; k++) {
      point.addScaledVector(this.surface.vertex(this.arrays.triangles[3 * triangle + k]), weights[k]);
    }
    return point;
  }

  /** The bodies now, and what is near enough to belong to the picture. */
  bounds(): Box3 {
    const box = this.surface.box.clone();
    for (const obstacle of this.frame?.obstacles ?? []) {
      if (obstacle.kind !== 'ball') continue;
      const reach = new Vector3().setScalar(obstacle.radius);
      const centre = new Vector3(...obstacle.centre);
      if (obstacle.radius < 2 * this.stage.size && box.distanceToPoint(centre) < 2 * this.stage.size) {
        box.union(new Box3(centre.clone().sub(reach), centre.add(reach)));
      }
    }
    return box;
  }

  /** What the first view shows: the bodies, and where they will be. */
  firstBounds(): Box3 {
    const box = this.bounds();
    const { view } = this.stage;
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
