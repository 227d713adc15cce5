import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { longTest } from '#server/testing/long.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { isAlive, signal } from './processes.ts';

let dataDir: string;
const settings = { shared_buffers: '16MB' };

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-postgres-'));
});

afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the same cluster from another Node process, and returns the server's process id. */
async function startInChild(): Promise<{ pid: number; kill(): Promise<void> }> {
  const program = `
    const { startPostgres } = await import(${JSON.stringify(new URL('./postgres.ts', import.meta.url).href)});
    const server = await startPostgres({ dataDir: ${JSON.stringify(dataDir)}, settings: ${JSON.stringify(settings)} });
    console.log(server.pid);
    setInterval(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    pid: Number(line.toString()),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('the embedded PostgreSQL', { timeout: 60_000 }, () => {
  let server: Postgres;

  test('creates a cluster, responds on its socket and requires the password', async () => {
    server = await startPostgres({ dataDir, settings });
    expect(await query(server.url, 'select current_database() as name')).toEqual([{ name: 'annex' }]);
    const wrong = server.url.replace(/:[^:@]+@/, ':wrong@');
    await expect(query(wrong, 'select 1')).rejects.toThrow(/password authentication failed/);
    expect((await stat(join(dataDir, 'password'))).mode & 0o777).toBe(0o600);
    expect(await query(server.url, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
  });

  test('stops cleanly and starts again with the same address and data', async () => {
    await query(server.url, 'create table kept (n int); insert into kept values (1)');
    await server.stop();
    expect(await server.exited).toEqual({ code: 0, signal: null });
    const again = await startPostgres({ dataDir, settings });
    expect(again.url).toBe(server.url);
    server = again;
  });

  test('reports that it was killed, and loses nothing that was committed', async () => {
    await query(server.url, 'insert into kept values (2)');
    signal(server.pid, 'SIGKILL');
    expect((await server.exited).signal).toBe('SIGKILL');
    server = await startPostgres({ dataDir, settings });
    expect(await query(server.url, 'select n from kept order by n')).toEqual([{ n: 1 }, { n: 2 }]);
    await server.stop();
  });

  test('takes over from an orphan whose parent was killed', async () => {
    const child = await startInChild();
    await child.kill();
    expect(await isAlive(child.pid)).toBe(true);
    server = await startPostgres({ dataDir, settings });
    expect(await isAlive(child.pid)).toBe(false);
    expect(await query(server.url, 'select count(*)::int as n from kept')).toEqual([{ n: 2 }]);
    await server.stop();
  });

  test('ignores a lock file whose process id was reused', async () => {
    await writeFile(
      join(dataDir, 'data', 'postmaster.pid'),
      `${process.pid}\n${join(dataDir, 'data')}\n0\n5432\n\n\n\nready\n`,
    );
    server = await startPostgres({ dataDir, settings });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await server.stop();
  });

  longTest('runs without user namespaces, even as root', async () => {
    const open = await mkdtemp(join(tmpdir(), 'annex-postgres-'));
    await chmod(open, 0o711);
    const path = process.env.PATH;
    // Without `unshare` in PATH, namespaces cannot be used.
    process.env.PATH = '/nonexistent';
    try {
      const other = await startPostgres({ dataDir: join(open, 'postgres'), settings });
      expect(await query(other.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      const { uid } = await stat(join(open, 'postgres', 'data'));
      expect(uid).toBe(process.getuid?.() === 0 ? 65_534 : process.getuid?.());
      await other.stop();
    } finally {
      process.env.PATH = path;
      await rm(open, { recursive: true, force: true });
    }
  });

  test('shows the end of its log if it cannot start', async () => {
    await expect(startPostgres({ dataDir, settings: { shared_buffers: 'nonsense' } })).rejects.toThrow(
      /shared_buffers/,
    );
  });
});
