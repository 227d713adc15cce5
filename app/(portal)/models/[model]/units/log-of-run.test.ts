import { describe, expect, it } from 'vitest';
import { logOfRun } from './log-of-run.ts';

const name = { of: 'run' as const, vmId: 'v', model: 'prod', unit: 'blog/0', run: 'r' };

describe('the log of a run', () => {
  it.each([
    ['running', true, null, 'log.nothingYet'],
    ['succeeded', false, null, 'log.nothing.hook'],
    ['failed', false, 0, 'log.nothing.hook'],
    ['timed-out', false, 0, 'log.nothing.hook'],
    ['interrupted', false, 0, 'log.nothing.hook'],
  ] as const)('that is %s', (outcome, isLive, errorFrom, empty) => {
    const log = logOfRun(name, { outcome, begunAt: '2026-11-29T12:00:00Z' });
    expect(log).toMatchObject({ isLive, errorFrom, words: { empty }, calls: [] });
    expect(log.download).toBe('/download/models/prod/units/blog/0/runs/r/log');
  });

  it('keeps its calls the same, so that the list of rows is not built again', () => {
    const about = { outcome: 'running' as const, begunAt: '' };
    expect(logOfRun(name, about).calls).toBe(logOfRun(name, about).calls);
  });
});
