import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { conductorState } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count, instant } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';

/** Why the conductor cannot work, as ids of messages. */
export const conductorFaults = [
  'conductor.unreachable',
  'conductor.certificate',
  'conductor.login',
  'conductor.results',
  'conductor.other',
] as const;
export type ConductorFault = (typeof conductorFaults)[number];

/** A conductor that has not written for this long has stopped. It writes every few seconds. */
const silentMs = 60_000;

/** The state of the connection to the AMQP broker. */
export const conductorReport = z.object({
  isRunning: z.boolean().describe('Whether a conductor is running. It runs if ANNEX_AMQP_URL is set.'),
  connectedAt: instant.nullable(),
  fault: z.enum(conductorFaults).nullable(),
  faultDetail: z.string().nullable().describe('The error message of the broker or the network.'),
  faultSince: instant.nullable(),
  unreadable: count.describe('Messages in the result queue that could not be read.'),
  unmatched: count.describe('Messages in the result queue that belong to no execution.'),
  rejectedAt: instant.nullable().describe('When the last unreadable or unmatched message arrived.'),
});
export type ConductorReport = z.infer<typeof conductorReport>;

/** Returns the state of the connection to the AMQP broker, for viewers; null if no conductor has ever run. */
export async function getConductor(ctx: Context): Promise<ConductorReport | null> {
  allow(ctx.actor, 'viewer');
  const [row] = await ctx.db.select().from(conductorState);
  if (row === undefined) return null;
  const isRunning = ctx.now.getTime() - row.seenAt.getTime() < silentMs;
  const { connectedAt, faultDetail, faultSince, unreadable, unmatched, rejectedAt } = row;
  const fault = conductorFaults.find((known) => known === row.fault) ?? null;
  return { isRunning, connectedAt, fault, faultDetail, faultSince, unreadable, unmatched, rejectedAt };
}

/** What the conductor reports about itself. `unreadable` and `unmatched` are added to the stored numbers. */
export interface ConductorNote {
  connectedAt: Date | null;
  fault: { id: ConductorFault; detail: string; since: Date } | null;
  unreadable: number;
  unmatched: number;
}

/** Stores the state of the conductor. */
export async function noteConductor(ctx: Pick<Context, 'db' | 'now'>, note: ConductorNote): Promise<void> {
  const { connectedAt, fault, unreadable, unmatched } = note;
  const rejectedAt = unreadable + unmatched > 0 ? { rejectedAt: ctx.now } : {};
  const state = {
    ...{ seenAt: ctx.now, connectedAt },
    ...{ fault: fault?.id ?? null, faultDetail: fault?.detail ?? null, faultSince: fault?.since ?? null },
    ...rejectedAt,
  };
  await ctx.db
    .insert(conductorState)
    .values({ id: 1, ...state, unreadable, unmatched })
    .onConflictDoUpdate({
      target: conductorState.id,
      set: {
        ...state,
        unreadable: sql`${conductorState.unreadable} + ${unreadable}`,
        unmatched: sql`${conductorState.unmatched} + ${unmatched}`,
      },
    });
}
