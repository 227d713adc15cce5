import { expect, test } from 'vitest';
import { agentStatuses, rankOf } from '#server/domain/verdicts/words.ts';
import type { FailingHook } from './stored.ts';
import { evaluateUnit, type UnitEvidence, type UnitHealth } from './unit-health.ts';

const now = new Date('2026-11-01T12:00:00Z');
const at = (seconds: number) => new Date(now.getTime() + seconds * 1000);

/** Returns a seeded random number generator, so that facts can be repeated. */
function dice(seed: number): (below: number) => number {
  let state = seed * 7_919 + 1;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

function anyFailure(random: (below: number) => number): FailingHook {
  const outcome = (['failed', 'timed-out', 'refused'] as const)[random(3)] ?? 'failed';
  const exitCode = outcome === 'failed' ? random(2) + 1 : null;
  return { hook: 'start', run: 'r', failures: random(5) + 1, outcome, exitCode, since: now.toISOString() };
}

/** Random facts about a unit. */
function anyFacts(random: (below: number) => number): UnitEvidence {
  const some = () => random(2) === 0;
  return {
    agent: agentStatuses[random(agentStatuses.length)] ?? 'ready',
    isLeaving: random(4) === 0,
    running: some() ? { hook: 'install', begunAt: at(-random(600)), timeoutSeconds: 60 + random(300) } : null,
    failing: Array.from({ length: random(3) }, () => anyFailure(random)),
    due: some() ? { hook: 'start', lateAt: some() ? at(random(400) - 200) : null } : null,
    skipped: random(4) === 0 ? [{ hook: 'stop', formula: '1.0.0.0', at: now.toISOString(), by: 'Ada' }] : [],
    missingRelation: random(4) === 0 ? 'db' : null,
    needsRelease: random(6) === 0,
  };
}

const verdictOf = ({ health, cause, command, exitCode }: UnitHealth) => ({ health, cause, command, exitCode });
const all = Array.from({ length: 2_000 }, (_, seed) => anyFacts(dice(seed)));

test('the health of a unit changes only with news, or from the announced time on', () => {
  for (const facts of all) {
    const { changesAt, ...found } = evaluateUnit(facts, now);
    if (changesAt !== null) expect(changesAt > now).toBe(true);
    const before = changesAt === null ? at(86_400) : new Date(changesAt.getTime() - 1);
    expect(verdictOf(evaluateUnit(facts, before))).toEqual(verdictOf({ ...found, changesAt }));
  }
});

test('a failure, a mark or a missing relation never makes a unit healthier', () => {
  for (const facts of all) {
    const better: UnitEvidence = { ...facts, failing: [], skipped: [], missingRelation: null, needsRelease: false };
    const [worse, without] = [evaluateUnit(facts, now), evaluateUnit(better, now)];
    // One or two failed attempts only delay a unit, which hides what would make it degraded.
    if (worse.cause === 'retry') continue;
    expect(rankOf(worse.health)).toBeLessThanOrEqual(rankOf(without.health));
  }
});

test('a hook and an exit code are named only with a cause that they explain', () => {
  const ofHook = ['exit', 'timeout', 'command', 'deadline', 'retry', 'late', 'skipped', 'relation'];
  for (const facts of all) {
    const { cause, command, exitCode, health } = evaluateUnit(facts, now);
    expect(command !== null, `${health} ${cause}`).toBe(ofHook.includes(cause ?? ''));
    if (exitCode !== null) expect(['exit', 'retry']).toContain(cause);
    if (health === 'healthy' || health === 'unknown') expect(cause).toBeNull();
  }
});
