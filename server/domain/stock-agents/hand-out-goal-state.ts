import { and, eq, inArray, lt, sql } from 'drizzle-orm';
import type { AgentOs } from '#db/schema/enrollment.ts';
import { agents, handlerVersions, stockAgents } from '#db/schema/index.ts';
import type { GoalState } from '#protocol/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { fetchGoalState } from '#server/domain/goal-states/index.ts';
import { fingerprintOf, type HandlerFacts, type StockExtension, stockExtensions } from './stock-goal-state.ts';

/** The goal state in force as a stock agent gets it, and what was last heard of that agent. */
export interface StockGoalState {
  /** Of the goal state in force. */
  etag: string;
  /** What the agent compares: it moves only when there is something to act upon. */
  incarnation: number;
  /** When it moved; it keeps growing. */
  movedAt: Date;
  containerId: string;
  extensions: StockExtension[];
  heard: StockAgentNews;
}

/** What a stock agent says of itself beside the state of its extensions. */
export interface StockAgentNews {
  version: string;
  os: AgentOs;
  /** The incarnation that it is done with; null before the first. */
  settled: { incarnation: number; status: string; message: string | null } | null;
}

type Row = typeof stockAgents.$inferSelect;

/** How often others may be faster; more often something else is wrong, and nobody should wait for it. */
const mostTries = 5;

/**
 * The goal state in force, noted as delivered, in the incarnation that the agent knows it by or a new one. Some
 * statements, asked once for each goal state. Null for a VM that has no stock agent.
 */
export async function handOutGoalState(ctx: Context, vmId: string): Promise<StockGoalState | null> {
  for (let tries = 0; tries < mostTries; tries += 1) {
    const fetched = await fetchGoalState(ctx.db, vmId, ctx.now);
    const [known] = await ctx.db
      .select({ stock: stockAgents, version: agents.version, os: agents.os })
      .from(stockAgents)
      .innerJoin(agents, eq(agents.vmId, stockAgents.vmId))
      .where(eq(stockAgents.vmId, vmId));
    if (fetched === null || known === undefined) return null;
    const goalState = JSON.parse(fetched.text) as GoalState;
    // Another process has handed out a newer one meanwhile.
    if (known.stock.goalStateSeen > goalState.incarnation) continue;
    const extensions = stockExtensions(goalState, await loadFacts(ctx, goalState));
    const row = await settleIncarnation(ctx, known.stock, goalState.incarnation, fingerprintOf(extensions));
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
      extensions,
      heard: { version: known.version, os: known.os, settled: settled || null },
    };
  }
  throw new Error('a goal state never settled');
}

/** Writes down which goal state the agent has seen, under an incarnation of its own. Null where others were faster. */
async function settleIncarnation(
  ctx: Context,
  known: Row,
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
      .where(and(eq(stockAgents.vmId, known.vmId), lt(stockAgents.goalStateSeen, goalState)))
      .returning();
    if (row !== undefined && row.incarnation !== known.incarnation) await recordChange(tx, 'vm', known.vmId);
    return row ?? null;
  });
}

async function loadFacts(
  ctx: Context,
  { extensions }: GoalState,
): Promise<(handler: string, version: string) => HandlerFacts> {
  const { handler, version, manifest } = handlerVersions;
  const handlers = [...new Set(extensions.map((extension) => extension.handler))];
  const rows =
    handlers.length === 0
      ? []
      : await ctx.db.select({ handler, version, manifest }).from(handlerVersions).where(inArray(handler, handlers));
  return (ofHandler, ofVersion) => {
    const said = rows.find((row) => row.handler === ofHandler && row.version === ofVersion)?.manifest.handlerManifest;
    return {
      reportsHeartbeat: said?.reportHeartbeat === true,
      supportsMultipleExtensions: said?.supportsMultipleExtensions === true,
    };
  };
}
