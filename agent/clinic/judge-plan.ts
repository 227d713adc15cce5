import type { CheckResult } from './evaluate-checks.ts';
import { faultSentence } from './fault-sentence.ts';
import type { PlanObservations, PlanRunSeen } from './plan-life.ts';

interface PlanCheck {
  check: string;
  title: string;
  toDo: string;
  /** Returns the faults that were found, one sentence each. */
  faults(seen: PlanObservations): string[];
  /** Returns why there is nothing to check, or null. */
  none?(seen: PlanObservations): string | null;
}

/** The checks of a plan, in the order in which their faults should be fixed. */
const checks: PlanCheck[] = [
  {
    check: 'valid',
    title: 'The plan is valid for this machine',
    toDo: 'Correct these places. docs/execution-plans.md describes the format.',
    faults: ({ faults }) => faults.map((fault) => `${faultSentence(fault)} (code ${fault.planCode})`),
  },
  {
    check: 'code',
    title: 'It ends with code 0',
    toDo: 'Read the log above. The result names the line of the Body.',
    faults: ({ runs }) =>
      runs.flatMap(({ code, body }, index) =>
        code === 0 ? [] : [`Run ${index + 1} ended with code ${code}: ${messageOf(body)}`],
      ),
  },
  {
    check: 'timeouts',
    title: 'Every script has a timeout',
    toDo: 'Add the option timeout to each of these scripts, so that a script that hangs does not use the whole time.',
    faults: ({ scripts }) =>
      [...scripts].filter(([, { options }]) => options?.timeout === undefined).map(([name]) => `${name} has none.`),
    none: ({ scripts, isConverted }) => {
      if (isConverted) return 'plans in format vCurrent have no options';
      return scripts.size === 0 ? 'the plan has no scripts' : null;
    },
  },
  {
    check: 'twice',
    title: 'A second run gives the same result',
    toDo: 'Make the plan idempotent: a script can run twice if the machine loses power.',
    faults: ({ runs: [first, second] }) =>
      first?.code === second?.code && first?.body === second?.body
        ? []
        : [`The results are ${shortOf(first)} and ${shortOf(second)}.`],
    none: ({ runs }) => (runs.length < 2 ? 'no --twice' : null),
  },
  {
    check: 'resume',
    title: 'Stopped after each call and continued, it makes the same calls',
    toDo: 'Do not let calls depend on random values, times or other things that change while the agent is stopped.',
    faults: ({ runs: [, second] }) =>
      repeatedCalls(second).map((n) => `Call ${n} was another one after the agent had been stopped.`),
    none: ({ runs }) => (runs.length < 2 ? 'no --twice' : null),
  },
  {
    check: 'secrets',
    title: 'Values of secret parameters appear nowhere',
    toDo: 'Do not print, return or store secrets. Values with fewer than six characters are neither masked nor found.',
    faults: ({ secretPlaces }) => secretPlaces ?? [],
    none: ({ secretPlaces }) => (secretPlaces === null ? 'no --secret' : null),
  },
  {
    check: 'processes',
    title: 'No process is left',
    toDo: 'End what the plan starts, or start services with the machine’s service manager.',
    faults: ({ processes }) => processes.map((line) => `Still running: ${line}`),
  },
  {
    check: 'files',
    title: 'The Body leaves no files outside its working folder',
    toDo: 'Write files in a script or with api.putFile, and data with api.setState.',
    faults: ({ left }) => left.map((path) => `Still there: ${path}`),
  },
];

/** Runs every check on the observations of a trial. */
export function judgePlan(seen: PlanObservations): CheckResult[] {
  return checks.map(({ check, title, toDo, faults, none }) => {
    if (seen.faults.length > 0 && check !== 'valid') return { check, title, verdict: 'unreached', found: [] };
    const absent = none?.(seen) ?? null;
    if (absent !== null) return { check, title, verdict: 'none', found: [absent] };
    const found = faults(seen);
    return found.length > 0
      ? { check, title, verdict: 'fault', found, toDo }
      : { check, title, verdict: 'passed', found };
  });
}

function messageOf(body: string): string {
  const value: unknown = JSON.parse(body);
  const message = typeof value === 'object' && value !== null && 'Message' in value ? value.Message : null;
  return typeof message === 'string' ? message : body.slice(0, 200);
}

/** Returns each call number that occurs more than once in the transcript. */
function repeatedCalls(run: PlanRunSeen | undefined): number[] {
  const numbers = (run?.rows ?? []).filter(([, kind]) => kind === 'call').map(([, , n]) => Number(n));
  return [...new Set(numbers.filter((n, index) => numbers.indexOf(n) !== index))];
}

const shortOf = (run: PlanRunSeen | undefined): string => (run?.body ?? '').slice(0, 200);
