import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { DomainError } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';
import { readAll, requireType } from './read-body.ts';

/** A part of a form. It must be read before the next part. */
export interface FormPart {
  name: string;
  bytes: AsyncIterable<Uint8Array>;
  /** Reads the whole part. Throws 413 above `limit` bytes. */
  read(limit: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** Maximum number of parts. No version has as many languages. */
const maxParts = 200;
/** Milliseconds between checks of whether the parser has stopped without an error. */
const stuckMs = 250;

/**
 * Yields the parts of a `multipart/form-data` body in the order in which they arrive. Throws 415 for another type, 400
 * `form_malformed` for a truncated or malformed form, and 400 `form_too_many` above 200 parts.
 */
export async function* readForm(request: Request, limits: Limits): AsyncGenerator<FormPart> {
  requireType(request, ['multipart/form-data']);
  const parser = openParser(request, limits);
  const body = Readable.from(untilEnd(request.body ?? [], boundaryOf(request)), { objectMode: false });
  // Whether the parser has stopped: it has the whole form, or data stays in its buffer although no part is being read.
  const parts = new PartQueue(() => body.readableEnded || parser.writableLength > 0);
  parser.on('file', (name, bytes) => parts.add(name, bytes));
  parser.on('partsLimit', () =>
    parts.fail(new DomainError('bad_request', 'form_too_many', { params: { limit: maxParts } })),
  );
  parser.on('finish', () => parts.end());
  const broken = (cause: unknown) => parts.fail(malformed(cause));
  parser.on('error', broken);
  body.on('error', broken);
  body.pipe(parser);
  try {
    for (let part = await parts.next(); part !== null; part = await parts.next()) {
      yield part;
      // Discards unread bytes, which would block the next part.
      part.rest();
    }
  } finally {
    body.unpipe(parser);
    body.destroy();
  }
}

const malformed = (cause: unknown): DomainError => new DomainError('bad_request', 'form_malformed', { cause });

const boundaryOf = (request: Request): string => {
  const found = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(request.headers.get('content-type') ?? '');
  return found?.[1] ?? found?.[2] ?? '';
};

/** Yields the form up to its end marker and discards the rest, which the parser would never consume. */
async function* untilEnd(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<Buffer> {
  const end = Buffer.from(`\r\n--${boundary}--`);
  // A form without parts starts with its end marker, without a line break before it.
  let held = Buffer.from('\r\n');
  let ended = false;
  for await (const chunk of bytes) {
    // Reads the data after the end marker too, because the client reads the response only after it has sent all data.
    if (ended) continue;
    const data = Buffer.concat([held, chunk]);
    const at = data.indexOf(end);
    ended = at >= 0;
    if (ended) {
      yield data.subarray(0, at + end.length);
      continue;
    }
    const sure = Math.max(0, data.length - end.length + 1);
    held = data.subarray(sure);
    if (sure > 0) yield data.subarray(0, sure);
  }
  if (!ended) yield held;
}

function openParser(request: Request, limits: Limits) {
  try {
    return new Busboy({
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      isPartAFile: () => true,
      limits: { parts: maxParts, headerPairs: 20, headerSize: limits.http.headerBytes },
    });
  } catch (cause) {
    throw malformed(cause);
  }
}

interface QueuedPart extends FormPart {
  rest(): void;
}

/** A queue of the parts that the parser has found. A fault ends the queue and the part that is being read. */
class PartQueue {
  private readonly found: QueuedPart[] = [];
  private current: BusboyFileStream | null = null;
  private fault: DomainError | null = null;
  private ended = false;
  private wake: () => void = () => {};
  private readonly isStuck: () => boolean;

  constructor(isStuck: () => boolean) {
    this.isStuck = isStuck;
  }

  add(name: string, bytes: BusboyFileStream): void {
    this.current = bytes;
    // If the form fails, the part's reader gets the error. Without a reader, the error is ignored.
    bytes.on('error', () => {});
    this.found.push({
      name,
      bytes,
      read: (limit) =>
        readAll(bytes, limit).catch((error: unknown) => {
          throw error instanceof DomainError ? error : malformed(error);
        }),
      rest: () => void bytes.resume(),
    });
    this.wake();
  }

  fail(fault: DomainError): void {
    this.fault ??= fault;
    this.current?.destroy(this.fault);
    this.wake();
  }

  end(): void {
    this.ended = true;
    this.wake();
  }

  /** Returns the next part; null after the last one. Throws if the form is malformed. */
  async next(): Promise<QueuedPart | null> {
    for (;;) {
      if (this.fault !== null) throw this.fault;
      const part = this.found.shift();
      if (part !== undefined) return part;
      if (this.ended) return null;
      // A part with unreadable headers stops the parser without an error. The parser runs to completion between timers,
      // so a timer can tell that it has stopped.
      const check = setInterval(() => this.isStuck() && this.fail(malformed(undefined)), stuckMs);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      clearInterval(check);
    }
  }
}
