import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installation } from '#db/schema/index.ts';
import { testDatabaseUrl } from '#db/testing/database.ts';
import { ConfigError, loadConfig } from '#server/platform/env.ts';
import { openServices } from './services.ts';

let dataDir: string;
let databaseUrl: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'annex-services-'));
  databaseUrl = await testDatabaseUrl();
});

afterAll(() => rm(dataDir, { recursive: true, force: true }));

const configWith = (env: Record<string, string>) =>
  loadConfig({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ANNEX_LOG: 'error', ...env });

test('creates the key once, readable only by its owner, and recognizes the database', async () => {
  const first = await openServices(configWith({}), 'portal');
  await first.close();
  const path = join(dataDir, 'secret.key');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const again = await openServices(configWith({}), 'gateway');
  await again.close();
  expect(again.epoch).toBe(first.epoch);
  expect(again.keys).toEqual(first.keys);
  const byVariable = await openServices(
    configWith({ ANNEX_SECRET_KEY: (await readFile(path, 'utf8')).trim() }),
    'worker',
  );
  await byVariable.close();
  expect(byVariable.keys).toEqual(first.keys);
});

test('another key is rejected', async () => {
  const config = configWith({ ANNEX_SECRET_KEY: 'another-key-of-more-than-32-characters' });
  await expect(openServices(config, 'portal')).rejects.toThrow(ConfigError);
});

test('a restored database gets a new epoch, once', async () => {
  const before = await openServices(configWith({}), 'portal');
  await before.db.update(installation).set({ fingerprint: 'another/1/5' }).where(eq(installation.id, 1));
  const after = await openServices(configWith({}), 'portal');
  const later = await openServices(configWith({}), 'portal');
  expect(after.epoch).not.toBe(before.epoch);
  expect(later.epoch).toBe(after.epoch);
  await Promise.all([before.close(), after.close(), later.close()]);
});

test('without a database, opening the services fails', async () => {
  await expect(openServices(configWith({ DATABASE_URL: '' }), 'portal')).rejects.toThrow(/DATABASE_URL/);
  await expect(
    openServices(configWith({ DATABASE_URL: 'postgres://a:b@localhost/annex?host=/nowhere' }), 'portal'),
  ).rejects.toThrow();
});
