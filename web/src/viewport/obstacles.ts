// Obstacles: planes as fading grids, balls, other surfaces, and the balls with which users push.

import {
  BackSide,
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  FrontSide,
  Group,
  Matrix4,
  Mesh,
  MeshStandardMaterial,
  PlaneGeometry,
  ShadowMaterial,
  SphereGeometry,
  Vector3,
} from 'three';
import type { Obstacle, PushBall } from '../protocol';
import type { Palette } from '../theme';
import { OBSTACLE } from './colors';
import { Grid } from './grid';
import { Pool } from './pool';

/** Drawn radius of a plane relative to the size of the bodies. */
const REACH = 8;

type Plane = Extract<Obstacle, { kind: 'plane' }>;
type Ball = Extract<Obstacle, { kind: 'ball' }>;
type Surface = Extract<Obstacle, { kind: 'surface' }>;

const sphere = new SphereGeometry(1, 48, 32);

export class Obstacles {
  readonly object = new Group();
  private readonly planes: Pool<PlaneObject>;
  private readonly solid: Pool<BallObject>;
  private readonly hollow: Pool<BallObject>;
  private readonly surfaces: Pool<SurfaceObject>;
  private readonly pushing: Pool<BallObject>;
  private palette: Palette | null = null;

  constructor(size: number) {
    this.planes = new Pool(this.object, () => this.painted(new PlaneObject(size)));
    this.solid = new Pool(this.object, () => new BallObject(1));
    this.hollow = new Pool(this.object, () => new BallObject(0.3));
    this.surfaces = new Pool(this.object, () => new SurfaceObject());
    this.pushing = new Pool(this.object, () => this.painted(new BallObject(0.75)));
  }

  /** Updates the obstacles. Planes are infinite and drawn around `middle`, the center of the bodies. */
  update(obstacles: Obstacle[], balls: PushBall[], middle: Vector3): void {
    const isBall = (obstacle: Obstacle): obstacle is Ball => obstacle.kind === 'ball';
    this.planes.show(
      obstacles.filter((obstacle): obstacle is Plane => obstacle.kind === 'plane'),
      (member, plane) => member.place(plane, middle),
    );
    this.solid.show(
      obstacles.filter(isBall).filter((ball) => !ball.hollow),
      (member, ball) => member.place(ball),
    );
    this.hollow.show(
      obstacles.filter(isBall).filter((ball) => ball.hollow),
      (member, ball) => member.place(ball),
    );
    this.surfaces.show(
      obstacles.filter((obstacle): obstacle is Surface => obstacle.kind === 'surface'),
      (member, surface) => member.place(surface),
    );
    this.pushing.show(balls, (member, ball) => member.place(ball, ball.mine));
  }

  paint(palette: Palette): void {
    this.palette = palette;
    this.planes.each((plane) => plane.paint(palette));
    this.pushing.each((ball) => ball.paint(palette));
  }

  private painted<T extends { paint(palette: Palette): void }>(member: T): T {
    if (this.palette) member.paint(this.palette);
    return member;
  }
}

class PlaneObject {
  readonly object = new Group();
  private readonly grid: Grid;

  constructor(size: number) {
    this.grid = new Grid(size, REACH * size);
    const shadow = new Mesh(
      new PlaneGeometry(6 * size, 6 * size),
      new ShadowMaterial({ opacity: 0.2, depthWrite: false }),
    );
    shadow.receiveShadow = true;
    // Both lie in the same plane; the render order decides which is on top.
    shadow.renderOrder = -2;
    this.grid.object.renderOrder = -1;
    this.object.add(shadow, this.grid.object);
  }

  place({ point, normal }: Plane, middle: Vector3): void {
    const up = new Vector3(...normal).normalize();
    // The grid is parallel to the axes of the scene if the plane is.
    const along = Math.abs(up.x) < 0.9 ? new Vector3(1, 0, 0) : new Vector3(0, 1, 0);
    const x = along.addScaledVector(up, -along.dot(up)).normalize();
    const y = new Vector3().crossVectors(up, x);
    const fromPoint = new Vector3(...point).sub(middle).negate();
    this.object.quaternion.setFromRotationMatrix(new Matrix4().makeBasis(x, y, up));
    this.object.position.copy(middle).addScaledVector(up, -fromPoint.dot(up));
    this.grid.anchor({ x: fromPoint.dot(x), y: fromPoint.dot(y) });
  }

  paint(palette: Palette): void {
    this.grid.paint(palette.grid, palette.gridOpacity);
  }
}

class SurfaceObject {
  readonly object: Mesh<BufferGeometry, MeshStandardMaterial>;
  private shown = '';

  constructor() {
    const material = new MeshStandardMaterial({ color: OBSTACLE, roughness: 0.7, flatShading: true, side: DoubleSide });
    this.object = new Mesh(new BufferGeometry(), material);
    this.object.castShadow = true;
    this.object.receiveShadow = true;
  }

  place({ vertices, triangles }: Surface): void {
    // Most obstacles rest, and keep their buffers.
    const shown = JSON.stringify([vertices, triangles]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.object.geometry.dispose();
    this.object.geometry = new BufferGeometry();
    this.object.geometry.setAttribute('position', new BufferAttribute(new Float32Array(vertices.flat()), 3));
    this.object.geometry.setIndex(triangles.flat());
  }
}

class BallObject {
  readonly object = new Group();
  private readonly material: MeshStandardMaterial;
  private colors = { mine: new Color(), others: new Color() };

  /** Creates a ball. If it is not opaque, its far side is drawn too, so that its interior is visible. */
  constructor(opacity: number) {
    const transparent = opacity < 1;
    this.material = new MeshStandardMaterial({
      color: OBSTACLE,
      roughness: 0.7,
      opacity,
      transparent,
      side: FrontSide,
    });
    if (transparent) {
      this.material.depthWrite = false;
      const inside = this.material.clone();
      inside.side = BackSide;
      this.material.opacity = opacity > 0.5 ? opacity : opacity / 3;
      this.object.add(new Mesh(sphere, inside));
    }
    const outside = new Mesh(sphere, this.material);
    // Front faces cast the shadow: back faces touch the ground, where the shadow would have a hole.
    this.material.shadowSide = FrontSide;
    outside.castShadow = !transparent;
    outside.receiveShadow = !transparent;
    this.object.add(outside);
  }

  place(ball: { center: [number, number, number]; radius: number }, mine?: boolean): void {
    this.object.position.set(...ball.center);
    this.object.scale.setScalar(ball.radius);
    if (mine !== undefined) this.material.color.copy(mine ? this.colors.mine : this.colors.others);
  }

  paint(palette: Palette): void {
    this.colors.mine.set(palette.accent);
    this.colors.others.set(palette.others);
  }
}
