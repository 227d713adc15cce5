import { tooLarge } from './body.ts';
import type { AgentAnswer, AgentCall, AgentDoor } from './call.ts';

/** Wraps a `Request` as a call. */
export function webCall(door: AgentDoor, request: Request, remoteAddress: string, requestId: string): AgentCall {
  const { pathname, search } = new URL(request.url);
  return {
    door,
    method: request.method,
    path: pathname,
    query: search.slice(1),
    remoteAddress,
    requestId,
    header: (name) => request.headers.get(name),
    readBytes: (limit) => readBytes(request, limit),
    stream: () => request.body ?? noBytes(),
    hasHungUp: () => request.signal.aborted,
    onHangUp: (listener) => {
      request.signal.addEventListener('abort', listener, { once: true });
      return () => request.signal.removeEventListener('abort', listener);
    },
  };
}

async function readBytes(request: Request, limit: number): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

export function webAnswer({ status, headers, body }: AgentAnswer): Response {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) pairs.push([headers[at] ?? '', headers[at + 1] ?? '']);
  return new Response(body, { status, headers: pairs });
}
