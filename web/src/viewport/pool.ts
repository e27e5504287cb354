// Reusable objects, for a number of objects that changes with every frame.

import type { Object3D } from 'three';

/** Pool that creates objects on demand and hides unused ones. */
export class Pool<T extends { object: Object3D }> {
  private readonly made: T[] = [];

  constructor(
    private readonly parent: Object3D,
    private readonly make: () => T,
  ) {}

  show<Item>(items: readonly Item[], place: (member: T, item: Item) => void): void {
    while (this.made.length < items.length) {
      const member = this.make();
      this.parent.add(member.object);
      this.made.push(member);
    }
    this.made.forEach((member, i) => {
      member.object.visible = i < items.length;
      if (i < items.length) place(member, items[i]);
    });
  }

  each(visit: (member: T) => void): void {
    this.made.forEach(visit);
  }
}
