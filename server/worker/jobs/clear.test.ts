import { createHash } from 'node:crypto';
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changes, healthTransitions, invitations, sessions, users, versionCounts, vms } from '#db/schema/index.ts';
import { openBlobStore } from '#server/platform/blob-store.ts';
import type { OpenServices } from '#server/process/services.ts';
import { testServices } from '#server/testing/context.ts';
import type { Job } from '../job.ts';
import { clearBlobsJob } from './clear-blobs.ts';
import { clearChangesJob } from './clear-changes.ts';
import { clearExpiredJob } from './clear-expired.ts';
import { clearHealthJob } from './clear-health.ts';
import { clearUploadsJob } from './clear-uploads.ts';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);

let root: string;
let services: OpenServices;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'annex-worker-'));
  const opened = await testServices();
  services = { ...opened, blobs: openBlobStore(root), log: pino({ level: 'silent' }), close: async () => {} };
});

afterAll(() => rm(root, { recursive: true, force: true }));

const run = (job: Job) => job.run({ ...services, now, signal: AbortSignal.timeout(60_000) });

test('hints about changes are kept for an hour', async () => {
  await services.db.insert(changes).values([
    { topic: 'vm', key: 'old', at: ago(2) },
    { topic: 'vm', key: 'young', at: ago(0.5) },
  ]);
  expect(await run(clearChangesJob)).toBe(1);
  expect((await services.db.select().from(changes)).map(({ key }) => key)).toEqual(['young']);
});

test('sessions are deleted when they end, invitations a month later', async () => {
  await services.db.insert(users).values({ id: 'u', name: 'Ada', email: 'ada@example.org' });
  await services.db.insert(sessions).values([
    { id: 'ended', userId: 'u', token: 'a', expiresAt: ago(1) },
    { id: 'open', userId: 'u', token: 'b', expiresAt: ago(-1) },
  ]);
  const invitation = { role: 'viewer' as const, createdAt: ago(2_000), createdBy: 'u' };
  await services.db.insert(invitations).values([
    { ...invitation, id: '00000000-0000-7000-8000-000000000001', tokenHash: 'a', expiresAt: ago(31 * 24) },
    { ...invitation, id: '00000000-0000-7000-8000-000000000002', tokenHash: 'b', expiresAt: ago(29 * 24) },
  ]);
  expect(await run(clearExpiredJob)).toBe(2);
  expect((await services.db.select().from(sessions)).map(({ id }) => id)).toEqual(['open']);
  expect((await services.db.select().from(invitations)).map(({ tokenHash }) => tokenHash)).toEqual(['b']);
});

test('health transitions are kept for 30 days, hourly counts for 14 days, and daily counts for 400 days', async () => {
  const vmId = '00000000-0000-7000-8000-00000000000a';
  await services.db.insert(vms).values({ id: vmId, name: 'kept', tags: {}, createdAt: now, createdBy: 'test' });
  const transition = { vmId, kind: 'health' as const, to: 'healthy' };
  await services.db.insert(healthTransitions).values([
    { ...transition, at: ago(31 * 24) },
    { ...transition, at: ago(29 * 24) },
  ]);
  const count = { handler: 'Acme.Lab.Probe', vms: 1, failed: 0 };
  // The test's time is noon, so that the three hours 15 days ago are on the same day.
  const hours = [24, 15 * 24, 15 * 24 + 1, 15 * 24 + 2, 399 * 24, 401 * 24];
  const rows = ['1.0.0.0', '2.0.0.0'].flatMap((version) => hours.map((h) => ({ ...count, version, hour: ago(h) })));
  await services.db.insert(versionCounts).values(rows.slice(0, -1));
  expect(await run(clearHealthJob)).toBe(1 + 2 * 3 - 1);
  const kept = await services.db.select().from(versionCounts);
  const hoursOf = (version: string) =>
    kept.filter((row) => row.version === version).map(({ hour }) => (now.getTime() - hour.getTime()) / 3_600_000);
  expect(hoursOf('1.0.0.0')).toEqual([24, 15 * 24, 399 * 24]);
  expect(hoursOf('2.0.0.0')).toEqual([24, 15 * 24, 399 * 24]);
  expect(await services.db.select().from(healthTransitions)).toHaveLength(1);
});

async function put(text: string, at: Date): Promise<string> {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const path = await services.blobs.temporaryPath();
  await writeFile(path, text);
  await services.blobs.putFile(path, sha256);
  await utimes(join(root, sha256.slice(0, 2), sha256), at, at);
  return sha256;
}

test('package bytes without a version are deleted after a day', async () => {
  const [old, young] = [await put('old', ago(25)), await put('young', ago(23))];
  expect(await run(clearBlobsJob)).toBe(1);
  expect(await services.blobs.size(old)).toBeNull();
  expect(await services.blobs.size(young)).toBe(5);
});

test('unfinished uploads are deleted after two hours', async () => {
  const path = await services.blobs.temporaryPath();
  await writeFile(path, 'half');
  await utimes(path, ago(3), ago(3));
  expect(await run(clearUploadsJob)).toBe(1);
});
