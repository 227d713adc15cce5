import type { CheckResult } from './evaluate-checks.ts';
import type { Result } from './try-package.ts';

/** Counts the checks that passed and the checks that applied. */
export function scoreOf(checks: CheckResult[]): { passed: number; of: number } {
  return {
    passed: checks.filter(({ verdict }) => verdict === 'passed').length,
    of: checks.filter(({ verdict }) => verdict !== 'none').length,
  };
}

const marks: Record<CheckResult['verdict'], string> = { passed: '✓', fault: '✗', unreached: '·', none: '–' };

/** Formats the human-readable report: what ran, what was checked, what to change. */
export function reportText(name: string, { seen, checks }: Result): string {
  const { passed, of } = scoreOf(checks);
  const ran = seen.commands.map(({ stage, command, exitCode, timedOut, seconds }) => {
    const how = timedOut ? 'stopped, timed out' : `exit ${exitCode ?? 'none'}`;
    return `  ${stage.padEnd(16)} ${command.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${how}`;
  });
  return [`${name}: ${passed}/${of}`, '', ...ran, '', ...checkLines(checks)].join('\n');
}

/** Returns the lines about the checks: their verdicts, and how to correct each fault. */
export function checkLines(checks: CheckResult[]): string[] {
  const faults = checks.filter(({ verdict }) => verdict === 'fault');
  const checked = checks.map(({ verdict, title, found }) => {
    const more = verdict === 'unreached' ? ['not reached'] : verdict === 'none' ? found : [];
    return `  ${marks[verdict]} ${title}${more.map((line) => ` (${line})`).join('')}`;
  });
  const mend = faults.flatMap(({ title, found, toDo }) => [
    '',
    `✗ ${title}`,
    ...found.slice(0, 10).map((line) => `    ${line}`),
    ...(found.length > 10 ? [`    … and ${found.length - 10} more`] : []),
    `  → ${toDo}`,
  ]);
  return [...checked, ...mend];
}
