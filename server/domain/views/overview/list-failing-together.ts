import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { FleetProblem } from '#server/domain/attention/index.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { rankOf } from '#server/domain/verdicts/index.ts';
import { type AttentionGroup, describeProblems } from '../attention/describe-problems.ts';
import { readSharedProblems } from '../attention/read-shared-problems.ts';
import { type ListFailingInput, listFailingInput } from '../input.ts';
import type { MapReader } from './readings.ts';

const maxGroups = 6;

/**
 * Returns at most six problems: first the problems of several VMs, by number of VMs, then the problems of a single VM,
 * worst first.
 */
export async function listFailingTogether(
  ctx: Context & MapReader,
  input: ListFailingInput = {},
): Promise<AttentionGroup[]> {
  allow(ctx.actor, 'viewer');
  const wanted = negotiate(parse(listFailingInput, input));
  const { items } = await readSharedProblems(ctx);
  return describeProblems(ctx, items.toSorted(largestFirst).slice(0, maxGroups), wanted);
}

const largestFirst = (a: FleetProblem, b: FleetProblem): number =>
  Number(b.vms > 1) - Number(a.vms > 1) ||
  (a.vms > 1 ? b.vms - a.vms : 0) ||
  rankOf(a.health) - rankOf(b.health) ||
  (a.since < b.since ? 1 : -1);
