import { parseExactJson } from '#protocol/executions/index.ts';

/**
 * Returns a plan's text with `ID` and `Stamp` filled in, after `FormatVersion` and `Action`. All other properties keep
 * their order, and numbers keep their notation, such as `1.0`. In the format vCurrent, only the stamp is filled in, as
 * the last property.
 */
export function fillPlan(text: string, { id, stamp }: { id: string; stamp: number }): string {
  const plan = Object.entries(parseExactJson(text) as Record<string, unknown>);
  const isVCurrent = !plan.some(([name]) => name === 'FormatVersion') || plan.some(([name]) => name === 'Commands');
  const filled: [string, unknown][] = isVCurrent
    ? [['Stamp', stamp]]
    : [
        ['ID', id],
        ['Stamp', stamp],
      ];
  const others = plan.filter(([name]) => !filled.some(([key]) => key === name));
  const lead = others.findLastIndex(([name]) => name === 'FormatVersion' || name === 'Action') + 1;
  const at = isVCurrent ? others.length : lead;
  return JSON.stringify(Object.fromEntries(others.toSpliced(at, 0, ...filled)));
}
