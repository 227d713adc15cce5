import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { visitCrashPoints } from '../folder/crash-point.ts';
import { type AgentLayout, layoutOf } from '../folder/layout.ts';
import { swapAgent } from './swap.ts';
import { noteFirstPoll, previousOf, readTrial, settleTrial, sha256Of, type UpdateTrial } from './trial.ts';

let folder: string;
let layout: AgentLayout;
let program: string;
let incoming: string;
let trial: UpdateTrial;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'annex-update-'));
  layout = layoutOf(join(folder, 'agent'));
  program = join(folder, 'annex-agent.mjs');
  incoming = join(folder, 'incoming-annex-agent.mjs');
  mkdirSync(layout.root);
  prepare();
});
afterEach(() => {
  visitCrashPoints(null);
  rmSync(folder, { recursive: true, force: true });
});

function prepare(): void {
  writeFileSync(program, 'the old agent');
  writeFileSync(incoming, 'the new agent');
  const startedAt = Date.now() - 1;
  trial = {
    program,
    from: sha256Of(program) ?? '',
    to: sha256Of(incoming) ?? '',
    startedAt,
    deadline: startedAt + 60_000,
  };
}

const late = () => trial.deadline + 1;
const current = () => readFileSync(program, 'utf8');

class PowerCut extends Error {}

/** Interrupts an action at its crash point `at`, as a power cut would. Returns whether it reached that point. */
function cutAt(at: number, action: () => unknown): boolean {
  let passed = 0;
  visitCrashPoints(() => {
    passed += 1;
    if (passed >= at) throw new PowerCut();
  });
  try {
    action();
    return false;
  } catch (error) {
    if (error instanceof PowerCut) return true;
    throw error;
  } finally {
    visitCrashPoints(null);
  }
}

describe('a trial', () => {
  beforeEach(() => swapAgent(layout, incoming, trial));

  test('is pending before the deadline', () => {
    expect(settleTrial(layout, Date.now())).toBe('pending');
    expect(current()).toBe('the new agent');
  });

  test('keeps an agent that has polled', () => {
    noteFirstPoll(layout, trial.to);
    expect(settleTrial(layout, late())).toBe('kept');
    expect([current(), readTrial(layout), existsSync(previousOf(program))]).toEqual(['the new agent', null, false]);
  });

  test('restores the previous agent after the deadline', () => {
    expect(settleTrial(layout, late())).toBe('returned');
    expect([current(), readTrial(layout), existsSync(previousOf(program))]).toEqual(['the old agent', null, false]);
    expect(settleTrial(layout, late())).toBe('none');
  });

  test('does not count a poll of the previous agent', () => {
    noteFirstPoll(layout, trial.from);
    expect(settleTrial(layout, late())).toBe('returned');
  });
});

test('does not count a poll before the update', () => {
  noteFirstPoll(layout, trial.to);
  swapAgent(layout, incoming, { ...trial, startedAt: Date.now() + 1000 });
  expect(settleTrial(layout, late())).toBe('returned');
});

test('after a power cut at any point of the swap, the old agent is installed once the deadline has passed', () => {
  let points = 0;
  for (let at = 1; ; at += 1) {
    rmSync(layout.root, { recursive: true, force: true });
    mkdirSync(layout.root);
    prepare();
    if (!cutAt(at, () => swapAgent(layout, incoming, trial))) break;
    points = at;
    expect(['the old agent', 'the new agent']).toContain(current());
    settleTrial(layout, late());
    expect(current()).toBe('the old agent');
    expect(readTrial(layout)).toBeNull();
  }
  expect(points).toBeGreaterThanOrEqual(5);
});

test('after a power cut at any point of the restore, the next start completes it', () => {
  let points = 0;
  for (let at = 1; ; at += 1) {
    prepare();
    swapAgent(layout, incoming, trial);
    if (!cutAt(at, () => settleTrial(layout, late()))) break;
    points = at;
    settleTrial(layout, late());
    expect([current(), readTrial(layout), existsSync(previousOf(program))]).toEqual(['the old agent', null, false]);
  }
  expect(points).toBeGreaterThanOrEqual(2);
});
