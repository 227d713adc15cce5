import type { ResourceFile } from '#protocol/index.ts';
import type { CheckResult } from './evaluate-checks.ts';
import type { FormulaObservations, HookSeen } from './formula-life.ts';

interface FormulaCheck {
  check: string;
  title: string;
  toDo: string;
  /** Returns the faults that were found, one sentence each. */
  faults(seen: FormulaObservations, resources: readonly ResourceFile[]): string[];
  /** Returns why there is nothing to check, or null. */
  none?(seen: FormulaObservations, resources: readonly ResourceFile[]): string | null;
}

const nameOf = ({ stage, hook, remoteUnit }: HookSeen): string =>
  `${hook}${remoteUnit === null ? '' : ` for ${remoteUnit}`} (${stage})`;
const isGood = ({ end }: HookSeen): boolean => end.exitCode === 0 && end.signal === null && !end.timedOut;
const failed = (seen: FormulaObservations, fits: (hook: HookSeen) => boolean): string[] =>
  seen.hooks
    .filter((one) => !isGood(one) && !one.end.timedOut && fits(one))
    .map((one) => `${nameOf(one)}: ${howOf(one)}.`);

/** Says how a hook ended. */
export function howOf({ end }: HookSeen): string {
  if (end.timedOut) return 'stopped, timed out';
  return end.signal === null ? `exit ${end.exitCode ?? 'none'}` : `ended by ${end.signal}`;
}

/** The checks of a formula, in the order in which their faults should be fixed. */
const checks: FormulaCheck[] = [
  {
    check: 'package',
    title: 'The package is complete',
    toDo: 'Correct these places. docs/services.md describes the package.',
    faults: ({ faults }) => faults,
  },
  {
    check: 'hooks',
    title: 'Every hook ends with 0',
    toDo: 'Read the output of these hooks above. If something is missing, try with --settings or --remote.',
    faults: (seen) => failed(seen, ({ stage }) => stage === 'start' || stage === 'settings' || stage === 'depart'),
  },
  {
    check: 'empty',
    title: 'Hooks of relations accept a unit that has set nothing yet',
    toDo: 'End with 0 if a key is missing: the hook runs again when the other unit has set it.',
    faults: (seen) => failed(seen, ({ stage }) => stage === 'join'),
    none: (seen) => (seen.hooks.some(({ stage }) => stage === 'join') ? null : 'no hook of a relation ran'),
  },
  {
    check: 'again',
    title: 'config-changed and start can run again',
    toDo: 'Make these hooks repeatable: they run again after a reboot, and after the agent was killed.',
    faults: (seen) => failed(seen, ({ stage }) => stage === 'reboot'),
    none: (seen) => (seen.hooks.some(({ stage }) => stage === 'reboot') ? null : 'the formula has neither'),
  },
  {
    check: 'leave',
    title: 'The last hooks end with 0',
    toDo: 'Let these hooks succeed although something is gone already: after three attempts, they are skipped.',
    faults: (seen) => failed(seen, ({ stage }) => stage === 'leave'),
    none: (seen) => (seen.hooks.some(({ stage }) => stage === 'leave') ? null : 'the formula has no such hooks'),
  },
  {
    check: 'timeouts',
    title: 'No hook reaches its time limit',
    toDo: 'Shorten these hooks, or give them more time in timeouts of metadata.yaml.',
    faults: (seen) => seen.hooks.filter(({ end }) => end.timedOut).map((one) => `${nameOf(one)}: ${howOf(one)}.`),
  },
  {
    check: 'secrets',
    title: 'No secret is in an output',
    toDo: 'Do not print these values. The agent masks them, but other programs may not.',
    faults: (seen) =>
      seen.hooks.filter(({ end }) => end.output.includes('[masked]')).map((one) => `${nameOf(one)} printed a secret.`),
  },
  {
    check: 'messages',
    title: 'Every message has a text',
    toDo: 'Add these ids to the resource files.',
    faults: (seen, resources) =>
      resources.flatMap(({ lang, messages }) => {
        const known = new Set(messages.map(({ id }) => id));
        return sentIds(seen)
          .filter((id) => !known.has(id))
          .map((id) => `${id} has no text in ${lang}.`);
      }),
    none: (seen, resources) => {
      if (resources.length === 0) return 'no --resources';
      return sentIds(seen).length === 0 ? 'no hook sent a message' : null;
    },
  },
  {
    check: 'processes',
    title: 'Nothing runs after the last hook',
    toDo: 'Stop the programs of the unit in hooks/stop.',
    faults: ({ processes }) => processes.map((line) => `Still running: ${line}`),
  },
];

/** Returns the ids of the messages in the outputs. */
function sentIds(seen: FormulaObservations): string[] {
  const lines = seen.hooks.flatMap(({ end }) => end.output.split('\n'));
  const ids = lines.map((line) => /^\+[\d.]+ [A-Z]+ \{"id":"([^"\\]+)","params":\[/.exec(line)?.[1]);
  return [...new Set(ids.filter((id) => id !== undefined))];
}

/** Evaluates what was observed. Without a valid package, nothing else is checked. */
export function judgeFormula(seen: FormulaObservations, resources: readonly ResourceFile[]): CheckResult[] {
  return checks.map(({ check, title, toDo, faults, none }): CheckResult => {
    if (seen.formula === null && check !== 'package') return { check, title, verdict: 'unreached', found: [] };
    const found = faults(seen, resources);
    if (found.length > 0) return { check, title, verdict: 'fault', found, toDo };
    const why = none?.(seen, resources) ?? null;
    return why === null
      ? { check, title, verdict: 'passed', found: [] }
      : { check, title, verdict: 'none', found: [why] };
  });
}
