import { z } from 'zod';
import { negotiate, type ReaderWishes } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { newerAgentVersion } from '#server/domain/enrollment/index.ts';
import { derive, type FactsAsJson, factsAsJson, factsFromJson } from '#server/domain/health/index.ts';
import { hold, holdOf } from '#server/domain/holds/index.ts';
import { fitList } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import {
  agentStatus,
  agentStatuses,
  bySeverity,
  evaluateVmHealth,
  extensionHealths,
  isOfCommand,
  type VmHealth,
  vmHealths,
} from '#server/domain/verdicts/index.ts';
import { vm, vmOf } from '#server/domain/vms/index.ts';
import { findAvailableUpdates } from './available-updates.ts';
import { type ReadFleetRowsInput, readFleetRowsInput } from './input.ts';
import { agentKind, system, updateAvailable } from './machine.ts';
import { type OpenReason, type ReasonFacts, reasonOf, vmReason, withTexts } from './reasons.ts';
import { rolePlace } from './topology/role-place.ts';

/** A VM in a list, with its health and its extensions. */
export const fleetRow = vm.extend({
  health: z.enum(vmHealths),
  agent: z.object({ status: z.enum(agentStatuses), lastSeenAt: time.nullable() }),
  /** Sorted by health, worst first. */
  extensions: z.array(
    z.object({
      name: z.string(),
      handler: z.string(),
      health: z.enum(extensionHealths),
      /** Name of the extension that this one waits for; null if it does not wait. */
      waitsFor: z.string().nullable(),
      updateAvailable,
    }),
  ),
  agentKind: agentKind.nullable(),
  agentVersion: z.string().nullable(),
  /** The version that Annex serves, if it is newer than the VM's reference agent; otherwise null. */
  availableAgentVersion: z.string().nullable(),
  os: system.nullable(),
  /** Whether protected settings of any extension are withheld from the machine's key until an admin releases them. */
  needsRelease: z.boolean(),
  /** Incarnation of the goal state; null if there is none. */
  goalState: z.number().int().nullable(),
  /** The agent's clock minus the portal's, in seconds. */
  clockSkewSeconds: z.number().int().nullable(),
  /** When a restart of the machine became pending; null if none is. */
  restartPendingSince: time.nullable(),
  /** Null if the VM is not on hold. */
  hold: hold.nullable(),
  /** When the VM got the health that lists sort by; null until it is evaluated. */
  since: time.nullable(),
  /** Null if the VM is healthy, or unknown because its agent has not called. */
  reason: vmReason.nullable(),
  /** Null if the VM belongs to no model. */
  role: rolePlace.nullable(),
});
export type FleetRow = z.infer<typeof fleetRow>;

/**
 * Loads these VMs, in the given order. Runs two statements, and two more for the messages if a VM is not healthy.
 * Deleted VMs are omitted.
 */
export async function fleetRows(ctx: Context, vmIds: readonly string[], reader: ReaderWishes): Promise<FleetRow[]> {
  if (vmIds.length === 0) return [];
  const [{ rows }, updates] = await Promise.all([
    ctx.db.$client.query<Machine>({ name: 'fleet-rows', text, values: [vmIds] }),
    findAvailableUpdates(ctx.db, vmIds),
  ]);
  const machines = new Map(rows.map((row) => [row.id, row]));
  const summaries = new Map(rows.map((machine) => [machine.id, summarize(machine, updates.get(machine.id), ctx.now)]));
  const open = [...summaries.values()].flatMap(({ reason }) => reason ?? []);
  const reasons = await withTexts(ctx, open, negotiate(reader));
  return vmIds.flatMap((id) => {
    const machine = machines.get(id);
    const summary = summaries.get(id);
    if (machine === undefined || summary === undefined) return [];
    const { agentKind, agentVersion, os, needsRelease, goalState, clockSkewSeconds, since, role } = machine;
    return [
      {
        ...vmOf(machine),
        ...summary,
        availableAgentVersion: newerAgentVersion({ name: machine.agentName, version: agentVersion }),
        ...{ agentKind, agentVersion, os, needsRelease, goalState, clockSkewSeconds, role },
        restartPendingSince: machine.restartPendingSince?.toISOString() ?? null,
        hold: holdOf({ ...machine, since: machine.heldAt }),
        since: since?.toISOString() ?? null,
        reason: reasons.get(id) ?? null,
      },
    ];
  });
}

/**
 * Reloads rows that a list already shows. A response that would be too large ends early; `leftOut` counts the rows
 * after its end.
 */
export async function readFleetRows(
  ctx: Context,
  input: ReadFleetRowsInput,
): Promise<{ items: FleetRow[]; leftOut: number }> {
  allow(ctx.actor, 'viewer');
  const { vmIds, ...reader } = parse(readFleetRowsInput, input);
  const { kept: items, leftOut } = fitList(await fleetRows(ctx, vmIds, reader));
  return { items, leftOut };
}

type Machine = Parameters<typeof vmOf>[0] &
  Pick<FleetRow, 'agentKind' | 'agentVersion' | 'os' | 'needsRelease' | 'goalState' | 'clockSkewSeconds' | 'role'> & {
    agentName: string | null;
    since: Date | null;
    restartPendingSince: Date | null;
    heldAt: Date | null;
    reason: string | null;
    by: string | null;
    until: Date | null;
    /** Null if the agent has never called. */
    lastSeenAt: Date | null;
    nextExpectedAt: Date | null;
    heartbeatSeconds: number | null;
    statusSeconds: number | null;
    extensions: FactsAsJson[] | null;
    /** What else impairs the VM, as the worker stored it; null if nothing does. */
    concern: (Omit<ReasonFacts, 'handler' | 'waitsFor'> & { health: VmHealth }) | null;
  };

/**
 * The statement is named, so it is parsed once per connection and its plan can be reused. Planning takes longer than
 * reading the rows.
 */
const text = `
  with x as materialized (${factsAsJson})
  select v.id, v.name, v.tags, v.created_at as "createdAt", v.decommissioning_at as "decommissioningAt",
    a.kind as "agentKind", a.name as "agentName", nullif(a.version, '') as "agentVersion", a.os,
    exists (select from extensions e join secrets s on s.vm_id = e.vm_id and s.id = e.secret_id
             where e.vm_id = v.id and s.vm_id = any($1) and s.cms is null and s.sealed is not null
               and g.certificate is not null) as "needsRelease",
    g.incarnation as "goalState", h.since, r.since as "restartPendingSince", p.last_seen_at as "lastSeenAt",
    p.next_expected_at as "nextExpectedAt", p.clock_skew_seconds as "clockSkewSeconds",
    p.heartbeat_seconds as "heartbeatSeconds", p.status_seconds as "statusSeconds", x.extensions,
    o.since as "heldAt", o.reason, o.by, o.until,
    case when c.vm_id is not null then json_build_object('name', c.subject, 'health', c.health, 'cause', c.cause,
      'command', c.command, 'exitCode', c.exit_code) end as concern,
    case when t.vm_id is not null then json_build_object('model', m.name, 'cloudService', t.cloud_service,
      'availabilitySet', t.availability_set, 'instanceId', v.instance_id) end as role
  from vms v left join agents a on a.vm_id = v.id left join goal_state_heads g on g.vm_id = v.id
  left join agent_presence p on p.vm_id = v.id left join vm_health h on h.vm_id = v.id
  left join pending_restarts r on r.vm_id = v.id left join holds o on o.vm_id = v.id
  left join vm_concerns c on c.vm_id = v.id
  left join x on x.vm_id = v.id left join vm_roles t on t.vm_id = v.id left join models m on m.id = t.model_id
  where v.id = any($1) and v.deleted_at is null`;

type Summary = Pick<FleetRow, 'health' | 'agent' | 'extensions'> & { reason: OpenReason | null };

/** Returns the current health, because the stored health may be seconds old. */
function summarize(machine: Machine, updates: ReadonlyMap<string, string> | undefined, now: Date): Summary {
  const { id, lastSeenAt, nextExpectedAt, heartbeatSeconds, statusSeconds } = machine;
  const presence = lastSeenAt && nextExpectedAt && { lastSeenAt, nextExpectedAt };
  const status = agentStatus(presence, now);
  const agent = { status, heartbeatSeconds, statusSeconds };
  const found = factsFromJson(id, machine.extensions ?? [])
    .map((facts) => {
      const { health, cause, waitsFor } = derive(facts, agent, now);
      const { command = null, exitCode = null } = isOfCommand(cause) ? (facts.handlerState ?? {}) : {};
      return { name: facts.name, handler: facts.handler, health, cause, waitsFor, command, exitCode };
    })
    .sort(bySeverity);
  const concerns = machine.concern === null ? [] : [{ ...machine.concern, handler: null, waitsFor: null }];
  const all = [...found, ...concerns];
  const health = evaluateVmHealth(
    status,
    all.map((one) => one.health),
  );
  return {
    health,
    agent: { status, lastSeenAt: lastSeenAt?.toISOString() ?? null },
    extensions: found.map(({ name, handler, health, cause, waitsFor }) => ({
      ...{ name, handler, health },
      waitsFor: cause === 'waiting' ? waitsFor : null,
      updateAvailable: updates?.get(name) ?? null,
    })),
    reason: reasonOf({ id, health, isSilent: status === 'unresponsive' }, all),
  };
}
