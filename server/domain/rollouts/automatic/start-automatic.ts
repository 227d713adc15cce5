import { and, eq, inArray, notInArray, sql } from 'drizzle-orm';
import { v4 as randomId, v7 as uuid } from 'uuid';
import type { Transaction } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { parseVersion } from '#protocol/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { actorRef } from '#server/domain/principal.ts';
import { endedStates, openStates } from '#server/domain/rollout-rules/words.ts';
import { recordAct } from '../act-on.ts';
import type { PassServices } from '../engine/pass.ts';
import { followName } from '../follow-name.ts';
import type { StoredRollout } from '../rows.ts';
import { automaticDefinition } from './definition.ts';
import { type Upgrade, upgradesSql } from './find-upgrades.ts';
import { strategyOfHandler } from './strategy-of.ts';
import { supersede } from './supersede.ts';

/**
 * Creates the automatic rollout of a version and requests its plan; the rollout starts as soon as it is planned, unless
 * the portal's rules require an approval. It supersedes the handler's automatic rollouts with the same first number.
 * Returns null if the rollout is no longer needed, or if too many rollouts are open.
 */
export async function startAutomatic(
  services: PassServices,
  upgrade: Upgrade,
  now: Date,
): Promise<StoredRollout | null> {
  const ctx: Context = { ...services, actor: systemActor, origin: systemOrigin, now, requestId: randomId() };
  return services.db.transaction(async (tx) => {
    // Several workers notice the same version.
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('automatic ' || ${upgrade.handler}, 0))`);
    if (!(await isNeeded(tx, upgrade))) return null;
    const earlier = await lockEarlier(tx, upgrade);
    if (earlier.length === 0 && !(await hasRoom(tx, ctx))) return null;
    const row = await insertAutomatic(tx, ctx, upgrade);
    for (const one of earlier) await supersede(tx, ctx, one, row);
    return row;
  });
}

async function isNeeded(tx: Transaction, { handler, version }: Upgrade): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from (${upgradesSql}) u where u.handler = ${handler} and u.version = ${version}`);
  return rows.length > 0;
}

/** Locks the automatic rollouts of other versions with the same first number that have not ended. */
async function lockEarlier(tx: Transaction, { handler, version }: Upgrade): Promise<StoredRollout[]> {
  const rows = await tx
    .select()
    .from(rollouts)
    .where(
      and(eq(rollouts.kind, 'automatic'), eq(rollouts.handler, handler), notInArray(rollouts.state, [...endedStates])),
    )
    .orderBy(rollouts.id)
    .for('update');
  const first = parseVersion(version)?.[0];
  return rows.filter(({ supersededBy, definition: { change } }) => {
    return supersededBy === null && parseVersion(change.version ?? '')?.[0] === first;
  });
}

async function hasRoom(tx: Transaction, { config, log }: Context): Promise<boolean> {
  const open = await tx.$count(rollouts, inArray(rollouts.state, [...openStates]));
  if (open < config.limits.rollouts.open) return true;
  log.warn({ open }, 'an automatic upgrade waits, because too many rollouts are open');
  return false;
}

async function insertAutomatic(tx: Transaction, ctx: Context, { handler, version }: Upgrade): Promise<StoredRollout> {
  const [row] = await tx
    .insert(rollouts)
    .values({
      ...{ id: uuid(), revision: 1, name: followName(`${handler} ${version}`, 'automatic'), kind: 'automatic' },
      definition: automaticDefinition(handler, version, await strategyOfHandler(tx, handler)),
      ...{ handler, state: 'planning', planning: 1, plannedBy: ctx.actor.name, epoch: ctx.epoch, dueAt: ctx.now },
      ...{ createdAt: ctx.now, createdBy: ctx.actor.name, startedBy: ctx.actor.name },
      authors: { created: actorRef(ctx.actor), edited: null, planned: null },
    })
    .returning();
  if (row === undefined) throw new Error('the automatic rollout was not stored');
  await recordAct(tx, ctx, row, 'rollout.create', { of: null });
  await recordChange(tx, 'rollout', row.id);
  return row;
}
