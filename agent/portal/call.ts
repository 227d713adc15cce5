import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { crashPoint } from '../folder/crash-point.ts';
import { authoritiesIn, type PortalRoute, proxiesOf, trusting } from './route.ts';

export interface HttpCall {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** A file to send as the body. */
  bodyFile?: string;
  /** How long the connection may be idle before the request times out, in seconds. */
  idleSeconds: number;
  signal?: AbortSignal;
  /**
   * Writes the body of a 200 or 206 to a file; a 206 continues after the first `from` bytes. If absent, the body is
   * returned as text.
   */
  saveTo?: { file: string; from: number; maxBytes: number };
  /**
   * Called once, when the request has been sent or has failed. A request with `bodyFile` counts as sent once it is
   * connected.
   */
  onSent?: () => void;
}

export interface PortalResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Maximum size of a response in memory. Packages go to a file and are limited by their stated size. */
const maxTextBytes = 64 * 1024 * 1024;

/** Makes a request to a path of the portal. */
export type PortalCall = (options: Omit<HttpCall, 'url'> & { path: string }) => Promise<PortalResponse>;

/** Makes one HTTP request. Returns the response whatever its status; throws if no complete response arrived. */
export type Caller = (call: HttpCall) => Promise<PortalResponse>;

/**
 * Returns a function that makes requests over keep-alive connections. Throws AgentError if the CA file cannot be used.
 */
export function openCaller(route: PortalRoute): Caller {
  const connections = openConnections(route);
  return (call) => answerTo(call, connections(call.url));
}

/**
 * Returns a function that returns the keep-alive connections for a URL. Throws AgentError if the CA file cannot be
 * used.
 */
export function openConnections(route: PortalRoute): (url: URL) => HttpAgent {
  const proxyEnv = proxiesOf(route);
  const http = new HttpAgent({ keepAlive: true, proxyEnv });
  let https: HttpsAgent | undefined;
  const own = route.ca === undefined ? [] : [authoritiesIn(route.ca)];
  return (url) => {
    if (url.protocol !== 'https:') return http;
    // Plain HTTP does not need the machine's authorities, and reading them takes time and memory.
    https ??= new HttpsAgent({ keepAlive: true, proxyEnv, ...trusting(own) });
    return https;
  };
}

async function answerTo(options: HttpCall, agent: HttpAgent): Promise<PortalResponse> {
  const message = await send(options, agent);
  const status = message.statusCode ?? 0;
  if (options.saveTo !== undefined && (status === 200 || status === 206)) {
    const { file, from, maxBytes } = options.saveTo;
    const room = status === 206 ? maxBytes - from : maxBytes;
    const target = createWriteStream(file, { mode: 0o600, flags: status === 206 ? 'a' : 'w' });
    await pipeline(message, atMost(room), target);
    return { status, headers: message.headers, text: '' };
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxTextBytes) throw new Error('the response is longer than 64 MiB');
    chunks.push(chunk);
  }
  return { status, headers: message.headers, text: Buffer.concat(chunks).toString('utf8') };
}

export class LongerThanAnnounced extends Error {
  override readonly name = 'LongerThanAnnounced';
}

/** Aborts a body that is longer than allowed, because it could fill the disk. */
function atMost(room: number) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      crashPoint('receive');
      bytes += chunk.length;
      if (bytes > room) throw new LongerThanAnnounced();
      yield chunk;
    }
  };
}

function send(
  { method, url, headers, body, bodyFile, idleSeconds, signal, onSent }: HttpCall,
  agent: HttpAgent,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:';
  const length = lengthOf(body, bodyFile);
  return new Promise<IncomingMessage>((resolve, reject) => {
    const sent = once(onSent);
    const request = (secure ? httpsRequest : httpRequest)(url, {
      method,
      agent,
      headers: { ...headers, ...(length === undefined ? {} : { 'content-length': String(length) }) },
      timeout: idleSeconds * 1000,
      signal,
    });
    request.on('timeout', () => request.destroy(new Error(`there was no response for ${idleSeconds} s`)));
    request.on('error', (error) => {
      sent();
      reject(error);
    });
    request.on('finish', sent);
    request.on('response', resolve);
    if (bodyFile === undefined) request.end(body);
    else {
      // A request with a file counts as sent once it is connected, so that the next request need not wait for a long
      // body.
      request.on('socket', (socket) => (socket.connecting ? socket.once('connect', sent) : sent()));
      pipeline(createReadStream(bodyFile), request).catch(reject);
    }
  });
}

function lengthOf(body: HttpCall['body'], bodyFile: string | undefined): number | undefined {
  if (bodyFile !== undefined) return statSync(bodyFile).size;
  return body === undefined ? undefined : Buffer.byteLength(body);
}

function once(action: (() => void) | undefined): () => void {
  let open = action;
  return () => {
    open?.();
    open = undefined;
  };
}
