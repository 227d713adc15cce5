import { describe, expect, it } from 'vitest';
import { stageSteps } from './stage-steps.ts';

const at = '2026-11-29T12:00:00.000Z';
type Facts = Parameters<typeof stageSteps>[0];
const unit = (stage: Facts['stage'], more: Partial<Facts> = {}): Facts => ({
  ...{ stage, createdAt: at, enteredAt: null, removedAt: null, confirmedVersion: null, confirmedSettingsVersion: null },
  ...more,
});
const installed = { confirmedVersion: '1.0.0.0' };
const configured = { ...installed, confirmedSettingsVersion: 1 };
const started = { ...configured, enteredAt: at };

describe('EN-33 the stages of a unit', () => {
  it.each([
    ['placed', unit('placed'), 'placed done, installed next, configured next, started next'],
    ['installing', unit('installing'), 'placed done, installed now, configured next, started next'],
    ['configuring', unit('configuring', installed), 'placed done, installed done, configured now, started next'],
    ['starting', unit('starting', configured), 'placed done, installed done, configured done, started now'],
    ['started', unit('started', started), 'placed done, installed done, configured done, started done'],
    [
      'upgrading',
      unit('upgrading', started),
      'placed done, installed done, configured done, started done, upgraded now',
    ],
    ['leaving before it started', unit('leaving', installed), 'placed done, installed done, removed now'],
    [
      'removed',
      unit('removed', { ...started, removedAt: at }),
      'placed done, installed done, configured done, started done, removed done',
    ],
  ])('%s', (_, facts, expected) => {
    expect(
      stageSteps(facts)
        .map(({ stage, state }) => `${stage} ${state}`)
        .join(', '),
    ).toBe(expected);
  });

  it('have the times that are known', () => {
    expect(stageSteps(unit('started', started)).map((step) => step.at)).toEqual([at, null, null, at]);
  });
});
