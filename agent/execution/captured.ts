import { executionLimits } from '#protocol/executions/index.ts';

/** The part of a call's output that the Body receives: the first MiB, without trailing line breaks. */
export class Captured {
  private readonly parts: Buffer[] = [];
  private size = 0;
  isTruncated = false;

  write(chunk: Buffer): void {
    const room = executionLimits.capturedBytes - this.size;
    if (chunk.length > room) this.isTruncated = true;
    if (room <= 0) return;
    const part = Buffer.from(chunk.subarray(0, room));
    this.parts.push(part);
    this.size += part.length;
  }

  /** The captured text; null if there is none. */
  get text(): string | null {
    const text = Buffer.concat(this.parts)
      .toString('utf8')
      .replace(/[\r\n]+$/, '');
    return text === '' ? null : text;
  }
}
