// A clock that can be played, paused, scrubbed and sped up. It asks for frames only while it plays.

export class Player {
  position = 0;
  length = 0; // seconds, or frames of a denoising
  rate = 1; // units of length a second, times the chosen speed
  speed = 1;
  playing = false;
  private last = 0;

  constructor(private readonly changed: () => void) {}

  /** Starts anew with another length. */
  load(length: number, rate: number): void {
    this.length = length;
    this.rate = rate;
    this.position = 0;
    this.playing = false;
    this.changed();
  }

  toggle(): void {
    if (this.playing) {
      this.playing = false;
      this.changed();
      return;
    }
    if (this.length <= 0) return;
    if (this.position >= this.length) this.position = 0;
    this.playing = true;
    this.last = performance.now();
    this.changed();
    requestAnimationFrame(this.tick);
  }

  seek(position: number): void {
    this.position = Math.min(Math.max(position, 0), this.length);
    this.changed();
  }

  private readonly tick = (now: number): void => {
    if (!this.playing) return;
    // A page in the background gets no frames; it goes on from where it was.
    const elapsed = Math.min(Math.max(now - this.last, 0), 250) / 1000;
    this.last = now;
    this.position = Math.min(this.position + elapsed * this.rate * this.speed, this.length);
    if (this.position >= this.length) this.playing = false;
    this.changed();
    if (this.playing) requestAnimationFrame(this.tick);
  };
}
