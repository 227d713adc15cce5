import { expect, test } from 'vitest';
import { swapPorts } from './swap-ports.ts';

const port = (number: number, instanceId: string, protocol: 'tcp' | 'udp' = 'tcp') => ({
  ...{ port: number, protocol, instanceId },
});

test('a port that is open in both deployments neither opens nor closes', () => {
  const ports = swapPorts({
    becomePublic: [port(22, 'c'), port(443, 'c')],
    ceasePublic: [port(22, 'a'), port(22, 'b'), port(80, 'a')],
    unchanged: [{ port: 22, protocol: 'tcp' }],
  });
  expect(ports).toEqual({ opens: ['443/tcp'], closes: ['80/tcp'], leads: ['22/tcp'] });
});

test('a port of several roles is named once for each protocol', () => {
  const becomePublic = [port(53, 'a'), port(53, 'b'), port(53, 'a', 'udp')];
  expect(swapPorts({ becomePublic, ceasePublic: [], unchanged: [] }).opens).toEqual(['53/tcp', '53/udp']);
});
