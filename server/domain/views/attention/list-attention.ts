import { z } from 'zod';
import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import {
  countProblems,
  currentMark,
  type FleetProblem,
  readMarks,
  readProblems,
} from '#server/domain/attention/index.ts';
import type { Context } from '#server/domain/context.ts';
import { readFleetCounts } from '#server/domain/health/index.ts';
import { parse } from '#server/domain/parse.ts';
import { needsAttention } from '#server/domain/verdicts/index.ts';
import { type ListAttentionInput, listAttentionInput } from '../input.ts';
import { type MapReader, shareReading } from '../overview/readings.ts';
import { attentionGroup, describeProblems } from './describe-problems.ts';
import { readSharedProblems } from './read-shared-problems.ts';

/** The problems of the fleet. */
export const attention = z.object({
  vms: count.describe('Number of VMs that are failed, unresponsive or degraded.'),
  open: count.describe(
    'Number of problems that are not snoozed; more than the number of `items` if the list is cut off.',
  ),
  items: z.array(attentionGroup).describe('Problems that are not snoozed: worst first, then by the number of VMs.'),
  snoozed: z.array(attentionGroup),
});
export type Attention = z.infer<typeof attention>;

/** Lists what needs attention, grouped by cause. */
export async function listAttention(ctx: Context & MapReader, input: ListAttentionInput = {}): Promise<Attention> {
  allow(ctx.actor, 'viewer');
  const { limit, ...reader } = parse(listAttentionInput, input);
  const [counts, { open, openTotal, snoozed }] = await Promise.all([readFleetCounts(ctx.db), readOpen(ctx)]);
  const shown = [...open.slice(0, limit), ...snoozed.slice(0, limit)];
  const described = await describeProblems(ctx, shown, negotiate(reader));
  return {
    vms: needsAttention.reduce((sum, health) => sum + (counts[health] ?? 0), 0),
    open: openTotal,
    items: described.slice(0, Math.min(open.length, limit)),
    snoozed: described.slice(Math.min(open.length, limit)),
  };
}

/** Counts the problems that are not snoozed. */
export async function countAttention(ctx: Context & MapReader): Promise<{ open: number }> {
  allow(ctx.actor, 'viewer');
  const [total, marks] = await Promise.all([
    shareReading(ctx, 'problem-count', () => countProblems(ctx.db)),
    readMarks(ctx.db),
  ]);
  const asleep = new Map(marks.filter(({ snooze }) => snooze !== null).map((mark) => [mark.key, mark]));
  if (asleep.size === 0) return { open: total };
  const { items } = await readProblems(ctx.db, [...asleep.keys()]);
  return {
    open: total - items.filter((problem) => currentMark(asleep.get(problem.key), problem, ctx.now).snooze).length,
  };
}

async function readOpen(
  ctx: Context & MapReader,
): Promise<{ open: FleetProblem[]; openTotal: number; snoozed: FleetProblem[] }> {
  const [{ items, total }, marks] = await Promise.all([readSharedProblems(ctx), readMarks(ctx.db)]);
  const markOf = new Map(marks.map((mark) => [mark.key, mark]));
  const isAsleep = (problem: FleetProblem) => currentMark(markOf.get(problem.key), problem, ctx.now).snooze !== null;
  const snoozed = items.filter(isAsleep);
  return { open: items.filter((problem) => !isAsleep(problem)), openTotal: total - snoozed.length, snoozed };
}
