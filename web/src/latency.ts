// How long it takes from a movement of the pointer until its effect is on the screen.

const SAMPLES = 20;
/** Inputs that nothing answers, because the simulation is paused, are forgotten. */
const MOST_WAITING = 200;

export class Latency {
  private lastInput = 0;
  private waiting: { input: number; sent: number }[] = [];
  private samples: number[] = [];

  /** The number for an input that is sent now. */
  next(): number {
    this.lastInput += 1;
    this.waiting.push({ input: this.lastInput, sent: performance.now() });
    if (this.waiting.length > MOST_WAITING) this.waiting.shift();
    return this.lastInput;
  }

  /** A frame that obeyed all inputs up to this one was drawn. */
  presented(input: number): void {
    const now = performance.now();
    while (this.waiting.length > 0 && this.waiting[0].input <= input) {
      this.samples.push(now - this.waiting[0].sent);
      this.waiting.shift();
    }
    this.samples.splice(0, this.samples.length - SAMPLES);
  }

  /** Of the last inputs, ms; null before any. */
  get median(): number | null {
    if (this.samples.length === 0) return null;
    const sorted = [...this.samples].sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)];
  }

  /** For a new connection, which counts inputs anew. */
  reset(): void {
    this.lastInput = 0;
    this.waiting = [];
    this.samples = [];
  }
}
