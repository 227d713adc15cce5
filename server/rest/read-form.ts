import { Readable } from 'node:stream';
import { Busboy, type BusboyFileStream } from '@fastify/busboy';
import { DomainError } from '#server/domain/error.ts';
import type { Limits } from '#server/platform/limits.ts';
import { readAll, requireType } from './read-body.ts';

/** One part of a form, to be read before the next one comes. */
export interface FormPart {
  name: string;
  bytes: AsyncIterable<Uint8Array>;
  /** The whole part. Throws 413 beyond `limit` bytes. */
  read(limit: number): Promise<Uint8Array<ArrayBuffer>>;
}

/** More parts than a version has languages are refused. */
const maxParts = 200;

/**
 * The parts of a `multipart/form-data` body, in the order in which they arrive. Throws 415 for another type, 400
 * `form_malformed` for a body that is cut off or is no form, and 400 `form_too_many` beyond 200 parts.
 */
export async function* readForm(request: Request, limits: Limits): AsyncGenerator<FormPart> {
  requireType(request, ['multipart/form-data']);
  const parts = new PartQueue();
  const body = Readable.fromWeb((request.body ?? new ReadableStream()) as import('node:stream/web').ReadableStream);
  const parser = openParser(request, limits);
  parser.on('file', (name, bytes) => parts.add(name, bytes));
  parser.on('partsLimit', () =>
    parts.fail(new DomainError('bad_request', 'form_too_many', { params: { limit: maxParts } })),
  );
  parser.on('finish', () => parts.end());
  const broken = (cause: unknown) => parts.fail(new DomainError('bad_request', 'form_malformed', { cause }));
  parser.on('error', broken);
  body.on('error', broken);
  body.pipe(parser);
  try {
    for (let part = await parts.next(); part !== null; part = await parts.next()) {
      yield part;
      // What the caller did not read must not hold up the next part.
      part.rest();
    }
  } finally {
    body.unpipe(parser);
    body.destroy();
  }
}

function openParser(request: Request, limits: Limits) {
  try {
    return new Busboy({
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      isPartAFile: () => true,
      limits: { parts: maxParts, headerPairs: 20, headerSize: limits.http.headerBytes },
    });
  } catch (cause) {
    throw new DomainError('bad_request', 'form_malformed', { cause });
  }
}

interface QueuedPart extends FormPart {
  rest(): void;
}

/** Parts as the parser finds them; a fault ends both the queue and the part that is being read. */
class PartQueue {
  private readonly found: QueuedPart[] = [];
  private current: BusboyFileStream | null = null;
  private fault: DomainError | null = null;
  private ended = false;
  private wake: () => void = () => {};

  add(name: string, bytes: BusboyFileStream): void {
    this.current = bytes;
    // Its reader sees the fault of the form; without a reader nobody listens.
    bytes.on('error', () => {});
    this.found.push({
      name,
      bytes,
      read: (limit) => readAll(bytes, limit),
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

  /** The next part, or null after the last. Throws the fault of the form. */
  async next(): Promise<QueuedPart | null> {
    for (;;) {
      if (this.fault !== null) throw this.fault;
      const part = this.found.shift();
      if (part !== undefined) return part;
      if (this.ended) return null;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}
