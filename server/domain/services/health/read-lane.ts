import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  type AgentStatus,
  agentStatus,
  type PauseFacts,
  type Pauses,
  pausesOf,
  runningStates,
} from '#server/domain/verdicts/index.ts';

/** What a VM does besides its units' due hooks, as far as their health depends on it. */
export interface VmLane {
  agent: AgentStatus;
  pauses: Pauses;
  /** The hooks that run, by unit. */
  running: ReadonlyMap<string, { hook: string; begunAt: Date; timeoutSeconds: number }>;
  /** Whether a command of an extension runs. */
  runsCommand: boolean;
  /**
   * When the units or their relations last changed, or a hook or a command of an extension last ended: a hook cannot be
   * due for longer.
   */
  quietSince: Date | null;
}

interface Row extends Record<string, unknown> {
  vmId: string;
  lastSeenAt: string | null;
  nextExpectedAt: string | null;
  heldAt: string | null;
  pastHolds: PauseFacts['pastHolds'];
  laneTakenAt: string | null;
  laneTimes: PauseFacts['laneTimes'];
  running: { unit: string; hook: string; begunAt: string; timeoutSeconds: number }[] | null;
  runsCommand: boolean;
  quietSince: string | null;
}

/** Reads the lanes of VMs with one statement. */
export async function readLanes(tx: Transaction, vmIds: readonly string[], now: Date): Promise<Map<string, VmLane>> {
  const { rows } = await tx.execute<Row>(sql`
    select v.id as "vmId", to_json(p.last_seen_at) as "lastSeenAt", to_json(p.next_expected_at) as "nextExpectedAt",
      to_json(o.since) as "heldAt", o.past as "pastHolds", to_json(l.taken_at) as "laneTakenAt", l.past as "laneTimes",
      (select json_agg(json_build_object('unit', r.unit_id, 'hook', r.hook, 'begunAt', r.begun_at,
              'timeoutSeconds', r.timeout_seconds))
         from hook_runs r where r.vm_id = v.id and r.outcome = 'running') as running,
      exists (select from extension_latest l where l.vm_id = v.id
                and l.handler_state ->> 'state' = any(${sql.param(runningStates)}::text[])) as "runsCommand",
      to_json(greatest(u.moved_at, (select max(l.handler_at) from extension_latest l where l.vm_id = v.id), (select max(n.agent_since) from units n where n.vm_id = v.id),
        (select max(t.moved_at) from units n join relation_units m on m.unit_id = n.id
           join relations t on t.id = m.relation_id where n.vm_id = v.id and n.removed_at is null),
        (select max(r.ended_at) from units n join hook_runs r on r.vm_id = n.vm_id and r.unit_id = n.id
           and r.number = n.run_counter where n.vm_id = v.id and n.removed_at is null))) as "quietSince"
      from vms v
      left join agent_presence p on p.vm_id = v.id
      left join holds o on o.vm_id = v.id
      left join lane_times l on l.vm_id = v.id
      left join unit_heads u on u.vm_id = v.id
     where v.id = any(${sql.param(vmIds)}::uuid[])`);
  return new Map(rows.map((row) => [row.vmId, laneOf(row, now)]));
}

const date = (text: string | null): Date | null => (text === null ? null : new Date(text));

function laneOf(row: Row, now: Date): VmLane {
  const { pastHolds, laneTimes } = row;
  const [lastSeenAt, nextExpectedAt] = [date(row.lastSeenAt), date(row.nextExpectedAt)];
  const presence = lastSeenAt === null || nextExpectedAt === null ? null : { lastSeenAt, nextExpectedAt };
  const pauses = { heldAt: date(row.heldAt), pastHolds, laneTakenAt: date(row.laneTakenAt), laneTimes };
  const running = (row.running ?? []).map(({ unit, begunAt, ...rest }) => {
    return [unit, { ...rest, begunAt: new Date(begunAt) }] as const;
  });
  return {
    agent: agentStatus(presence, now),
    pauses: pausesOf(pauses),
    running: new Map(running),
    runsCommand: row.runsCommand,
    quietSince: date(row.quietSince),
  };
}
