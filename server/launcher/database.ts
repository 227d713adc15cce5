import { join } from 'node:path';
import { type Postgres, startPostgres } from '#server/platform/postgres.ts';

/** The embedded PostgreSQL, which is restarted whenever it exits. */
export interface EmbeddedDatabase {
  url: string;
  pid(): number;
  stop(): Promise<void>;
}

const longestPauseMs = 5_000;

/**
 * Starts the embedded PostgreSQL and restarts it whenever it exits. Its URL stays the same, so that other processes can
 * reconnect.
 */
export async function keepDatabase(dataDir: string, say: (line: string) => void): Promise<EmbeddedDatabase> {
  const options = { dataDir: join(dataDir, 'postgres'), log: say };
  let current: Postgres = await startPostgres(options);
  let stopping = false;
  let restarting: Promise<void> = Promise.resolve();

  const watch = (server: Postgres): void => {
    void server.exited.then(({ code, signal }) => {
      if (stopping) return;
      say(`The database exited (${signal ?? `exit code ${code}`}) and is being restarted.`);
      restarting = restart();
    });
  };
  const restart = async (): Promise<void> => {
    for (let pause = 100; !stopping; pause = Math.min(pause * 2, longestPauseMs)) {
      try {
        current = await startPostgres(options);
        if (stopping) return await current.stop();
        say('The database is running again.');
        return watch(current);
      } catch (error) {
        say(error instanceof Error ? error.message : 'The database did not start.');
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  };
  watch(current);
  return {
    url: current.url,
    pid: () => current.pid,
    async stop() {
      stopping = true;
      await restarting;
      await current.stop();
    },
  };
}
