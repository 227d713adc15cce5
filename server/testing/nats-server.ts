import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { vi } from 'vitest';

/** A NATS server that belongs to one test. */
export interface NatsServer {
  url: string;
  start(): Promise<void>;
  /** Kills the server. */
  stop(): Promise<void>;
}

export async function startNats(): Promise<NatsServer> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, 'close');
  let stop = async (): Promise<void> => {};
  const start = async (): Promise<void> => {
    const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port)], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let output = '';
    server.stderr.on('data', (text) => {
      output += String(text);
    });
    stop = async () => {
      const exited = once(server, 'exit');
      server.kill('SIGKILL');
      await exited;
    };
    await vi.waitFor(
      () => {
        if (!output.includes('Server is ready')) throw new Error(`nats-server does not start: ${output}`);
      },
      { timeout: 15_000 },
    );
  };
  await start();
  return { url: `nats://127.0.0.1:${port}`, start, stop: () => stop() };
}
