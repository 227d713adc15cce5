import pino from 'pino';
import { expect, test } from 'vitest';
import { testServices } from '#server/testing/context.ts';
import { seedFleet } from '../../fleet/seed-fleet.ts';
import { randomFrom } from '../../load/schedule.ts';
import { runTrial } from './run-trial.ts';

test('RO-26 the comparison alone stops a version with which every VM fails', async () => {
  const services = { ...(await testServices()), log: pino({ level: 'silent' }) };
  await seedFleet(services, { vms: 40, seed: 'test', say: () => {} });
  const trial = await runTrial({
    ...{ services, rates: { changed: 1, others: 0.001 }, random: randomFrom(1) },
    terms: {
      rings: [50, 100].map((percent) => ({ name: `${percent} %`, upTo: { percent } })),
      gates: { errors: null, success: null, inFlight: { count: 8 }, ramp: false },
    },
  });
  expect(trial).toMatchObject({ state: 'paused', why: ['worse_than_control'], controlFirst: 0 });
  expect(trial.changedFirst).toBeGreaterThanOrEqual(7);
  expect(trial.changed).toBeLessThan(20);
});
