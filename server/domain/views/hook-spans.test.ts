import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunOutcome } from '#server/domain/service-rules/words.ts';
import { type StagedUnit, UnitStage } from '#server/domain/services/testing/unit-stage.ts';
import { getTimeline } from './get-timeline.ts';
import { type HookTimes, hookSpansOf } from './hook-spans.ts';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 10, 0, second));
const given = (hook: string, outcome: RunOutcome, begun: number, ended: number | null): HookTimes => ({
  ...{ hook, outcome, run: hook, unit: 'blog/0', model: 'prod' },
  begunAt: at(begun),
  endedAt: ended === null ? null : at(ended),
});

/** The spans as `hook outcome from-to`, with the number of merged runs if there are several. */
const shown = (runs: HookTimes[], slotSeconds = 5) =>
  hookSpansOf(runs, slotSeconds * 1_000).map(({ hook, outcome, from, to, count }) => {
    const second = (time: string | null) => (time === null ? 'now' : new Date(time).getUTCSeconds());
    return `${hook} ${outcome} ${second(from)}-${second(to)}${count > 1 ? ` x${count}` : ''}`;
  });

describe('spans of hooks', () => {
  test('are in the order of their begin, whatever the order of the rows', () => {
    const runs = [given('start', 'succeeded', 30, 39), given('install', 'failed', 0, 20)];
    expect(shown(runs)).toEqual(['install failed 0-20', 'start succeeded 30-39']);
  });

  test('are merged if they are short and near, and then show the worst outcome', () => {
    const runs = [given('a', 'succeeded', 0, 1), given('b', 'timed-out', 1, 2), given('c', 'skipped', 3, 4)];
    expect(shown([...runs, given('d', 'succeeded', 20, 21)])).toEqual(['b timed-out 0-4 x3', 'd succeeded 20-21']);
  });

  test('show a hook that runs, which is not merged', () => {
    const runs = [given('a', 'succeeded', 0, 1), given('b', 'running', 1, null)];
    expect(shown(runs)).toEqual(['a succeeded 0-1', 'b running 1-now']);
  });
});

describe('the timeline of a machine', () => {
  let stage: UnitStage;
  let blog: StagedUnit;
  const read = async (from: number, to: number) => {
    const time = (ms: number) => new Date(stage.ctx.now.getTime() + ms).toISOString();
    return getTimeline(stage.ctx, { vmId: blog.vmId, from: time(from), to: time(to) });
  };

  beforeAll(async () => {
    stage = await UnitStage.open();
    blog = await stage.unit(await stage.service('blog'));
    await blog.look();
  });
  afterAll(() => stage.close());

  test('has the hooks of its units, with their runs', async () => {
    const failed = await blog.run('install', { exitCode: 3 });
    const { hooks } = await read(-600_000, 600_000);
    expect(hooks).toMatchObject([{ model: 'prod', unit: 'blog/0', hook: 'install', outcome: 'failed', run: failed }]);
    expect(hooks[0]?.to).not.toBeNull();
    expect((await read(-900_000, -600_000)).hooks).toEqual([]);
  });
});
