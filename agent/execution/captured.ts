import { executionLimits } from '#protocol/executions/index.ts';

/** The output of a call that the Body receives: the first MiB, without the line ends at its end. */
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

  /** Null if there was no output. */
  get text(): string | null {
    const text = Buffer.concat(this.parts)
      .toString('utf8')
      .replace(/[\r\n]+$/, '');
    return text === '' ? null : text;
  }
}
