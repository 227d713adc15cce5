import { and, desc, eq, inArray, notInArray, sql } from 'drizzle-orm';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { getHandler } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { endedStates, type RolloutState } from '#server/domain/rollout-rules/words.ts';
import { type AutomaticOfHandlerInput, automaticOfHandlerInput } from '../input.ts';
import { readRings } from '../rows.ts';
import { readRules } from '../rules.ts';
import { rowOf } from '../show-rollout.ts';
import type { AutomaticUpgrades } from './answers.ts';
import { strategyOfHandler } from './strategy-of.ts';

/** Maximum number of open rollouts in the answer. */
const most = 20;

/** Returns the automatic upgrades of a handler. Throws 404 `handler_unknown`. */
export async function automaticOfHandler(ctx: Context, input: AutomaticOfHandlerInput): Promise<AutomaticUpgrades> {
  allow(ctx.actor, 'viewer');
  const { handler } = await getHandler(ctx, parse(automaticOfHandlerInput, input));
  const { strategy: _, ...strategy } = await strategyOfHandler(ctx.db, handler);
  const [{ rows: vms }, targets, shown] = await Promise.all([
    ctx.db.execute<{ n: number }>(sql`
      select count(distinct vm_id)::int as n from extensions e
      where e.handler = ${handler} and e.auto_upgrade_minor_version and e.state <> 'uninstall'`),
    targetsOf(ctx, handler),
    rolloutsOf(ctx, handler),
  ]);
  return { handler, strategy, vms: vms[0]?.n ?? 0, targets, ...shown };
}

interface TargetRow extends Record<string, unknown> {
  version: string;
  vms: number;
  id: string | null;
  name: string;
  state: RolloutState;
}

/** Returns the highest published version of each first number, with the VMs that it is for. */
async function targetsOf({ db }: Context, handler: string): Promise<AutomaticUpgrades['targets']> {
  const { rows } = await db.execute<TargetRow>(sql`
    with targets as (
      select distinct on (split_part(v.version_key, '.', 1)) v.version, v.version_key
        from handler_versions v where v.handler = ${handler} and v.state = 'published'
       order by split_part(v.version_key, '.', 1), v.version_key desc)
    select t.version, r.id, r.name, r.state,
      (select count(distinct e.vm_id)::int
         from handler_versions g join extensions e on e.handler = g.handler and e.version = g.version
        where g.handler = ${handler} and g.version_key < t.version_key
          and split_part(g.version_key, '.', 1) = split_part(t.version_key, '.', 1)
          and e.auto_upgrade_minor_version and e.state <> 'uninstall') as vms
    from targets t
    left join lateral (
      select r.id, r.name, r.state from rollouts r
       where r.kind = 'automatic' and r.handler = ${handler} and r.definition #>> '{change,version}' = t.version
       order by r.created_at desc limit 1) r on true
    order by t.version_key desc`);
  return rows.map(({ version, vms, id, name, state }) => ({
    version,
    vms,
    rollout: id === null ? null : { id, name, kind: 'automatic', state },
  }));
}

/** Returns the open rollouts, and the one that ended last. */
async function rolloutsOf({ db }: Context, handler: string): Promise<Pick<AutomaticUpgrades, 'open' | 'last'>> {
  const own = and(eq(rollouts.kind, 'automatic'), eq(rollouts.handler, handler));
  const ended = [...endedStates];
  const [open, [last]] = await Promise.all([
    db
      .select()
      .from(rollouts)
      .where(and(own, notInArray(rollouts.state, ended)))
      .orderBy(desc(rollouts.createdAt))
      .limit(most),
    db
      .select()
      .from(rollouts)
      .where(and(own, inArray(rollouts.state, ended)))
      .orderBy(desc(rollouts.endedAt))
      .limit(1),
  ]);
  const all = last === undefined ? open : [...open, last];
  const [rings, { rules }] = await Promise.all([
    readRings(
      db,
      all.map(({ id }) => id),
    ),
    readRules(db),
  ]);
  const shown = (row: (typeof all)[number]) => rowOf(row, rings.get(row.id) ?? [], rules);
  return { open: open.map(shown), last: last === undefined ? null : shown(last) };
}
