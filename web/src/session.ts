// What the page knows of the simulation, and the loop that draws it.

import type { Latency } from './latency';
import type { Frame, FrameArrays, Incoming, Send, Settings, Stage, StageArrays } from './protocol';
import type { View } from './stage/view';
import type { World } from './stage/world';

export interface SessionEvents {
  stage(stage: Stage, arrays: StageArrays): World;
  settings(settings: Settings): void;
  /** Before anything is drawn. */
  animate(): void;
  /** The first frame of a stage was taken over, and is about to be drawn. */
  firstFrame(): void;
  /** A frame was drawn. */
  frame(frame: Frame): void;
  /** Something was drawn, if only because the camera moved. */
  drawn(): void;
}

export class Session {
  stage: Stage | null = null;
  settings: Settings | null = null;
  frame: Frame | null = null;
  world: World | null = null;
  framesRendered = 0;
  /** How long it took to take over a frame, on average over the last ones, ms. */
  updateMs = 0;

  private arrived: { header: Frame; arrays: FrameArrays } | null = null;
  private unseen: number[] = [];
  private presented: number[] = [];

  constructor(
    private readonly view: View,
    private readonly latency: Latency,
    private readonly send: Send,
    private readonly events: SessionEvents,
  ) {}

  receive(message: Exclude<Incoming, { type: 'notice' | 'scene' }>): void {
    switch (message.type) {
      case 'stage':
        this.begin(message.header, message.arrays);
        break;
      case 'settings':
        this.settings = message.header;
        this.events.settings(message.header);
        break;
      case 'frame':
        // Only the newest is drawn; the others count as seen when it is.
        this.arrived = message;
        this.unseen.push(message.header.number);
        break;
    }
  }

  /** How many frames were drawn in the last second. */
  get framesPerSecond(): number {
    this.forgetOld();
    return this.presented.length;
  }

  run(): void {
    const loop = () => {
      requestAnimationFrame(loop);
      this.animate();
    };
    requestAnimationFrame(loop);
  }

  private begin(stage: Stage, arrays: StageArrays): void {
    this.world?.dispose();
    this.world = null;
    this.stage = stage;
    this.settings = null;
    this.frame = null;
    this.arrived = null;
    this.unseen = [];
    this.latency.reset();
    this.world = this.events.stage(stage, arrays);
  }

  private animate(): void {
    this.events.animate();
    const { arrived, world } = this;
    const isFirst = this.frame === null;
    if (arrived && world) {
      world.update(arrived.header, arrived.arrays, performance.now());
      this.updateMs += (world.updateMs - this.updateMs) * (isFirst ? 1 : 0.1);
      this.frame = arrived.header;
      this.arrived = null;
      if (isFirst) this.events.firstFrame();
    }
    if (this.view.render()) this.events.drawn();
    if (arrived && world) {
      for (const number of this.unseen.splice(0)) this.send({ do: 'seen', number });
      this.latency.presented(arrived.header.input);
      this.presented.push(performance.now());
      this.forgetOld();
      this.framesRendered += 1;
      this.events.frame(arrived.header);
    }
  }

  private forgetOld(): void {
    const since = performance.now() - 1000;
    while (this.presented.length > 0 && this.presented[0] < since) this.presented.shift();
  }
}
