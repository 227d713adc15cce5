import { asc, eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { extensionHealth, versionCounts, vms } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { countVersions } from './index.ts';

let services: Services;
beforeAll(async () => {
  services = await testServices();
});

test('counts versions once an hour, replaces an earlier count of the same hour, and stores zero once', async () => {
  const { db } = services;
  const ids = ['1', '2', '3'].map((n) => `00000000-0000-7000-8000-00000000000${n}`);
  const at = (time: string) => new Date(`2026-03-01T${time}Z`);
  const createdAt = at('00:00:00');
  await db.insert(vms).values(ids.map((id) => ({ id, name: id, tags: {}, createdAt, createdBy: 'test' })));
  const row = { handler: 'Acme.Lab.Probe', heartbeat: 'none' as const, since: createdAt };
  const [one = '', two = '', three = ''] = ids;
  await db.insert(extensionHealth).values([
    { ...row, vmId: one, name: 'a', goalVersion: '1.0.0.0', health: 'failed' },
    { ...row, vmId: one, name: 'b', goalVersion: '1.0.0.0', health: 'healthy' },
    { ...row, vmId: two, name: 'a', goalVersion: '1.0.0.0', health: 'healthy' },
    { ...row, vmId: three, name: 'a', goalVersion: '2.0.0.0', health: 'healthy' },
  ]);
  const counts = async () =>
    (await db.select().from(versionCounts).orderBy(asc(versionCounts.hour), asc(versionCounts.version))).map((c) =>
      [c.hour.toISOString().slice(11, 13), c.version, c.vms, c.failed].join(' '),
    );
  await countVersions(services, at('10:05:00'));
  expect(await counts()).toEqual(['10 1.0.0.0 2 1', '10 2.0.0.0 1 0']);
  await countVersions(services, at('09:05:00'), { step: 1 });
  expect(await counts()).toEqual(['09 1.0.0.0 2 1', '09 2.0.0.0 1 0', '10 1.0.0.0 2 1', '10 2.0.0.0 1 0']);
  await db.update(extensionHealth).set({ goalVersion: '1.0.0.0' }).where(eq(extensionHealth.vmId, three));
  await countVersions(services, at('10:59:59'));
  expect((await counts()).slice(2)).toEqual(['10 1.0.0.0 3 1', '10 2.0.0.0 0 0']);
  await db.delete(extensionHealth);
  await countVersions(services, at('11:00:00'));
  await countVersions(services, at('12:00:00'));
  expect((await counts()).slice(2)).toEqual(['10 1.0.0.0 3 1', '10 2.0.0.0 0 0', '11 1.0.0.0 0 0']);
});
