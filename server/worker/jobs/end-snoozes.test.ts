import { eq } from 'drizzle-orm';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { auditEntries } from '#db/schema/index.ts';
import { readProblems, snoozeProblem } from '#server/domain/attention/index.ts';
import { exit51, insertVms } from '#server/domain/attention/testing/insert-vms.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext } from '#server/testing/context.ts';
import { createJobs } from './index.ts';

test('the portal ends snoozes within a minute after they are due', async () => {
  const ctx = await testContext({ role: 'operator' });
  const job = createJobs({ log: pino({ level: 'silent' }) }).find(({ name }) => name === 'end-snoozes');
  expect(job?.periodSeconds).toBeLessThanOrEqual(30);
  await insertVms(ctx.db, ctx.now, [{ name: 'a', health: 'failed', extension: exit51 }]);
  const key = (await readProblems(ctx.db)).items[0]?.key ?? '';
  const until = new Date(ctx.now.getTime() + 1_000);
  await snoozeProblem(ctx, { key, until: until.toISOString() });
  const run = (now: Date) =>
    job?.run({ ...ctx, log: pino({ level: 'silent' }), now, signal: AbortSignal.timeout(9_000) });
  expect(await run(ctx.now)).toBe(0);
  expect(await run(until)).toBe(1);
  const acts = await readActs(ctx.db, eq(auditEntries.targetId, key));
  expect(acts.find(({ action }) => action === 'attention.wake')).toMatchObject({
    ...{ actorKind: 'system', door: 'system' },
    details: { name: 'Acme.Lab.Mount enable 51' },
  });
});
