import { z } from 'zod';
import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { count } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { getRollout, groupSteps, type StepGroup } from '#server/domain/rollouts/index.ts';
import type { HealthCause } from '#server/domain/verdicts/index.ts';
import { readMessages } from './attention/describe-problems.ts';
import { type ListRolloutCausesInput, listRolloutCausesInput } from './input.ts';

/** Members of a rollout that failed, or are parked, for the same reason. */
export const rolloutCause = z.object({
  key: z.string().describe('Key of the group. `GET /rollouts/{id}/steps?group=…` lists exactly these members.'),
  cause: z.string().nullable(),
  handler: z.string().nullable(),
  extension: z.string().nullable().describe('Null if the extensions have different names.'),
  command: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  message: z
    .object({ text: z.string(), lang: z.string() })
    .nullable()
    .describe('The message of the handler that all VMs report. If there are several VMs, `…` replaces its params.'),
  vms: count,
  examples: z.array(z.object({ vmId: z.uuid(), name: z.string() })).describe('The first VMs in order, at most three.'),
});
export type RolloutCause = z.infer<typeof rolloutCause>;

/**
 * Lists what the failed or parked members of a rollout have in common, the largest group first, with the handler's
 * messages in the reader's language. Throws 404 `rollout_unknown`.
 */
export async function listRolloutCauses(
  ctx: Context,
  input: ListRolloutCausesInput,
): Promise<{ items: RolloutCause[] }> {
  allow(ctx.actor, 'viewer');
  const { id, of, ...reader } = parse(listRolloutCausesInput, input);
  await getRollout(ctx, { id });
  const groups = await groupSteps(ctx, id, of);
  const messages = await readMessages(ctx, groups.map(problemOf), negotiate(reader));
  return {
    items: groups.map(({ messageId: _, version: __, ...group }) => ({
      ...group,
      message: messages.get(group.key) ?? null,
    })),
  };
}

const problemOf = ({ key, vms, handler, cause, messageId, version, extension, examples }: StepGroup) => ({
  ...{ key, vms, messageId },
  extension: handler === null ? null : { handler, cause: cause as HealthCause },
  sample: { vmIds: examples.map(({ vmId }) => vmId), extension: extension ?? '', version: version ?? '' },
});
