import { sql } from 'drizzle-orm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { extensionHealth, versionCounts } from '#db/schema/index.ts';
import { testServices } from '#server/testing/context.ts';
import { countVersionsJob } from './count-versions.ts';

test('versions are counted in steps, and not again before the next pass', async () => {
  const services = await testServices();
  const { db } = services;
  const count = countVersionsJob();
  const ctx = {
    ...services,
    log: pino({ level: 'silent' }),
    now: new Date('2026-03-02T10:00:00Z'),
    signal: AbortSignal.timeout(60_000),
  };
  // Creates enough extensions for two steps. One step handles 5,000.
  await db.execute(sql`insert into vms (id, name, tags, created_at, created_by)
    select uuidv7(), 'many-' || n, '{}', now(), 'test' from generate_series(1, 4000) n`);
  await db.execute(sql`insert into extension_health (vm_id, name, handler, goal_version, health, heartbeat, since)
    select id, names.name, 'Acme.Lab.Probe', '1.0.0.0', 'healthy', 'none', now()
      from vms, (values ('a'), ('b')) names (name) where vms.name like 'many-%'`);
  expect(await count.run(ctx)).toBe(0);
  expect(await db.$count(versionCounts)).toBe(0);
  expect(await count.run(ctx)).toBe(1);
  expect(await db.select().from(versionCounts)).toMatchObject([{ vms: 4000, failed: 0 }]);
  await db.delete(extensionHealth);
  expect(await count.run(ctx)).toBe(0);
  expect(await db.select().from(versionCounts)).toMatchObject([{ vms: 4000 }]);
});
