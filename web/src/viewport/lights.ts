// Lights: ambient light from the sky, a directional light that casts shadows, and a weak light at the camera.

import { type Box3, type Camera, DirectionalLight, Group, HemisphereLight, Sphere, Vector3 } from 'three';

/** Factor by which the shadow map grows, in steps so that shadows do not shimmer while bodies deform. */
const GROWTH = 1.3;

export class Lights {
  readonly object = new Group();
  private readonly sky = new HemisphereLight(0xffffff, 0x9aa2ad, 1.55);
  private readonly lamp = new DirectionalLight(0xffffff, 1.75);
  private readonly camera = new DirectionalLight(0xffffff, 0.55);
  private readonly direction: Vector3;
  private readonly around = new Sphere();
  private radius = 0;

  constructor(up: Vector3) {
    // From above, from the left, and from behind a viewer at the front.
    const front = up.y > 0 ? new Vector3(0, 0, 1) : new Vector3(0, -1, 0);
    this.direction = new Vector3(-0.45, 0, 0).addScaledVector(up, 1).addScaledVector(front, 0.55).normalize();
    this.sky.position.copy(up);
    this.lamp.shadow.mapSize.set(1024, 1024);
    this.lamp.shadow.radius = 5;
    this.lamp.shadow.bias = -0.0002;
    this.object.add(this.sky, this.lamp, this.lamp.target, this.camera, this.camera.target);
  }

  set shadows(on: boolean) {
    this.lamp.castShadow = on;
  }

  /** Points the light at the bodies. Shadows fall along its rays, so that a map as wide as the bodies contains all of them. */
  follow(box: Box3): void {
    if (box.isEmpty()) return;
    box.getBoundingSphere(this.around);
    this.radius = GROWTH ** Math.ceil(Math.log(Math.max(this.around.radius, 1e-9)) / Math.log(GROWTH));
    this.lamp.target.position.copy(this.around.center);
    this.lamp.position.copy(this.around.center).addScaledVector(this.direction, 4 * this.radius);
    const { camera, normalBias } = this.lamp.shadow;
    if (camera.right !== this.radius || normalBias === 0) {
      camera.left = camera.bottom = -this.radius;
      camera.right = camera.top = this.radius;
      camera.near = this.radius;
      camera.far = 40 * this.radius;
      this.lamp.shadow.normalBias = this.radius * 0.006;
      camera.updateProjectionMatrix();
    }
  }

  followCamera(camera: Camera, target: Vector3): void {
    this.camera.position.copy(camera.position);
    this.camera.target.position.copy(target);
  }

  dispose(): void {
    this.lamp.dispose();
  }
}
