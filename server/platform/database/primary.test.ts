import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '#db/testing/database.ts';
import { toPrimary } from './index.ts';

/** A proxy to the test database that can be interrupted and restored. */
interface Way {
  port: number;
  open(): Promise<void>;
  shut(): Promise<void>;
}

let target: { host: string; port: number };
let credentials: { user: string; password: string; database: string };
const ways: Way[] = [];
const pools: pg.Pool[] = [];

beforeAll(async () => {
  const { connectionString } = (await testDatabase()).$client.options;
  const { host, port, user = '', password = '', database = '' } = new pg.Client({ connectionString });
  target = { host, port };
  credentials = { user, password: String(password), database };
});

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await Promise.all(ways.splice(0).map((way) => way.shut()));
});

async function newWay(): Promise<Way> {
  const ends = new Set<Socket>();
  let port = 0;
  let server: Server | undefined;
  const way = {
    get port() {
      return port;
    },
    async open() {
      server = createServer((near) => {
        const far = connect({ path: `${target.host}/.s.PGSQL.${target.port}` });
        near.pipe(far).pipe(near);
        for (const end of [near, far]) {
          ends.add(end);
          end.on('error', () => {});
        }
      });
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    },
    async shut() {
      server?.close();
      server = undefined;
      for (const end of ends) end.destroy();
      ends.clear();
    },
  };
  await way.open();
  ways.push(way);
  return way;
}

function poolOver(...over: Way[]): pg.Pool {
  const { user, password, database } = credentials;
  const hosts = over.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const url = `postgres://${user}:${password}@${hosts}/${database}?target_session_attrs=read-write`;
  const pool = new pg.Pool({ ...toPrimary(url), connectionTimeoutMillis: 5_000 });
  pool.on('error', () => {});
  pools.push(pool);
  return pool;
}

const one = async (pool: pg.Pool) => (await pool.query('select 1 as n')).rows[0]?.n as number;

test('finds the host that accepts writes, even after a failover', async () => {
  const [a, b] = [await newWay(), await newWay()];
  await a.shut();
  const pool = poolOver(a, b);
  expect(await one(pool)).toBe(1);
  await Promise.all([b.shut(), a.open()]);
  await expect.poll(() => one(pool).catch(() => 0)).toBe(1);
});

test('if no host accepts writes, the error names all hosts but no password', async () => {
  const [a, b] = [await newWay(), await newWay()];
  await a.shut();
  const pool = poolOver(a, b);
  await pool.query(`alter database ${credentials.database} set default_transaction_read_only = on`);
  await b.shut();
  await b.open();
  const message = expect.poll(() => one(pool).catch((error: Error) => error.message));
  await message.toBe(
    `no host of DATABASE_URL is a primary: 127.0.0.1:${a.port} does not respond (ECONNREFUSED), 127.0.0.1:${b.port} accepts no writes`,
  );
});
