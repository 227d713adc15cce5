import { connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { defaultLimits } from '#server/platform/limits.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenStockVm, openWireDoor } from '#server/testing/stock-agent.ts';

test('a VM whose slow uploads reach its share must retry, and other VMs continue', async () => {
  const limits = { ...defaultLimits, waiting: { reports: 1_000, bytes: 800_000 } };
  const services = await testServices({ config: { wire: true, vmRate: 0, limits } });
  const ctx = await testContext({ role: 'operator', services });
  const door = await openWireDoor(services);
  const sockets: Socket[] = [];
  try {
    const [stalling, calm] = [await givenStockVm(ctx, door, 'stalling'), await givenStockVm(ctx, door, 'calm')];
    const { hostname, port } = new URL(door.url);
    const answers: string[] = [];
    for (const path of [
      'hgap/VM/status',
      'wire/VM/status/x',
      'wire/VM/HealthService',
      'wire/VM/machine/?comp=health',
    ]) {
      for (const _ of [1, 2]) {
        const socket = connect(Number(port), hostname);
        socket.on('data', (data) => answers.push(data.toString().slice(0, 12)));
        const method = path.endsWith('h') || path.endsWith('Service') ? 'POST' : 'PUT';
        socket.write(
          `${method} /${path.replace('VM', stalling.vmId)} HTTP/1.1\r\nhost: annex\r\nx-guest-token: ${stalling.token}\r\ncontent-length: 100000\r\n\r\n{`,
        );
        sockets.push(socket);
      }
    }
    await expect.poll(() => answers, { timeout: 5_000 }).toEqual(Array.from({ length: 7 }, () => 'HTTP/1.1 424'));
    await calm.poll();
    expect((await calm.report()).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
    await door.close();
  }
});
