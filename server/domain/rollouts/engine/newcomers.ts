import { type SQL, sql } from 'drizzle-orm';
import { rolloutMembers } from '#db/schema/index.ts';
import { previewRuns, type RunPreview } from '#server/domain/executions/index.ts';
import { type FleetFilter, fleetSource } from '#server/domain/fleet/index.ts';
import { newPreviewMemory, type Preview, previewMany } from '#server/domain/goal-states/index.ts';
import { kindPosition } from '#server/domain/rollout-rules/kinds.ts';
import { orderKey } from '#server/domain/rollout-rules/order.ts';
import type { StoredFilter } from '#server/domain/rollout-rules/stored.ts';
import type { MemberKind } from '#server/domain/rollout-rules/words.ts';
import { isUpgradedBy } from '../automatic/upgradable.ts';
import { changesOf } from './change-of.ts';
import type { Pass } from './pass.ts';
import { isRun, orderOf } from './runs/order-of.ts';

/** Maximum number of VMs that join in one pass. */
const atOnce = 250;
/** Maximum number of VMs that are evaluated in one pass. */
const evaluatedAtOnce = 5_000;
const lookMs = 60_000;

/**
 * Appends VMs that match the selection only after the plan to the end of the last ring, if the rollout includes
 * newcomers. Looks about once a minute.
 */
export async function addNewcomers(pass: Pass): Promise<void> {
  const { tx, row, rings } = pass;
  const last = rings.at(-1);
  if (!includesNewcomers(pass) || last === undefined) return;
  const vmIds = await findNewcomers(pass);
  const joining = (await kindsOf(pass, vmIds))
    .map((one) => ({ ...one, key: orderKey(row.id, one.vmId) }))
    .slice(0, atOnce)
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const [lowest, highest] = [joining[0], joining.at(-1)];
  if (lowest === undefined || highest === undefined) return;
  await tx.insert(rolloutMembers).values({
    rolloutId: row.id,
    ring: last.row.ring,
    first: last.row.size,
    low: lowest.key,
    high: highest.key,
    vmIds: joining.map(({ vmId }) => vmId),
    kinds: Buffer.from(joining.map(({ kind }) => kindPosition(kind))),
  });
  last.row.size += joining.length;
  row.members += joining.length;
}

/** Returns what the rollout would do on these VMs. VMs on which it would do nothing are left out. */
async function kindsOf(pass: Pass, vmIds: readonly string[]): Promise<{ vmId: string; kind: MemberKind }[]> {
  const { tx, ctx } = pass;
  if (isRun(pass)) {
    const found = await orderOf(pass);
    const runs = 'code' in found ? new Map<string, RunPreview>() : await previewRuns(tx, found.order, vmIds);
    return [...runs].flatMap(([vmId, { outcome }]) => (outcome === 'run' ? [{ vmId, kind: 'run' }] : []));
  }
  const changes = await changesOf(pass, vmIds);
  const requests = vmIds.flatMap((vmId) => {
    const change = changes.get(vmId);
    return change ? [{ vmId, planned: null, change }] : [];
  });
  const previews = await previewMany(tx, ctx, requests, newPreviewMemory());
  return [...previews].flatMap(([vmId, preview]) => (mayJoin(preview) ? [{ vmId, kind: preview.kind }] : []));
}

const mayJoin = (preview: Preview): preview is Extract<Preview, { outcome: 'change' }> =>
  preview.outcome === 'change' && !preview.needsRelease;

function includesNewcomers({ ctx, row }: Pass): boolean {
  if (row.definition.newcomers !== 'include') return false;
  if (row.state !== 'running' && row.state !== 'keeping') return false;
  const minuteOf = (time: Date) => Math.floor(time.getTime() / lookMs);
  return row.servedAt === null || minuteOf(row.servedAt) !== minuteOf(ctx.now);
}

/**
 * Returns VMs that match the selection and are not members. The order differs each minute, so that VMs that cannot be
 * changed do not keep others from joining.
 */
async function findNewcomers({ tx, ctx, row }: Pass): Promise<string[]> {
  const { select } = row.definition;
  if ('ids' in select) return [];
  const include = 'include' in select ? select.include : {};
  const source = fleetSource(ctx.fleetFields, include as FleetFilter, ctx.now);
  const excluded = select.exclude && Object.keys(select.exclude).length > 0 ? select.exclude : null;
  const { rows } = await tx.execute<{ id: string }>(sql`
    with matching as (select ${source.id} as id from ${source.table} where ${source.where})
    select id from matching
     where ${excluded === null ? sql`true` : sql`not (id = any(array(${idsOf(ctx.fleetFields, excluded, ctx.now)})))`}
       and id not in (select unnest(m.vm_ids) from rollout_members m where m.rollout_id = ${row.id})
       and ${isUpgradedBy(row, sql`id`)}
     order by md5(id || ${ctx.now.toISOString().slice(0, 16)}::text) limit ${evaluatedAtOnce}`);
  return rows.map(({ id }) => id);
}

function idsOf(fields: Pass['ctx']['fleetFields'], filter: StoredFilter, now: Date): SQL {
  const source = fleetSource(fields, filter as FleetFilter, now);
  return sql`select ${source.id} from ${source.table} where ${source.where}`;
}
