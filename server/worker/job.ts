import type { Services } from '#server/domain/context.ts';
import type { OpenServices } from '#server/process/services.ts';

/** The context of a run. `db` is the job's own connection, with its statement timeout. */
export interface JobContext extends Services {
  log: OpenServices['log'];
  now: Date;
  /** Aborted when the worker shuts down. */
  signal: AbortSignal;
}

/** Periodic work. Each job has its own file in `jobs/`. */
export interface Job {
  /** Name of the job in logs and in `pg_stat_activity`, and name of the lock that only this job takes. */
  name: string;
  /** Seconds between the starts of two runs. */
  periodSeconds: number;
  /** PostgreSQL cancels statements of this job that take longer. */
  statementTimeoutSeconds: number;
  /** Jobs with the same lock never run at the same time. */
  lock?: string;
  /** Logs a line only if a run fails. */
  quiet?: boolean;
  /** Returns the number of items handled. */
  run(ctx: JobContext): Promise<number>;
}
