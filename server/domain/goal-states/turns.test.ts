import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { goalStateHeads } from '#db/schema/index.ts';
import { type GoalState, turnOf } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { bindCertificate } from './begin.ts';
import { fetchGoalState } from './fetch-goal-state.ts';
import { setExtension } from './set-extension.ts';

let ctx: Context;
let count = 0;

beforeAll(async () => {
  ctx = await testContext({ role: 'operator', services: await testServices() });
  await givenVersion(ctx.db, { handler: 'Acme.Lab.Probe', version: '1.0.0.0' });
});

const newVm = async (): Promise<string> => {
  count += 1;
  return (await registerVm(ctx, { name: `vm-${count}` })).id;
};

const declare = (vmId: string, n: number) =>
  setExtension(ctx, {
    vmId,
    name: 'probe',
    goal: {
      handler: 'Acme.Lab.Probe',
      version: '1.0.0.0',
      state: 'enabled',
      settings: { publicSettings: { n }, protectedSettings: { password: 'secret' } },
    },
  });

const fetched = async (vmId: string): Promise<GoalState> =>
  JSON.parse((await fetchGoalState(ctx.db, vmId, ctx.now))?.text ?? '');

const bind = (vmId: string, origin: Parameters<typeof bindCertificate>[4]) =>
  ctx.db.transaction((tx) =>
    bindCertificate(tx, ctx, vmId, { pem: newKeyPair().certificate, thumbprint: `${Math.random()}` }, origin),
  );

const enrolled = {
  kind: 'issued' as const,
  issuer: { key: 'user:test-operator', isAdmin: false },
  sameKey: false,
};

test('each change takes the next turn, and the goal state carries it', async () => {
  const vmId = await newVm();
  const turns: number[] = [];
  for (const n of [1, 2, 3]) {
    await declare(vmId, n);
    turns.push((await fetched(vmId)).turn ?? Number.NaN);
  }
  expect(turns).toEqual([2, 3, 4]);
});

test('changes by two people at the same time take different turns', async () => {
  const vmId = await newVm();
  await Promise.all([1, 2, 3, 4].map((n) => declare(vmId, n)));
  const { incarnation, turn } = await fetched(vmId);
  expect({ incarnation, turn }).toEqual({ incarnation: 5, turn: 5 });
});

test('a renewed certificate takes no turn, because nothing runs again; enrolling another machine takes a turn', async () => {
  const vmId = await newVm();
  await declare(vmId, 1);
  await bind(vmId, enrolled);
  const before = await fetched(vmId);
  await bind(vmId, { kind: 'renewed' });
  const renewed = await fetched(vmId);
  expect(renewed.incarnation).toBe(before.incarnation + 1);
  expect(renewed.extensions[0]?.settings).not.toEqual(before.extensions[0]?.settings);
  expect(renewed.turn).toBe(before.turn);
  await bind(vmId, enrolled);
  expect((await fetched(vmId)).turn).toBeGreaterThan(before.turn ?? 0);
});

/** Removes the turn from the goal state, because goal states of the first release have none. */
const removeTurn = async (vmId: string): Promise<void> => {
  const { turn: _, ...old } = await fetched(vmId);
  await ctx.db
    .update(goalStateHeads)
    .set({ turn: 0, incarnation: 40, text: JSON.stringify({ ...old, incarnation: 40 }) })
    .where(eq(goalStateHeads.vmId, vmId));
};

test('after a certificate renewal, a goal state without a turn gets its previous incarnation as the turn', async () => {
  const vmId = await newVm();
  await declare(vmId, 1);
  await bind(vmId, enrolled);
  await removeTurn(vmId);
  await bind(vmId, { kind: 'renewed' });
  expect(await fetched(vmId)).toMatchObject({ incarnation: 41, turn: 40 });
  await declare(vmId, 2);
  expect(turnOf(await fetched(vmId))).toBe(42);
});

test('after goal states without turns, the next turn is above all incarnations', async () => {
  const vmId = await newVm();
  await declare(vmId, 1);
  await removeTurn(vmId);
  expect(turnOf(await fetched(vmId))).toBe(40);
  await declare(vmId, 2);
  expect(turnOf(await fetched(vmId))).toBe(41);
});
