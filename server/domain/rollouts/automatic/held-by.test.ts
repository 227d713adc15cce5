import { describe, expect, test } from 'vitest';
import type { ExtensionRow, Preview } from '#server/domain/goal-states/index.ts';
import type { RolloutReference } from './answers.ts';
import { type HoldFacts, heldBy, type NewerVersion, type PlaceIn } from './held-by.ts';

const row = { version: '1.1.0.0', state: 'enabled', autoUpgradeMinorVersion: true } as ExtensionRow;
const rollout: RolloutReference = { id: 'a', name: 'tool 1.3 (automatic)', kind: 'automatic', state: 'running' };
const theirs: RolloutReference = { id: 'b', name: 'settings', kind: 'rollout', state: 'running' };

const facts = (given: Partial<HoldFacts> = {}): HoldFacts => ({
  ...{ target: '1.3.0.0', putBack: new Map(), preview: null, other: null, automatic: null },
  ...given,
});
const place = (state: PlaceIn['state'], given: Partial<RolloutReference> = {}, isSuperseded = false) => ({
  automatic: { rollout: { ...rollout, ...given }, state, cause: null, isSuperseded },
});
const refused = (code: string): { preview: Preview } => ({ preview: { outcome: 'refused', code } });

interface Given {
  row?: Partial<ExtensionRow>;
  version?: string;
  state?: NewerVersion['state'];
  facts?: Partial<HoldFacts>;
}

const held = ({ row: more, version = '1.3.0.0', state = 'published', facts: given }: Given) =>
  heldBy({ ...row, ...more }, { version, state, publishedAt: null }, facts(given));

describe('RO-38 what keeps an extension from a newer version', () => {
  test.each<[string, Given, object | null]>([
    ['nothing', {}, null],
    ['the version is withdrawn', { state: 'withdrawn' }, { code: 'withdrawn' }],
    ['another first number', { version: '2.0.0.0' }, { code: 'other-first-number' }],
    ['the extension is being uninstalled', { row: { state: 'uninstall' } }, { code: 'uninstalling' }],
    ['it is not upgraded automatically', { row: { autoUpgradeMinorVersion: false } }, { code: 'automatic-off' }],
    [
      'it was put back from the version',
      { facts: { putBack: new Map([['1.3.0.0', rollout]]), ...place('reverted') } },
      { code: 'put-back', rollout: { id: 'a' } },
    ],
    [
      'it was put back from the version, and a higher one would be next',
      { version: '1.2.0.0', facts: { putBack: new Map([['1.2.0.0', rollout]]) } },
      { code: 'put-back' },
    ],
    ['a higher version comes instead', { version: '1.2.0.0' }, { code: 'higher-version', version: '1.3.0.0' }],
    [
      'its settings are not valid',
      { facts: refused('setting_required') },
      { code: 'settings', fault: 'setting_required' },
    ],
    [
      'its protected settings are not valid',
      { facts: refused('protected_not_accepted') },
      { code: 'settings', fault: 'protected_not_accepted' },
    ],
    ['its secrets must be entered again', { facts: refused('secrets_required') }, { code: 'secrets' }],
    ['a sibling keeps its version', { facts: refused('version_shared') }, { code: 'refused', fault: 'version_shared' }],
    ['the VM is decommissioned', { facts: { preview: { outcome: 'gone' } } }, { fault: 'vm_decommissioning' }],
    [
      'a rollout of a person',
      { facts: { other: { rollout: theirs, state: 'queued', cause: null }, ...place('parked') } },
      { code: 'other-rollout', rollout: { id: 'b' }, step: { state: 'queued' } },
    ],
    ['its turn', { facts: place('queued') }, { code: 'turn', rollout: { id: 'a' }, step: { state: 'queued' } }],
    ['the rollout that it has not joined', { facts: place(null) }, { code: 'turn', step: null }],
    ['the approval of the rollout', { facts: place(null, { state: 'planned' }) }, { code: 'turn' }],
    ['its step, which failed', { facts: place('failed') }, { code: 'tried', step: { state: 'failed' } }],
    ['a rollout that a person aborted', { facts: place('unreached', { state: 'aborted' }) }, { code: 'stopped' }],
    ['nothing, because the rollout only gave way', { facts: place('unreached', { state: 'aborted' }, true) }, null],
  ])('%s', (_, given, expected) => {
    if (expected === null) expect(held(given)).toBeNull();
    else expect(held(given)).toMatchObject(expected);
  });
});
