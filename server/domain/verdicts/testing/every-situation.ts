import type { ExplainedExtension, ExplainedVm } from '../explanation.ts';
import { evaluateExtensionHealth, hasFailed } from '../rules.ts';

type Extension = ExplainedExtension;
type Handler = NonNullable<Extension['handlerState']>;

export const now = new Date('2026-11-20T12:00:00Z');
export const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();

const reported: Handler = {
  ...{ state: 'enabled', command: 'enable', sequenceNumber: 2, exitCode: 0, timedOut: false },
  ...{ attempt: 1, blockedBy: null, outputTail: null, at: ago(60) },
};
const without = { command: null, exitCode: null } as const;
const running = { exitCode: null } as const;

/**
 * What agents, reference or stock, report about a handler: nothing, an earlier sequence number, or the goal's sequence
 * number.
 */
const handlers: readonly (Partial<Handler> | null)[] = [
  null,
  { sequenceNumber: 1 },
  { sequenceNumber: 1, exitCode: 51 },
  // A package is being downloaded, or was rejected.
  { state: 'notInstalled', ...without },
  { state: 'failed', ...without, outputTail: 'the hash differs' },
  { state: 'waiting', ...without, blockedBy: 'other' },
  { state: 'installing', command: 'install', ...running },
  { state: 'installed', command: 'install' },
  { state: 'updating', command: 'update', ...running },
  { state: 'enabling', command: 'enable', ...running },
  { state: 'enabled' },
  { state: 'enabled', exitCode: 1, attempt: 1 },
  { state: 'failed', exitCode: 51, attempt: 3 },
  { state: 'failed', timedOut: true, exitCode: null },
  { state: 'disabling', command: 'disable', ...running },
  { state: 'disabled', command: 'disable' },
  { state: 'uninstalling', command: 'uninstall', ...running },
  // A stock agent does not always name the command.
  { state: 'uninstalling', ...without },
  { state: 'enabled', ...without },
  { state: 'failed', ...without, exitCode: 7 },
  { state: 'failed', ...without, timedOut: true },
];
const statusWords = [null, 'transitioning', 'warning', 'success', 'error'] as const;
const verdicts = ['none', 'notready', 'unresponsive', 'unknown'] as const;
const parts = [null, { name: 'disk', operation: null, code: 28 }, { name: null, operation: null, code: null }] as const;

/** An extension that is delivered and enabled, without a status; `more` overrides fields. */
export function extension(name: string, more: Partial<Extension> = {}): Extension {
  return {
    ...{ name, goal: 'enabled', goalSequenceNumber: 2, deliveredAt: ago(90), deadlineAt: ago(-192) },
    ...{ concludedWith: null, needsSecrets: false, needsRelease: false, handlerState: reported },
    ...{ heartbeat: { verdict: 'none', readAt: null }, status: null, refusedStatus: null },
    ...{ health: 'progressing', cause: null, failedPart: null },
    ...more,
  };
}

/** A VM whose agent has an older goal state; `more` overrides fields. */
export const vm = (extensions: readonly Extension[], more: Partial<ExplainedVm> = {}): ExplainedVm => ({
  ...{ incarnation: 42, deliveredIncarnation: 41, extensions },
  agent: { status: 'ready', kind: 'reference', lastSeenAt: ago(4), hold: null },
  lane: null,
  ...more,
});

/** Returns an extension with the health that follows from its facts, as in the instance view. */
export function evaluated(facts: Extension, agent: ExplainedVm['agent']): Extension {
  const { goal, goalSequenceNumber: sequenceNumber, handlerState: handler, status, failedPart } = facts;
  const isConcluded = facts.concludedWith !== null;
  const deadlineAt = isConcluded || agent.hold !== null ? null : facts.deadlineAt;
  const verdict = evaluateExtensionHealth({
    agent: agent.status,
    goal: { state: goal, sequenceNumber },
    handler: handler && {
      ...handler,
      exitCode: handler.exitCode ?? undefined,
      blockedBy: handler.blockedBy ?? undefined,
    },
    heartbeat: facts.heartbeat.verdict,
    status: status && { ...status, stale: false, partFailed: failedPart !== null },
    deadlinePassed: deadlineAt !== null && new Date(deadlineAt) < now,
  });
  const isOver = verdict.health === 'disabled' || hasFailed(handler, sequenceNumber);
  return { ...facts, ...verdict, deadlineAt: isOver ? null : deadlineAt };
}

const hold = { at: ago(300), by: 'Ada', reason: null, until: null };
const lane = { executionId: '00000000-0000-4000-8000-000000000007', name: 'Rotate certificates', since: ago(180) };

/** Yields VMs with one extension, in thousands of combinations of what an agent and a handler can report. */
export function* everySituation(): Generator<ExplainedVm> {
  const agents: ExplainedVm['agent'][] = [
    { status: 'ready', kind: 'reference', lastSeenAt: ago(4), hold: null },
    { status: 'unknown', kind: 'reference', lastSeenAt: ago(400), hold: null },
    { status: 'unresponsive', kind: 'reference', lastSeenAt: ago(900), hold: null },
    { status: 'ready', kind: 'reference', lastSeenAt: ago(4), hold: { ...hold, reason: 'Patch window' } },
    { status: 'ready', kind: 'stock', lastSeenAt: ago(4), hold: { ...hold, until: ago(-300) } },
  ];
  for (const agent of agents) {
    for (const facts of everyExtension()) yield vm([evaluated(facts, agent)], { agent });
  }
  const agent = { status: 'ready', kind: 'reference', lastSeenAt: ago(4), hold: null } as const;
  const taken = { ...lane, isRestarting: false };
  for (const held of [taken, { ...taken, name: '' }, { ...taken, isRestarting: true }]) {
    for (const facts of everyExtension()) {
      yield vm([evaluated({ ...facts, deadlineAt: null }, agent)], { agent, lane: held });
    }
  }
}

function* everyExtension(): Generator<Extension> {
  for (const goal of ['enabled', 'disabled', 'uninstall'] as const) {
    for (const handler of handlers) {
      const handlerState = handler && { ...reported, ...handler };
      const base = { goal, handlerState };
      // Nothing can be reported about a goal that was not delivered.
      if (handlerState === null || handlerState.sequenceNumber < 2) {
        yield extension('probe', { ...base, deliveredAt: null });
        yield extension('probe', { ...base, deliveredAt: null, needsSecrets: true });
        yield extension('probe', { ...base, deliveredAt: null, needsRelease: true });
      }
      for (const word of statusWords) {
        for (const sequenceNumber of word === null ? [2] : [1, 2]) {
          const status = word && { status: word, sequenceNumber, code: 12, readAt: ago(50) };
          const isConclusion = sequenceNumber === 2 && (word === 'success' || word === 'error');
          const warnedSince = word === 'warning' && sequenceNumber === 2 && goal !== 'uninstall';
          for (const concludedWith of isConclusion ? [word] : warnedSince ? [null, 'success' as const] : [null]) {
            yield* withTroubles({ ...base, status, concludedWith });
          }
        }
      }
    }
  }
}

function* withTroubles(base: Partial<Extension>): Generator<Extension> {
  const refused = { readAt: ago(5), faults: [{ path: '/0/status' }] };
  for (const deadlineAt of [ago(10), ago(-192)]) {
    for (const refusedStatus of [null, refused]) yield extension('probe', { ...base, deadlineAt, refusedStatus });
    for (const verdict of verdicts) {
      const heartbeat = { verdict, readAt: verdict === 'none' ? null : ago(20) };
      yield extension('probe', { ...base, deadlineAt, heartbeat });
    }
    for (const failedPart of base.status ? parts : []) yield extension('probe', { ...base, deadlineAt, failedPart });
  }
}
