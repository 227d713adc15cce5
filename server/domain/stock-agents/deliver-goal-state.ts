import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import type { AgentOs } from '#db/schema/enrollment.ts';
import { type AgentSighting, agents, goalStateHeads, handlerVersions, stockAgents } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { fetchGoalState, peekGoalState } from '#server/domain/goal-states/index.ts';
import { isHandlerVersion } from '#server/domain/packages/index.ts';
import { fingerprintOf, type HandlerFacts, type StockExtension, stockExtensions } from './stock-goal-state.ts';

/** The current goal state for a stock agent, and what is known about that agent. */
export interface StockGoalState {
  etag: string;
  /** The number that the agent compares. It changes only if there is something to process. */
  incarnation: number;
  /** When `incarnation` last changed. */
  movedAt: Date;
  containerId: string;
  /** If true, the agent must not process anything. */
  onHold: boolean;
  /** While on hold, the extensions that the agent already has, regardless of later declarations. */
  extensions: StockExtension[];
  /** Which machines were seen for the VM, and when. */
  sightings: readonly AgentSighting[];
  heard: StockAgentNews;
}

/** A stock agent's report about itself, without the state of its extensions. */
export interface StockAgentNews {
  version: string;
  os: AgentOs;
  /** The incarnation that the agent completed last; null if it has completed none. */
  settled: { incarnation: number; status: string; message: string | null } | null;
}

type Row = typeof stockAgents.$inferSelect;

const { heldIncarnation } = goalStateHeads;

/** Maximum number of attempts if the goal state changes concurrently. More conflicts indicate another problem. */
const maxTries = 5;

/** Fingerprint for an agent on hold, regardless of its goal state. */
const held = 'on hold';

/**
 * Marks the current goal state as delivered and returns it, under the incarnation that the agent knows or under a new
 * incarnation. If the agent is on hold, returns the goal state that the agent has, so that the agent repeats its last
 * report, even after a restart. Runs several statements, so the caller caches the result. Returns null for a VM without
 * a stock agent. Throws if the goal state changes during every attempt.
 */
export async function deliverStockGoalState(ctx: Context, vmId: string): Promise<StockGoalState | null> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const [known] = await ctx.db
      .select({ stock: stockAgents, version: agents.version, os: agents.os, heldIncarnation })
      .from(stockAgents)
      .innerJoin(agents, eq(agents.vmId, stockAgents.vmId))
      .innerJoin(goalStateHeads, eq(goalStateHeads.vmId, stockAgents.vmId))
      .where(eq(stockAgents.vmId, vmId));
    if (known === undefined) return null;
    const onHold = known.heldIncarnation !== null;
    const fetched = onHold ? await withheld(ctx, vmId) : await inForce(ctx, vmId);
    if (fetched === null) return null;
    const extensions = stockExtensions(fetched, await loadFacts(ctx, fetched), known.stock.publishedVersions);
    const fingerprint = onHold ? held : fingerprintOf(extensions);
    const row = await settleIncarnation(ctx, { ...known.stock, onHold }, fetched.incarnation, fingerprint);
    if (row === null) continue;
    const { settledIncarnation, settledStatus, settledMessage } = row;
    const settled = settledIncarnation !== null && {
      incarnation: settledIncarnation,
      status: settledStatus ?? '',
      message: settledMessage,
    };
    return {
      etag: fetched.etag,
      incarnation: row.incarnation,
      movedAt: row.incarnationAt ?? ctx.now,
      containerId: row.containerId,
      onHold,
      extensions,
      sightings: row.sightings,
      heard: { version: known.version, os: known.os, settled: settled || null },
    };
  }
  throw new Error('the goal state changed on every attempt to deliver it');
}

type Fetched = Pick<GoalState, 'incarnation' | 'extensions'> & { etag: string };

async function inForce(ctx: Context, vmId: string): Promise<Fetched | null> {
  const fetched = await fetchGoalState(ctx.db, vmId, ctx.now);
  return fetched && { ...(JSON.parse(fetched.text) as GoalState), etag: fetched.etag };
}

async function withheld(ctx: Context, vmId: string): Promise<Fetched | null> {
  const peeked = await peekGoalState(ctx.db, vmId);
  return peeked && { ...peeked, extensions: peeked.delivered?.extensions ?? [] };
}

/**
 * Records that the agent gets this goal state, under a new incarnation if the fingerprint differs. Returns null if
 * another call was first, or if the hold changed.
 */
async function settleIncarnation(
  ctx: Context,
  known: Row & { onHold: boolean },
  goalState: number,
  fingerprint: string,
): Promise<Row | null> {
  if (known.goalStateSeen === goalState) return known;
  return ctx.db.transaction(async (tx) => {
    const same = sql`${stockAgents.fingerprint} is not distinct from ${fingerprint}`;
    const [row] = await tx
      .update(stockAgents)
      .set({
        goalStateSeen: goalState,
        incarnation: sql`case when ${same} then ${stockAgents.incarnation} else ${goalState} end`,
        incarnationAt: sql`case when ${same} then ${stockAgents.incarnationAt} else ${ctx.now.toISOString()}::timestamptz end`,
        fingerprint,
      })
      .where(
        and(
          eq(stockAgents.vmId, known.vmId),
          lt(stockAgents.goalStateSeen, goalState),
          sql`${known.onHold} = (select held_incarnation is not null from goal_state_heads where vm_id = ${known.vmId})`,
        ),
      )
      .returning();
    if (row !== undefined && row.incarnation !== known.incarnation) await recordChange(tx, 'vm', known.vmId);
    return row ?? null;
  });
}

async function loadFacts(
  ctx: Context,
  { extensions }: Pick<GoalState, 'extensions'>,
): Promise<(handler: string, version: string) => HandlerFacts> {
  const { handler, version, manifest } = handlerVersions;
  const handlers = [...new Set(extensions.map((extension) => extension.handler))];
  const rows =
    handlers.length === 0
      ? []
      : await ctx.db.select({ handler, version, manifest }).from(handlerVersions).where(inArray(handler, handlers));
  return (ofHandler, ofVersion) => {
    const facts = rows.filter(isHandlerVersion).find((row) => row.handler === ofHandler && row.version === ofVersion)
      ?.manifest.handlerManifest;
    return {
      reportsHeartbeat: facts?.reportHeartbeat === true,
      supportsMultipleExtensions: facts?.supportsMultipleExtensions === true,
    };
  };
}
