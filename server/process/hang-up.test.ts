import { once } from 'node:events';
import { BlockList, connect } from 'node:net';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { AgentDoor } from '#server/agent-api/call.ts';
import { NodeCall } from '#server/agent-api/node-call.ts';
import { webCall } from '#server/agent-api/web-call.ts';
import { foreseen } from '#server/i18n/foreseen.ts';
import { defaultLimits } from '#server/platform/limits.ts';
import { readFile, readJson } from '#server/rest/read-body.ts';
import { type Serving, serve } from './http.ts';

const log = pino({ level: 'silent' });
/** This object is empty, because these tests use none of its fields. */
const door = {} as AgentDoor;
let serving: Serving;
let begun = Promise.withResolvers<void>();
let ended = Promise.withResolvers<unknown>();

async function drain(stream: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of stream);
}

const readers: Record<string, (request: Request) => Promise<unknown>> = {
  'JSON of the management door': (request) => readJson(request, z.unknown(), defaultLimits, 10_000),
  'a file of the management door': (request) => readFile(request, ['application/json'], 10_000),
  'JSON of an agent': (request) => webCall(door, request, '::1', 'r').readBytes(10_000),
  'an upload': (request) => drain(webCall(door, request, '::1', 'r').stream()),
};
const directReaders: Record<string, (call: NodeCall) => Promise<unknown>> = {
  'a report': (call) => call.readBytes(10_000),
  'what an agent streams, on node’s objects': (call) => drain(call.stream()),
};

const settle = (reading: Promise<unknown>): void => {
  begun.resolve();
  reading.then(() => ended.resolve(null), ended.resolve);
};

beforeAll(async () => {
  serving = await serve({
    ...{ host: '127.0.0.1', port: 0, trustProxy: new BlockList(), limits: defaultLimits, log },
    route: (path) => {
      const name = decodeURIComponent(path.slice(1));
      return {
        upload: true,
        async core(request) {
          settle(readers[name]?.(request) ?? Promise.resolve());
          await ended.promise;
          return new Response();
        },
        direct(request, response, arrival) {
          const read = directReaders[name];
          if (read === undefined) return false;
          settle(read(new NodeCall(door, request, response, arrival)));
          return true;
        },
      };
    },
  });
});
afterAll(() => serving.close(0));

test.each(
  [...Object.keys(readers), ...Object.keys(directReaders)].flatMap((name) => [
    [name, 'resets the connection', (socket: ReturnType<typeof connect>) => socket.resetAndDestroy()] as const,
    [name, 'ends it early', (socket: ReturnType<typeof connect>) => socket.end()] as const,
  ]),
)('%s: a sender that %s does not count as a database outage', async (name, _, hangUp) => {
  begun = Promise.withResolvers();
  ended = Promise.withResolvers();
  const socket = connect(serving.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  const head = `POST /${encodeURIComponent(name)} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: 5000\r\n\r\n{"half": "a bo`);
  await begun.promise;
  hangUp(socket);
  const error = await ended.promise;
  expect(error).toBeInstanceOf(Error);
  expect(foreseen(error)).toMatchObject({ kind: 'bad_request' });
});
