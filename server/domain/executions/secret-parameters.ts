import type { Transaction } from '#db/client.ts';
import { type ExecutionPlan, executionLimits } from '#protocol/executions/index.ts';
import { jsonPointer } from '#protocol/pointer.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { findSecret, fingerprintOf, type Head, storeSecret } from '#server/domain/goal-states/index.ts';
import type { ExecutionRow } from './rows.ts';

/** Secret parameters by their names. */
export type SecretValues = Readonly<Record<string, unknown>>;

/** The name of the row in `secrets` with the secret parameters of an execution. */
export const secretNameOf = (executionId: string): string => `execution/${executionId}`;

/**
 * Checks secret parameters against the other parameters of a plan. Throws 413 `plan_parameters_too_large`, and 422
 * `parameter_twice` if a name is in both.
 */
export function requireSeparate(plan: ExecutionPlan, values: SecretValues): void {
  const limit = executionLimits.parametersBytes;
  if (Buffer.byteLength(JSON.stringify(values)) > limit) {
    throw new DomainError('too_large', 'plan_parameters_too_large', { params: { limit } });
  }
  const twice = Object.keys(values).filter((name) => Object.hasOwn(plan.parameters, name));
  if (twice.length === 0) return;
  const faults = twice.map((name) => ({
    path: jsonPointer(['secretParameters', name]),
    code: 'parameter_twice' as const,
  }));
  throw new DomainError('unprocessable', 'parameter_twice', { faults });
}

/**
 * Stores the secret parameters of a new execution in the forms that custody allows. Returns the execution's columns.
 */
export async function storeSecretParameters(
  tx: Transaction,
  ctx: Context,
  head: Head,
  executionId: string,
  values: SecretValues,
): Promise<Pick<ExecutionRow, 'secretId' | 'secretParameters'>> {
  const names = Object.keys(values).sort();
  if (names.length === 0) return { secretId: null, secretParameters: [] };
  return {
    secretId: await storeSecret(tx, ctx, head, secretNameOf(executionId), values, null),
    secretParameters: names,
  };
}

/** Whether an execution was queued with these secret parameters. After its end, only the names are compared. */
export async function hasSameSecrets(
  tx: Transaction,
  ctx: Context,
  row: ExecutionRow,
  values: SecretValues,
): Promise<boolean> {
  const names = Object.keys(values).sort();
  if (JSON.stringify(names) !== JSON.stringify(row.secretParameters)) return false;
  const stored = await findSecret(tx, row.vmId, row.secretId);
  return stored === null || stored.fingerprint === fingerprintOf(ctx, row.vmId, secretNameOf(row.id), values);
}

/**
 * Returns the envelope's properties with the secret parameters, encrypted for the machine's certificate. Returns null
 * if the machine cannot decrypt them, because the portal has no copy to encrypt for a new key or withholds it from the
 * new key.
 */
export async function sealedParameters(
  tx: Transaction,
  { vmId, secretId }: ExecutionRow,
): Promise<{ protectedParameters?: string; protectedParametersCertThumbprint?: string } | null> {
  if (secretId === null) return {};
  const secret = await findSecret(tx, vmId, secretId);
  if (secret === null || secret.cms === null || secret.thumbprint === null) return null;
  return {
    protectedParameters: secret.cms.toString('base64'),
    protectedParametersCertThumbprint: secret.thumbprint,
  };
}
