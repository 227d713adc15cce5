import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { goalStateHeads } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { enrollAgent, issueEnrollmentToken, registerVm } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeExtension } from '#server/domain/goal-states/index.ts';
import { grantWireAccess, revokeWireAccess } from '#server/domain/stock-agents/index.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { longTest } from '#server/testing/long.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices({ config: { wire: true } });
  await givenVersion(services.db, { supportsMultipleExtensions: true });
});

/** Waits for the work. Returns an unexpected error, such as a deadlock, as text. */
async function defectOf(work: Promise<unknown>): Promise<string[]> {
  try {
    await work;
    return [];
  } catch (error) {
    return error instanceof DomainError ? [] : [String(error)];
  }
}

longTest('concurrent polls, removals, changed goals and reports of one VM never deadlock', async () => {
  const operator = await testContext({ services, role: 'operator' });
  for (let round = 0; round < 8; round++) {
    const vm = await givenVm(services);
    const names = ['a', 'b', 'c'];
    for (const name of names) await vm.declare(name);
    await vm.deliver();
    const report = async (state: string, sequenceNumber: number) =>
      ingestReport(await vm.agent(), {
        vmId: vm.vmId,
        receivedAt: new Date(),
        report: { handlers: names.map((extension) => ({ extension, sequenceNumber, state })) },
      });
    const defects = await Promise.all(
      [
        report('enabled', 1),
        report('enabled', 5),
        report('removed', 1),
        vm.declare('a', { settings: { publicSettings: { round } } }),
        removeExtension(operator, { vmId: vm.vmId, name: 'b' }),
        report('removed', 2),
        vm.deliver(),
        removeExtension(operator, { vmId: vm.vmId, name: 'c' }),
        report('removed', 2),
        report('removed', 6),
        vm.declare('d'),
      ].map(defectOf),
    );
    expect(defects.flat()).toEqual([]);
  }
});

/** A VM with a valid enrollment token. `act` locks the VM's agent and goal state. */
interface Contested {
  vmId: string;
  token: string;
  act(): Promise<unknown>;
}

const enroll = async (token: string) =>
  enrollAgent(await testContext({ services, role: null }), {
    enrollmentToken: token,
    certificate: newKeyPair().certificate,
    agent: { name: 'test', version: '1' },
  });

const reportOf = async (vmId: string, handlers: object[]) => {
  const agent = await testContext({
    services,
    actor: { kind: 'agent', id: vmId, name: 'web', role: null, namespaces: [] },
  });
  return ingestReport(agent, { vmId, receivedAt: new Date(), report: { handlers } });
};

/** Creates a VM whose reference agent has reported, and a token for its next machine. */
async function givenEnrolled(operator: Context): Promise<{ vm: Awaited<ReturnType<typeof givenVm>>; token: string }> {
  const vm = await givenVm(services);
  const first = await issueEnrollmentToken(operator, { vmId: vm.vmId });
  await enroll(first.enrollmentToken);
  await vm.declare('a');
  await vm.deliver();
  await reportOf(vm.vmId, []);
  return { vm, token: (await issueEnrollmentToken(operator, { vmId: vm.vmId })).enrollmentToken };
}

const contested: Record<string, (operator: Context) => Promise<Contested>> = {
  'the report of a removal': async (operator) => {
    const { vm, token } = await givenEnrolled(operator);
    await removeExtension(operator, { vmId: vm.vmId, name: 'a' });
    await vm.deliver();
    const removed = [{ extension: 'a', sequenceNumber: 2, state: 'removed' }];
    return { vmId: vm.vmId, token, act: () => reportOf(vm.vmId, removed) };
  },
  'a deletion': async (operator) => {
    const { vm, token } = await givenEnrolled(operator);
    return { vmId: vm.vmId, token, act: () => removeVm(operator, { vmId: vm.vmId }) };
  },
  'a decommissioning without extensions': async (operator) => {
    const { id: vmId, enrollmentToken: token } = await registerVm(operator, { name: `empty-${Date.now()}` });
    await reportOf(vmId, []);
    return { vmId, token, act: () => removeVm(operator, { vmId, decommission: true }) };
  },
  'a revocation of stock agent access': async (operator) => {
    const { id: vmId, enrollmentToken: token } = await registerVm(operator, { name: `revoked-${Date.now()}` });
    await grantWireAccess(operator, { vmId });
    await reportOf(vmId, []);
    return { vmId, token, act: () => revokeWireAccess(operator, { vmId }) };
  },
  'a grant of stock agent access': async (operator) => {
    const { id: vmId, enrollmentToken: token } = await registerVm(operator, { name: `granted-${Date.now()}` });
    return { vmId, token, act: () => grantWireAccess(operator, { vmId }) };
  },
};

/** Waits until this many statements wait for a lock. */
const untilWaiting = (count: number) =>
  expect
    .poll(
      async () => {
        const { rows } = await services.db.execute<{ n: number }>(sql`
          select count(*)::int as n from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`);
        return rows[0]?.n;
      },
      { timeout: 10_000 },
    )
    .toBe(count);

describe.each(Object.keys(contested))('an enrollment and %s', (name) => {
  test.each(['first', 'second'])('that came %s do not deadlock', async (order) => {
    const operator = await testContext({ services, role: 'operator' });
    const given = await contested[name]?.(operator);
    if (given === undefined) throw new Error(`no act ${name}`);
    const { vmId, token, act } = given;
    const works = order === 'first' ? [act, () => enroll(token)] : [() => enroll(token), act];
    const begun = await services.db.transaction(async (tx) => {
      await tx.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId)).for('update');
      const defects: Promise<string[]>[] = [];
      for (const work of works) {
        defects.push(defectOf(work()));
        await untilWaiting(defects.length);
      }
      return defects;
    });
    expect((await Promise.all(begun)).flat()).toEqual([]);
  });
});
