import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rollouts } from '#db/schema/index.ts';
import { changesChannel, recordChange } from '#server/domain/changes/index.ts';
import { rolloutStage } from '#server/domain/rollouts/testing/rollout-stage.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { followRollouts } from './follow-rollouts.ts';

const looks = (statements: readonly string[]) => statements.filter((text) => /\brollouts\b/.test(text));

test('RO-40 without an open rollout a change of a VM causes no statement, and a rollout starts immediately', async () => {
  const stage = await rolloutStage();
  const vms = await stage.givenFleet(2);
  const { services } = stage;
  const heard = Promise.withResolvers<void>();
  const payload = JSON.stringify({ topic: 'vm', key: vms[0]?.vmId });
  let stop = async () => {};
  const statements = await statementsOf(async () => {
    const listening = await new Promise<{ close(): Promise<void> }>((resolve) => {
      const one = services.wakes.listen([changesChannel], {
        heard: (_, text) => text === payload && heard.resolve(),
        lost: () => {},
        back: () => resolve(one),
      });
    });
    stop = followRollouts(services);
    for (let n = 0; n < 20; n += 1) {
      await services.db.transaction((tx) => recordChange(tx, 'vm', vms[0]?.vmId ?? ''));
    }
    await heard.promise;
    await listening.close();
  });
  // One at the start, and one because changes can be missed until the worker listens.
  expect(looks(statements).length).toBeLessThanOrEqual(2);
  const id = await stage.givenRollout(vms);
  await services.db.transaction((tx) => recordChange(tx, 'rollout', id));
  await expect.poll(() => stage.counts(id), { timeout: 10_000 }).toEqual({ members: 2, inFlight: 2 });
  await stop();
});

test('RO-40 a look at a thousand rollouts of which none is due is one statement', async () => {
  const stage = await rolloutStage();
  const id = await stage.givenRollout(await stage.givenFleet(1));
  const [row] = await stage.db.select().from(rollouts).where(eq(rollouts.id, id));
  if (row === undefined) throw new Error('no rollout');
  await stage.db.delete(rollouts);
  const dueAt = stage.at(3_600);
  await stage.db.insert(rollouts).values(Array.from({ length: 1_000 }, () => ({ ...row, id: randomUUID(), dueAt })));
  const looked = Promise.withResolvers<void>();
  const statements = await statementsOf(async () => {
    const db = new Proxy(stage.db, {
      get(target, name) {
        if (name !== 'execute') return Reflect.get(target, name);
        return async (...args: Parameters<typeof target.execute>) => {
          const result = await target.execute(...args);
          looked.resolve();
          return result;
        };
      },
    });
    const stop = followRollouts({ ...stage.services, db });
    await looked.promise;
    await stop();
  });
  expect(looks(statements)).toHaveLength(1);
});
