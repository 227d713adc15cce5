import { expect, test } from 'vitest';
import type { Extension, InstanceDetails } from '../vm-data.ts';
import { needsRetry, retryTarget } from './retryable.ts';

const extension = (more: Partial<Extension> = {}): Extension =>
  ({
    ...{ name: 'share', goal: 'enabled', health: 'failed', cause: 'exit', needsSecrets: false, needsRelease: false },
    ...more,
  }) as Extension;

test.each<[more: Partial<Extension>, expected: boolean]>([
  [{}, true],
  [{ cause: 'timeout' }, true],
  [{ health: 'degraded', cause: 'heartbeat' }, true],
  [{ health: 'unresponsive', cause: 'silent' }, false],
  [{ health: 'progressing', cause: null }, false],
  [{ health: 'healthy', cause: null }, false],
  [{ health: 'disabled', cause: null }, false],
  [{ goal: 'uninstall' }, false],
  [{ needsSecrets: true }, false],
  [{ needsRelease: true }, false],
])('an extension with %j needs a retry: %s', (more, expected) => {
  expect(needsRetry(extension(more))).toBe(expected);
});

test('the target is the extension that the explanation names, unless it needs no retry', () => {
  const view = (name: string, extensions: Extension[]) =>
    ({ explanation: { act: { extension: name } }, extensions }) as unknown as InstanceDetails;
  const [share, other] = [extension(), extension({ name: 'other', health: 'healthy' })];
  expect(retryTarget(view('share', [other, share]))).toBe(share);
  expect(retryTarget(view('other', [other, share]))).toBeNull();
  expect(retryTarget({ explanation: null, extensions: [share] } as unknown as InstanceDetails)).toBeNull();
});
