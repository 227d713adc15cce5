import { isDeepStrictEqual } from 'node:util';
import type { healthTransitions } from '#db/schema/index.ts';
import { agentStatus, evaluateVmHealth, isOfCommand, rankOf } from '#server/domain/verdicts/index.ts';
import { concernRow, type FoundConcern, isOtherConcern, type VmConcernRow } from './concerns.ts';
import { type Derived, derive, type ExtensionFacts } from './derive.ts';
import { lastingProblem } from './lasting-problem.ts';
import type { ExtensionHealthRow, VmHealthFacts, VmHealthRow } from './load.ts';
import { nextFixedAgeing } from './next-ageing.ts';

export type Transition = Omit<typeof healthTransitions.$inferSelect, 'id'>;

/** The rows to write for a VM; empty if nothing changed. */
export interface HealthUpdate {
  vmId: string;
  vm: VmHealthRow | null;
  extensions: ExtensionHealthRow[];
  /** Names of extensions that no longer exist. */
  removed: string[];
  /** What else impairs the VM now, if that changed. */
  concern: { row: VmConcernRow | null } | null;
  transitions: Transition[];
  /** What to add to each of the fleet's counts because of this VM. */
  added: Map<string, number>;
  /**
   * When the VM must be evaluated again even if its agent keeps reporting (`nextFixedAgeing`); null if there is no such
   * time.
   */
  nextAt: Date | null;
}

/**
 * Derives the health of a VM and its extensions, and returns how the result differs from what lists show. Without
 * `found`, what else impairs the VM stays as it is stored.
 */
export function evaluateVm(facts: VmHealthFacts, now: Date, found?: FoundConcern): HealthUpdate {
  const { id: vmId, presence, known } = facts;
  const status = agentStatus(presence, now);
  const agent = {
    status,
    heartbeatSeconds: presence?.heartbeatSeconds ?? null,
    statusSeconds: presence?.statusSeconds ?? null,
  };
  const rows = facts.extensions.map((extension) =>
    extensionRow(extension, derive(extension, agent, now), known.extensions.get(extension.name), now),
  );
  const concern = found === undefined ? known.concern : concernRow(vmId, found.concern, known.concern, now);
  const vm = vmRow(facts, status, rows, concern, now);
  const changed = rows.filter((row) => !isDeepStrictEqual(row, known.extensions.get(row.name)));
  const names = new Set(rows.map((row) => row.name));
  const removed = [...known.extensions.values()].filter((row) => !names.has(row.name));
  return {
    vmId,
    vm: isDeepStrictEqual(vm, known.vm) ? null : vm,
    extensions: changed,
    removed: removed.map((row) => row.name),
    concern: isOtherConcern(concern, known.concern) ? { row: concern } : null,
    transitions: [
      ...vmTransition(vm, known.vm, rows, concern, now),
      ...changed.flatMap((row) => extensionTransitions(row, known.extensions.get(row.name), now)),
      ...removed.map((row) => ({ ...about(row, now), kind: 'health' as const, from: row.health, to: null })),
    ],
    added: addedBy(vm, known, rows.length),
    nextAt: earlier(nextFixedAgeing(facts.extensions, presence, now), found?.changesAt ?? null),
  };
}

const earlier = (one: Date | null, other: Date | null): Date | null =>
  one === null || (other !== null && other < one) ? other : one;

function addedBy(vm: VmHealthRow, known: VmHealthFacts['known'], extensions: number): Map<string, number> {
  const added = new Map([['extensions', extensions - known.extensions.size]]);
  if (known.vm?.health === vm.health) return added;
  if (known.vm !== null) added.set(known.vm.health, -1);
  return added.set(vm.health, 1);
}

function extensionRow(
  facts: ExtensionFacts,
  derived: Derived,
  known: ExtensionHealthRow | undefined,
  now: Date,
): ExtensionHealthRow {
  const { handlerState } = facts;
  const { health, cause } = derived;
  const ofCommand = isOfCommand(cause);
  const row = {
    vmId: facts.vmId,
    name: facts.name,
    handler: facts.handler,
    goalVersion: facts.goalVersion,
    version: handlerState?.version ?? null,
    sequenceNumber: facts.goalSequenceNumber,
    health,
    heartbeat: derived.verdict,
    cause,
    command: ofCommand ? (handlerState?.command ?? null) : null,
    exitCode: ofCommand ? (handlerState?.exitCode ?? null) : null,
    messageId: cause === 'substatus' ? facts.partMessageId : facts.messageId,
    waitsFor: derived.waitsFor,
    since: known?.health === health ? known.since : now,
    deadlineAt: derived.deadlineAt,
  };
  return { ...row, ...lastingProblem(row, known, now) };
}

function vmRow(
  facts: VmHealthFacts,
  agent: VmHealthRow['agent'],
  rows: ExtensionHealthRow[],
  concern: VmConcernRow | null,
  now: Date,
): VmHealthRow {
  const all = concern === null ? rows : [...rows, concern];
  const health = evaluateVmHealth(
    agent,
    all.map((row) => row.health),
  );
  const deadlines = all.flatMap((row) => row.deadlineAt?.getTime() ?? []);
  const { id, name, tags, known } = facts;
  return {
    vmId: id,
    name,
    tags,
    health,
    rank: rankOf(health),
    agent,
    since: known.vm?.health === health ? known.vm.since : now,
    deadlineAt: deadlines.length === 0 ? null : new Date(Math.min(...deadlines)),
  };
}

/**
 * Returns the transition if the VM's health changed. Unless the VM is unresponsive, the cause is that of the first
 * extension with the same health, or else that of its units.
 */
function vmTransition(
  vm: VmHealthRow,
  known: VmHealthRow | null,
  rows: ExtensionHealthRow[],
  concern: VmConcernRow | null,
  now: Date,
): Transition[] {
  if (known?.health === vm.health) return [];
  const reason = rows.find((row) => row.health === vm.health);
  const other = concern?.health === vm.health ? concern.cause : null;
  const cause = vm.health === 'unresponsive' ? 'silent' : (reason?.cause ?? other);
  return [
    {
      at: now,
      vmId: vm.vmId,
      extension: null,
      kind: 'health',
      from: known?.health ?? null,
      to: vm.health,
      cause,
      waitsFor: reason?.waitsFor ?? null,
    },
  ];
}

const about = (row: ExtensionHealthRow, now: Date) => ({
  at: now,
  vmId: row.vmId,
  extension: row.name,
  cause: null,
  waitsFor: null,
});

function extensionTransitions(row: ExtensionHealthRow, known: ExtensionHealthRow | undefined, now: Date): Transition[] {
  const base = about(row, now);
  const transitions: Transition[] = [];
  const { cause, waitsFor } = row;
  // The timeline distinguishes waiting from running, and a stale warning from a current warning.
  if (known?.health !== row.health || known.cause !== cause || known.waitsFor !== waitsFor) {
    transitions.push({ ...base, kind: 'health', from: known?.health ?? null, to: row.health, cause, waitsFor });
  }
  if ((known?.heartbeat ?? 'none') !== row.heartbeat) {
    transitions.push({ ...base, kind: 'heartbeat', from: known?.heartbeat ?? null, to: row.heartbeat });
  }
  return transitions;
}
