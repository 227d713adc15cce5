import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { UnitState } from '#protocol/unit-state.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { relationsOf } from '../relations/index.ts';
import { goalOf } from './goal-of.ts';
import { readUnitsStamp } from './read-stamp.ts';
import { readUnitsOfVm, type UnitFacts } from './read-units.ts';

/** What an agent sends with its look at its units. */
export interface UnitLook {
  vmId: string;
  /** The epoch of what the agent holds; null if it holds nothing. */
  epoch: string | null;
  /** The clock up to which the agent holds each relation, such as `3:17,4:20`. */
  after: string;
  /** The machine's current boot; null if the agent does not send it. */
  boot: string | null;
}

/**
 * Returns what should be on a VM, with the stamp of this state, and notes that its agent has fetched these units.
 * Throws 400 `units_after_form`, 409 `units_on_hold`.
 */
export async function getUnitState(ctx: Context, look: UnitLook): Promise<{ state: UnitState; stamp: string }> {
  const { vmId, epoch, boot } = look;
  const clocks = parseAfter(look.after);
  const after = epoch === ctx.epoch ? clocks : new Map<number, number>();
  const { version, isOnHold } = await readUnitsStamp(ctx.db, vmId);
  // During a hold, an agent continues with what it has.
  if (isOnHold) throw new DomainError('conflict', 'units_on_hold');
  const rows = await readNoted(ctx, vmId, boot);
  const ids = rows.map(({ id }) => id);
  const relations = await relationsOf(ctx.db, ids, after);
  const goals = rows.map((row) => goalOf(row, relations.get(row.id) ?? []));
  return { stamp: `"${ctx.epoch}.${version}"`, state: { protocol: 1, vmId, epoch: ctx.epoch, units: goals } };
}

/** Reads the clock of each relation in `3:17,4:20`. If a relation occurs several times, the last one counts. */
export function parseAfter(text: string): Map<number, number> {
  const clocks = new Map<number, number>();
  if (text === '') return clocks;
  for (const pair of text.split(',')) {
    const [, relation, clock] = /^([1-9]\d{0,14}):(\d{1,15})$/.exec(pair) ?? [];
    if (relation === undefined) throw new DomainError('bad_request', 'units_after_form');
    clocks.set(Number(relation), Number(clock));
  }
  return clocks;
}

/** Reads the VM's units. Units that its agent has not fetched before, or not since the machine's boot, are first noted. */
async function readNoted(ctx: Context, vmId: string, boot: string | null): Promise<UnitFacts[]> {
  const rows = await readUnitsOfVm(ctx, vmId);
  const isNoted = ({ agentSince, record }: UnitFacts) => agentSince !== null && (boot === null || record.boot === boot);
  if (rows.every(isNoted)) return rows;
  await ctx.db.transaction((tx) => noteLook(tx, ctx, vmId, boot));
  return readUnitsOfVm(ctx, vmId);
}

/** Notes the first fetch of each unit, and a new boot of the machine. From then on, removals wait for the agent. */
async function noteLook(tx: Transaction, ctx: Context, vmId: string, boot: string | null): Promise<void> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    update units n set agent_since = coalesce(n.agent_since, ${ctx.now.toISOString()}),
      machine_enrolled_at = coalesce(n.machine_enrolled_at, a.enrolled_at),
      record = case when ${boot}::text is null then n.record else n.record || jsonb_build_object('boot', ${boot}::text) end
      from agents a
     where a.vm_id = n.vm_id and n.vm_id = ${vmId} and n.removed_at is null
       and (n.agent_since is null or n.record ->> 'boot' is distinct from coalesce(${boot}::text, n.record ->> 'boot'))
    returning n.id`);
  if (rows.length > 0) await recordChange(tx, 'vm', vmId);
}
