// State of the simulation on the page, and the loop that draws it.

import type { Latency } from './latency';
import type { DisplayArrays, DisplayScene, Frame, FrameArrays, Incoming, Send, Settings } from './protocol';
import type { View } from './viewport/view';
import type { World } from './viewport/world';

export interface SessionEvents {
  display(display: DisplayScene, arrays: DisplayArrays): World;
  settings(settings: Settings): void;
  /** Called before each drawing. */
  animate(): void;
  /** Called before the first frame of a display is drawn. */
  firstFrame(): void;
  /** Called after a frame was drawn. */
  frame(frame: Frame): void;
  /** Called after each drawing, also if only the camera has moved. */
  drawn(): void;
}

export class Session {
  display: DisplayScene | null = null;
  settings: Settings | null = null;
  frame: Frame | null = null;
  world: World | null = null;
  framesRendered = 0;
  /** Mean time to process a frame over the last ones, in ms. */
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
      case 'display':
        this.begin(message.header, message.arrays);
        break;
      case 'settings':
        this.settings = message.header;
        this.events.settings(message.header);
        break;
      case 'frame':
        // Only the latest frame is drawn; with it, earlier ones are acknowledged too.
        this.arrived = message;
        this.unseen.push(message.header.number);
        break;
    }
  }

  /** Number of frames drawn in the last second. */
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

  private begin(display: DisplayScene, arrays: DisplayArrays): void {
    this.world?.dispose();
    this.world = null;
    this.display = display;
    this.settings = null;
    this.frame = null;
    this.arrived = null;
    this.unseen = [];
    this.latency.reset();
    this.world = this.events.display(display, arrays);
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
