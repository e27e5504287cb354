// Time from a movement of the pointer until its effect is on the screen.

const SAMPLES = 20;
/** Maximum number of pending inputs. Older ones, sent while the simulation is paused, are discarded. */
const MAX_WAITING = 200;

export class Latency {
  private lastInput = 0;
  private waiting: { input: number; sent: number }[] = [];
  private samples: number[] = [];

  /** Returns the number of an input that is sent now. */
  next(): number {
    this.lastInput += 1;
    this.waiting.push({ input: this.lastInput, sent: performance.now() });
    if (this.waiting.length > MAX_WAITING) this.waiting.shift();
    return this.lastInput;
  }

  /** Called when a frame was drawn that includes all inputs up to this one. */
  presented(input: number): void {
    const now = performance.now();
    while (this.waiting.length > 0 && this.waiting[0].input <= input) {
      this.samples.push(now - this.waiting[0].sent);
      this.waiting.shift();
    }
    this.samples.splice(0, this.samples.length - SAMPLES);
  }

  /** Median latency of the last inputs, in ms; null before the first. */
  get median(): number | null {
    if (this.samples.length === 0) return null;
    const sorted = [...this.samples].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  }

  /** Resets the numbers of inputs, for a new connection. */
  reset(): void {
    this.lastInput = 0;
    this.waiting = [];
    this.samples = [];
  }
}
