import { expect, test } from 'vitest';
import { newUnitRecord } from '#protocol/unit-record.ts';
import { type StageFacts, stageOf } from './stage.ts';
import type { UnitStage } from './words.ts';

const now = new Date();
const version = '1.0.0.0';
const placed: StageFacts = {
  ...{ life: 'alive', removedAt: null, agentSince: null, formulaVersion: version },
  record: newUnitRecord(),
};
const seen = { ...placed, agentSince: now };
const installed = { ...placed.record, formula: version };
const configured = { ...installed, configured: { settings: 1, formula: version, boot: null } };
const started = { ...configured, started: { boot: null } };

test.each<[UnitStage, StageFacts]>([
  ['placed', placed],
  ['installing', seen],
  ['configuring', { ...seen, record: installed }],
  ['starting', { ...seen, record: configured }],
  ['started', { ...seen, record: started }],
  ['upgrading', { ...seen, record: started, formulaVersion: '1.1.0.0' }],
  ['leaving', { ...seen, record: started, life: 'dying' }],
  ['removed', { ...seen, life: 'dying', removedAt: now }],
])('a unit is %s', (stage, facts) => {
  expect(stageOf(facts)).toBe(stage);
});
