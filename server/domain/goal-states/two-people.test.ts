import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { goalStateHeads, goalStates } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { completeRemoval } from './complete-removal.ts';
import { fetchGoalState } from './fetch-goal-state.ts';
import { loadExtensions } from './publish.ts';
import { removeExtension } from './remove-extension.ts';
import { revertGoalState } from './revert-goal-state.ts';
import { setExtension } from './set-extension.ts';

let services: Services;
let ada: Context;
let eve: Context;

beforeAll(async () => {
  services = await testServices();
  await givenVersion(services.db);
  await givenVersion(services.db, { version: '1.1.0.0' });
  await givenVersion(services.db, { handler: 'Acme.Lab.Many', supportsMultipleExtensions: true });
  ada = await testContext({ services, role: 'operator' });
  eve = await testContext({ services, role: 'operator' });
});

/** Creates a VM whose agent has `probe` in goal state 2; goal state 3 has other settings. */
async function givenProbe(): Promise<GivenVm> {
  const vm = await givenVm(services);
  await vm.declare('probe');
  await vm.declare('probe', { settings: { publicSettings: { n: 1 } } });
  await vm.deliver();
  return vm;
}

type Act = (ctx: Context, vmId: string) => Promise<unknown>;
const set =
  (n: number, more: { ifMatch?: number } = {}): Act =>
  (ctx, vmId) => {
    const settings = { publicSettings: { n } };
    const goal = { handler: 'Acme.Lab.Probe', version: '1.1.0.0', state: 'enabled' as const, settings };
    return setExtension(ctx, { vmId, name: 'probe', goal, ...more });
  };
const remove =
  (more: { ifMatch?: number; force?: boolean } = {}): Act =>
  (ctx, vmId) =>
    removeExtension(ctx, { vmId, name: 'probe', ...more });
const revert =
  (more: { ifMatch?: number } = {}): Act =>
  (ctx, vmId) =>
    revertGoalState(ctx, { vmId, incarnation: 2, ...more });
const removed: Act = (ctx, vmId) =>
  ctx.db.transaction(async (tx) => {
    const { removed } = await completeRemoval(tx, ctx, vmId, 'probe', 3);
    return removed;
  });
const deleteVm: Act = (ctx, vmId) => removeVm(ctx, { vmId });

/** Expects a history without gaps or duplicates, whose newest entry is current and contains every declaration. */
async function expectOrder(vmId: string): Promise<void> {
  const { db } = services;
  const history = await db.select().from(goalStates).where(eq(goalStates.vmId, vmId)).orderBy(goalStates.incarnation);
  expect(history.map(({ incarnation }) => incarnation)).toEqual(history.map((_, index) => index + 1));
  const [head] = await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
  const newest = history.at(-1);
  expect(head).toMatchObject({ incarnation: newest?.incarnation, text: newest?.text, etag: newest?.etag });
  const rows = await db.transaction((tx) => loadExtensions(tx, vmId));
  expect(newest?.contents.map(({ name, sequenceNumber }) => [name, sequenceNumber])).toEqual(
    rows.map(({ name, sequenceNumber }) => [name, sequenceNumber]),
  );
}

const movedOn = 'precondition_failed goal_state_moved_on';
const ifMatch = 3;
test.each<[string, Act, Act, string[]]>([
  ['two declarations', set(2), set(3), ['done', 'done']],
  ['the same declaration twice', set(2), set(2), ['done', 'done']],
  ['two declarations of what both saw', set(2, { ifMatch }), set(3, { ifMatch }), ['done', movedOn]],
  ['a declaration and a removal of what both saw', set(2, { ifMatch }), remove({ ifMatch }), ['done', movedOn]],
  ['a removal and a revert of what both saw', remove({ ifMatch }), revert({ ifMatch }), ['done', movedOn]],
  ['two reverts of what both saw', revert({ ifMatch }), revert({ ifMatch }), ['done', movedOn]],
  ['two reverts', revert(), revert(), ['done', 'done']],
  ['two removals', remove(), remove(), ['done', 'done']],
  ['two removals by force', remove({ force: true }), remove({ force: true }), ['done', 'not_found extension_absent']],
  ['a deletion of the VM twice', deleteVm, deleteVm, ['done', 'not_found vm_unknown']],
])('%s at the same time', async (_, one, other, outcomes) => {
  const { vmId } = await givenProbe();
  const found = await Promise.all([outcomeOf(one(ada, vmId)), outcomeOf(other(eve, vmId))]);
  expect(found.sort()).toEqual(outcomes);
  if (one !== deleteVm) await expectOrder(vmId);
});

test.each<[string, Act, Act, string, string]>([
  ['a declaration', remove(), set(2), 'done', 'conflict uninstalling'],
  ['a revert', remove(), revert(), 'done', 'conflict uninstalling'],
  ['a declaration', deleteVm, set(2), 'done', 'not_found vm_unknown'],
  ['a revert', deleteVm, revert(), 'done', 'not_found vm_unknown'],
  ['a removal', deleteVm, remove(), 'done', 'not_found vm_unknown'],
])('%s that waits for another change sees its result', async (_, first, second, firstOutcome, secondOutcome) => {
  const { vmId } = await givenProbe();
  let waiting: Promise<string> | undefined;
  const { db } = services;
  await db.transaction(async (tx) => {
    await tx.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)).for('update');
    const lead = outcomeOf(
      first(
        { ...ada, db: Object.create(db, { transaction: { value: (run: (t: typeof tx) => unknown) => run(tx) } }) },
        vmId,
      ),
    );
    waiting = outcomeOf(second(eve, vmId));
    expect(await lead).toBe(firstOutcome);
  });
  expect(await waiting).toBe(secondOutcome);
});

test('an agent reports the removal once, however often the report arrives', async () => {
  const { vmId } = await givenProbe();
  await removeExtension(ada, { vmId, name: 'probe' });
  const found = await Promise.all([removed(ada, vmId), removed(ada, vmId), removed(ada, vmId)]);
  expect(found.filter(Boolean)).toHaveLength(1);
  await expectOrder(vmId);
});

test('ten people who add extensions at the same time lose none', async () => {
  const { vmId } = await givenVm(services);
  const names = Array.from({ length: 10 }, (_, n) => `e${n}`);
  const goal = { handler: 'Acme.Lab.Many', version: '1.0.0.0', state: 'enabled' as const };
  const done = await Promise.all(names.map((name) => setExtension(ada, { vmId, name, goal })));
  expect(done.map(({ incarnation }) => incarnation).sort((a, b) => a - b)).toEqual(names.map((_, n) => n + 2));
  const rows = await services.db.transaction((tx) => loadExtensions(tx, vmId));
  expect(rows.map(({ name }) => name)).toEqual(names);
  await expectOrder(vmId);
});

test('every goal state that is fetched while new goal states are declared is in the history', async () => {
  const vm = await givenProbe();
  const { db } = services;
  const acts = [2, 3, 4, 5].map((n) => set(n)(ada, vm.vmId));
  const fetched = await Promise.all([1, 2, 3, 4].map(() => fetchGoalState(db, vm.vmId, new Date())));
  await Promise.all(acts);
  const history = await db.select().from(goalStates).where(eq(goalStates.vmId, vm.vmId));
  const known = new Map(history.map(({ etag, text }) => [etag, text]));
  for (const one of fetched) expect(known.get(one?.etag ?? '')).toBe(one?.text);
});
