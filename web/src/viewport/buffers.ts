// Attributes of geometries that change from frame to frame.

import { BufferAttribute, type BufferGeometry, DynamicDrawUsage } from 'three';

/** Creates an attribute that is written in place for every frame. */
export function dynamicAttribute(array: Float32Array | Uint32Array, size: number): BufferAttribute {
  const attribute = new BufferAttribute(array, size);
  attribute.setUsage(DynamicDrawUsage);
  return attribute;
}

/**
 * Returns the memory for the numbers of an attribute whose length changes. It only grows, by doubling, so that few frames
 * allocate. The caller sets the drawn part with `setDrawRange`.
 */
export function attributeRoom(geometry: BufferGeometry, name: string, numbers: number, size: number): Float32Array {
  let attribute = geometry.getAttribute(name) as BufferAttribute | undefined;
  if (!attribute || attribute.array.length < numbers) {
    // Frees the memory of the graphics card; the other attributes are uploaded again.
    geometry.dispose();
    attribute = dynamicAttribute(new Float32Array(Math.max(2 * numbers, 96)), size);
    geometry.setAttribute(name, attribute);
  }
  attribute.needsUpdate = true;
  return attribute.array as Float32Array;
}

/** Writes an index whose length changes, and draws all of it. */
export function writeIndex(geometry: BufferGeometry, data: Uint32Array): void {
  let index = geometry.index;
  if (!index || index.array.length < data.length) {
    geometry.dispose();
    index = dynamicAttribute(new Uint32Array(Math.max(2 * data.length, 96)), 1);
    geometry.setIndex(index);
  }
  (index.array as Uint32Array).set(data);
  index.needsUpdate = true;
  geometry.setDrawRange(0, data.length);
}
