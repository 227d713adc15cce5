import { expect, test } from 'vitest';
import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { reachedSteps } from './reached-steps.ts';

const earlier = '2026-01-01T09:00:00.000Z';
const enrolled = '2026-01-01T10:00:00.000Z';
const later = '2026-01-01T10:00:05.000Z';

interface Case {
  what: string;
  enrolledAt?: string | null;
  lastSeenAt?: string | null;
  health?: VmHealth;
  before?: string;
  steps: number;
}

const cases: Case[] = [
  { what: 'no machine', steps: 0 },
  { what: 'enrolled', enrolledAt: enrolled, steps: 1 },
  { what: 'polled, extensions in progress', enrolledAt: enrolled, lastSeenAt: later, health: 'progressing', steps: 2 },
  { what: 'polled, an extension failed', enrolledAt: enrolled, lastSeenAt: later, health: 'failed', steps: 2 },
  { what: 'healthy', enrolledAt: enrolled, lastSeenAt: later, health: 'healthy', steps: 3 },
  {
    what: 'only the previous machine',
    enrolledAt: earlier,
    lastSeenAt: later,
    health: 'healthy',
    before: earlier,
    steps: 0,
  },
  {
    what: 'a new machine, calls of the previous one',
    enrolledAt: enrolled,
    lastSeenAt: earlier,
    health: 'healthy',
    before: earlier,
    steps: 1,
  },
];

test.each(cases)('$what: $steps steps', (given) => {
  const { enrolledAt = null, lastSeenAt = null, health = 'unknown', before = null, steps } = given;
  expect(reachedSteps({ agent: { enrolledAt, lastSeenAt }, health }, before)).toBe(steps);
});

test('nothing loaded yet: no step', () => {
  expect(reachedSteps(undefined, null)).toBe(0);
});
