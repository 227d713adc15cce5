import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { holdVm, readHold } from '#server/domain/holds/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { createJobs } from './index.ts';

test('the portal ends holds within a minute after they are due', async () => {
  const ctx = await testContext({ role: 'operator' });
  const job = createJobs({ log: pino({ level: 'silent' }) }).find(({ name }) => name === 'end-holds');
  expect(job?.periodSeconds).toBeLessThanOrEqual(30);
  const { id: vmId } = await registerVm(ctx, { name: 'held' });
  const until = new Date(ctx.now.getTime() + 1_000);
  await holdVm(ctx, { vmId, reason: 'Patch window', until: until.toISOString() });
  const run = (now: Date) =>
    job?.run({ ...ctx, log: pino({ level: 'silent' }), now, signal: AbortSignal.timeout(9_000) });
  expect(await run(ctx.now)).toBe(0);
  expect(await run(until)).toBe(1);
  expect(await readHold(ctx.db, vmId)).toBeNull();
  const acts = await readActs(ctx.db, eq(auditEntries.vmId, vmId));
  expect(acts.find(({ action }) => action === 'hold.end')).toMatchObject({
    ...{ actorKind: 'system', door: 'system' },
    details: { reason: 'Patch window' },
  });
});
