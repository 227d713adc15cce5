import type { Services } from '#server/domain/context.ts';
import type { OpenServices } from '#server/process/services.ts';

/** The context of a run. `db` uses the job's own connection, with its statement timeout. */
export interface JobContext extends Services {
  log: OpenServices['log'];
  now: Date;
  /** Aborted when the worker shuts down. */
  signal: AbortSignal;
}

/** Periodic work. Each job has its own file in `jobs/`. */
export interface Job {
  /** The job's name in logs and in `pg_stat_activity`, and the name of the lock that only this job takes. */
  name: string;
  /** Minimum seconds between the starts of two runs in one worker. */
  periodSeconds: number;
  /** PostgreSQL cancels statements of this job that take longer than this. */
  statementTimeoutSeconds: number;
  /** Jobs with the same lock never run at the same time. */
  lock?: string;
  /** Logs successful runs only at the level `debug`. */
  quiet?: boolean;
  /** Returns the number of items handled. */
  run(ctx: JobContext): Promise<number>;
}
