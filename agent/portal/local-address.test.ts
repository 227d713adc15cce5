import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { enroll } from '../commands/enroll.ts';
import { localAddressTo } from './local-address.ts';

let server: Server;
let port: number;

beforeAll(async () => {
  server = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());

/** Enrolls with a portal that accepts everything. Returns the `instance` of the request. */
async function reported(options: { instanceId?: string; internalAddress?: string }): Promise<unknown> {
  const dir = mkdtempSync(join(tmpdir(), 'annex-instance-'));
  let body = '';
  const call = async (sent: { body?: unknown }) => {
    body = String(sent.body);
    return { status: 201, headers: {}, text: JSON.stringify({ vmId: 'vm', credential: 'secret', pollSeconds: 30 }) };
  };
  await enroll({ portal: `http://127.0.0.1:${port}`, token: 'token', dir, call, ...options }, () => {});
  rmSync(dir, { recursive: true, force: true });
  return (JSON.parse(body) as { instance?: unknown }).instance;
}

test('the local address is that of the connection', async () => {
  expect(await localAddressTo(new URL(`http://127.0.0.1:${port}`))).toBe('127.0.0.1');
});

test('if the portal is not reached, the error says how to state the address', async () => {
  const { port: closed } = await new Promise<{ port: number }>((resolve) => {
    const other = createServer().listen(0, '127.0.0.1', () => {
      const address = other.address() as { port: number };
      other.close(() => resolve(address));
    });
  });
  await expect(localAddressTo(new URL(`http://127.0.0.1:${closed}`))).rejects.toThrow('Set --internal-address.');
});

test('JU-19 the agent reports the instance id that it was given, and its internal address', async () => {
  const id = 'juju-prod-k3j9x0a1bz-jujuq7f2m0c4xd';
  expect(await reported({ instanceId: id, internalAddress: '10.0.0.5' })).toEqual({ id, address: '10.0.0.5' });
  expect(await reported({ instanceId: id })).toEqual({ id, address: '127.0.0.1' });
  expect(await reported({})).toBeUndefined();
});
