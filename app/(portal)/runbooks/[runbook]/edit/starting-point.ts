import parse from 'semver/functions/parse.js';
import { readable, startingPlan, withoutIdentity } from '#app/(portal)/vms/[vmId]/executions/plan-text.ts';
import { executionLimits } from '#protocol/executions/limits.ts';
import type { Runbook, ShownRunbookVersion } from '../../runbook-data.ts';

type Values = Record<string, unknown>;

/** What the editor starts with. */
export interface StartingPoint {
  title: string;
  description: string;
  version: string;
  plan: string;
  /** The schema of the parameters as JSON text; empty if the runbook accepts none. */
  schema: string;
  timeoutSeconds: number;
  validForSeconds: number;
  /** The draft that the editor changes; null if it starts a new version. */
  draft: string | null;
}

const usual = {
  timeoutSeconds: executionLimits.timeoutSeconds.usual,
  validForSeconds: executionLimits.validForSeconds.usual,
};

const object = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

/** Returns what the editor starts with for a new runbook. */
export function startOfNew(): StartingPoint {
  const plan = JSON.stringify({ ...object(JSON.parse(startingPlan)), Parameters: undefined, Name: undefined }, null, 2);
  const schema = schemaOf({ who: 'Annex' }, []);
  return { title: '', description: '', version: '1.0.0', plan, schema: text(schema), ...usual, draft: null };
}

/**
 * Returns what the editor starts with for a version: the version itself if it is a draft, otherwise a new version with
 * the same contents.
 */
export function startOfVersion(runbook: Runbook, from: ShownRunbookVersion): StartingPoint {
  const { title, description, version, plan, parameters, timeoutSeconds, validForSeconds } = from;
  const isDraft = from.state === 'draft';
  return {
    ...{ title, description, timeoutSeconds, validForSeconds },
    version: isDraft ? version : nextVersion(runbook.versions[0]?.version ?? version),
    plan: readable(plan ?? ''),
    schema: parameters === null ? '' : text(parameters),
    draft: isDraft ? version : null,
  };
}

/** Returns what the editor starts with for the plan of an execution. The plan's parameters become a first schema. */
export function startOfExecution(
  given: string,
  { secretParameters, timeoutSeconds }: { secretParameters: readonly string[]; timeoutSeconds: number },
): StartingPoint {
  const plan = withoutIdentity(given);
  const { Name, Parameters } = object(JSON.parse(plan));
  const parameters = object(Parameters);
  const isPlain = Object.keys(parameters).length === 0 && secretParameters.length === 0;
  return {
    title: typeof Name === 'string' ? Name : '',
    description: '',
    version: '1.0.0',
    plan: readable(plan),
    schema: isPlain ? '' : text(schemaOf(parameters, secretParameters)),
    timeoutSeconds,
    validForSeconds: usual.validForSeconds,
    draft: null,
  };
}

/** Returns the next minor version, such as 1.3.0 after 1.2.4. */
export function nextVersion(version: string): string {
  const read = parse(version);
  return read === null ? '1.0.0' : `${read.major}.${read.minor + 1}.0`;
}

/** Returns a first schema for these parameters. Each gets the type of its value. */
export function schemaOf(parameters: Values, secretParameters: readonly string[]): Values {
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(
        Object.entries(parameters).map(([name, value]) => [name, { ...typeOf(value), default: value }]),
      ),
      ...Object.fromEntries(secretParameters.map((name) => [name, { type: 'string', writeOnly: true }])),
    },
    ...(secretParameters.length > 0 && { required: [...secretParameters] }),
    additionalProperties: false,
  };
}

function typeOf(value: unknown): { type?: string } {
  if (value === null) return {};
  if (Array.isArray(value)) return { type: 'array' };
  if (typeof value === 'number') return { type: Number.isInteger(value) ? 'integer' : 'number' };
  return { type: typeof value };
}

const text = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
