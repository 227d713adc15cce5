import { loadConfig } from '#server/platform/env.ts';
import { type OpenServices, openServices, type Room } from './services.ts';

/** Tells the launcher that a child process is ready. */
export interface ReadyMessage {
  ready: true;
}

/**
 * Maximum milliseconds for closing; then the process exits anyway. The launcher waits slightly longer before it kills
 * the process.
 */
const closeMs = 12_000;

/**
 * Runs a process: opens the services, starts the work, and reports that the process is ready. On SIGTERM, SIGINT or the
 * launcher's death, closes everything in order and exits with 0. After an uncaught error, exits with 1, and the
 * launcher restarts the process.
 */
export async function runProcess(
  room: Room,
  start: (services: OpenServices) => Promise<() => Promise<void>>,
): Promise<void> {
  let services: OpenServices | undefined;
  const fail = (error: unknown): never => {
    if (services !== undefined) services.log.fatal({ err: error }, 'the process ends after an error');
    // There is no logger yet. Prints only the message, because a stack trace does not explain an invalid environment.
    else process.stderr.write(`${error instanceof Error ? error.message : 'could not start'}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    services = await openServices(loadConfig(), room, () => {
      // Exits, so that the restarted process reads the current state of the database.
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
