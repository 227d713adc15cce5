import { once } from 'node:events';
import { createServer } from 'node:net';
import { type Config, ConfigError } from '#server/platform/env.ts';

/**
 * Throws a ConfigError if a port is in use or reserved for root, or if this machine does not have the configured
 * address. The message names the variable to change.
 */
export async function checkPorts(config: Config): Promise<void> {
  await checkPort(config.host, config.port, 'PORT');
  await checkPort(config.host, config.gatewayPort, 'GATEWAY_PORT');
}

async function checkPort(host: string, port: number, variable: string): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new ConfigError(
        `Annex cannot start: port ${port} on ${host} is in use by another program. Stop that program, or set ${variable} to another port.`,
      );
    }
    if (code === 'EACCES')
      throw new ConfigError(
        `Annex cannot start: port ${port} is reserved for root. Set ${variable} to a port above 1023.`,
      );
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new ConfigError(
        `Annex cannot start: this machine does not have the address ${host}. Set HOST to one of its addresses.`,
      );
    }
    throw error;
  } finally {
    if (probe.listening) {
      probe.close();
      await once(probe, 'close');
    }
  }
}
