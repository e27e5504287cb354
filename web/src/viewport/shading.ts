// Material of bodies: a standard material that can also be colored by a value per vertex.

import { Color, type DataTexture, MeshStandardMaterial, type MeshStandardMaterialParameters, type Plane } from 'three';
import { type MapName, mapTexture } from './colors';

/** Marker of unknown values in attributes, since graphics cards may not detect NaN. */
export const UNKNOWN = 3e38;

/** Common properties of the materials of bodies. */
export class Shading {
  private readonly textures: Record<MapName, DataTexture> = {
    viridis: mapTexture('viridis'),
    diverging: mapTexture('diverging'),
  };
  private readonly uniforms = {
    byValue: { value: false },
    valueLow: { value: 0 },
    valueScale: { value: 1 },
    valueMap: { value: this.textures.viridis },
    unknownColor: { value: new Color(0x969696) },
  };

  /** Switches to colors by the values of vertices. */
  byValue(map: MapName, low: number, high: number): void {
    this.uniforms.byValue.value = true;
    this.uniforms.valueMap.value = this.textures[map];
    this.uniforms.valueLow.value = low;
    this.uniforms.valueScale.value = 1 / (high - low);
  }

  /** Switches to the colors of vertices. */
  byColor(): void {
    this.uniforms.byValue.value = false;
  }

  material(clip: Plane[], parameters: MeshStandardMaterialParameters = {}): MeshStandardMaterial {
    const material = new MeshStandardMaterial({
      vertexColors: true,
      roughness: 0.62,
      metalness: 0,
      clippingPlanes: clip,
      // Lines drawn on the surface lie in front of it.
      polygonOffset: true,
      polygonOffsetFactor: 1,
      polygonOffsetUnits: 1,
      ...parameters,
    });
    material.onBeforeCompile = (shader) => {
      Object.assign(shader.uniforms, this.uniforms);
      shader.vertexShader = shader.vertexShader
        .replace('#include <common>', '#include <common>\nattribute float value;\nvarying float vValue;')
        .replace('#include <begin_vertex>', '#include <begin_vertex>\nvValue = value;');
      shader.fragmentShader = shader.fragmentShader
        .replace('#include <common>', `#include <common>\n${DECLARATIONS}`)
        .replace('#include <color_fragment>', `#include <color_fragment>\n${COLOR_BY_VALUE}`);
    };
    return material;
  }

  dispose(): void {
    for (const texture of Object.values(this.textures)) texture.dispose();
  }
}

const DECLARATIONS = `
varying float vValue;
uniform bool byValue;
uniform float valueLow, valueScale;
uniform sampler2D valueMap;
uniform vec3 unknownColor;`;

const COLOR_BY_VALUE = `
if (byValue) {
  float place = clamp((vValue - valueLow) * valueScale, 0.0, 1.0);
  vec3 known = texture2D(valueMap, vec2((place * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  diffuseColor.rgb = abs(vValue) > 1e30 ? unknownColor : known;
}`;
