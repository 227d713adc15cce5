import type { CheckResult } from './evaluate-checks.ts';
import type { FormulaObservations, HookSeen } from './formula-life.ts';
import { howOf } from './judge-formula.ts';
import { checkLines, scoreOf } from './report.ts';

/** Formats the human-readable report about a formula: what each hook did, and the checks. */
export function formulaReport(name: string, { hooks, absent }: FormulaObservations, checks: CheckResult[]): string {
  const { passed, of } = scoreOf(checks);
  const without = absent.length === 0 ? [] : [`  No such hooks: ${absent.join(', ')}`, ''];
  return [`${name}: ${passed}/${of}`, '', ...hooks.flatMap(linesOf), '', ...without, ...checkLines(checks)].join('\n');
}

function linesOf(seen: HookSeen): string[] {
  const { stage, hook, remoteUnit, end } = seen;
  const what = remoteUnit === null ? hook : `${hook} ${remoteUnit}`;
  const output = end.output.split('\n').filter((line) => line !== '');
  return [
    `  ${stage.padEnd(9)} ${what.padEnd(40)} ${end.seconds.toFixed(1).padStart(6)} s  ${howOf(seen)}`,
    ...output.slice(-20).map((line) => `            ${line}`),
    ...effectsOf(seen).map((line) => `            → ${line}`),
  ];
}

/** Says what a hook changed, without the values. */
function effectsOf({ end }: HookSeen): string[] {
  const changes = (end.changes ?? []).flatMap(({ set, remove }) => [
    ...(Object.keys(set).length > 0 ? [`sets ${Object.keys(set).join(', ')}`] : []),
    ...(remove.length > 0 ? [`removes ${remove.join(', ')}`] : []),
  ]);
  const { open = [], close = [] } = end.ports ?? {};
  const ports = [
    ...(open.length > 0 ? [`opens ${open.join(', ')}`] : []),
    ...(close.length > 0 ? [`closes ${close.join(', ')}`] : []),
  ];
  return [...changes, ...ports];
}
