import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { isReachable } from './reachable.ts';

test('what answers is reachable, with any status; where nobody listens nothing is', async () => {
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await isReachable(`http://127.0.0.1:${port}/healthz`)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await isReachable(`http://127.0.0.1:${port}/other`)).toBe(false);
});
