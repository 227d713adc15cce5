import { describe, expect, it } from 'vitest';
import { concerns } from './topics.ts';

const key = (path: string, input?: object) => [path.split('.'), input === undefined ? {} : { input, type: 'query' }];

const moved = { topic: 'rollout', key: 'a' };

describe('concerns', () => {
  it.each([
    ['the VM that changed', key('vms.get', { vmId: 'a' }), { topic: 'vm', key: 'a' }, true],
    ['another VM', key('vms.get', { vmId: 'b' }), { topic: 'vm', key: 'a' }, false],
    ['a question without input', key('handlers.list'), { topic: 'fleet', key: 'a' }, true],
    ['VMs per version, before their health is known', key('handlers.get'), { topic: 'vm', key: 'a' }, false],
    ['rows of a list, one of which changed', key('fleet.rows', { vmIds: ['b', 'a'] }), { topic: 'vm', key: 'a' }, true],
    ['rows of a list, none of which changed', key('fleet.rows', { vmIds: ['b'] }), { topic: 'fleet', key: 'a' }, false],
    ['rows of a list, where many changed', key('fleet.rows', { vmIds: ['b'] }), { topic: 'fleet', key: '*' }, true],
    ['how many match, when a VM reported', key('fleet.count', {}), { topic: 'vm', key: 'a' }, false],
    ['how many match, when a health changed', key('fleet.count', {}), { topic: 'fleet', key: 'a' }, true],
    ['the instance view of the VM', key('instanceViews.get', { vmId: 'a' }), { topic: 'vm', key: 'a' }, true],
    ['the fleet map, when a health changed', key('overview.map', {}), { topic: 'fleet', key: 'a' }, true],
    ['the fleet map, when somebody did something', key('overview.map', {}), { topic: 'act', key: '' }, false],
    ['a rollout on the fleet map, when it moved', key('overview.mapOfRollout', { rollout: 'a' }), moved, true],
    ['another rollout on the map', key('overview.mapOfRollout', { rollout: 'b' }), moved, false],
    ['problems, when one was snoozed', key('attention.list'), { topic: 'attention', key: 'k' }, true],
    ['problems, when a health changed', key('attention.list'), { topic: 'fleet', key: 'a' }, true],
    ['recent acts, when somebody did something', key('overview.acts'), { topic: 'act', key: '' }, true],
    ['members, when a VM changed', key('members.list'), { topic: 'vm', key: 'a' }, false],
    ['tokens, when a token changed', key('tokens.list'), { topic: 'token', key: 't' }, true],
    [
      'every VM, when a translation came',
      key('instanceViews.get', { vmId: 'a' }),
      { topic: 'handler', key: 'h' },
      true,
    ],
    ['the executions of all VMs', key('executions.list', {}), { topic: 'execution', key: 'a' }, true],
    ['the executions of another VM', key('executions.list', { vmId: 'b' }), { topic: 'execution', key: 'a' }, false],
    ['the queue of the VM', key('instanceViews.queue', { vmId: 'a' }), { topic: 'execution', key: 'a' }, true],
    ['a plan, which never changes', key('executions.plan', { vmId: 'a' }), { topic: 'execution', key: 'a' }, false],
    ['a log that grows', key('executions.log', { vmId: 'a' }), { topic: 'output', key: 'a' }, true],
    ['a unit of the VM', key('units.get', { unit: 'blog/0', vmId: 'a' }), { topic: 'vm', key: 'a' }, true],
    ['a unit of another VM', key('units.get', { unit: 'blog/0', vmId: 'b' }), { topic: 'vm', key: 'a' }, false],
    ['what is due on a unit', key('units.due', { vmId: 'a' }), { topic: 'relation', key: '3' }, true],
    ['the relation that moved', key('relations.settings', { id: '3' }), { topic: 'relation', key: '3' }, true],
    ['another relation', key('relations.settings', { id: '4' }), { topic: 'relation', key: '3' }, false],
    ['members, when a unit changed', key('members.list'), { topic: 'unit', key: 'u' }, false],
    ['anything, for a topic that is new', key('members.list'), { topic: 'weather', key: 'w' }, true],
    ['a query that is not the portal’s', ['local'], { topic: 'vm', key: 'a' }, false],
  ])('%s', (_, queryKey, change, expected) => {
    expect(concerns(queryKey, [change])).toBe(expected);
  });
});
