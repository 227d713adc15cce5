import type { RunRequest } from '#server/domain/executions/index.ts';
import type { Definition } from '#server/domain/rollout-rules/stored.ts';

/** Returns what a rollout runs on each member; null if it declares extensions. */
export function runTermsOf({ change }: Pick<Definition, 'change'>): RunRequest | null {
  const { run, version } = change;
  if (run === undefined || version === null) return null;
  const { runbook, parameters, timeoutSeconds, validForSeconds } = run;
  return { runbook, version, parameters, timeoutSeconds, validForSeconds };
}

/** Returns the secret values of a rollout as secret parameters. */
export const secretsOf = (given: unknown): Readonly<Record<string, unknown>> =>
  (given ?? {}) as Record<string, unknown>;
