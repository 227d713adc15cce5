import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { tooLarge } from './body.ts';
import type { AgentAnswer, AgentCall, AgentDoor } from './call.ts';

/** What the HTTP server has determined about a request. */
export interface Arrival {
  /** The path with the query. */
  target: string;
  path: string;
  remoteAddress: string;
  requestId: string;
  /** Aborted when the process starts to drain. */
  closing: AbortSignal;
}

/**
 * A call that uses Node's request and response objects. Frequent calls avoid the cost of a `Request` and a `Response`
 * this way.
 */
export class NodeCall implements AgentCall {
  readonly door: AgentDoor;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #arrival: Arrival;

  constructor(door: AgentDoor, request: IncomingMessage, response: ServerResponse, arrival: Arrival) {
    this.door = door;
    this.#request = request;
    this.#response = response;
    this.#arrival = arrival;
  }

  get method(): string {
    return this.#request.method ?? 'GET';
  }

  get path(): string {
    return this.#arrival.path;
  }

  get query(): string {
    const { target, path } = this.#arrival;
    return target.slice(path.length + 1);
  }

  get remoteAddress(): string {
    return this.#arrival.remoteAddress;
  }

  get requestId(): string {
    return this.#arrival.requestId;
  }

  header(name: string): string | null {
    const value = this.#request.headers[name];
    if (value === undefined) return null;
    return typeof value === 'string' ? value : value.join(', ');
  }

  readBytes(limit: number): Promise<Buffer> {
    const request = this.#request;
    if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit));
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size <= limit) chunks.push(chunk);
        else {
          request.pause();
          reject(tooLarge(limit));
        }
      });
      request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
      request.on('error', reject);
      request.on('close', () => {
        if (!request.complete) reject(new DomainError('bad_request', 'request_malformed'));
      });
    });
  }

  stream(): AsyncIterable<Uint8Array> {
    return this.#request;
  }

  #hasBody(): boolean {
    const { headers } = this.#request;
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  }

  hasHungUp(): boolean {
    return this.#response.destroyed;
  }

  onHangUp(listener: () => void): () => void {
    this.#response.once('close', listener);
    return () => this.#response.off('close', listener);
  }

  answer({ status, headers, body }: AgentAnswer): void {
    const response = this.#response;
    if (response.destroyed || response.headersSent) return;
    headers.push('x-request-id', this.requestId);
    if (body !== null) headers.push('content-length', String(Buffer.byteLength(body)));
    // If the response is sent before the whole body has arrived, the connection cannot be used for another request.
    if (this.#arrival.closing.aborted || (!this.#request.complete && this.#hasBody()))
      headers.push('connection', 'close');
    response.writeHead(status, headers);
    response.end(body ?? undefined);
  }

  /** Sends an error as a problem document, as the other routes do. */
  async refuse(error: unknown, log: Logger): Promise<void> {
    const language = this.header('accept-language');
    const request = new Request('http://agent.invalid/', {
      headers: language === null ? {} : { 'accept-language': language },
    });
    const problem = problemResponse(error, request, this.requestId, log);
    this.answer({ status: problem.status, headers: [...problem.headers].flat(), body: await problem.text() });
  }
}
