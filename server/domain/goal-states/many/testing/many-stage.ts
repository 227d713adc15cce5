import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { expect } from 'vitest';
import { extensions, goalStateHeads } from '#db/schema/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { applyMany } from '../apply-many.ts';
import type { Applied, MemberChange, MemberRequest } from '../change.ts';
import { newPreviewMemory, previewMany } from '../preview-many.ts';

export const [probe, many, strict, other] = ['Acme.Lab.Probe', 'Acme.Lab.Many', 'Acme.Lab.Strict', 'Acme.Lab.Other'];
export const cause = { action: 'rollout.step', rollout: randomUUID() };

/** Returns a change of the handler with these fields. */
export const patch = (change: Partial<RolloutChange> = {}): MemberChange & { kind: 'patch' } => ({
  kind: 'patch',
  change: {
    kind: 'set',
    handler: probe,
    extension: null,
    version: null,
    state: null,
    autoUpgradeMinorVersion: null,
    dependsOn: null,
    timeouts: null,
    publicSettings: null,
    protectedSettings: null,
    onAbsent: 'skip',
    allowLower: false,
    asOf: null,
    ...change,
  },
});

type Planned = MemberRequest['planned'];

/** Requests the same change of several VMs. */
export const requestsOf = (some: readonly GivenVm[], change: MemberChange, planned: Planned = null) =>
  some.map(({ vmId }): MemberRequest => ({ vmId, planned, change }));

/** Handler versions, and what tests do with changes of many VMs. */
export async function manyStage() {
  const services: Services = await testServices();
  const operator = await testContext({ services, role: 'operator' });
  const id = `rollout/${cause.rollout}`;
  const ctx: Context = await testContext({
    services,
    actor: { kind: 'system', id, name: 'probe 1.1', role: 'admin', namespaces: [] },
  });
  for (const version of ['1.0.0.0', '1.1.0.0', '2.0.0.0']) {
    await givenVersion(services.db, { version });
    await givenVersion(services.db, { handler: many, version, supportsMultipleExtensions: true });
  }
  await givenVersion(services.db, { handler: other });
  await givenVersion(services.db, { version: '0.9.0.0', state: 'withdrawn' });
  await givenVersion(services.db, {
    handler: strict,
    settingsSchema: {
      publicSettings: { type: 'object', properties: { port: { type: 'integer', minimum: 5 } } },
      protectedSettings: { type: 'object', properties: { password: { type: 'string' } } },
    },
  });

  const applyAll = (requests: readonly MemberRequest[]) =>
    services.db.transaction((tx) => applyMany(tx, { ...ctx, now: new Date() }, requests, cause));
  const previewAll = (requests: readonly MemberRequest[], memory = newPreviewMemory()) =>
    services.db.transaction((tx) => previewMany(tx, ctx, requests, memory));

  async function apply(vm: GivenVm, change: MemberChange, planned: Planned = null): Promise<Applied | undefined> {
    return (await applyAll(requestsOf([vm], change, planned))).get(vm.vmId);
  }

  /** Previews and applies a change, which must agree. Returns its kind or what happened instead. */
  async function outcomeOf(vm: GivenVm, change: MemberChange): Promise<string> {
    const preview = (await previewAll(requestsOf([vm], change))).get(vm.vmId);
    const applied = await apply(vm, change);
    const words = (it: { outcome: string; kind?: string; code?: string } | undefined) =>
      it?.kind ?? (it?.code ? `${it.outcome} ${it.code}` : it?.outcome);
    expect(words(preview)).toBe(words(applied));
    return words(applied) ?? '';
  }

  async function rowsOf({ vmId }: GivenVm) {
    return services.db.select().from(extensions).where(eq(extensions.vmId, vmId)).orderBy(extensions.name);
  }
  const shown = async (vm: GivenVm) =>
    (await rowsOf(vm)).map(
      ({ name, version, state, sequenceNumber }) => `${name} ${version} ${state} ${sequenceNumber}`,
    );

  async function headOf({ vmId }: GivenVm) {
    const [head] = await services.db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
    if (!head) throw new Error('the VM has no goal state');
    return head;
  }

  /** The rendered goal state without the VM's id and encrypted settings, and what the portal stores of each extension. */
  async function stateOf(vm: GivenVm) {
    const { text, incarnation } = await headOf(vm);
    const { vmId: _, ...goalState } = JSON.parse(text);
    const rendered = JSON.stringify(goalState, (key, value) => (key.startsWith('protectedSettings') ? '…' : value));
    const rows = (await rowsOf(vm)).map(({ commands, requestedVersion, secretId, everDelivered, deliveredAt }) => ({
      commands,
      requestedVersion,
      hasSecret: secretId !== null,
      everDelivered,
      isDelivered: deliveredAt !== null,
    }));
    return { rendered, incarnation, rows };
  }

  async function given(...names: string[]): Promise<GivenVm> {
    const vm = await givenVm(services);
    for (const name of names) await vm.declare(name, { settings: { publicSettings: { a: 1, b: { c: 2 } } } });
    return vm;
  }

  /** Creates two VMs with the same declarations. */
  async function twins(prepare: (vm: GivenVm) => Promise<unknown>): Promise<[GivenVm, GivenVm]> {
    const [one, two] = [await givenVm(services), await givenVm(services)];
    for (const vm of [one, two]) await prepare(vm);
    return [one, two];
  }

  return {
    ...{ services, ctx, operator, applyAll, previewAll, apply, outcomeOf },
    ...{ rowsOf, shown, headOf, stateOf, given, twins },
  };
}

export type ManyStage = Awaited<ReturnType<typeof manyStage>>;
