import { pino } from 'pino';
import { expect, test } from 'vitest';
import { automaticStage } from '#server/domain/rollouts/testing/automatic-stage.ts';
import { testServices } from '#server/testing/context.ts';
import type { GivenVm } from '#server/testing/fleet.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { moveRollouts } from './move-rollouts.ts';

test('RO-38, AZ-G10 a fleet of one VM is upgraded within seconds of the publishing', async () => {
  const stage = await automaticStage();
  const [vm] = (await stage.givenTools(1)) as [GivenVm];
  const stop = moveRollouts({ ...stage.services, close: async () => {} });
  await stage.publish('1.1.0.0');
  await expect.poll(() => stage.versionOf(vm), { timeout: 20_000 }).toEqual(['1.0.0.0', '1.1.0.0']);
  expect(await stage.automatic()).toMatchObject({ state: 'running', createdBy: 'Annex' });
  await stop();
});

test('RO-40 while no rollout is open, the whole worker runs one statement for each minute', async () => {
  const services = { ...(await testServices()), log: pino({ level: 'silent' }), close: async () => {} };
  const minuteMs = 50;
  const looks = 10;
  let begunAt = 0;
  let minutes = 0;
  const statements = await statementsOf(async () => {
    let seen = 0;
    const looked = Promise.withResolvers<void>();
    const db = new Proxy(services.db, {
      get(target, name) {
        if (name !== 'execute') return Reflect.get(target, name);
        return async (...args: Parameters<typeof target.execute>) => {
          const result = await target.execute(...args);
          seen += 1;
          if (seen === looks) looked.resolve();
          return result;
        };
      },
    });
    begunAt = performance.now();
    const stop = moveRollouts({ ...services, db }, { restMs: minuteMs });
    await looked.promise;
    minutes = (performance.now() - begunAt) / minuteMs;
    await stop();
  });
  // Those of a new connection do not count.
  const sent = statements.filter((text) => !/^listen |pg_is_in_recovery|pg_walfile_name/i.test(text));
  // The planner and the follower each look once when they start, and once more when they listen.
  expect(sent.length).toBeLessThanOrEqual(minutes + 4);
});
