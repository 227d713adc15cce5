import { randomUUID } from 'node:crypto';
import { and, asc, eq } from 'drizzle-orm';
import pino from 'pino';
import {
  agentPresence,
  auditEntries,
  goalStateHeads,
  goalStates,
  groupReservations,
  rolloutMembers,
  rolloutRings,
  rolloutSteps,
  rollouts,
} from '#db/schema/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { emptyCounts, shownCounts } from '#server/domain/rollout-rules/counts.ts';
import { orderKey, orderMembers } from '#server/domain/rollout-rules/order.ts';
import type {
  Definition,
  Gates,
  RingDefinition,
  RingPlan,
  RolloutChange,
  Window,
} from '#server/domain/rollout-rules/stored.ts';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import { type MemberKind, memberKinds, type RolloutKind, type StepState } from '#server/domain/rollout-rules/words.ts';
import { updateVm } from '#server/domain/vms/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import type { PassServices } from '../engine/pass.ts';
import { passRollout } from '../engine/pass-rollout.ts';
import { type RolloutRulesInput, setRolloutRules } from '../rules.ts';
import { checkCounts } from './check-counts.ts';

export const probe = 'Acme.Lab.Probe';

const gates: Gates = {
  ...{ inFlight: { count: 200 }, ramp: false, soakSeconds: 0, settleSeconds: 600, bakeSeconds: 0 },
  ...{ errors: null, success: null, compare: null },
};

const change: RolloutChange = {
  ...{ kind: 'set', handler: probe, extension: null, version: '1.1.0.0', state: null },
  ...{ autoUpgradeMinorVersion: null, dependsOn: null, timeouts: null, publicSettings: null, protectedSettings: null },
  ...{ onAbsent: 'skip', allowLower: false, asOf: null },
};

/** What a test says about a rollout; everything else is that of a bulk act with one ring. */
export interface GivenRollout extends Partial<Omit<Definition, 'rings' | 'change'>> {
  name?: string;
  kind?: RolloutKind;
  planned?: MemberKind;
  change?: Partial<RolloutChange>;
  /** The number of members of each ring, and its gates. */
  rings?: (Partial<Gates> & { size: number; approval?: boolean; windows?: Window[] })[];
  /** Seconds that the longest step of each ring may take. */
  longestSeconds?: number;
  of?: string;
  acceptedOverlap?: string[];
  startedAt?: Date;
}

/** A fleet with rollouts that are planned and running, whose time the test chooses. */
export async function rolloutStage() {
  const services: PassServices = { ...(await testServices()), log: pino({ level: 'silent' }) };
  const { db } = services;
  for (const version of ['1.0.0.0', '1.1.0.0', '1.2.0.0']) {
    await givenVersion(db, { version, reportHeartbeat: false });
    await givenVersion(db, { handler: 'Acme.Lab.Other', version, reportHeartbeat: false });
  }
  const operator = await testContext({ services, role: 'operator' });
  const start = new Date();
  const at = (seconds: number) => new Date(start.getTime() + seconds * 1_000);
  const as = (seconds: number): Context => ({ ...operator, now: at(seconds) });

  /** Reports the state of an extension and folds the VM's health. */
  async function report(vm: GivenVm, seconds: number, terms: Reported = {}): Promise<void> {
    const { status = 'success', version = '1.1.0.0', sequenceNumber = 2, extension = 'probe' } = terms;
    const message = terms.message && { message: { id: terms.message, params: ['sdb1'] } };
    const file = [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status, ...message } }];
    await ingestReport(await vm.agent(at(seconds)), {
      vmId: vm.vmId,
      receivedAt: at(seconds),
      report: {
        handlers: [{ extension, version, sequenceNumber, state: terms.state ?? 'enabled', ...terms.failed }],
        statuses:
          terms.state === 'removed' ? [] : [{ extension, sequenceNumber, ageSeconds: 0, readSecondsAgo: 0, file }],
      },
    });
    await fold(seconds);
  }
  const fold = (seconds: number) => foldHealth(services, at(seconds));

  /** Creates VMs with a healthy extension, whose agents call for weeks. */
  async function givenFleet(count: number, { tags = {} }: { tags?: Record<string, string> } = {}): Promise<GivenVm[]> {
    const fleet: GivenVm[] = [];
    for (let n = 0; n < count; n += 1) {
      const vm = await givenVm(services, 'roll');
      fleet.push(vm);
      await vm.declare('probe');
      await vm.deliver(at(-60));
      await hear(vm, -60);
      if (Object.keys(tags).length > 0) await setTags(vm, tags);
      await report(vm, -60, { version: '1.0.0.0', sequenceNumber: 1 });
    }
    return fleet;
  }
  async function hear({ vmId }: GivenVm, seconds: number, forSeconds = 1_000_000): Promise<void> {
    const values = { lastSeenAt: at(seconds), nextExpectedAt: at(seconds + forSeconds) };
    await db
      .insert(agentPresence)
      .values({ vmId, ...values })
      .onConflictDoUpdate({ target: agentPresence.vmId, set: values });
    await db.transaction((tx) => recordChange(tx, 'vm', vmId));
  }
  async function setTags({ vmId }: GivenVm, tags: Record<string, string>): Promise<void> {
    await updateVm(operator, { vmId, tags });
  }

  async function givenRollout(vms: readonly GivenVm[], given: GivenRollout = {}): Promise<string> {
    const {
      name = 'probe 1.1',
      kind = 'bulk',
      planned = 'update',
      of,
      acceptedOverlap = [],
      startedAt,
      longestSeconds = 0,
      ...terms
    } = given;
    const { rings: sizes = [{ size: vms.length }], change: patch, ...more } = terms;
    const id = randomUUID();
    const rings = sizes.map(
      ({ size: _, approval = false, windows = [], ...own }, n): RingDefinition => ({
        ...{ name: `ring ${n}`, filter: null, upTo: null, approval, windows },
        gates: { ...gates, ...own },
      }),
    );
    const definition: Definition = {
      strategy: 'at-once',
      select: { ids: vms.map(({ vmId }) => vmId) },
      windows: [],
      ...{ silent: 'wait', newcomers: 'ignore', keepDays: 14, availabilitySets: 'respect' },
      ...{ onStepFailure: 'leave', onHalt: 'pause', retry: { times: 0, afterSeconds: 60, causes: [] } },
      ...{ maxMovedShare: null, noProgressSeconds: 86_400, stepsPerSecond: null, startAt: null },
      ...more,
      change: { ...change, ...patch },
      rings,
    };
    await db.insert(rollouts).values({
      ...{ id, revision: 1, name, kind, state: 'running', definition, epoch: services.epoch },
      handler: patch?.kind === 'run' ? null : definition.change.handler,
      ...{ members: vms.length, dueAt: at(0), progressAt: at(0), acceptedOverlap, of: of ?? null },
      ...{ createdAt: at(0), createdBy: 'Test', startedAt: startedAt ?? at(0), startedBy: 'Test' },
      authors: { created: 'user:test', edited: null, planned: null },
    });
    const ordered = orderMembers(
      id,
      vms.map(({ vmId }) => vmId),
    );
    const planOf = (ring: number, size: number): RingPlan => ({
      ...{ name: `ring ${ring}`, size, kinds: { [planned]: size }, inFlight: size, bytes: 0, restarts: 0, silent: 0 },
      ...{ sets: { touched: 0, longest: 0 }, longestSeconds },
    });
    let first = 0;
    for (const [ring, { size }] of sizes.entries()) {
      const own = ordered.slice(first, first + size);
      await db.insert(rolloutRings).values({
        rolloutId: id,
        ring,
        state: 'waiting',
        first,
        size,
        counts: emptyCounts(),
        plan: planOf(ring, size),
      });
      // Chunks of three members, so that batches cross the boundaries of chunks.
      for (let from = 0; from < own.length; from += 3) {
        const vmIds = own.slice(from, from + 3);
        const keys = vmIds.map((vmId) => orderKey(id, vmId)).sort();
        const kinds = Buffer.from(vmIds.map(() => memberKinds.indexOf(planned)));
        const range = { low: keys[0] ?? '', high: keys.at(-1) ?? '' };
        await db.insert(rolloutMembers).values({ rolloutId: id, ring, first: from, ...range, vmIds, kinds });
      }
      first += size;
    }
    return id;
  }

  /** What is reserved: the group, the VM and the holder of each reservation. */
  async function reservations(): Promise<[group: string, vmId: string, holder: string][]> {
    const rows = await db.select().from(groupReservations).orderBy(groupReservations.disruptionGroup);
    return rows.map(({ disruptionGroup, vmId, holderId }) => [disruptionGroup, vmId, holderId]);
  }

  /** Changes the rules of all rollouts. */
  async function setRules(seconds: number, changes: Partial<RolloutRulesInput>): Promise<void> {
    const admin = await testContext({ services, role: 'admin', now: at(seconds) });
    await setRolloutRules(admin, { ...defaultRules, freezes: [], ...changes });
  }

  /** Lets the worker look until nothing is due. The counts must add up after every pass. */
  async function pass(seconds: number): Promise<void> {
    for (let n = 0; n < 100; n += 1) {
      if ((await passRollout(services, at(seconds))) === null) return;
      await checkCounts(db);
    }
    throw new Error('the rollouts do not come to rest');
  }
  /** Lets the worker look at one rollout, once. */
  async function passOnce(seconds: number): Promise<void> {
    await passRollout(services, at(seconds));
    await checkCounts(db);
  }
  /** Lets the worker look at every open rollout, whether due or not. */
  async function look(seconds: number): Promise<void> {
    await db.update(rollouts).set({ dueAt: at(seconds) });
    await pass(seconds);
  }
  async function rollout(id: string) {
    const [row] = await db.select().from(rollouts).where(eq(rollouts.id, id));
    if (row === undefined) throw new Error('no such rollout');
    return row;
  }
  const rings = (id: string) =>
    db.select().from(rolloutRings).where(eq(rolloutRings.rolloutId, id)).orderBy(asc(rolloutRings.ring));
  const steps = (id: string) =>
    db
      .select()
      .from(rolloutSteps)
      .where(eq(rolloutSteps.rolloutId, id))
      .orderBy(asc(rolloutSteps.ring), asc(rolloutSteps.place));
  /** The VMs whose step is in this state, in order. */
  async function vmsIn(id: string, vms: readonly GivenVm[], state: StepState): Promise<GivenVm[]> {
    const own = (await steps(id)).filter((step) => step.state === state);
    return own.flatMap(({ vmId }) => vms.find((vm) => vm.vmId === vmId) ?? []);
  }
  async function step(id: string, { vmId }: GivenVm) {
    return (await steps(id)).find((one) => one.vmId === vmId);
  }
  /** The counts without zeros. They must agree with the rows. */
  async function counts(id: string): Promise<Record<string, number>> {
    const stored = shownCounts(
      (await rollout(id)).members,
      (await rings(id)).map(({ counts }) => counts),
    );
    return Object.fromEntries(Object.entries(stored).filter(([, n]) => n !== 0));
  }
  async function head({ vmId }: GivenVm) {
    const [row] = await db.select().from(goalStateHeads).where(eq(goalStateHeads.vmId, vmId));
    if (row === undefined) throw new Error('the VM has no goal state');
    return row;
  }
  /** Goal states that the rollout published for a VM. */
  async function published(id: string, { vmId }: GivenVm) {
    const rows = await db
      .select()
      .from(goalStates)
      .where(eq(goalStates.vmId, vmId))
      .orderBy(asc(goalStates.incarnation));
    return rows.filter(({ cause }) => cause.rollout === id);
  }
  const activity = (id: string, action: string) =>
    db
      .select()
      .from(auditEntries)
      .where(and(eq(auditEntries.targetId, id), eq(auditEntries.action, action)))
      .orderBy(asc(auditEntries.id));

  /** The agent fetches its goal state and reports success. */
  async function succeed(vm: GivenVm, seconds: number, terms: Reported = {}): Promise<void> {
    await vm.deliver(at(seconds));
    await report(vm, seconds, terms);
  }
  const fail = (vm: GivenVm, seconds: number, terms: Reported = {}) =>
    succeed(vm, seconds, { status: 'error', ...terms });

  return {
    ...{ services, db, operator, at, as, givenFleet, givenRollout, hear, setTags, report, fold, succeed, fail },
    ...{
      pass,
      passOnce,
      look,
      rollout,
      rings,
      steps,
      step,
      vmsIn,
      counts,
      head,
      published,
      activity,
      setRules,
      reservations,
    },
  };
}

interface Reported {
  status?: string;
  version?: string;
  sequenceNumber?: number;
  extension?: string;
  state?: string;
  /** The command that failed. */
  failed?: { state: 'failed'; command: string; exitCode: number };
  /** The id of the status's message. */
  message?: string;
}

export type RolloutStage = Awaited<ReturnType<typeof rolloutStage>>;
