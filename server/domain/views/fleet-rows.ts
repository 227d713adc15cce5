import { z } from 'zod';
import { allow } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
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
  vmHealths,
} from '#server/domain/verdicts/index.ts';
import { vm, vmOf } from '#server/domain/vms/index.ts';
import { type ReadFleetRowsInput, readFleetRowsInput } from './input.ts';
import { agentKind, system } from './machine.ts';

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
    }),
  ),
  agentKind: agentKind.nullable(),
  agentVersion: z.string().nullable(),
  os: system.nullable(),
  /** Whether protected settings of any extension are withheld from the machine's key until an admin releases them. */
  needsRelease: z.boolean(),
  /** Incarnation of the goal state; null before the first. */
  goalState: z.number().int().nullable(),
  /** The agent's clock minus the portal's, in seconds. */
  clockSkewSeconds: z.number().int().nullable(),
  /** When a restart of the machine became pending; null if none is. */
  restartPendingSince: time.nullable(),
  /** Null if the VM is not on hold. */
  hold: hold.nullable(),
  /** When the VM got the health that lists sort by; null until it is evaluated. */
  since: time.nullable(),
});
export type FleetRow = z.infer<typeof fleetRow>;

/** Loads these VMs, in the given order, with one statement. Deleted VMs are left out. */
export async function fleetRows(ctx: Context, vmIds: readonly string[]): Promise<FleetRow[]> {
  if (vmIds.length === 0) return [];
  const { rows } = await ctx.db.$client.query<Machine>({ name: 'fleet-rows', text, values: [vmIds] });
  const machines = new Map(rows.map((row) => [row.id, row]));
  return vmIds.flatMap((id) => {
    const machine = machines.get(id);
    if (machine === undefined) return [];
    const { agentKind, agentVersion, os, needsRelease, goalState, clockSkewSeconds, since } = machine;
    return [
      {
        ...vmOf(machine),
        ...summarize(machine, ctx.now),
        ...{ agentKind, agentVersion, os, needsRelease, goalState, clockSkewSeconds },
        restartPendingSince: machine.restartPendingSince?.toISOString() ?? null,
        hold: holdOf({ ...machine, since: machine.heldAt }),
        since: since?.toISOString() ?? null,
      },
    ];
  });
}

/**
 * Reads rows again that a list already shows. A response that would be too large ends early; `leftOut` counts the rows
 * after its end.
 */
export async function readFleetRows(
  ctx: Context,
  input: ReadFleetRowsInput,
): Promise<{ items: FleetRow[]; leftOut: number }> {
  allow(ctx.actor, 'viewer');
  const { kept: items, leftOut } = fitList(await fleetRows(ctx, parse(readFleetRowsInput, input).vmIds));
  return { items, leftOut };
}

type Machine = Parameters<typeof vmOf>[0] &
  Pick<FleetRow, 'agentKind' | 'agentVersion' | 'os' | 'needsRelease' | 'goalState' | 'clockSkewSeconds'> & {
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
  };

/**
 * The statement is named, so it is parsed once per connection and its plan can be reused. Planning takes longer than
 * reading the rows.
 */
const text = `
  with x as materialized (${factsAsJson})
  select v.id, v.name, v.tags, v.created_at as "createdAt", v.decommissioning_at as "decommissioningAt",
    a.kind as "agentKind", nullif(a.version, '') as "agentVersion", a.os,
    exists (select from extensions e join secrets s on s.vm_id = e.vm_id and s.id = e.secret_id
             where e.vm_id = v.id and s.vm_id = any($1) and s.cms is null and s.sealed is not null
               and g.certificate is not null) as "needsRelease",
    g.incarnation as "goalState", h.since, r.since as "restartPendingSince", p.last_seen_at as "lastSeenAt",
    p.next_expected_at as "nextExpectedAt", p.clock_skew_seconds as "clockSkewSeconds",
    p.heartbeat_seconds as "heartbeatSeconds", p.status_seconds as "statusSeconds", x.extensions,
    o.since as "heldAt", o.reason, o.by, o.until
  from vms v left join agents a on a.vm_id = v.id left join goal_state_heads g on g.vm_id = v.id
  left join agent_presence p on p.vm_id = v.id left join vm_health h on h.vm_id = v.id
  left join pending_restarts r on r.vm_id = v.id left join holds o on o.vm_id = v.id
  left join x on x.vm_id = v.id
  where v.id = any($1) and v.deleted_at is null`;

/** Returns the current health, because the stored health may be seconds old. */
function summarize(machine: Machine, now: Date): Pick<FleetRow, 'health' | 'agent' | 'extensions'> {
  const { id, lastSeenAt, nextExpectedAt, heartbeatSeconds, statusSeconds } = machine;
  const presence = lastSeenAt && nextExpectedAt && { lastSeenAt, nextExpectedAt };
  const status = agentStatus(presence, now);
  const agent = { status, heartbeatSeconds, statusSeconds };
  const extensions = factsFromJson(id, machine.extensions ?? []).map((facts) => {
    const { health, cause, waitsFor } = derive(facts, agent, now);
    return { name: facts.name, handler: facts.handler, health, waitsFor: cause === 'waiting' ? waitsFor : null };
  });
  return {
    health: evaluateVmHealth(
      status,
      extensions.map(({ health }) => health),
    ),
    agent: { status, lastSeenAt: lastSeenAt?.toISOString() ?? null },
    extensions: extensions.sort(bySeverity),
  };
}
