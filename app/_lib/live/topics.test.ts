import { describe, expect, it } from 'vitest';
import { concerns } from './topics.ts';

const key = (path: string, input?: object) => [path.split('.'), input === undefined ? {} : { input, type: 'query' }];

describe('concerns', () => {
  it.each([
    ['the VM that changed', key('vms.get', { vmId: 'a' }), { topic: 'vm', key: 'a' }, true],
    ['another VM', key('vms.get', { vmId: 'b' }), { topic: 'vm', key: 'a' }, false],
    ['a list of VMs', key('vms.list', { search: 'web' }), { topic: 'vm', key: 'a' }, true],
    ['a question without input', key('vms.list'), { topic: 'vm', key: 'a' }, true],
    ['the instance view of the VM', key('instanceViews.get', { vmId: 'a' }), { topic: 'vm', key: 'a' }, true],
    ['members, when a VM changed', key('members.list'), { topic: 'vm', key: 'a' }, false],
    ['tokens, when a token changed', key('tokens.list'), { topic: 'token', key: 't' }, true],
    [
      'every VM, when a translation came',
      key('instanceViews.get', { vmId: 'a' }),
      { topic: 'handler', key: 'h' },
      true,
    ],
    ['anything, for a topic that is new', key('members.list'), { topic: 'rollout', key: 'r' }, true],
    ['a query that is not the portal’s', ['local'], { topic: 'vm', key: 'a' }, false],
  ])('%s', (_, queryKey, change, expected) => {
    expect(concerns(queryKey, [change])).toBe(expected);
  });
});
