import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { Reachability } from './reachable.ts';

test('a server is reachable if it responds with any status, and unreachable if nothing listens', async () => {
  const reachability = new Reachability();
  const server = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  expect(await reachability.check(`http://127.0.0.1:${port}/healthz`)).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  expect(await reachability.check(`http://127.0.0.1:${port}/other`)).toBe(false);
});
