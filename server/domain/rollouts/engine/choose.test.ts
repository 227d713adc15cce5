import { describe, expect, test } from 'vitest';
import { type ChooseRules, chooseTurn } from './choose.ts';
import type { TurnFacts } from './load-members.ts';

const ready: TurnFacts = {
  ...{ isGone: false, agent: 'ready', isHeld: false, health: 'healthy', openIn: null },
  ...{ group: null, isGroupBusy: false, isGroupImpaired: false, wasHealthy: true },
};
const rules: ChooseRules = { silent: 'wait', availabilitySets: 'respect', reverts: null };

interface Given {
  facts?: Partial<TurnFacts>;
  rules?: Partial<ChooseRules>;
  hasLeft?: boolean;
  isSuperseded?: boolean;
  isOthers?: boolean;
  taken?: string[];
}

const choose = ({ facts, rules: more, hasLeft = false, isSuperseded = false, isOthers = false, taken = [] }: Given) =>
  chooseTurn({ ...ready, ...facts }, { hasLeft, isSuperseded, isOthers }, { ...rules, ...more }, new Set(taken));

describe('a member whose turn has come', () => {
  test.each<[string, Given, object]>([
    ['begins if nothing is in its way', {}, { what: 'begin' }],
    ['is gone if the VM is', { facts: { isGone: true }, hasLeft: true }, { what: 'gone' }],
    ['is skipped if it left the selection', { hasLeft: true }, { what: 'skip', cause: 'left-selection' }],
    ['is left to a later rollout', { isSuperseded: true }, { what: 'skip', cause: 'superseded' }],
    ['waits for a rollout to which this one gives way', { isOthers: true }, { what: 'park', cause: 'vm-busy' }],
    ['waits for the end of a hold', { facts: { isHeld: true } }, { what: 'park', cause: 'on-hold' }],
    ['waits for a silent agent', { facts: { agent: 'unresponsive' } }, { what: 'park', cause: 'silent' }],
    ['waits for an agent that never called', { facts: { agent: 'never' } }, { what: 'park', cause: 'never-enrolled' }],
    ['begins if the agent only missed a call', { facts: { agent: 'unknown' } }, { what: 'begin' }],
    [
      'is declared although it is silent',
      { facts: { agent: 'unresponsive' }, rules: { silent: 'declare' } },
      { what: 'begin' },
    ],
    ['is left out if it is silent', { facts: { agent: 'never' }, rules: { silent: 'skip' } }, { what: 'leave' }],
    ['waits for another rollout', { facts: { openIn: 'other' } }, { what: 'park', cause: 'vm-busy' }],
    [
      'takes over the step that it reverts',
      { facts: { openIn: 'other' }, rules: { reverts: 'other' } },
      { what: 'begin' },
    ],
  ])('%s', (_, given, expected) => {
    expect(choose(given)).toEqual(expected);
  });
});

describe('RO-15 a member of an availability set', () => {
  const inSet = (facts: Partial<TurnFacts> = {}, more: Omit<Given, 'facts'> = {}): Given => ({
    ...more,
    facts: { group: 'web', ...facts },
  });
  const waits = { what: 'park', cause: 'set-busy' };

  test.each<[string, Given, object]>([
    ['begins if all others are in service', inSet(), { what: 'begin' }],
    ['waits while another one is reserved', inSet({ isGroupBusy: true }), waits],
    ['waits while another one begins in the same batch', inSet({}, { taken: ['web'] }), waits],
    ['waits while another one is out of service', inSet({ isGroupImpaired: true }), waits],
    ['begins if it is out of service itself', inSet({ isGroupImpaired: true, health: 'failed' }), { what: 'begin' }],
    [
      'is not declared ahead of its turn',
      inSet({ agent: 'unresponsive' }, { rules: { silent: 'declare' } }),
      { what: 'park', cause: 'silent' },
    ],
    [
      'begins at any time if sets are ignored',
      inSet({ isGroupBusy: true, isGroupImpaired: true }, { rules: { availabilitySets: 'ignore' } }),
      { what: 'begin' },
    ],
  ])('%s', (_, given, expected) => {
    expect(choose(given)).toEqual(expected);
  });
});
