import type { CheckResult } from './evaluate-checks.ts';
import type { PlanObservations, PlanRunSeen } from './plan-life.ts';
import { checkLines, scoreOf } from './report.ts';

/** Formats the human-readable report about a plan: the log and the result of each run, and the checks. */
export function planReport(name: string, { runs, reboots }: PlanObservations, checks: CheckResult[]): string {
  const { passed, of } = scoreOf(checks);
  const ran = runs.flatMap((run, index) => [`Run ${index + 1}`, ...linesOf(run), `  result: ${run.body}`, '']);
  const notes = reboots.map((call) => `  Not carried out: ${call}`);
  return [`${name}: ${passed}/${of}`, '', ...ran, ...notes, ...checkLines(checks)].join('\n');
}

/** Formats the rows of a transcript for people. */
function linesOf({ rows }: PlanRunSeen): string[] {
  return rows.map((row) => {
    const [ms, kind, ...rest] = row;
    return `  ${(Number(ms) / 1000).toFixed(3).padStart(8)} s  ${wordsOf(String(kind), rest)}`;
  });
}

function wordsOf(kind: string, rest: readonly unknown[]): string {
  switch (kind) {
    case 'call': {
      const [n, script, fn] = rest;
      const what = [script ?? 'api', fn].filter((each) => each !== null).join('.');
      return `call ${String(n)}  ${what}`;
    }
    case 'out':
    case 'err':
      return `${kind} ${String(rest[0])}  ${String(rest[1])}`;
    case 'end': {
      const [n, { exitCode, ms, error }] = rest as [number, { exitCode?: number; ms: number; error?: string }];
      const how = [exitCode === undefined ? null : `exit ${exitCode}`, `${ms} ms`, error];
      return `end ${n}  ${how.filter((each) => each !== null && each !== undefined).join(', ')}`;
    }
    case 'log': {
      const { Level, Body } = rest[0] as { Level?: unknown; Body?: unknown };
      return `${String(Level)}  ${String(Body)}`;
    }
    case 'note':
      return `note  ${String(rest[0])}`;
    case 'same':
      return `call ${String(rest[0])}  answered from the journal`;
    case 'begin':
      return `begin  run ${String((rest[0] as { run?: unknown }).run)}`;
    case 'done':
      return `done  code ${String(rest[0])}`;
    default:
      return kind;
  }
}
