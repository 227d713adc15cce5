import pg from 'pg';

export interface ListenAlone {
  /** Commits a transaction with a `notify`. Returns the milliseconds until a bare client receives the notification. */
  measure(): Promise<number>;
  stop(): Promise<void>;
}

const channel = 'yardstick';

/**
 * Sets up the shortest path in PostgreSQL from a commit to another client: one client writes a row and notifies, and
 * another client listens.
 */
export async function startListenAlone(databaseUrl: string): Promise<ListenAlone> {
  const [writer, listener] = [
    new pg.Client({ connectionString: databaseUrl }),
    new pg.Client({ connectionString: databaseUrl }),
  ];
  await Promise.all([writer.connect(), listener.connect()]);
  await writer.query('create schema if not exists yardstick');
  await writer.query('create table if not exists yardstick.woken (id int primary key, n int not null)');
  await writer.query('insert into yardstick.woken values (1, 0) on conflict do nothing');
  let heard: (at: number) => void = () => {};
  listener.on('notification', () => heard(performance.now()));
  await listener.query(`listen ${channel}`);
  return {
    async measure() {
      await writer.query('begin');
      await writer.query('update yardstick.woken set n = n + 1 where id = 1');
      await writer.query('select pg_notify($1, $2)', [channel, '1']);
      const notified = new Promise<number>((resolve) => {
        heard = resolve;
      });
      const began = performance.now();
      await writer.query('commit');
      return (await notified) - began;
    },
    stop: async () => void (await Promise.all([writer.end(), listener.end()])),
  };
}
