import type { ShownRunbookVersion } from '#app/(portal)/runbooks/runbook-data.ts';

type Values = Record<string, unknown>;

const object = (value: unknown): Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Values) : {};

/**
 * Returns the parameters of an earlier execution's plan that this version still defines, or all if its schema defines
 * none by name. Omits secret parameters.
 */
export function earlierValues(
  plan: string | null,
  { parameters, secretParameters }: Pick<ShownRunbookVersion, 'parameters' | 'secretParameters'>,
): Values {
  if (plan === null || parameters === null) return {};
  const defined = object(parameters.properties);
  const isFree = Object.keys(defined).length === 0;
  return Object.fromEntries(
    Object.entries(object(object(JSON.parse(plan)).Parameters)).filter(
      ([name]) => !secretParameters.includes(name) && (isFree || Object.hasOwn(defined, name)),
    ),
  );
}
