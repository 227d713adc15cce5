import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { conductorState, executionChannels } from '#db/schema/index.ts';
import { allow, hasRole } from '#server/domain/actor.ts';
import { count, instant } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';

/** Reasons why the conductor cannot work, as message ids. */
export const conductorFaults = [
  'conductor.unreachable',
  'conductor.authority-file',
  'conductor.certificate-authority',
  'conductor.certificate-expired',
  'conductor.certificate-name',
  'conductor.tls',
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
  seenAt: instant.describe('When the conductor last stored its state.'),
  connectedAt: instant.nullable(),
  fault: z.enum(conductorFaults).nullable(),
  faultDetail: z.string().nullable().describe('The error message of the broker or the network; null for non-admins.'),
  faultSince: instant.nullable(),
  unreadable: count.describe('Messages in the result queue that could not be read.'),
  unmatched: count.describe('Messages in the result queue that belong to no execution.'),
  rejectedAt: instant.nullable().describe('When the last unreadable or unmatched message arrived.'),
  boundVms: count.describe('VMs that get their execution plans over AMQP.'),
});
export type ConductorReport = z.infer<typeof conductorReport>;

/**
 * Returns the state of the connection to the AMQP broker, for viewers; null if no conductor has ever run. Only admins
 * see the error message, because it can contain names and addresses in the portal's network.
 */
export async function getConductor(ctx: Context): Promise<ConductorReport | null> {
  allow(ctx.actor, 'viewer');
  const [row] = await ctx.db.select().from(conductorState);
  if (row === undefined) return null;
  const isRunning = ctx.now.getTime() - row.seenAt.getTime() < silentMs;
  const { seenAt, connectedAt, faultDetail, faultSince, unreadable, unmatched, rejectedAt } = row;
  const fault = conductorFaults.find((known) => known === row.fault) ?? null;
  const boundVms = await ctx.db.$count(executionChannels);
  const shownDetail = hasRole(ctx.actor, 'admin') ? faultDetail : null;
  const counts = { unreadable, unmatched, rejectedAt, boundVms };
  return { isRunning, seenAt, connectedAt, fault, faultDetail: shownDetail, faultSince, ...counts };
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
