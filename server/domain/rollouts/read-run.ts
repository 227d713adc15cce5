import type { Context } from '#server/domain/context.ts';
import { DomainError, type ErrorCode, type Fault } from '#server/domain/error.ts';
import { checkRun } from '#server/domain/executions/index.ts';
import type { ChangeInput } from '#server/domain/rollout-rules/change-input.ts';
import type { RolloutChange } from '#server/domain/rollout-rules/stored.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import type { StoredRollout } from './rows.ts';
import { secretsOf } from './run-terms.ts';
import { openGiven } from './secrets.ts';

/**
 * Returns a change of kind `run` with the version that runs and the time limits of that version. An edit that names the
 * same runbook keeps the version and the secret parameters that it leaves out. What an edit does not change is not
 * checked again. Throws 422 with every fault of the runbook and its parameters.
 */
export async function readRun(
  ctx: Context,
  given: ChangeInput,
  change: RolloutChange,
  before?: StoredRollout,
): Promise<RolloutChange> {
  const { run } = change;
  if (run === undefined) return change;
  const kept = before?.definition.change.run?.runbook === run.runbook ? before : undefined;
  const { version: known = null, run: earlier } = kept?.definition.change ?? {};
  const version = change.version ?? known;
  const isKept = given.secretParameters === undefined && earlier !== undefined;
  const secretParameters = isKept ? earlier.secretParameters : run.secretParameters;
  const terms = {
    timeoutSeconds: given.timeoutSeconds ?? earlier?.timeoutSeconds,
    validForSeconds: given.validForSeconds ?? earlier?.validForSeconds,
  };
  const isSame = isKept && version === known && canonicalJson(run.parameters) === canonicalJson(earlier.parameters);
  if (isSame && terms.timeoutSeconds !== undefined && terms.validForSeconds !== undefined) {
    const { timeoutSeconds, validForSeconds } = terms;
    return { ...change, version, run: { ...run, secretParameters, timeoutSeconds, validForSeconds } };
  }
  const stored = isKept && kept !== undefined ? secretsOf(openGiven(ctx, kept)) : {};
  const secrets = given.secretParameters ?? stored;
  const row = await inChange(checkRun(ctx, { runbook: run.runbook, version, parameters: run.parameters, secrets }));
  const timeoutSeconds = given.timeoutSeconds ?? row.timeoutSeconds;
  const validForSeconds = given.validForSeconds ?? row.validForSeconds;
  return { ...change, version: row.version, run: { ...run, secretParameters, timeoutSeconds, validForSeconds } };
}

/** Where each error about a runbook is in a change. */
const places: Partial<Record<ErrorCode, string>> = {
  runbook_unknown: '/change/runbook',
  runbook_version_unknown: '/change/version',
  runbook_withdrawn: '/change/version',
  runbook_not_published: '/change/version',
  plan_invalid: '/change/runbook',
};

/** Turns the errors of one execution into faults of a change. */
async function inChange<T>(checked: Promise<T>): Promise<T> {
  try {
    return await checked;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { code, params } = error;
    const place = places[code];
    const faults: Fault[] =
      place === undefined
        ? error.faults.map((fault) => ({ ...fault, path: `/change${fault.path}` }))
        : [{ path: place, code, params }];
    if (faults.length === 0) throw error;
    throw new DomainError('unprocessable', place === undefined ? code : 'invalid', { params, faults });
  }
}
