import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabaseUrl } from '#db/testing/database.ts';
import { loadConfig } from '#server/platform/env.ts';
import { longTest } from '#server/testing/long.ts';
import { createReadyz, healthz } from './health.ts';
import type { Core } from './http.ts';
import { type OpenServices, openServices } from './services.ts';

/** A proxy to the database that can be cut or stalled. */
interface Way {
  url: string;
  open(): Promise<void>;
  cut(): void;
  /** Stops the flow of data, but keeps connections open. */
  hold(): void;
  letGo(): void;
}

let dataDir: string;
let way: Way;
let services: OpenServices;
let readyz: Core;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-health-'));
  way = await wayTo(await testDatabaseUrl());
  services = await openServices(loadConfig({ DATA_DIR: dataDir, DATABASE_URL: way.url, ANNEX_LOG: 'error' }), 'portal');
  readyz = createReadyz(services);
});

afterAll(async () => {
  way.cut();
  await services.close();
  await rm(dataDir, { recursive: true, force: true });
});

const ask = (core: Core) => core(new Request('http://localhost/'), { remoteAddress: '127.0.0.1' } as never);
const ready = async () => (await ask(readyz)).status;

async function expectAway(): Promise<void> {
  await expect.poll(ready, { timeout: 10_000 }).toBe(503);
  const answer = await ask(readyz);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(await answer.json()).toMatchObject({ status: 503, code: 'database_away' });
  expect((await ask(healthz)).status).toBe(200);
}

test('both are healthy while the database responds', async () => {
  expect(await ready()).toBe(200);
  expect((await ask(healthz)).status).toBe(200);
});

test('without the database readyz fails and healthz does not; both recover', async () => {
  way.cut();
  await expectAway();
  await way.open();
  await expect.poll(ready, { timeout: 10_000 }).toBe(200);
});

longTest('a database that never responds is reported after two seconds', async () => {
  way.hold();
  const asked = Date.now();
  await expectAway();
  expect(Date.now() - asked).toBeLessThan(10_000);
  way.letGo();
  await expect.poll(ready, { timeout: 10_000 }).toBe(200);
});

async function wayTo(databaseUrl: string): Promise<Way> {
  const { host, port } = new pg.Client({ connectionString: databaseUrl });
  const socket = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const ends = new Set<Socket>();
  let held = false;
  const server = createServer((near) => {
    const far = connect(socket);
    for (const [end, other] of [[near, far] as const, [far, near] as const]) {
      ends.add(end);
      end.on('error', () => {});
      end.on('close', () => {
        ends.delete(end);
        other.destroy();
      });
      end.pipe(other);
      if (held) end.pause();
    }
  });
  const open = async (at: number) => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await open(0);
  const own = (server.address() as AddressInfo).port;
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.host = `127.0.0.1:${own}`;
  return {
    url: url.href,
    open: () => open(own),
    cut: () => {
      server.close();
      for (const end of ends) end.destroy();
    },
    hold: () => {
      held = true;
      for (const end of ends) end.pause();
    },
    letGo: () => {
      held = false;
      for (const end of ends) end.resume();
    },
  };
}
