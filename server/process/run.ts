import { loadConfig } from '#server/platform/env.ts';
import { type OpenServices, openServices, type Room } from './services.ts';

/** What a child tells the launcher over their channel. */
export interface ReadyMessage {
  ready: true;
}

/** How long closing may take before the process ends anyway; the launcher waits a little longer. */
const closeMs = 12_000;

/**
 * The life of a process: opens the services, starts what the room does, says that it is ready, and on SIGTERM, SIGINT
 * or the launcher's death closes in order and ends with 0. A defect that nobody caught ends it with 1; the launcher
 * starts it again.
 */
export async function runProcess(
  room: Room,
  start: (services: OpenServices) => Promise<() => Promise<void>>,
): Promise<void> {
  let services: OpenServices | undefined;
  const fail = (error: unknown): never => {
    if (services !== undefined) services.log.fatal({ err: error }, 'the process ends after an error');
    // Not even a log level is known yet. The message alone: a stack would say nothing about an environment.
    else process.stderr.write(`${error instanceof Error ? error.message : 'could not start'}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    services = await openServices(loadConfig(), room, () => {
      // Whoever supervises it starts it again, on what the database is now.
      fail(new Error('a replica was promoted in the place of the database'));
    });
    const close = await start(services);
    const opened = services;
    let ending = false;
    const end = async (): Promise<void> => {
      if (ending) return;
      ending = true;
      setTimeout(() => process.exit(0), closeMs).unref();
      await close();
      await opened.close();
      process.exit(0);
    };
    for (const name of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.on(name, () => void end().catch(fail));
    process.send?.({ ready: true } satisfies ReadyMessage);
  } catch (error) {
    fail(error);
  }
}
