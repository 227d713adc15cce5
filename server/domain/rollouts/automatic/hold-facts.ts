import { sql } from 'drizzle-orm';
import { parseVersion } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type ExtensionRow, type Preview, previewMany } from '#server/domain/goal-states/index.ts';
import type { RolloutState } from '#server/domain/rollout-rules/words.ts';
import type { MembershipView } from '../answers.ts';
import { listRolloutsOfVm } from '../list-of-vm.ts';
import type { RolloutReference } from './answers.ts';
import { upgradeTo } from './definition.ts';
import type { HoldFacts, NewerVersion, PlaceIn } from './held-by.ts';
import { ofPeopleSql } from './left-to-people.ts';
import { putBackSql } from './put-back.ts';

/** Loads what decides which newer versions an extension gets automatically. */
export async function loadHoldFacts(
  ctx: Context,
  row: ExtensionRow,
  newer: readonly NewerVersion[],
): Promise<HoldFacts> {
  const first = parseVersion(row.version)?.[0];
  const target =
    newer.find(({ version, state }) => state === 'published' && parseVersion(version)?.[0] === first)?.version ?? null;
  if (target === null) return { target, putBack: new Map(), preview: null, other: null, automatic: null };
  const [{ items }, others, putBack, preview, rollout] = await Promise.all([
    listRolloutsOfVm(ctx, { vmId: row.vmId }),
    othersOf(ctx, row),
    putBackFrom(ctx, row),
    previewOf(ctx, row, target),
    automaticOf(ctx, row.handler, target),
  ]);
  const own = items.find((item) => item.rollout.id === rollout?.id);
  const other = items.find((item) => others.has(item.rollout.id));
  return {
    ...{ target, putBack, preview },
    other: other === undefined ? null : placeIn(other),
    automatic: rollout && {
      rollout: { id: rollout.id, name: rollout.name, kind: 'automatic', state: rollout.state },
      ...{ state: own?.state ?? null, cause: own?.cause ?? null, isSuperseded: rollout.superseded },
    },
  };
}

/** Returns the ids of the open rollouts of people to which an automatic rollout leaves the VM. */
async function othersOf({ db }: Context, { vmId, handler }: ExtensionRow): Promise<ReadonlySet<string>> {
  const { rows } = await db.execute<{ rollout_id: string }>(
    sql`select rollout_id from ${ofPeopleSql(handler, [vmId])} o`,
  );
  return new Set(rows.map(({ rollout_id }) => rollout_id));
}

const placeIn = ({ rollout: { id, name, kind, state: of }, state, cause }: MembershipView): PlaceIn => ({
  rollout: { id, name, kind, state: of },
  state,
  cause,
});

/** Returns the rollouts after which the VM was reverted, by version. */
async function putBackFrom({ db }: Context, { vmId, handler }: ExtensionRow): Promise<HoldFacts['putBack']> {
  const { rows } = await db.execute<RolloutReference & Record<string, unknown> & { version: string }>(sql`
    select v.version, r.id, r.name, r.kind, r.state
      from handler_versions v
      cross join lateral ${putBackSql(sql`v.handler`, sql`v.version`)} b
      join rollouts r on r.id = b.rollout_id
     where v.handler = ${handler} and b.vm_id = ${vmId}`);
  return new Map(rows.map(({ version, id, name, kind, state }) => [version, { id, name, kind, state }]));
}

/** Returns what the automatic upgrade to a version would do to the VM now. */
async function previewOf(ctx: Context, { vmId, handler }: ExtensionRow, version: string): Promise<Preview | null> {
  const change = { kind: 'patch' as const, change: upgradeTo(handler, version), automatic: true };
  const previews = await ctx.db.transaction((tx) => previewMany(tx, ctx, [{ vmId, planned: null, change }]));
  return previews.get(vmId) ?? null;
}

interface AutomaticRow extends Record<string, unknown> {
  id: string;
  name: string;
  state: RolloutState;
  superseded: boolean;
}

async function automaticOf({ db }: Context, handler: string, version: string): Promise<AutomaticRow | null> {
  const { rows } = await db.execute<AutomaticRow>(sql`
    select r.id, r.name, r.state, r.superseded_by is not null as superseded from rollouts r
     where r.kind = 'automatic' and r.handler = ${handler} and r.definition #>> '{change,version}' = ${version}
     order by r.created_at desc limit 1`);
  return rows[0] ?? null;
}
