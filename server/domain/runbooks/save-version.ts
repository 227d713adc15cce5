import type { z } from 'zod';
import type { Transaction } from '#db/client.ts';
import { runbooks, runbookVersions } from '#db/schema/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import { allowScripts } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { canonicalJson } from '#server/platform/canonical-json.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { checkParameterSchema } from './check-parameters.ts';
import { type SaveRunbookInput, saveRunbookInput } from './input.ts';
import { judgePlan } from './judge-plan.ts';
import { type ParameterSchema, secretNames } from './parameters.ts';
import { onlyVersion, type RunbookVersionRow } from './rows.ts';
import { type RunbookVersionSummary, summaryOf } from './shown-version.ts';

/**
 * Saves a draft of a runbook, for members with the grant `scripts`. A draft can be saved again. A version that was
 * published accepts only the same contents. Returns the version, and whether it is new. Throws 409
 * `runbook_version_fixed`, 413 `json_too_large`, 422 `plan_invalid` | `schema_refused` with every fault.
 */
export async function saveRunbookVersion(
  ctx: Context,
  input: SaveRunbookInput,
): Promise<{ version: RunbookVersionSummary; isNew: boolean }> {
  allowScripts(ctx.actor);
  const { name, version, plan: given, parameters = null, ...terms } = parse(saveRunbookInput, input);
  const plan = readRunbookPlan(given, parameters);
  if (parameters !== null) await checkParameterSchema(ctx, parameters);
  const contents = { ...terms, parameters };
  const sha256 = sha256Hex(canonicalJson({ ...contents, plan: JSON.parse(plan) }));
  return ctx.db.transaction(async (tx) => {
    const before = await lockVersion(tx, ctx, { name, version });
    if (before?.sha256 === sha256) return { version: summaryOf(before), isNew: false };
    if (before !== undefined && before.state !== 'draft') {
      throw new DomainError('conflict', 'runbook_version_fixed', { params: { version } });
    }
    const values = { ...contents, plan, sha256, savedAt: ctx.now, savedBy: ctx.actor.name };
    const [row] = await tx
      .insert(runbookVersions)
      .values({ runbook: name, version, state: 'draft', ...values })
      .onConflictDoUpdate({ target: [runbookVersions.runbook, runbookVersions.version], set: values })
      .returning();
    if (row === undefined) throw new Error('the version was not stored');
    await recordAudit(tx, ctx, {
      action: 'runbook.save',
      target: { kind: 'runbook', id: name },
      before: before === undefined ? null : { sha256: before.sha256 },
      after: { title: row.title, sha256 },
      details: { runbook: name, version, sha256 },
    });
    await recordChange(tx, 'runbook', name);
    return { version: summaryOf(row), isNew: before === undefined };
  });
}

/** Locks the runbook, and creates it if it does not exist. Returns the version; undefined if there is none. */
async function lockVersion(
  tx: Transaction,
  ctx: Context,
  reference: { name: string; version: string },
): Promise<RunbookVersionRow | undefined> {
  const { name } = reference;
  await tx
    .insert(runbooks)
    .values({ name, createdAt: ctx.now, createdBy: ctx.actor.name })
    .onConflictDoUpdate({ target: runbooks.name, set: { name } });
  const [row] = await tx.select().from(runbookVersions).where(onlyVersion(reference));
  return row;
}

/**
 * Returns the text of a runbook's plan. The plan must have format 2, no `ID` and no `Stamp`, and no values for secret
 * parameters.
 */
function readRunbookPlan(given: z.output<typeof saveRunbookInput>['plan'], schema: ParameterSchema | null): string {
  const judged = judgePlan(given, null);
  const inPlan = (faults: readonly Fault[]): Fault[] => faults.map((one) => ({ ...one, path: `/plan${one.path}` }));
  if ('faults' in judged) {
    const params = { code: judged.code };
    throw new DomainError('unprocessable', 'plan_invalid', { params, faults: inPlan(judged.faults) });
  }
  const { plan, converted, text } = judged;
  const secrets = secretNames(schema);
  const faults: Fault[] = [
    ...(converted ? [{ path: '/FormatVersion', code: 'runbook_plan_format' as const }] : []),
    ...(plan.id !== null && !converted ? [{ path: '/ID', code: 'runbook_plan_identity' as const }] : []),
    ...(plan.stamp !== null ? [{ path: '/Stamp', code: 'runbook_plan_identity' as const }] : []),
    ...Object.keys(plan.parameters)
      .filter((name) => secrets.has(name))
      .map((name) => ({ path: jsonPointer(['Parameters', name]), code: 'parameter_secret' as const })),
  ];
  if (faults.length === 0) return text;
  throw new DomainError('unprocessable', 'plan_invalid', { params: { code: 2 }, faults: inPlan(faults) });
}
