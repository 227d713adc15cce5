import { expect, test } from 'vitest';
import type { ShownCloudService, ShownMachine } from '../model-data.ts';
import { addressOf, countHealth, firstServices, isMatch, linesOf, rolesOf } from './role-lines.ts';

const role = (vm: string) => ({ vm, vmId: `id of ${vm}`, role: `juju${vm}`, id: `juju-prod-${vm}`, hostname: vm });
const port = (vm: string, publicPort: number) => ({ role: `juju${vm}`, protocol: 'tcp', publicPort });

/** A cloud service with these roles in Production. */
function service(name: string, ...vms: string[]): ShownCloudService {
  const endpoints = vms.map((vm) => port(vm, 22));
  const deployments = [{ name: `${name}-v2`, slot: 'production', roles: vms.map(role), endpoints }];
  return {
    name,
    dnsName: `${name}.internal`,
    publicAddress: '127.80.0.5',
    deployments,
  } as unknown as ShownCloudService;
}

const services = [service('a', 'prod-0', 'prod-1'), service('b', 'prod-2'), service('c', 'prod-3')];
const machines = [{ vmId: 'id of prod-1', health: 'failed' }] as ShownMachine[];

test('each role has its own ports and, once it is loaded, its machine', () => {
  const lines = linesOf(services.slice(0, 1), machines);
  expect(lines.map(({ ports, machine }) => [ports.length, machine?.health])).toEqual([
    [1, undefined],
    [1, 'failed'],
  ]);
});

test.each([
  ['', true],
  ['PROD-2', true],
  ['b.internal', true],
  ['127.80', true],
  ['10.9', false],
])('a search for %j', (search, isFound) => {
  const [line] = linesOf([service('b', 'prod-2')], []);
  expect(line && isMatch(line, search)).toBe(isFound);
});

test('a page ends after the service with its last role', () => {
  const names = (most: number) => firstServices(services, most).map(({ name }) => name);
  expect(names(1)).toEqual(['a']);
  expect(names(3)).toEqual(['a', 'b']);
  expect(names(100)).toEqual(['a', 'b', 'c']);
  expect(services.map(rolesOf)).toEqual([2, 1, 1]);
});

test('the address is what the agent reported, before that what the provider assigned', () => {
  const [line] = linesOf(services, []);
  const addresses = (internalAddress: string | null) =>
    addressOf({ ...line!.role, internalAddress, assignedAddress: '10.0.0.4' });
  expect([addresses(null), addresses('10.0.0.9')]).toEqual(['10.0.0.4', '10.0.0.9']);
});

test('machines are counted by health', () => {
  const all = ['healthy', 'healthy', 'failed'].map((health) => ({ health }) as ShownMachine);
  expect(countHealth(all)).toEqual({ healthy: 2, failed: 1 });
});
