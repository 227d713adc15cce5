import type { Database, Transaction } from '#db/client.ts';
import type { ExecutionPlan, MachinePlatforms } from '#protocol/executions/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import {
  checkParameters,
  chooseRunbookVersion,
  fillRunbook,
  judgePlan,
  type RunbookVersionRow,
  requireRunbookVersion,
} from '#server/domain/runbooks/index.ts';
import { beyondMurano } from '../beyond-murano.ts';
import { findPlanFiles, type StoredPlanFile } from '../execution-files.ts';
import { parametersOf } from '../resolve-request.ts';
import { requireSeparate, type SecretValues } from '../secret-parameters.ts';

/** A published version of a runbook, with the parameters and time limits of many executions. */
export interface RunRequest {
  runbook: string;
  version: string;
  parameters: Readonly<Record<string, unknown>>;
  timeoutSeconds: number;
  validForSeconds: number;
}

/** What many VMs run: one plan, with the same secret parameters for each VM. */
export interface RunOrder extends RunRequest {
  /** The digest of the runbook's version. */
  sha256: string;
  text: string;
  plan: ExecutionPlan;
  secrets: SecretValues;
  /** The stored files of the plan, with their current contents. */
  files: StoredPlanFile[];
  /** Whether the Murano agent can run the plan. */
  isForMurano: boolean;
  /** For the platforms of each machine that was looked at, in JSON: whether they can run the plan. */
  runs: Map<string, boolean>;
}

/**
 * Checks what people want to run on many VMs, and returns the version that runs: the given one, or the newest published
 * one. Drafts are rejected, because a draft can change while the executions are queued. Throws what `queueExecution`
 * throws for the runbook and its parameters.
 */
export async function checkRun(
  ctx: Context,
  given: Pick<RunRequest, 'runbook' | 'parameters'> & { version: string | null; secrets: SecretValues },
): Promise<RunbookVersionRow> {
  const { runbook: name, parameters, secrets } = given;
  const row = await chooseRunbookVersion(ctx, { name, version: given.version ?? undefined });
  requirePublished(row);
  const planParameters = parametersOf(row.plan);
  await checkParameters(ctx, row.parameters, { planParameters, parameters, secretParameters: secrets });
  const { timeoutSeconds, validForSeconds } = row;
  orderOf(row, { runbook: name, version: row.version, parameters, timeoutSeconds, validForSeconds }, secrets);
  return row;
}

/**
 * Reads what the VMs run. With `files`, they get these contents of the plan's files, otherwise the current ones. Throws
 * 404 `runbook_version_unknown`, 409 `runbook_withdrawn` | `runbook_not_published`, 422 `plan_invalid` if a file is
 * missing.
 */
export async function readRunOrder(
  db: Database | Transaction,
  terms: RunRequest,
  secrets: SecretValues,
  files?: readonly StoredPlanFile[],
): Promise<RunOrder> {
  const row = await requireRunbookVersion(db, { name: terms.runbook, version: terms.version });
  requirePublished(row);
  const order = orderOf(row, terms, secrets);
  return {
    ...order,
    sha256: row.sha256,
    files: files === undefined ? await findPlanFiles(db, order.plan) : [...files],
  };
}

/**
 * Returns what decides what the VMs run: the version's digest and state, and the current contents of the plan's files.
 */
export async function readRunFacts(
  db: Database | Transaction,
  terms: RunRequest,
): Promise<{ sha256: string; state: string; files: StoredPlanFile[] }> {
  const row = await requireRunbookVersion(db, { name: terms.runbook, version: terms.version });
  const { plan } = orderOf(row, terms, {});
  return { sha256: row.sha256, state: row.state, files: await findPlanFiles(db, plan) };
}

function requirePublished({ state, version }: RunbookVersionRow): void {
  if (state === 'withdrawn') throw new DomainError('conflict', 'runbook_withdrawn', { params: { version } });
  if (state !== 'published') throw new DomainError('conflict', 'runbook_not_published');
}

function orderOf(row: RunbookVersionRow, terms: RunRequest, secrets: SecretValues): Omit<RunOrder, 'sha256' | 'files'> {
  const judged = judgePlan(fillRunbook(row, terms.parameters), null);
  if ('faults' in judged) {
    throw new DomainError('unprocessable', 'plan_invalid', { params: { code: judged.code }, faults: judged.faults });
  }
  const { text, plan } = judged;
  requireSeparate(plan, secrets);
  const isForMurano = beyondMurano(JSON.parse(text)).length === 0;
  return { ...terms, text, plan, secrets, isForMurano, runs: new Map() };
}

/** Whether a machine with these platforms can run the plan. */
export function isRunnable(order: RunOrder, platforms: MachinePlatforms | null): boolean {
  const key = JSON.stringify(platforms);
  const known = order.runs.get(key) ?? !('faults' in judgePlan(order.text, platforms));
  order.runs.set(key, known);
  return known;
}
