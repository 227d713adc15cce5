import { allow } from '#server/domain/actor.ts';
import { filterOfProblem, readProblems } from '#server/domain/attention/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import type { FleetRow } from '../fleet-rows.ts';
import { type ListAttentionVmsInput, listAttentionVmsInput } from '../input.ts';
import { listFleet } from '../list-fleet.ts';

/** Lists one page of the VMs with a problem, by name. Throws 404 `problem_unknown`. */
export async function listAttentionVms(
  ctx: Context,
  input: ListAttentionVmsInput,
): Promise<{ items: FleetRow[]; nextCursor: string | null }> {
  allow(ctx.actor, 'viewer');
  const { key, limit, cursor } = parse(listAttentionVmsInput, input);
  const [problem] = (await readProblems(ctx.db, [key])).items;
  if (problem === undefined) throw new DomainError('not_found', 'problem_unknown');
  return listFleet(ctx, { ...filterOfProblem(problem), sort: 'name', limit, ...(cursor !== undefined && { cursor }) });
}
