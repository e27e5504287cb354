// Grid on planes: lines that fade out, every fifth stronger.

import { BufferGeometry, Color, Float32BufferAttribute, LineSegments, ShaderMaterial } from 'three';
import { niceStep } from '../format';

const SEGMENTS = 24;

/**
 * Grid in the plane z = 0. It consists of lines: a shader on a large plane would cover the screen, which is slow without a
 * graphics card.
 */
export class Grid {
  readonly object: LineSegments;
  private readonly spacing: number;
  private readonly material: ShaderMaterial;

  constructor(size: number, reach: number) {
    this.spacing = niceStep(size / 10);
    const uniforms = {
      reach: { value: reach },
      shift: { value: [0, 0] },
      color: { value: new Color() },
      opacity: { value: 1 },
    };
    this.material = new ShaderMaterial({
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      uniforms,
      transparent: true,
      depthWrite: false,
    });
    this.object = new LineSegments(lines(this.spacing, reach), this.material);
    this.object.frustumCulled = false;
  }

  /** Aligns the lines with the coordinates of the plane; `place` is the center of the drawn part. */
  anchor(place: { x: number; y: number }): void {
    const period = 5 * this.spacing;
    const rest = (value: number) => value - period * Math.floor(value / period);
    this.material.uniforms.shift.value = [-rest(place.x), -rest(place.y)];
  }

  paint(color: string, opacity: number): void {
    this.material.uniforms.color.value.set(color);
    this.material.uniforms.opacity.value = opacity;
  }
}

/** Returns lines in both directions, in segments so that they can fade. The third coordinate of a vertex is the strength of its line. */
function lines(spacing: number, reach: number): BufferGeometry {
  const count = Math.ceil(reach / spacing / 5) * 5 + 5;
  const far = count * spacing;
  const vertices: number[] = [];
  for (let i = -count; i <= count; i++) {
    const at = i * spacing;
    const strength = i % 5 === 0 ? 1 : 0.4;
    for (let k = 0; k < SEGMENTS; k++) {
      const from = far * ((2 * k) / SEGMENTS - 1);
      const to = far * ((2 * k + 2) / SEGMENTS - 1);
      vertices.push(at, from, strength, at, to, strength, from, at, strength, to, at, strength);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(vertices, 3));
  return geometry;
}

const VERTEX = `
uniform float reach;
uniform vec2 shift;
varying float vStrength;
void main() {
  vec2 place = position.xy + shift;
  float near = clamp(1.0 - length(place) / reach, 0.0, 1.0);
  vStrength = position.z * near * near;
  gl_Position = projectionMatrix * modelViewMatrix * vec4(place, 0.0, 1.0);
}`;

const FRAGMENT = `
uniform vec3 color;
uniform float opacity;
varying float vStrength;
void main() {
  gl_FragColor = vec4(color, opacity * vStrength);
  #include <colorspace_fragment>
}`;
