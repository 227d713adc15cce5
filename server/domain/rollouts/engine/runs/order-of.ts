import { DomainError, type ErrorCode } from '#server/domain/error.ts';
import { type RunOrder, readRunOrder } from '#server/domain/executions/index.ts';
import { runTermsOf, secretsOf } from '../../run-terms.ts';
import { openGiven } from '../../secrets.ts';
import type { Pass } from '../pass.ts';

/** What the rollout runs now, or why it can no longer be run. */
export type OrderOf = { order: RunOrder } | { code: ErrorCode };

/** Returns what the rollout runs. Every member gets the files as they were when the rollout was planned. */
export async function orderOf({ tx, ctx, row }: Pass): Promise<OrderOf> {
  const terms = runTermsOf(row.definition);
  if (terms === null) throw new Error(`rollout ${row.id} runs nothing`);
  try {
    return { order: await readRunOrder(tx, terms, secretsOf(openGiven(ctx, row)), row.plan?.files) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { code: error.code };
  }
}

/** Whether a rollout runs a runbook instead of declaring extensions. */
export const isRun = ({ row }: Pick<Pass, 'row'>): boolean => row.definition.change.kind === 'run';
