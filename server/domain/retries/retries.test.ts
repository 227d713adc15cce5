import { asc, eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { agentPresence, auditEntries, goalStates, retrySeries } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import {
  fetchGoalState,
  findRevertTarget,
  getExtension,
  removeExtension,
  setExtension,
} from '#server/domain/goal-states/index.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { holdVm, releaseHold } from '#server/domain/holds/index.ts';
import { getInstanceView } from '#server/domain/views/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { cancelRetries, retryExtension, runRetries } from './index.ts';

const start = new Date();
const minutes = (n: number) => new Date(start.getTime() + n * 60_000);

let services: Services;
let ada: Context;
let eve: Context;

beforeAll(async () => {
  services = await testServices();
  ada = await testContext({ services, role: 'operator', now: start });
  eve = { ...ada, actor: { kind: 'user', id: 'eve', name: 'Eve', role: 'operator', namespaces: [] } };
  await givenVersion(services.db);
  await givenVersion(services.db, { handler: 'Acme.Lab.Other' });
});

const goal = (word: string) => ({
  handler: 'Acme.Lab.Probe',
  version: '1.0.0.0',
  state: 'enabled' as const,
  settings: { publicSettings: { word } },
});
const at = (now: Date): Context => ({ ...ada, now });
const portal = (now: Date): Context => ({ ...ada, now, actor: systemActor, origin: systemOrigin });
const probe = ({ vmId }: GivenVm) => ({ vmId, name: 'probe' });
const sequenceOf = async (vm: GivenVm) => (await getExtension(ada, probe(vm))).sequenceNumber;
const seriesOf = async ({ vmId }: GivenVm) => (await getInstanceView(ada, { vmId })).extensions[0]?.retries ?? null;
const actsOf = async ({ vmId }: GivenVm) => {
  const rows = await readActs(services.db, eq(auditEntries.vmId, vmId));
  return rows.filter(({ action }) => action.startsWith('extension.retry'));
};

/** Lets the agent fetch the goal state and report that enable ended with this exit code. */
async function agentRuns(vm: GivenVm, exitCode: number, now: Date): Promise<void> {
  await fetchGoalState(services.db, vm.vmId, now);
  const state = exitCode === 0 ? ('enabled' as const) : ('failed' as const);
  const ran = { version: '1.0.0.0', sequenceNumber: await sequenceOf(vm), state, command: 'enable' as const, exitCode };
  await ingestReport(await vm.agent(now), {
    vmId: vm.vmId,
    report: { handlers: [{ extension: 'probe', ...ran }] },
    receivedAt: now,
  });
  await foldHealth(services, now);
}

/** Creates a VM whose extension `probe` has failed. */
async function givenFailed(): Promise<GivenVm> {
  const vm = await givenVm(services);
  await setExtension(ada, { ...probe(vm), goal: goal('first') });
  await setExtension(ada, { ...probe(vm), goal: goal('second') });
  await agentRuns(vm, 1, start);
  return vm;
}

describe('a retry', () => {
  test('gives the same contents the next sequence number, as an act of the person', async () => {
    const vm = await givenFailed();
    const settings = { ...goal('second').settings, protectedSettings: { key: 'k-1' } };
    await setExtension(ada, { ...probe(vm), goal: { ...goal('second'), settings } });
    const before = await getExtension(ada, probe(vm));
    const { sequenceNumber, incarnation, changedAt, changedBy, ...contents } = before;
    const receipt = await retryExtension(ada, probe(vm));
    expect(receipt).toMatchObject({ sequenceNumber: sequenceNumber + 1, incarnation: incarnation + 1 });
    const after = await getExtension(ada, probe(vm));
    expect(after).toMatchObject({ ...contents, changedBy: ada.actor.name });
    expect(after.protectedSettings).toMatchObject({ changedBy, changedAt });
    const view = await getInstanceView(ada, { vmId: vm.vmId });
    expect(view.extensions[0]).toMatchObject({ health: 'progressing', goalSequenceNumber: receipt.sequenceNumber });
    expect(await actsOf(vm)).toMatchObject([{ action: 'extension.retry', actorName: ada.actor.name }]);
  });

  test('does not hide the goal state to revert to', async () => {
    const vm = await givenFailed();
    const target = await findRevertTarget(ada, probe(vm));
    expect(target.incarnation).not.toBeNull();
    await retryExtension(ada, probe(vm));
    await retryExtension(ada, probe(vm));
    expect(await findRevertTarget(ada, probe(vm))).toEqual(target);
  });

  test('of a sequence number is rejected once the extension has another sequence number', async () => {
    const vm = await givenFailed();
    const seen = await sequenceOf(vm);
    await retryExtension(ada, { ...probe(vm), sequenceNumber: seen });
    await expect(retryExtension(ada, { ...probe(vm), sequenceNumber: seen })).rejects.toMatchObject({
      code: 'extension_moved_on',
    });
    expect(await sequenceOf(vm)).toBe(seen + 1);
  });

  describe('at the same time as', () => {
    /** The sequence number in each goal state, oldest first. */
    const numbersOf = async ({ vmId }: GivenVm) => {
      const history = await services.db
        .select()
        .from(goalStates)
        .where(eq(goalStates.vmId, vmId))
        .orderBy(asc(goalStates.incarnation));
      return history.flatMap(({ contents }) => contents.map(({ sequenceNumber }) => sequenceNumber));
    };
    const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);
    const edit = (vm: GivenVm, word: string) => setExtension(ada, { ...probe(vm), goal: goal(word) });

    test('another retry runs once, and the slower person learns who retried', async () => {
      const vm = await givenFailed();
      const seen = await sequenceOf(vm);
      const again = (who: Context) => retryExtension(who, { ...probe(vm), sequenceNumber: seen });
      const outcomes = await Promise.allSettled([ada, eve].map(again));
      const winner = outcomes[0]?.status === 'fulfilled' ? ada : eve;
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'extension_moved_on', params: { who: winner.actor.name } },
      });
      expect(await numbersOf(vm)).toEqual(upTo(seen + 1));
    });

    test('an edit is rejected or comes first, and never takes the number of the edit', async () => {
      const vm = await givenFailed();
      const seen = await sequenceOf(vm);
      const [edited, retried] = await Promise.allSettled([
        edit(vm, 'third'),
        retryExtension(eve, { ...probe(vm), sequenceNumber: seen }),
      ]);
      expect(edited.status).toBe('fulfilled');
      const rejection = { status: 'rejected', reason: { code: 'extension_moved_on', params: { who: ada.actor.name } } };
      if (retried.status === 'rejected') expect(retried).toMatchObject(rejection);
      expect(await numbersOf(vm)).toEqual(upTo(retried.status === 'fulfilled' ? seen + 2 : seen + 1));
    });

    test('many other retries and edits gives each goal state another number', async () => {
      const vm = await givenFailed();
      const seen = await sequenceOf(vm);
      const acts = upTo(6).flatMap((n) => [edit(vm, `word ${n}`), retryExtension(eve, probe(vm))]);
      await Promise.all(acts);
      expect(await numbersOf(vm)).toEqual(upTo(seen + acts.length));
    });
  });

  test('of an extension that is unknown, being uninstalled or decommissioned is rejected', async () => {
    const vm = await givenFailed();
    await expect(retryExtension(ada, { ...probe(vm), name: 'other' })).rejects.toMatchObject({
      code: 'extension_absent',
    });
    await removeExtension(ada, probe(vm));
    await expect(retryExtension(ada, probe(vm))).rejects.toMatchObject({ code: 'uninstalling' });
    await removeVm(ada, { vmId: vm.vmId, decommission: true });
    await expect(retryExtension(ada, probe(vm))).rejects.toMatchObject({ code: 'vm_decommissioning' });
  });

  test('does not wait for the agent to enroll, and also runs a disabled extension', async () => {
    const vm = await givenVm(services);
    await setExtension(ada, { ...probe(vm), goal: { ...goal('first'), state: 'disabled' } });
    const before = await getExtension(ada, probe(vm));
    const receipt = await retryExtension(ada, probe(vm));
    expect(receipt).toMatchObject({ state: 'disabled', sequenceNumber: before.sequenceNumber + 1 });
  });

  test('leaves the other extensions and their retries unchanged', async () => {
    const vm = await givenFailed();
    const other = { vmId: vm.vmId, name: 'other' };
    await setExtension(ada, { ...other, goal: { ...goal('other'), handler: 'Acme.Lab.Other' } });
    await retryExtension(ada, { ...other, everyMinutes: 5 });
    const before = await getExtension(ada, other);
    await retryExtension(ada, probe(vm));
    expect(await getExtension(ada, other)).toEqual({ ...before, incarnation: before.incarnation + 1 });
    const view = await getInstanceView(ada, { vmId: vm.vmId });
    expect(view.extensions.map(({ name, retries }) => [name, retries?.everyMinutes])).toContainEqual(['other', 5]);
  });

  test('needs the role operator', async () => {
    const viewer = await testContext({ services, role: 'viewer' });
    const vm = await givenFailed();
    await expect(retryExtension(viewer, probe(vm))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(cancelRetries(viewer, probe(vm))).rejects.toMatchObject({ code: 'forbidden' });
  });
});

describe('repeated retries', () => {
  const repeat = { everyMinutes: 10, times: 2 };

  test('continue while the extension fails, at most as often as requested', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    const first = await sequenceOf(vm);
    expect(await seriesOf(vm)).toEqual({
      ...{ everyMinutes: 10, times: 2, done: 0, nextAt: minutes(10).toISOString() },
      ...{ startedAt: start.toISOString(), startedBy: ada.actor.name },
    });
    await agentRuns(vm, 1, minutes(9));
    expect(await runRetries(portal(minutes(9)))).toBe(0);
    expect(await runRetries(portal(minutes(10)))).toBe(1);
    expect(await sequenceOf(vm)).toBe(first + 1);
    expect(await seriesOf(vm)).toMatchObject({ done: 1, nextAt: minutes(20).toISOString() });
    await agentRuns(vm, 1, minutes(20));
    expect(await runRetries(portal(minutes(20)))).toBe(1);
    expect(await seriesOf(vm)).toBeNull();
    await agentRuns(vm, 1, minutes(30));
    expect(await runRetries(portal(minutes(30)))).toBe(0);
    expect(await sequenceOf(vm)).toBe(first + 2);
    expect(await actsOf(vm)).toMatchObject([
      { action: 'extension.retry', details: repeat },
      { action: 'extension.retry-again', actorKind: 'system', details: { done: 1, times: 2, by: ada.actor.name } },
      { action: 'extension.retry-again', details: { done: 2, times: 2 } },
    ]);
  });

  test('pause while a retry is running', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), everyMinutes: 1 });
    await fetchGoalState(services.db, vm.vmId, minutes(0.9));
    await foldHealth(services, minutes(0.9));
    const running = await sequenceOf(vm);
    expect(await runRetries(portal(minutes(1)))).toBe(0);
    expect(await sequenceOf(vm)).toBe(running);
    expect(await seriesOf(vm)).toMatchObject({ done: 0, nextAt: minutes(2).toISOString() });
  });

  test('end when the extension recovers', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    const retried = await sequenceOf(vm);
    const now = minutes(9);
    await fetchGoalState(services.db, vm.vmId, now);
    await services.db
      .update(agentPresence)
      .set({ lastSeenAt: now, nextExpectedAt: minutes(11) })
      .where(eq(agentPresence.vmId, vm.vmId));
    const of = { extension: 'probe', sequenceNumber: retried };
    const file = [{ version: 1, timestampUTC: now.toISOString(), status: { status: 'success' } }];
    await ingestReport(await vm.agent(now), {
      vmId: vm.vmId,
      report: {
        handlers: [{ ...of, version: '1.0.0.0', state: 'enabled' }],
        statuses: [{ ...of, ageSeconds: 0, readSecondsAgo: 0, file }],
      },
      receivedAt: now,
    });
    await foldHealth(services, minutes(9));
    expect(await runRetries(portal(minutes(10)))).toBe(0);
    expect(await seriesOf(vm)).toBeNull();
    expect(await sequenceOf(vm)).toBe(retried);
  });

  test.each<[act: string, run: (vm: GivenVm) => Promise<unknown>]>([
    ['a change', (vm) => setExtension(ada, { ...probe(vm), goal: goal('third') })],
    [
      'a changed timeout',
      (vm) => setExtension(ada, { ...probe(vm), goal: { ...goal('second'), timeouts: { enable: 9 } } }),
    ],
    ['another retry', (vm) => retryExtension(ada, probe(vm))],
    ['a removal', (vm) => removeExtension(ada, probe(vm))],
    ['a cancellation', (vm) => cancelRetries(ada, probe(vm))],
    ['a decommissioning', (vm) => removeVm(ada, { vmId: vm.vmId, decommission: true })],
  ])('end with %s', async (_, run) => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    await run(vm);
    expect(await seriesOf(vm)).toBeNull();
    const sequence = await sequenceOf(vm);
    await foldHealth(services, minutes(9));
    expect(await runRetries(portal(minutes(10)))).toBe(0);
    expect(await sequenceOf(vm)).toBe(sequence);
  });

  test('pause while the VM is on hold', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    await agentRuns(vm, 1, minutes(9));
    await holdVm(at(minutes(9)), { vmId: vm.vmId, reason: 'Patch window' });
    expect(await runRetries(portal(minutes(10)))).toBe(0);
    await releaseHold(at(minutes(11)), { vmId: vm.vmId });
    await agentRuns(vm, 1, minutes(11));
    expect(await runRetries(portal(minutes(11)))).toBe(1);
  });

  test('pause while the agent is silent', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    await foldHealth(services, minutes(60));
    expect(await runRetries(portal(minutes(60)))).toBe(0);
    expect(await seriesOf(vm)).toMatchObject({ done: 0, nextAt: minutes(61).toISOString() });
  });

  test('are deleted with the VM', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    await removeVm(ada, { vmId: vm.vmId, decommission: false });
    const rows = await services.db.select().from(retrySeries).where(eq(retrySeries.vmId, vm.vmId));
    expect(rows).toEqual([]);
    expect(await runRetries(portal(minutes(10)))).toBe(0);
  });

  test('a new series replaces the previous one', async () => {
    const vm = await givenFailed();
    await retryExtension(ada, { ...probe(vm), ...repeat });
    await retryExtension(at(minutes(5)), { ...probe(vm), everyMinutes: 30, times: 4 });
    expect(await seriesOf(vm)).toMatchObject({ everyMinutes: 30, times: 4, nextAt: minutes(35).toISOString() });
  });

  test('that cannot be stored do not delay retries of other VMs', async () => {
    const [broken, other] = [await givenFailed(), await givenFailed()];
    for (const vm of [broken, other]) {
      await retryExtension(ada, { ...probe(vm), ...repeat });
      await agentRuns(vm, 1, minutes(9));
    }
    await services.db.execute(`
      create function fail_retry() returns trigger language plpgsql as $$ begin raise exception 'disk full'; end $$;
      create trigger fail_retry before update on retry_series for each row when (old.vm_id = '${broken.vmId}')
        execute function fail_retry();`);
    const errors: unknown[] = [];
    const log = Object.assign(Object.create(ada.log), { error: (fields: unknown) => errors.push(fields) });
    expect(await runRetries({ ...portal(minutes(10)), log })).toBe(1);
    expect(errors).toMatchObject([{ vmId: broken.vmId, extension: 'probe' }]);
    expect(await seriesOf(other)).toMatchObject({ done: 1 });
    await services.db.execute('drop trigger fail_retry on retry_series');
    expect(await runRetries(portal(minutes(10)))).toBe(1);
  });
});
