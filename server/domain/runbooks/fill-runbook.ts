import { parseExactJson } from '#protocol/executions/index.ts';
import type { ParameterValues } from './parameters.ts';

/** What an execution takes from a runbook's version. */
export interface RunbookContents {
  title: string;
  version: string;
  plan: string;
}

/**
 * Returns the text of the plan that a runbook's version runs with these parameters. `Name` and `Version` are those of
 * the runbook, and the given parameters replace the plan's own. All other properties keep their order, and numbers keep
 * their notation, such as `1.0`.
 */
export function fillRunbook({ title, version, plan }: RunbookContents, parameters: ParameterValues): string {
  const { Parameters: own, ...others } = parseExactJson(plan) as Record<string, unknown>;
  const filled = { ...(own as ParameterValues | undefined), ...parameters };
  return JSON.stringify({
    ...others,
    Name: title,
    Version: version,
    ...(Object.keys(filled).length > 0 && { Parameters: filled }),
  });
}
