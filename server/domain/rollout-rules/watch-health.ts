import type { OpenStep, StepExtension, StepFacts } from './step-facts.ts';

/** What the stored health of a step's extensions means, at exactly the step's sequence numbers. */
export type HealthWatch =
  /** `since` is the latest start of an extension's health. */
  | { result: 'healthy'; since: Date | null }
  | { result: 'failed'; cause: string }
  /** `isConcluded`: no command runs; `deadlineAt` is the latest deadline of those that run. */
  | { result: 'unsettled'; isConcluded: boolean; deadlineAt: Date | null };

/** Whether an extension that is no longer declared is what the step wanted. */
const removes = ({ state, kind }: Pick<OpenStep, 'state' | 'kind'>): boolean =>
  kind === 'remove' || kind === 'revert' || state === 'reverting';

const latest = (times: readonly (Date | null)[]): Date | null =>
  times.reduce((max, time) => (time !== null && (max === null || time > max) ? time : max), null);

/** Whether an extension has another sequence number than the step gave it, so that someone else changed it. */
export function isOvertaken(step: OpenStep, { extensions }: Pick<StepFacts, 'extensions'>): boolean {
  return step.touched.some(({ name, sequenceNumber, version }) => {
    const declared = extensions.find((extension) => extension.name === name)?.declared ?? null;
    if (declared === null) return version !== null && !removes(step);
    return declared.sequenceNumber !== sequenceNumber;
  });
}

/** Returns what the health of the step's extensions means. Health of another sequence number means nothing. */
export function watchHealth(step: OpenStep, facts: Pick<StepFacts, 'extensions' | 'agent' | 'hold'>): HealthWatch {
  const watches = step.touched.map(({ name, sequenceNumber }) =>
    watchExtension(
      facts.extensions.find((extension) => extension.name === name),
      sequenceNumber,
    ),
  );
  const failed = watches.find((watch) => watch.result === 'failed');
  if (failed !== undefined) return failed;
  if (facts.agent === 'unresponsive' && facts.hold === null) return { result: 'failed', cause: 'silent' };
  const unsettled = watches.filter((watch) => watch.result === 'unsettled');
  if (unsettled.length > 0) {
    const isConcluded = unsettled.every((watch) => watch.isConcluded);
    return { result: 'unsettled', isConcluded, deadlineAt: latest(unsettled.map((watch) => watch.deadlineAt)) };
  }
  return {
    result: 'healthy',
    since: latest(watches.map((watch) => (watch.result === 'healthy' ? watch.since : null))),
  };
}

function watchExtension(extension: StepExtension | undefined, sequenceNumber: number): HealthWatch {
  const declared = extension?.declared ?? null;
  if (declared === null) return { result: 'healthy', since: null };
  const health = extension?.health ?? null;
  if (health === null || health.sequenceNumber !== sequenceNumber)
    return { result: 'unsettled', isConcluded: false, deadlineAt: null };
  if (health.health === 'failed') return { result: 'failed', cause: health.cause ?? 'not-healthy' };
  const isGoal =
    (health.health === 'healthy' && declared.state !== 'uninstalled') ||
    (health.health === 'disabled' && declared.state === 'disabled');
  if (isGoal) return { result: 'healthy', since: health.since };
  const isConcluded = health.health !== 'progressing' && health.health !== 'unknown';
  return { result: 'unsettled', isConcluded, deadlineAt: health.deadlineAt };
}
