import { jsonPointer } from '#protocol/pointer.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError, type Fault } from '#server/domain/error.ts';
import { checkSettings, checkSettingsSchema } from '#server/domain/packages/index.ts';
import {
  misplacedSecrets,
  misplacedValues,
  type ParameterSchema,
  type ParameterValues,
  secretNames,
} from './parameters.ts';

/** Parameters are checked as if they were this half of an extension's settings. */
const half = '/publicSettings';

/** The values for one execution: the plan's own parameters, and the given ones, which replace them. */
export interface GivenParameters {
  planParameters: ParameterValues;
  parameters: ParameterValues;
  secretParameters: ParameterValues;
}

/**
 * Checks parameters against the schema of a runbook, with the checker and the limits for settings. Throws 422
 * `parameters_invalid` with every fault at `/parameters` or `/secretParameters`.
 */
export async function checkParameters(
  ctx: Pick<Context, 'config' | 'memory'>,
  schema: ParameterSchema | null,
  given: GivenParameters,
): Promise<void> {
  const { planParameters, parameters, secretParameters } = given;
  const misplaced = misplacedValues(schema, given);
  const values = { ...planParameters, ...parameters, ...secretParameters };
  const violations =
    schema === null || misplaced.length > 0
      ? []
      : await checkSettings(ctx, { publicSettings: schema }, { publicSettings: values });
  const faults = [...misplaced, ...violations.map((fault) => inRequest(fault, schema, secretParameters))];
  if (faults.length > 0) throw new DomainError('unprocessable', 'parameters_invalid', { faults });
}

/**
 * Converts the path of a fault to a path in the request. For a secret parameter, the path ends at the parameter's name.
 */
function inRequest(fault: Fault, schema: ParameterSchema | null, secretParameters: ParameterValues): Fault {
  const path = fault.path.slice(half.length);
  const secret = [...secretNames(schema), ...Object.keys(secretParameters)]
    .map((name) => jsonPointer([name]))
    .find((at) => path === at || path.startsWith(`${at}/`));
  return { ...fault, path: secret === undefined ? `/parameters${path}` : `/secretParameters${secret}` };
}

/**
 * Checks the schema of a runbook's parameters, within the limits for settings. Throws 422 `schema_refused` with every
 * fault at `/parameters`.
 */
export async function checkParameterSchema(ctx: Context, schema: ParameterSchema): Promise<void> {
  const at = (faults: readonly Fault[], skipped: number): Fault[] =>
    faults.map((fault) => ({ ...fault, path: `/parameters${fault.path.slice(skipped)}` }));
  try {
    await checkSettingsSchema(ctx, { publicSettings: schema });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    throw new DomainError(error.kind, error.code, { params: error.params, faults: at(error.faults, half.length) });
  }
  const misplaced = misplacedSecrets(schema);
  if (misplaced.length > 0) throw new DomainError('unprocessable', 'schema_refused', { faults: at(misplaced, 0) });
}

/** Returns the faults of a schema of parameters, each with a path at or below `/parameters`; empty if it is accepted. */
export async function schemaFaultsOf(ctx: Context, schema: ParameterSchema): Promise<Fault[]> {
  try {
    await checkParameterSchema(ctx, schema);
    return [];
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { code, params, faults } = error;
    return faults.length > 0 ? [...faults] : [{ path: '/parameters', code, params }];
  }
}
