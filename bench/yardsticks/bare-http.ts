import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface BareHttp {
  host: string;
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** Starts a minimal node:http server in a separate process. It responds with these headers, and with 304 by default. */
export async function startBareHttp(
  headers: Readonly<Record<string, string>>,
  answer: { status: number; bytes: number } = { status: 304, bytes: 0 },
): Promise<BareHttp> {
  const child = fork(join(import.meta.dirname, 'bare-http-server.ts'), [JSON.stringify({ headers, ...answer })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [message] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error('The bare HTTP server did not start.');
    }),
  ])) as [{ port: number }];
  return {
    host: '127.0.0.1',
    port: message.port,
    pid: child.pid ?? 0,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
