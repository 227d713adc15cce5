import { eq } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import type { Transaction } from '#db/client.ts';
import { goalStateHeads, goalStates } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { newKeyPair } from '#server/testing/key-pair.ts';
import { actsSince, changesSince, markOf } from '#server/testing/records.ts';
import { statementsOf } from '#server/testing/statements.ts';
import { bindCertificate } from './begin.ts';
import { type Head, lockHead, publishGoalStates } from './publish.ts';

let services: Services;
let ctx: Context;

beforeAll(async () => {
  services = await testServices();
  for (const handler of handlers) await givenVersion(services.db, { handler });
  ctx = await testContext({ services, role: 'operator' });
});

const handlers = ['Acme.Lab.First', 'Acme.Lab.Second', 'Acme.Lab.Third'];
const cause = { action: 'extension.set', extension: 'probe' };

/** Creates VMs with 0 to 3 extensions each, in turn. Every second VM has protected settings. */
async function givenVms(count: number): Promise<GivenVm[]> {
  const vms = await Promise.all(Array.from({ length: count }, () => givenVm(services)));
  for (const [index, vm] of vms.entries()) {
    const { certificate } = newKeyPair();
    const key = { pem: certificate, thumbprint: `${index}` };
    await services.db.transaction((tx) => bindCertificate(tx, ctx, vm.vmId, key, { kind: 'renewed' }));
    for (const [n, handler] of handlers.slice(0, index % 4).entries()) {
      const protectedSettings = index % 2 === 1 ? { protectedSettings: { key: `${index}-${n}` } } : {};
      await vm.declare(`probe-${n}`, {
        handler,
        settings: { publicSettings: { place: `${index}-${n}` }, ...protectedSettings },
      });
    }
  }
  return vms;
}

async function lockHeads(tx: Transaction, vms: readonly GivenVm[]): Promise<Head[]> {
  const heads: Head[] = [];
  for (const { vmId } of vms) heads.push(await lockHead(tx, vmId));
  return heads;
}

const publish = (vms: readonly GivenVm[]) =>
  services.db.transaction(async (tx) => publishGoalStates(tx, ctx, await lockHeads(tx, vms), cause));

async function headOf({ vmId }: GivenVm) {
  const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
  if (!head) throw new Error('the VM has no goal state');
  return head;
}

test('goal states of many VMs are what one call for each VM publishes', async () => {
  const vms = await givenVms(8);
  const before = await Promise.all(vms.map(headOf));
  await publish(vms);
  for (const [index, vm] of vms.entries()) {
    const [was, head] = [before[index], await headOf(vm)];
    expect(head).toMatchObject({ incarnation: (was?.incarnation ?? 0) + 1, turn: (was?.turn ?? 0) + 1 });
    expect(head.etag).toBe(`"${services.epoch}.${head.incarnation}"`);
    // Only the incarnation and the turn differ, because the declarations did not change.
    const { incarnation: _, turn: __, ...contents } = JSON.parse(head.text);
    const { incarnation: ___, turn: ____, ...earlier } = JSON.parse(was?.text ?? '');
    expect(contents).toEqual(earlier);
    const sent = (contents as GoalState).extensions.map(({ settings }) => 'protectedSettings' in settings);
    expect(sent).toEqual(Array.from({ length: index % 4 }, () => index % 2 === 1));
    const history = await services.db.select().from(goalStates).where(eq(goalStates.vmId, vm.vmId));
    const { text, etag, publishedAt } = head;
    const stored = history.find(({ incarnation }) => incarnation === head.incarnation);
    expect(stored).toMatchObject({ text, etag, publishedAt, cause, publishedBy: ctx.actor.name });
    expect(stored?.contents.map(({ publicSettings }) => publicSettings)).toEqual(
      Array.from({ length: index % 4 }, (_unused, n) => ({ place: `${index}-${n}` })),
    );
  }
});

test('the number of statements does not depend on the number of VMs', async () => {
  const vms = await givenVms(12);
  const heads = await services.db.transaction((tx) => lockHeads(tx, vms));
  const publishing = (some: readonly Head[]) =>
    statementsOf(() => services.db.transaction((tx) => publishGoalStates(tx, ctx, some, cause)));
  const four = await publishing(heads.slice(0, 4));
  expect(four).toHaveLength(9);
  expect(await publishing(heads.slice(4))).toEqual(four);
  expect(await publishing([])).toEqual([]);
});

test('each VM is marked and announced, and the caller records the act', async () => {
  const vms = await givenVms(3);
  const mark = await markOf(services.db);
  await publish(vms);
  expect((await changesSince(services.db, mark)).toSorted()).toEqual(vms.map(({ vmId }) => `vm ${vmId}`).toSorted());
  for (const { vmId } of vms) expect(await actsSince(services.db, mark, vmId)).toEqual([]);
});
