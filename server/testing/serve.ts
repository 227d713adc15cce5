import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { onTestFinished } from 'vitest';

/** Serves a handler on its own port until the test ends. Returns its origin. */
export async function serve(handle: (request: Request) => Promise<Response>): Promise<string> {
  const server = createServer(getRequestListener((request) => handle(request), { overrideGlobalObjects: false }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
